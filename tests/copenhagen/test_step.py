"""Batches: the same games as one by one, and actions that are not legal stop where they stand."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import loops
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.states import copy_states
from helsinki_env.games.copenhagen import actions, deal
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame, apply_setup
from helsinki_env.games.copenhagen.state import States, new_states

B = 32 if JIT else 4


def dealt(config: CopenhagenConfig) -> States:
    states = new_states(B)
    apply_setup(states, config)
    words = np.arange(B, dtype=np.uint64), np.zeros(B, np.uint64), np.zeros(B, np.uint64)
    loops.batch_deal(config.tables[0], states, *words)
    return states


def test_a_batch_plays_the_games_that_are_played_one_by_one() -> None:
    for players in (2, 3, 4):
        config = CopenhagenConfig(players)
        t, states = config.tables[0], dealt(config)
        games = [CopenhagenGame(config, seed=b) for b in range(B)]
        masks = np.full((B, actions.NUM_ACTIONS), 9, np.int8)
        loops.batch_mask(t, states, masks)
        rng = np.random.default_rng(players)
        while not states["done"].all():
            chosen = np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else -1 for mask in masks])
            assert loops.batch_step(t, states, chosen, masks) == -1
            for game, action in zip(games, chosen, strict=True):
                if not game.done:
                    game.step(int(action))
        scores, places = np.zeros((2, B, 4), np.int64)
        loops.batch_scores(t, states, scores, places)
        assert not masks.any()
        for b, game in enumerate(games):
            assert CopenhagenGame.from_state(config, states[b]) == game
            assert scores[b, :players].tolist() == game.scores().tolist()
            assert places[b, :players].tolist() == game.ranks().tolist()


def test_an_action_that_is_not_legal_stops_a_batch() -> None:
    config = CopenhagenConfig()
    t, states = config.tables[0], dealt(config)
    masks = np.zeros((B, actions.NUM_ACTIONS), np.int8)
    loops.batch_mask(t, states, masks)
    before = copy_states(states)
    chosen = np.zeros(B, np.int64)
    for bad in (actions.encode(actions.KIND_TAKE, 6), -1, actions.NUM_ACTIONS):
        states, left = copy_states(before), masks.copy()
        chosen[2] = bad
        assert loops.batch_step(t, states, chosen, left) == 2
        assert (states[2:] == before[2:]).all()
        assert (states["phase"][:2] != before["phase"][:2]).all()


def test_a_game_is_dealt_over_another_one() -> None:
    """Nothing of the game before is left in the record but which game is played."""
    config = CopenhagenConfig(3, denied=[[1], [], [2, 4]])
    t, states = config.tables[0], dealt(config)
    fresh = copy_states(states)
    masks, rng = np.zeros((B, actions.NUM_ACTIONS), np.int8), np.random.default_rng(1)
    loops.batch_mask(t, states, masks)
    for _ in range(60):
        chosen = np.array([rng.choice(np.flatnonzero(mask)) if mask.any() else -1 for mask in masks])
        loops.batch_step(t, states, chosen, masks)
    assert states.tobytes() != fresh.tobytes()
    words = np.arange(B, dtype=np.uint64), np.zeros(B, np.uint64), np.zeros(B, np.uint64)
    loops.batch_deal(t, states, *words)
    assert states.tobytes() == fresh.tobytes()


def test_which_game_is_played_is_taken_over() -> None:
    config = CopenhagenConfig(4, denied=[[1], [], [2, 4], [3]])
    states, setup = new_states(1), new_states(1)
    apply_setup(setup, config)
    deal.copy_setup(states[0], setup[0])
    assert states.tobytes() == setup.tobytes()

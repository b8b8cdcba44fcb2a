"""The mask holds exactly what can be carried through: compared with brute force over everything that may follow."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from tests.copenhagen.positions import rich
from tests.copenhagen.turns import Judge, rewards

#: Rare kinds of decision are taken more often than others.
WEIGHTS = {"USE": 6, "BUILD": 1, "RECOLOUR": 3, "TAKE": 1}
TURNS = 250 if JIT else 20


def choose(rng: random.Random, legal: list[int]) -> int:
    kinds = [actions.KINDS[actions.decode(action)[0]] for action in legal]
    weights = [WEIGHTS.get(kind, 1) / kinds.count(kind) for kind in kinds]
    return rng.choices(legal, weights)[0]


def play_turn(rng: random.Random, game: CopenhagenGame, met: Counter[str]) -> None:
    """Play a turn until it is over or a tile lies; compare every mask on the way."""
    judge = Judge(game.to_dict())
    turn = judge.turn
    while turn.phase != "OVER":
        expected = judge.legal(turn)
        found = [int(action) for action in game.legal_actions()]
        assert found == sorted(expected), (turn, game.to_dict())
        action = choose(rng, found)
        kind, argument = actions.decode(action)
        met[actions.KINDS[kind]] += 1
        if kind == actions.KIND_USE:
            met[f"USE {argument} in {turn.phase}"] += 1
        met["recoloured, then discount"] += turn.recolour is not None and action == actions.encode(actions.KIND_USE, 2)
        turn = expected[action]
        game.step(action)
        if turn.phase == "END" and len(judge.legal(turn)) == 1:  # taken at once
            break
        if turn.phase == "PAY":
            met["payments"] += len(judge.legal(turn)) > 1


def play_rewards(rng: random.Random, game: CopenhagenGame, met: Counter[str]) -> None:
    while game.phase == "COAT":
        expected = rewards(game.to_dict())
        assert set(map(int, game.legal_actions())) == expected
        action = rng.choice(sorted(expected))
        met[actions.KINDS[actions.decode(action)[0]]] += 1
        game.step(action)


def test_every_mask_holds_what_can_be_completed() -> None:
    rng, met = random.Random(1), Counter[str]()
    for _ in range(TURNS):
        game = CopenhagenGame.from_dict(rich(rng))
        play_turn(rng, game, met)
        play_rewards(rng, game, met)
    wanted = {*actions.KINDS, "payments", "recoloured, then discount"}
    wanted |= {"USE 0 in TAKE", "USE 1 in DISCARD", "USE 1 in END", "USE 2 in PLACE", "USE 3 in PLACE", "USE 4 in END"}
    if JIT:
        assert not {name: met[name] for name in wanted if met[name] < 3}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_masks_of_whole_games(players: int) -> None:
    rng, met = random.Random(players), Counter[str]()
    for seed in range(6 if JIT else 1):
        game = CopenhagenGame(CopenhagenConfig(players), seed=seed)
        while not game.done:
            if game.phase == "MAIN":
                play_turn(rng, game, met)
            play_rewards(rng, game, met)


@pytest.mark.parametrize(
    ("players", "decisions", "rounds"), [(2, 106, (16, 23)), (3, 150, (16, 23)), (4, 170, (14, 23))]
)
def test_random_games_are_as_long_as_measured(players: int, decisions: int, rounds: tuple[int, int]) -> None:
    """Measured on an independent implementation; the mean of 150 games has a standard error of about one."""
    lengths, last, legal = [], [], []
    for seed in range(150 if JIT else 3):
        rng, game = np.random.default_rng(seed), CopenhagenGame(CopenhagenConfig(players), seed=seed, stream=players)
        taken = 0
        while not game.done:
            choices = game.legal_actions()
            legal.append(len(choices))
            assert len(choices), game
            game.step(int(rng.choice(choices)))
            taken += 1
        assert None in game.to_dict()["display"]  # the End of Game card came up, not twelve points
        lengths.append(taken)
        last.append(game.round)
    if JIT:
        assert abs(np.mean(lengths) - decisions) < 5
        assert rounds[0] <= np.mean(last) <= rounds[1]
        assert 5.5 < np.mean(legal) < 7


def test_an_action_that_is_not_legal_changes_nothing() -> None:
    game = CopenhagenGame(seed=4)
    before = game.clone()
    for action in (
        actions.encode(actions.KIND_TAKE, 6),
        actions.encode(actions.KIND_END),
        -1,
        actions.NUM_ACTIONS,
        True,
        "TAKE",
    ):
        with pytest.raises(ValueError, match=r"this is phase MAIN|in phase MAIN"):
            game.step(action)  # type: ignore[arg-type]
    assert game == before

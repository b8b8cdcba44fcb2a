"""Copenhagen's players: legal and sensible actions, and evaluations."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from typing import Any

import numpy as np
import pytest

from helsinki_env.agents.base import Player
from helsinki_env.agents.copenhagen.board_view import new_views, piece_table, reset_view
from helsinki_env.agents.copenhagen.decide import select_action
from helsinki_env.agents.copenhagen.greedy import GreedyPlayer
from helsinki_env.agents.copenhagen.heuristic_api import expected_points, write_win_probabilities
from helsinki_env.agents.copenhagen.weights import QUICK, Weights
from helsinki_env.agents.heuristic import HeuristicPlayer
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, weights_record
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen.actions import NUM_ACTIONS
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.state import MAX_SEATS
from tests.copenhagen.positions import act, built_position, position, row, seat, tile
from tests.copenhagen.test_equal import random_config

CONFIG = CopenhagenConfig()
#: Weights far from the tuned ones: what a tuning may try on its way.
ODD = {
    "tuned": Weights(),
    "nothing counts": Weights(**{item.name: 0.0 for item in fields(Weights)}),
    "all three times as much": Weights(**{item.name: 3.0 * getattr(Weights(), item.name) for item in fields(Weights)}),
}
PLAYERS: dict[str, Player] = {"greedy": GreedyPlayer(), "heuristic": HeuristicPlayer(CopenhagenConfig())}


@cache
def some_games() -> list[CopenhagenGame]:
    """Positions of games by the heuristic, which now and then does anything, and of turns that are rich in choice."""
    found: list[CopenhagenGame] = []
    rng = random.Random("players")
    for number in range(12 if JIT else 0):
        game = CopenhagenGame(CopenhagenConfig(num_players=2 + number % 3), seed=number)
        while not game.done:
            found.append(game.clone())
            rash = rng.random() < 0.15
            game.step(rng.choice(game.legal_actions().tolist()) if rash else answer(PLAYERS["heuristic"], game))
    for _ in range(150 if JIT else 3):
        game = CopenhagenGame.from_dict(built_position(random_config(rng, ["copenhagen"]), rng))
        for _ in range(4):
            if not game.done:
                found.append(game.clone())
                game.step(rng.choice(game.legal_actions().tolist()))
    return found


def observed(games: Sequence[CopenhagenGame]) -> tuple[Any, Any, Any]:
    masks = np.stack([game.action_mask() for game in games])
    return np.stack([game.observation() for game in games]), masks, np.arange(len(games), dtype=np.uint64)


def answer(player: Player, game: CopenhagenGame) -> int:
    return int(player.act(*observed([game]))[0])


# -- every decision --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weights", ODD.values(), ids=ODD)
def test_every_decision_of_the_heuristic_is_legal(weights: Weights) -> None:
    observations, masks, words = observed(some_games())
    actions = HeuristicPlayer(CONFIG, weights).act(observations, masks, words)
    assert masks[np.arange(len(masks)), actions].all()


def test_search_gets_a_value_for_every_decision() -> None:
    p, w, v = piece_table(CONFIG)[0], weights_record(QUICK)[0], new_views(1)[0]
    for game in some_games()[:: 1 if JIT else 3]:
        mask, values = game.action_mask(), np.full(NUM_ACTIONS, 7.0)
        g = game._states[0]
        chosen = select_action(CONFIG.tables[0], p, w, g, v, mask, values, True)
        assert mask[chosen]
        assert values[chosen] == values.max()
        assert (values[mask == 0] == ILLEGAL_VALUE).all()
        assert (values[mask == 1] > 0.5 * ILLEGAL_VALUE).all()
        quick = values.copy()
        reset_view(v, np.uint64(0))
        again = select_action(CONFIG.tables[0], p, w, g, v, mask, quick, False)
        assert values[again] == values[chosen]  # of equals it may be another one


# -- plain to see ----------------------------------------------------------------------------------------------


def finish_turn(player: Player, game: CopenhagenGame) -> None:
    turn = (game.seat, game.to_dict()["round"])
    while not game.done and (game.seat, game.to_dict()["round"]) == turn:
        game.step(answer(player, game))


@pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)
def test_the_line_that_wins_is_completed(player: Player) -> None:
    own = seat(hand=(2, 0, 1, 3, 0), tiles=row(0), points=11)
    game = CopenhagenGame.from_dict(position(own, seat(points=11)))
    finish_turn(player, game)
    assert game.done
    assert game.scores()[0] == 12


@pytest.mark.parametrize("player", PLAYERS.values(), ids=PLAYERS)
def test_two_cards_of_the_colour_in_hand_are_taken(player: Player) -> None:
    own = seat(hand=(0, 0, 1, 0, 0))
    game = CopenhagenGame.from_dict(position(own, display=(0, 1, 4, 2, 2, 3, 0)))
    finish_turn(player, game)
    assert game.to_dict()["seats"][0]["hand"][2] == 3


def test_a_hole_that_nothing_else_fits_in_gets_the_white_tile() -> None:
    """The row is full then, in the last turn but one: no ability is worth a point."""
    tiles = [*row(0), tile(1, [5, 6], 5), tile(2, [7, 8, 9], 7)]
    own = seat(tiles=tiles, hand=(1, 1, 1, 0, 0), points=4)
    made = position(own, pile=[0, 1, 5], phase="COAT", pending={"rewards": 1})
    game = CopenhagenGame.from_dict(made)
    assert answer(PLAYERS["heuristic"], game) == act("WHITE", 4)


# -- what a position is worth ----------------------------------------------------------------------------------


def test_a_finished_game_is_worth_its_points_and_the_winners_share_it() -> None:
    views, weights, shares = new_views(MAX_SEATS), np.repeat(weights_record(QUICK), MAX_SEATS), np.zeros(MAX_SEATS)
    p, shared = piece_table(CONFIG)[0], 0
    for seed in range(200 if JIT else 5):
        rng = random.Random(seed)
        game = CopenhagenGame(CopenhagenConfig(num_players=2 + seed % 3), seed=seed)
        while not game.done:
            game.step(rng.choice(game.legal_actions().tolist()))
        t, g = game.config.tables[0], game._states[0]
        points = [expected_points(t, p, weights[0], g, seat, views[seat]) for seat in range(g.players)]
        assert points == game.scores().tolist()
        write_win_probabilities(t, p, weights, g, views, 1.0, 1.5, shares)
        assert shares.sum() == pytest.approx(1.0)
        assert set(shares.tolist()) <= {0.0, 1.0, 0.5, 1 / 3, 0.25}
        shared += 0 < shares[0] < 1
    assert shared > 0 or not JIT


def test_shares_of_the_win_add_up_to_one_and_go_with_the_worth() -> None:
    views, weights, shares = new_views(MAX_SEATS), np.repeat(weights_record(QUICK), MAX_SEATS), np.zeros(MAX_SEATS)
    p = piece_table(CONFIG)[0]
    for game in some_games()[:: 5 if JIT else 3]:
        t, g = game.config.tables[0], game._states[0]
        for view in views:
            reset_view(view, np.uint64(0))
        write_win_probabilities(t, p, weights, g, views, 1.0, 1.5, shares)
        assert shares.sum() == pytest.approx(1.0)
        assert not shares[g.players :].any()
        worths = [expected_points(t, p, weights[0], g, seat, views[seat]) for seat in range(g.players)]
        assert int(np.argmax(shares)) == int(np.argmax(worths))

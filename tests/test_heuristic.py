"""The heuristic: legal and sensible actions, the same in playouts and as a player, and its tuning."""

from __future__ import annotations

import math
from dataclasses import asdict, fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from helsinki_env import CopenhagenConfig, HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.base import choose_action
from helsinki_env.agents.helsinki.greedy import GreedyPlayer
from helsinki_env.agents.helsinki.weights import Weights
from helsinki_env.agents.heuristic import HeuristicPlayer, play_out_with_heuristic
from helsinki_env.data import UserError
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.match import play_match
from helsinki_env.games.helsinki.state import MAX_SEATS
from helsinki_env.training.tune_heuristic import points_lead, tune_weights
from tests.support import positions
from tests.support.endings import ENDINGS
from tests.test_restore import built_games, dealt_games, observed

KINDS = [
    HelsinkiConfig(),
    HelsinkiConfig(num_players=3, dry_roads=True, covered="first_game"),
    pytest.param(
        HelsinkiConfig(num_players=4, components="alternative", denied=[[0, 14], [], [7], []]),
        marks=pytest.mark.nightly,
    ),
    HelsinkiConfig(num_players=4, dry_roads=True),
]
#: Weights far from the tuned ones: what a tuning may try on its way.
ODD = [
    Weights(),
    Weights(**{item.name: 0.0 for item in fields(Weights)}),
    Weights(**{item.name: 3.0 * getattr(Weights(), item.name) for item in fields(Weights)}),
]


@cache
def many_rows(components: str) -> tuple[Any, Any, Any]:
    return observed([*dealt_games(10 if JIT else 1, components), *built_games(400 if JIT else 5, components)])


@pytest.mark.parametrize("weights", ODD, ids=["tuned", "nothing counts", "all three times as much"])
@pytest.mark.parametrize(
    "components",
    [positions.COMPONENTS[0], *(pytest.param(name, marks=pytest.mark.nightly) for name in positions.COMPONENTS[1:])],
)
def test_every_decision_is_legal(components: str, weights: Weights) -> None:
    _, observation, mask = many_rows(components)
    player = HeuristicPlayer(HelsinkiConfig(components=components), weights)
    actions = player.act(observation, mask, np.zeros(len(mask), np.uint64))
    assert len(mask) > (5000 if JIT else 50)
    assert mask[np.arange(len(mask)), actions].all()


def test_it_plays_without_chance() -> None:
    _, observation, mask = observed(list(dealt_games(1, "default")))
    one, other = (HeuristicPlayer().act(observation, mask, np.full(len(mask), word, np.uint64)) for word in (0, 99))
    np.testing.assert_array_equal(one, other)


def test_weights_change_decisions() -> None:
    _, observation, mask = observed(list(dealt_games(4 if JIT else 1, "default")))
    words = np.zeros(len(mask), np.uint64)
    usual = HeuristicPlayer().act(observation, mask, words)
    assert (HeuristicPlayer(weights=Weights(card=9.0)).act(observation, mask, words) != usual).any()


# tactics


@pytest.mark.parametrize("name", ENDINGS)
def test_what_is_plain_to_see_in_the_last_turn_is_done(name: str) -> None:
    game, points = ENDINGS[name]()
    assert game.scores()[-1] == 0
    player = HeuristicPlayer(game.config)
    while not game.done:
        game.step(choose_action(player, game))
    assert game.scores()[-1] == points


# playouts


@pytest.mark.parametrize(
    "config",
    [
        *(
            pytest.param(*getattr(kind, "values", [kind]), marks=pytest.mark.nightly if i else pytest.mark.thorough)
            for i, kind in enumerate(KINDS)
        ),
        CopenhagenConfig(2),
        *(pytest.param(CopenhagenConfig(players), marks=pytest.mark.thorough) for players in (3, 4)),
    ],
    ids=str,
)
def test_a_playout_takes_the_decisions_of_the_player(config: Any) -> None:
    """Neither the memory of a playout nor the cards that it sees change an action."""
    kind = spec_of(config).game
    games = [kind(config, seed=seed) for seed in range((60 if isinstance(config, HelsinkiConfig) else 6) if JIT else 1)]
    states = np.concatenate([game._states for game in games])
    player, asked = HeuristicPlayer(config), 0
    decisions = play_out_with_heuristic(config, states, [player.weights] * MAX_SEATS)
    while playing := [game for game in games if not game.done]:
        _, observation, mask = observed(playing)
        for game, action in zip(playing, player.act(observation, mask, np.zeros(len(mask), np.uint64)), strict=True):
            game.step(action)
            asked += 1
    for game, state in zip(games, states, strict=True):
        copy = kind.from_state(config, state)
        assert copy.done
        assert copy.scores().tolist() == game.scores().tolist()
        assert copy == game
    assert decisions == asked


@pytest.mark.skipif(not JIT, reason="too slow")
@pytest.mark.parametrize("name", ["hand_patience", "cell_chance", "cards_a_turn"])
def test_seats_with_different_weights_do_not_share_cached_values(name: str) -> None:
    config, usual = HelsinkiConfig(), Weights()
    weights = [usual, replace(usual, **{name: 0.7 * getattr(usual, name)}), usual, usual]
    players = [HeuristicPlayer(config, own) for own in weights]
    games = [HelsinkiGame(config, seed=seed) for seed in range(30)]
    states = np.concatenate([game._states for game in games])
    play_out_with_heuristic(config, states, weights)
    for game, state in zip(games, states, strict=True):
        while not game.done:
            game.step(choose_action(players[game.seat], game))
        assert HelsinkiGame.from_state(config, state) == game


@pytest.mark.thorough
def test_playouts_go_on_from_anywhere_and_every_seat_has_its_weights() -> None:
    games = list(built_games(60 if JIT else 3, "default"))
    states = np.concatenate([game._states for game in games])
    again, other = states.copy(), states.copy()
    assert play_out_with_heuristic(HelsinkiConfig(), states, [Weights()] * MAX_SEATS) >= len(games)
    assert states["done"].all()
    play_out_with_heuristic(HelsinkiConfig(), again, [Weights()] * MAX_SEATS)
    assert again.tobytes() == states.tobytes()
    play_out_with_heuristic(HelsinkiConfig(), other, [Weights(), *[ODD[1]] * (MAX_SEATS - 1)])
    assert other.tobytes() != states.tobytes()


# tuning


@pytest.mark.parametrize("config", KINDS[:3], ids=str)
def test_nobody_leads_against_oneself(config: HelsinkiConfig) -> None:
    """Every deck is played from all seats, so luck of seat and cards cancels out."""
    ahead, own = points_lead(Weights(), Weights(), config, 12 if JIT else 1, seed=3)
    assert ahead.shape == own.shape
    assert np.abs(ahead).max() < 1e-9
    assert (own > 0).all()


def test_lead_says_who_is_better() -> None:
    bad = ODD[1]
    ahead, own = points_lead(Weights(), bad, HelsinkiConfig(), 20 if JIT else 1, seed=1)
    behind, _ = points_lead(bad, Weights(), HelsinkiConfig(), 20 if JIT else 1, seed=1)
    np.testing.assert_allclose(behind, -ahead)  # with two players the same games
    assert ahead.mean() > 3
    again, _ = points_lead(Weights(), bad, HelsinkiConfig(), 20 if JIT else 1, seed=1)
    np.testing.assert_array_equal(again, ahead)
    elsewhere, _ = points_lead(Weights(), bad, HelsinkiConfig(), 20 if JIT else 1, seed=2)
    assert (elsewhere != ahead).any()
    assert own.mean() > 3


@pytest.mark.thorough
@pytest.mark.skipif(not JIT, reason="too slow")
def test_a_tuning_is_reproducible() -> None:
    pytest.importorskip("cma")
    with pytest.raises(UserError, match="only: found 'rooms', expected one of"):
        tune_weights(Weights(), generations=1, deals=2, only=("room", "rooms"))

    def found(seed: int, threads: int = 1) -> dict[str, float]:
        only = ("room", "card", "coat")
        return asdict(
            tune_weights(Weights(), generations=2, deals=2, seed=seed, players=(2, 3), threads=threads, only=only)
        )

    one = found(1)
    assert found(1, threads=2) == one
    assert found(2) != one
    assert all(math.isfinite(value) and value > 0 for value in one.values())
    assert {name for name, value in one.items() if value != getattr(Weights(), name)} == {"room", "card", "coat"}


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"minutes": math.nan}, "minutes: found nan"),
        ({"deals": -1}, "deals: found -1"),
        ({"seed": -1}, "seed: found -1"),
    ],
)
def test_a_tuning_refuses_what_is_no_number(numbers: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tune_weights(Weights(), **numbers)


# strength


@pytest.mark.skipif(not JIT, reason="too slow")
@pytest.mark.parametrize("config", KINDS, ids=str)
def test_it_beats_random(config: HelsinkiConfig) -> None:
    """It wins all of thousands of games; one that wins 99 % fails here with probability 7e-6 (binomial)."""
    results = play_match(["heuristic", *["random"] * (config.num_players - 1)], config, games=200, seed=7)
    assert results.result(0).share >= 0.95


def test_it_is_another_player_than_greedy() -> None:
    _, observation, mask = observed(list(dealt_games(2 if JIT else 1, "default")))
    words = np.zeros(len(mask), np.uint64)
    assert (HeuristicPlayer().act(observation, mask, words) != GreedyPlayer().act(observation, mask, words)).any()

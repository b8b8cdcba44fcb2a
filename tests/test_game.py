"""One game behind its API: exact copies, illegal actions that change nothing, and seeds."""

from __future__ import annotations

import copy
import json
import pickle
import random
from collections.abc import Callable, Iterator
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import HelsinkiConfig, HelsinkiGame, IllegalActionError, Phase
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_of
from helsinki_env.games.copenhagen import observation as copenhagen
from helsinki_env.games.copenhagen.game import CopenhagenGame as Copenhagen
from helsinki_env.games.helsinki import notation, observation
from tests.games import EACH_GAME, GAMES, TestedGame, rare_action
from tests.support import positions

CONFIGS = (
    HelsinkiConfig(num_players=2),
    HelsinkiConfig(num_players=3, dry_roads=True, covered="first_game"),
    HelsinkiConfig(
        num_players=4, components="more_small_tiles", denied=[["two_points"], [], ["move_back", "any_side"], []]
    ),
)
NUMBERS = range(10 if JIT else 1)
COPENHAGEN = GAMES[1]
#: Its records are of a further layout.
FURTHER = pytest.param(CONFIGS[2].replace(components="alternative"), marks=pytest.mark.nightly)
EACH_CONFIG = pytest.mark.parametrize(
    "config", [*CONFIGS, COPENHAGEN.configs[1], FURTHER], ids=["two", "three", "four", "copenhagen", "further"]
)


def new(config: Any, seed: int = 1) -> Any:
    return spec_of(config).game(config, seed=seed)


def play(game: Any, rng: random.Random, most: int = 10_000) -> Iterator[Any]:
    """Play at random, and yield the game before every action and at the end."""
    for decided in range(most + 1):
        yield game
        if game.done or decided == most:
            return
        game.step(rare_action(game, rng))


def go_on_alike(one: Any, other: Any, seed: int) -> None:
    """Play the same actions in both to the end: the position, its chance included, stays the same."""
    rng = random.Random(seed)
    while not one.done:
        assert one == other
        assert one.legal_actions().tolist() == other.legal_actions().tolist()
        action = rng.choice(one.legal_actions().tolist())
        one.step(action)
        other.step(action)
    assert one == other
    assert other.done
    assert one.to_dict() == other.to_dict()


def late(config: Any, seed: int, decisions: int = 60) -> Any:
    """Return a game after some actions."""
    *_, game = play(new(config, seed), random.Random(seed), decisions)
    return game


# Copies

COPIES: dict[str, Callable[[Any], Any]] = {
    "clone": lambda game: game.clone(),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda game: pickle.loads(pickle.dumps(game)),
    "in a container": lambda game: copy.deepcopy({"game": [game]})["game"][0],
    "cloudpickle": lambda game: pickle.loads(cloudpickle.dumps(game)),
    "oldest pickle": lambda game: pickle.loads(pickle.dumps(game, 2)),
    "dict": lambda game: type(game).from_dict(game.to_dict()),
    "json": lambda game: type(game).from_dict(json.loads(json.dumps(game.to_dict()))),
    "state": lambda game: type(game).from_state(game.config, game.state),
}


@pytest.mark.parametrize("how", COPIES)
@EACH_CONFIG
def test_a_copy_goes_on_alike_chance_included(config: Any, how: str) -> None:
    for decisions in (0, 1, 17, 60, 95):
        game = late(config, 5, decisions)
        other = COPIES[how](game)
        assert other.config == game.config
        go_on_alike(game.clone(), other, 11)


@pytest.mark.parametrize("how", COPIES)
@EACH_GAME
def test_a_copy_is_independent(game: TestedGame, how: str) -> None:
    one = late(game.configs[1], 3)
    before = one.to_dict()
    other = COPIES[how](one)
    while not other.done:
        other.step(int(other.legal_actions()[0]))
    assert one.to_dict() == before
    assert one.legal_actions().size


@EACH_GAME
def test_a_record_that_does_not_fit_is_refused(game: TestedGame) -> None:
    kind, (two, three) = game.spec.game, (new(config) for config in game.configs[:2])
    with pytest.raises(ValueError, match="state: found one of 3 players, expected 2"):
        kind.from_state(two.config, three.state)
    state: Any
    for state in (None, 0, {}, two._states, np.zeros(3)):
        with pytest.raises(ValueError, match=r"state: found .* expected one record"):
            kind.from_state(two.config, state)
    with pytest.raises(ValueError, match="config: found None"):
        kind.from_state(None, two.state)


@EACH_GAME
@pytest.mark.parametrize(
    "arguments", [{"config": 5}, {"config": "default"}, {"seed": 1.5}, {"stream": -1}, {"stream": "0"}]
)
def test_bad_arguments_are_named(game: TestedGame, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(arguments))}: found"):
        game.spec.game(**arguments)


@EACH_GAME
def test_a_pickled_game_of_another_layout_is_refused(game: TestedGame) -> None:
    restore, (kind, config, state) = new(game.configs[0]).__reduce__()
    with pytest.raises(ValueError, match=rf"state: found {len(state) - 1} bytes, expected {len(state)}"):
        restore(kind, config, state[:-1])


def check_restored(game: Any) -> None:
    written = game.to_dict()
    read = type(game).from_dict(json.loads(json.dumps(written)))
    assert read.state.tobytes() == game.state.tobytes()
    assert read.to_dict() == written
    assert read == game


@pytest.mark.parametrize("number", NUMBERS)
def test_positions_are_restored_byte_for_byte_at_every_step(number: int) -> None:
    rng = random.Random(f"round trip {number}")
    start: Any = HelsinkiGame(CONFIGS[number % 3], seed=number)
    if number % 2:
        start = notation.from_dict(positions.rich_deal(notation.to_dict(start)))
    for game in (*play(start, rng), *play(COPENHAGEN.start(rng), rng)):
        check_restored(game)


@given(st.integers(0, 10**9), st.sampled_from(positions.THEMES))
@settings(max_examples=30 if JIT else 4)
def test_built_positions_are_restored_byte_for_byte(number: int, theme: str) -> None:
    rng = random.Random(number)
    position = positions.build(rng, theme)
    assert notation.to_dict(notation.from_dict(position)) == position
    for game in play(notation.from_dict(position), rng, 15):
        check_restored(game)


def test_games_are_equal_if_state_and_setup_are() -> None:
    game = HelsinkiGame(seed=3)
    assert game == HelsinkiGame(seed=3)
    assert game != HelsinkiGame(seed=4)
    assert game == HelsinkiGame(HelsinkiConfig(reward="margin"), seed=3)
    assert game != HelsinkiGame(HelsinkiConfig(dry_roads=True), seed=3)
    assert game != Copenhagen(seed=3)
    assert game != "a game"
    with pytest.raises(TypeError, match="unhashable"):
        hash(game)


# Illegal decisions


@EACH_CONFIG
def test_illegal_decisions_are_refused_and_change_nothing(config: Any) -> None:
    rng = random.Random(1)
    for game in play(new(config, 8), rng):
        before, mask = game.state.tobytes(), game.action_mask()
        for action in rng.sample(np.flatnonzero(mask == 0).tolist(), 3):
            with pytest.raises(IllegalActionError, match=rf"action {action} \("):
                game.step(action)
        assert game.state.tobytes() == before
        assert (game.action_mask() == mask).all()


def test_the_error_names_decision_phase_and_what_is_legal() -> None:
    game = HelsinkiGame(seed=0)
    game.step(notation.string_to_action("START 0"))
    with pytest.raises(IllegalActionError) as error:
        game.step(notation.string_to_action("BUILD green 3/3+1"))
    assert str(error.value) == (
        "action 28 (BUILD green 3/3+1) is not legal in phase MOVE of seat 0. Legal: MOVE 1, MOVE 2, MOVE 3"
    )
    assert isinstance(error.value, ValueError)


def test_a_long_list_of_legal_decisions_is_cut_short() -> None:
    games = (game for seed in range(100) for game in play(HelsinkiGame(seed=seed), random.Random(seed)))
    game = next(game for game in games if game.legal_actions().size > 20)
    with pytest.raises(IllegalActionError, match=rf"\.\.\. \({game.legal_actions().size} in all\)"):
        game.step(0)


@pytest.mark.parametrize(
    "action",
    [-1, 10**3, 10**20, 3.0, np.float32(3), "3", None, True, np.True_, [3], np.array([3, 4])],
    ids=str,
)
@EACH_GAME
def test_what_is_no_id_is_refused(game: TestedGame, action: Any) -> None:
    one = new(game.configs[0])
    before = one.state.tobytes()
    with pytest.raises(IllegalActionError, match=rf"this is phase {one.phase} of seat 0"):
        one.step(action)
    assert one.state.tobytes() == before


@pytest.mark.parametrize("action", [3, np.int64(3), np.int8(3), np.uint64(3), np.array(3)], ids=repr)
def test_whole_numbers_of_any_kind_are_ids(action: Any) -> None:
    game = HelsinkiGame(seed=0)
    game.step(action)
    assert game.phase == "MOVE"


@EACH_GAME
def test_nothing_is_legal_once_the_game_is_over(game: TestedGame) -> None:
    *_, one = play(new(game.configs[0]), random.Random(1))
    assert one.done
    assert not one.action_mask().any()
    assert one.legal_actions().tolist() == []
    with pytest.raises(IllegalActionError, match="the game is over"):
        one.step(0)


# Seeds and settings


def deal(seed: int, stream: int = 0, config: HelsinkiConfig | None = None) -> Any:
    return notation.to_dict(HelsinkiGame(config, seed=seed, stream=stream))


@EACH_GAME
def test_the_same_seed_deals_the_same_game(game: TestedGame) -> None:
    kind = game.spec.game
    assert kind(seed=5) == kind(seed=5) == kind(seed=5 + 2**64)  # seeds are 64-bit words
    go_on_alike(kind(seed=5), kind(seed=5), 3)
    piles = {tuple(kind(seed=seed, stream=stream).to_dict()["draw_pile"]) for seed in range(20) for stream in range(20)}
    assert len(piles) == 400
    assert kind() != kind()


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True])
@EACH_GAME
def test_bad_seeds_are_refused(game: TestedGame, seed: Any) -> None:
    assert game.spec.game(seed=None).round == 1
    with pytest.raises(ValueError, match=r"seed: found .* expected a whole number of at least 0, or None"):
        game.spec.game(seed=seed)


@pytest.mark.parametrize("config", [*CONFIGS, FURTHER], ids=["two", "three", "four", "further"])
def test_the_deal(config: HelsinkiConfig) -> None:
    """Rules page, section 2."""
    data, players = config.component_set, config.num_players
    removed = set()
    for seed in range(40):
        position = deal(seed, config=config)
        assert position["phase"] == "START"
        assert (len(position["draw_pile"]), len(position["display"])) == (data.deck_size(players) - 8, 8)
        cards = position["draw_pile"] + position["display"]
        missing = [card for card, n in enumerate(data.deck(players)) for _ in range(n - cards.count(card))]
        assert len(missing) == (players == 2)
        assert all(data.card_number(card) == 5 for card in missing)
        removed.update(missing)
        assert all(seat["coats_on_board"] == sorted(data.coats) for seat in position["seats"])
        assert position["bonus_cards"] == (list(data.bonus_cards[:players]) if config.dry_roads else [])
    assert len(removed) == (len({c for c in range(data.types) if data.card_number(c) == 5}) if players == 2 else 0)


def test_tokens_start_on_every_other_space_and_everybody_draws_two_cards() -> None:
    game = HelsinkiGame(CONFIGS[2], seed=1)
    pile = notation.to_dict(game)["draw_pile"]
    game.step(notation.string_to_action("START 3", CONFIGS[2].components))
    position = notation.to_dict(game)
    assert [seat["token"] for seat in position["seats"]] == [3, 5, 7, 1]
    for number, seat in enumerate(position["seats"]):
        drawn = pile[2 * number : 2 * number + 2]
        assert seat["hand"] == [drawn.count(card) for card in range(CONFIGS[2].component_set.types)]
        assert not any(seat["known"])
    assert position["draw_pile"] == pile[8:]


def test_two_players_by_default() -> None:
    game = HelsinkiGame(seed=0)
    assert (game.num_players, game.config, game.seat, game.round) == (2, HelsinkiConfig(), 0, 1)
    assert game.actions.size == len(game.action_mask()) == 554
    assert repr(game) == "HelsinkiGame(2 players, round 1, START of seat 0)"


# What a player asks


@EACH_GAME
def test_masks_are_copies(game: TestedGame) -> None:
    one = new(game.configs[0])
    legal = one.legal_actions().tolist()
    one.action_mask()[:] = 1
    one.observation()[:] = 0
    assert one.legal_actions().tolist() == legal
    assert one.observation().any()


@EACH_GAME
def test_seats_that_do_not_exist_are_refused(game: TestedGame) -> None:
    one = new(game.configs[0])
    for seat in (-1, 2):
        for ask in (one.observation, one.to_dict):
            with pytest.raises(ValueError, match=rf"seat: found {seat}, expected 0 to 1"):
                ask(seat)


@EACH_GAME
def test_the_observation_is_that_of_the_seat_to_move_unless_another_is_named(game: TestedGame) -> None:
    one = late(game.configs[1], 4, 40)
    assert (one.observation() == one.observation(one.seat)).all()
    table = (observation if game is GAMES[0] else copenhagen).unpack(one.observation((one.seat + 1) % 3))["table"]
    assert table[1] == (one.seat + 1) % 3


def test_phases_equal_their_names() -> None:
    assert Phase.MAIN == "MAIN"
    assert [str(phase) for phase in Phase] == [
        *("START", "MOVE", "MAIN", "PAY", "PLACE", "WILD", "LIFT", "ROOF", "DISCARD", "END"),
    ]


def test_the_board_when_the_game_is_over() -> None:
    *_, game = play(HelsinkiGame(CONFIGS[2], seed=6), random.Random(6))
    position = notation.to_dict(game)
    assert (game.done, game.phase, game.seat) == (True, "END", 3)
    assert position["pending"] == {}
    assert repr(game) == f"HelsinkiGame(4 players, round {game.round}, over)"
    go_on_alike(game, notation.from_dict(position), 0)


def test_the_worked_example_of_scoring() -> None:
    """Rules page, section 5: 2 rows, 3 columns, 3 superstructures on crossings, 3 in one full line."""
    position = deal(1)
    seat = position["seats"][0]
    rows = ("purple", [0, 1, 2, 3, 4]), ("purple", [42, 43, 44, 45]), ("purple", [46, 47, 48])
    columns = ("red", [7, 8, 14, 15]), ("red", [21, 22, 28, 29]), ("blue", [35, 36]), ("purple", [13, 20, 27, 34])
    for colour, cells in (*rows, *columns):
        seat["pavilions"].append({"colour": colour, "roofs": len(cells), "cells": cells})
        position["tile_supply"][colour][len(cells) - 2] -= 1
    seat["wild"], seat["coats_on_board"] = [5, 6, 41], []
    seat["superstructures"] = [0, 6, 48, 3, 7, 15]
    position["wild_tiles"], position["superstructures"] = 9, 24
    assert position["phase"] == "START"
    position["phase"] = "MOVE"
    for number, other in enumerate(position["seats"]):
        other["token"] = number
    assert notation.from_dict(position).scores().tolist() == [22, 0]

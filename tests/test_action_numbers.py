"""Board actions with other costs or strengths than in the published game."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.base import choose_action
from helsinki_env.agents.registry import make_player
from helsinki_env.engine import determinization
from helsinki_env.engine.determinization import determinize_observation
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki import notation, render
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS, MAX_COST, STRENGTHS
from helsinki_env.games.helsinki.components import load_components
from tests.oracles.helsinki import brute_force_legal_actions
from tests.support.agreement import Pair, run_batch
from tests.support.numbers import component_file, random_file, random_numbers
from tests.support.positions import Position, rich_deal
from tests.support.unchecked import unchecked

SCALE = 1.0 if JIT else 0.05
#: A pavilion of five roofs, and what pays for builds: cards of the box by their type.
PURPLE = {"colour": "purple", "roofs": 5, "cells": [14, 15, 16, 17, 18]}
BLUE_1, BLUE_2, BLUE_3, BLUE_5, GREEN_1, RED = 0, (1, 2), (3, 4), 9, 10, (33, 34, 36, 37)


# Both implementations with random numbers


def agree(folder: Path, plan: dict[str, range], search_every: int) -> Counter[str]:
    seen: Counter[str] = Counter()
    for kind, numbers in plan.items():
        seen += run_batch(kind, numbers, search_every, lambda number: random_file(folder, number))
    return seen


def test_games_with_random_numbers_agree(tmp_path: Path) -> None:
    plan = {"random": 5, "rich": 5, "built": 40}
    seen = agree(tmp_path, {kind: range(max(2, int(count * SCALE))) for kind, count in plan.items()}, 12)
    assert seen["game over"] >= 2


@pytest.mark.nightly
def test_more_games_with_random_numbers_agree(tmp_path: Path) -> None:
    seen = agree(tmp_path, {"random": range(8, 48), "rich": range(8, 48), "built": range(80, 200)}, 12)
    assert all(seen[f"use {name}"] >= 10 for name in BOARD_ACTIONS)


@pytest.mark.nightly
@pytest.mark.timeout(2 * 3600)
def test_five_thousand_games_with_random_numbers_agree(tmp_path: Path) -> None:
    seen = agree(tmp_path, {"random": range(3500), "rich": range(1500), "built": range(5000)}, 15)
    print(seen)
    assert seen["dealt games"] + seen["rich games"] >= 5000
    assert all(seen[f"use {name}"] >= 1000 for name in BOARD_ACTIONS)


# Each action by itself: legal with its cost in the meadow and not with less, and as strong as the file says


def table(
    path: str,
    phase: str,
    hand: list[int],
    meadow: int,
    pile: int = 10,
    pending: dict[str, Any] | None = None,
    **over: Any,
) -> Position:
    """A position of two players. The first has a pavilion with a superstructure; the second holds all other cards."""
    components = load_components(path)
    deck = [card for card, count in enumerate(components.deck(2)) for _ in range(count)]
    deck.remove(49)  # the "5" that goes unseen
    for card in [
        *hand,
        *(pending or {}).get("paid", []),
        *([pending["card"]] if pending and "card" in pending else []),
    ]:
        deck.remove(card)
    random.Random(1).shuffle(deck)
    display, draw_pile, rest = deck[:8], deck[8 : 8 + pile], deck[8 + pile :]

    def counts(cards: list[int]) -> list[int]:
        return [cards.count(card) for card in range(components.types)]

    blank = {"pavilions": [], "wild": [], "superstructures": [], "coats_on_board": [], "meadow": 0, "used": []}
    blank |= {"known": [0] * components.types, "points": 0, "bonus": None, "limit_lifted": False}
    return {
        "game": "helsinki",
        "version": 0,
        "components": path,
        "players": 2,
        "covered": [],
        "denied": [[], []],
        "dry_roads": False,
        "phase": phase,
        "to_move": 0,
        "round": 5,
        "last_round": pile == 0,
        "done": False,
        "draw_pile": draw_pile,
        "discard_pile": counts([]),
        "display": display,
        "tile_supply": {
            "blue": [3, 3, 3, 1],
            "green": [3, 3, 3, 1],
            "purple": [3, 3, 3, 0],
            "red": [3, 3, 3, 1],
            "yellow": [3, 3, 3, 1],
        },
        "wild_tiles": 12,
        "superstructures": 29,
        "bonus_cards": [],
        "seats": [
            blank
            | {"hand": counts(hand), "token": 0, "pavilions": [PURPLE], "superstructures": [14], "meadow": meadow},
            blank | {"hand": counts(rest), "token": 4},
        ],
        "pending": pending or {},
        "chance": {"word": "0x0000000000000001"},
    } | over


HANDS = {"no_hand_limit": [BLUE_1, *BLUE_2, *BLUE_3, GREEN_1, *RED]}
PHASES: dict[str, tuple[str, dict[str, Any]]] = {
    "any_side": ("PLACE", {"card": GREEN_1}),
    "extra_card": ("MAIN", {}),
    "extra_superstructure": ("END", {"built": True}),
    "second_pavilion": ("END", {"built": True}),
    "one_card_fewer": ("PAY", {"card": BLUE_5, "to_pay": 4}),
    "any_card_as_wild": ("PAY", {"card": BLUE_5, "to_pay": 4}),
    "no_hand_limit": ("DISCARD", {"drew": True}),
    "draw_and_build": ("END", {"drew": True}),
}


@pytest.fixture(scope="module", params=range(MAX_COST + 1))
def cost(request: pytest.FixtureRequest) -> int:
    value: int = request.param
    return value


@pytest.fixture(scope="module", params=["least", "most"])
def path(request: pytest.FixtureRequest, cost: int, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A file in which every action costs so much and is as weak, or as strong, as it may be."""
    numbers = {
        name: {"cost": cost} | ({"strength": getattr(STRENGTHS[name], request.param)} if name in STRENGTHS else {})
        for name in BOARD_ACTIONS
    }
    return component_file(tmp_path_factory.mktemp("numbers"), f"{cost}_{request.param}", numbers)


def used(path: str, name: str, meadow: int, **over: Any) -> tuple[bool, Pair]:
    """Return whether an action is legal, by both implementations and by the search, and the game."""
    phase, pending = PHASES.get(name, ("MOVE", {}))
    hand = HANDS.get(name, [BLUE_1, *BLUE_2, *BLUE_3, RED[0]])
    pair = Pair.at(table(path, phase, hand, meadow, pending=pending) | over, Counter())
    assert brute_force_legal_actions(pair.reference) == pair.legal
    return notation.string_to_action(f"USE {name}", path) in pair.legal, pair


@pytest.mark.parametrize("name", BOARD_ACTIONS)
def test_an_action_is_legal_for_its_cost_and_does_what_its_strength_says(path: str, cost: int, name: str) -> None:
    action, components = BOARD_ACTIONS.index(name), load_components(path)
    strength = components.strengths[action]
    if cost:
        assert not used(path, name, cost - 1)[0]
    assert not used(path, name, 8, covered=[action])[0]
    legal, pair = used(path, name, cost)
    assert legal
    before = pair.position
    pair.step(notation.string_to_action(f"USE {name}", path))
    me, was, pending = pair.position["seats"][0], before["seats"][0], pair.position["pending"]
    assert me["meadow"] == 0
    assert me["used"] == [action]
    if name in ("move_1_to_6", "move_1_to_5"):
        moves = [notation.action_to_string(a, components) for a in pair.legal]
        assert moves == [f"MOVE {steps}" for steps in range(4, strength + 1)]
    elif name in ("one_wild_tile", "two_wild_tiles"):
        assert pending["wilds_left"] == strength
    elif name == "extra_card":
        drawn = sum(me["hand"]) - sum(was["hand"])
        assert drawn == 2 + strength
        assert len(pair.position["draw_pile"]) == 10 - drawn
    elif name == "extra_superstructure":
        assert pending["roofs_left"] == min(strength, 4)  # one of five roofs is taken
    elif name == "one_card_fewer":
        assert pending.get("to_pay", 0) == max(0, 4 - strength)
    elif name == "move_back":
        assert me["token"] == -strength % 8
    elif name == "two_points":
        assert me["points"] == strength
    pair.play(lambda game, legal: legal[0], 40)


def test_extra_cards_need_to_be_there(path: str) -> None:
    cards = 2 + load_components(path).strengths[BOARD_ACTIONS.index("extra_card")]
    hand = [BLUE_1]
    for pile, legal in ((cards, True), (cards - 1, False)):
        pair = Pair.at(table(path, "MAIN", hand, 8, pile), Counter())
        assert (notation.string_to_action("USE extra_card", path) in pair.legal) == legal


def test_fewer_cards_make_a_build_feasible(path: str, cost: int) -> None:
    strength = load_components(path).strengths[BOARD_ACTIONS.index("one_card_fewer")]
    others = [*BLUE_2, *BLUE_3]
    for held in range(5):
        hand = [BLUE_5, *others[:held]]
        covered = [BOARD_ACTIONS.index("any_card_as_wild")]
        for meadow in {max(0, cost - 1), cost}:
            pair = Pair.at(table(path, "MAIN", hand, meadow) | {"covered": covered}, Counter())
            feasible = held >= 4 or (held >= 4 - strength and meadow >= cost)
            assert (notation.string_to_action("BUILD blue 5/5+1", path) in pair.legal) == feasible
            assert brute_force_legal_actions(pair.reference) == pair.legal


@pytest.mark.parametrize(("fewer", "as_wild", "needed"), [(3, 1, 1), (1, 3, 1), (2, 2, 2), (0, 3, 0)])
def test_the_cheaper_way_to_pay_decides(tmp_path: Path, fewer: int, as_wild: int, needed: int) -> None:
    path = component_file(tmp_path, "ways", {"one_card_fewer": {"cost": fewer}, "any_card_as_wild": {"cost": as_wild}})
    build = notation.string_to_action("BUILD blue 5/5+1", path)
    short_by_one, short_by_two = [BLUE_5, *BLUE_2, BLUE_3[0], RED[0]], [BLUE_5, *BLUE_2, RED[0]]
    for meadow in range(9):
        for hand, least in ((short_by_one, needed), (short_by_two, fewer + as_wild)):
            pair = Pair.at(table(path, "MAIN", hand, meadow), Counter())
            assert (build in pair.legal) == (meadow >= least)
            pair.play(lambda game, legal: legal[-1], 3, search_every=1)


def test_paying_and_placing_share_the_meadow(tmp_path: Path) -> None:
    """A tile that fits from other sides only and lacks a card: both prices are needed, and no dead end is offered."""
    path = component_file(tmp_path, "both", {"any_side": {"cost": 2}, "one_card_fewer": {"cost": 3}})
    covered = [BOARD_ACTIONS.index("any_card_as_wild")]
    closed = [
        {"colour": "purple", "roofs": 4, "cells": [0, 1, 2, 3]},
        {"colour": "green", "roofs": 3, "cells": [4, 5, 6]},
    ]
    for meadow in range(9):
        position = table(path, "MAIN", [BLUE_5, *BLUE_2, BLUE_3[0]], meadow) | {"covered": covered}
        position["tile_supply"] |= {"purple": [3, 3, 2, 0], "green": [3, 2, 3, 1]}
        position["seats"][0]["pavilions"] = [*closed, PURPLE]
        pair = Pair.at(position, Counter())
        assert (notation.string_to_action("BUILD blue 5/5+1", path) in pair.legal) == (meadow >= 5)
        pair.play(lambda game, legal: legal[-1], 12, search_every=1)


# What a seat draws from a reshuffled pile


def test_a_fourth_card_of_a_reshuffled_pile_is_shown(tmp_path: Path) -> None:
    path = component_file(tmp_path, "cards", {"extra_card": {"strength": 5}})
    position = table(path, "MAIN", [BLUE_1], 1, pile=0)
    other = position["seats"][1]["hand"]
    position["discard_pile"] = [min(count, 1) for count in other]
    position["seats"][1]["hand"] = [count - min(count, 1) for count in other]
    pair = Pair.at(position, Counter())
    pair.step(notation.string_to_action("USE extra_card", path))
    draws = pair.position["pending"]["unseen_draws"]
    assert [len(cards) for cards in draws] == [3, 0]
    assert sum(pair.position["seats"][0]["known"]) == 2 + 2
    assert sum(pair.position["pending"]["reshuffled"]) == len(pair.position["draw_pile"]) + 3
    for viewer in range(2):
        for seed in range(20):
            copy = determinization.determinize(pair.game, viewer=viewer, seed=seed)
            np.testing.assert_array_equal(copy.observation(viewer), pair.game.observation(viewer))
    assert len(determinize_observation(pair.game.config, pair.game.observation(), count=3, seed=1)) == 3
    again = notation.from_dict(pair.position)
    assert again == pair.game


# Players and pictures


@pytest.mark.parametrize("name", ["heuristic", "greedy"])
def test_players_read_costs_and_strengths(tmp_path: Path, name: str) -> None:
    """At the end of a turn points can be had: for much or for nothing, few or many."""
    chosen = {}
    for key, numbers in {"dear": {"cost": 3, "strength": 1}, "cheap": {"cost": 0, "strength": 10}}.items():
        path = component_file(tmp_path, key, {"two_points": numbers})
        game = notation.from_dict(table(path, "END", [BLUE_1], 3, 30, pending={"drew": True}, covered=list(range(14))))
        chosen[key] = notation.action_to_string(choose_action(make_player(name, game.config), game), path)
    assert chosen == {"dear": "END", "cheap": "USE two_points"}


@pytest.mark.filterwarnings("ignore::helsinki_env.agents.net.description.UnmeasuredComponentsWarning")
@pytest.mark.parametrize("name", ["heuristic", "greedy", pytest.param("net", marks=pytest.mark.thorough)])
def test_players_decide_legally_whatever_the_numbers(tmp_path: Path, name: str) -> None:
    for number in range(3 if JIT else 1):
        path = component_file(tmp_path, f"numbers_{number}", random_numbers(random.Random(number)))
        game = notation.from_dict(
            rich_deal(notation.to_dict(HelsinkiGame(HelsinkiConfig(components=path), seed=number)))
        )
        player = make_player(name, game.config)
        while not game.done:
            game.step(choose_action(player, game))


def test_numbers_are_seen_in_pictures_and_said_in_words(tmp_path: Path) -> None:
    numbers = {
        "two_points": {"cost": 2, "strength": 7},
        "one_wild_tile": {"strength": 3},
        "move_1_to_5": {"strength": 4},
    }
    path = component_file(tmp_path, "seen", numbers | {"move_1_to_6": {"cost": 0}})
    position = table(path, "MOVE", [BLUE_1], 8)
    game = notation.from_dict(position)
    picture, box = render.svg(game), render.svg(unchecked(position, load_components()))
    assert picture.count('data-part="cost"') == 2
    assert "Costs 2 coats" in picture
    assert "Costs no coat" in picture
    assert "cost" not in box
    for words in ("7 points", "3 wild", "Move 1\u20134"):
        assert words in picture
        assert words not in box
    text = render.ansi(game)
    assert "Not one coat: Move 1\u20136 no coat, 7 points 2 coats" in text
    assert "Not one coat" not in render.ansi(unchecked(position, load_components()))
    assert game.spec.list_ui_actions is not None
    said = [touch.words for touch in game.spec.list_ui_actions(game, 0) if touch.kind == "USE"]
    assert len(set(said)) == len(said)
    assert {"Use: two points: 7 (2 coats)", "Use: move 4 to 6 spaces (no coat)", "Use: move 1 to 5: 4 spaces"} < {*said}
    assert {"Use: one wild tile: 3", "Use: two wild tiles", "Use: move back"} < {*said}

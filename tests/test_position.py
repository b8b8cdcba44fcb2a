"""Positions as data: messages name the key and the value of a position that cannot be read."""

from __future__ import annotations

import copy
import math
import random
import re
from collections import Counter, UserDict
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.engine.kernel import JIT
from helsinki_env.games.helsinki import notation
from helsinki_env.games.helsinki.position import PositionError
from tests.support import positions
from tests.support.agreement import Pair

Position = dict[str, Any]
Change = Callable[[Position], None]


def middle() -> Position:
    """Seat 1 of three in MAIN, seat 0 with two tiles, Dry roads, one bonus card taken."""
    position = notation.to_dict(HelsinkiGame(HelsinkiConfig(num_players=3, dry_roads=True), seed=1))
    deck = [*position["draw_pile"]]
    hands = [[deck.pop() for _ in range(count)] for count in (3, 4, 8)]
    for seat, hand in zip(position["seats"], hands, strict=True):
        seat["hand"] = [hand.count(card) for card in range(51)]
        seat["token"] = 2
    first = position["seats"][0]
    first["pavilions"] = [
        {"colour": "blue", "roofs": 3, "cells": [9, 16, 17]},
        {"colour": "green", "roofs": 2, "cells": [2, 3]},
    ]
    first["wild"] = [10]
    first["superstructures"] = [3, 10]
    first["bonus"] = 7
    first["points"] = 7
    first["meadow"], first["coats_on_board"] = 2, [5, 13, 35, 41, 43, 47]
    position |= {"phase": "MAIN", "to_move": 1, "round": 4, "draw_pile": deck, "bonus_cards": [3, 5]}
    position["seats"][1]["pavilions"] = [{"colour": "red", "roofs": 2, "cells": [17, 18]}]
    for colour, roofs in (("blue", 3), ("green", 2), ("red", 2)):
        position["tile_supply"][colour][roofs - 2] -= 1
    position["wild_tiles"], position["superstructures"] = 11, 28
    return position


def test_the_position_that_is_spoilt_below_is_a_good_one() -> None:
    assert notation.to_dict(notation.from_dict(middle())) == middle()


def put(path: str, value: Any) -> Change:
    """A change at a path such as ``seats.0.token``."""

    def change(position: Position) -> None:
        *way, last = (int(part) if part.isdecimal() else part for part in path.split("."))
        target: Any = position
        for part in way:
            target = target[part]
        target[last] = value

    return change


def drop(path: str) -> Change:
    """A change that takes a key away."""

    def change(position: Position) -> None:
        *way, last = (int(part) if part.isdecimal() else part for part in path.split("."))
        target: Any = position
        for part in way:
            target = target[part]
        del target[last]

    return change


def both(*changes: Change) -> Change:
    """Several changes."""

    def change(position: Position) -> None:
        for one in changes:
            one(position)

    return change


def puts(values: dict[str, Any]) -> Change:
    """Changes at several paths."""
    return both(*(put(path, value) for path, value in values.items()))


def in_phase(phase: str, values: dict[str, Any] | None = None, /, **pending: Any) -> Change:
    """Another phase of seat 0, which has tiles, with this pending, and further changes by path."""
    return puts({"phase": phase, "to_move": 0, "pending": pending, **(values or {})})


def build_of(card: int, *paid: int, **pending: Any) -> Change:
    """Seat 0 in PLACE with a card and cards paid for it, which come from wherever they are in the position."""

    def change(position: Position) -> None:
        for one in (card, *paid):
            holders = [position["draw_pile"], position["display"]]
            pile = next((cards for cards in holders if one in cards), None)
            if pile is holders[0]:
                pile.remove(one)
            elif pile is not None:
                pile[pile.index(one)] = position["draw_pile"].pop()
            else:
                seat = next(seat for seat in position["seats"] if seat["hand"][one])
                seat["hand"][one] -= 1
                seat["known"][one] = 0
        in_phase("PLACE", card=card, **({"paid": list(paid)} if paid else {}), **pending)(position)

    return change


def move_card(position: Position) -> None:
    """One card of another type in place of the next of the draw pile."""
    position["draw_pile"][0] = (position["draw_pile"][0] + 1) % 51


def twins(position: Position) -> None:
    position["display"][0] = position["display"][1] = 9  # there is one blue 5


#: The change, and the key and the value that the message must name.
MALFORMED: dict[str, tuple[Change, str, str]] = {
    "unknown key": (put("colour", 1), "colour: no such key (", "1"),
    "missing key": (drop("round"), "round", "nothing"),
    "unknown key of a seat": (put("seats.1.coat", 3), "seats[1].coat: no such key (", "3"),
    "missing key of a seat": (drop("seats.2.used"), "seats[2].used", "nothing"),
    "another game": (put("game", "copenhagen"), "game", "'copenhagen'"),
    "another version": (put("version", 7), "version", "7"),
    "truth value as version": (put("version", False), "version", "False"),
    "number of players": (put("players", 5), "players", "5"),
    "players of a wrong type": (put("players", "3"), "players", "'3'"),
    "covered action": (put("covered", [15]), "covered[0]", "15"),
    "denied actions of too few seats": (put("denied", [[], []]), "denied", "[[], []]"),
    "expansion of a wrong type": (put("dry_roads", 1), "dry_roads", "1"),
    "components": (put("components", ""), "components", "''"),
    "components that are not there": (put("components", "typo"), "components", "'typo'"),
    "phase": (put("phase", "DRAW"), "phase", "'DRAW'"),
    "seat to move": (put("to_move", 3), "to_move", "3"),
    "round": (put("round", 0), "round", "0"),
    "round of a wrong type": (put("round", 1.5), "round", "1.5"),
    "flag of a wrong type": (put("last_round", 0), "last_round", "0"),
    "draw pile of a copy for one seat": (put("draw_pile", 12), "draw_pile", "12"),
    "draw pile of a wrong type": (put("draw_pile", {}), "draw_pile", "{}"),
    "too many cards": (put("draw_pile", [0] * 101), "draw_pile", "[0, 0"),
    "card type in the pile": (put("draw_pile.2", 51), "draw_pile[2]", "51"),
    "truth value as a card type": (put("draw_pile.2", True), "draw_pile[2]", "True"),
    "too few counts": (put("discard_pile", [0] * 50), "discard_pile", "[0, 0"),
    "count below zero": (put("discard_pile.3", -1), "discard_pile[3]", "-1"),
    "too many display slots": (put("display", [None] * 9), "display", "[None, "),
    "card type in the display": (put("display.0", -1), "display[0]", "-1"),
    "tile colour": (drop("tile_supply.green"), "tile_supply.green", "nothing"),
    "tile counts": (put("tile_supply.red", [3, 3, 3]), "tile_supply.red", "[3, 3, 3]"),
    "too many tiles": (put("tile_supply.red.3", 2), "tile_supply.red[3]", "2"),
    "supply below zero": (put("wild_tiles", -1), "wild_tiles", "-1"),
    "supply beyond the box": (put("superstructures", 31), "superstructures", "31"),
    "bonus card": (put("bonus_cards", [4]), "bonus_cards[0]", "4"),
    "bonus card twice": (put("bonus_cards", [3, 3]), "bonus_cards[1]", "3"),
    "bonus cards without Dry roads": (put("dry_roads", False), "bonus_cards", "3"),
    "seats": (put("seats", []), "seats", "[]"),
    "seat of a wrong type": (put("seats.1", None), "seats[1]", "None"),
    "tile colour on a board": (put("seats.0.pavilions.0.colour", "pink"), "seats[0].pavilions[0].colour", "'pink'"),
    "tile size": (put("seats.0.pavilions.0.roofs", 6), "seats[0].pavilions[0].roofs", "6"),
    "tile beyond the board": (put("seats.0.pavilions.1.cells", [48, 49]), "seats[0].pavilions[1].cells[1]", "49"),
    "tile around the edge": (put("seats.0.pavilions.1.cells", [6, 7]), "seats[0].pavilions[1].cells", "[6, 7]"),
    "tile without cells": (put("seats.0.pavilions.1.cells", []), "seats[0].pavilions[1].cells", "[]"),
    "tile of another shape": (
        put("seats.0.pavilions.0.cells", [9, 16, 23]),
        "seats[0].pavilions[0].cells",
        "[9, 16, 23]",
    ),
    "tile on a tile": (put("seats.0.pavilions.1.cells", [9, 10]), "seats[0].pavilions[1].cells", "[9, 10]"),
    "tile on the statue": (put("seats.1.pavilions.0.cells", [24, 25]), "seats[1].pavilions[0].cells", "[24, 25]"),
    "wild tile on a tile": (put("seats.0.wild", [2]), "seats[0].wild", "[2]"),
    "wild tile twice": (put("seats.0.wild", [10, 10]), "seats[0].wild[1]", "10"),
    "superstructure on the ground": (put("seats.0.superstructures", [4]), "seats[0].superstructures", "[4]"),
    "superstructure on the statue": (put("seats.0.superstructures", [24]), "seats[0].superstructures", "[24]"),
    "coat where there is none": (put("seats.0.coats_on_board", [8]), "seats[0].coats_on_board", "8"),
    "coat under a tile": (
        puts({"seats.0.wild": [1, 10], "seats.0.coats_on_board": [1]}),
        "seats[0].coats_on_board",
        "1",
    ),
    "used action": (put("seats.0.used", [15]), "seats[0].used[0]", "15"),
    "hand of a copy for one seat": (put("seats.2.hand", {"size": 3, "known": []}), "seats[2].hand", "{'known'"),
    "known cards that are not held": (put("seats.0.known.50", 9), "seats[0].known[50]", "9"),
    "token": (put("seats.0.token", 8), "seats[0].token", "8"),
    "token missing": (put("seats.0.token", None), "seats.token", "[None, 2, 2]"),
    "points": (put("seats.0.points", -1), "seats[0].points", "-1"),
    "bonus card of two seats": (put("seats.1.bonus", 7), "seats[1].bonus", "7"),
    "bonus card that is left": (put("seats.1.bonus", 5), "seats[1].bonus", "5"),
    "limit of a wrong type": (put("seats.0.limit_lifted", None), "seats[0].limit_lifted", "None"),
    "chance": (put("chance", {}), "chance.word", "nothing"),
    "random word": (put("chance.word", "0x12"), "chance.word", "'0x12'"),
    "random word of a wrong type": (put("chance.word", 12), "chance.word", "12"),
    "no hexadecimal digits": (put("chance.word", "0x" + 16 * "g"), "chance.word", "'0xggg"),
    "a card in place of another": (move_card, "draw_pile, discard_pile, display, seats.hand", ""),
    "more of a card than there are": (twins, "draw_pile, discard_pile, display, seats.hand", ""),
    "a card missing": (lambda p: p["draw_pile"].pop(), "draw_pile, discard_pile, display", ""),
    "pending of a wrong type": (put("pending", []), "pending", "[]"),
    "pending key of another phase": (put("pending", {"to_pay": 1}), "pending.to_pay", "1"),
    "pending key missing": (in_phase("LIFT", resume="MAIN"), "pending.action", "nothing"),
    "pending flag": (put("pending", {"drew": False}), "pending.drew", "False"),
    "pending number": (in_phase("MOVE", move=4), "pending.move", "4"),
    "action of another phase": (
        in_phase("WILD", action="any_side", resume="MAIN", wilds_left=1),
        "pending.action",
        "'any_side'",
    ),
    "phase to go back to": (
        in_phase("WILD", action="one_wild_tile", resume="PAY", wilds_left=1),
        "pending.resume",
        "'PAY'",
    ),
    "paid cards": (in_phase("PLACE", card=0, paid=[]), "pending.paid", "[]"),
    "paid card": (in_phase("PLACE", card=0, paid=[51]), "pending.paid[0]", "51"),
    "built without a tile": (in_phase("END", {"to_move": 2}, built=True), "pending.built", "True"),
    "end of a turn without draw or build": (in_phase("END"), "phase", "'END'"),
    "main phase after drawing": (put("pending", {"drew": True}), "phase", "'MAIN'"),
    "discarding within the limit": (in_phase("DISCARD", drew=True), "phase", "'DISCARD'"),
    "start in the middle of the game": (put("phase", "START"), "seats.token", "[2, 2, 2]"),
    "over in the middle of a turn": (put("done", True), "done", "True"),
    "a reshuffled pile before the last round": (
        put("pending", {"reshuffled": [1] * 51}),
        "pending.reshuffled",
        "'a pile'",
    ),
    "draws from no reshuffled pile": (
        put("pending", {"unseen_draws": [[1], [], []]}),
        "pending.unseen_draws",
        "[[1], [], []]",
    ),
    "draws of a seat whose turn comes later": (
        both(
            put("last_round", True),
            put("pending", {"unseen_draws": [[], [], [1]]}),
            lambda p: p["pending"].update(reshuffled=[(p["draw_pile"] + [1]).count(card) for card in range(51)]),
        ),
        "pending.unseen_draws[2]",
        "[1]",
    ),
    "discarding before drawing": (in_phase("DISCARD", {"to_move": 2}), "phase", "'DISCARD'"),
    "discarding at the end of no turn": (
        in_phase("DISCARD", {"to_move": 2, "seats.2.used": [11]}, turn_over=True),
        "pending.turn_over",
        "True",
    ),
    "discarding with a lifted limit": (
        in_phase("DISCARD", {"to_move": 2, "seats.2.used": [11], "seats.2.limit_lifted": True}, drew=True),
        "seats[2].limit_lifted",
        "True",
    ),
    "building a tile that is gone": (both(build_of(2, 1), put("tile_supply.blue.1", 0)), "pending.card", "2"),
    "building where nothing fits": (
        both(
            build_of(2, 1),
            # Closed on the east side, from which the token pushes; elsewhere no action helps, for want of a coat.
            put("seats.0.wild", [6, 10, 13, 20, 27, 34, 41, 48]),
            put("seats.0.coats_on_board", []),
            put("seats.0.meadow", 0),
            put("wild_tiles", 4),
        ),
        "pending.card",
        "2",
    ),
    "nothing left to pay with after the substitute": (
        both(build_of(6, to_pay=3, substitute=True), put("seats.0.used", [13]), put("phase", "PAY")),
        "pending.to_pay",
        "3",
    ),
    "paying too much": (build_of(2, 1, 1), "pending.paid", "[1, 1]"),
    "paying with another colour": (build_of(4, 1, 10), "pending.paid", "[1, 10]"),
    "paying out of order": (build_of(4, 2, 1), "pending.paid", "[2, 1]"),
    "paying before the substitute": (
        both(build_of(4, 1, to_pay=1, substitute=True), put("phase", "PAY"), put("seats.0.used", [13])),
        "pending.substitute",
        "True",
    ),
    "more wild tiles due than there are": (
        in_phase("WILD", {"seats.0.used": [1], "wild_tiles": 1}, action="two_wild_tiles", resume="MAIN", wilds_left=2),
        "pending.wilds_left",
        "2",
    ),
    "two wild tiles for one": (
        in_phase("WILD", {"seats.0.used": [6]}, action="one_wild_tile", resume="MAIN", wilds_left=2),
        "pending.wilds_left",
        "2",
    ),
    "two superstructures to move": (
        in_phase(
            "ROOF",
            {"seats.0.used": [9], "superstructures": 27},
            action="move_superstructure",
            resume="MAIN",
            roofs_left=2,
            lifted=2,
        ),
        "pending.roofs_left",
        "2",
    ),
    "going back to the end before drawing": (
        in_phase("WILD", action="one_wild_tile", resume="END", wilds_left=1),
        "pending.resume",
        "'END'",
    ),
    "a limit lifted in a turn without drawing": (put("pending", {"lifted_now": True}), "pending.lifted_now", "True"),
    "an action carried out that is not used": (
        in_phase("WILD", action="one_wild_tile", resume="MAIN", wilds_left=1),
        "pending.action",
        "'one_wild_tile'",
    ),
    "drawn and built without draw_and_build": (in_phase("END", drew=True, built=True), "pending.drew", "True"),
    "a long move without its action": (in_phase("MOVE", move=6), "pending.move", "6"),
    "nothing to lift": (
        in_phase(
            "LIFT", {"seats.0.used": [9], "seats.0.superstructures": []}, action="move_superstructure", resume="MAIN"
        ),
        "phase",
        "'LIFT'",
    ),
    "superstructure lifted for another action": (
        in_phase(
            "ROOF",
            {"seats.0.used": [4], "superstructures": 27},
            action="extra_superstructure",
            resume="END",
            built=True,
            roofs_left=1,
            lifted=2,
        ),
        "pending.lifted",
        "2",
    ),
    "superstructure lifted from the ground": (
        in_phase(
            "ROOF",
            {"seats.0.used": [9], "superstructures": 27},
            action="move_superstructure",
            resume="MAIN",
            roofs_left=1,
            lifted=40,
        ),
        "pending.lifted",
        "40",
    ),
    "more superstructures due than there are": (
        in_phase("ROOF", {"superstructures": 1}, resume="END", built=True, roofs_left=2),
        "pending.roofs_left",
        "2",
    ),
    "nothing to draw before the last round": (
        both(lambda p: p.update(discard_pile=[p["draw_pile"].count(card) for card in range(51)]), put("draw_pile", [])),
        "draw_pile",
        "[]",
    ),
    "an empty slot beside a draw pile": (
        both(lambda p: p["draw_pile"].append(p["display"][3]), put("display.3", None)),
        "display",
        "[",
    ),
    "a full meadow beside coats to be won": (put("seats.1.meadow", 8), "seats[1].meadow", "8"),
    "more tiles than in the box": (put("tile_supply.blue.1", 3), "tile_supply.blue[1]", "3"),
    "more tiles on the boards than in the box": (
        puts(
            {
                "seats.2.pavilions": [{"colour": "blue", "roofs": 5, "cells": [0, 1, 2, 8, 15]}],
                "seats.1.pavilions": [{"colour": "blue", "roofs": 5, "cells": [4, 5, 6, 12, 19]}],
                "seats.1.coats_on_board": [],
                "seats.2.coats_on_board": [],
            }
        ),
        "all of tile_supply.blue[3]",
        "2",
    ),
    "more wild tiles than in the box": (put("wild_tiles", 12), "wild_tiles", "12"),
    "more superstructures than in the box": (put("superstructures", 29), "superstructures", "29"),
    "a bonus card that is not in play": (put("bonus_cards", [3, 5, 9]), "bonus_cards", "9"),
    "a round after which others would outgrow their place": (put("round", 127), "round", "127"),
    "points with which others would outgrow their place": (put("seats.1.points", 121), "seats[1].points", "121"),
    "a version that is no whole number": (put("version", 0.0), "version", "0.0"),
    "a bonus card that is no whole number": (put("seats.0.bonus", 7.0), "seats[0].bonus", "7.0"),
    "a limit lifted by nothing": (put("seats.2.limit_lifted", True), "seats[2].limit_lifted", "True"),
    "a turn that is over by nothing": (
        in_phase("DISCARD", {"to_move": 2}, drew=True, turn_over=True),
        "pending.turn_over",
        "True",
    ),
    "discarding after building": (
        in_phase(
            "DISCARD",
            {
                "to_move": 2,
                "seats.2.pavilions": [{"colour": "yellow", "roofs": 2, "cells": [17, 18]}],
                "tile_supply.yellow.0": 2,
                "seats.2.used": [12],
            },
            drew=True,
            built=True,
        ),
        "pending.built",
        "True",
    ),
    "no other roof for what is lifted": (
        in_phase(
            "LIFT",
            {"seats.0.used": [9], "seats.0.superstructures": [2, 3, 9, 10, 16, 17], "superstructures": 24},
            action="move_superstructure",
            resume="MAIN",
        ),
        "phase",
        "'LIFT'",
    ),
    "superstructure lifted from the statue": (
        in_phase(
            "ROOF",
            {"seats.0.used": [9], "superstructures": 27},
            action="move_superstructure",
            resume="MAIN",
            roofs_left=1,
            lifted=24,
        ),
        "pending.lifted",
        "24",
    ),
    "superstructures of no build": (in_phase("ROOF", resume="END", drew=True, roofs_left=1), "phase", "'ROOF'"),
    "superstructures go on after one that is elsewhere": (
        in_phase("ROOF", resume="END", built=True, roofs_left=1, last_roof=2),
        "pending.last_roof",
        "2",
    ),
    "a reshuffled pile of other cards": (
        puts({"last_round": True, "pending": {"reshuffled": [1] * 51}}),
        "pending.reshuffled[",
        "1",
    ),
    "a reshuffled pile of nothing": (
        puts({"last_round": True, "pending": {"reshuffled": [0] * 51}}),
        "pending.reshuffled",
        "[0, 0",
    ),
    "a card drawn from a reshuffled pile that is nowhere": (
        both(
            put("last_round", True),
            put("pending", {"unseen_draws": [[50], [], []]}),
            lambda p: p["pending"].update(reshuffled=[(p["draw_pile"] + [50]).count(card) for card in range(51)]),
            lambda p: p["seats"][0]["known"].__setitem__(50, p["seats"][0]["hand"][50]),
        ),
        "pending.unseen_draws",
        "[[50], [], []]",
    ),
    "draws from a pile for too few seats": (
        put("pending", {"reshuffled": [1] * 51, "unseen_draws": [[]]}),
        "pending.unseen_draws",
        "[[]]",
    ),
    "too many draws from a pile": (
        put("pending", {"reshuffled": [1] * 51, "unseen_draws": [[0, 0, 0, 0], [], []]}),
        "pending.unseen_draws[0]",
        "[0, 0, 0, 0]",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_positions_are_refused(name: str) -> None:
    change, key, found = MALFORMED[name]
    position = middle()
    change(position)
    with pytest.raises(ValueError, match="position: ") as error:
        notation.from_dict(position)
    message = str(error.value)
    between = "" if key.endswith("(") else "[^:]*: "
    assert re.match(rf"position: {re.escape(key)}{between}found {re.escape(found)}", message), message
    assert " expected " in message
    assert len(message) < 700


#: What is changed in a game that has just been dealt, and what the message begins with.
NO_START: dict[str, tuple[Change, str]] = {
    "a card was discarded": (lambda p: give(p, p["draw_pile"].pop()), "phase: found 'START'"),
    "a card is in a hand": (lambda p: give(p, p["draw_pile"].pop(), "seats", 0, "hand"), "phase: found 'START'"),
    "a wild tile lies": (puts({"seats.1.wild": [10], "wild_tiles": 11}), "phase: found 'START'"),
    "in the second round": (put("round", 2), "phase: found 'START'"),
    "in the last round": (put("last_round", True), "phase: found 'START'"),
    "a token stands": (put("seats.1.token", 3), "seats.token: found [None, 3]"),
    "over": (put("done", True), "done: found True"),
}


def give(position: Position, card: int, *where: Any) -> None:
    """Put a card on the discard pile or another pile with counts."""
    holder: Any = position["discard_pile"]
    if where:
        holder = position
        for key in where:
            holder = holder[key]
    holder[card] += 1


@pytest.mark.parametrize("name", NO_START)
def test_a_game_starts_as_it_is_dealt(name: str) -> None:
    change, message = NO_START[name]
    position = notation.to_dict(HelsinkiGame(seed=1))
    assert notation.from_dict(position) == HelsinkiGame(seed=1)
    change(position)
    with pytest.raises(PositionError, match=re.escape(f"position: {message}")):
        notation.from_dict(position)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (put("last_round", False), "the last round, and the last seat to move in it"),
        (put("to_move", 0), "the last round, and the last seat to move in it"),
        (put("pending", {"drew": True}), "phase END with nothing pending"),
        (put("phase", "MAIN"), "phase END with nothing pending"),
    ],
)
def test_a_game_is_over_after_the_last_turn_of_the_last_round(change: Change, expected: str) -> None:
    game = HelsinkiGame(seed=1)
    while not game.done:
        game.step(int(game.legal_actions()[0]))
    position = notation.to_dict(game)
    assert notation.from_dict(position) == game
    change(position)
    with pytest.raises(PositionError, match=f"position: done: found True, expected {expected}"):
        notation.from_dict(position)


@pytest.mark.parametrize("value", [None, [], "helsinki", 3])
def test_what_is_no_position_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"position: found "):
        notation.from_dict(value)


def nested(depth: int, wrap: Callable[[Any], Any]) -> Any:
    """A list or mapping within another and so on."""
    value: Any = []
    for _ in range(depth):
        value = wrap(value)
    return value


def around_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


#: Anything that a program may pass.
ANYTHING: tuple[Any, ...] = (
    *(np.array(data) for data in (3, 3.0, True, "START", None, [], [2], [1, 2, 3], [[1, 2], [3, 4]], [None] * 8)),
    *(np.zeros(51, kind) for kind in (np.int8, np.float64, object)),
    *(np.int64(3), np.uint64(2**64 - 1), np.float32("nan"), np.bool_(True), np.str_("MAIN")),
    *(10**5000, -(10**5000), 2**63, -1, 0.5, 1e308, math.nan, math.inf, 2j, True, None, Decimal(3), Fraction(1, 2)),
    *("", "START", "a" * 5000, "\0", "\ud800", "../..", "/", "\n" * 300, b"START", bytearray(51), memoryview(b"1")),
    *((), (1, 2), {1}, frozenset(), range(8), range(10**12), iter([1]), object(), object, len, ...),
    *({1: 2}, {None: 1}, {10**5000: 1}, {"a" * 5000: 1}, {b"game": 1}, {"game": "helsinki"}, UserDict(size=3)),
    *(nested(20_000, lambda inner: [inner]), nested(20_000, lambda inner: {"cells": inner}), around_itself()),
    *([None] * 51, [0] * 10**4, [10**5000] * 51, [[]] * 3, [{}], [["x"] * 51] * 3),
)

#: Positions that have every key between them, and the part of them that is changed.
WHOLE: dict[str, tuple[Change, tuple[str, ...]]] = {
    "anything": (lambda p: None, ()),
    "move": (in_phase("MOVE", {"seats.0.used": [0]}, move=6), ("pending",)),
    "paid": (build_of(4, 1, 2), ("pending",)),
    "discard": (in_phase("DISCARD", {"to_move": 2}, drew=True, last_discard=0), ("pending",)),
    "wild": (
        in_phase("WILD", {"seats.0.used": [6]}, action="one_wild_tile", resume="MAIN", wilds_left=1),
        ("pending",),
    ),
    "roof": (
        in_phase("ROOF", {"seats.0.superstructures": [2, 10]}, resume="END", built=True, roofs_left=1, last_roof=2),
        ("pending",),
    ),
    "unseen": (
        both(
            put("last_round", True),
            lambda p: p["pending"].update(unseen_draws=[[p["seats"][0]["hand"].index(1)], [], []]),
            lambda p: p["seats"][0].update(known=[0] * 51),
            lambda p: p["pending"].update(
                reshuffled=[(p["draw_pile"] + p["pending"]["unseen_draws"][0]).count(card) for card in range(51)]
            ),
        ),
        ("pending",),
    ),
}


def places(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to whatever stands in a position; of a list, to the first."""
    yield way
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*way, key))
    elif isinstance(value, list) and value:
        yield from places(value[0], (*way, 0))


def refusal(position: Any) -> str | None:
    """What is wrong with a position; None if it is accepted."""
    try:
        notation.from_dict(position)
    except PositionError as problem:
        return str(problem)
    return None


@pytest.mark.thorough
@pytest.mark.parametrize("name", WHOLE)
def test_whatever_stands_anywhere_is_read_or_refused(name: str) -> None:
    change, part = WHOLE[name]
    position = middle()
    change(position)
    assert refusal(position) is None
    assert all(refusal(value) for value in ANYTHING)
    target: Any = position
    for key in part:
        target = target[key]
    for way in places(target, part):
        holder: Any = {None: position}
        for key in (None, *way)[:-1]:
            holder = holder[key]
        last = (None, *way)[-1]
        kept = holder[last]
        for value in ANYTHING:
            holder[last] = value
            message = refusal(position) if way else refusal(value)
            assert message is None or (message.startswith("position: ") and len(message) < 1000)
        holder[last] = kept
    assert refusal(position) is None


def test_refusing_does_not_change_what_was_given() -> None:
    position = middle()
    position["wild_tiles"] = 99
    before = copy.deepcopy(position)
    with pytest.raises(ValueError, match="wild_tiles"):
        notation.from_dict(position)
    assert position == before


@pytest.mark.parametrize("seat", range(3))
def test_a_copy_for_one_seat_shows_what_that_seat_may_see(seat: int) -> None:
    game = notation.from_dict(middle())
    whole, seen = notation.to_dict(game), notation.to_dict(game, seat)
    assert seen.pop("draw_pile") == len(whole.pop("draw_pile"))
    assert "chance" not in seen
    del whole["chance"]
    for number, (full, shown) in enumerate(zip(whole.pop("seats"), seen.pop("seats"), strict=True)):
        if number != seat:
            assert shown.pop("hand") == {"size": sum(full.pop("hand")), "known": full["known"]}
        assert shown == full
    assert seen == whole
    with pytest.raises(ValueError, match=r"draw_pile: found 58"):
        notation.from_dict(notation.to_dict(game, seat))


@given(st.integers(0, 10**9), st.sampled_from(positions.THEMES), st.data())
@settings(max_examples=150 if JIT else 5)
def test_any_single_change_is_refused_or_gives_a_game_that_agrees(number: int, theme: str, data: st.DataObject) -> None:
    """Whatever stands where: a ValueError of ours, or a game that both implementations play alike."""
    position = positions.build(random.Random(number), theme)
    target: Any = position
    while True:
        keys = list(target) if isinstance(target, dict) else list(range(len(target)))
        key = data.draw(st.sampled_from(keys))
        inner = target[key]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            break
        target = inner
    target[key] = data.draw(
        st.none()
        | st.booleans()
        | st.integers(-2, 60)
        | st.just(10**12)
        | st.floats()
        | st.text(max_size=3)
        | st.lists(st.integers(-1, 60), max_size=3)
        | st.just({})
    )
    try:
        game = notation.from_dict(position)
    except ValueError as error:
        if str(error).startswith("position: "):
            return
        raise
    position = notation.to_dict(game)
    Pair.at(position, Counter()).play(lambda _, legal: data.draw(st.sampled_from(legal)), most=8)


def test_a_study_may_start_with_full_meadows_short_supplies_and_an_empty_pile() -> None:
    position = middle()
    position["seats"][1] |= {"meadow": 8, "coats_on_board": []}
    position["tile_supply"]["blue"] = [0, 0, 0, 0]
    position["wild_tiles"], position["superstructures"] = 1, 0
    for card in position["draw_pile"]:
        position["discard_pile"][card] += 1
    position |= {"draw_pile": [], "last_round": True}
    pair = Pair.at(position, Counter())
    pair.play(lambda _, legal: legal[-1])
    assert pair.game.done

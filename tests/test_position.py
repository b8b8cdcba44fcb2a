"""Positions as data: what is refused, and that the message names the key, what stood there and what was expected."""

from __future__ import annotations

import copy
import random
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helsinki_env import Game, GameConfig, notation
from helsinki_env.core.kernel import JIT
from tests.support import positions
from tests.support.agreement import Pair

Position = dict[str, Any]
Change = Callable[[Position], None]


def middle() -> Position:
    """Seat 1 of three in MAIN, seat 0 with two tiles, Dry roads, one bonus card taken."""
    position = notation.to_dict(Game(GameConfig(num_players=3, dry_roads=True), seed=1))
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


def in_phase(phase: str, **pending: Any) -> Change:
    """Another phase of seat 0, which has tiles, with this pending."""
    return both(put("phase", phase), put("to_move", 0), put("pending", pending))


def build_of(card: int, *paid: int, **pending: Any) -> Change:
    """Seat 0 in PLACE with a card and cards paid for it, which come from wherever they are in the position."""

    def change(position: Position) -> None:
        for one in (card, *paid):
            holders = [position["draw_pile"], position["display"]]
            pile = next((cards for cards in holders if one in cards), None)
            if pile is holders[0]:
                pile.remove(one)
            elif pile is not None:
                pile[pile.index(one)] = None
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


# What is changed, and what the message has to say: the key, what stood there, what was expected.
MALFORMED: dict[str, tuple[Change, str, str, str]] = {
    "unknown key": (put("colour", 1), "colour: no such key (", "1", "one of game, version"),
    "missing key": (drop("round"), "round", "nothing", "this key: it is missing"),
    "unknown key of a seat": (
        put("seats.1.coat", 3),
        "seats[1].coat: no such key (",
        "3",
        "one of pavilions, wild",
    ),
    "missing key of a seat": (drop("seats.2.used"), "seats[2].used", "nothing", "it is missing"),
    "another game": (put("game", "copenhagen"), "game", "'copenhagen'", "one of helsinki"),
    "another version": (put("version", 7), "version", "7", "0"),
    "truth value as version": (put("version", False), "version", "False", "0"),
    "number of players": (put("players", 5), "players", "5", "seats from 2 to 4"),
    "players of a wrong type": (put("players", "3"), "players", "'3'", "seats from 2 to 4"),
    "covered action": (put("covered", [15]), "covered[0]", "15", "an action"),
    "denied actions of too few seats": (
        put("denied", [[], []]),
        "denied",
        "[[], []]",
        "a list of 3 lists of actions, one for each seat",
    ),
    "expansion of a wrong type": (put("dry_roads", 1), "dry_roads", "1", "True or False"),
    "components": (put("components", ""), "components", "''", "the name of a component file"),
    "components that are not there": (put("components", "typo"), "components", "'typo'", "one of alternative, "),
    "phase": (put("phase", "DRAW"), "phase", "'DRAW'", "one of START, MOVE, MAIN"),
    "seat to move": (put("to_move", 3), "to_move", "3", "a seat from 0 to 2"),
    "round": (put("round", 0), "round", "0", "from 1"),
    "round of a wrong type": (put("round", 1.5), "round", "1.5", "a round from 1 to 127"),
    "flag of a wrong type": (put("last_round", 0), "last_round", "0", "True or False"),
    "draw pile of a copy for one seat": (put("draw_pile", 12), "draw_pile", "12", "a list of card types"),
    "draw pile of a wrong type": (put("draw_pile", {}), "draw_pile", "{}", "a list of card types"),
    "too many cards": (put("draw_pile", [0] * 101), "draw_pile", "[0, 0", "at most 100 cards"),
    "card type in the pile": (put("draw_pile.2", 51), "draw_pile[2]", "51", "a card type from 0 to 50"),
    "truth value as a card type": (put("draw_pile.2", True), "draw_pile[2]", "True", "a card type from 0 to 50"),
    "too few counts": (put("discard_pile", [0] * 50), "discard_pile", "[0, 0", "a list of 51 card counts"),
    "count below zero": (put("discard_pile.3", -1), "discard_pile[3]", "-1", "a card count from 0"),
    "too many display slots": (put("display", [None] * 9), "display", "[None, ", "a list of 8"),
    "card type in the display": (put("display.0", -1), "display[0]", "-1", "null or a card type from 0 to 50"),
    "tile colour": (drop("tile_supply.green"), "tile_supply.green", "nothing", "it is missing"),
    "tile counts": (put("tile_supply.red", [3, 3, 3]), "tile_supply.red", "[3, 3, 3]", "a list of 4"),
    "too many tiles": (put("tile_supply.red.3", 2), "tile_supply.red[3]", "2", "a supply of tiles from 0 to 1"),
    "supply below zero": (put("wild_tiles", -1), "wild_tiles", "-1", "a supply from 0 to 12"),
    "supply beyond the box": (put("superstructures", 31), "superstructures", "31", "a supply from 0 to 30"),
    "bonus card": (put("bonus_cards", [4]), "bonus_cards[0]", "4", "one of 3, 5, 7, 9"),
    "bonus card twice": (put("bonus_cards", [3, 3]), "bonus_cards[1]", "3", "each bonus card once"),
    "bonus cards without Dry roads": (put("dry_roads", False), "bonus_cards", "3", "none: they belong to Dry roads"),
    "seats": (put("seats", []), "seats", "[]", "a list of 3 seats"),
    "seat of a wrong type": (put("seats.1", None), "seats[1]", "None", "a mapping of some of pavilions, wild"),
    "tile colour on a board": (
        put("seats.0.pavilions.0.colour", "pink"),
        "seats[0].pavilions[0].colour",
        "'pink'",
        "one of blue, green",
    ),
    "tile size": (put("seats.0.pavilions.0.roofs", 6), "seats[0].pavilions[0].roofs", "6", "roofs from 2 to 5"),
    "tile beyond the board": (
        put("seats.0.pavilions.1.cells", [48, 49]),
        "seats[0].pavilions[1].cells[1]",
        "49",
        "cell from 0 to 48",
    ),
    "tile around the edge": (
        put("seats.0.pavilions.1.cells", [6, 7]),
        "seats[0].pavilions[1].cells",
        "[6, 7]",
        "2 cells in the shape I2 (XX)",
    ),
    "tile without cells": (
        put("seats.0.pavilions.1.cells", []),
        "seats[0].pavilions[1].cells",
        "[]",
        "2 cells in the shape",
    ),
    "tile of another shape": (
        put("seats.0.pavilions.0.cells", [9, 16, 23]),
        "seats[0].pavilions[0].cells",
        "[9, 16, 23]",
        "3 cells in the shape L3 (X./XX)",
    ),
    "tile on a tile": (
        put("seats.0.pavilions.1.cells", [9, 10]),
        "seats[0].pavilions[1].cells",
        "[9, 10]",
        "cells that are empty; [9] are built already",
    ),
    "tile on the statue": (
        put("seats.1.pavilions.0.cells", [24, 25]),
        "seats[1].pavilions[0].cells",
        "[24, 25]",
        "[24] are built already",
    ),
    "wild tile on a tile": (put("seats.0.wild", [2]), "seats[0].wild", "[2]", "[2] are built already"),
    "wild tile twice": (put("seats.0.wild", [10, 10]), "seats[0].wild[1]", "10", "each of the cells once"),
    "superstructure on the ground": (
        put("seats.0.superstructures", [4]),
        "seats[0].superstructures",
        "[4]",
        "cells of pavilion or wild tiles",
    ),
    "superstructure on the statue": (
        put("seats.0.superstructures", [24]),
        "seats[0].superstructures",
        "[24]",
        "cells of pavilion or wild tiles",
    ),
    "coat where there is none": (
        put("seats.0.coats_on_board", [8]),
        "seats[0].coats_on_board",
        "8",
        "those of [1, 5, 7, 13, 35, 41, 43, 47]",
    ),
    "coat under a tile": (
        both(put("seats.0.wild", [1, 10]), put("seats.0.coats_on_board", [1])),
        "seats[0].coats_on_board",
        "1",
        "that are not built",
    ),
    "used action": (put("seats.0.used", [15]), "seats[0].used[0]", "15", "action from 0 to 14"),
    "hand of a copy for one seat": (
        put("seats.2.hand", {"size": 3, "known": []}),
        "seats[2].hand",
        "{'known'",
        "a copy made for one seat cannot be played on",
    ),
    "known cards that are not held": (put("seats.0.known.50", 9), "seats[0].known[50]", "9", "in hand"),
    "token": (put("seats.0.token", 8), "seats[0].token", "8", "null or a space from 0 to 7"),
    "token missing": (put("seats.0.token", None), "seats.token", "[-1, 2, 2]", "a space for every seat except"),
    "points": (put("seats.0.points", -1), "seats[0].points", "-1", "points from 0"),
    "bonus card of two seats": (put("seats.1.bonus", 7), "seats[1].bonus", "7", "that nobody else has"),
    "bonus card that is left": (put("seats.1.bonus", 5), "seats[1].bonus", "5", "that is not left"),
    "limit of a wrong type": (put("seats.0.limit_lifted", None), "seats[0].limit_lifted", "None", "True or False"),
    "chance": (put("chance", {}), "chance.word", "nothing", "it is missing"),
    "random word": (put("chance.word", "0x12"), "chance.word", "'0x12'", "16 hexadecimal digits"),
    "random word of a wrong type": (put("chance.word", 12), "chance.word", "12", "16 hexadecimal digits"),
    "no hexadecimal digits": (put("chance.word", "0x" + 16 * "g"), "chance.word", "'0xggg", "16 hexadecimal digits"),
    "a card in place of another": (move_card, "all cards of type", "", "of them in piles, display and hands"),
    "more of a card than there are": (twins, "all cards of type 9", "", "1 of them in piles"),
    "a card missing": (lambda p: p["draw_pile"].pop(), "all cards of type", "", "in piles, display and hands"),
    "pending of a wrong type": (put("pending", []), "pending", "[]", "a mapping"),
    "pending key of another phase": (
        put("pending", {"to_pay": 1}),
        "pending.to_pay",
        "1",
        "in phase MAIN only the keys",
    ),
    "pending key missing": (in_phase("LIFT", resume="MAIN"), "pending.action", "nothing", "phase LIFT needs it"),
    "pending flag": (put("pending", {"drew": False}), "pending.drew", "False", "true, or no such key"),
    "pending number": (in_phase("MOVE", move=4), "pending.move", "4", "from 5 to 6"),
    "action of another phase": (
        in_phase("WILD", action="any_side", resume="MAIN", wilds_left=1),
        "pending.action",
        "'any_side'",
        "in phase WILD one of one_wild_tile, two_wild_tiles",
    ),
    "phase to go back to": (
        in_phase("WILD", action="one_wild_tile", resume="PAY", wilds_left=1),
        "pending.resume",
        "'PAY'",
        "one of MOVE, MAIN, END",
    ),
    "paid cards": (in_phase("PLACE", card=0, paid=[]), "pending.paid", "[]", "at least one card type"),
    "paid card": (in_phase("PLACE", card=0, paid=[51]), "pending.paid[0]", "51", "a card type from 0 to 50"),
    "built without a tile": (
        both(in_phase("END", built=True), put("to_move", 2)),
        "pending.built",
        "True",
        "a pavilion tile on the board",
    ),
    "end of a turn without draw or build": (in_phase("END"), "phase", "'END'", "pending.drew or pending.built"),
    "main phase after drawing": (put("pending", {"drew": True}), "phase", "'MAIN'", "pending.only_build in MAIN"),
    "discarding within the limit": (
        in_phase("DISCARD", drew=True),
        "phase",
        "'DISCARD'",
        "a hand above the limit of 7",
    ),
    "start in the middle of the game": (put("phase", "START"), "seats.token", "[2, 2, 2]", "null for every seat"),
    "over in the middle of a turn": (put("done", True), "done", "True", "phase END with nothing pending"),
    "a reshuffled pile before the last round": (
        put("pending", {"reshuffled": [1] * 51}),
        "pending.reshuffled",
        "'a pile'",
        "no such key before the last round",
    ),
    "draws from no reshuffled pile": (
        put("pending", {"unseen_draws": [[1], [], []]}),
        "pending.unseen_draws",
        "[[1], [], []]",
        "no draws without pending.reshuffled",
    ),
    "draws of a seat whose turn comes later": (
        both(
            put("last_round", True),
            put("pending", {"unseen_draws": [[], [], [1]]}),
            lambda p: p["pending"].update(reshuffled=[(p["draw_pile"] + [1]).count(card) for card in range(51)]),
        ),
        "pending.unseen_draws[2]",
        "[1]",
        "at most 0 draws of this seat by now",
    ),
    "discarding before drawing": (
        both(in_phase("DISCARD"), put("to_move", 2)),
        "phase",
        "'DISCARD'",
        "pending.drew to be true",
    ),
    "discarding at the end of no turn": (
        both(in_phase("DISCARD", turn_over=True), put("to_move", 2), put("seats.2.used", [11])),
        "pending.turn_over",
        "True",
        "pending.drew or pending.built",
    ),
    "discarding with a lifted limit": (
        both(
            in_phase("DISCARD", drew=True),
            put("to_move", 2),
            put("seats.2.used", [11]),
            put("seats.2.limit_lifted", True),
        ),
        "seats[2].limit_lifted",
        "True",
        "false while cards are discarded",
    ),
    "building a tile that is gone": (
        both(build_of(2, 1), put("tile_supply.blue.1", 0)),
        "pending.card",
        "2",
        "a card whose tile (blue, 3 roofs) is in the supply",
    ),
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
        "a card whose tile can be placed",
    ),
    "nothing left to pay with after the substitute": (
        both(build_of(6, to_pay=3, substitute=True), put("seats.0.used", [13]), put("phase", "PAY")),
        "pending.to_pay",
        "3",
        "at most 1 more than the",
    ),
    "paying too much": (build_of(2, 1, 1), "pending.paid", "[1, 1]", "1 cards paid or still to be paid"),
    "paying with another colour": (build_of(4, 1, 10), "pending.paid", "[1, 10]", "cards of the colour or wild"),
    "paying out of order": (build_of(4, 2, 1), "pending.paid", "[2, 1]", "cards of the colour or wild in ascending"),
    "paying before the substitute": (
        both(build_of(4, 1, to_pay=1, substitute=True), put("phase", "PAY"), put("seats.0.used", [13])),
        "pending.substitute",
        "True",
        "no card paid before the substitute",
    ),
    "more wild tiles due than there are": (
        both(
            in_phase("WILD", action="two_wild_tiles", resume="MAIN", wilds_left=2),
            put("seats.0.used", [1]),
            put("wild_tiles", 1),
        ),
        "pending.wilds_left",
        "2",
        "at most 1, by the action and the supply",
    ),
    "two wild tiles for one": (
        both(in_phase("WILD", action="one_wild_tile", resume="MAIN", wilds_left=2), put("seats.0.used", [6])),
        "pending.wilds_left",
        "2",
        "at most 1, by the action",
    ),
    "two superstructures to move": (
        both(
            in_phase("ROOF", action="move_superstructure", resume="MAIN", roofs_left=2, lifted=2),
            put("seats.0.used", [9]),
            put("superstructures", 27),
        ),
        "pending.roofs_left",
        "2",
        "1, and no last_roof, for move_superstructure",
    ),
    "going back to the end before drawing": (
        in_phase("WILD", action="one_wild_tile", resume="END", wilds_left=1),
        "pending.resume",
        "'END'",
        "END exactly if the seat has drawn or built already",
    ),
    "a limit lifted in a turn without drawing": (
        put("pending", {"lifted_now": True}),
        "pending.lifted_now",
        "True",
        "pending.drew and limit_lifted of the seat to move to be true too",
    ),
    "an action carried out that is not used": (
        in_phase("WILD", action="one_wild_tile", resume="MAIN", wilds_left=1),
        "pending.action",
        "'one_wild_tile'",
        "one_wild_tile to be among the used actions",
    ),
    "drawn and built without draw_and_build": (
        in_phase("END", drew=True, built=True),
        "pending.drew",
        "True",
        "draw_and_build to be among the used actions",
    ),
    "a long move without its action": (
        in_phase("MOVE", move=6),
        "pending.move",
        "6",
        "move_1_to_6 to be among the used",
    ),
    "nothing to lift": (
        both(
            in_phase("LIFT", action="move_superstructure", resume="MAIN"),
            put("seats.0.used", [9]),
            put("seats.0.superstructures", []),
        ),
        "phase",
        "'LIFT'",
        "a phase in which some decision is legal",
    ),
    "superstructure lifted for another action": (
        both(
            in_phase("ROOF", action="extra_superstructure", resume="END", built=True, roofs_left=1, lifted=2),
            put("seats.0.used", [4]),
            put("superstructures", 27),
        ),
        "pending.lifted",
        "2",
        "the cell that move_superstructure emptied, and only then",
    ),
    "superstructure lifted from the ground": (
        both(
            in_phase("ROOF", action="move_superstructure", resume="MAIN", roofs_left=1, lifted=40),
            put("seats.0.used", [9]),
            put("superstructures", 27),
        ),
        "pending.lifted",
        "40",
        "a roof without a superstructure, one of [2, 9, 16, 17]",
    ),
    "more superstructures due than there are": (
        both(in_phase("ROOF", resume="END", built=True, roofs_left=2), put("superstructures", 1)),
        "pending.roofs_left",
        "2",
        "at most the supply of 1",
    ),
    "draws from a pile for too few seats": (
        put("pending", {"reshuffled": [1] * 51, "unseen_draws": [[]]}),
        "pending.unseen_draws",
        "[[]]",
        "one for each seat",
    ),
    "too many draws from a pile": (
        put("pending", {"reshuffled": [1] * 51, "unseen_draws": [[0, 0, 0, 0], [], []]}),
        "pending.unseen_draws[0]",
        "[0, 0, 0, 0]",
        "at most 3 cards",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_positions_are_refused(name: str) -> None:
    change, key, found, expected = MALFORMED[name]
    position = middle()
    change(position)
    with pytest.raises(ValueError, match="position: ") as error:
        notation.from_dict(position)
    message = str(error.value)
    between = "" if key.endswith("(") else "[^:]*: "
    assert re.match(rf"position: {re.escape(key)}{between}found {re.escape(found)}", message), message
    assert expected in message.partition(" expected ")[2], message
    assert len(message) < 700


@pytest.mark.parametrize("value", [None, [], "helsinki", 3])
def test_what_is_no_position_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"position: found .*, expected a mapping of some of game, version"):
        notation.from_dict(value)


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
    with pytest.raises(ValueError, match=r"draw_pile: found 58, expected .* a copy made for one seat cannot be"):
        notation.from_dict(notation.to_dict(game, seat))


@given(st.integers(0, 10**9), st.sampled_from(positions.THEMES), st.data())
@settings(max_examples=150 if JIT else 5, deadline=None)
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

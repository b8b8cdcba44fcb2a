"""The reference against the rulebook's text: small positions with results worked out by hand.

Quotations in the comments are the rulebook's. The last part plays at random and checks what must always hold.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, load_components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from tests.oracles.helsinki import (
    ReferenceGame,
    action_offsets,
    brute_force_legal_actions,
    decode,
    encode,
    orientations,
)

Data = dict[str, Any]
Tile = tuple[str, list[int]]  # colour and cells

BOX = load_components("default")
WILD_CARD = 50
NORTH, EAST, SOUTH, WEST = range(4)
SPACE = {NORTH: 0, EAST: 2, SOUTH: 4, WEST: 6}  # a senate space on each side
STATUE = 24


# -- tools ---------------------------------------------------------------------------------------------------


def cell(row: int, column: int) -> int:
    return 7 * row + column


def card(colour: str, number: int, roofs: int | None = None) -> int:
    """The first card type of a colour with this number (and this size of tile)."""
    for variant, face in enumerate(BOX.variants):
        if face.number == number and roofs in (None, face.roofs):
            return 10 * COLORS.index(colour) + variant
    raise AssertionError((colour, number, roofs))


def counts(cards: Iterable[int]) -> list[int]:
    found = Counter(cards)
    return [found[kind] for kind in range(BOX.types)]


def seat(
    hand: Iterable[int] = (),
    side: int = NORTH,
    pavilions: Sequence[Tile] = (),
    wild: Sequence[int] = (),
    superstructures: Sequence[int] = (),
    meadow: int = 0,
    used: Sequence[str] = (),
    known: Iterable[int] = (),
    **other: Any,
) -> Data:
    """One player. `pavilions` is a list of (colour, cells); coats in the meadow are not on the board."""
    built = {place for _, cells in pavilions for place in cells} | set(wild)
    coats = [place for place in BOX.coats if place not in built]
    coats = coats[: max(0, 8 - meadow - len(used))]
    return {
        "pavilions": [{"colour": colour, "roofs": len(cells), "cells": sorted(cells)} for colour, cells in pavilions],
        "wild": sorted(wild),
        "superstructures": sorted(superstructures),
        "coats_on_board": sorted(coats),
        "meadow": meadow,
        "used": sorted(BOARD_ACTIONS.index(name) for name in used),
        "hand": counts(hand),
        "known": counts(known),
        "token": other.pop("token", SPACE[side]),
        "points": 0,
        "bonus": None,
        "limit_lifted": False,
        **other,
    }


def position(
    *given: Data,
    phase: str = "MAIN",
    display: Sequence[int | None] = (None,) * 8,
    draw_pile: Sequence[int] | None = None,
    discard_pile: Sequence[int] = (),
    pending: Data | None = None,
    **other: Any,
) -> Data:
    """A position, by default in MAIN of player 0 of two; cards that are not named are in the draw pile."""
    seats = list(given) + [seat(token=2) for _ in range(2 - len(given))]
    players = len(seats)
    deck = list(BOX.deck(players))
    if players == 2:
        deck[card("yellow", 5, 5)] -= 1  # the removed card
    gone = [shown for shown in display if shown is not None] + list(discard_pile)
    gone += [kind for one in seats for kind, count in enumerate(one["hand"]) for _ in range(count)]
    if draw_pile is None:
        for kind in gone:
            deck[kind] -= 1
        assert min(deck) >= 0, "more copies of a card than the deck holds"
        draw_pile = [kind for kind, count in enumerate(deck) for _ in range(count)]
        random.Random(5).shuffle(draw_pile)
    supply = {colour: [3, 3, 3, 1] for colour in COLORS}
    for one in seats:
        for tile in one["pavilions"]:
            supply[tile["colour"]][tile["roofs"] - 2] -= 1
    return {
        "game": "helsinki",
        "version": 0,
        "components": "default",
        "players": players,
        "covered": [],
        "denied": [[] for _ in seats],
        "dry_roads": False,
        "phase": phase,
        "to_move": 0,
        "round": 3,
        "last_round": False,
        "done": False,
        "draw_pile": list(draw_pile),
        "discard_pile": counts(discard_pile),
        "display": list(display),
        "tile_supply": supply,
        "wild_tiles": 12 - sum(len(one["wild"]) for one in seats),
        "superstructures": 30 - sum(len(one["superstructures"]) for one in seats),
        "bonus_cards": [],
        "seats": seats,
        "pending": pending or {},
        "chance": {"word": "0x0123456789abcdef"},
        **other,
    }


def game_at(*seats: Data, **other: Any) -> ReferenceGame:
    game = ReferenceGame.from_dict(position(*seats, **other))
    assert brute_force_legal_actions(game) == game.legal_actions()
    return game


def legal(game: ReferenceGame, kind: str | None = None) -> set[Any]:
    """The legal decisions as a set: all as (kind, argument), or the arguments of one kind; USE by name."""
    found: set[Any] = set()
    for action in game.legal_actions():
        its_kind, argument = decode(action, BOX.types)
        found.add((its_kind, BOARD_ACTIONS[argument] if its_kind == "USE" else argument))
    return found if kind is None else {argument for its_kind, argument in found if its_kind == kind}


def act(game: ReferenceGame, kind: str, argument: int | str = 0) -> None:
    """Take a decision, and check on the way that the masks before and after it are those found by search."""
    number = BOARD_ACTIONS.index(argument) if isinstance(argument, str) else argument
    game.step(encode(kind, number, BOX.types))
    assert brute_force_legal_actions(game) == game.legal_actions()


def place(side: int, orientation: int, lane: int) -> int:
    return (side * 8 + orientation) * 7 + lane


def rests(game: ReferenceGame) -> dict[int, list[int]]:
    """Where each legal PLACE puts the tile: cells by argument."""
    found = {}
    for argument in legal(game, "PLACE"):
        after = game.clone()
        after.apply(("PLACE", argument))
        found[argument] = sorted(after.seats[game.seat].pavilions[-1].cells)
    return found


def hand(game: ReferenceGame, number: int = 0) -> list[int]:
    return [kind for kind, count in enumerate(game.seats[number].hand) for _ in range(count)]


UP = ("green", [cell(1, 3), cell(2, 3)])  # a tile on the statue's north side


# -- decisions, shapes, chance -------------------------------------------------------------------------------


KINDS = ["START", "MOVE", "DRAW", "BUILD", "PAY", "PLACE", "WILD", "LIFT", "ROOF", "DISCARD", "USE", "END"]


def test_decisions_are_numbered_in_the_stated_order() -> None:
    table = action_offsets(51)
    assert list(table) == KINDS
    assert [size for _, size in table.values()] == [8, 6, 1, 50, 51, 224, 49, 49, 49, 51, 15, 1]
    assert table["END"] == (553, 1)
    assert all(encode(*decode(action, 51), 51) == action for action in range(554))
    for bad in (-1, 554):
        with pytest.raises(ValueError, match="no action id"):
            decode(bad, 51)
    with pytest.raises(ValueError, match="MOVE"):
        encode("MOVE", 6, 51)


def test_number_of_orientations() -> None:
    straight = {"I2": 2, "I3": 2, "I4": 2, "I5": 2, "O4": 1, "X5": 1}
    others = {"L3": 4, "L4": 8, "S4": 4, "T4": 4, "P5": 8, "T5": 4, "Z5": 4}
    assert {name: len(orientations(rows)) for name, rows in BOX.shapes.items()} == straight | others


def test_orientations_are_turned_clockwise_first_and_mirrored_then() -> None:
    drawn = ["X./X./XX", "XXX/X..", "XX/.X/.X", "..X/XXX", ".X/.X/XX", "X../XXX", "XX/X./X.", "XXX/..X"]
    expected = [
        {(r, c) for r, row in enumerate(text.split("/")) for c, mark in enumerate(row) if mark == "X"} for text in drawn
    ]
    assert [set(shape) for shape in orientations(BOX.shapes["L4"])] == expected


# -- setup ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "size"), [(2, 53), (3, 81), (4, 100)])
def test_setup_deals_eight_cards_and_then_two_to_each(players: int, size: int) -> None:
    game = ReferenceGame(HelsinkiConfig(num_players=players), seed=4)
    assert game.phase == "START"
    assert game.seat == 0
    assert [sum(one.hand) for one in game.seats] == [0] * players
    assert None not in game.display
    assert len(game.draw_pile) == size - 8
    coming = game.to_dict()["draw_pile"]
    assert legal(game) == {("START", space) for space in range(8)}
    act(game, "START", 5)
    assert [one.token for one in game.seats] == [(5 + 2 * i) % 8 for i in range(players)]
    assert [hand(game, i) for i in range(players)] == [sorted(coming[2 * i : 2 * i + 2]) for i in range(players)]
    assert not any(any(one.known) for one in game.seats)  # drawn from the pile, not from the display
    assert (game.phase, game.seat, game.round) == ("MOVE", 0, 1)


def test_two_players_lack_a_five_that_differs_from_game_to_game() -> None:
    removed: Counter[int] = Counter()
    for seed in range(60):
        game = ReferenceGame(seed=seed)
        left = Counter(game.draw_pile + game.display)
        missing = [kind for kind, count in enumerate(BOX.deck(2)) if count > left[kind]]
        assert len(missing) == 1
        removed[missing[0]] += 1
    assert {BOX.card_number(kind) for kind in removed} == {5}
    assert len(removed) >= 8  # of the ten there are


# -- moving --------------------------------------------------------------------------------------------------


def test_the_token_moves_one_to_three_spaces_clockwise() -> None:
    game = game_at(seat(token=6), seat(token=1), phase="MOVE")
    assert legal(game) == {("MOVE", 0), ("MOVE", 1), ("MOVE", 2)}
    act(game, "MOVE", 2)
    assert game.seats[0].token == 1  # where the other one stands: "more than one ... may occupy a senate space"
    assert game.phase == "MAIN"


@pytest.mark.parametrize(("name", "steps"), [("move_1_to_6", [4, 5, 6]), ("move_1_to_5", [4, 5])])
def test_longer_moves(name: str, steps: list[int]) -> None:
    game = game_at(seat(token=6, meadow=2), phase="MOVE")
    act(game, "USE", name)
    assert game.to_dict()["pending"] == {"move": steps[-1]}
    assert legal(game) == {("MOVE", k - 1) for k in steps}  # not even two_points comes in between
    act(game, "MOVE", 3)
    assert game.seats[0].token == 2
    assert (game.phase, game.seats[0].meadow) == ("MAIN", 1)
    assert game.seats[0].used == {BOARD_ACTIONS.index(name)}
    assert game.to_dict()["pending"] == {}


def test_one_space_back() -> None:
    game = game_at(seat(token=0, meadow=1), phase="MOVE")
    act(game, "USE", "move_back")
    assert game.seats[0].token == 7
    assert game.phase == "MAIN"


def test_each_action_once_a_game_and_never_without_a_coat() -> None:
    moves = {"move_1_to_6", "move_1_to_5", "move_back", "two_points"}
    assert legal(game_at(seat(meadow=1), phase="MOVE"), "USE") == moves
    assert legal(game_at(seat(meadow=0), phase="MOVE"), "USE") == set()
    assert legal(game_at(seat(meadow=1, used=["move_back"]), phase="MOVE"), "USE") == moves - {"move_back"}
    other = seat(token=2, used=["move_back"])  # another player's coat does not block
    assert legal(game_at(seat(meadow=1), other, phase="MOVE"), "USE") == moves


def test_covered_actions_are_closed_to_all_and_denied_ones_to_one_seat() -> None:
    bottom = [10, 11, 12, 13, 14]
    game = game_at(seat(meadow=1), seat(meadow=1, token=2), phase="MOVE", covered=bottom)
    assert legal(game, "USE") == {"move_1_to_6", "move_1_to_5"}
    game = game_at(seat(meadow=1), seat(meadow=1, token=2), phase="MOVE", denied=[[0, 5], []])
    assert legal(game, "USE") == {"move_back", "two_points"}
    game = game_at(seat(meadow=1), seat(meadow=1, token=2), phase="MOVE", denied=[[], [0, 5]])
    assert legal(game, "USE") == {"move_1_to_6", "move_1_to_5", "move_back", "two_points"}


# -- drawing -------------------------------------------------------------------------------------------------

DISPLAY = [card("blue", 1), card("green", 1), card("purple", 1), card("red", 1)]
DISPLAY += [card("blue", 3, 4), card("green", 3, 4), card("purple", 3, 4), card("red", 3, 4)]


@pytest.mark.parametrize(("token", "slots"), [(0, [0, 7]), (1, [0, 1]), (5, [4, 5]), (7, [6, 7])])
def test_the_two_adjacent_cards_are_taken_and_refilled(token: int, slots: list[int]) -> None:
    game = game_at(seat(token=token), display=list(DISPLAY))
    coming = game.to_dict()["draw_pile"]
    act(game, "DRAW")
    assert hand(game) == sorted(DISPLAY[slot] for slot in slots)
    assert game.seats[0].known == game.seats[0].hand  # all players saw them
    expected = list(DISPLAY)
    expected[slots[0]], expected[slots[1]] = coming[:2]  # the lower-numbered slot first
    assert game.display == expected
    assert (game.seat, game.phase) == (1, "MOVE")  # END was the only decision left and took itself


def test_extra_card_comes_from_the_draw_pile_after_the_refill() -> None:
    game = game_at(seat(token=1, meadow=1), display=list(DISPLAY))
    coming = game.to_dict()["draw_pile"]
    act(game, "USE", "extra_card")
    assert hand(game) == sorted([DISPLAY[0], DISPLAY[1], coming[2]])
    assert game.seats[0].known == counts(DISPLAY[:2])  # no other player saw the third card
    assert game.display[:2] == coming[:2]


@pytest.mark.parametrize(("in_draw", "in_discard", "allowed"), [(2, 0, False), (1, 1, False), (0, 3, True)])
def test_extra_card_needs_three_cards_in_the_piles(in_draw: int, in_discard: int, allowed: bool) -> None:
    game = game_at(
        seat(token=1, meadow=1),
        display=list(DISPLAY),
        draw_pile=DISPLAY[:in_draw],
        discard_pile=DISPLAY[:in_discard],
    )
    assert ("extra_card" in legal(game, "USE")) == allowed
    assert ("DRAW", 0) in legal(game)


SEVEN = [card("blue", 1), card("blue", 1), card("green", 1), card("purple", 2, 3)]
SEVEN += [card("red", 1), card("yellow", 1), card("yellow", 1)]
TWO = [card("green", 3, 3), card("red", 3, 3)]  # on the slots of space 1


def full_hand(**other: Any) -> ReferenceGame:
    mine = {key: other.pop(key) for key in ("meadow", "used", "limit_lifted") if key in other}
    return game_at(seat(SEVEN, token=1, **mine), display=TWO + [None] * 6, **other)


def test_more_than_seven_cards_are_discarded_at_once() -> None:
    game = full_hand()
    act(game, "DRAW")
    assert game.phase == "DISCARD"
    assert game.to_dict()["pending"] == {"drew": True}
    nine = sorted(SEVEN + TWO)
    # Two go, in ascending order: the first may be anything that is not the last card alone.
    assert legal(game) == {("DISCARD", kind) for kind in nine}  # two yellow "1" cards: even that can be first
    act(game, "DISCARD", card("red", 1))
    assert game.to_dict()["pending"] == {"drew": True, "last_discard": card("red", 1)}
    assert legal(game, "DISCARD") == {card("red", 3, 3), card("yellow", 1)}  # the only red "1" is gone
    act(game, "DISCARD", card("yellow", 1))
    nine.remove(card("red", 1))
    nine.remove(card("yellow", 1))
    assert hand(game) == nine
    assert game.discard == counts([card("red", 1), card("yellow", 1)])
    assert (game.seat, game.phase) == (1, "MOVE")


def test_a_first_discard_that_leaves_too_few_higher_cards_is_illegal() -> None:
    six = SEVEN[:6]  # one yellow "1" only, the highest type
    game = game_at(seat([*six, card("blue", 3, 4)], token=1), display=TWO + [None] * 6)
    act(game, "DRAW")
    assert card("yellow", 1) not in legal(game, "DISCARD")
    assert card("red", 3, 3) in legal(game, "DISCARD")


def test_discarding_lowers_what_is_known() -> None:
    known = [card("red", 1)]
    game = game_at(seat(SEVEN, token=1, known=known), display=TWO + [None] * 6)
    act(game, "DRAW")
    assert game.seats[0].known == counts(known + TWO)
    act(game, "DISCARD", card("blue", 1))  # not known to be in the hand
    act(game, "DISCARD", card("red", 1))
    assert game.seats[0].known == counts(TWO)


def test_no_hand_limit_lasts_to_the_end_of_the_next_own_turn() -> None:
    game = full_hand(meadow=1, draw_pile=[])
    assert "no_hand_limit" not in legal(game, "USE")  # only when there is too much
    act(game, "DRAW")
    assert legal(game, "USE") == {"no_hand_limit"}
    act(game, "USE", "no_hand_limit")
    assert (game.seat, game.phase) == (1, "MOVE")
    assert game.seats[0].limit_lifted
    assert sum(game.seats[0].hand) == 9
    act(game, "MOVE", 0)
    act(game, "DRAW")
    act(game, "MOVE", 0)
    act(game, "DRAW")  # from empty slots: nothing comes
    assert (game.seat, game.phase) == (0, "DISCARD")
    assert game.to_dict()["seats"][0]["limit_lifted"] is False
    assert game.to_dict()["pending"] == {"drew": True, "turn_over": True}
    assert legal(game) == {("DISCARD", kind) for kind in SEVEN + TWO}
    act(game, "DISCARD", card("blue", 1))
    act(game, "DISCARD", card("blue", 1))
    assert (game.seat, game.phase) == (1, "MOVE")
    assert sum(game.seats[0].hand) == 7


def test_no_hand_limit_only_before_the_first_discard() -> None:
    game = full_hand(meadow=1)
    act(game, "DRAW")
    act(game, "DISCARD", card("blue", 1))
    assert legal(game, "USE") == set()


def test_a_lifted_limit_ends_without_discarding_if_seven_are_left() -> None:
    cards = [*SEVEN, card("blue", 3, 4)]
    game = game_at(seat(cards, token=0, limit_lifted=True))
    act(game, "BUILD", card("blue", 1))
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert (game.seat, game.phase) == (1, "MOVE")
    assert not game.seats[0].limit_lifted
    assert sum(game.seats[0].hand) == 7


def test_a_limit_lifted_in_the_last_round_costs_nothing() -> None:
    game = full_hand(meadow=1, last_round=True)
    act(game, "DRAW")
    act(game, "USE", "no_hand_limit")
    act(game, "MOVE", 0)
    act(game, "DRAW")
    assert game.done
    assert sum(game.seats[0].hand) == 9


def test_end_by_choice_also_leads_to_the_late_discard() -> None:
    game = full_hand(meadow=1, limit_lifted=True, used=["no_hand_limit"])
    act(game, "DRAW")
    assert game.phase == "END"  # the limit is lifted, so nothing is discarded yet
    assert ("USE", "two_points") in legal(game)
    act(game, "END")
    assert (game.seat, game.phase) == (0, "DISCARD")
    assert legal(game, "USE") == set()  # "only DISCARD"


# -- building: paying ----------------------------------------------------------------------------------------


def test_a_one_is_played_on_its_own() -> None:
    game = game_at(seat([card("blue", 1)]))
    act(game, "BUILD", card("blue", 1))
    assert game.phase == "PLACE"
    assert game.to_dict()["pending"] == {"card": card("blue", 1)}
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert game.discard == counts([card("blue", 1)])
    assert game.tile_supply[0] == [2, 3, 3, 1]


BLUES = [card("blue", 1), card("blue", 2, 2), card("blue", 3, 3), card("blue", 4, 4)]


def test_blue_five_needs_any_four_additional_blue_cards() -> None:
    five = card("blue", 5, 5)
    game = game_at(seat([five, *BLUES, card("green", 1)]))
    assert legal(game, "BUILD") == {five, card("blue", 1), card("blue", 2, 2), card("blue", 3, 3)} | {
        card("blue", 4, 4),
        card("green", 1),
    }
    act(game, "BUILD", five)
    assert game.to_dict()["pending"] == {"card": five, "to_pay": 4}
    for paid, kind in enumerate(BLUES):  # all four are needed, in ascending order
        assert legal(game) == {("PAY", kind)}
        act(game, "PAY", kind)
        assert game.to_dict()["pending"]["paid"] == BLUES[: paid + 1]
    assert game.phase == "PLACE"
    assert hand(game) == [card("green", 1)]
    assert sum(game.discard) == 0
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert game.discard == counts([five, *BLUES])


def test_too_few_cards_of_the_colour() -> None:
    game = game_at(seat([card("blue", 5, 5), *BLUES[:3], card("green", 1)]))
    assert card("blue", 5, 5) not in legal(game, "BUILD")


def test_pay_in_ascending_order_with_enough_left() -> None:
    three = card("blue", 3, 4)
    game = game_at(seat([three, *BLUES, WILD_CARD]))
    act(game, "BUILD", three)  # two more cards, of four blue ones and a wild one
    assert legal(game, "PAY") == set(BLUES)  # the wild card is the highest type: it cannot be first
    act(game, "PAY", card("blue", 3, 3))
    assert legal(game, "PAY") == {card("blue", 4, 4), WILD_CARD}


def test_wild_cards_pay_but_are_never_built() -> None:
    three = card("blue", 3, 4)
    game = game_at(seat([three, WILD_CARD, WILD_CARD]))
    assert legal(game, "BUILD") == {three}
    act(game, "BUILD", three)
    act(game, "PAY", WILD_CARD)
    act(game, "PAY", WILD_CARD)  # "any number of wild cards can be played"
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert game.discard == counts([three, WILD_CARD, WILD_CARD])


def test_a_card_whose_tile_is_gone_can_only_be_paid() -> None:
    two = card("blue", 2, 3)
    supply = {colour: [3, 3, 3, 1] for colour in COLORS} | {"blue": [0, 3, 3, 1]}
    game = game_at(seat([two, card("blue", 1)]), tile_supply=supply)
    assert legal(game, "BUILD") == {two}
    act(game, "BUILD", two)
    assert legal(game, "PAY") == {card("blue", 1)}


def test_one_card_fewer_purple_four_for_three_cards() -> None:
    four = card("purple", 4, 5)
    others = [card("purple", 1), card("purple", 2, 3)]
    assert four not in legal(game_at(seat([four, *others])), "BUILD")
    game = game_at(seat([four, *others], meadow=1))
    act(game, "BUILD", four)
    assert legal(game) == {("USE", "one_card_fewer")}  # two cards cannot pay for three
    act(game, "USE", "one_card_fewer")
    assert game.to_dict()["pending"] == {"card": four, "to_pay": 2}
    for kind in others:
        act(game, "PAY", kind)
    assert game.phase == "PLACE"
    assert game.seats[0].meadow == 0


def test_one_card_fewer_only_before_paying_and_not_on_a_one() -> None:
    game = game_at(seat([card("blue", 1), card("blue", 3, 4), *BLUES[1:]], meadow=1))
    one = game.clone()
    act(one, "BUILD", card("blue", 1))
    assert "one_card_fewer" not in legal(one, "USE")
    act(game, "BUILD", card("blue", 3, 4))
    assert "one_card_fewer" in legal(game, "USE")
    act(game, "PAY", card("blue", 1))
    assert legal(game, "USE") == set()


def test_one_card_fewer_can_leave_nothing_to_pay() -> None:
    game = game_at(seat([card("blue", 2, 3)], meadow=1))
    act(game, "BUILD", card("blue", 2, 3))
    act(game, "USE", "one_card_fewer")
    assert game.phase == "PLACE"


def test_any_card_as_wild_blue_four_for_three_blue_and_one_other() -> None:
    four = card("blue", 4, 4)
    others = [card("blue", 1), card("blue", 2, 3), card("green", 1), card("red", 2, 3)]
    assert four not in legal(game_at(seat([four, *others])), "BUILD")
    game = game_at(seat([four, *others], meadow=1, used=["one_card_fewer"]))
    act(game, "BUILD", four)
    assert legal(game) == {("USE", "any_card_as_wild")}
    act(game, "USE", "any_card_as_wild")
    assert game.to_dict()["pending"] == {"card": four, "to_pay": 3, "substitute": True}
    assert legal(game) == {("PAY", card("green", 1)), ("PAY", card("red", 2, 3))}
    act(game, "PAY", card("red", 2, 3))
    # The substitute stands outside the order: lower types may follow.
    assert legal(game) == {("PAY", card("blue", 1))}
    act(game, "PAY", card("blue", 1))
    act(game, "PAY", card("blue", 2, 3))
    assert game.phase == "PLACE"
    assert hand(game) == [card("green", 1)]


def test_a_wild_card_is_no_substitute() -> None:
    game = game_at(seat([card("blue", 3, 4), card("blue", 1), WILD_CARD], meadow=2))
    act(game, "BUILD", card("blue", 3, 4))
    assert legal(game, "USE") == {"one_card_fewer"}


def test_both_savings_only_in_their_order() -> None:
    five = card("blue", 5, 4)
    cards = [five, card("blue", 1), card("blue", 2, 3), card("green", 1)]
    assert five not in legal(game_at(seat(cards, meadow=1)), "BUILD")  # one coat does not pay for two savings
    game = game_at(seat(cards, meadow=2))
    act(game, "BUILD", five)
    assert legal(game) == {("USE", "one_card_fewer")}  # any_card_as_wild would close the other
    act(game, "USE", "one_card_fewer")
    assert legal(game) == {("USE", "any_card_as_wild")}
    act(game, "USE", "any_card_as_wild")
    act(game, "PAY", card("green", 1))
    act(game, "PAY", card("blue", 1))
    act(game, "PAY", card("blue", 2, 3))
    assert game.phase == "PLACE"


def test_after_any_card_as_wild_one_card_fewer_is_closed() -> None:
    game = game_at(seat([card("blue", 3, 4), *BLUES, card("green", 1)], meadow=2))
    act(game, "BUILD", card("blue", 3, 4))
    assert {"one_card_fewer", "any_card_as_wild"} <= legal(game, "USE")
    act(game, "USE", "any_card_as_wild")
    assert legal(game) == {("PAY", card("green", 1))}
    act(game, "PAY", card("green", 1))
    assert legal(game) == {("PAY", kind) for kind in BLUES}


def test_playing_and_paying_lower_what_is_known() -> None:
    known = [card("blue", 2, 3), card("blue", 1)]
    game = game_at(seat([card("blue", 2, 3), card("blue", 1), card("blue", 1)], known=known))
    act(game, "BUILD", card("blue", 2, 3))
    assert game.seats[0].known == counts([card("blue", 1)])
    act(game, "PAY", card("blue", 1))
    assert not any(game.seats[0].known)
    assert hand(game) == [card("blue", 1)]


# -- building: placing ---------------------------------------------------------------------------------------


def placing(colour: str, **other: Any) -> ReferenceGame:
    """A game in which player 0 has just played a "1" for its tile of two roofs."""
    game = game_at(seat([card(colour, 1)], **other))
    act(game, "BUILD", card(colour, 1))
    return game


def test_the_first_tile_must_hit_the_statue() -> None:
    assert rests(placing("blue", side=NORTH)) == {
        place(NORTH, 0, 2): [cell(2, 2), cell(2, 3)],
        place(NORTH, 0, 3): [cell(2, 3), cell(2, 4)],
        place(NORTH, 1, 3): [cell(1, 3), cell(2, 3)],
    }
    assert rests(placing("blue", side=EAST)) == {
        place(EAST, 0, 3): [cell(3, 4), cell(3, 5)],
        place(EAST, 1, 2): [cell(2, 4), cell(3, 4)],
        place(EAST, 1, 3): [cell(3, 4), cell(4, 4)],
    }
    assert rests(placing("blue", side=SOUTH)) == {
        place(SOUTH, 0, 2): [cell(4, 2), cell(4, 3)],
        place(SOUTH, 0, 3): [cell(4, 3), cell(4, 4)],
        place(SOUTH, 1, 3): [cell(4, 3), cell(5, 3)],
    }
    assert rests(placing("blue", side=WEST)) == {
        place(WEST, 0, 3): [cell(3, 1), cell(3, 2)],
        place(WEST, 1, 2): [cell(2, 2), cell(3, 2)],
        place(WEST, 1, 3): [cell(3, 2), cell(4, 2)],
    }


def test_the_cross_hooks_around_the_statue() -> None:
    five = card("green", 5, 5)
    greens = [card("green", 1), card("green", 1), card("green", 2, 2), card("green", 2, 3)]
    game = game_at(seat([five, *greens], side=NORTH))
    act(game, "BUILD", five)
    for kind in greens:
        act(game, "PAY", kind)
    assert rests(game) == {
        place(NORTH, 0, 1): [cell(1, 2), cell(2, 1), cell(2, 2), cell(2, 3), cell(3, 2)],
        place(NORTH, 0, 2): [cell(0, 3), cell(1, 2), cell(1, 3), cell(1, 4), cell(2, 3)],
        place(NORTH, 0, 3): [cell(1, 4), cell(2, 3), cell(2, 4), cell(2, 5), cell(3, 4)],
    }


def test_brushing_past_sideways_does_not_stop_a_tile() -> None:
    lane = place(NORTH, 1, 4)  # upright, down the column east of the statue
    game = placing("blue", pavilions=[UP])
    assert lane not in rests(game)  # nothing in front: it would leave the board in the south
    game = placing("blue", pavilions=[UP], wild=[cell(5, 4)])
    assert rests(game)[lane] == [cell(3, 4), cell(4, 4)]  # past UP and the statue, beyond the middle


def test_no_part_of_a_tile_may_be_off_the_grid() -> None:
    game = placing("blue", pavilions=[UP])
    assert rests(game) == {  # upright on top of UP there is one row only
        place(NORTH, 0, 2): [cell(0, 2), cell(0, 3)],
        place(NORTH, 0, 3): [cell(0, 3), cell(0, 4)],
    }


def test_a_tile_of_the_same_colour_that_is_touched_gives_one_card() -> None:
    game = placing("green", pavilions=[UP, ("green", [cell(1, 4), cell(1, 5)])])
    coming = game.to_dict()["draw_pile"][0]
    act(game, "PLACE", place(NORTH, 0, 3))  # on (0,3) and (0,4): touches both green tiles
    assert hand(game) == [coming]
    assert not any(game.seats[0].known)


def test_no_card_for_another_colour_or_a_corner() -> None:
    game = placing("blue", pavilions=[UP])
    act(game, "PLACE", place(NORTH, 0, 3))
    assert hand(game) == []
    game = placing("green", pavilions=[UP], wild=[cell(1, 4)])
    act(game, "PLACE", place(NORTH, 0, 4))  # on (0,4) and (0,5): a corner of UP, and a wild tile
    assert game.seats[0].pavilions[-1].cells == {cell(0, 4), cell(0, 5)}
    assert hand(game) == []


def test_the_bonus_card_can_be_one_of_those_just_paid() -> None:
    game = game_at(seat([card("green", 1)], pavilions=[UP]), draw_pile=[])
    act(game, "BUILD", card("green", 1))
    act(game, "PLACE", place(NORTH, 0, 3))
    assert hand(game) == [card("green", 1)]
    assert sum(game.discard) == 0
    assert game.to_dict()["pending"] == {
        "reshuffled": counts([card("green", 1)]),
        "unseen_draws": [[card("green", 1)], []],
    }
    assert game.last_round


def test_coats_under_a_tile_go_to_the_meadow_and_can_be_spent_at_once() -> None:
    game = placing("blue", pavilions=[("green", [cell(1, 0), cell(1, 1), cell(1, 2)])])
    assert game.seats[0].meadow == 0
    act(game, "PLACE", place(NORTH, 0, 1))  # on (0,1), which has a coat, and (0,2)
    assert game.seats[0].meadow == 1
    assert cell(0, 1) not in game.seats[0].coats_on_board
    assert game.phase == "END"  # no automatic end: there is a coat to spend
    act(game, "USE", "two_points")
    assert game.seats[0].points == 2
    assert (game.seat, game.phase) == (1, "MOVE")


CLOSED = ("purple", [cell(0, 3), cell(1, 3), cell(2, 3)])  # nothing of two roofs can come from the north


def test_any_side() -> None:
    blocked = seat([card("blue", 1)], pavilions=[CLOSED])
    assert legal(game_at(blocked), "BUILD") == set()
    game = game_at(seat([card("blue", 1)], pavilions=[CLOSED], meadow=1))
    assert legal(game, "BUILD") == {card("blue", 1)}
    act(game, "BUILD", card("blue", 1))
    assert legal(game) == {("USE", "any_side")}
    act(game, "USE", "any_side")
    assert game.to_dict()["pending"] == {"card": card("blue", 1), "any_side": True}
    assert {argument // 56 for argument in legal(game, "PLACE")} == {EAST, SOUTH, WEST}
    act(game, "PLACE", place(WEST, 0, 3))
    assert game.seats[0].pavilions[-1].cells == {cell(3, 1), cell(3, 2)}
    assert game.to_dict()["pending"] == {}


def test_any_side_closes_the_own_side() -> None:
    game = placing("blue", meadow=1)
    assert legal(game, "USE") == {"any_side"}
    act(game, "USE", "any_side")
    assert {argument // 56 for argument in legal(game, "PLACE")} == {EAST, SOUTH, WEST}


def test_paying_and_placing_share_the_coats() -> None:
    cards = [card("blue", 2, 2)]  # one card short, and the north is closed: two coats
    assert legal(game_at(seat(cards, pavilions=[CLOSED], meadow=1)), "BUILD") == set()
    game = game_at(seat(cards, pavilions=[CLOSED], meadow=2))
    act(game, "BUILD", cards[0])
    act(game, "USE", "one_card_fewer")
    act(game, "USE", "any_side")
    game = game_at(seat([*cards, card("blue", 1)], pavilions=[CLOSED], meadow=1))
    act(game, "BUILD", cards[0])
    assert legal(game) == {("PAY", card("blue", 1))}  # the only coat is needed for the side


# -- superstructures -----------------------------------------------------------------------------------------


def test_the_superstructure_of_a_blue_three() -> None:
    three = card("blue", 3, 3)
    game = game_at(seat([three, card("blue", 1), card("blue", 1)]))
    act(game, "BUILD", three)
    act(game, "PAY", card("blue", 1))
    act(game, "PAY", card("blue", 1))
    act(game, "PLACE", min(legal(game, "PLACE")))
    cells = game.seats[0].pavilions[0].cells
    assert game.to_dict()["pending"] == {"built": True, "resume": "END", "roofs_left": 1}
    assert legal(game) == {("ROOF", place) for place in cells}
    act(game, "ROOF", min(cells))
    assert game.seats[0].superstructures == {min(cells)}
    assert game.superstructure_supply == 29
    assert game.seat == 1


def with_two_superstructures(supply: int) -> tuple[ReferenceGame, list[int]]:
    five = card("blue", 5, 4)
    game = game_at(seat([five, WILD_CARD, WILD_CARD, WILD_CARD, WILD_CARD]), superstructures=supply)
    act(game, "BUILD", five)
    for _ in range(4):
        act(game, "PAY", WILD_CARD)
    act(game, "PLACE", min(legal(game, "PLACE")))
    return game, sorted(game.seats[0].pavilions[0].cells)


def test_two_superstructures_in_ascending_order() -> None:
    game, cells = with_two_superstructures(30)
    assert legal(game, "ROOF") == set(cells[:3])
    act(game, "ROOF", cells[1])
    assert game.to_dict()["pending"] == {
        "built": True,
        "resume": "END",
        "roofs_left": 1,
        "last_roof": cells[1],
    }
    assert legal(game, "ROOF") == set(cells[2:])


def test_a_short_supply_of_superstructures() -> None:
    game, cells = with_two_superstructures(1)
    assert legal(game, "ROOF") == set(cells)
    act(game, "ROOF", cells[3])
    assert (game.superstructure_supply, game.seat) == (0, 1)
    game, _ = with_two_superstructures(0)
    assert game.seat == 1


def test_extra_superstructure_goes_on_the_tile_built_last() -> None:
    game = game_at(seat([card("blue", 1)], pavilions=[UP], meadow=1))
    assert "extra_superstructure" not in legal(game, "USE")
    act(game, "BUILD", card("blue", 1))
    act(game, "PLACE", place(NORTH, 0, 3))
    act(game, "USE", "extra_superstructure")
    assert game.to_dict()["pending"] == {
        "built": True,
        "action": "extra_superstructure",
        "resume": "END",
        "roofs_left": 1,
    }
    assert legal(game) == {("ROOF", cell(0, 3)), ("ROOF", cell(0, 4))}
    act(game, "ROOF", cell(0, 4))
    assert game.seats[0].superstructures == {cell(0, 4)}
    assert (game.superstructure_supply, game.seat) == (29, 1)


def test_extra_superstructure_comes_on_top_of_what_the_card_shows() -> None:
    game = game_at(seat([card("blue", 2, 2), card("blue", 1)], meadow=1))
    act(game, "BUILD", card("blue", 2, 2))
    act(game, "PAY", card("blue", 1))
    act(game, "PLACE", place(NORTH, 1, 3))
    act(game, "ROOF", cell(2, 3))
    act(game, "USE", "extra_superstructure")
    assert legal(game) == {("ROOF", cell(1, 3))}  # below the one already there


@pytest.mark.parametrize(
    ("on", "supply", "built", "allowed"),
    [
        ([], 5, True, True),
        (UP[1], 5, True, False),
        ([], 0, True, False),
        ([], 5, False, False),
    ],
)
def test_extra_superstructure_needs_a_build_a_roof_and_a_supply(
    on: list[int], supply: int, built: bool, allowed: bool
) -> None:
    game = game_at(
        seat(pavilions=[UP], superstructures=on, meadow=1),
        phase="END",
        pending={"built": True} if built else {"drew": True},
        superstructures=supply,
    )
    assert ("extra_superstructure" in legal(game, "USE")) == allowed


@pytest.mark.parametrize(
    ("phase", "pending"), [("MOVE", {}), ("MAIN", {}), ("END", {"drew": True}), ("END", {"built": True})]
)
def test_move_superstructure(phase: str, pending: Data) -> None:
    start = seat(pavilions=[UP], wild=[cell(1, 4)], superstructures=[cell(1, 3)], meadow=2)
    game = game_at(start, phase=phase, pending=pending)
    act(game, "USE", "move_superstructure")
    assert game.to_dict()["pending"] == {**pending, "action": "move_superstructure", "resume": phase}
    assert legal(game) == {("LIFT", cell(1, 3))}
    act(game, "LIFT", cell(1, 3))
    assert game.to_dict()["pending"] == {
        **pending,
        "action": "move_superstructure",
        "resume": phase,
        "lifted": cell(1, 3),
        "roofs_left": 1,
    }
    assert game.seats[0].superstructures == set()
    assert legal(game) == {("ROOF", cell(2, 3)), ("ROOF", cell(1, 4))}  # "any other roof", a wild tile's too
    act(game, "ROOF", cell(1, 4))
    assert game.seats[0].superstructures == {cell(1, 4)}
    assert game.superstructure_supply == 29
    assert (game.seat, game.phase, game.to_dict()["pending"]) == (0, phase, pending)


@pytest.mark.parametrize("on", [[], UP[1]])
def test_move_superstructure_needs_one_to_lift_and_a_roof_to_go_to(on: list[int]) -> None:
    game = game_at(seat(pavilions=[UP], superstructures=on, meadow=1))
    assert "move_superstructure" not in legal(game, "USE")


# -- wild tiles and points -----------------------------------------------------------------------------------

AROUND_UP = {cell(0, 3), cell(1, 2), cell(1, 4), cell(2, 2), cell(2, 4)}


@pytest.mark.parametrize("phase", ["MOVE", "MAIN", "END"])
def test_one_wild_tile(phase: str) -> None:
    pending = {"drew": True} if phase == "END" else {}
    game = game_at(seat(pavilions=[UP], meadow=2), phase=phase, pending=pending)
    act(game, "USE", "one_wild_tile")
    assert game.to_dict()["pending"] == {
        **pending,
        "action": "one_wild_tile",
        "resume": phase,
        "wilds_left": 1,
    }
    assert legal(game) == {("WILD", place) for place in AROUND_UP}
    act(game, "WILD", cell(2, 2))
    assert game.seats[0].wild == {cell(2, 2)}
    assert (game.wild_supply, game.seat, game.phase) == (11, 0, phase)
    assert game.to_dict()["pending"] == pending


def test_the_second_wild_tile_may_touch_the_first() -> None:
    game = game_at(seat(pavilions=[UP], meadow=1))
    act(game, "USE", "two_wild_tiles")
    assert game.pending.wilds_left == 2
    act(game, "WILD", cell(1, 4))
    assert legal(game, "WILD") == (AROUND_UP - {cell(1, 4)}) | {cell(0, 4), cell(1, 5)}
    act(game, "WILD", cell(1, 5))
    assert game.seats[0].wild == {cell(1, 4), cell(1, 5)}
    assert (game.wild_supply, game.phase) == (10, "MAIN")


def test_a_wild_tile_needs_a_tile_to_touch_and_a_supply() -> None:
    wilds = {"one_wild_tile", "two_wild_tiles"}
    assert not wilds & legal(game_at(seat(meadow=1)), "USE")  # the statue alone is not enough
    assert not wilds & legal(game_at(seat(pavilions=[UP], meadow=1), wild_tiles=0), "USE")
    game = game_at(seat(pavilions=[UP], meadow=1), wild_tiles=1)
    assert wilds <= legal(game, "USE")
    act(game, "USE", "two_wild_tiles")
    act(game, "WILD", cell(1, 4))
    assert (game.wild_supply, game.phase) == (0, "MAIN")


def test_a_wild_tile_wins_the_coat_under_it() -> None:
    board = [("green", [cell(1, 1), cell(1, 2)])]
    game = game_at(seat(pavilions=board, meadow=1), phase="MOVE")
    act(game, "USE", "one_wild_tile")
    act(game, "WILD", cell(0, 1))
    assert game.seats[0].meadow == 1


def test_a_wild_tile_brings_no_card_and_stops_tiles() -> None:
    game = placing("green", pavilions=[], wild=[cell(1, 0)])
    act(game, "PLACE", place(NORTH, 0, 0))
    assert game.seats[0].pavilions[0].cells == {cell(0, 0), cell(0, 1)}
    assert hand(game) == []


def test_a_second_wild_tile_without_a_cell_is_lost() -> None:
    # The board is full but for one cell, and by a made-up tile of 47 roofs.
    everything = [place for place in range(49) if place not in (0, STATUE)]
    game = game_at(seat(pavilions=[("green", everything[:5])], meadow=1))
    game.seats[0].pavilions[0].cells = frozenset(everything)
    act(game, "USE", "two_wild_tiles")
    act(game, "WILD", 0)
    assert (game.phase, game.wild_supply) == ("MAIN", 11)


@pytest.mark.parametrize("phase", ["MOVE", "MAIN", "END"])
def test_two_points(phase: str) -> None:
    pending = {"drew": True} if phase == "END" else {}
    game = game_at(seat(meadow=2), phase=phase, pending=pending)
    before = game.scores()[0]
    act(game, "USE", "two_points")
    assert game.scores()[0] == before + 2
    # In END no other action is left, so the turn ends; otherwise the phase continues.
    assert (game.seat, game.phase) == ((1, "MOVE") if phase == "END" else (0, phase))


# -- two things in one turn ----------------------------------------------------------------------------------


def test_draw_and_build() -> None:
    game = game_at(seat([card("blue", 1)], token=0, meadow=1), display=list(DISPLAY))
    assert "draw_and_build" not in legal(game, "USE")  # drawing comes first
    act(game, "DRAW")
    assert game.phase == "END"
    act(game, "USE", "draw_and_build")
    assert game.to_dict()["pending"] == {"drew": True, "only_build": True}
    assert game.phase == "MAIN"
    assert {kind for kind, _ in legal(game)} == {"BUILD"}
    assert legal(game, "BUILD") == {card("blue", 1)}  # the red "3" just drawn cannot be paid
    act(game, "BUILD", card("blue", 1))
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert len(game.seats[0].pavilions) == 1
    assert game.seat == 1


def test_building_first_leaves_no_draw() -> None:
    game = game_at(seat([card("blue", 1), card("green", 1)], meadow=1))
    act(game, "BUILD", card("blue", 1))
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert "draw_and_build" not in legal(game, "USE")
    assert "second_pavilion" in legal(game, "USE")


def test_draw_and_build_must_leave_enough_coats() -> None:
    one_coat = seat([card("blue", 1)], pavilions=[CLOSED], meadow=1)  # the side would cost another
    game = game_at(one_coat, phase="END", pending={"drew": True})
    assert "draw_and_build" not in legal(game, "USE")
    game = game_at(seat([card("blue", 1)], pavilions=[CLOSED], meadow=2), phase="END", pending={"drew": True})
    assert "draw_and_build" in legal(game, "USE")


def test_second_pavilion() -> None:
    cards = [card("blue", 1), card("green", 1), card("red", 3, 4)]
    game = game_at(seat(cards, meadow=1))
    act(game, "BUILD", card("blue", 1))
    act(game, "PLACE", place(NORTH, 0, 2))
    assert {"END", "USE"} == {kind for kind, _ in legal(game)}
    act(game, "USE", "second_pavilion")
    assert game.to_dict()["pending"] == {"built": True, "only_build": True}
    assert legal(game) == {("BUILD", card("green", 1))}
    act(game, "BUILD", card("green", 1))
    assert {argument // 56 for argument in legal(game, "PLACE")} == {NORTH}
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert len(game.seats[0].pavilions) == 2
    assert game.seat == 1


def test_any_side_serves_one_build_only() -> None:
    game = game_at(seat([card("blue", 1), card("green", 1)], pavilions=[CLOSED], meadow=3))
    act(game, "BUILD", card("blue", 1))
    act(game, "USE", "any_side")
    west = game.clone()
    act(game, "PLACE", place(SOUTH, 1, 3))
    assert "second_pavilion" not in legal(game, "USE")  # the north is still closed, and any_side is used
    act(west, "PLACE", place(WEST, 0, 3))
    assert "second_pavilion" in legal(west, "USE")  # this tile stops others that come from the north
    act(west, "USE", "second_pavilion")
    act(west, "BUILD", card("green", 1))
    assert legal(west, "USE") == set()
    assert {argument // 56 for argument in legal(west, "PLACE")} == {NORTH}


def test_drawing_building_and_building_again() -> None:
    game = game_at(seat([card("blue", 1), card("green", 1)], token=0, meadow=2), phase="END", pending={"drew": True})
    act(game, "USE", "draw_and_build")
    act(game, "BUILD", card("blue", 1))
    act(game, "PLACE", place(NORTH, 0, 2))
    assert game.to_dict()["pending"] == {"drew": True, "built": True}
    act(game, "USE", "second_pavilion")
    act(game, "BUILD", card("green", 1))
    act(game, "PLACE", min(legal(game, "PLACE")))
    assert game.seat == 1


# -- the draw pile and the end of the game -------------------------------------------------------------------


def test_the_last_card_makes_the_round_the_last_and_the_discard_pile_comes_back() -> None:
    discards = [card("red", 1), card("red", 1), card("yellow", 3, 4)]
    game = game_at(seat(token=1), display=list(DISPLAY), draw_pile=[card("green", 5, 5)], discard_pile=discards)
    act(game, "DRAW")
    assert game.last_round
    assert game.display[0] == card("green", 5, 5)  # the last card of the old pile
    assert game.display[1] in discards  # the first of the new one
    left = list(discards)
    left.remove(game.display[1])
    assert sorted(game.draw_pile) == sorted(left)
    assert sum(game.discard) == 0
    # All saw which card left the pile for the display.
    assert game.to_dict()["pending"] == {"reshuffled": counts(left)}
    assert (game.seat, game.done) == (1, False)  # the round is played to its end
    act(game, "MOVE", 0)
    act(game, "DRAW")
    assert game.done
    assert game.round == 3
    assert (game.phase, game.seat, game.legal_actions()) == ("END", 1, [])
    assert game.to_dict()["pending"] == {}
    with pytest.raises(ValueError, match="illegal"):
        game.step(553)


def test_the_pile_is_not_shuffled_before_a_card_is_needed() -> None:
    game = game_at(seat(token=1), display=list(DISPLAY), draw_pile=DISPLAY[:2], discard_pile=DISPLAY[2:])
    act(game, "DRAW")
    assert game.last_round
    assert game.draw_pile == []
    assert sum(game.discard) == 6
    assert game.to_dict()["pending"] == {}


def test_with_both_piles_empty_slots_stay_empty() -> None:
    game = game_at(seat(token=1), display=list(DISPLAY), draw_pile=[])
    act(game, "DRAW")
    assert game.display[:2] == [None, None]
    assert not game.last_round  # the pile did not become empty now: a made-up position
    act(game, "MOVE", 0)
    act(game, "DRAW")
    act(game, "MOVE", 0)
    act(game, "DRAW")  # slots 1 and 2, of which one is empty
    assert hand(game) == sorted(DISPLAY[:2])


def test_if_the_last_player_empties_the_pile_the_game_ends_with_that_turn() -> None:
    game = game_at(seat(token=4), seat(token=1), display=list(DISPLAY), draw_pile=DISPLAY[:2], to_move=1)
    act(game, "DRAW")
    assert game.done


def test_draws_from_a_reshuffled_pile_are_recorded_and_hidden() -> None:
    game = game_at(seat(token=1, meadow=1), draw_pile=[], discard_pile=SEVEN)
    act(game, "USE", "extra_card")
    drawn = hand(game)
    assert len(drawn) == 1
    pending = game.to_dict()["pending"]
    left = counts(SEVEN)
    for shown in game.display[:2]:
        assert shown is not None
        left[shown] -= 1
    assert pending == {"reshuffled": left, "unseen_draws": [drawn, []]}
    assert game.to_dict(seat=0)["pending"] == pending
    assert game.to_dict(seat=1)["pending"] == {"reshuffled": left, "unseen_draws": [[None], []]}


# -- scoring -------------------------------------------------------------------------------------------------

ROWS_0_AND_1 = [
    ("purple", [cell(0, c) for c in range(5)]),
    ("blue", [cell(0, 5), cell(0, 6)]),
    ("purple", [cell(1, c) for c in range(4)]),
    ("green", [cell(1, c) for c in range(4, 7)]),
]
COLUMNS_0_TO_2 = [
    (colour, [cell(row, c) for c in range(3)])
    for row, colour in zip(range(2, 7), ["green", "green", "purple", "purple", "purple"], strict=True)
]


def test_the_rulebooks_example_of_22_points() -> None:
    superstructures = [cell(0, 0), cell(0, 1), cell(1, 2)]  # on crossings: 9
    superstructures += [cell(0, 5)]  # in a full row: 1
    superstructures += [cell(2, 0), cell(6, 2)]  # in a full column: 2
    superstructures += [cell(2, 3)]  # in neither: 0
    example = seat(pavilions=ROWS_0_AND_1 + COLUMNS_0_TO_2, wild=[cell(2, 3)], superstructures=superstructures)
    assert game_at(example).scores() == [22, 0]


def test_rows_and_columns_alone_and_points_made_during_play() -> None:
    assert game_at(seat(pavilions=ROWS_0_AND_1)).scores()[0] == 4
    assert game_at(seat(pavilions=COLUMNS_0_TO_2)).scores()[0] == 0  # two cells short of each column
    assert game_at(seat(pavilions=ROWS_0_AND_1 + COLUMNS_0_TO_2, points=7)).scores()[0] == 4 + 6 + 7


def test_the_statue_counts_as_built() -> None:
    row = [("green", [cell(3, c) for c in range(3)]), ("purple", [cell(3, c) for c in range(4, 7)])]
    column = [("blue", [cell(0, 3), cell(1, 3)]), ("blue", [cell(4, 3), cell(5, 3)])]
    game = game_at(seat(pavilions=row + column, wild=[cell(2, 3), cell(6, 3)], superstructures=[cell(3, 2)]))
    assert game.scores()[0] == 2 + 2 + 1


@pytest.mark.parametrize(
    ("points", "ranking"),
    [
        ([3, 5], [1, 0]),
        ([5, 5], [1, 0]),
        ([6, 5], [0, 1]),
        ([4, 4, 4], [2, 1, 0]),
        ([4, 9, 4], [1, 2, 0]),
        ([7, 2, 7, 2], [2, 0, 3, 1]),
    ],
)
def test_of_tied_players_the_later_one_is_ahead(points: list[int], ranking: list[int]) -> None:
    game = game_at(*(seat(token=2 * i, points=score) for i, score in enumerate(points)))
    assert game.scores() == points
    assert game.ranking() == ranking


# -- dry roads -----------------------------------------------------------------------------------------------

ARMS = [
    ("purple", [cell(0, 3), cell(1, 3), cell(2, 3)]),
    ("purple", [cell(4, 3), cell(5, 3), cell(6, 3)]),
    ("green", [cell(3, 0), cell(3, 1), cell(3, 2)]),
    ("green", [cell(3, 4), cell(3, 5), cell(3, 6)]),
]


def roads(wild: Sequence[int], bonus_cards: Sequence[int] = (3, 5), **mine: Any) -> ReferenceGame:
    game = game_at(
        seat(pavilions=ARMS, wild=wild, meadow=1, **mine),
        dry_roads=True,
        bonus_cards=list(bonus_cards),
    )
    act(game, "USE", "one_wild_tile")
    return game


def test_the_statue_does_not_connect_visitors() -> None:
    game = roads([cell(2, 2)])
    act(game, "WILD", cell(2, 4))  # the south is connected through the statue only
    assert game.seats[0].bonus is None
    assert game.scores()[0] == 4


def test_four_connected_visitors_take_the_best_bonus_card() -> None:
    game = roads([cell(2, 2), cell(2, 4)])
    act(game, "WILD", cell(4, 2))
    assert (game.seats[0].bonus, game.seats[0].points, game.bonus_cards) == (5, 5, [3])
    assert game.scores()[0] == 4 + 5


def test_corners_do_not_connect() -> None:
    game = roads([cell(2, 2), cell(2, 4)])
    act(game, "WILD", cell(4, 4))
    assert game.seats[0].bonus == 5
    game = roads([cell(2, 2), cell(2, 4), cell(5, 2)])
    act(game, "WILD", cell(6, 2))
    assert game.seats[0].bonus is None


def test_each_player_takes_one_bonus_card() -> None:
    game = roads([cell(2, 2), cell(2, 4), cell(4, 2)], bonus_cards=[3], bonus=5, points=5)
    act(game, "WILD", cell(4, 4))
    assert (game.seats[0].bonus, game.seats[0].points, game.bonus_cards) == (5, 5, [3])


def test_a_pavilion_can_connect_too_and_before_its_superstructures() -> None:
    three = card("blue", 3, 3)
    game = game_at(
        seat([three, card("blue", 1), card("blue", 1)], side=SOUTH, pavilions=ARMS, wild=[16, 18]),
        dry_roads=True,
        bonus_cards=[3],
    )
    act(game, "BUILD", three)
    act(game, "PAY", card("blue", 1))
    act(game, "PAY", card("blue", 1))
    corner = {cell(4, 2), cell(5, 2), cell(5, 1)}
    act(game, "PLACE", next(argument for argument, cells in rests(game).items() if set(cells) == corner))
    assert game.phase == "ROOF"
    assert (game.seats[0].bonus, game.bonus_cards) == (3, [])


@pytest.mark.parametrize(("players", "cards"), [(2, [3, 5]), (3, [3, 5, 7]), (4, [3, 5, 7, 9])])
def test_bonus_cards_by_number_of_players(players: int, cards: list[int]) -> None:
    assert ReferenceGame(HelsinkiConfig(num_players=players, dry_roads=True)).bonus_cards == cards
    assert ReferenceGame(HelsinkiConfig(num_players=players)).bonus_cards == []


# -- views and errors ----------------------------------------------------------------------------------------


def test_a_copy_for_one_seat_hides_what_it_may_not_see() -> None:
    game = game_at(seat([card("blue", 3, 4)]), seat(SEVEN, token=2, known=[card("red", 1)]))
    view = game.to_dict(seat=0)
    assert view["seats"][0]["hand"] == counts([card("blue", 3, 4)])
    assert view["seats"][1]["hand"] == {"size": 7, "known": counts([card("red", 1)])}
    assert view["draw_pile"] == len(game.draw_pile)
    assert "chance" not in view


def test_illegal_decisions_are_errors_and_change_nothing() -> None:
    game = ReferenceGame(seed=2)
    before = game.to_dict()
    for bad in (-1, 8, 553, 554):
        with pytest.raises(ValueError, match="illegal"):
            game.step(bad)
    assert game.to_dict() == before


# -- random play ---------------------------------------------------------------------------------------------


def check_position(game: ReferenceGame, coats: bool = True) -> None:
    """Check invariants: no card or tile is lost, tiles do not overlap, and an action is legal."""
    data, pending = game.components, game.pending
    cards = Counter(game.draw_pile) + Counter(shown for shown in game.display if shown is not None)
    cards.update(pending.paid)
    if pending.card is not None:
        cards[pending.card] += 1
    for pile in [game.discard, *(one.hand for one in game.seats)]:
        assert min(pile) >= 0
        cards.update({kind: count for kind, count in enumerate(pile) if count})
    deck = Counter({kind: count for kind, count in enumerate(data.deck(game.players)) if count})
    missing = deck - cards
    assert not cards - deck
    assert sum(missing.values()) == (game.players == 2)
    assert {data.card_number(kind) for kind in missing} <= {data.any_removed2_number}
    for colour in range(5):
        for roofs in (2, 3, 4, 5):
            stand = sum((tile.colour, tile.roofs) == (colour, roofs) for one in game.seats for tile in one.pavilions)
            assert stand + game.tile_supply[colour][roofs - 2] == data.tile_copies[roofs - 2]
    assert game.wild_supply + sum(len(one.wild) for one in game.seats) == data.wild_tiles
    in_hand = pending.lifted is not None
    on_boards = sum(len(one.superstructures) for one in game.seats)
    assert game.superstructure_supply + on_boards + in_hand == data.superstructures
    for number, one in enumerate(game.seats):
        cells = [place for tile in one.pavilions for place in tile.cells] + list(one.wild)
        assert len(cells) == len(set(cells))
        assert set(cells) <= set(range(49)) - {STATUE}
        assert one.superstructures <= set(cells)
        assert not one.coats_on_board & set(cells)
        if coats:
            assert len(one.coats_on_board) + one.meadow + len(one.used) == 8
        assert all(known <= held for known, held in zip(one.known, one.hand, strict=True))
        discarding = game.phase == "DISCARD" and game.seat == number
        assert sum(one.hand) <= data.hand_limit or one.limit_lifted or discarding
    actions = game.legal_actions()
    assert actions == sorted(set(actions))
    assert bool(actions) != game.done
    assert game.done or actions != [game.encode(("END", 0))]
    if game.reshuffled is not None:
        unseen = Counter(game.draw_pile)
        for drawn in game.unseen_draws:
            unseen.update(drawn)
        assert [unseen[kind] for kind in range(data.types)] == game.reshuffled


def self_play(
    game: ReferenceGame, chooser: random.Random, each: Callable[[ReferenceGame], None] | None = None
) -> tuple[int, int]:
    """Play to the end at random; the number of decisions, and the sum of how many were legal at each."""
    decisions = options = 0
    while not game.done:
        if each is not None:
            each(game)
        actions = game.legal_actions()
        decisions += 1
        options += len(actions)
        game.step(chooser.choice(actions))
    if each is not None:
        each(game)
    return decisions, options


@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 3, 4])
def test_nothing_is_lost_in_random_games(players: int) -> None:
    for seed in range(40):
        config = HelsinkiConfig(num_players=players, dry_roads=bool(seed % 2))
        self_play(ReferenceGame(config, seed=seed), random.Random(seed), check_position)


def test_nothing_is_lost_with_other_components() -> None:
    for seed in range(20):
        config = HelsinkiConfig(num_players=2 + seed % 3, dry_roads=True, components="alternative")
        self_play(ReferenceGame(config, seed=seed), random.Random(seed), check_position)


def rich_game(seed: int, components: str = "default") -> ReferenceGame:
    """A game in which every player has eight coats from the start, so that all actions come up."""
    config = HelsinkiConfig(num_players=2 + seed % 3, dry_roads=True, components=components)
    game = ReferenceGame(config, seed=seed)
    for one in game.seats:
        one.meadow = 8
    return game


@pytest.mark.parametrize("components", ["default", pytest.param("alternative", marks=pytest.mark.thorough)])
def test_masks_are_those_found_by_search(components: str) -> None:
    used: set[int] = set()
    for seed in range(30):
        chooser = random.Random(seed)
        game = rich_game(seed, components)

        def compare(game: ReferenceGame, chooser: random.Random = chooser) -> None:
            check_position(game, coats=False)
            used.update(*(one.used for one in game.seats))
            if chooser.random() < 0.15:
                assert brute_force_legal_actions(game) == game.legal_actions()

        self_play(game, chooser, compare)
    assert used == set(range(15))


@pytest.mark.parametrize("seed", range(6))
def test_a_position_read_back_plays_on_alike(seed: int) -> None:
    chooser = random.Random(seed)
    game = rich_game(seed) if seed % 2 else ReferenceGame(HelsinkiConfig(num_players=2 + seed % 3), seed=seed)
    while not game.done:
        data = game.to_dict()
        again = ReferenceGame.from_dict(data)
        twin = game.clone()
        assert again.to_dict() == data
        action = chooser.choice(game.legal_actions())
        game.step(action)
        assert twin.to_dict() == data  # a copy does not follow
        again.step(action)
        twin.step(action)
        assert again.to_dict() == game.to_dict() == twin.to_dict()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("players", "games", "decisions"), [(2, 150, (107, 120)), (3, 40, (175, 200)), (4, 40, (215, 245))]
)
def test_random_games_are_of_the_expected_length(players: int, games: int, decisions: tuple[int, int]) -> None:
    total = options = rounds = points = 0  # of all seats together
    for seed in range(games):
        game = ReferenceGame(HelsinkiConfig(num_players=players), seed=1000 + seed)
        taken, choices = self_play(game, random.Random(seed))
        total += taken
        options += choices
        rounds += game.round
        points += sum(game.scores())
    assert decisions[0] <= total / games <= decisions[1]
    assert 3.2 <= options / total <= 4.8
    assert 14 <= rounds / games <= 21
    assert 0.5 <= points / games / players <= 2.5

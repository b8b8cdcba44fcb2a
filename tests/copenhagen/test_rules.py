"""The rules, clause by clause, in cases worked by hand."""

from __future__ import annotations

from typing import Any

import pytest

from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, TILE_SIZES, load_components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from tests.copenhagen.positions import (
    BLUE,
    END_CARD,
    GREEN,
    PURPLE,
    RED,
    YELLOW,
    act,
    argument_of,
    build,
    game,
    legal,
    legal_kinds,
    orientations,
    row,
    seat,
    tile,
)

ANY, ADDITIONAL, DISCOUNT, CHANGE, BOTH = range(5)
WORD = 2**64


# Components and decisions (sections 1 and 3)


def test_the_box() -> None:
    box = load_components()
    assert (box.columns, box.rows, box.hand_limit, box.goal, box.last_cards) == (5, 9, 7, 12, 10)
    assert box.coats == (12, 24, 31, 43)  # (2, 2) (4, 4) (1, 6) (3, 8)
    assert box.coat_rows == (1, 3, 5)
    assert [sum(copies) * 5 for copies in box.copies] == [35, 40, 50]
    assert box.cards == (14, 12, 14)
    assert (box.white_tiles, box.hands) == (12, (2, 3, 3, 4))
    points = box.points_row, box.points_row_windows, box.points_column, box.points_column_windows
    assert points == (1, 2, 2, 4)


def test_orientations_by_colour_and_size() -> None:
    assert [[len(orientations(colour, size)) for size in TILE_SIZES] for colour in range(5)] == [
        [4, 8, 8, 4],
        [4, 4, 4, 4],
        [4, 4, 4, 4],
        [4, 8, 4, 8],
        [4, 8, 8, 8],
    ]


def test_decisions_are_numbered_in_the_order_of_the_rules() -> None:
    assert actions.NUM_ACTIONS == 459
    assert actions.KIND_SIZES == (7, 20, 360, 5, 5, 5, 5, 45, 5, 1, 1)
    assert act("TAKE") == 0
    assert act("PLACE", 359) == 386
    assert act("END") == 458
    assert all(actions.encode(*actions.decode(action)) == action for action in range(459))


@pytest.mark.parametrize(("kind", "argument"), [("TAKE", 7), ("END", 1), ("PAY", -1)])
def test_arguments_that_do_not_exist(kind: str, argument: int) -> None:
    with pytest.raises(ValueError, match=f"{kind} takes an argument from 0"):
        act(kind, argument)


def test_every_orientation_can_be_placed_as_drawn() -> None:
    for colour in range(5):
        for size in TILE_SIZES:
            for orientation, (cells, brick) in enumerate(orientations(colour, size)):
                hand = [size if c == colour else 0 for c in range(5)]
                one = game(seat(hand))
                one.step(act("BUILD", 4 * colour + size - 2))
                one.step(act("PLACE", 45 * orientation))
                (lies,) = one.to_dict()["seats"][0]["tiles"]
                assert lies["cells"] == sorted(5 * y + x for x, y in cells)
                assert lies["brick"] == 5 * brick[1] + brick[0]


# Setup (section 2), by the chance of the rules page


class Chance:
    """The random word of section 8 of the rules page, plainly."""

    def __init__(self, seed: int, stream: int) -> None:
        self.word = self._hash(self._hash(self._hash(seed) ^ stream))

    @staticmethod
    def _mix(z: int) -> int:
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % WORD
        z = (z ^ z >> 27) * 0x94D049BB133111EB % WORD
        return z ^ z >> 31

    def _hash(self, x: int) -> int:
        return self._mix((x + 0x9E3779B97F4A7C15) % WORD)

    def below(self, n: int) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) % WORD
        return (self._mix(self.word) >> 32) * n >> 32

    def shuffled(self, cards: list[int]) -> list[int]:
        for i in range(len(cards) - 1, 0, -1):
            j = self.below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        return cards

    def with_end_card(self, cards: list[int]) -> list[int]:
        beneath = self.below(min(len(cards), 9) + 1)
        return [*cards[:beneath], END_CARD, *cards[beneath:]]


@pytest.mark.parametrize(
    ("players", "of_each", "seed", "stream"), [(2, 14, 0, 0), (3, 12, 7, 1), (4, 14, 123456789, 5)]
)
def test_deal(players: int, of_each: int, seed: int, stream: int) -> None:
    chance = Chance(seed, stream)
    cards = chance.shuffled([colour for colour in range(5) for _ in range(of_each)])
    display = [cards.pop() for _ in range(7)]
    hands = [[cards.pop() for _ in range(size)] for size in (2, 3, 3, 4)[:players]]
    if players == 2:
        cards = chance.with_end_card(cards)
    found = CopenhagenGame(CopenhagenConfig(players), seed, stream).to_dict()
    assert found["display"] == display
    assert [one["hand"] for one in found["seats"]] == [[hand.count(colour) for colour in range(5)] for hand in hands]
    assert found["draw_pile"] == cards[::-1]
    assert found["chance"] == {"word": f"0x{chance.word:016x}"}
    assert [(one["abilities"], one["used"], one["points"]) for one in found["seats"]] == [([0], [], 0)] * players
    assert (found["phase"], found["to_move"], found["round"], found["discard_pile"]) == ("MAIN", 0, 1, [0] * 5)
    assert found["tile_supply"]["green"] == {2: [2, 2, 2, 1], 3: [2, 3, 2, 1], 4: [3, 3, 3, 1]}[players]


def test_end_of_game_card_lies_among_the_last_ten() -> None:
    beneath = {CopenhagenGame(seed=seed).to_dict()["draw_pile"][::-1].index(END_CARD) for seed in range(200)}
    assert beneath == set(range(10))
    assert END_CARD not in CopenhagenGame(CopenhagenConfig(3), seed=0).to_dict()["draw_pile"]


# Taking


def test_two_adjacent_cards_and_no_ring() -> None:
    one = game(seat(abilities=[0], used=[0]))
    assert legal(one, "TAKE") == [0, 1, 2, 3, 4, 5]
    one.step(act("TAKE", 2))
    assert legal(one, "TAKE") == [3]
    assert legal_kinds(one) == ["TAKE"]
    one.step(act("TAKE", 3))
    assert one.seat == 1
    assert one.to_dict()["seats"][0]["hand"] == [0, 0, 1, 1, 0]
    assert one.to_dict()["seats"][0]["known"] == [0, 0, 1, 1, 0]


def test_any_cards_takes_a_card_further_up() -> None:
    one = game(seat())
    one.step(act("TAKE", 2))
    assert one.to_dict()["pending"] == {"first": 2}
    assert legal(one, "USE") == [ANY]
    one.step(act("USE", ANY))
    assert one.to_dict()["pending"] == {"first": 2, "using": [ANY]}
    assert legal(one, "TAKE") == [4, 5, 6]
    one.step(act("TAKE", 6))
    assert one.to_dict()["seats"][0]["hand"] == [0, 1, 1, 0, 0]
    assert one.to_dict()["seats"][0]["used"] == [ANY]
    assert one.seat == 1


def test_any_cards_is_of_no_use_at_the_end_of_the_row() -> None:
    one = game(seat())
    one.step(act("TAKE", 5))
    assert [int(action) for action in one.legal_actions()] == [act("TAKE", 6)]


def test_additional_card_from_anywhere() -> None:
    one = game(seat(abilities=[0, ADDITIONAL]))
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    assert one.phase == "END"
    assert legal_kinds(one) == ["END", "USE"]
    one.step(act("USE", ADDITIONAL))
    assert one.to_dict()["pending"] == {"using": [ADDITIONAL]}
    assert legal(one, "TAKE") == [2, 3, 4, 5, 6]
    one.step(act("TAKE", 4))
    assert one.seat == 1  # END alone was legal
    assert one.to_dict()["seats"][0]["hand"] == [1, 1, 0, 0, 1]


def test_who_declines_ends_the_turn() -> None:
    one = game(seat(abilities=[0, ADDITIONAL]))
    for action in (act("TAKE", 0), act("TAKE", 1), act("END")):
        one.step(action)
    assert one.seat == 1
    assert one.to_dict()["seats"][0]["used"] == []


def test_discards_in_colour_order_until_seven_are_left() -> None:
    one = game(seat([2, 2, 3, 0, 0], abilities=[0, ADDITIONAL]), display=[3, 4, 0, 0, 0, 0, 0])
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    assert one.phase == "DISCARD"
    assert legal(one, "DISCARD") == [0, 1, 2, 3]  # not the only yellow one first: two must go, in order
    assert legal(one, "USE") == [ADDITIONAL]
    one.step(act("DISCARD", 2))
    assert one.to_dict()["pending"] == {"last_discard": 2}
    assert legal(one, "DISCARD") == [2, 3, 4]
    assert legal(one, "USE") == []  # something was discarded
    one.step(act("DISCARD", 4))
    assert one.seat == 1
    found = one.to_dict()
    assert found["seats"][0]["hand"] == [2, 2, 2, 1, 0]
    assert found["seats"][0]["known"] == [0, 0, 0, 1, 0]  # the yellow one was shown
    assert found["discard_pile"] == [0, 0, 1, 0, 1]


def test_additional_card_before_discarding() -> None:
    one = game(seat([7, 0, 0, 0, 0], abilities=[0, ADDITIONAL]))
    for action in (act("TAKE", 1), act("TAKE", 2), act("USE", ADDITIONAL), act("TAKE", 0)):
        one.step(action)
    assert one.phase == "DISCARD"
    for _ in range(3):
        one.step(act("DISCARD", BLUE))
    assert one.to_dict()["seats"][0]["hand"] == [5, 1, 1, 0, 0]


def test_both_actions_after_taking_and_discarding() -> None:
    one = game(seat([6, 0, 0, 0, 0], abilities=[0, BOTH]))
    one.step(act("TAKE", 1))
    one.step(act("TAKE", 2))
    one.step(act("DISCARD", BLUE))
    assert one.phase == "END"
    assert legal(one, "USE") == [BOTH]
    one.step(act("USE", BOTH))
    assert (one.phase, legal_kinds(one)) == ("MAIN", ["BUILD"])
    assert one.to_dict()["pending"] == {"using": [BOTH], "last_discard": BLUE}
    build(one, BLUE, [0, 1], 0)
    found = one.to_dict()
    assert (found["to_move"], found["pending"]) == (1, {})
    assert None not in found["display"]
    assert found["seats"][0]["hand"] == [3, 1, 1, 0, 0]


def test_both_actions_needs_something_to_build() -> None:
    one = game(seat([0, 0, 0, 0, 0], abilities=[0, BOTH], used=[0]))
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    assert one.seat == 1


# Constructing: placement


def places(one: CopenhagenGame, colour: int, size: int) -> set[int]:
    """Build a tile and return where its cells can lie."""
    one.step(act("BUILD", 4 * colour + size - 2))
    return set(legal(one, "PLACE"))


def test_a_tile_stands_on_the_ground_or_on_a_filled_cell() -> None:
    one = game(seat([0, 0, 2, 0, 0], [tile(RED, [2, 7], 2)]))
    found = places(one, PURPLE, 2)
    assert argument_of(PURPLE, [0, 1], 0) in found
    assert argument_of(PURPLE, [12, 13], 12) in found  # one cell of it on the tile
    assert argument_of(PURPLE, [12, 17], 17) in found
    assert argument_of(PURPLE, [8, 9], 8) not in found  # above nothing
    assert argument_of(PURPLE, [1, 2], 1) not in found  # filled


def test_a_tile_goes_under_an_overhang() -> None:
    one = game(seat([0, 0, 2, 0, 0], [tile(RED, [0, 5], 0), tile(YELLOW, [10, 11], 10)]))
    found = places(one, PURPLE, 2)
    assert argument_of(PURPLE, [1, 6], 1) in found
    assert argument_of(PURPLE, [6, 7], 6) not in found  # nothing falls, nothing stands there


def test_white_tiles_support() -> None:
    one = game(seat([0, 0, 2, 0, 0], white=[4]))
    assert argument_of(PURPLE, [8, 9], 8) in places(one, PURPLE, 2)


def test_the_board_ends_above_and_at_the_sides() -> None:
    column = [tile(RED, [10 * i, 10 * i + 5], 10 * i) for i in range(2)]
    column += [tile(YELLOW, [20 + 10 * i, 25 + 10 * i], 20 + 10 * i) for i in range(2)]
    one = game(seat([0, 0, 2, 0, 0], column, points=0))
    found = places(one, PURPLE, 2)
    assert argument_of(PURPLE, [40, 41], 40) in found
    assert not any(argument % 45 == 40 and argument // 45 in (1, 3) for argument in found)


# Constructing: cost


def test_a_tile_costs_its_cells_in_cards_of_its_colour() -> None:
    one = game(seat([3, 0, 2, 0, 0]))
    assert legal(one, "BUILD") == [0, 1, 8]
    build(one, BLUE, [0, 5, 6], 0)
    found = one.to_dict()
    assert found["seats"][0]["hand"] == [0, 0, 2, 0, 0]
    assert found["discard_pile"] == [3, 0, 0, 0, 0]
    assert found["tile_supply"]["blue"] == [2, 1, 2, 1]
    assert found["seats"][0]["tiles"] == [tile(BLUE, [0, 5, 6], 0)]


def test_touching_the_own_colour_lowers_the_cost_once() -> None:
    tiles = [tile(BLUE, [0, 1], 0), tile(BLUE, [3, 4], 3)]
    one = game(seat([2, 0, 0, 0, 0], tiles))
    assert legal(one, "BUILD") == [1]  # two are in use; three cells for two cards where it touches
    found = places(one, BLUE, 3)
    assert argument_of(BLUE, [2, 7, 8], 2) in found  # between both: still two cards
    assert all({*cells} & {2, 5, 6, 8, 9} for cells in cells_at(BLUE, 3, found))
    one.step(act("PLACE", argument_of(BLUE, [2, 7, 8], 2)))
    assert one.to_dict()["seats"][0]["hand"] == [0] * 5


def cells_at(colour: int, size: int, arguments: set[int]) -> list[list[int]]:
    found = []
    for argument in arguments:
        cells, _ = orientations(colour, size)[argument // 45]
        found.append([argument % 45 + 5 * y + x for x, y in cells])
    return found


def test_only_a_tile_of_the_own_colour_on_the_own_board_counts() -> None:
    one = game(seat([1, 0, 0, 0, 0], [tile(RED, [0, 1], 0)], white=[2]), seat(tiles=[tile(BLUE, [0, 1], 0)]))
    assert legal(one, "BUILD") == []
    assert legal(game(seat([1, 0, 0, 0, 0], [tile(BLUE, [0, 1], 0)])), "BUILD") == [0]
    assert (
        legal(game(seat([1, 0, 0, 0, 0], [tile(BLUE, [0, 1], 0)], white=[2, 5, 6])), "BUILD") == []
    )  # it is walled in


def test_a_discount_and_a_neighbour_make_a_tile_free() -> None:
    one = game(seat([0] * 5, [tile(BLUE, [0, 1], 0)], abilities=[0, DISCOUNT]))
    assert legal(one, "BUILD") == [0]
    one.step(act("BUILD", 0))
    assert legal_kinds(one) == ["USE"]
    one.step(act("USE", DISCOUNT))
    assert one.to_dict()["pending"] == {"using": [DISCOUNT], "tile": {"colour": "blue", "size": 2}}
    one.step(act("PLACE", argument_of(BLUE, [2, 3], 3)))
    found = one.to_dict()
    assert found["seats"][0]["used"] == [DISCOUNT]
    assert len(found["seats"][0]["tiles"]) == 2
    assert found["to_move"] == 1


def test_a_tile_that_the_supply_lacks() -> None:
    empty = {name: [0, 0, 0, 0] for name in COLOURS}
    one = game(seat([7, 0, 0, 0, 0]), tile_supply=empty | {"blue": [0, 1, 0, 0]})
    assert legal(one, "BUILD") == [1]


def test_the_tile_stays_in_the_supply_until_it_is_paid() -> None:
    one = game(seat([1, 2, 0, 0, 0], abilities=[0, CHANGE]))
    for action in (act("BUILD", 1), act("USE", CHANGE), act("RECOLOUR", GREEN)):
        one.step(action)
    one.step(act("PLACE", argument_of(BLUE, [0, 5, 6], 0)))
    assert one.phase == "PAY"
    one.step(act("PAY", BLUE))
    one.step(act("PAY", GREEN))
    assert one.to_dict()["tile_supply"]["blue"] == [2, 2, 2, 1]
    assert one.to_dict()["seats"][0]["tiles"] == []
    assert one.to_dict()["pending"] == {
        "using": [CHANGE],
        "tile": {"colour": "blue", "size": 3},
        "recolour": GREEN,
        "place": argument_of(BLUE, [0, 5, 6], 0),
        "due": 1,
        "paid": [1, 1, 0, 0, 0],
    }
    one.step(act("PAY", GREEN))
    assert one.to_dict()["tile_supply"]["blue"] == [2, 1, 2, 1]
    assert one.to_dict()["discard_pile"] == [1, 2, 0, 0, 0]


# Constructing: change of colours


def test_change_of_colours_needs_a_card_to_recolour() -> None:
    one = game(seat([2, 0, 0, 0, 0], abilities=[0, CHANGE]))
    one.step(act("BUILD", 0))
    assert legal(one, "USE") == []  # there is no other card
    one = game(seat([2, 0, 0, 1, 0], abilities=[0, CHANGE]))
    one.step(act("BUILD", 0))
    assert legal(one, "USE") == [CHANGE]
    one.step(act("USE", CHANGE))
    assert (one.phase, legal(one, "RECOLOUR")) == ("RECOLOUR", [RED])


def test_only_colours_that_suffice_can_be_recoloured() -> None:
    one = game(seat([1, 1, 2, 0, 0], abilities=[0, CHANGE]))
    one.step(act("BUILD", 1))
    one.step(act("USE", CHANGE))
    assert legal(one, "RECOLOUR") == [PURPLE]  # one blue and two purple ones for three cells
    one = game(seat([1, 1, 2, 0, 0], abilities=[0, CHANGE, DISCOUNT]))
    one.step(act("BUILD", 1))
    one.step(act("USE", CHANGE))
    assert legal(one, "RECOLOUR") == [GREEN, PURPLE]  # green with the discount that is still active
    one.step(act("RECOLOUR", GREEN))
    assert legal_kinds(one) == ["USE"]


def test_after_recolour_a_tile_is_never_free() -> None:
    """Blue, two cells, touching blue, discounted: free where it touches, so there no red card could be paid."""
    one = game(seat([0, 0, 0, 1, 0], [tile(BLUE, [0, 1], 0)], abilities=[0, CHANGE, DISCOUNT]))
    one.step(act("BUILD", 0))
    one.step(act("USE", DISCOUNT))
    assert legal(one, "USE") == [CHANGE]
    one.step(act("USE", CHANGE))
    one.step(act("RECOLOUR", RED))
    found = cells_at(BLUE, 2, set(legal(one, "PLACE")))
    assert found
    assert not any({*cells} & {2, 5, 6} for cells in found)


def test_the_discount_after_recolour_must_leave_something_to_pay() -> None:
    """The board is full but for (3, 8) and (4, 8): a blue tile touches blue there, so with the discount it is free."""
    colours = iter((BLUE, BLUE, *(colour for colour in (GREEN, PURPLE, RED, YELLOW) for _ in range(3))))
    tiles = [tile(next(colours), [5 * y + x, 5 * y + x + 1], 5 * y + x) for y in range(7) for x in (0, 2)]
    white = [*range(4, 35, 5), 35, 36, 39, 40, 41]
    own = seat([0, 0, 0, 1, 0], [*tiles, tile(BLUE, [37, 38, 42], 38)], white, abilities=[0, CHANGE, DISCOUNT])
    one = game(own, seat(), seat(), seat())
    assert legal(one, "BUILD") == [0]
    one.step(act("BUILD", 0))
    assert legal(one, "USE") == [DISCOUNT, CHANGE]
    one.step(act("USE", CHANGE))
    one.step(act("RECOLOUR", RED))
    assert legal_kinds(one) == ["PLACE"]
    one.step(act("PLACE", argument_of(BLUE, [43, 44], 43)))
    assert legal(one, "PAY") == [RED]
    one.step(act("PAY", RED))
    assert one.to_dict()["seats"][0]["points"] == 1 + 2 + 4  # row 8, column 3, and column 4 of windows


def test_payment_in_colour_order_with_a_recoloured_card() -> None:
    """Red, three cells, with green as red: green first, then red; at least one green."""
    one = game(seat([0, 2, 0, 3, 0], abilities=[0, CHANGE]))
    for action in (act("BUILD", 4 * RED + 1), act("USE", CHANGE), act("RECOLOUR", GREEN)):
        one.step(action)
    one.step(act("PLACE", argument_of(RED, [0, 5, 6], 0)))
    assert legal(one, "PAY") == [GREEN]
    one.step(act("PAY", GREEN))
    assert legal(one, "PAY") == [GREEN, RED]
    one.step(act("PAY", RED))
    assert legal(one, "PAY") == [RED]
    one.step(act("PAY", RED))
    assert one.to_dict()["seats"][0]["hand"] == [0, 1, 0, 1, 0]


def test_payment_with_the_recoloured_cards_last() -> None:
    """Green, three cells, with red as green: green ones first, but the last must be red."""
    one = game(seat([0, 3, 0, 2, 0], abilities=[0, CHANGE]))
    for action in (act("BUILD", 4 * GREEN + 1), act("USE", CHANGE), act("RECOLOUR", RED)):
        one.step(action)
    one.step(act("PLACE", argument_of(GREEN, [0, 1, 2], 0)))
    assert legal(one, "PAY") == [GREEN]  # two red ones do not suffice
    one.step(act("PAY", GREEN))
    assert legal(one, "PAY") == [GREEN, RED]
    one.step(act("PAY", GREEN))
    assert legal(one, "PAY") == [RED]  # a third green one would leave the recolouring unused


# Lines, points, coats


def test_a_full_row_scores_and_its_coat_is_a_reward() -> None:
    low = [*row(0), *row(1)]
    one = game(seat([0, 0, 0, 0, 2], low, white=[4]))
    build(one, YELLOW, [9, 14], 14)  # the row y = 1 is full, bricks in it: one point
    found = one.to_dict()
    assert found["seats"][0]["points"] == 1
    assert (found["phase"], found["pending"]) == ("COAT", {"rewards": 1})
    assert found["to_move"] == 0


def test_a_row_of_windows_scores_twice() -> None:
    bricks_below = [tile(YELLOW, [x, x + 5], x) for x in (0, 1)] + [tile(RED, [x, x + 5], x) for x in (2, 3)]
    one = game(seat([0, 0, 2, 0, 0], bricks_below))
    build(one, PURPLE, [4, 9], 4)
    assert one.to_dict()["seats"][0]["points"] == 1 + 2  # row 0 with bricks, row 1 of windows


def test_columns_score_and_windows_double_them() -> None:
    def column(brick: bool) -> CopenhagenGame:
        """Column 0 but for its top; each tile's brick in it, or beside it."""
        colours = (BLUE, PURPLE, BLUE, PURPLE, GREEN, RED, GREEN, YELLOW)
        tiles = [tile(colour, [5 * y, 5 * y + 1], 5 * y + (not brick)) for y, colour in enumerate(colours)]
        return game(seat([0, 0, 0, 2, 0], tiles))

    one = column(True)
    build(one, RED, [40, 41], 41)
    assert one.to_dict()["seats"][0]["points"] == 4  # columns 0 and 1: bricks in 0; the last brick is in 1
    one = column(False)
    build(one, RED, [40, 41], 41)
    assert one.to_dict()["seats"][0]["points"] == 4 + 2


def test_a_covered_coat_is_a_reward() -> None:
    one = game(seat([0, 0, 0, 2, 0], [tile(BLUE, [2, 7], 2)]))
    build(one, RED, [12, 17], 12)
    assert (one.phase, one.to_dict()["pending"]) == ("COAT", {"rewards": 1})
    assert legal(one, "ABILITY") == [ADDITIONAL, DISCOUNT, CHANGE, BOTH]
    assert legal(one, "WHITE") == [0, 1, 3, 4, 22]
    assert legal(one, "REACTIVATE") == []
    one.step(act("ABILITY", BOTH))
    assert one.to_dict()["seats"][0]["abilities"] == [ANY, BOTH]
    assert one.to_dict()["seats"][0]["used"] == []
    assert one.seat == 1


def test_several_rewards_one_after_another_and_reactivate() -> None:
    """The row y = 1 becomes full and the coat on (2, 2) is covered by the same tile."""
    tiles = [tile(BLUE, [0, 5], 0), tile(BLUE, [1, 6], 1), tile(GREEN, [3, 8], 3), tile(GREEN, [4, 9], 4)]
    one = game(seat([0, 0, 3, 0, 0], tiles, white=[2], abilities=[0, ADDITIONAL], used=[0, ADDITIONAL], points=3))
    build(one, PURPLE, [7, 12, 17], 17)
    assert one.to_dict()["seats"][0]["points"] == 3 + 2
    assert one.to_dict()["pending"] == {"rewards": 2}
    one.step(act("REACTIVATE"))
    assert one.to_dict()["seats"][0]["used"] == []
    assert (one.phase, legal(one, "REACTIVATE")) == ("COAT", [])
    one.step(act("ABILITY", CHANGE))
    assert (one.seat, one.phase) == (1, "MAIN")


def test_a_white_tile_covers_a_coat_in_turn() -> None:
    tiles = [tile(BLUE, [2, 7], 2), tile(GREEN, [4, 9], 4), tile(GREEN, [14, 19], 14)]
    one = game(seat([0, 0, 2, 0, 0], tiles))
    build(one, PURPLE, [12, 17], 12)
    before = one.to_dict()["white_tiles"]
    one.step(act("WHITE", 24))
    found = one.to_dict()
    assert found["seats"][0]["white"] == [24]
    assert found["white_tiles"] == before - 1
    assert found["pending"] == {"rewards": 1}  # one taken, one won
    one.step(act("WHITE", 13 if 13 in legal(one, "WHITE") else 0))
    assert one.seat == 1


def test_a_white_tile_scores_as_a_window() -> None:
    tiles = [tile(YELLOW, [x, x + 5], x) for x in (0, 1)] + [tile(BLUE, [2, 7], 2), tile(RED, [3, 8], 3)]
    one = game(seat([0, 0, 0, 2, 0], tiles, white=[4]))
    build(one, RED, [12, 17], 12)
    one.step(act("WHITE", 9))
    assert one.to_dict()["seats"][0]["points"] == 2
    assert one.to_dict()["pending"] == {"rewards": 1}  # the coat beside the row y = 1


def test_without_white_tiles_only_abilities() -> None:
    one = game(seat([0, 0, 0, 2, 0], [tile(BLUE, [2, 7], 2)]), white_tiles=0)
    build(one, RED, [12, 17], 12)
    assert legal_kinds(one) == ["ABILITY"]


def test_a_reward_without_a_choice_is_skipped() -> None:
    one = game(seat([0, 0, 0, 2, 0], [tile(BLUE, [2, 7], 2)], abilities=range(5)), white_tiles=0)
    build(one, RED, [12, 17], 12)
    assert (one.seat, one.to_dict()["pending"]) == (1, {})


def test_denied_abilities_cannot_be_taken() -> None:
    one = game(seat([0, 0, 0, 2, 0], [tile(BLUE, [2, 7], 2)]), denied=[[ADDITIONAL, BOTH], []])
    build(one, RED, [12, 17], 12)
    assert legal(one, "ABILITY") == [DISCOUNT, CHANGE]


def test_abilities_used_for_a_tile_can_be_flipped_back_by_its_coat() -> None:
    one = game(seat([0, 0, 0, 1, 0], [tile(BLUE, [2, 7], 2)], abilities=[0, DISCOUNT]))
    one.step(act("BUILD", 4 * RED))
    one.step(act("USE", DISCOUNT))
    one.step(act("PLACE", argument_of(RED, [12, 17], 12)))
    one.step(act("REACTIVATE"))
    assert one.to_dict()["seats"][0]["used"] == []


# End of the turn and of the game


def test_empty_slots_are_refilled_from_the_left() -> None:
    one = game(seat(used=[0]), pile=[4, 3, *[0] * 5, 2, END_CARD])
    one.step(act("TAKE", 4))
    one.step(act("TAKE", 5))
    assert one.to_dict()["display"] == [0, 1, 2, 3, 4, 3, 1]
    assert one.round == 5
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    assert one.round == 6  # seat 0's turn begins


def test_the_end_of_game_card_ends_the_game_at_once() -> None:
    one = game(seat(used=[0]), pile=[4, END_CARD, 3], to_move=1)
    one.step(act("TAKE", 4))
    one.step(act("TAKE", 5))
    found = one.to_dict()
    assert (found["done"], found["phase"], found["to_move"], found["round"]) == (True, "END", 1, 5)
    assert found["display"] == [0, 1, 2, 3, 4, None, 1]
    assert found["draw_pile"] == [3]
    assert found["pending"] == {}
    assert not one.action_mask().any()


def test_three_players_reshuffle_when_a_card_is_needed() -> None:
    seats = [seat(used=[0]) for _ in range(3)]
    one = game(*seats, pile=[4, 3], discard=[0] * 5)
    before = one.to_dict()
    chance = Chance(0, 0)
    chance.word = int(before["chance"]["word"], 16)
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    assert one.to_dict()["draw_pile"] == []  # empty, but no card is needed
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    cards = chance.shuffled([colour for colour, n in enumerate(before["discard_pile"]) for _ in range(n)])
    cards = chance.with_end_card(cards)
    found = one.to_dict()
    assert found["display"] == [cards.pop(), cards.pop(), 2, 3, 4, 0, 1]
    assert found["draw_pile"] == cards[::-1]
    assert found["discard_pile"] == [0] * 5
    seen = one.to_dict(seat=0)
    assert (seen["end_card"], seen["draw_pile"]) == (True, len(cards))
    assert seen["reshuffled"] == [cards.count(colour) for colour in range(5)]


def test_twelve_points_end_the_game_before_anything_else() -> None:
    tiles = [tile(BLUE, [0, 5], 0), tile(BLUE, [1, 6], 1), tile(GREEN, [3, 8], 3), tile(GREEN, [4, 9], 4)]
    one = game(seat([0, 0, 3, 0, 0], tiles, white=[2], points=10), seat(points=11))
    build(one, PURPLE, [7, 12, 17], 17)
    found = one.to_dict()
    assert (found["done"], found["phase"], found["to_move"]) == (True, "END", 0)
    assert found["pending"] == {}  # two coats were covered: their rewards lapse
    assert one.ranks().tolist() == [0, 1]
    assert one.scores().tolist() == [12, 11]


def test_twelve_points_by_a_white_tile_and_after_taking() -> None:
    tiles = [tile(YELLOW, [x, x + 5], x) for x in (0, 1)] + [tile(BLUE, [2, 7], 2), tile(RED, [3, 8], 3)]
    one = game(seat([0, 0, 0, 2, 0], tiles, white=[4], abilities=[0, BOTH], points=10))
    one.step(act("TAKE", 0))
    one.step(act("TAKE", 1))
    one.step(act("USE", BOTH))
    build(one, RED, [12, 17], 12)
    one.step(act("WHITE", 9))
    found = one.to_dict()
    assert (found["done"], found["seats"][0]["points"], found["pending"]) == (True, 12, {})
    assert found["display"][:2] == [None, None]  # nothing is refilled


@pytest.mark.parametrize(
    ("seats", "places"),
    [
        ([seat(points=3), seat(points=4)], [1, 0]),
        ([seat(points=3), seat(points=3)], [0, 0]),
        ([seat(points=3, tiles=[tile(BLUE, [0, 1], 0)]), seat(points=3, white=[0]), seat(points=3)], [0, 1, 2]),
        ([seat(points=3, white=[1]), seat(points=2, white=[0, 5]), seat(points=3, white=[0])], [0, 2, 0]),
        ([seat(), seat(points=1), seat(), seat(points=1)], [2, 0, 2, 0]),
    ],
)
def test_places_can_be_shared(seats: list[dict[str, Any]], places: list[int]) -> None:
    assert game(*seats).ranks().tolist() == places


def test_names_of_the_abilities() -> None:
    assert ABILITIES == ("any_cards", "additional_card", "construction_discount", "change_of_colours", "both_actions")

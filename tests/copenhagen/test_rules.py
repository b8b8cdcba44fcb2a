"""The rules of Copenhagen, clause by clause, in positions with results worked out by hand.

The kernels and the reference play each position together and agree on every field, mask and observation. The last part
plays at random and checks what always holds.
"""

from __future__ import annotations

import ast
import json
import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helsinki_env.engine.kernel import JIT
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, TILE_SIZES
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from tests.copenhagen.positions import (
    BLUE,
    BOX,
    GREEN,
    PURPLE,
    RED,
    YELLOW,
    Position,
    built_position,
    cell,
    choose_rare,
    choose_uniformly,
    hand_of,
    position,
    seat,
    tile,
)
from tests.copenhagen.test_equal import Pair
from tests.oracles import copenhagen
from tests.oracles.copenhagen import (
    CELLS,
    END_CARD,
    PHASES,
    SIZES_OF_KINDS,
    ReferenceGame,
    action_offsets,
    brute_force_legal_actions,
    column_cells,
    decode,
    encode,
    orientations,
    placements_on_board,
    row_cells,
)
from tests.oracles.shared import first_word, mix
from tests.support.unchecked import unchecked

ALL_ABILITIES = list(ABILITIES)


# -- tools ---------------------------------------------------------------------------------------------------


class Played(Pair):
    """A position in both implementations; attributes are those of the reference."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reference, name)

    def step(self, action: int) -> None:
        super().step(action)
        self.compare_search(brute_force_legal_actions(self.reference))

    def clone(self) -> Played:
        return Played(self.game.clone(), self.reference.clone(), self.seen, self.origin)


def game_at(*seats: Position, **other: Any) -> Played:
    written = position(*seats, **other)
    game = Played(unchecked(written), ReferenceGame.from_dict(written), Counter(), json.dumps(written))
    assert game.to_dict() == written
    game.compare_search(brute_force_legal_actions(game.reference))
    return game


def legal(game: Played | ReferenceGame, kind: str | None = None) -> set[Any]:
    """The legal actions as a set: all as (kind, argument), or the arguments of one kind; abilities by name."""
    found: set[Any] = set()
    for action in game.legal_actions():
        its_kind, argument = decode(action)
        found.add((its_kind, ABILITIES[argument] if its_kind in ("USE", "ABILITY") else argument))
    return found if kind is None else {argument for its_kind, argument in found if its_kind == kind}


def act(game: Played, kind: str, argument: int | str = 0) -> None:
    """Take an action; abilities by name."""
    game.step(encode(kind, ABILITIES.index(argument) if isinstance(argument, str) else argument))


def act_all(game: Played, *decisions: tuple[str, int | str]) -> None:
    for kind, argument in decisions:
        act(game, kind, argument)


def build(colour: int, size: int) -> int:
    return 4 * colour + size - 2


def place(orientation: int, x: int, y: int) -> int:
    return 45 * orientation + cell(x, y)


def rests(game: Played) -> dict[int, frozenset[int]]:
    """Where each legal PLACE puts the tile: cells by argument."""
    assert game.pending.tile is not None
    colour, size = game.pending.tile
    lies = {p.argument: p.cells for p in placements_on_board(BOX.drawings[colour][size - 2])}
    return {argument: lies[argument] for argument in legal(game, "PLACE")}


def layers(count: int) -> list[Position]:
    """Tiles that fill up to four of the lowest rows, three cells on the left and two on the right."""
    tiles = []
    for y in range(count):
        tiles.append(tile((GREEN, PURPLE)[y % 2], [cell(x, y) for x in (0, 1, 2)]))
        tiles.append(tile((BLUE, RED, YELLOW)[y % 3], [cell(x, y) for x in (3, 4)]))
    return tiles


def pending(game: Played) -> Position:
    found: Position = game.to_dict()["pending"]
    return found


def test_the_reference_knows_nothing_of_the_kernels() -> None:
    nodes = ast.walk(ast.parse(Path(copenhagen.__file__).read_text(encoding="utf-8")))
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    own = {module for module in modules if module.startswith("helsinki_env")}
    assert own == {"helsinki_env.games.copenhagen.components", "helsinki_env.games.copenhagen.config"}
    assert "numpy" not in modules


# -- decisions, drawings, chance -----------------------------------------------------------------------------


def test_decisions_are_numbered_in_the_stated_order() -> None:
    table = action_offsets()
    order = ["TAKE", "BUILD", "PLACE", "PAY", "DISCARD", "USE", "RECOLOUR", "WHITE", "ABILITY", "REACTIVATE", "END"]
    assert list(table) == order
    assert [size for _, size in table.values()] == [7, 20, 360, 5, 5, 5, 5, 45, 5, 1, 1]
    assert sum(SIZES_OF_KINDS.values()) == 459
    assert table["END"] == (458, 1)
    assert all(encode(*decode(action)) == action for action in range(459))
    for bad in (-1, 459):
        with pytest.raises(ValueError, match="no action id"):
            decode(bad)
    for kind, argument in (("TAKE", 7), ("END", 1), ("PAY", -1)):
        with pytest.raises(ValueError, match=f"{kind}: argument"):
            encode(kind, argument)
        with pytest.raises(ValueError, match=f"{kind} takes an argument from 0"):
            actions.encode(actions.KINDS.index(kind), argument)


def test_number_of_orientations() -> None:
    counts = {
        colour: [len(orientations(drawing)) for drawing in BOX.drawings[number]] for number, colour in enumerate(COLORS)
    }
    assert counts == {
        "blue": [4, 8, 8, 4],
        "green": [4, 4, 4, 4],
        "purple": [4, 4, 4, 4],
        "red": [4, 8, 4, 8],
        "yellow": [4, 8, 8, 8],
    }


def test_orientations_are_turned_clockwise_first_and_mirrored_then() -> None:
    drawn = ["..W/BWW", "B./W./WW", "WWB/W..", "WW/.W/.B", "W../WWB", "WW/W./B.", "BWW/..W", ".B/.W/WW"]
    assert ["/".join(rows) for rows in orientations(BOX.drawings[BLUE][2])] == drawn
    # The brick alone tells the two ends of a bar apart; its mirror image is one of the turned ones.
    assert ["/".join(rows) for rows in orientations(BOX.drawings[PURPLE][1])] == ["BWW", "B/W/W", "WWB", "W/W/B"]


@pytest.mark.parametrize(
    ("colour", "size", "argument", "cells", "brick"),
    [
        (BLUE, 3, place(0, 1, 2), {(1, 3), (2, 3), (1, 2)}, (1, 2)),  # WW/B.
        (BLUE, 4, place(0, 0, 0), {(0, 0), (1, 0), (2, 0), (2, 1)}, (0, 0)),  # ..W/BWW
        (BLUE, 4, place(2, 0, 0), {(0, 1), (1, 1), (2, 1), (0, 0)}, (2, 1)),  # WWB/W..
        (GREEN, 4, place(0, 1, 0), {(1, 1), (2, 1), (3, 1), (2, 0)}, (2, 0)),  # WWW/.B.: the corner is outside
        (PURPLE, 5, place(1, 4, 4), {(4, y) for y in range(4, 9)}, (4, 8)),  # B/W/W/W/W
    ],
)
def test_where_a_tile_lies(
    colour: int, size: int, argument: int, cells: set[tuple[int, int]], brick: tuple[int, int]
) -> None:
    (lies,) = (p for p in placements_on_board(BOX.drawings[colour][size - 2]) if p.argument == argument)
    assert lies.cells == {cell(x, y) for x, y in cells}
    assert lies.brick == cell(*brick)


@pytest.mark.parametrize("colour", range(5))
def test_every_orientation_is_placed_as_drawn(colour: int) -> None:
    for size in TILE_SIZES:
        for lies in placements_on_board(BOX.drawings[colour][size - 2]):
            if lies.argument % CELLS == 0:  # at the lower left corner
                game = CopenhagenGame.from_dict(position(seat([size * (c == colour) for c in range(5)])))
                game.step(encode("BUILD", build(colour, size)))
                game.step(encode("PLACE", lies.argument))
                assert game.to_dict()["seats"][0]["tiles"] == [tile(colour, lies.cells, lies.brick)]


def test_seed_stream_and_episode_each_change_the_game() -> None:
    words = {first_word(seed, stream, episode) for seed in (0, 1) for stream in (0, 1) for episode in (0, 1)}
    assert len(words) == 8
    assert first_word(-1) == first_word(2**64 - 1)
    assert ReferenceGame(seed=3).to_dict() == ReferenceGame(seed=3).to_dict()
    deals = [ReferenceGame(None, 3, stream, episode).to_dict() for stream in (0, 1) for episode in (0, 1)]
    assert all(one != other for i, one in enumerate(deals) for other in deals[:i])


# -- section 2: setup ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("players", "deck"), [(2, 70), (3, 60), (4, 70)])
def test_setup(players: int, deck: int) -> None:
    game = ReferenceGame(CopenhagenConfig(num_players=players), seed=4)
    assert (game.phase, game.seat, game.round, game.done) == ("MAIN", 0, 1, False)
    dealt = [2, 3, 3, 4][:players]
    assert [sum(one.hand) for one in game.seats] == dealt
    assert not any(any(one.known) for one in game.seats)  # dealt, not taken from the display
    assert None not in game.display
    assert len([card for card in game.draw_pile if card != END_CARD]) == deck - 7 - sum(dealt)
    assert game.draw_pile.count(END_CARD) == (players == 2)
    assert [one.abilities for one in game.seats] == [{0}] * players
    assert [one.used for one in game.seats] == [set()] * players
    supply = {2: [2, 2, 2, 1], 3: [2, 3, 2, 1], 4: [3, 3, 3, 1]}[players]
    assert game.to_dict()["tile_supply"] == dict.fromkeys(COLORS, supply)
    assert (game.white_tiles, game.scores(), game.ranks()) == (12, [0] * players, [0] * players)
    assert legal(game, "TAKE") == {0, 1, 2, 3, 4, 5}


def test_the_deal_uses_chance_in_the_stated_order() -> None:
    word = first_word(11, 5)

    def below(n: int) -> int:
        nonlocal word
        word = (word + 0x9E3779B97F4A7C15) & (2**64 - 1)
        return ((mix(word) >> 32) * n) >> 32

    deck = [colour for colour in range(5) for _ in range(14)]
    for i in range(69, 0, -1):
        j = below(i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    beneath = below(10)
    drawn = deck[::-1]
    dealt = ReferenceGame(seed=11, stream=5).to_dict()
    assert dealt["display"] == drawn[:7]
    assert [one["hand"] for one in dealt["seats"]] == [
        [drawn[7:9].count(colour) for colour in range(5)],
        [drawn[9:12].count(colour) for colour in range(5)],
    ]
    pile = drawn[12:]
    assert dealt["draw_pile"] == [*pile[: len(pile) - beneath], END_CARD, *pile[len(pile) - beneath :]]
    assert dealt["chance"] == {"word": f"0x{word:016x}"}


def test_with_two_players_the_end_card_is_anywhere_among_the_last_ten() -> None:
    places = Counter(ReferenceGame(seed=seed).draw_pile.index(END_CARD) for seed in range(300))
    assert set(places) == set(range(10))  # the bottom of the pile is index 0
    assert max(places.values()) < 60


# -- section 3: taking ---------------------------------------------------------------------------------------


def test_two_adjacent_cards_are_taken_in_ascending_order() -> None:
    game = game_at(seat(abilities=["any_cards"], used=["any_cards"]))
    assert legal(game) == {("TAKE", slot) for slot in range(6)}
    act(game, "TAKE", 3)
    assert (game.phase, pending(game)) == ("TAKE", {"first": 3})
    assert legal(game) == {("TAKE", 4)}  # neither TAKE(2) nor, past the end, TAKE(0)
    coming = game.to_dict()["draw_pile"]
    act(game, "TAKE", 4)
    taken = hand_of(red=1, yellow=1)
    assert game.seats[0].hand == taken
    assert game.seats[0].known == taken  # all players saw them
    # END was the only decision left and took itself; the slots were refilled from the left.
    assert (game.seat, game.phase, game.round, pending(game)) == (1, "MAIN", 5, {})
    assert game.display == [0, 1, 2, *coming[:2], 0, 1]


def test_slots_stay_empty_until_the_end_of_the_turn() -> None:
    game = game_at(seat(abilities=["any_cards", "additional_card"]))
    act(game, "TAKE", 0)
    act(game, "TAKE", 1)
    assert (game.phase, game.display) == ("END", [None, None, 2, 3, 4, 0, 1])
    act(game, "END")
    assert None not in game.display
    assert (game.seat, game.seats[0].used) == (1, set())


def test_any_cards_only_for_slots_that_are_not_adjacent() -> None:
    game = game_at(seat())
    act(game, "TAKE", 2)
    assert legal(game) == {("TAKE", 3), ("USE", "any_cards")}
    act(game, "USE", "any_cards")
    assert game.seats[0].used == {0}
    assert pending(game) == {"first": 2, "using": [0]}
    assert legal(game) == {("TAKE", slot) for slot in (4, 5, 6)}  # not 3, and nothing below
    act(game, "TAKE", 6)
    assert game.seats[0].hand == hand_of(purple=1, green=1)
    assert (game.seat, pending(game)) == (1, {})
    assert game.seats[0].used == {0}  # until it is flipped back


@pytest.mark.parametrize(("first", "apart"), [(4, {6}), (5, set())])
def test_any_cards_at_the_end_of_the_row(first: int, apart: set[int]) -> None:
    game = game_at(seat())
    act(game, "TAKE", first)
    assert legal(game, "TAKE") == {first + 1}
    assert (("USE", "any_cards") in legal(game)) == bool(apart)
    if apart:
        act(game, "USE", "any_cards")
        assert legal(game) == {("TAKE", slot) for slot in apart}


def test_no_ability_without_owning_it_or_once_it_is_used() -> None:
    for used in ([], ALL_ABILITIES):
        abilities = ["any_cards"] if not used else ALL_ABILITIES
        game = game_at(seat(hand_of(blue=3), abilities=abilities, used=used or ["any_cards"]))
        act(game, "TAKE", 2)
        assert legal(game) == {("TAKE", 3)}
        act(game, "TAKE", 3)
        assert game.seat == 1


def test_additional_card_from_anywhere() -> None:
    game = game_at(seat(abilities=["any_cards", "additional_card"]))
    act(game, "TAKE", 2)
    assert legal(game) == {("TAKE", 3), ("USE", "any_cards")}  # not before two cards are taken
    act(game, "TAKE", 3)
    assert (game.phase, pending(game)) == ("END", {})
    assert legal(game) == {("END", 0), ("USE", "additional_card")}
    act(game, "USE", "additional_card")
    assert (game.phase, pending(game)) == ("TAKE", {"using": [1]})
    assert legal(game) == {("TAKE", slot) for slot in (0, 1, 4, 5, 6)}  # any_cards changes nothing here
    act(game, "TAKE", 0)
    assert sum(game.seats[0].hand) == 3
    assert (game.seat, game.seats[0].used) == (1, {1})


def test_any_cards_and_additional_card_in_one_turn() -> None:
    game = game_at(seat(abilities=["any_cards", "additional_card"]))
    act_all(game, ("TAKE", 0), ("USE", "any_cards"), ("TAKE", 4), ("USE", "additional_card"), ("TAKE", 1))
    assert game.seats[0].hand == hand_of(blue=1, green=1, yellow=1)
    assert game.seats[0].used == {0, 1}


def test_what_was_used_for_taking_is_over_with_the_card() -> None:
    game = game_at(seat(hand_of(green=1), abilities=["any_cards", "additional_card", "both_actions"]))
    act_all(game, ("TAKE", 0), ("USE", "any_cards"), ("TAKE", 2), ("USE", "additional_card"))
    assert pending(game) == {"using": [1]}
    act(game, "TAKE", 1)
    assert (game.phase, pending(game)) == ("END", {})
    assert legal(game) == {("END", 0), ("USE", "both_actions")}


def test_discards_in_non_decreasing_colour_order_down_to_seven() -> None:
    game = game_at(seat(hand_of(blue=1, green=3, red=3), known=hand_of(green=3, red=3)))
    act(game, "TAKE", 2)
    act(game, "TAKE", 3)  # purple and red: nine cards
    assert (game.phase, pending(game)) == ("DISCARD", {})
    assert legal(game) == {("DISCARD", colour) for colour in (BLUE, GREEN, PURPLE, RED)}
    act(game, "DISCARD", GREEN)
    assert pending(game) == {"last_discard": GREEN}
    assert legal(game) == {("DISCARD", colour) for colour in (GREEN, PURPLE, RED)}
    act(game, "DISCARD", PURPLE)
    assert game.seats[0].hand == hand_of(blue=1, green=2, red=4)
    assert game.seats[0].known == hand_of(green=2, red=4)
    assert game.discard == hand_of(green=1, purple=1)
    assert (game.seat, pending(game)) == (1, {})


def test_a_discard_must_leave_enough_cards_to_go_on_in_order() -> None:
    game = game_at(seat(hand_of(blue=6)), display=(0, 0, 4, 1, 1, 2, 3))
    act(game, "TAKE", 1)
    act(game, "TAKE", 2)  # seven blue and a yellow: one to discard
    assert legal(game, "DISCARD") == {BLUE, YELLOW}
    game = game_at(seat(hand_of(blue=7)), display=(0, 0, 4, 1, 1, 2, 3))
    act(game, "TAKE", 1)
    act(game, "TAKE", 2)  # eight blue and a yellow: two to discard, and yellow first would leave one too many
    assert legal(game, "DISCARD") == {BLUE}


def test_additional_card_before_any_discard_only() -> None:
    game = game_at(seat(hand_of(blue=7), abilities=["any_cards", "additional_card"]))
    act(game, "TAKE", 2)
    act(game, "TAKE", 3)
    assert ("USE", "additional_card") in legal(game)
    other = game.clone()
    act(game, "DISCARD", BLUE)
    assert legal(game) == {("DISCARD", colour) for colour in (BLUE, PURPLE, RED)}
    act(game, "DISCARD", BLUE)
    assert game.seat == 1  # not in END either: END alone was left
    act(other, "USE", "additional_card")
    act(other, "TAKE", 4)
    assert other.phase == "DISCARD"
    assert sum(other.seats[0].hand) == 10
    for _ in range(3):
        act(other, "DISCARD", BLUE)
    assert sum(other.seats[0].hand) == 7


def test_additional_card_that_makes_discards_necessary() -> None:
    game = game_at(seat(hand_of(blue=5), abilities=["any_cards", "additional_card"]))
    act(game, "TAKE", 2)
    act(game, "TAKE", 3)
    assert game.phase == "END"
    act(game, "USE", "additional_card")
    act(game, "TAKE", 1)
    assert (game.phase, legal(game)) == ("DISCARD", {("DISCARD", c) for c in (BLUE, GREEN, PURPLE, RED)})


# -- section 3: both actions ---------------------------------------------------------------------------------


def test_both_actions_take_first_and_build_then() -> None:
    game = game_at(seat(hand_of(red=1), abilities=["any_cards", "both_actions"]))
    assert legal(game, "BUILD") == set()
    act(game, "TAKE", 3)  # red
    assert ("USE", "both_actions") not in legal(game)
    act(game, "TAKE", 4)
    assert legal(game) == {("END", 0), ("USE", "both_actions")}
    act(game, "USE", "both_actions")
    assert (game.phase, pending(game)) == ("MAIN", {"using": [4]})
    assert legal(game) == {("BUILD", build(RED, 2))}  # no TAKE, no END
    act(game, "BUILD", build(RED, 2))
    assert pending(game) == {"using": [4], "tile": {"colour": "red", "size": 2}}
    coming = game.to_dict()["draw_pile"]
    act(game, "PLACE", place(0, 0, 0))
    assert (game.seat, pending(game)) == (1, {})  # END is not asked after a construction
    assert game.display == [0, 1, 2, *coming[:2], 0, 1]
    assert game.seats[0].hand == hand_of(yellow=1)


def test_both_actions_need_something_to_build() -> None:
    game = game_at(seat(hand_of(blue=1), abilities=["any_cards", "both_actions"]))
    act(game, "TAKE", 2)
    act(game, "TAKE", 3)  # three different cards
    assert game.seat == 1


def test_both_actions_after_discards_but_then_no_additional_card() -> None:
    game = game_at(seat(hand_of(red=6), abilities=["any_cards", "additional_card", "both_actions"]))
    act(game, "TAKE", 3)
    act(game, "TAKE", 4)
    assert legal(game) == {("DISCARD", RED), ("DISCARD", YELLOW), ("USE", "additional_card")}  # discard first
    act(game, "DISCARD", YELLOW)
    assert game.phase == "END"
    assert pending(game) == {"last_discard": YELLOW}
    assert legal(game) == {("END", 0), ("USE", "both_actions")}
    act(game, "USE", "both_actions")
    assert pending(game) == {"using": [4], "last_discard": YELLOW}
    assert legal(game) == {("BUILD", build(RED, size)) for size in TILE_SIZES}


# -- section 3: constructing, where and for how much -----------------------------------------------------------


def test_a_tile_costs_as_many_cards_of_its_colour_as_it_has_cells() -> None:
    game = game_at(seat(hand_of(blue=1, green=4, red=2), known=hand_of(green=3)))
    assert legal(game, "BUILD") == {build(GREEN, 2), build(GREEN, 3), build(GREEN, 4), build(RED, 2)}
    act(game, "BUILD", build(GREEN, 3))
    assert (game.phase, pending(game)) == ("PLACE", {"tile": {"colour": "green", "size": 3}})
    assert game.tile_supply[GREEN][1] == 2  # until it is paid for
    act(game, "PLACE", place(0, 1, 0))
    me = game.seats[0]
    assert (me.hand, me.known) == (hand_of(blue=1, green=1, red=2), hand_of())
    assert game.discard == hand_of(green=3)
    assert game.tile_supply[GREEN] == [2, 1, 2, 1]
    assert game.to_dict()["seats"][0]["tiles"] == [tile(GREEN, [cell(1, 0), cell(2, 0), cell(3, 0)])]
    assert (game.seat, game.phase) == (1, "MAIN")


def test_only_tiles_that_the_supply_has() -> None:
    supply = {colour: [2, 2, 2, 1] for colour in COLORS} | {"green": [0, 2, 0, 1]}
    assert legal(game_at(seat(hand_of(green=4)), tile_supply=supply), "BUILD") == {build(GREEN, 3)}


def test_a_tile_stands_on_the_ground_or_on_a_filled_cell() -> None:
    game = game_at(seat(hand_of(red=2), tiles=[tile(BLUE, [cell(0, 0), cell(0, 1)])], white=[cell(4, 0)]))
    act(game, "BUILD", build(RED, 2))
    # BW, B/W, WB, W/B: lying on the ground, standing on it, and on top of what is there.
    lying = {frozenset({cell(x, 0), cell(x + 1, 0)}) for x in (1, 2)}
    lying |= {frozenset({cell(0, 2), cell(1, 2)}), frozenset({cell(3, 1), cell(4, 1)})}  # one cell is enough
    standing = {frozenset({cell(x, 0), cell(x, 1)}) for x in (1, 2, 3)}
    standing |= {frozenset({cell(0, 2), cell(0, 3)}), frozenset({cell(4, 1), cell(4, 2)})}
    assert set(rests(game).values()) == lying | standing
    assert len(rests(game)) == 2 * len(lying | standing)  # the brick at either end


def test_a_tile_may_go_under_an_overhang() -> None:
    above = tile(BLUE, [cell(0, 0), cell(0, 1), cell(1, 1), cell(2, 1)], cell(2, 1))
    game = game_at(seat(hand_of(red=2), tiles=[above]))
    act(game, "BUILD", build(RED, 2))
    assert frozenset({cell(1, 0), cell(2, 0)}) in rests(game).values()
    low = [tile(BLUE, [cell(0, 0), cell(0, 1)]), tile(YELLOW, [cell(0, 2), cell(1, 2)])]
    game = game_at(seat(hand_of(red=2), tiles=low))
    act(game, "BUILD", build(RED, 2))
    assert frozenset({cell(1, 1), cell(2, 1)}) not in rests(game).values()  # no tile falls, none has support


def test_the_board_ends_at_the_top() -> None:
    pillar = [
        tile(colour, [cell(0, y), cell(0, y + 1)])
        for y, colour in zip((0, 2, 4, 6), (RED, RED, YELLOW, YELLOW), strict=True)
    ]
    game = game_at(seat(hand_of(purple=2), tiles=pillar))
    act(game, "BUILD", build(PURPLE, 2))
    high = {cells for cells in rests(game).values() if cell(0, 8) in cells}
    assert high == {frozenset({cell(0, 8), cell(1, 8)})}


def test_touching_the_own_colour_saves_one_card_once() -> None:
    tiles = [tile(GREEN, [cell(0, 0), cell(0, 1)]), tile(GREEN, [cell(3, y) for y in range(3)])]
    game = game_at(seat(hand_of(green=1), tiles=tiles))
    act(game, "BUILD", build(GREEN, 2))
    beside = {cell(1, 0), cell(1, 1), cell(0, 2), cell(3, 3), *(cell(x, y) for x in (2, 4) for y in range(3))}
    assert all(cells & beside for cells in rests(game).values())
    act(game, "PLACE", place(0, 1, 0))  # between the two: touches both
    assert game.seats[0].hand == hand_of()  # one card, not none


def test_touching_is_always_taken_and_other_placements_cost_more() -> None:
    game = game_at(seat(hand_of(green=2), tiles=[tile(GREEN, [cell(0, 0), cell(1, 0)])]))
    act(game, "BUILD", build(GREEN, 2))
    near, far = game.clone(), game.clone()
    act(near, "PLACE", place(0, 2, 0))
    assert near.seats[0].hand == hand_of(green=1)
    act(far, "PLACE", place(0, 3, 0))
    assert far.seats[0].hand == hand_of()


def test_neither_other_colours_nor_corners_nor_other_boards_nor_white_tiles_touch() -> None:
    tiles = [tile(BLUE, [cell(0, 0), cell(1, 0)])]
    other = seat(tiles=[tile(GREEN, [cell(0, 0), cell(1, 0)])])
    game = game_at(seat(hand_of(green=1), tiles=tiles, white=[cell(2, 0)]), other)
    assert legal(game, "BUILD") == set()
    walls = [cell(2, 0), cell(0, 1), cell(1, 1)]  # around the only green tile
    game = game_at(seat(hand_of(green=1), tiles=[tile(GREEN, [cell(0, 0), cell(1, 0)])], white=walls))
    assert legal(game, "BUILD") == set()
    pillar = [tile(GREEN, [cell(0, 0), cell(0, 1)]), tile(BLUE, [cell(1, 0), cell(2, 0)])]
    game = game_at(seat(hand_of(green=2), tiles=pillar))
    act(game, "BUILD", build(GREEN, 2))
    act(game, "PLACE", place(1, 2, 1))  # (2, 1) and (2, 2); (1, 1) is between
    assert game.seats[0].hand == hand_of()


def test_discount_lowers_the_cost_down_to_nothing() -> None:
    mine = seat(tiles=[tile(GREEN, [cell(0, 0), cell(1, 0)])], abilities=["any_cards", "construction_discount"])
    game = game_at(mine)
    assert legal(game, "BUILD") == {build(GREEN, 2)}
    act(game, "BUILD", build(GREEN, 2))
    assert legal(game) == {("USE", "construction_discount")}  # with an empty hand nothing can be placed yet
    act(game, "USE", "construction_discount")
    assert pending(game) == {"using": [2], "tile": {"colour": "green", "size": 2}}
    assert legal(game, "USE") == set()
    near = {cell(2, 0), cell(0, 1), cell(1, 1)}
    assert all(cells & near for cells in rests(game).values())
    act(game, "PLACE", place(0, 2, 0))
    assert game.discard == hand_of()
    assert (len(game.seats[0].tiles), game.seats[0].used, game.seat) == (2, {2}, 1)


def test_discount_is_for_one_tile_and_by_choice() -> None:
    game = game_at(seat(hand_of(red=3), abilities=["any_cards", "construction_discount"]))
    assert legal(game, "BUILD") == {build(RED, 2), build(RED, 3), build(RED, 4)}
    act(game, "BUILD", build(RED, 3))
    with_it = game.clone()
    act(game, "PLACE", place(0, 0, 0))
    assert (game.seats[0].hand, game.seats[0].used) == (hand_of(), set())
    act(with_it, "USE", "construction_discount")
    act(with_it, "PLACE", place(0, 0, 0))
    assert (with_it.seats[0].hand, with_it.seats[0].used) == (hand_of(red=1), {2})
    assert pending(with_it) == {}


# -- section 3: change of colours ----------------------------------------------------------------------------


def change(hand: Sequence[int], colour: int, size: int, *more: str, **other: Any) -> Played:
    abilities = ["any_cards", "change_of_colours", *more]
    game = game_at(seat(hand, abilities=abilities, **other))
    act(game, "BUILD", build(colour, size))
    return game


def test_change_of_colours_pays_with_one_other_colour_alone() -> None:
    game = change(hand_of(red=3), BLUE, 3, known=hand_of(red=1))
    assert legal(game) == {("USE", "change_of_colours")}
    act(game, "USE", "change_of_colours")
    assert (game.phase, game.seats[0].used) == ("RECOLOUR", {3})
    assert pending(game) == {"using": [3], "tile": {"colour": "blue", "size": 3}}
    assert legal(game) == {("RECOLOUR", RED)}
    act(game, "RECOLOUR", RED)
    assert game.phase == "PLACE"
    assert legal(game, "USE") == set()
    act(game, "PLACE", place(0, 0, 0))
    assert (game.phase, game.tile_supply[BLUE][1], game.seats[0].tiles) == ("PAY", 2, [])
    told = {"using": [3], "tile": {"colour": "blue", "size": 3}, "recolour": RED, "place": 0}
    assert pending(game) == {**told, "due": 3}
    assert legal(game) == {("PAY", RED)}
    act(game, "PAY", RED)
    assert pending(game) == {**told, "due": 2, "paid": hand_of(red=1)}
    assert (game.discard, game.seats[0].known) == (hand_of(red=1), hand_of())  # at once
    act(game, "PAY", RED)
    act(game, "PAY", RED)
    assert (game.seat, pending(game), game.discard) == (1, {}, hand_of(red=3))
    assert game.to_dict()["seats"][0]["tiles"] == [tile(BLUE, [cell(0, 0), cell(0, 1), cell(1, 1)])]


def test_change_of_colours_pays_with_two_colours_in_order() -> None:
    game = change(hand_of(blue=2, red=2), BLUE, 3)
    act(game, "USE", "change_of_colours")
    act(game, "RECOLOUR", RED)
    act(game, "PLACE", place(0, 0, 0))
    assert legal(game, "PAY") == {BLUE}  # red first would leave two to pay and one red: blue cannot follow
    act(game, "PAY", BLUE)
    assert legal(game, "PAY") == {BLUE, RED}
    act(game, "PAY", RED)
    assert legal(game, "PAY") == {RED}  # in non-decreasing order
    act(game, "PAY", RED)
    assert game.seats[0].hand == hand_of(blue=1)


def test_change_of_colours_needs_one_card_of_the_other_colour() -> None:
    game = change(hand_of(blue=3, red=1), BLUE, 3)
    act(game, "USE", "change_of_colours")
    act(game, "RECOLOUR", RED)
    act(game, "PLACE", place(0, 0, 0))
    act(game, "PAY", BLUE)
    act(game, "PAY", BLUE)
    assert legal(game, "PAY") == {RED}  # a third blue card would waste the change
    # The other way round, the colour changed comes first in the order and has to be paid first.
    game = change(hand_of(red=1, yellow=3), YELLOW, 3)
    act(game, "USE", "change_of_colours")
    act(game, "RECOLOUR", RED)
    act(game, "PLACE", place(0, 0, 0))
    assert legal(game, "PAY") == {RED}
    act(game, "PAY", RED)
    assert legal(game, "PAY") == {YELLOW}


def test_change_of_colours_without_another_colour_is_a_waste() -> None:
    assert legal(change(hand_of(blue=5), BLUE, 3), "USE") == set()
    game = change(hand_of(blue=5, green=1, red=1), BLUE, 3)
    act(game, "USE", "change_of_colours")
    assert legal(game) == {("RECOLOUR", GREEN), ("RECOLOUR", RED)}  # not the tile's own


def test_recolour_only_what_can_pay() -> None:
    game = change(hand_of(blue=1, green=1, red=2), BLUE, 3)
    act(game, "USE", "change_of_colours")
    assert legal(game) == {("RECOLOUR", RED)}  # with a green card there would be two of three


def test_feasible_with_both_abilities_together() -> None:
    game = change(hand_of(blue=1, red=2), BLUE, 4, "construction_discount")
    assert legal(game) == {("USE", "construction_discount"), ("USE", "change_of_colours")}  # in any order
    act(game, "USE", "change_of_colours")
    act(game, "RECOLOUR", RED)
    assert legal(game) == {("USE", "construction_discount")}  # three cards for four cells
    act(game, "USE", "construction_discount")
    assert pending(game)["using"] == [2, 3]
    act(game, "PLACE", place(0, 0, 0))
    assert pending(game)["due"] == 3
    other = change(hand_of(blue=1, red=2), BLUE, 4, "construction_discount")
    act(other, "USE", "construction_discount")
    assert legal(other) == {("USE", "change_of_colours")}
    act(other, "USE", "change_of_colours")
    act(other, "RECOLOUR", RED)
    assert pending(other)["using"] == [2, 3]
    assert legal(other, "PLACE")


def test_after_a_change_of_colours_the_cost_is_at_least_one() -> None:
    own = [tile(GREEN, [cell(0, 0), cell(1, 0)])]
    game = change(hand_of(red=1), GREEN, 2, "construction_discount", tiles=own)
    act(game, "USE", "change_of_colours")
    act(game, "RECOLOUR", RED)
    near = {cell(2, 0), cell(0, 1), cell(1, 1)}
    assert all(cells & near for cells in rests(game).values())  # one card for two cells that touch
    assert ("USE", "construction_discount") in legal(game)  # there are places at a distance
    act(game, "USE", "construction_discount")
    assert rests(game)
    assert not any(cells & near for cells in rests(game).values())  # a tile for nothing would waste the change


def test_no_discount_that_makes_every_placement_free_after_a_change_of_colours() -> None:
    # All is filled but two cells at the top right, next to a blue tile.
    colours = iter((BLUE, BLUE, *(colour for colour in (GREEN, PURPLE, RED, YELLOW) for _ in range(3))))
    tiles = [tile(next(colours), [cell(x, y), cell(x + 1, y)]) for y in range(7) for x in (0, 2)]
    tiles.append(tile(BLUE, [cell(2, 7), cell(3, 7), cell(2, 8)], cell(3, 7)))
    white = [*(cell(4, y) for y in range(8)), cell(0, 7), cell(1, 7), cell(0, 8), cell(1, 8)]
    abilities = ["any_cards", "change_of_colours", "construction_discount"]
    game = game_at(seat(hand_of(red=1), tiles, white, abilities), seat(), seat(), seat())
    act(game, "BUILD", build(BLUE, 2))
    assert legal(game) == {("USE", "construction_discount"), ("USE", "change_of_colours")}
    free = game.clone()
    act(game, "USE", "change_of_colours")
    act(game, "RECOLOUR", RED)
    there = {("PLACE", place(0, 3, 8)), ("PLACE", place(2, 3, 8))}
    assert legal(game) == there
    act(free, "USE", "construction_discount")
    assert legal(free) == there  # free, and no card to change


# -- section 3: lines ----------------------------------------------------------------------------------------


def lay(game: Played, colour: int, size: int, argument: int) -> Played:
    act(game, "BUILD", build(colour, size))
    act(game, "PLACE", argument)
    return game


@pytest.mark.parametrize("brick", [cell(1, 0), cell(0, 1)])
def test_a_row_with_a_brick(brick: int) -> None:
    # The blue tile has its brick in the row or above it; the red tile has its brick in the row.
    tiles = [tile(BLUE, [cell(0, 0), cell(1, 0), cell(0, 1)], brick)]
    game = lay(game_at(seat(hand_of(red=2), tiles=tiles, white=[cell(2, 0)])), RED, 2, place(0, 3, 0))
    assert game.scores() == [1, 0]
    assert game.ranks() == [0, 1]


def test_a_row_of_windows_only() -> None:
    tiles = [tile(BLUE, [cell(0, 0), cell(1, 0), cell(0, 1)], cell(0, 1))]
    game = game_at(seat(hand_of(red=2), tiles=tiles, white=[cell(2, 0), cell(3, 0)]))
    lay(game, RED, 2, place(1, 4, 0))  # B over W: the brick is in the row above
    assert game.scores() == [2, 0]


def test_a_column_with_a_brick() -> None:
    bars = [tile(PURPLE, [cell(1, y) for y in range(4)]), tile(GREEN, [cell(1, y) for y in (4, 5, 6)])]
    game = lay(game_at(seat(hand_of(red=2), tiles=bars)), RED, 2, place(1, 1, 7))
    assert game.scores() == [2, 0]


@pytest.mark.parametrize(
    ("argument", "points"),
    [
        (place(0, 0, 8), 4),  # BW: the window is in column 1
        (place(2, 1, 8), 4),  # WB: again
        (place(0, 1, 8), 2),  # BW: the brick
    ],
)
def test_a_column_of_windows_only_is_worth_four(argument: int, points: int) -> None:
    bricks_left = [
        tile(colour, [cell(0, y), cell(1, y), cell(1, y + 1)], cell(0, y))
        for y, colour in ((0, BLUE), (2, RED), (4, YELLOW))
    ]
    white = [cell(1, 6), cell(1, 7)]  # a white tile shows a window
    game = game_at(seat(hand_of(red=2), tiles=bricks_left, white=white))
    assert lay(game, RED, 2, argument).scores() == [points, 0]


def test_all_lines_of_one_tile_are_scored() -> None:
    # Rows 0, 1 and 2 lack their last cell; a standing tile of three completes all of them.
    tiles = [tile(PURPLE, [cell(x, y) for x in range(4)]) for y in (0, 1)]
    tiles += [tile(YELLOW, [cell(x, 2), cell(x + 1, 2)]) for x in (0, 2)]
    game = game_at(seat(hand_of(green=3), tiles=tiles))
    act(game, "BUILD", build(GREEN, 3))
    act(game, "PLACE", place(1, 4, 0))
    assert game.scores() == [3, 0]
    assert (game.phase, game.pending.rewards) == ("COAT", 1)  # row 1 has a coat of arms; (2, 2) was covered before


# -- section 3: coats of arms --------------------------------------------------------------------------------


def covering(**other: Any) -> Played:
    """A red tile has just covered (2, 2), on a column of two; nothing else is on the board."""
    given = {key: other.pop(key) for key in ("abilities", "used", "white") if key in other}
    mine = seat(hand_of(red=2), tiles=[tile(BLUE, [cell(2, 0), cell(2, 1)])], **given)
    game = game_at(mine, **other)
    return lay(game, RED, 2, place(0, 2, 2))


def test_a_coat_newly_covered_is_a_reward() -> None:
    game = covering()
    assert (game.phase, game.seat, pending(game)) == ("COAT", 0, {"rewards": 1})
    ground = {cell(x, 0) for x in (0, 1, 3, 4)}
    assert legal(game, "WHITE") == ground | {cell(2, 3), cell(3, 3)}  # not (3, 1): nothing is below it
    assert legal(game, "ABILITY") == set(ABILITIES[1:])
    assert legal(game, "REACTIVATE") == set()
    act(game, "ABILITY", "both_actions")
    assert (game.seats[0].abilities, game.seats[0].used) == ({0, 4}, set())  # active
    assert (game.seat, pending(game)) == (1, {})


def test_an_ability_that_is_owned_cannot_be_taken_again_even_if_used() -> None:
    game = covering(abilities=["any_cards", "both_actions", "additional_card"], used=["both_actions", "any_cards"])
    assert legal(game, "ABILITY") == {"construction_discount", "change_of_colours"}
    act(game, "REACTIVATE")
    assert (game.seats[0].abilities, game.seats[0].used) == ({0, 1, 4}, set())  # all of them


def test_denied_abilities_cannot_be_taken() -> None:
    game = covering(denied=[[1, 4], [2]])
    assert legal(game, "ABILITY") == {"construction_discount", "change_of_colours"}
    assert list(game.to_dict())[3:6] == ["players", "denied", "phase"]


def test_a_white_tile_has_no_colour_and_leaves_the_supply() -> None:
    game = covering()
    act(game, "WHITE", cell(3, 3))
    assert game.white_tiles == 11
    assert game.to_dict()["seats"][0]["white"] == [cell(3, 3)]
    assert (game.seat, pending(game)) == (1, {})


def test_no_white_tile_when_none_is_left() -> None:
    assert legal(covering(white_tiles=0), "WHITE") == set()


def test_a_reward_without_a_choice_is_skipped() -> None:
    game = covering(abilities=ALL_ABILITIES, white_tiles=0)
    assert (game.seat, game.phase, pending(game)) == (1, "MAIN", {})


def two_rewards(**other: Any) -> Played:
    """A purple bar on column 2 has just covered (2, 2) and closed row 1."""
    given = {key: other.pop(key) for key in ("abilities", "used", "white", "points") if key in other}
    tiles = [tile(RED, [cell(x, 0), cell(x + 1, 0), cell(x, 1), cell(x + 1, 1)]) for x in (0, 3)]
    mine = seat(hand_of(purple=3), tiles=tiles, **given)
    game = game_at(mine, **other)
    return lay(game, PURPLE, 3, place(1, 2, 0))  # (2, 0), (2, 1), (2, 2): rows 0 and 1 are full


def test_coats_beside_two_rows_are_two_rewards() -> None:
    tiles = [*layers(1), *(tile(PURPLE, [cell(x, y) for x in range(4)]) for y in (1, 2))]
    tiles += [tile(YELLOW, [cell(x, 3), cell(x + 1, 3)]) for x in (0, 2)]
    game = lay(game_at(seat(hand_of(green=3), tiles=tiles)), GREEN, 3, place(1, 4, 1))  # rows 1 and 3 have one
    assert (game.scores(), pending(game)) == ([3, 0], {"rewards": 2})


def test_nothing_of_the_payment_is_left_when_a_coat_is_decided() -> None:
    tiles = [tile(BLUE, [cell(2, 0), cell(2, 1)])]
    abilities = ["any_cards", "change_of_colours", "construction_discount"]
    game = game_at(seat(hand_of(red=1, yellow=1), tiles=tiles, abilities=abilities))
    act_all(game, ("BUILD", build(RED, 3)), ("USE", "construction_discount"), ("USE", "change_of_colours"))
    act_all(game, ("RECOLOUR", YELLOW), ("PLACE", place(0, 2, 2)), ("PAY", RED), ("PAY", YELLOW))
    assert (game.phase, pending(game)) == ("COAT", {"rewards": 1})


def test_two_rewards_are_taken_one_after_the_other() -> None:
    game = two_rewards()
    assert game.scores() == [3, 0]  # row 0 has bricks, row 1 windows only
    assert (game.phase, pending(game)) == ("COAT", {"rewards": 2})
    act(game, "ABILITY", "change_of_colours")
    assert pending(game) == {"rewards": 1}
    assert "change_of_colours" not in legal(game, "ABILITY")
    act(game, "WHITE", cell(4, 2))
    assert game.seat == 1


def test_the_second_reward_may_have_no_choice() -> None:
    game = two_rewards(abilities=ALL_ABILITIES[:4], white_tiles=0)
    assert legal(game) == {("ABILITY", "both_actions")}
    act(game, "ABILITY", "both_actions")
    assert (game.seat, pending(game)) == (1, {})
    game = two_rewards(abilities=ALL_ABILITIES, used=["any_cards"], white_tiles=0)
    assert legal(game) == {("REACTIVATE", 0)}
    act(game, "REACTIVATE")
    assert (game.seat, game.seats[0].used) == (1, set())


def test_a_white_tile_scores_and_makes_rewards() -> None:
    # Row 3 lacks (4, 3), below the coat of arms of (4, 4).
    tiles = [*layers(3), tile(PURPLE, [cell(x, 3) for x in range(4)])]
    game = game_at(seat(tiles=tiles), phase="COAT", pending={"rewards": 1})
    act(game, "WHITE", cell(4, 3))
    assert game.scores() == [1, 0]
    assert pending(game) == {"rewards": 1}  # one taken, one made: row 3 has a coat of arms
    act(game, "WHITE", cell(4, 4))
    assert pending(game) == {"rewards": 1}  # (4, 4) has one too
    act(game, "WHITE", cell(4, 5))
    assert (game.seat, game.white_tiles) == (1, 9)


def test_both_actions_may_be_flipped_back_by_its_own_turn() -> None:
    tiles = [tile(BLUE, [cell(2, 0), cell(2, 1)])]
    game = game_at(seat(hand_of(red=1), tiles=tiles, abilities=["any_cards", "both_actions"]))
    act_all(game, ("TAKE", 3), ("TAKE", 4), ("USE", "both_actions"))
    lay(game, RED, 2, place(0, 2, 2))
    assert pending(game) == {"using": [4], "rewards": 1}
    act(game, "REACTIVATE")
    assert (game.seats[0].used, game.seat) == (set(), 1)
    assert None not in game.display


# -- sections 3 and 4: the end -------------------------------------------------------------------------------


def test_twelve_points_end_the_game_before_any_coat() -> None:
    game = two_rewards(points=9)
    assert game.done
    assert (game.phase, game.seat, game.round, pending(game)) == ("END", 0, 5, {})
    assert (game.scores(), game.ranks()) == ([12, 0], [0, 1])
    assert game.legal_actions() == []
    with pytest.raises(ValueError, match="the game is over"):
        game.step(encode("END"))
    assert ReferenceGame.from_dict(game.to_dict()).to_dict() == game.to_dict()


def test_twelve_points_by_a_white_tile_let_other_rewards_lapse() -> None:
    game = two_rewards(points=8)
    assert game.scores() == [11, 0]
    one = game.to_dict()["seats"][0] | {"white": [cell(x, 2) for x in (0, 1, 3)]}
    game = game_at(one, phase="COAT", pending={"rewards": 2})
    act(game, "WHITE", cell(4, 2))
    assert game.done
    assert (game.scores(), game.ranks()) == ([12, 0], [0, 1])
    assert pending(game) == {}


def test_nothing_is_refilled_after_twelve_points() -> None:
    tiles = [tile(PURPLE, [cell(x, 0) for x in (0, 1, 2)])]
    game = game_at(seat(hand_of(red=1), tiles=tiles, points=11, abilities=["any_cards", "both_actions"]))
    act_all(game, ("TAKE", 3), ("TAKE", 4), ("USE", "both_actions"))
    lay(game, RED, 2, place(0, 3, 0))
    assert game.done
    assert game.display == [0, 1, 2, None, None, 0, 1]
    assert END_CARD in game.draw_pile


@pytest.mark.parametrize(
    ("slot", "pile", "display"),
    [
        (1, [5, 2, 2], [0, None, None, 3, 4, 0, 1]),
        (1, [4, 5, 2], [0, 4, None, 3, 4, 0, 1]),
        (0, [5, 2, 2], [None, None, 2, 3, 4, 0, 1]),
    ],
)
def test_the_end_card_ends_the_game_at_once(slot: int, pile: list[int], display: list[int | None]) -> None:
    game = game_at(seat(hand_of(blue=2)), seat(), to_move=1, draw_pile=pile)
    act(game, "TAKE", slot)
    act(game, "TAKE", slot + 1)
    assert game.done
    assert (game.phase, game.seat, game.round, pending(game)) == ("END", 1, 5, {})
    assert game.display == display
    assert game.draw_pile == [2] * (pile.count(2))
    assert game.ranks() == [0, 0]


def test_an_end_card_that_is_not_reached_ends_nothing() -> None:
    game = game_at(seat(), seat(), to_move=1, draw_pile=[4, 3, 5])
    act(game, "TAKE", 1)
    act(game, "TAKE", 2)
    assert not game.done
    assert (game.display, game.seat, game.round) == ([0, 4, 3, 3, 4, 0, 1], 0, 6)


@pytest.mark.parametrize("players", [3, 4])
def test_three_and_four_players_reshuffle_only_when_a_card_is_needed(players: int) -> None:
    seats = [seat() for _ in range(players)]
    discarded = hand_of(blue=6, red=9)
    game = game_at(*seats, draw_pile=[1, 2], discard_pile=discarded)
    act(game, "TAKE", 5)
    act(game, "TAKE", 6)
    assert (game.draw_pile, game.discard, game.display[5:]) == ([], discarded, [1, 2])  # empty, and not shuffled yet
    assert game.to_dict(0)["end_card"] is False
    assert "reshuffled" not in game.to_dict(0)
    act(game, "TAKE", 0)
    act(game, "TAKE", 1)
    assert game.discard == hand_of()
    assert END_CARD in game.draw_pile[:10]  # among the last ten; the bottom is index 0
    assert sorted([*game.draw_pile, *(card for card in game.display[:2] if card is not None)]) == sorted(
        [BLUE] * 6 + [RED] * 9 + [END_CARD]
    )
    copy = game.to_dict(1)
    assert copy["end_card"] is True
    assert copy["reshuffled"] == [game.draw_pile.count(colour) for colour in range(5)]
    assert copy["draw_pile"] == 14


def test_a_reshuffle_in_the_middle_of_a_refill_uses_chance_as_stated() -> None:
    game = game_at(*[seat() for _ in range(3)], draw_pile=[4], discard_pile=hand_of(green=2, yellow=1))
    word = 0x0123456789ABCDEF

    def below(n: int) -> int:
        nonlocal word
        word = (word + 0x9E3779B97F4A7C15) & (2**64 - 1)
        return ((mix(word) >> 32) * n) >> 32

    pile = [1, 1, 4]
    for i in (2, 1):
        j = below(i + 1)
        pile[i], pile[j] = pile[j], pile[i]
    pile.insert(below(4), END_CARD)  # among all, for there are fewer than nine
    act(game, "TAKE", 0)
    act(game, "TAKE", 1)
    assert game.display[0] == 4
    assert game.to_dict()["chance"] == {"word": f"0x{word:016x}"}
    if pile[-1] == END_CARD:
        assert (game.done, game.display[1]) == (True, None)
    else:
        assert (game.display[1], game.draw_pile) == (pile[-1], pile[:-1])


def test_after_the_end_nobody_is_told_of_a_reshuffle_if_the_end_card_was_drawn() -> None:
    game = game_at(*[seat() for _ in range(3)], draw_pile=[1, 5, 2, 2])
    assert game.to_dict(0)["reshuffled"] == hand_of(green=1, purple=2)
    assert game.observation(0)[-5:] == hand_of(green=1, purple=2)
    act(game, "TAKE", 0)
    act(game, "TAKE", 1)
    assert game.done
    assert game.to_dict(0)["end_card"] is False
    assert "reshuffled" not in game.to_dict(0)
    assert game.observation(0)[-5:] == hand_of()
    tiles = [tile(PURPLE, [cell(x, 0) for x in (0, 1, 2)])]
    game = game_at(seat(hand_of(red=2), tiles=tiles, points=11), seat(), seat(), draw_pile=[1, 5, 2])
    lay(game, RED, 2, place(0, 3, 0))
    assert game.done  # by points: the pile is what it was
    assert game.to_dict(0)["reshuffled"] == hand_of(green=1, purple=1)
    assert game.observation(0)[-5:] == hand_of(green=1, purple=1)


def test_a_reshuffle_of_nothing_ends_the_game() -> None:
    game = game_at(*[seat() for _ in range(4)], draw_pile=[4])
    act(game, "TAKE", 0)
    act(game, "TAKE", 1)
    assert game.done
    assert game.display == [4, None, 2, 3, 4, 0, 1]
    assert game.draw_pile == []


def test_the_round_counts_turns_of_seat_0() -> None:
    game = game_at(*[seat() for _ in range(3)], round=3)
    seen = []
    for _ in range(7):
        seen.append((game.seat, game.round))
        act(game, "TAKE", 0)
        act(game, "TAKE", 1)
    assert seen == [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4), (0, 5)]


@pytest.mark.parametrize(
    ("boards", "places"),
    [
        ([(3, 2), (3, 2), (3, 2)], [0, 0, 0]),
        ([(3, 2), (1, 5), (3, 2)], [0, 2, 0]),
        ([(3, 2), (3, 3), (4, 0)], [2, 1, 0]),  # fewer empty cells break a tie
        ([(1, 2), (4, 0), (1, 2)], [1, 0, 1]),  # for other places, too
        ([(0, 3), (0, 1), (0, 2)], [0, 2, 1]),
    ],
)
def test_ties_are_broken_by_empty_cells_and_shared_then(boards: list[tuple[int, int]], places: list[int]) -> None:
    seats = [
        seat(points=points, white=[cell(x, 0) for x in range(min(white, 4))] + [cell(0, 1)] * (white > 4))
        for points, white in boards
    ]
    game = game_at(*seats)
    assert game.ranks() == places
    assert game.scores() == [points for points, _ in boards]


# -- sections 5 and 6: what is shown -------------------------------------------------------------------------


def test_a_position_is_read_back_and_has_its_keys_in_order() -> None:
    game = game_at(seat(hand_of(red=2)), seat(hand_of(blue=1), known=hand_of(blue=1)))
    assert list(game.to_dict()) == [
        *("game", "version", "components", "players", "phase", "to_move", "round", "done", "draw_pile"),
        *("discard_pile", "display", "tile_supply", "white_tiles", "seats", "pending", "chance"),
    ]
    copy = game.to_dict(0)
    assert list(copy) == [
        *("game", "version", "components", "players", "phase", "to_move", "round", "done", "draw_pile"),
        *("discard_pile", "end_card", "display", "tile_supply", "white_tiles", "seats", "pending"),
    ]
    assert copy["draw_pile"] == len(game.draw_pile)
    assert copy["end_card"] is True
    assert copy["seats"][0]["hand"] == hand_of(red=2)
    assert copy["seats"][1]["hand"] == {"size": 1, "known": hand_of(blue=1)}
    assert copy["seats"][1]["known"] == hand_of(blue=1)


def test_known_cards() -> None:
    game = game_at(seat(hand_of(red=3, blue=1), known=hand_of(red=1)))
    lay(game, RED, 2, place(0, 0, 0))
    assert game.seats[0].known == hand_of()  # two shown, one was known


def test_what_cannot_happen_is_refused() -> None:
    gap = position(display=(None, 1, 2, 3, 4, 0, 1))
    with pytest.raises(ValueError, match="display"):
        ReferenceGame.from_dict(gap)
    ReferenceGame.from_dict(gap | {"pending": {"using": [4]}})  # after both_actions
    with pytest.raises(ValueError, match="End of Game"):
        ReferenceGame.from_dict(position(draw_pile=[0, 1]))
    ReferenceGame.from_dict(position(seat(), seat(), seat()))


def test_the_observation_piece_by_piece() -> None:
    mine = seat(
        hand_of(blue=1, red=3),
        tiles=[tile(GREEN, [cell(2, 0), cell(2, 1)]), tile(PURPLE, [cell(2, 2), cell(3, 2), cell(4, 2)])],
        white=[cell(0, 0)],
        abilities=["any_cards", "change_of_colours", "construction_discount"],
        used=["any_cards"],
        known=hand_of(red=2),
        points=4,
    )
    other = seat(hand_of(yellow=5), known=hand_of(yellow=2), white=[cell(x, 1) for x in range(5)], points=1)
    game = game_at(mine, other, seat(), denied=[[], [4], []], discard=hand_of(green=3), draw_pile=[*range(5), END_CARD])
    act_all(game, ("BUILD", build(BLUE, 4)), ("USE", "change_of_colours"), ("RECOLOUR", RED))
    act_all(game, ("USE", "construction_discount"), ("PLACE", place(1, 0, 1)), ("PAY", BLUE))
    seen: list[int] = game.observation(1)
    assert len(seen) == 923
    assert all(0 <= number <= 127 for number in seen)

    def cut(count: int) -> list[int]:
        nonlocal seen
        piece, seen = seen[:count], seen[count:]
        return piece

    boards = [[cut(CELLS) for _ in range(4)] for _ in range(4)]  # the viewer, then seats 2 and 0, then nobody
    assert boards[3] == [[0] * CELLS] * 4
    tiles, number, brick, coat = boards[2]
    assert {c: tiles[c] for c in range(CELLS) if tiles[c]} == {
        cell(2, 0): 2,
        cell(2, 1): 2,
        cell(0, 0): 6,
        cell(2, 2): 3,
        cell(3, 2): 3,
        cell(4, 2): 3,
    }
    assert {c for c in range(CELLS) if number[c] == 2} == {cell(2, 2), cell(3, 2), cell(4, 2)}
    assert number[cell(0, 0)] == 0
    assert {c for c in range(CELLS) if brick[c]} == {cell(2, 0), cell(2, 2)}
    assert {c for c in range(CELLS) if coat[c]} == {cell(4, 4), cell(1, 6), cell(3, 8)}
    assert [sum(one[3]) for one in boards] == [4, 4, 3, 0]
    row_coats = [cut(9) for _ in range(4)]
    assert row_coats == [[0, 0, 0, 1, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0, 0], [0, 1, 0, 1, 0, 1, 0, 0, 0], [0] * 9]
    assert [cut(3) for _ in range(4)] == [[1, 5, 1], [1, 0, 0], [1, 3, 4], [0, 0, 0]]
    assert [cut(5) for _ in range(4)] == [[1, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 0, 1, 1, 0], [0] * 5]
    assert [cut(5) for _ in range(4)] == [[0] * 5, [0] * 5, [1, 0, 1, 1, 0], [0] * 5]
    assert [cut(5) for _ in range(4)] == [[0, 0, 0, 0, 1], [0] * 5, [0] * 5, [0] * 5]
    assert cut(8) == [int(phase == "PAY") for phase in PHASES]
    pile = len(game.draw_pile)
    assert cut(6) == [3, 1, 5, pile, 1, 6]
    assert cut(20) == [2, 3, 2, 1, 1, 3, 2, 1, 2, 2, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1]
    # Nothing taken; discount and change in use; blue 4; red; orientation 1 at (0, 1); two more to pay; no discard.
    assert cut(13) == [0, 0, 0, 1, 1, 0, 1, 4, RED + 1, 2, cell(0, 1) + 1, game.pending.due, 0]
    assert cut(5) == hand_of(blue=1)
    assert cut(1) == [0]
    assert cut(7) == [1, 2, 3, 4, 5, 1, 2]
    assert cut(5) == hand_of(yellow=5)
    assert [cut(5) for _ in range(4)] == [hand_of(yellow=2), hand_of(), hand_of(red=2), [0] * 5]
    assert cut(5) == hand_of(blue=1, green=3)
    assert cut(5) == [game.draw_pile.count(colour) for colour in range(5)]  # a pile with the End of Game card
    assert seen == []


def test_the_observation_hides_what_a_seat_may_not_see() -> None:
    written = position(seat(hand_of(red=2)), seat(hand_of(blue=2)))
    game = ReferenceGame.from_dict(written)
    other = ReferenceGame.from_dict(
        written | {"draw_pile": sorted(written["draw_pile"], reverse=True), "chance": {"word": "0x0000000000000007"}}
    )
    assert game.observation(0) == other.observation(0)
    assert game.to_dict(0) == other.to_dict(0)


# -- what must always hold -----------------------------------------------------------------------------------


def cards_of(game: ReferenceGame) -> list[int]:
    """How often each colour occurs in piles, display and hands."""
    counts = list(game.discard)
    for card in [*game.draw_pile, *game.display]:
        if card is not None and card != END_CARD:
            counts[card] += 1
    return [count + sum(one.hand[colour] for one in game.seats) for colour, count in enumerate(counts)]


def check(game: ReferenceGame) -> None:
    data, players = game.components, game.players
    assert cards_of(game) == [data.cards[players - 2]] * 5
    assert game.phase != "MAIN" or game.pending.using or None not in game.display
    assert game.done or players > 2 or game.draw_pile.index(END_CARD) <= 9
    assert game.white_tiles + sum(len(one.white) for one in game.seats) == data.white_tiles
    for colour in range(5):
        for size in TILE_SIZES:
            built = sum((t.colour, t.size) == (colour, size) for one in game.seats for t in one.tiles)
            assert game.tile_supply[colour][size - 2] + built == data.copies[players - 2][size - 2]
    for one, dealt in zip(game.seats, data.hands, strict=False):
        filled, bricks = one.filled(), one.bricks()
        activated = sum(c in filled for c in data.coats) + sum(row_cells(y) <= filled for y in data.coat_rows)
        assert len(one.white) + len(one.abilities) - 1 <= activated
        assert sum(one.hand) - sum(one.known) <= dealt  # all others were taken from the display
        assert len(filled) == sum(t.size for t in one.tiles) + len(one.white)
        assert one.used <= one.abilities
        assert all(known <= held for known, held in zip(one.known, one.hand, strict=True))
        rows = [2 - bool(bricks & row_cells(y)) for y in range(9) if row_cells(y) <= filled]
        columns = [4 - 2 * bool(bricks & column_cells(x)) for x in range(5) if column_cells(x) <= filled]
        assert one.points == sum(rows) + sum(columns)
    if game.phase == "MAIN":
        assert all(sum(one.hand) <= data.hand_limit for one in game.seats)
    assert bool(game.legal_actions()) != game.done
    if game.phase == "END" and not game.done:
        assert len(game.legal_actions()) > 1  # the environment takes END if it is the only legal action


@pytest.mark.parametrize("players", [2, 3, 4])
def test_random_games_keep_their_cards_and_tiles_and_their_masks_are_those_of_the_search(players: int) -> None:
    for seed in range(6):
        rng = random.Random(seed)
        game = ReferenceGame(CopenhagenConfig(num_players=players), seed=seed)
        choose = choose_rare if seed % 2 else choose_uniformly
        for count in range(100_000):
            check(game)
            if game.done:
                break
            if count % 8 == 0:
                assert brute_force_legal_actions(game) == game.legal_actions()
            game.step(choose(rng, game))
        assert game.done


@pytest.mark.parametrize("players", [2, 3, 4])
def test_built_positions_hold_together_and_their_masks_are_those_of_the_search(players: int) -> None:
    config = CopenhagenConfig(num_players=players, denied=[[1, 3]] + [[]] * (players - 1) if players == 3 else None)
    phases: Counter[str] = Counter()
    for number, written in enumerate(built_position(config, random.Random(f"built {n}")) for n in range(120)):
        game = ReferenceGame.from_dict(written, config)
        assert game.to_dict() == written
        assert ReferenceGame.from_dict(written).to_dict() == written
        check(game)
        phases[game.phase] += 1
        if number % 3 == 0:
            assert brute_force_legal_actions(game) == game.legal_actions()
    assert set(phases) == set(PHASES)
    assert min(phases.values()) >= 3, phases


def test_play_goes_on_from_built_positions_to_the_end() -> None:
    for number, written in enumerate(
        built_position(CopenhagenConfig(num_players=3), random.Random(f"onward {n}")) for n in range(12)
    ):
        rng = random.Random(number)
        game = ReferenceGame.from_dict(written)
        while not game.done:
            game.step(choose_rare(rng, game))
            check(game)


@pytest.mark.parametrize(
    ("players", "decisions", "games", "tolerance"),
    [
        (2, 106, 150, 5),
        (3, 150, 150, 5),
        (4, 170, 150, 5),
        pytest.param(2, 106, 1000, 2, marks=pytest.mark.nightly),
        pytest.param(3, 150, 1000, 2, marks=pytest.mark.nightly),
        pytest.param(4, 170, 1000, 2, marks=pytest.mark.nightly),
    ],
)
def test_random_games_are_as_long_as_on_another_implementation(
    players: int, decisions: int, games: int, tolerance: float
) -> None:
    """The mean of 150 games has a standard error of about one."""
    options, rounds, reshuffled = [], [], 0
    games = games if JIT else 3
    for seed in range(games):
        rng, game = np.random.default_rng(seed), CopenhagenGame(CopenhagenConfig(players), seed=seed, stream=players)
        again = False
        while not game.done:
            legal = game.legal_actions()
            options.append(len(legal))
            again = again or bool(players > 2 and game.state.end_card)
            game.step(int(rng.choice(legal)))
        assert max(game.scores()) < 12
        rounds.append(game.round)
        reshuffled += again
    if not JIT:
        return
    assert abs(len(options) / games - decisions) < tolerance
    assert 14 < np.mean(rounds) < 24
    assert 5.5 < np.mean(options) < 7
    assert max(options) <= 60
    assert (reshuffled == 0) if players == 2 else (reshuffled > 0.9 * games)

"""The drawings of Copenhagen: everything on the table, and nothing that may not be seen."""

import dataclasses
import random
import re
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from helsinki_env.games.copenhagen import render
from helsinki_env.games.copenhagen.ability_words import ABILITY_LABELS
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, load_components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.notation import action_to_string
from helsinki_env.games.copenhagen.render.view import TableView, read_table_view
from helsinki_env.games.copenhagen.state import PHASES
from tests.copenhagen.positions import (
    BLUE,
    GREEN,
    RED,
    Position,
    act,
    argument_of,
    build,
    built_position,
    game,
    position,
    rich,
    row,
    seat,
    tile,
)
from tests.support.pictures import draw_ansi, draw_svg, parts, words
from tests.support.unchecked import unchecked

BOX = load_components()


def view_of(drawn: Position) -> TableView:
    return read_table_view(unchecked(drawn))


def titles(svg: str) -> list[str]:
    """All words that are shown when a pointer rests on something."""
    return [element.text or "" for element in ET.fromstring(svg).iter() if element.tag.endswith("title")]


@cache
def in_phase(phase: str, players: int = 2) -> Position:
    """A position in a phase, with grown boards."""
    rng = random.Random(f"drawn {phase} {players}")
    while True:
        found = built_position(CopenhagenConfig(num_players=players), rng)
        if found["phase"] == phase and not found["done"]:
            return found


def a_rich(number: int, players: int) -> Position:
    return rich(random.Random(f"drawn {number}"), players)


# What is on the table


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("number", range(3))
def test_every_piece_on_a_board_is_drawn_once(players: int, number: int) -> None:
    drawn = a_rich(number, players)
    svg = draw_svg(drawn, BOX)
    for i, one in enumerate(drawn["seats"]):
        area = parts(svg, f"seat-{i}")
        filled = {cell for t in one["tiles"] for cell in t["cells"]} | set(one["white"])
        full = [y for y in range(9) if all(5 * y + x in filled for x in range(5))]
        assert area["board"] == 1
        assert area["tile"] == len(one["tiles"])
        assert area["white"] == len(one["white"])
        assert area["coat"] == sum(cell not in filled for cell in BOX.coats)
        assert area["row-coat"] == len(BOX.coat_rows)
        assert area["full-row"] == area["row-points"] == len(full)
        assert area["card"] == sum(one["hand"])
        assert area["known"] == sum(one["known"]) + (1 if any(one["known"]) else 0)  # and the eye in the title
        assert area["ability-active"] == len(one["abilities"]) - len(one["used"])
        assert area["ability-used"] == len(one["used"])
        assert area["ability-missing"] == len(ABILITIES) - len(one["abilities"])
        assert str(one["points"]) in words(svg, f"seat-{i}")
        assert f"Player {i}" in words(svg, f"seat-{i}")
        said = [tuple(t.rsplit(" ", 1)) for t in titles(svg) if re.fullmatch(r"\w+ [2-5]", t)]
        assert Counter(said) >= Counter((t["colour"], str(t["size"])) for t in one["tiles"])


def test_bricks_and_windows_are_where_the_tile_has_them() -> None:
    lying = [tile(BLUE, (0, 1), 1), tile(GREEN, (5, 6, 7), 5)]
    board = view_of(position(seat(tiles=lying))).seats[0]
    assert [(t.colour, t.cells, t.brick) for t in board.tiles] == [(BLUE, (0, 1), 1), (GREEN, (5, 6, 7), 5)]
    pictures = {draw_svg(position(seat(tiles=[tile(BLUE, (0, 1), brick)])), BOX) for brick in (0, 1)}
    assert len(pictures) == 2
    lines = draw_ansi(position(seat(tiles=lying, white=[8])), color=False).splitlines()
    assert "│ B□  B#│" in next(line for line in lines if line.startswith("   0"))
    assert "│ G#  G□  G□│ w□│" in next(line for line in lines if line[:4].endswith(" 1"))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_display_piles_and_supply_are_drawn(players: int) -> None:
    drawn = a_rich(7, players)
    svg = draw_svg(drawn)
    assert parts(svg)["slot"] == 7
    assert parts(svg)["kind"] == 20
    assert {"Draw pile", "Discard pile", "Supply", "Display"} <= set(words(svg))
    said = titles(svg)
    for name, counts in drawn["tile_supply"].items():
        for size, count in zip((2, 3, 4, 5), counts, strict=True):
            assert f"{name} tiles of size {size}: {count}" in said
    cards = len(drawn["draw_pile"])
    assert f"Draw pile: {cards} card{'s' * (cards != 1)}" in said
    cards = sum(drawn["discard_pile"])
    assert f"Discard pile: {cards} card{'s' * (cards != 1)}" in said
    assert f"White tiles: {drawn['white_tiles']}" in said
    chips = [f"{name[0].upper()} {count}" for name, count in zip(COLORS, drawn["discard_pile"], strict=True)]
    assert words(svg, "discards") == chips
    plain = draw_ansi(drawn, color=False)
    assert f"Draw pile {len(drawn['draw_pile'])}, " in plain
    assert f"white tiles     {drawn['white_tiles']}" in plain


def test_every_card_tells_its_colour_by_a_letter_too() -> None:
    svg = draw_svg(position(seat((1, 1, 1, 1, 1)), display=(0, 1, 2, 3, 4, None, None), phase="END"))
    for under in ("seat-0", ""):
        assert {"B", "G", "P", "R", "Y"} <= set(words(svg, under))
    assert titles(svg).count("green card") == 2


@pytest.mark.parametrize(
    ("players", "pile", "said"),
    [
        (2, [0, 1, 5], "End of Game card in the draw pile"),
        (3, [0, 1, 5], "End of Game card in the draw pile"),
        (3, [0, 1], "End of Game card not in the draw pile"),
    ],
)
def test_where_the_end_of_game_card_is(players: int, pile: list[int], said: str) -> None:
    drawn = position(*[seat()] * players, pile=pile)
    assert said in words(draw_svg(drawn))
    assert parts(draw_svg(drawn))["end-card"] == 1
    assert ("with the End" in draw_ansi(drawn, color=False)) == (5 in pile)


def test_what_a_reshuffled_pile_holds_is_shown_for_all_know_it() -> None:
    drawn = position(seat(), seat(), seat(), pile=[3, 3, 1, 5])
    assert words(draw_svg(drawn), "in-pile") == ["B 0", "G 1", "P 0", "R 2", "Y 0"]
    assert "in-pile" not in parts(draw_svg(position(pile=[3, 3, 1, 5])))  # two players: not made from discards
    assert "in-pile" not in parts(draw_svg(position(seat(), seat(), seat(), pile=[3, 3, 1])))
    assert " holding" in draw_ansi(drawn, color=False)


def test_abilities_are_named_and_say_how_they_stand() -> None:
    drawn = position(seat(abilities=(0, 1, 4), used=(1,)), denied=[[2], []])
    svg = draw_svg(drawn)
    area = parts(svg, "seat-0")
    found = [area[f"ability-{state}"] for state in ("active", "used", "missing", "denied")]
    assert found == [2, 1, 1, 1]
    for label in ABILITY_LABELS:
        assert " ".join(label) in words(svg)
    assert {"Construction discount: denied", "Additional card: used", "Change of colors: not owned"} <= set(titles(svg))
    plain = draw_ansi(drawn, color=False)
    for line in ("[+] Both actions: active", "[-] Additional card: used", "[x] Construction discount: denied"):
        assert line in plain


def test_full_lines_show_what_they_brought_windows_only_more() -> None:
    column = [tile(GREEN, (2, 7, 12), 2), tile(GREEN, (17, 22, 27), 17), tile(BLUE, (32, 37), 32)]
    windows = [tile(RED, (5 * y, 5 * y + 1), 5 * y + 1) for y in range(2)]
    drawn = position(seat(tiles=[*column, *windows], white=(3, 4, 8, 9, 42), points=5))
    one = view_of(drawn).seats[0]
    assert (one.rows, one.columns) == ({0: BOX.points_row, 1: BOX.points_row}, {2: BOX.points_column})
    white = position(seat(white=(0, 1, 2, 3, 4, 5, 10, 15, 20, 25, 30, 35, 40)), white_tiles=0)
    one = view_of(white).seats[0]
    assert (one.rows, one.columns) == ({0: BOX.points_row_windows}, {0: BOX.points_column_windows})
    area = parts(draw_svg(drawn), "seat-0")
    assert (area["full-row"], area["full-column"], area["row-points"], area["column-points"]) == (2, 1, 2, 1)
    assert titles(draw_svg(drawn)).count("Coat of arms, won") == 1  # next to row 1
    assert titles(draw_svg(white)).count("Full column: 4 points") == 1


# The decision in progress


@pytest.mark.thorough
@pytest.mark.parametrize("players", [2, 4])
@pytest.mark.parametrize("phase", PHASES)
def test_every_phase_is_drawn_in_words(phase: str, players: int) -> None:
    drawn = in_phase(phase, players)
    svg = draw_svg(drawn, last_decision="END")
    lines = words(svg)
    assert any(line.startswith(f"Player {drawn['to_move']} ") for line in lines)
    assert {phase, "END", "to move"} <= set(lines)
    plain = draw_ansi(drawn, color=False, last_decision="END")
    assert re.search(rf"^Player {drawn['to_move']} .* \({phase}\)", plain, re.MULTILINE)
    for viewer in range(players):
        draw_svg(drawn, viewer=viewer)
        draw_ansi(drawn, viewer=viewer)


@pytest.mark.parametrize(
    ("changes", "headline", "detail"),
    [
        ({}, "takes cards or constructs", "Any two cards, or a tile"),
        ({"used": [0]}, "takes cards or constructs", "Two cards next to each other, or a tile"),
        ({"pending": {"using": [4]}}, "constructs as well", "Both actions: cards were taken in this turn"),
        (
            {"phase": "TAKE", "pending": {"first": 2}},
            "takes the second card",
            "From slot 3, next to the first, or beyond it by Any cards",
        ),
        (
            {"phase": "TAKE", "pending": {"first": 2}, "used": [0]},
            "takes the second card",
            "From slot 3, next to the first",
        ),
        (
            {"phase": "TAKE", "pending": {"first": 2, "using": [0]}},
            "takes the second card",
            "From any slot beyond 3",
        ),
        ({"phase": "TAKE", "pending": {"using": [1]}}, "takes an additional card", "From any slot"),
        ({"phase": "DISCARD", "hand": [5, 4, 0, 0, 0]}, "discards", "2 more cards, down to 7"),
        (
            {"phase": "END", "abilities": [0, 1, 4]},
            "may end the turn",
            "Or goes on with an additional card or a construction (both actions)",
        ),
        (
            {"phase": "END", "abilities": [0, 1, 4], "pending": {"last_discard": 1}},
            "may end the turn",
            "Or goes on with a construction (both actions)",
        ),
        (
            {"phase": "PLACE", "pending": {"tile": {"colour": "red", "size": 4}}},
            "places red 4",
            "4 red cards, 1 less beside red",
        ),
        (
            {"phase": "PLACE", "pending": {"tile": {"colour": "red", "size": 2}, "using": [2, 3], "recolour": 0}},
            "places red 2",
            "1 red card, 1 less beside red, discount counted; blue counts as red",
        ),
        (
            {"phase": "RECOLOUR", "pending": {"tile": {"colour": "red", "size": 4}, "using": [3]}},
            "chooses a colour",
            "Its cards count as red for the tile red 4",
        ),
        (
            {
                "phase": "PAY",
                "pending": {
                    "tile": {"colour": "red", "size": 4},
                    "using": [3],
                    "recolour": 4,
                    "place": 0,
                    "due": 3,
                    "paid": [0, 0, 0, 1, 0],
                },
            },
            "pays for red 4",
            "3 more cards, red or yellow, at least one of them yellow",
        ),
        ({"phase": "COAT", "pending": {"rewards": 1}}, "takes a reward", "A white tile or a new ability"),
        (
            {"phase": "COAT", "pending": {"rewards": 3}, "used": [0], "white_tiles": 0},
            "takes a reward",
            "A new ability or used abilities flipped back; 2 more to come",
        ),
    ],
)
def test_the_decision_in_words(changes: dict[str, Any], headline: str, detail: str) -> None:
    own = {key: changes[key] for key in ("used", "hand", "abilities") if key in changes}
    drawn = position(seat(**own)) | {key: value for key, value in changes.items() if key not in own}
    assert tuple(view_of(drawn).decision) == ("Player 0", headline, detail)
    lines = words(draw_svg(drawn))
    assert f"Player 0 {headline}" in lines
    assert detail in lines
    assert f"Player 0 {headline} ({drawn['phase']}): {detail[0].lower()}{detail[1:]}" in draw_ansi(drawn, color=False)


def test_a_tile_that_is_being_paid_is_shown_where_it_will_lie() -> None:
    drawn = in_phase("PAY")
    svg = draw_svg(drawn)
    counted, pending = parts(svg), drawn["pending"]
    assert counted["planned"] == counted["building"] == counted["constructs"] == 1
    assert counted["using"] == len(pending["using"])
    assert len(ET.fromstring(svg).findall(".//*[@data-part='pending']//*[@data-part='card']")) == sum(
        pending.get("paid", [0])
    )
    planned = view_of(drawn).pending
    tiles = drawn["seats"][drawn["to_move"]]
    filled = {cell for t in tiles["tiles"] for cell in t["cells"]} | set(tiles["white"])
    assert len(planned.cells) == pending["tile"]["size"]
    assert planned.brick in planned.cells
    assert not filled & set(planned.cells)


def test_slots_that_the_next_card_may_come_from_are_marked() -> None:
    display = (0, 1, None, 3, 4, 0, 1)
    base: dict[str, Any] = {"display": display, "phase": "TAKE"}
    for pending, count in (({"first": 2}, 1), ({"first": 2, "using": [0]}, 3), ({"using": [1]}, 6)):
        assert parts(draw_svg(position(**base, pending=pending)))["near"] == count
    assert parts(draw_svg(position()))["near"] == 0


def test_coats_wait_to_be_rewarded() -> None:
    assert parts(draw_svg(position(phase="COAT", pending={"rewards": 4})))["reward"] == 4
    assert "Rewards pending: 4" in draw_ansi(position(phase="COAT", pending={"rewards": 4}), color=False)


# The last decision


def played() -> Iterator[tuple[str, CopenhagenGame]]:
    """Decisions of different kinds and the games after them."""
    table = game(seat((2, 2, 0, 0, 0), tiles=row(0), abilities=(0, 3)), seat((0, 3, 0, 0, 0)))
    table.step(act("TAKE", 3))
    yield "TAKE 3", table
    table.step(act("TAKE", 4))
    yield "TAKE 4", table
    build(table, GREEN, (0, 5, 10), 0)
    yield action_to_string(act("PLACE", argument_of(GREEN, (0, 5, 10), 0))), table


def test_a_card_that_was_taken_and_a_tile_that_was_placed_are_highlighted() -> None:
    for text, table in played():
        svg = render.svg(table, last_decision=text)
        assert parts(svg)["last"] == 1
        assert parts(render.svg(table))["last"] == 0
        assert text in words(svg)
        if text.startswith("PLACE"):
            assert parts(svg, "seat-1")["last"] == 1
            assert "*G#" in render.ansi(table, color=False, last_decision=text)
            assert parts(render.svg(table, last_decision="PLACE 0 at 3,3"))["last"] == 0
        else:
            assert f">{text[-1]}<" in render.ansi(table, color=False, last_decision=text)


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("WHITE 4,0", 1),
        ("WHITE 3,3", 0),
        ("ABILITY additional_card", 1),
        ("ABILITY both_actions", 0),
        ("USE any_cards", 1),
        ("REACTIVATE", 2),
        ("PAY blue", 1),
        ("BUILD blue 2", 0),
        ("END", 0),
        ("nothing that is a decision", 0),
    ],
)
def test_what_other_decisions_touched(text: str, marked: int) -> None:
    one = seat(tiles=row(0), white=(4,), abilities=(0, 1))
    drawn = position(seat(), one, to_move=0)  # seat 1 has had its turn
    svg = draw_svg(drawn, last_decision=text)
    assert parts(svg)["last"] == parts(svg, "seat-1")["last"] == marked
    assert text in words(svg)
    later = position(one, seat(), phase="COAT", pending={"rewards": 1})  # seat 0 is still at it
    assert parts(draw_svg(later, last_decision=text), "seat-0")["last"] == marked


# The end


def test_the_winner_is_shown() -> None:
    drawn = position(
        seat(points=3), seat(points=12), pile=[5], done=True, phase="END", to_move=1, display=(0, 1, 2, 3, 4, 0, None)
    )
    lines = words(draw_svg(drawn))
    assert {"Game over", "Player 1 wins the game", "12 points: the game ends with 12", "1st", "2nd"} <= set(lines)
    assert "to move" not in lines
    assert parts(draw_svg(drawn))["marked"] == 1
    plain = draw_ansi(drawn, color=False)
    assert "game over" in plain
    assert "Player 1 wins the game: 12 points" in plain


def test_a_tie_goes_to_the_fuller_board_and_may_be_shared() -> None:
    over: dict[str, Any] = {"done": True, "phase": "END", "pile": [], "display": (0, 1, 2, 3, 4, 0, None)}
    drawn = position(seat(points=1, tiles=row(0)), seat(points=1), **over)
    assert "1 point, and fewer empty cells than the others" in words(draw_svg(drawn))
    shared = position(seat(points=1), seat(), seat(points=1), **over)
    lines = words(draw_svg(shared))
    assert "Players 0 and 2 share the victory" in lines
    assert [line for line in lines if line in ("1st", "2nd", "3rd")] == ["1st", "3rd", "1st"]
    assert parts(draw_svg(shared))["marked"] == 2
    assert "Players 0 and 2 share the victory" in draw_ansi(shared, color=False)
    assert "The End of Game card came up" in lines


# What a seat may see


def test_hands_of_others_are_hidden_from_a_viewer() -> None:
    table = CopenhagenGame.from_dict(a_rich(3, 3))
    whole, drawn = table.to_dict(), read_table_view(table, 1)
    for i, (one, data) in enumerate(zip(drawn.seats, whole["seats"], strict=True)):
        shown = np.bincount(np.array([colour for colour, _ in one.faces], dtype=int), minlength=5).tolist()
        assert shown == (data["hand"] if i == 1 else data["known"])
        assert one.hand == sum(data["hand"])
    svg = render.svg(table, viewer=1)
    assert parts(svg)["back"] == sum(sum(o["hand"]) - sum(o["known"]) for i, o in enumerate(whole["seats"]) if i != 1)
    assert parts(svg, "seat-1")["back"] == 0


def test_what_is_hidden_changes_nothing_in_the_picture() -> None:
    """Exchange unknown cards of other hands with the draw pile."""
    one = position(seat((2, 0, 0, 0, 0)), seat((1, 0, 2, 0, 0), known=(0, 0, 1, 0, 0)), pile=[3, 4, 4, 0, 5])
    other = position(seat((2, 0, 0, 0, 0)), seat((0, 0, 1, 0, 2), known=(0, 0, 1, 0, 0)), pile=[4, 0, 0, 5, 3])
    other["discard_pile"] = one["discard_pile"]
    assert draw_svg(one, viewer=0) == draw_svg(other, viewer=0)
    assert draw_ansi(one, viewer=0) == draw_ansi(other, viewer=0)
    assert draw_svg(one, viewer=1) != draw_svg(other, viewer=1)
    assert draw_svg(one) != draw_svg(other)
    assert Counter(words(draw_svg(one, viewer=0), "seat-1"))["B"] == 0
    assert parts(draw_svg(one, viewer=0), "seat-1")["card"] == 1
    with pytest.raises(ValueError, match="viewer: found 2, expected None or a seat from 0 to 1"):
        draw_svg(one, viewer=2)


# The picture as such


def test_a_picture_says_in_words_what_it_shows() -> None:
    svg = draw_svg(position(seat((2, 0, 0, 1, 0), tiles=row(0), points=1), seat((1, 0, 0, 0, 0))), viewer=0)
    described = next(element.text for element in ET.fromstring(svg) if element.tag.endswith("desc"))
    assert described == (
        "2 players, round 5, phase MAIN. Player 0 takes cards or constructs: Any two cards, or a tile. "
        "Player 0: 1 point; blue 2, green 2; hand: 2 blue, 1 red. Player 1: 0 points; no tile; hand: 1 hidden."
    )


def test_another_component_file_is_drawn_by_its_own_facts() -> None:
    other = dataclasses.replace(BOX, coats=(0, 1), coat_rows=(8,), hand_limit=5, goal=20, points_row=3)
    svg = draw_svg(position(seat(tiles=row(0), white=(4,))), other)
    assert "points, 20 end the game; 40 cells empty" in words(svg)
    assert "Hand 0 of 5" in words(svg)
    assert "Full row: 3 points" in titles(svg)
    assert [parts(svg, f"seat-{i}")["coat"] for i in (0, 1)] == [0, 2]
    assert parts(svg, "seat-0")["row-coat"] == 1


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_end_is_shown(players: int) -> None:
    rng = np.random.default_rng(players)
    table = CopenhagenGame(CopenhagenConfig(num_players=players), seed=players)
    while not table.done:
        table.step(int(rng.choice(table.legal_actions())))
    view = read_table_view(table)
    assert list(view.places) == table.ranks().tolist()
    assert view.winners == tuple(np.flatnonzero(table.ranks() == 0))

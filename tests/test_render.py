"""The drawings of Helsinki: every piece once, and nothing that may not be seen."""

import dataclasses
import xml.etree.ElementTree as ET
from collections import Counter
from typing import Any

import numpy as np
import pytest

from helsinki_env.drawing import canvas
from helsinki_env.drawing.pieces import outline_path
from helsinki_env.games.helsinki import render
from helsinki_env.games.helsinki.components import load_components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.render.view import TableView, read_table_view
from tests.drawn_tables import table
from tests.support.pictures import draw_ansi, draw_svg, parts, words
from tests.support.unchecked import unchecked

COMPONENTS = load_components()
PURPLE_5 = 28  # a card of five cards to pay, four roofs and two superstructures

# one of every decision that can be in progress: phase, pending
DECISIONS: list[tuple[str, dict[str, Any]]] = [
    ("START", {}),
    ("MOVE", {}),
    ("MOVE", {"move": 6}),
    ("MAIN", {}),
    ("MAIN", {"drew": True, "only_build": True}),
    ("MAIN", {"built": True, "only_build": True}),
    ("PAY", {"card": PURPLE_5, "to_pay": 4}),
    ("PAY", {"card": PURPLE_5, "paid": [20, 21], "to_pay": 2}),
    ("PAY", {"card": PURPLE_5, "to_pay": 4, "substitute": True}),
    ("PLACE", {"card": PURPLE_5, "paid": [20, 20, 21, 50]}),
    ("PLACE", {"card": PURPLE_5, "paid": [20, 20, 21, 50], "any_side": True}),
    ("WILD", {"action": "two_wild_tiles", "wilds_left": 2, "resume": "MOVE"}),
    ("LIFT", {"action": "move_superstructure", "resume": "END", "built": True}),
    ("ROOF", {"action": "move_superstructure", "lifted": 3, "roofs_left": 1, "resume": "MAIN"}),
    ("ROOF", {"action": "extra_superstructure", "roofs_left": 1, "resume": "END", "built": True}),
    ("ROOF", {"roofs_left": 2, "last_roof": 10, "resume": "END", "built": True}),
    ("DISCARD", {"drew": True}),
    ("DISCARD", {"drew": True, "last_discard": 3, "turn_over": True}),
    ("END", {"drew": True}),
    ("END", {"built": True}),
]


def view_of(position: dict[str, Any], viewer: int | None = None) -> TableView:
    return read_table_view(unchecked(position), viewer)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("tiles", [0, 6, 16])
def test_every_piece_on_the_table_is_drawn_once(players: int, tiles: int) -> None:
    position = table(COMPONENTS, players, seed=players + tiles, tiles=tiles, greed=0.9)
    for seat in position["seats"]:
        area = parts(draw_svg(position, COMPONENTS), f"seat-{position['seats'].index(seat)}")
        assert area["board"] == 1
        assert area["pavilion"] == len(seat["pavilions"])
        assert area["wild"] == len(seat["wild"])
        assert area["superstructure"] == len(seat["superstructures"])
        assert area["coat"] == len(seat["coats_on_board"])
        assert area["meadow-coat"] == seat["meadow"]
        assert area["visitor"] == 0
    whole = parts(draw_svg(position, COMPONENTS))
    assert whole["used"] == sum(len(seat["used"]) for seat in position["seats"])
    assert whole["action"] == 15
    assert whole["space"] == 8


@pytest.mark.parametrize(("phase", "pending"), DECISIONS)
def test_every_decision_in_progress_is_drawn(phase: str, pending: dict[str, Any]) -> None:
    position = table(COMPONENTS, 2, tiles=5, phase=phase, pending=pending, to_move=1)
    if phase == "START":
        for seat in position["seats"]:
            seat["token"] = None
    svg = draw_svg(position, COMPONENTS, last_decision="DRAW")
    assert any(line.startswith("Player 1 ") for line in words(svg))
    assert "DRAW" in words(svg)
    assert "Player 1 " in draw_ansi(position, COMPONENTS, color=False)


def test_hands_of_others_are_hidden_from_a_viewer() -> None:
    position = table(COMPONENTS, 3, seed=4, tiles=5)
    drawn = view_of(position, 1)
    for seat, data in zip(drawn.seats, position["seats"], strict=True):
        shown = np.bincount(np.array(seat.faces, dtype=int), minlength=COMPONENTS.types).tolist()
        assert shown == (data["hand"] if seat.seat == 1 else data["known"])
        assert len(seat.faces) + seat.backs == sum(data["hand"])
    assert sum(seat.backs for seat in drawn.seats) > 0


def full_board(position: dict[str, Any], seat: int) -> None:
    """Fill two rows and two columns, with superstructures where 2, 1 and 0 full lines meet."""
    built = [cell for cell in range(49) if cell // 7 < 2 or cell % 7 < 2]
    position["seats"][seat] |= {
        "pavilions": [],
        "wild": [*built, 16],
        "superstructures": [0, 5, 16],
        "coats_on_board": [],
        "points": 7,
    }


def test_full_lines_and_the_score_the_board_would_give() -> None:
    position = table(COMPONENTS, 2, tiles=0)
    full_board(position, 1)
    seat = view_of(position).seats[1]
    assert (seat.full_rows, seat.full_columns) == ((0, 1), (0, 1))
    assert seat.roof_points == (3, 1, 0)
    assert (seat.board_points, seat.score) == (2 * 2 + 2 * 2 + 3 + 1, 19)
    area = parts(draw_svg(position, COMPONENTS), "seat-1")
    assert (area["full-row"], area["full-column"]) == (2, 2)
    assert "19" in words(draw_svg(position, COMPONENTS))


def test_when_the_game_is_over_the_winner_is_shown_and_a_tie_goes_to_the_later_seat() -> None:
    position = table(COMPONENTS, 3, tiles=0, done=True, phase="END", last_round=True)
    lines = words(draw_svg(position, COMPONENTS))
    assert "Player 2 wins the game" in lines
    assert "0 points: a tie goes to the later seat" in lines
    assert [line for line in lines if line in ("1st", "2nd", "3rd")] == ["3rd", "2nd", "1st"]


def test_dry_roads_shows_visitors_and_who_took_which_bonus_card() -> None:
    position = table(COMPONENTS, 4, tiles=4, dry_roads=True, bonus_cards=[3, 5, 7])
    position["seats"][2]["bonus"] = 9
    counted = parts(draw_svg(position, COMPONENTS))
    assert (counted["visitor"], counted["bonus"]) == (16, 4)
    assert "bonus cards 3, 5, 7" in draw_ansi(position, COMPONENTS, color=False)


def test_covered_and_denied_actions_are_marked() -> None:
    position = table(COMPONENTS, 2, tiles=0, covered=[10, 11, 12, 13, 14], denied=[[0], [1, 2]])
    svg = draw_svg(position, COMPONENTS)
    assert words(svg).count("covered") == 5
    assert parts(svg)["denied"] == 3
    plain = draw_ansi(position, COMPONENTS, color=False)
    assert plain.count("-- ") == 5


def test_tokens_may_share_a_space_and_the_cards_beside_the_active_one_are_marked() -> None:
    position = table(COMPONENTS, 4, tiles=3)
    for seat in position["seats"]:
        seat["token"] = 3
    svg = draw_svg(position, COMPONENTS)
    assert parts(svg)["near"] == 2
    senate = next(e for e in ET.fromstring(svg).iter() if e.get("data-part") == "senate")
    labels = Counter(e.get("aria-label") for e in senate.iter() if e.get("aria-label"))
    assert labels.keys() >= {"0", "1", "2", "3"}
    assert "3:[0123]" in draw_ansi(position, COMPONENTS, color=False)


def test_empty_slots_empty_piles_and_large_hands_are_drawn() -> None:
    position = table(COMPONENTS, 2, tiles=2, draw_pile=[], display=[None] * 8, last_round=True)
    position["discard_pile"] = [0] * COMPONENTS.types
    position["seats"][0]["hand"] = [1] * 18 + [0] * (COMPONENTS.types - 18)
    position["seats"][0]["known"] = [0] * COMPONENTS.types
    position["seats"][0]["limit_lifted"] = True
    svg = draw_svg(position, COMPONENTS)
    assert {"LAST ROUND", "Hand 18, limit lifted"} <= set(words(svg))
    assert "LAST ROUND" in draw_ansi(position, COMPONENTS, color=False)


@pytest.mark.parametrize("cards", [4, 5])
def test_a_thin_draw_pile_announces_the_last_round(cards: int) -> None:
    svg = draw_svg(table(COMPONENTS, 2, tiles=2, draw_pile=[0] * cards, last_round=False), COMPONENTS)
    assert ("MAY BE THE LAST ROUND" in words(svg)) == (cards == 4), "a round takes about two cards a player"


def test_rgb_array_has_pixels_of_many_colours() -> None:
    pytest.importorskip("resvg_py")
    svg = draw_svg(table(COMPONENTS, 2, tiles=6), COMPONENTS)
    pixels = render.rgb_array(svg, width=640)
    assert pixels.dtype == np.uint8
    assert pixels.ndim == 3
    assert pixels.shape[1:] == (640, 3)
    ratio = ET.fromstring(svg).get("viewBox", "").split()
    assert abs(pixels.shape[0] - 640 * float(ratio[3]) / float(ratio[2])) <= 1
    assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 500
    assert pixels.flags.writeable
    with pytest.raises(ValueError, match="width: found 0, expected a whole number"):
        render.rgb_array(svg, width=0)
    with pytest.raises(ValueError, match="svg_text: not an SVG document"):
        render.rgb_array("no picture")


def test_text_needs_no_font() -> None:
    pytest.importorskip("resvg_py")
    position = table(COMPONENTS, 2)
    lines = [render.rgb_array(draw_svg(position, COMPONENTS, last_decision=d)) for d in ("DRAW", "END")]
    assert lines[0].shape == lines[1].shape
    assert (lines[0] != lines[1]).any()


def test_walls_in_the_text_board_run_between_tiles() -> None:
    position = table(COMPONENTS, 2, tiles=0)
    position["seats"][0]["coats_on_board"] = []
    position["seats"][0]["pavilions"] = [
        {"colour": "blue", "roofs": 2, "cells": [0, 1]},
        {"colour": "blue", "roofs": 2, "cells": [7, 14]},
    ]
    lines = [line[:33] for line in draw_ansi(position, COMPONENTS, color=False).splitlines()]
    top = next(i for i, line in enumerate(lines) if "\u250c" in line)
    assert [line[2:11] for line in lines[top : top + 7]] == [
        "\u250c" + "\u2500" * 7 + "\u252c",
        "\u2502 B   B \u2502",
        "\u251c\u2500\u2500\u2500\u252c\u2500\u2500\u2500\u2518",
        "\u2502 B \u2502    ",
        "\u2502   \u2502   \u00b7",
        "\u2502 B \u2502    ",
        "\u251c\u2500\u2500\u2500\u2518   \u00b7",
    ]


def test_the_outline_of_a_tile_has_a_rounded_knee_at_every_corner() -> None:
    cross = [(0, 1), (1, 0), (1, 1), (1, 2), (2, 1)]
    assert outline_path(cross, 0, 0, 10, 1, 2).count("q") == 12
    square = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert outline_path(square, 0, 0, 10, 1, 2) == "M1 3q0-2 2-2h14q2 0 2 2v14q0 2-2 2h-14q-2 0-2-2z"


def test_letters() -> None:
    assert canvas.num(0.5) == ".5"
    assert canvas.num(-0.25) == "-.25"
    assert canvas.num(-0.001) == "0"
    assert canvas.num(123.456) == "123.5"
    assert canvas.outline("")[1] == 0
    assert canvas.outline("\u00e9") == canvas.outline("e")  # an accent is lost, the letter is not
    assert canvas.outline("\u6f22")[0].endswith("z")  # a box for what the font does not hold
    wide = canvas.text_width("superstructure", 20)
    assert canvas.fit_text("superstructure", 20, wide, 5) == ("superstructure", 20)
    assert canvas.fit_text("superstructure", 20, wide / 2, 5) == ("superstructure", 10)
    text, size = canvas.fit_text("superstructure", 20, wide / 2, 15)
    assert text.endswith("\u2026")
    assert canvas.text_width(text, size) <= wide / 2


def test_the_end_is_shown() -> None:
    rng, game = np.random.default_rng(3), HelsinkiGame(HelsinkiConfig(num_players=3, dry_roads=True), seed=3)
    while not game.done:
        game.step(int(rng.choice(game.legal_actions())))
    drawn = read_table_view(game)
    assert [seat.score for seat in drawn.seats] == game.scores().tolist()
    assert drawn.to_move == game.ranking()[0]


def test_names_of_shapes_do_not_command_the_terminal() -> None:
    position = table(COMPONENTS, 2, tiles=3)
    shape, nasty = COMPONENTS.tiles[0][0], "\x1b]0;title\x07\x1b[2J\x9b1m\r\x00\u202e"
    renamed = dataclasses.replace(
        COMPONENTS,
        tiles=tuple(tuple(nasty if name == shape else name for name in row) for row in COMPONENTS.tiles),
        shapes={**COMPONENTS.shapes, nasty: COMPONENTS.shapes[shape]},
    )
    text = draw_ansi(position, renamed, color=False)
    assert all(line.isprintable() for line in text.split("\n"))
    ET.fromstring(draw_svg(position, renamed))

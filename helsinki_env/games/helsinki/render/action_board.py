"""Draw the action board: the fifteen board actions, their users, and marks for covered and denied actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Canvas, num, reused
from helsinki_env.games.helsinki.action_words import action_label, cost_text
from helsinki_env.games.helsinki.render import parts
from helsinki_env.games.helsinki.render.view import action_index

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.render.view import TableView

CELL_W, CELL_H, GAP = 81.0, 94.0, 5.0
ACTION_BOARD_WIDTH = 5 * CELL_W + 4 * GAP
ACTION_BOARD_HEIGHT = 3 * CELL_H + 2 * GAP

INK = palette.INK


def _arrow(canvas: Canvas, data: str, width: float = 2.0) -> None:
    canvas.path(data, stroke=INK, stroke_width=width)


def _pawn(canvas: Canvas, x: float, y: float) -> None:
    canvas.path(
        "M-5 7h10c0-4.5-1.6-6.5-2.9-7.4a3.6 3.6 0 1 0-4.2 0c-1.3.9-2.9 2.9-2.9 7.4z",
        transform=f"translate({num(x)} {num(y)})",
        fill="#fff",
        stroke=INK,
        stroke_width=1.3,
    )


def _little_card(canvas: Canvas, x: float, y: float, fill: str = palette.CARD) -> None:
    canvas.rect(x - 8, y - 11, 16, 22, r=2.5, fill=fill, stroke=INK, stroke_width=1.3)


def _move(canvas: Canvas, spaces: int) -> None:
    _pawn(canvas, -15, 3)
    canvas.text(9, 2, f"1\u2013{spaces}", 17, anchor="middle", weight=BOLD)
    _arrow(canvas, "M-5 9.5h25m-4-3.5l4 3.5l-4 3.5", 1.8)


def _move_back(canvas: Canvas, spaces: int) -> None:
    _pawn(canvas, 15, 3)
    canvas.text(-8, 2, f"\u2212{spaces}", 17, anchor="middle", weight=BOLD)
    _arrow(canvas, "M6 9.5h-25m4-3.5l-4 3.5l4 3.5", 1.8)


def _wild(canvas: Canvas, tiles: int) -> None:
    if tiles == 1:
        parts.tile(canvas, -1, ((0, 0),), -13, -13, 26)
        return
    parts.tile(canvas, -1, ((0, 0),), 1, -13, 25)
    if tiles == 2:
        parts.tile(canvas, -1, ((0, 0),), -26, -13, 25)
    else:
        canvas.text(-13, 6, f"{tiles}\u00d7", 17, anchor="middle", weight=BOLD)


def _any_side(canvas: Canvas) -> None:
    canvas.rect(-8, -8, 16, 16, r=2.5, fill=palette.PAVING, stroke=INK, stroke_width=1.3)
    for side, data in enumerate(
        (
            "M0-19v8m-3.5-3l3.5 3.5l3.5-3.5",
            "M19 0h-8m3-3.5l-3.5 3.5l3.5 3.5",
            "M0 19v-8m-3.5 3l3.5-3.5l3.5 3.5",
            "M-19 0h8m-3-3.5l3.5 3.5l-3.5 3.5",
        )
    ):
        canvas.path(data, stroke=palette.SIDE_SHADES[side].line, stroke_width=2.2)


def _plus(canvas: Canvas, x: float, y: float, number_of: int) -> None:
    if number_of > 1:
        canvas.text(x, y + 6, f"+{number_of}", 17, anchor="middle", weight=BOLD)
        return
    canvas.path(f"M{num(x - 5)} {num(y)}h10M{num(x)} {num(y - 5)}v10", stroke=INK, stroke_width=2.4)


def _extra_card(canvas: Canvas, cards: int) -> None:
    _plus(canvas, -15, 0, cards)
    pieces.card_back_with_emblem(canvas, -2, -16, 23, parts.cathedral)


def _extra_superstructure(canvas: Canvas, superstructures: int) -> None:
    _plus(canvas, -14, 2, superstructures)
    parts.superstructure(canvas, 9, 0, 29, 1)


def _second_pavilion(canvas: Canvas) -> None:
    canvas.text(-15, 6, "2\u00d7", 17, anchor="middle", weight=BOLD)
    parts.tile(canvas, 0, ((0, 0), (1, 0), (1, 1)), 0, -12.5, 12.5)


def _one_card_fewer(canvas: Canvas, cards: int) -> None:
    _little_card(canvas, -15, 1)
    _little_card(canvas, -8, 0)
    canvas.text(12, 6, f"\u2212{cards}", 18, anchor="middle", weight=BOLD)


def _move_superstructure(canvas: Canvas) -> None:
    with canvas.group(opacity=0.35):
        parts.superstructure(canvas, -16, 4, 21, 1)
    parts.superstructure(canvas, 16, 4, 21, 1)
    _arrow(canvas, "M-13-12c7-7 18-7 25-1m.5-5.5l-.3 5.8l-5.8-.3", 1.8)


def _no_hand_limit(canvas: Canvas) -> None:
    for turn in (-22, 0, 22):
        with canvas.group(transform=f"translate(-8 6)rotate({turn})"):
            canvas.rect(-6.5, -19, 13, 19, r=2, fill=palette.CARD, stroke=INK, stroke_width=1.2)
    canvas.path("M18 2c-2.5-4-8-4-8 0s5.5 4 8 0s8-4 8 0s-5.5 4-8 0z", stroke=INK, stroke_width=2.2)


def _draw_and_build(canvas: Canvas) -> None:
    pieces.card_back_with_emblem(canvas, -25, -14, 20, parts.cathedral)
    canvas.text(0, 5, "+", 15, anchor="middle", weight=BOLD)
    parts.tile(canvas, 1, ((0, 0), (0, 1), (1, 0)), 7, -10, 10.5)


def _any_card_as_wild(canvas: Canvas) -> None:
    canvas.rect(-25, -11, 16, 22, r=2.5, fill=palette.PAVILIONS[3].light, stroke=INK, stroke_width=1.3)
    _arrow(canvas, "M-5 0h10m-3.5-3.5l3.5 3.5l-3.5 3.5", 1.8)
    canvas.rect(9, -11, 16, 22, r=2.5, fill=palette.CARD, stroke=INK, stroke_width=1.3)
    for tone, (dx, dy) in zip(palette.PAVILIONS, ((0, -5.5), (4, -1), (2.5, 4), (-2.5, 4), (-4, -1)), strict=True):
        canvas.circle(17 + dx, dy + 0.5, 2.1, fill=tone.base)


def _two_points(canvas: Canvas, points: int) -> None:
    canvas.path("M-8 4l-4 15l12-5l12 5l-4-15z", fill=palette.PAVILIONS[0].light, stroke=INK, stroke_width=1.2)
    canvas.circle(0, -3, 14, fill=palette.GOLD, stroke=INK, stroke_width=1.3)
    canvas.circle(0, -3, 10.5, stroke="#fff", stroke_width=1, stroke_opacity=0.8)
    canvas.text(0, 2.6, f"+{points}", 15 if points < 10 else 12, anchor="middle", weight=BOLD)


ICONS: dict[str, Callable[[Canvas], None]] = {
    "any_side": _any_side,
    "second_pavilion": _second_pavilion,
    "move_superstructure": _move_superstructure,
    "no_hand_limit": _no_hand_limit,
    "draw_and_build": _draw_and_build,
    "any_card_as_wild": _any_card_as_wild,
}
"""A drawing around (0, 0), about 52 by 38 pixels, for every board action without a strength."""

NUMBERED: dict[str, Callable[[Canvas, int], None]] = {
    "move_1_to_6": _move,
    "two_wild_tiles": _wild,
    "extra_card": _extra_card,
    "extra_superstructure": _extra_superstructure,
    "move_1_to_5": _move,
    "one_wild_tile": _wild,
    "one_card_fewer": _one_card_fewer,
    "move_back": _move_back,
    "two_points": _two_points,
}
"""Drawings of the board actions that show a strength."""


def _coats(canvas: Canvas, marks: tuple[str, ...], x: float, y: float) -> None:
    """Draw a mark for each player: a coat for a used board action, a cross for a denied one, otherwise a dot."""
    step = min(18.0, (CELL_W - 10) / len(marks))
    left = x + CELL_W / 2 - step * (len(marks) - 1) / 2
    for seat, mark in enumerate(marks):
        px = left + step * seat
        if mark == "used":
            pieces.player_coat(canvas, px, y, 16, seat, data_part="used")
        elif mark == "denied":
            with canvas.group(f"Denied to player {seat}", data_part="denied"):
                tone = palette.PLAYERS[seat]
                canvas.circle(px, y, 5.5, fill=tone.base, stroke=INK, stroke_width=0.8)
                canvas.path(f"M{num(px - 5.5)} {num(y - 5.5)}l11 11m0-11l-11 11", stroke="#b3352b", stroke_width=1.8)
        else:
            canvas.circle(px, y, 1.8, fill=palette.FAINT)


def _price(canvas: Canvas, cost: int, x: float, y: float) -> None:
    """Draw the cost of a board action across its upper right edge."""
    with canvas.group(f"Costs {cost_text(cost)}", data_part="cost"):
        canvas.rect(x - 31, y - 5, 28.5, 15, r=5, fill=palette.GOLD, stroke=INK, stroke_width=0.8)
        canvas.text(x - 24, y + 6.5, str(cost), 11, anchor="middle", weight=BOLD)
        canvas.path(
            pieces.SHIELD,
            transform=f"translate({num(x - 11)} {num(y + 2.5)})scale(0.78)",
            fill="#fff",
            stroke=INK,
            stroke_width=1.1,
        )


def _icon(canvas: Canvas, components: Components, name: str) -> None:
    if name in NUMBERED:
        NUMBERED[name](canvas, components.strengths[action_index(name)])
    else:
        ICONS[name](canvas)


@reused
def _cell(
    canvas: Canvas, components: Components, name: str, covered: bool, marks: tuple[str, ...], x: float, y: float
) -> None:
    action = action_index(name)
    words, cost = action_label(components, name), components.costs[action]
    canvas.spot(f"action {action}", x, y, CELL_W, CELL_H)
    state = " (covered)" if covered else ""
    with canvas.group(" ".join(words).replace("- ", "") + state, data_part="action"):
        canvas.rect(
            x,
            y,
            CELL_W,
            CELL_H,
            r=8,
            fill="#dcd5c5" if covered else palette.CARD,
            stroke=palette.PANEL_EDGE,
            stroke_width=1.2,
        )
        with canvas.group(
            transform=f"translate({num(x + CELL_W / 2)} {num(y + 26)})", opacity=0.25 if covered else None
        ):
            _icon(canvas, components, name)
        if cost != 1 and not covered:
            _price(canvas, cost, x + CELL_W, y)
        for i, line in enumerate(words):
            canvas.text(
                x + CELL_W / 2,
                y + (59 if len(words) == 1 else 55) + 11.5 * i,
                line,
                10.5,
                fill=palette.FAINT if covered else INK,
                anchor="middle",
                width=CELL_W - 6,
            )
        if covered:
            canvas.text(x + CELL_W / 2, y + CELL_H - 8, "covered", 10, fill=palette.SOFT_INK, anchor="middle")
        else:
            _coats(canvas, marks, x, y + CELL_H - 13)


def draw_action_board(canvas: Canvas, table: TableView, components: Components, x: float, y: float) -> None:
    """Draw the action board, `ACTION_BOARD_WIDTH` by `ACTION_BOARD_HEIGHT` pixels, with its corner at (x, y)."""
    with canvas.group(data_part="actions"):
        for row, names in enumerate(components.action_rows):
            for column, name in enumerate(names):
                action, at = action_index(name), (x + column * (CELL_W + GAP), y + row * (CELL_H + GAP))
                marks = ["used" if action in s.used else "denied" if action in s.denied else "" for s in table.seats]
                _cell(canvas, components, name, action in table.covered, tuple(marks), *at)

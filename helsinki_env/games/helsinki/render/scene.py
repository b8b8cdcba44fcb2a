"""Layout of the whole picture."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, MARGIN, PANEL_GAP, PICTURE_WIDTH, TOP, Canvas, sea, text_width
from helsinki_env.games.helsinki.render import action_board, common, parts, seat, senate
from helsinki_env.games.helsinki.render.view import COLOURS

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.render.view import TableView


def _header(canvas: Canvas, table: TableView) -> None:
    cream = palette.PANEL
    parts.cathedral(canvas, MARGIN + 22, 33, 42, palette.GOLD)
    canvas.text(MARGIN + 54, 43, "HELSINKI", 31, fill=cream, weight=2.4)
    right = PICTURE_WIDTH - MARGIN
    label = "Game over" if table.done else f"Round {table.round}"
    width = canvas.text(right, 41, label, 22, fill=cream, anchor="end", weight=2.4)
    if table.last_round and not table.done:
        text = "LAST ROUND"
        pill = text_width(text, 14) + 24
        left = right - width - 14 - pill
        canvas.rect(left, 20, pill, 28, r=14, fill="#c8473a")
        canvas.text(left + 12, 39, text, 14, fill="#fff", weight=BOLD)


def _describe(table: TableView) -> str:
    lines = [f"{table.players} players, round {table.round}, phase {table.phase}, player {table.to_move} to move."]
    for one in table.seats:
        tiles = ", ".join(f"{COLOURS[p.colour]} {p.roofs}" for p in one.pavilions) or "no pavilion"
        lines.append(f"Player {one.seat}: {one.score} points; {tiles}.")
    return " ".join(lines)


def draw_scene(canvas: Canvas, table: TableView, components: Components, last_decision: str | None) -> str:
    """Draw the whole picture and return its SVG text."""
    inner = PICTURE_WIDTH - 2 * MARGIN
    count = table.players
    width = (inner - PANEL_GAP * (count - 1)) / count
    area = seat.WIDE_HEIGHT if count == 2 else seat.tall_height(count, width)
    top = TOP
    below = top + senate.SENATE_HEIGHT + PANEL_GAP
    height = math.ceil(below + area + MARGIN)
    sea(canvas, height)
    _header(canvas, table)
    senate.draw_senate(canvas, table, components, MARGIN, top)
    x = MARGIN + senate.SENATE_WIDTH + PANEL_GAP
    actions_w, actions_h = action_board.ACTION_BOARD_WIDTH + 20, action_board.ACTION_BOARD_HEIGHT + 20
    pieces.panel(canvas, x, top, actions_w, actions_h)
    action_board.draw_action_board(canvas, table, components, x + 10, top + 10)
    rest = senate.SENATE_HEIGHT - actions_h - PANEL_GAP
    common.current_action_panel(
        canvas, table, components, last_decision, (x, top + actions_h + PANEL_GAP, actions_w, rest)
    )
    x += actions_w + PANEL_GAP
    common.supply(canvas, table, components, x, top, PICTURE_WIDTH - MARGIN - x, senate.SENATE_HEIGHT)
    for one in table.seats:
        place = seat.wide if count == 2 else seat.tall
        with canvas.group(data_part=f"seat-{one.seat}"):
            place(canvas, table, components, one, MARGIN + one.seat * (width + PANEL_GAP), below, width, area)
        canvas.spot(f"seat {one.seat}", MARGIN + one.seat * (width + PANEL_GAP), below, width, area)
    return canvas.picture(PICTURE_WIDTH, height, "Helsinki", _describe(table))

"""Layout of the whole table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from helsinki_env.drawing import palette
from helsinki_env.drawing.canvas import MARGIN, PANEL_GAP, PICTURE_WIDTH, TOP, Canvas, sea
from helsinki_env.games.copenhagen.render import common, parts, seat

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.render.view import TableView

SUPPLY_WIDTH = 420.0
UPPER = 347.0
DISPLAY_HEIGHT = 204.0


def _header(canvas: Canvas, table: TableView) -> None:
    cream = palette.PANEL
    parts.houses(canvas, MARGIN + 22, 33, 42, palette.GOLD)
    canvas.text(MARGIN + 54, 43, "COPENHAGEN", 31, fill=cream, weight=2.4)
    label = "Game over" if table.done else f"Round {table.round}"
    canvas.text(PICTURE_WIDTH - MARGIN, 41, label, 22, fill=cream, anchor="end", weight=2.4)


def _describe(table: TableView) -> str:
    who, headline, detail = table.decision
    phase = "the game is over" if table.done else f"phase {table.phase}"
    lines = [
        f"{table.players} players, round {table.round}, {phase}. {who} {headline}{': ' if detail else ''}{detail}."
    ]
    return " ".join([*lines, *(seat.seat_description(one) for one in table.seats)])


def draw_scene(canvas: Canvas, table: TableView, components: Components) -> str:
    """Draw the whole table and return its SVG text."""
    inner, count = PICTURE_WIDTH - 2 * MARGIN, table.players
    width = (inner - PANEL_GAP * (count - 1)) / count
    area = seat.height(count, width)
    below = TOP + UPPER + PANEL_GAP
    height = math.ceil(below + area + MARGIN)
    sea(canvas, height)
    _header(canvas, table)
    left = inner - SUPPLY_WIDTH - PANEL_GAP
    common.display(canvas, table, (MARGIN, TOP, left, DISPLAY_HEIGHT))
    common.current_action_panel(
        canvas, table, components, (MARGIN, TOP + DISPLAY_HEIGHT + PANEL_GAP, left, UPPER - DISPLAY_HEIGHT - PANEL_GAP)
    )
    common.supply(canvas, table, components, (MARGIN + left + PANEL_GAP, TOP, SUPPLY_WIDTH, UPPER))
    for one in table.seats:
        box = (MARGIN + one.seat * (width + PANEL_GAP), below, width, area)
        with canvas.group(data_part=f"seat-{one.seat}"):
            seat.area(canvas, table, components, one, box)
        canvas.spot(f"seat {one.seat}", *box)
    return canvas.picture(PICTURE_WIDTH, height, "Copenhagen", _describe(table))

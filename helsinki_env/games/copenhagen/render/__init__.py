"""Draw the table as an SVG picture, as the same picture in pixels, and as text for terminals.

If a viewer is given, a drawing shows only what this seat may see. The same state always produces the same bytes.

Elements of the picture:

- A tile is a wall in its color. One cell shows bricks, the others show windows. The pattern of the window panes also
  encodes the color (blue square, green cross, purple diamond, red stripes, yellow disc). White tiles are light walls.
- Coats of arms stay on their cells until these are covered. A coat next to a row turns pale, with a tick, when the row
  is full.
- Full rows and columns have a golden background. Golden discs at their ends show their points.
- An ability is active (tick), used (circular arrow), not owned (dash) or denied (cross). An eye marks publicly known
  cards.
- Golden frames mark the player to move, or the winners, and the elements affected by the last action.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from helsinki_env.drawing import pieces
from helsinki_env.drawing.canvas import MARGIN, PANEL_GAP, PICTURE_WIDTH, TOP, Canvas, Picture, sea
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.render import common, parts, seat
from helsinki_env.games.copenhagen.render.ansi import ansi
from helsinki_env.games.copenhagen.render.view import read_table_view

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.render.view import TableView

__all__ = ["ansi", "rgb_array", "svg"]

SUPPLY_WIDTH = 420.0
UPPER = 347.0
DISPLAY_HEIGHT = 204.0


def _describe(table: TableView) -> str:
    who, headline, detail = table.decision
    phase = "the game is over" if table.done else f"phase {table.phase}"
    lines = [
        f"{table.players} players, round {table.round}, {phase}. {who} {headline}{': ' if detail else ''}{detail}."
    ]
    return " ".join([*lines, *(seat.seat_description(one) for one in table.seats)])


def _scene(table: TableView, components: Components) -> Picture:
    """Draw the whole table."""
    canvas = Canvas()
    inner, count = PICTURE_WIDTH - 2 * MARGIN, table.players
    width = (inner - PANEL_GAP * (count - 1)) / count
    area = seat.height(count, width)
    below = TOP + UPPER + PANEL_GAP
    height = math.ceil(below + area + MARGIN)
    sea(canvas, height)
    label = "Game over" if table.done else f"Round {table.round}"
    pieces.table_header(canvas, "COPENHAGEN", parts.houses, label)
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


def svg(game: CopenhagenGame, *, last_decision: str | None = None, viewer: int | None = None) -> Picture:
    """Draw the table as an SVG document, 1200 pixels wide. The height depends on the number of players.

    Args:
        game: the game to draw.
        last_decision: the last action as text, in the form of `notation.action_to_string`. The picture shows the text
            and highlights the affected elements.
        viewer: the seat for which the table is drawn. It is marked, and other hands show only their publicly known
            cards. None shows all cards.

    Returns:
        The document and its clickable regions: ``now``, ``slot 2``, ``draw pile``, ``discard pile``,
            ``kind 13`` (in the supply, ``4 * colour + size - 2``), ``card 3`` (color), and for each seat ``seat 1``,
            ``board 1``, ``cell 1 24`` and ``ability 1 3``. The cards belong to the viewer, or to the acting seat.

    Raises:
        ValueError: if `viewer` is not a seat.
    """
    return _scene(read_table_view(game, viewer, last_decision), game.config.component_set)

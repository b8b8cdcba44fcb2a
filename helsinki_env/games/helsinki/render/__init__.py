"""Drawings of the table: an SVG picture, the same picture as a raster image, and text for terminals.

With a viewer, a drawing shows only what this seat may see. The same state always produces the same bytes. The SVG uses
no fonts, style sheets or ids, so it looks the same everywhere and a page can contain several pictures.

Elements of the picture:

- Tents are the roofs of a tile. Their pattern also encodes the color (blue square, green cross, purple diamond, red
  stripes, yellow disc). Gray tents are wild tiles.
- A cupola is a superstructure: white if it scores nothing, pale gold if it is in one full line, and gold if two full
  lines cross there.
- Golden paving and studs mark full rows and columns. Arrows in the facades show the side from which tiles enter.
- A golden frame marks the player to move, or the winner. The large number is the score that the player would have if
  the game ended now.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from helsinki_env.drawing import pieces
from helsinki_env.drawing.canvas import BOLD, MARGIN, PANEL_GAP, PICTURE_WIDTH, TOP, Canvas, Picture, sea, text_width
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.render import action_board, common, parts, seat, senate
from helsinki_env.games.helsinki.render.ansi import ansi
from helsinki_env.games.helsinki.render.view import read_table_view

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.render.view import TableView

__all__ = ["ansi", "rgb_array", "svg"]


def _header(canvas: Canvas, table: TableView) -> None:
    label = "Game over" if table.done else f"Round {table.round}"
    width = pieces.table_header(canvas, "HELSINKI", parts.cathedral, label)
    # A round takes about two cards a player.
    if not table.done and (table.last_round or table.draw_pile <= 2 * table.players):
        text = "LAST ROUND" if table.last_round else "MAY BE THE LAST ROUND"
        pill = text_width(text, 14) + 24
        left = PICTURE_WIDTH - MARGIN - width - 14 - pill
        canvas.rect(left, 20, pill, 28, r=14, fill="#c8473a")
        canvas.text(left + 12, 39, text, 14, fill="#fff", weight=BOLD)


def _describe(table: TableView) -> str:
    now = "the game is over" if table.done else f"phase {table.phase}, player {table.to_move} to move"
    lines = [f"{table.players} players, round {table.round}, {now}."]
    for one in table.seats:
        tiles = ", ".join(f"{COLORS[p.colour]} {p.roofs}" for p in one.pavilions) or "no pavilion"
        lines.append(f"Player {one.seat}: {one.score} points; {tiles}.")
    return " ".join(lines)


def _scene(table: TableView, components: Components, last_decision: str | None) -> Picture:
    """Draw the whole picture."""
    canvas = Canvas()
    inner = PICTURE_WIDTH - 2 * MARGIN
    count = table.players
    width = (inner - PANEL_GAP * (count - 1)) / count
    area = seat.height(count, width)
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
        box = (MARGIN + one.seat * (width + PANEL_GAP), below, width, area)
        with canvas.group(data_part=f"seat-{one.seat}"):
            seat.area(canvas, table, components, one, box)
        canvas.spot(f"seat {one.seat}", *box)
    return canvas.picture(PICTURE_WIDTH, height, "Helsinki", _describe(table))


def svg(game: HelsinkiGame, *, last_decision: str | None = None, viewer: int | None = None) -> Picture:
    """Draw a game as an SVG document that is 1200 pixels wide; the height depends on the number of players.

    Args:
        game: the game to draw.
        last_decision: the last action as text, shown below the pending action.
        viewer: the viewing seat, which is marked; other hands show only public information. None shows all cards.

    Returns:
        The SVG document, with the regions that can be clicked: ``now``, ``space 3``, ``slot 2``, ``draw pile``,
            ``discard pile``, ``action 7``, ``kind 13`` (in the supply, ``4 * color + roofs - 2``), ``card 17`` (type),
            and for each seat ``seat 1``, ``board 1`` and ``cell 1 24``. Card regions are in the hand of the viewer or,
            without a viewer, of the acting seat.

    Raises:
        ValueError: if `viewer` is not a seat.
    """
    return _scene(read_table_view(game, viewer), game.config.component_set, last_decision)

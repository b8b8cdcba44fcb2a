"""Drawings of the table: an SVG picture, the same picture as pixels, and text for terminals.

As for Helsinki (`helsinki_env.games.helsinki.render`), the input is a game. With a viewer, a drawing shows only what
that seat may see. The same state always gives the same bytes.

Elements of the picture:

- A tile is a wall in its color: one cell shows bricks, the others windows. The glazing also encodes the color (blue
  square, green cross, purple diamond, red stripes, yellow disc). White tiles are light walls.
- Coats of arms are on cells until these are covered. Those at rows turn pale, with a tick, when the row is full.
- A golden ground marks full rows and columns; golden discs at their ends show their points.
- An ability is active (tick), used (turned arrow), not owned (dash) or denied (cross). An eye marks publicly known
  cards.
- A golden frame marks the player to move, or the winners, and what the last action touched.
"""

from __future__ import annotations

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.render.ansi import ansi
from helsinki_env.games.copenhagen.render.scene import draw_scene
from helsinki_env.games.copenhagen.render.view import read_table_view

__all__ = ["ansi", "rgb_array", "svg", "svg_and_spots"]


def svg(game: CopenhagenGame, *, last_decision: str | None = None, viewer: int | None = None) -> str:
    """Draw the table as an SVG document, 1200 wide; its height follows from the number of players.

    Args:
        game: the game to draw.
        last_decision: the last action as text. It is shown, and what it touched is highlighted if the text comes from
            `notation.action_to_string`.
        viewer: the viewing seat. It is marked, and other hands show only their publicly known cards. None shows all
            cards.

    Returns:
        SVG text.

    Raises:
        ValueError: if `viewer` is not a seat.
    """
    return svg_and_spots(game, last_decision=last_decision, viewer=viewer)[0]


def svg_and_spots(
    game: CopenhagenGame, *, last_decision: str | None = None, viewer: int | None = None
) -> tuple[str, dict[str, tuple[float, float, float, float]]]:
    """Draw the table as `svg`, and locate what can be clicked in the picture.

    Args:
        game: as for `svg`.
        last_decision: as for `svg`.
        viewer: as for `svg`; the card regions are those of this seat's hand, or of the seat to move if None.

    Returns:
        SVG text, and x, y, width and height in pixels by name: ``now``, ``slot 2``, ``draw pile``, ``discard pile``,
            ``kind 13`` (in the supply, ``4 * colour + size - 2``), ``card 3`` (color), and for each seat ``seat 1``,
            ``board 1``, ``cell 1 24`` and ``ability 1 3``.

    Raises:
        ValueError: as in `svg`.
    """
    canvas = Canvas()
    table = read_table_view(game, viewer, last_decision)
    return draw_scene(canvas, table, game.config.component_set), canvas.spots

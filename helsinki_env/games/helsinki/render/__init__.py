"""Drawings of the game: an SVG picture, the same picture as pixels, and text for terminals.

The input is a game. With a viewer, a drawing shows only what that seat may see. The output is deterministic: the same
state always gives the same bytes.

The SVG needs no font (letters are drawn as strokes), no style sheet and no ids. It therefore looks the same everywhere,
and one page can contain several. Elements of the picture:

- Tents are the roofs of a tile; a pattern repeats the color (blue square, green cross, purple diamond, red stripes,
  yellow disc). Gray tents are wild tiles.
- A cupola is a superstructure: white if it scores nothing, pale gold in one full line, gold where two full lines cross.
- Golden ground and studs mark full rows and columns. Arrows in the facades show the side from which the player's tiles
  enter.
- A golden frame marks the player to move, or the winner. The large number is the score if the game ended now.
"""

from __future__ import annotations

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.helsinki.game import HelsinkiGame
from helsinki_env.games.helsinki.render.ansi import ansi
from helsinki_env.games.helsinki.render.scene import draw_scene
from helsinki_env.games.helsinki.render.view import read_table_view

__all__ = ["ansi", "rgb_array", "svg", "svg_and_spots"]


def svg(game: HelsinkiGame, *, last_decision: str | None = None, viewer: int | None = None) -> str:
    """Draw the game as an SVG document, 1200 pixels wide; the height depends on the number of players.

    Args:
        game: the game to draw.
        last_decision: the last action as text, shown under the pending action.
        viewer: the viewing seat. It is marked, and other hands show only public information. None shows all cards.

    Returns:
        SVG text.

    Raises:
        ValueError: if `viewer` is not a seat.
    """
    return svg_and_spots(game, last_decision=last_decision, viewer=viewer)[0]


def svg_and_spots(
    game: HelsinkiGame, *, last_decision: str | None = None, viewer: int | None = None
) -> tuple[str, dict[str, tuple[float, float, float, float]]]:
    """Draw the game as `svg`, and locate the clickable elements of the picture.

    Args:
        game: as for `svg`.
        last_decision: as for `svg`.
        viewer: as for `svg`; cards are those in the hand of this seat, or of the seat to move if None.

    Returns:
        SVG text, and x, y, width and height in pixels by name: ``now``, ``space 3``, ``slot 2``, ``draw pile``,
            ``discard pile``, ``action 7``, ``kind 13`` (in the supply, ``4 * color + roofs - 2``), ``card 17`` (type),
            and for each seat ``seat 1``, ``board 1`` and ``cell 1 24``.

    Raises:
        ValueError: as in `svg`.
    """
    canvas = Canvas()
    table = read_table_view(game, viewer)
    return draw_scene(canvas, table, game.config.component_set, last_decision), canvas.spots

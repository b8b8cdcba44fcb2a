"""Drawings of the game: an SVG picture, the same picture as pixels, and text for terminals.

All drawings use only a position dict (whole or a seat's copy) and a component file. They never read a game, so they
cannot show more than the dict contains. The output is deterministic: the same position always gives the same bytes.

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.helsinki.render.ansi import ansi
from helsinki_env.games.helsinki.render.scene import draw_scene
from helsinki_env.games.helsinki.render.view import read_table_view

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components

__all__ = ["ansi", "rgb_array", "spots", "svg", "svg_and_spots"]


def svg(
    position: Mapping[str, Any],
    components: Components,
    *,
    last_decision: str | None = None,
    viewer: int | None = None,
) -> str:
    """Draw the game as an SVG document, 1200 pixels wide; the height depends on the number of players.

    Args:
        position: a position dict, whole or a seat's copy (rules page, 7: a seat's copy contains only what that seat may
            see).
        components: the component file of the game.
        last_decision: the last action as text, shown under the pending action.
        viewer: the viewing seat. It is marked, and other hands show only public information, even if the dict contains
            more. None shows all cards in the dict.

    Returns:
        SVG text, about 90 to 180 KB.

    Raises:
        PositionError: (a ValueError) naming the key that violates the position format, or if `viewer` does not exist.
    """
    return svg_and_spots(position, components, last_decision=last_decision, viewer=viewer)[0]


def spots(
    position: Mapping[str, Any], components: Components, *, viewer: int | None = None
) -> dict[str, tuple[float, float, float, float]]:
    """Return the locations of clickable elements in the picture that `svg` draws.

    Args:
        position: as for `svg`.
        components: as for `svg`.
        viewer: as for `svg`; cards are those in the hand of this seat, or of the seat to move if None.

    Returns:
        x, y, width and height in pixels by name: ``now``, ``space 3``, ``slot 2``, ``draw pile``, ``discard pile``,
            ``action 7``, ``kind 13`` (in the supply, ``4 * color + roofs - 2``), ``card 17`` (type), and for each seat
            ``seat 1``, ``board 1`` and ``cell 1 24``.

    Raises:
        PositionError: as in `svg`.
    """
    return svg_and_spots(position, components, viewer=viewer)[1]


def svg_and_spots(
    position: Mapping[str, Any],
    components: Components,
    *,
    last_decision: str | None = None,
    viewer: int | None = None,
) -> tuple[str, dict[str, tuple[float, float, float, float]]]:
    """Return the results of `svg` and `spots` from one drawing."""
    canvas = Canvas()
    return draw_scene(canvas, read_table_view(position, components, viewer), components, last_decision), canvas.spots

"""Drawings of the table: an SVG picture, the same picture as pixels, and text for terminals.

Everything is drawn from a position dict (the position format, whole or a seat's copy) and a component file;
nothing here looks at a game, so nothing here can show more than the dict holds. The same position always
gives the same bytes.

The SVG needs no font (letters are drawn as strokes), no style sheet and no ids, so that it looks the same
everywhere and several can stand in one page. What the pieces mean in the picture:

- Tents are the roofs of a tile; their pattern tells the colour once more (blue square, green cross, purple
  diamond, red stripes, yellow disc). Grey tents are wild tiles.
- A cupola is a superstructure: white while it is worth nothing, pale gold in one full line, gold on a
  crossing of two.
- Golden ground and studs mark full rows and columns. Arrows in the facades show from where the player's tiles
  come.
- A golden frame marks the player to move, or the winner. The big number is the score if the game ended now.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.helsinki.render.ansi import ansi
from helsinki_env.games.helsinki.render.scene import draw
from helsinki_env.games.helsinki.render.view import read

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
    """Draw the table as an SVG document, 1200 wide; its height follows from the number of players.

    Args:
        position: a position dict, whole or a seat's copy (rules page, 7: a seat's copy holds only what that
            seat may see).
        components: the component file it is played with.
        last_decision: the decision taken last, as text, shown under the decision in progress.
        viewer: the seat that looks. It is marked, and other hands are reduced to what everybody knows of
            them, even if the dict holds more. None shows all cards that the dict holds.

    Returns:
        SVG text, about 90 to 180 KB.

    Raises:
        PositionError: (a ValueError) naming the key that is not as in the position format, or if `viewer` is no seat.
    """
    return svg_and_spots(position, components, last_decision=last_decision, viewer=viewer)[0]


def spots(
    position: Mapping[str, Any], components: Components, *, viewer: int | None = None
) -> dict[str, tuple[float, float, float, float]]:
    """Return where in the picture that `svg` draws the parts of the table lie: what people click on.

    Args:
        position: as for `svg`.
        components: as for `svg`.
        viewer: as for `svg`; cards are those in this seat's hand, or in that of the seat to move.

    Returns:
        x, y, width and height in pixels by name: ``now``, ``space 3``, ``slot 2``, ``draw pile``, ``discard pile``,
        ``action 7``, ``kind 13`` (in the supply, ``4 * colour + roofs - 2``), ``card 17`` (type), and of each seat
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
    """Return what `svg` and `spots` do, from one drawing."""
    canvas = Canvas()
    return draw(canvas, read(position, components, viewer), components, last_decision), canvas.spots

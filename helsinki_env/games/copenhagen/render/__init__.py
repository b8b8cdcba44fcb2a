"""Drawings of the table: an SVG picture, the same picture as pixels, and text for terminals.

As with Helsinki (`helsinki_env.render`) everything is drawn from a position dict, whole or a seat's copy, so that
nothing here can show more than the dict holds, and the same position always gives the same bytes.

What the pieces mean in the picture:

- Every tile is a wall in its colour: one cell shows bricks, the others windows. Their glazing tells the colour once
  more (blue square, green cross, purple diamond, red stripes, yellow disc). White tiles are light walls.
- Coats of arms lie on cells until these are covered; those beside rows turn pale, with a tick, when the row is full.
- Golden ground marks full rows and columns; the golden discs at their ends are the points that they bring.
- An ability is active (tick), used (turned arrow), not owned (dash) or denied (cross). An eye marks cards that
  everybody knows of.
- A golden frame marks the player to move, or the winners, and what the last decision touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.copenhagen.render.ansi import ansi
from helsinki_env.games.copenhagen.render.scene import draw
from helsinki_env.games.copenhagen.render.view import read

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.components import Components

__all__ = ["ansi", "rgb_array", "spots", "svg", "svg_and_spots"]


def svg(
    position: Mapping[str, Any],
    components: Components | None = None,
    *,
    last_decision: str | None = None,
    viewer: int | None = None,
) -> str:
    """Draw the table as an SVG document, 1200 wide; its height follows from the number of players.

    Args:
        position: a position dict, whole or a seat's copy, which holds only what that seat may see.
        components: the component file it is played with; default: the one that it names.
        last_decision: the decision taken last, as text. It is shown, and what it touched is highlighted if it is one
            that `notation.describe` wrote.
        viewer: the seat that looks. It is marked, and other hands are reduced to what everybody knows of
            them, even if the dict holds more. None shows all cards that the dict holds.

    Returns:
        SVG text.

    Raises:
        PositionError: (a ValueError) naming the key that is not as in the position format, or if `viewer` is no seat.
    """
    return svg_and_spots(position, components, last_decision=last_decision, viewer=viewer)[0]


def spots(
    position: Mapping[str, Any], components: Components | None = None, *, viewer: int | None = None
) -> dict[str, tuple[float, float, float, float]]:
    """Return where in the picture that `svg` draws the parts of the table lie: what people click on.

    Args:
        position: as for `svg`.
        components: as for `svg`.
        viewer: as for `svg`; cards are those in this seat's hand, or in that of the seat to move.

    Returns:
        x, y, width and height in pixels by name: ``now``, ``slot 2``, ``draw pile``, ``discard pile``, ``kind 13`` (in
        the supply, ``4 * colour + size - 2``), ``card 3`` (colour), and of each seat ``seat 1``, ``board 1``,
        ``cell 1 24`` and ``ability 1 3``.

    Raises:
        PositionError: as in `svg`.
    """
    return svg_and_spots(position, components, viewer=viewer)[1]


def svg_and_spots(
    position: Mapping[str, Any],
    components: Components | None = None,
    *,
    last_decision: str | None = None,
    viewer: int | None = None,
) -> tuple[str, dict[str, tuple[float, float, float, float]]]:
    """Return what `svg` and `spots` do, from one drawing."""
    canvas = Canvas()
    return draw(canvas, *read(position, components, viewer, last_decision)), canvas.spots

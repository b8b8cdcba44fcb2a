"""Drawings of the table: an SVG picture, the same picture as pixels, and text for terminals.

As for Helsinki (`helsinki_env.games.helsinki.render`), the only input is a position dict, whole or a seat's copy. A
drawing therefore shows nothing that the dict does not hold, and the same position always gives the same bytes.

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

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from helsinki_env.drawing.canvas import Canvas
from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.copenhagen.render.ansi import ansi
from helsinki_env.games.copenhagen.render.scene import draw_scene
from helsinki_env.games.copenhagen.render.view import read_table_view

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
        components: the component file of the game; by default, the one that the position names.
        last_decision: the last action as text. It is shown, and what it touched is highlighted if the text comes from
            `notation.action_to_string`.
        viewer: the viewing seat. It is marked, and other hands show only their publicly known cards, even if the dict
            holds more. None shows all cards that the dict holds.

    Returns:
        SVG text.

    Raises:
        PositionError: (a ValueError) if a key does not follow the position format, or if `viewer` is not a seat.
    """
    return svg_and_spots(position, components, last_decision=last_decision, viewer=viewer)[0]


def spots(
    position: Mapping[str, Any], components: Components | None = None, *, viewer: int | None = None
) -> dict[str, tuple[float, float, float, float]]:
    """Return the clickable regions of the picture that `svg` draws.

    Args:
        position: as for `svg`.
        components: as for `svg`.
        viewer: as for `svg`; the card regions are those of this seat's hand, or of the seat to move if None.

    Returns:
        x, y, width and height in pixels by name: ``now``, ``slot 2``, ``draw pile``, ``discard pile``, ``kind 13`` (in
            the supply, ``4 * colour + size - 2``), ``card 3`` (color), and for each seat ``seat 1``, ``board 1``,
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
    """Return the results of `svg` and `spots` from one drawing."""
    canvas = Canvas()
    return draw_scene(canvas, *read_table_view(position, components, viewer, last_decision)), canvas.spots

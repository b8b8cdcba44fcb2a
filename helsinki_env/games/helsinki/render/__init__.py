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

from helsinki_env.drawing.raster import rgb_array
from helsinki_env.games.helsinki.render.ansi import ansi
from helsinki_env.games.helsinki.render.scene import draw
from helsinki_env.games.helsinki.render.view import read

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components

__all__ = ["ansi", "rgb_array", "svg"]


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
    return draw(read(position, components, viewer), components, last_decision)

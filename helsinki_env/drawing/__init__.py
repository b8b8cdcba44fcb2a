"""What drawings of any game are made of: a canvas, a palette, letters, and the pieces of a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["drawn"]


def drawn(
    render: Any, position: Mapping[str, Any], components: Any, decision: str | None, mode: str, viewer: int | None
) -> Any:
    """Draw a position: svg and ansi as text, rgb_array as uint8 (height, width, 3); human prints and returns None.

    Args:
        render: the game's module of drawings, with `ansi`, `svg` and `rgb_array`.
        position: what is drawn, as plain data.
        components: the content of the component file.
        decision: the decision taken last, as text.
        mode: "ansi", "human", "rgb_array" or "svg".
        viewer: the seat that looks; None shows all cards.
    """
    if mode in ("human", "ansi"):
        text = render.ansi(position, components, last_decision=decision, viewer=viewer)
        if mode == "human":
            print(text, flush=True)
            return None
        return text
    picture = render.svg(position, components, last_decision=decision, viewer=viewer)
    return render.rgb_array(picture) if mode == "rgb_array" else picture

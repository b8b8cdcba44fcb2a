"""Drawing a game in the render modes of the environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helsinki_env.games.helsinki.game import Game

__all__ = ["RENDER_MODES", "check_mode", "draw", "drawn"]

RENDER_MODES = ("ansi", "human", "rgb_array", "svg")


def check_mode(mode: str | None, modes: tuple[str, ...] = RENDER_MODES) -> str | None:
    """Return a render mode; ValueError if it is none of `modes`."""
    if mode is not None and (not isinstance(mode, str) or mode not in modes):
        raise ValueError(f"render_mode: found {mode!r}, expected None or one of {', '.join(modes)}")
    return mode


def draw(game: Game, mode: str, last: int | None = None, viewer: int | None = None) -> Any:
    """Draw the table: svg and ansi as text, rgb_array as uint8 (height, width, 3); human prints and returns None.

    Args:
        game: what is drawn.
        mode: one of `RENDER_MODES`.
        last: the decision taken last, which is named too.
        viewer: the seat that looks; None shows all cards.
    """
    from helsinki_env.games.helsinki import notation, render

    components = game.config.loaded
    decision = None if last is None else notation.describe(last, components)
    return drawn(render, notation.to_dict(game), components, decision, mode, viewer)


def drawn(
    render: Any, position: Mapping[str, Any], components: Any, decision: str | None, mode: str, viewer: int | None
) -> Any:
    """Draw a position by a game's module of drawings, with `ansi`, `svg` and `rgb_array`; see `draw`."""
    if mode in ("human", "ansi"):
        text = render.ansi(position, components, last_decision=decision, viewer=viewer)
        if mode == "human":
            print(text, flush=True)
            return None
        return text
    picture = render.svg(position, components, last_decision=decision, viewer=viewer)
    return render.rgb_array(picture) if mode == "rgb_array" else picture

"""Render modes and picture widths of the environments."""

from __future__ import annotations

from helsinki_env.drawing.raster import checked_width
from helsinki_env.engine.spec import GameSpec

__all__ = ["check_mode", "check_width", "render_modes"]


def render_modes(spec: GameSpec) -> list[str]:
    """Return the render modes of one game, including "human", which prints the text at every step."""
    return sorted((*spec.render_modes, "human")) if spec.render_modes else []


def check_mode(mode: str | None, modes: tuple[str, ...]) -> str | None:
    """Return a render mode; ValueError if it is not in `modes`."""
    if mode is not None and (not isinstance(mode, str) or mode not in modes):
        raise ValueError(f"render_mode: found {mode!r}, expected None or one of {', '.join(modes)}")
    return mode


def check_width(width: int | None) -> int | None:
    """Return the width of an rgb_array in pixels, or None for the picture's own width; ValueError if invalid."""
    return None if width is None else checked_width(width, "render_width")

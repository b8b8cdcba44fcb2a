"""The render modes of the environments."""

from __future__ import annotations

from helsinki_env.engine.spec import GameSpec

__all__ = ["check_mode", "render_modes"]


def render_modes(spec: GameSpec) -> list[str]:
    """Return how one game can be drawn: "human" prints the text at every step."""
    return sorted((*spec.render_modes, "human")) if spec.render_modes else []


def check_mode(mode: str | None, modes: tuple[str, ...]) -> str | None:
    """Return a render mode; ValueError if it is none of `modes`."""
    if mode is not None and (not isinstance(mode, str) or mode not in modes):
        raise ValueError(f"render_mode: found {mode!r}, expected None or one of {', '.join(modes)}")
    return mode

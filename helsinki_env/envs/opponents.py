"""Opponents by name. Who makes them stands above the environments and is found by an entry point, not by an import."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any

__all__ = ["GROUP", "make_opponent"]

GROUP = "helsinki.opponents"
"""The group of entry points of what makes players: `make(name, config)`, the first one found."""


def make_opponent(name: str, config: Any) -> Any:
    """Return the player of a name, such as ``"greedy"`` or ``"mc:200"``.

    Args:
        name: as on the command line.
        config: what is played.

    Raises:
        ValueError: if there is no such player.
    """
    for point in entry_points(group=GROUP):
        return point.load()(name, config)
    raise ValueError(
        f"opponents: found {name!r}, but nobody here makes players by name: install the project with pip "
        "(pip install -e .), or pass the player itself"
    )

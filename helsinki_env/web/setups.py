"""What may be chosen before a game on a page: its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from helsinki_env.data import one_of, shown
from helsinki_env.engine.spec import GameSpec

__all__ = ["chosen_options"]


def chosen_options(spec: GameSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of the configuration was chosen; ValueError for what no page offers."""
    offered = {setup.name: setup for setup in spec.setups}
    chosen: dict[str, Any] = {}
    for key, value in given.items():
        if key not in offered:
            raise ValueError(f"options: found {shown(key)}, expected {one_of(list(offered), key) or 'none'}")
        chosen |= offered[key].chosen(value)
    return chosen

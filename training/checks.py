"""Checks of numbers in configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

__all__ = ["check_numbers"]


def check_numbers(config: Any, least: Mapping[str, float]) -> None:
    """Check that every number of a dataclass is one, whole where it should be, and not below `least` (default 0).

    Raises:
        ValueError: naming field, value found and what is expected.
    """
    for item in fields(config):
        if item.type not in ("int", "float"):
            continue
        value, whole, low = getattr(config, item.name), item.type == "int", least.get(item.name, 0)
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not value >= low:
            kind = "a whole number" if whole else "a number"
            raise ValueError(f"{item.name}: found {value!r}, expected {kind} of at least {low}")

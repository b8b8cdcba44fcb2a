"""Validation of configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from helsinki_env.data import Node, UserError

__all__ = ["check_numbers", "player_counts"]


def check_numbers(config: Any, least: Mapping[str, float], most: Mapping[str, float]) -> None:
    """Raise ValueError for a number of a dataclass outside its bounds, by field name; the default minimum is 0."""
    for item in fields(config):
        if item.type not in ("int", "float"):
            continue
        data = Node(getattr(config, item.name), UserError, item.name)
        low, high = least.get(item.name, 0), most.get(item.name)
        if item.type == "int":
            data.integer(int(low), None if high is None else int(high))
        else:
            data.number(low, high)


def player_counts(value: Any) -> tuple[int, ...]:
    """Return player counts as a tuple; raise ValueError unless each is 2, 3 or 4."""
    data = Node(value, UserError, "players")
    if not isinstance(value, list | tuple) or not value or any(type(n) is not int or n not in (2, 3, 4) for n in value):
        data.fail("some of 2, 3 and 4")
    return tuple(value)

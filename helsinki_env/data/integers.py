"""Validate external integers, actions and seeds; reject booleans of any library, most of which convert to 0 or 1."""

from __future__ import annotations

import operator
import secrets
from collections.abc import Collection
from typing import Any

import numpy as np

__all__ = ["FAST_INTEGER_TYPES", "as_action", "as_integer", "has_boolean", "is_boolean", "seed_to_uint64"]

#: Types that need no further check; the full check takes longer than a game step.
_INTEGERS = frozenset((int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])))

FAST_INTEGER_TYPES = frozenset((int, np.int64))
"""Types of nearly all actions; compiled code accepts them without conversion."""


def is_boolean(value: object) -> bool:
    """Return whether a value is a boolean: a Python bool, or a boolean scalar, array or tensor of any library."""
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))


def as_integer(value: Any) -> int | None:
    """Return a value of any integer type as an int; None for everything else, including booleans."""
    if type(value) not in _INTEGERS and is_boolean(value):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def has_boolean(values: Collection[object]) -> bool:
    """Return whether any value is a boolean; an integer array would silently store it as 0 or 1."""
    return not _INTEGERS.issuperset(map(type, values)) and any(map(is_boolean, values))


def as_action(value: object) -> int:
    """Return an action of any integer type as an int; -1, which is illegal, for everything else."""
    number = as_integer(value)
    return -1 if number is None else number


def seed_to_uint64(value: int | None, name: str = "seed") -> np.uint64:
    """Return a seed as a uint64; None gives fresh entropy. ValueError for anything but an integer >= 0."""
    if value is None:
        return np.uint64(secrets.randbits(64))
    number = as_integer(value)
    if number is None or number < 0:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least 0, or None")
    return np.uint64(number % 2**64)

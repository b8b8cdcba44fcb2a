"""Integer checks for external values. They reject booleans of any library, most of which convert to 0 or 1."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

import numpy as np

__all__ = ["as_integer", "has_boolean", "is_boolean"]

#: Types that need no further check; the full check takes longer than a game step.
_INTEGERS = frozenset((int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])))


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

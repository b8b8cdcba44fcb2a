"""Which values from outside are integers: booleans of no library are, although most of them pass for 0 or 1."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

import numpy as np

__all__ = ["has_boolean", "is_boolean", "whole_number"]

#: Types whose values need no further look, which takes longer than a step of a game.
_INTEGERS = frozenset((int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])))


def is_boolean(value: object) -> bool:
    """Return whether a value is a boolean: Python's, or a scalar, array or tensor of a boolean dtype of any library."""
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))


def whole_number(value: Any) -> int | None:
    """Return a whole number of any integer type as an int; None for everything else, booleans included."""
    if type(value) not in _INTEGERS and is_boolean(value):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def has_boolean(values: Collection[object]) -> bool:
    """Return whether there is a boolean among values; an array of them would hold it as 0 or 1."""
    return not _INTEGERS.issuperset(map(type, values)) and any(map(is_boolean, values))

"""Numbers from outside: whole ones, and seeds."""

from __future__ import annotations

import operator
import secrets

import numpy as np

__all__ = ["as_word", "whole_number"]


def as_word(value: int | None, name: str = "seed") -> np.uint64:
    """Return a seed as one 64-bit word; None stands for fresh entropy. ValueError for anything but an integer >= 0."""
    if value is None:
        return np.uint64(secrets.randbits(64))
    number = whole_number(value)
    if number is None or number < 0:
        raise ValueError(f"{name}: found {value!r}, expected a whole number of at least 0, or None")
    return np.uint64(number % 2**64)


def whole_number(value: object) -> int | None:
    """Return a whole number of any integer type as an int; None for everything else, truth values too."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        return None

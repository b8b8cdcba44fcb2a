"""Validate external numbers: integers and seeds."""

from __future__ import annotations

import secrets

import numpy as np

from helsinki_env.data import as_integer

__all__ = ["FAST_INTEGER_TYPES", "as_action", "as_integer", "seed_to_uint64"]

FAST_INTEGER_TYPES = frozenset((int, np.int64))
"""Types of nearly all actions; compiled code accepts them without conversion."""


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

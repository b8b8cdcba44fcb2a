"""Shared code to write, read and check positions of any game: records as plain numbers, and errors."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from helsinki_env.data import UserError, short_repr

__all__ = ["MAX_OBSERVED", "PositionError", "cell_list", "fail", "fill_record", "record_to_namespace"]

MAX_OBSERVED = 127
"""Limit for rounds and points, so that they fit into an int8 observation."""


class PositionError(UserError):
    """An invalid position. The message names the key, the value found and the expected value."""


def fail(key: str, found: object, expected: str) -> NoReturn:
    """Raise PositionError."""
    raise PositionError(f"position: {key}: found {short_repr(found)}, expected {expected}")


def cell_list(cells: int) -> list[int]:
    """Return the cells of a set (bit = cell), ascending."""
    found = []
    while cells:
        lowest = cells & -cells
        found.append(lowest.bit_length() - 1)
        cells ^= lowest
    return found


def record_to_namespace(state: Any) -> SimpleNamespace:
    """Return a record as plain numbers and lists by field name; direct access to a record is ten times slower."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def fill_record(states: Any, p: SimpleNamespace) -> None:
    """Write plain numbers into the single record of `states`: the inverse of `record_to_namespace`."""
    states[0] = tuple(getattr(p, name) for name in states.dtype.names)

"""What writing, reading and checking positions of any game share: a record as plain numbers, and how to complain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from helsinki_env.data import UserError, shown

__all__ = ["MOST_SAID", "PositionError", "cell_list", "fail", "fill", "plain"]

MOST_SAID = 127
"""Round and points stay within what an observation, which is int8, can say."""


class PositionError(UserError):
    """A position that cannot be read or played on. The message names key, value found and what is expected."""


def fail(key: str, found: object, expected: str) -> NoReturn:
    """Raise PositionError."""
    raise PositionError(f"position: {key}: found {shown(found)}, expected {expected}")


def cell_list(cells: int) -> list[int]:
    """Return the cells of a set (bit = cell), ascending."""
    found = []
    while cells:
        lowest = cells & -cells
        found.append(lowest.bit_length() - 1)
        cells ^= lowest
    return found


def plain(state: Any) -> SimpleNamespace:
    """Return a record as plain numbers and lists, by its field names: to work on it directly is ten times slower."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def fill(states: Any, p: SimpleNamespace) -> None:
    """Write plain numbers into the only record of `states`: the inverse of `plain`."""
    states[0] = tuple(getattr(p, name) for name in states.dtype.names)

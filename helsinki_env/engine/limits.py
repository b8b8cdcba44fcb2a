"""Check the range of every field in untrusted game records.

Kernels use field values as array indices, and Python code uses them as shift amounts and loop bounds. The validation of
a record therefore starts with range checks. A game registers its ranges for its record dtype with `register_limits`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from reprlib import repr as brief
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.states import States


@dataclass(frozen=True)
class Limits:
    """The smallest and largest value of each field, as records (1,), and the number of actions."""

    num_actions: int
    least: States
    most: States


#: For each record dtype, the dtype of the tables and the function that returns the limits for given tables.
_BY_DTYPE: dict[np.dtype[Any], tuple[np.dtype[Any], Callable[[Any], Limits]]] = {}


def register_limits(dtype: np.dtype[Any], tables: np.dtype[Any], limits: Callable[[Any], Limits]) -> None:
    """Register the ranges of a record dtype. `limits` returns them for a tables record of dtype `tables`."""
    _BY_DTYPE[dtype] = tables, limits


def limits_of(tables: Any, dtype: np.dtype[Any]) -> Limits | None:
    """Return the limits of a record dtype; None without limits. Raise ValueError for another game's tables."""
    if dtype not in _BY_DTYPE:
        return None
    kind, limits = _BY_DTYPE[dtype]
    if getattr(tables, "dtype", None) != kind or tables.shape != ():
        raise ValueError(f"tables: found {brief(tables)}, expected the tables of the same game: config.tables[0]")
    return limits(tables)


def fail_field(b: int, name: str, found: Any, expected: str) -> NoReturn:
    """Raise ValueError for an invalid field of a record."""
    raise ValueError(f"states: game {b}: {name}: found {brief(np.asarray(found).tolist())}, expected {expected}")


@kernel
def _first_outside(words, halves, small, low_words, low_halves, low_small, most_words, most_halves, most_small, ends):
    """Return the index of the first record with a field out of range, or the number of records if there is none.

    The fields are read as unsigned integers, so a value below the minimum wraps around to one above the maximum.
    """
    # Unsigned indices cannot be negative, so the compiler can vectorize the loops.
    of_words, of_halves, begin, end = ends[0] // 8, ends[1] // 2, np.uint64(ends[1]), np.uint64(ends[2])
    for b in range(len(small)):
        outside = False
        for i in range(of_words):
            outside |= words[b, i] - low_words[i] > most_words[i]
        for i in range(ends[0] // 2, of_halves):
            outside |= np.uint16(halves[b, i] - low_halves[i]) > most_halves[i]
        row, beyond = small[b], np.uint8(0)
        for j in range(begin, end):
            beyond |= np.uint8(np.uint8(row[j] - low_small[j]) > most_small[j])
        if outside or beyond != 0:
            return b
    return len(small)


def _views(states: States) -> list[npt.NDArray[Any]]:
    rows = states.view(np.uint8).reshape(len(states), states.dtype.itemsize)
    return [rows.view(width) for width in (np.uint64, np.uint16, np.uint8)]


@lru_cache(maxsize=16)
def _ends(dtype: np.dtype[Any]) -> npt.NDArray[np.int64]:
    """Return the byte offsets of the ends of the 8-byte, 2-byte and 1-byte fields."""
    fields: dict[str, Any] = dict(dtype.fields or {})
    ends, end = [], 0
    for width in (8, 2, 1):
        sizes = [(kind[1], kind[0].itemsize) for kind in fields.values() if kind[0].base.itemsize == width]
        assert all(begin >= end for begin, _ in sizes), "records: larger fields come first"
        end = max((begin + size for begin, size in sizes), default=end)
        ends.append(end)
    return np.array(ends, np.int64)


def first_out_of_range(states: States, limits: Limits) -> int:
    """Return the index of the first record with a field out of range, or the number of records if there is none."""
    low, most = ([view[0] for view in _views(record)] for record in (limits.least, limits.most))
    spans = [high - least for high, least in zip(most, low, strict=True)]
    return int(_first_outside(*_views(states), *low, *spans, _ends(states.dtype)))


def check_ranges(states: States, tables: Any, names: Sequence[str] | None = None) -> None:
    """Raise ValueError if any field of records, (B,), or any field in `names`, is outside its range.

    `tables` is ``config.tables[0]``. Records of games without registered ranges are not checked.
    """
    limits = limits_of(tables, states.dtype)
    if limits is None:
        return
    if names is None and first_out_of_range(np.ascontiguousarray(states), limits) == len(states):
        return
    for name in names or states.dtype.names or ():
        found, low, high = (array[name] for array in (states, limits.least, limits.most))
        outside = (found < low) | (found > high)
        if outside.any():
            index = np.argwhere(outside)[0].tolist()
            bounds = " to ".join(str(array[(0, *index[1:])]) for array in (low, high))
            fail_field(index[0], f"{name}{index[1:] or ''}", found[tuple(index)], bounds)

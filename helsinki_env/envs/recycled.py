"""Arrays that are handed out as new, and used again once nobody holds them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt


def _unused(arrays: list[npt.NDArray[Any]], most: int) -> tuple[npt.NDArray[Any] | None, int]:
    """Return the first array with at most so many references, and how many the array looked at last has."""
    found = 0
    for array in arrays:
        found = sys.getrefcount(array)
        if found <= most:
            return array, found
    return None, found


#: References of an array that only its list holds, counted in that very loop: they differ between Python versions.
_ONLY_LISTED = _unused([np.zeros(1)], 0)[1]


class Recycled:
    """Arrays of one shape, handed out as new and used again only when nobody holds them any more.

    Fresh memory costs more than writing it: the system clears every page. A caller who keeps an array (or a view of
    it, or a tensor over it) holds a reference, so it is never written again.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, copies: bool) -> None:
        self.shape, self.dtype, self.copies = shape, dtype, copies
        self.arrays: list[npt.NDArray[Any]] = []

    def take(self) -> npt.NDArray[Any]:
        """Return an array that nobody holds; without `copies` always the same one."""
        if self.arrays and not self.copies:
            return self.arrays[0]
        array = _unused(self.arrays, _ONLY_LISTED)[0]
        if array is None:
            array = np.empty(self.shape, self.dtype)
            if len(self.arrays) < 4:
                self.arrays.append(array)
        return array

    def __reduce__(self) -> tuple[Any, ...]:
        return Recycled, (self.shape, self.dtype, self.copies)


class RecycledPairs:
    """Pairs of int8 arrays of one dimension, handed out as new and used again once nobody holds either of them.

    Args:
        first: entries of the first array of each pair.
        second: entries of the second one.
    """

    def __init__(self, first: int, second: int) -> None:
        self.sizes = first, second
        self.pairs: list[tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]] = []

    def take(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return two arrays that nobody else holds, with anything in them."""
        for first, second in self.pairs:
            if sys.getrefcount(first) <= _ONLY_PAIRED and sys.getrefcount(second) <= _ONLY_PAIRED:
                return first, second
        pair = np.empty(self.sizes[0], np.int8), np.empty(self.sizes[1], np.int8)
        if len(self.pairs) < 4:
            self.pairs.append(pair)
        return pair

    def __reduce__(self) -> tuple[Any, ...]:
        return RecycledPairs, self.sizes


def _references_of_a_pair() -> int:
    """How many references an array has that only its pair holds, counted as `RecycledPairs.take` does."""
    for first, _ in [(np.empty(1), np.empty(1))]:
        return sys.getrefcount(first)
    raise AssertionError


_ONLY_PAIRED = _references_of_a_pair()

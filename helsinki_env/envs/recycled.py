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

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs: without `copies` the array too, as the next step writes only what changes in it."""
        return self.__dict__ | {"arrays": [] if self.copies else self.arrays}


class RecycledPairs:
    """Pairs of int8 arrays of one dimension, handed out as new and used again once nobody holds either of them.

    Args:
        first: entries of the first array of each pair.
        second: entries of the second one.
    """

    def __init__(self, first: int, second: int) -> None:
        self.sizes = first, second
        # That which was handed out before the last one comes first: who plays on holds the last one at most.
        self.early, self.late = self._pair(), self._pair()

    def _pair(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        return np.empty(self.sizes[0], np.int8), np.empty(self.sizes[1], np.int8)

    def take(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return two arrays that nobody else holds, with anything in them."""
        first, second = pair = self.early
        if _references(first) > _ONLY_PAIRED or _references(second) > _ONLY_PAIRED:
            pair = self._pair()  # somebody keeps them; those that are handed out now may come back
        self.early, self.late = self.late, pair
        return pair

    def __reduce__(self) -> tuple[Any, ...]:
        return RecycledPairs, self.sizes


_references = sys.getrefcount


def _references_of_a_pair() -> int:
    """How many references an array has that only its pair holds, counted as `RecycledPairs.take` does."""
    first, _ = pair = np.empty(1), np.empty(1)
    return _references(first) + 0 * len(pair)


_ONLY_PAIRED = _references_of_a_pair()

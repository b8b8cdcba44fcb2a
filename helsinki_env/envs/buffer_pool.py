"""Buffer pools, which reuse returned arrays once no references to them remain."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt


def _unused(arrays: list[npt.NDArray[Any]], limit: int) -> tuple[npt.NDArray[Any] | None, int]:
    """Return the first array with at most `limit` references, if any, and the count of the last array checked."""
    found = 0
    for array in arrays:
        found = sys.getrefcount(array)
        if found <= limit:
            return array, found
    return None, found


#: Reference count of an array that only its list refers to. Measured in the same loop, because it depends on the Python
#: version.
_ONLY_LISTED = _unused([np.zeros(1)], 0)[1]


def writable(value: Any) -> Any:
    """Return an unpickled array, or arrays in lists and named tuples, with copies of those that are read-only.

    Arrays that are pickled without copying them, as in shared memory, are read-only afterwards.
    """
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    if isinstance(value, list):
        return [writable(one) for one in value]
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(writable, value))
    return value


def writable_attributes(state: dict[str, Any]) -> dict[str, Any]:
    """Return the pickled attributes of an object with arrays that can be written."""
    return {name: writable(value) for name, value in state.items()}


class BufferPool:
    """Pool of arrays of one shape; an array is reused only when no references to it remain.

    Allocating an array takes longer than writing it, because the operating system clears every new page. The pool never
    overwrites an array that a caller still holds, directly or through a view or tensor.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any, copies: bool) -> None:
        self.shape, self.dtype, self.copies = shape, dtype, copies
        self.arrays: list[npt.NDArray[Any]] = []

    def take(self) -> npt.NDArray[Any]:
        """Return an unreferenced array; without `copies`, always return the same array."""
        if self.arrays and not self.copies:
            return self.arrays[0]
        array = _unused(self.arrays, _ONLY_LISTED)[0]
        if array is None:
            array = np.empty(self.shape, self.dtype)
            if len(self.arrays) < 4:
                self.arrays.append(array)
        return array

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for copying. Without `copies`, it includes the array that every step overwrites."""
        return self.__dict__ | {"arrays": [] if self.copies else self.arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the state of the copy."""
        self.__dict__.update(writable_attributes(state))


class BufferPairPool:
    """Pool of pairs of int8 arrays of two lengths; a pair is reused only when neither array is referenced."""

    def __init__(self, first: int, second: int) -> None:
        self.sizes = first, second
        # `early` is reused first, because a caller in a step loop holds at most the most recent pair, `late`.
        self.early, self.late = self._pair(), self._pair()

    def _pair(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        return np.empty(self.sizes[0], np.int8), np.empty(self.sizes[1], np.int8)

    def take(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Return two unreferenced arrays with arbitrary contents."""
        first, second = pair = self.early
        if _references(first) > _ONLY_PAIRED or _references(second) > _ONLY_PAIRED:
            pair = self._pair()  # the old pair is still referenced, so a new one takes its place in the pool
        self.early, self.late = self.late, pair
        return pair

    def __reduce__(self) -> tuple[Any, ...]:
        return BufferPairPool, self.sizes


_references = sys.getrefcount


def _references_of_a_pair() -> int:
    """Return the reference count of an array that only its pair refers to, measured as in `BufferPairPool.take`."""
    first, _ = pair = np.empty(1), np.empty(1)
    return _references(first) + 0 * len(pair)


_ONLY_PAIRED = _references_of_a_pair()

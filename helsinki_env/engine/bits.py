"""Operate on sets of cells, actions or abilities, stored as one int64 with one bit for each member."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

_K1 = np.uint64(0x5555555555555555)
_K2 = np.uint64(0x3333333333333333)
_K4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_KF = np.uint64(0x0101010101010101)


@kernel
def popcount(cells):
    """Return the number of members of a set. The compiler reduces this to a single instruction."""
    x = np.uint64(cells)
    x = x - ((x >> np.uint64(1)) & _K1)
    x = (x & _K2) + ((x >> np.uint64(2)) & _K2)
    x = (x + (x >> np.uint64(4))) & _K4
    return np.int64((x * _KF) >> np.uint64(56))


@kernel
def lowest_bit(cells):
    """Return the lowest member of a non-empty set."""
    return popcount((cells & -cells) - 1)


@kernel
def bit(cell):
    """Return the set that contains only this member."""
    return np.int64(1) << np.int64(cell)

"""Sets of cells as one int64: bit `7 * row + column`, row 0 in the north, column 0 in the west."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

CELLS = 49
BOARD = np.int64((1 << CELLS) - 1)
ROW = np.int64(127)
COLUMN = np.int64(sum(1 << 7 * row for row in range(7)))
_EAST_EDGE = np.int64(int(COLUMN) << 6)
_WEST_EDGE = COLUMN
_K1 = np.uint64(0x5555555555555555)
_K2 = np.uint64(0x3333333333333333)
_K4 = np.uint64(0x0F0F0F0F0F0F0F0F)
_KF = np.uint64(0x0101010101010101)


@kernel
def count(cells):
    """Number of cells in the set (the compiler turns this into one instruction)."""
    x = np.uint64(cells)
    x = x - ((x >> np.uint64(1)) & _K1)
    x = (x & _K2) + ((x >> np.uint64(2)) & _K2)
    x = (x + (x >> np.uint64(4))) & _K4
    return np.int64((x * _KF) >> np.uint64(56))


@kernel
def lowest(cells):
    """Index of the lowest cell of a set that is not empty."""
    return count((cells & -cells) - 1)


@kernel
def bit(cell):
    """The set that holds this one cell."""
    return np.int64(1) << np.int64(cell)


@kernel
def neighbours(cells):
    """Cells that touch the set edge to edge (some may belong to the set itself)."""
    return ((cells << 7) | (cells >> 7) | ((cells & ~_EAST_EDGE) << 1) | ((cells & ~_WEST_EDGE) >> 1)) & BOARD


@kernel
def connected(cells, targets):
    """Whether all `targets` lie in one edge-connected part of `cells`."""
    if targets & ~cells:
        return False
    part = targets & -targets
    while True:
        grown = (part | neighbours(part)) & cells
        if grown == part:
            return targets & ~part == 0
        part = grown

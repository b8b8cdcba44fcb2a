"""Operate on sets of cells, stored as one int64 with bit `5 * y + x`; x = 0 is on the left, y = 0 on the ground.

A line is identified by its first cell: a row by the cell with x = 0 (bit `5 * y`), a column by the cell with y = 0 (bit
`x`).
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

BOARD = np.int64((1 << 45) - 1)
#: The lowest row and the leftmost column.
GROUND = np.int64(31)
LEFT = np.int64(sum(1 << 5 * y for y in range(9)))
_RIGHT = np.int64(int(LEFT) << 4)


@kernel
def neighbors(cells):
    """Return the cells that share an edge with a cell of the set, including such cells of the set itself."""
    return ((cells << 5) | (cells >> 5) | ((cells & ~_RIGHT) << 1) | ((cells & ~LEFT) >> 1)) & BOARD


@kernel
def supported(filled):
    """Return the empty cells that are on the ground or directly above a filled cell."""
    return (GROUND | filled << 5) & ~filled & BOARD


@kernel
def full_rows(cells):
    """Return the rows that the set fully contains, each as its leftmost cell."""
    pairs = cells & cells >> 1
    return pairs & pairs >> 2 & cells >> 4 & LEFT


@kernel
def full_columns(cells):
    """Return the columns that the set fully contains, each as its lowest cell."""
    pairs = cells & cells >> 5
    fours = pairs & pairs >> 10
    return fours & fours >> 20 & cells >> 40 & GROUND

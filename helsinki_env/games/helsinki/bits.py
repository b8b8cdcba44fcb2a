"""Sets of cells as int64: bit `7 * row + column`, with row 0 in the north and column 0 in the west."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

CELLS = 49
BOARD = np.int64((1 << CELLS) - 1)
ROW = np.int64(127)
COLUMN = np.int64(sum(1 << 7 * row for row in range(7)))
_EAST_EDGE = np.int64(int(COLUMN) << 6)
_WEST_EDGE = COLUMN


@kernel
def neighbors(cells):
    """Return the cells that share an edge with a cell of the set (they may include cells of the set)."""
    return ((cells << 7) | (cells >> 7) | ((cells & ~_EAST_EDGE) << 1) | ((cells & ~_WEST_EDGE) >> 1)) & BOARD


@kernel
def connected(cells, targets):
    """Return whether all `targets` lie in one edge-connected component of `cells`."""
    if targets & ~cells:
        return False
    part = targets & -targets
    while True:
        grown = (part | neighbors(part)) & cells
        if grown == part:
            return targets & ~part == 0
        part = grown

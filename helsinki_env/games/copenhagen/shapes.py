"""Find the placements of tiles in all their orientations (rules, section 3, "Placement").

All placements of an orientation are tested together. Shifting a set of cells by the offset of a tile cell gives the
corners at which this tile cell is in the set. The intersection of the shifted sets of empty cells contains the corners
at which the tile lies on empty cells. Unions give the corners at which it has support or touches its own color.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

MOST_CELLS = 5
ShapeRows = tuple[str, ...]


def offsets_of(drawing: ShapeRows) -> tuple[list[int], int]:
    """Return the (cells, brick) of a drawing whose bounding box is in the lower left corner of the board."""
    height = len(drawing)
    marks = {5 * (height - 1 - i) + j: mark for i, row in enumerate(drawing) for j, mark in enumerate(row)}
    cells = sorted(cell for cell, mark in marks.items() if mark != ".")
    return cells, next(cell for cell, mark in marks.items() if mark == "B")


@kernel
def placements(t, piece, filled, support):
    """Return the corners at which an orientation covers only empty cells, at least one of them in `support`."""
    free, stands = np.int64(t.corners[piece]), np.int64(0)
    for i in range(MOST_CELLS):
        offset = t.offsets[piece, i]
        free &= ~(filled >> offset)
        stands |= support >> offset
    return free & stands


@kernel
def meeting(t, piece, cells):
    """Return the corners at which an orientation has a cell in `cells`, including corners off the board."""
    corners = np.int64(0)
    for i in range(MOST_CELLS):
        corners |= cells >> t.offsets[piece, i]
    return corners


@kernel
def tile_cells(t, piece, corner):
    """Return the cells of a tile in an orientation whose bounding box has this lower left corner."""
    return np.int64(t.cells[piece]) << np.int64(corner)

"""Orientations of the tiles, and where they can lie (rules, section 3, "Placement").

All places of an orientation are judged at once: shifting a set of cells down by the offset of one cell of the tile
turns it into the set of corners for which that cell lies in it. So the tile lies on empty cells where all of these sets
of corners meet, and it is supported, or touches its own colour, where any of them does.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

MOST_CELLS = 5
Drawing = tuple[str, ...]


def offsets_of(drawing: Drawing) -> tuple[list[int], int]:
    """Return (cells, brick) of a drawing, as cells of the board when it lies in the lower left corner."""
    height = len(drawing)
    marks = {5 * (height - 1 - i) + j: mark for i, row in enumerate(drawing) for j, mark in enumerate(row)}
    cells = sorted(cell for cell, mark in marks.items() if mark != ".")
    return cells, next(cell for cell, mark in marks.items() if mark == "B")


@kernel
def placements(t, piece, filled, support):
    """Corners at which an orientation lies on empty cells, at least one of them in `support`."""
    free, stands = np.int64(t.corners[piece]), np.int64(0)
    for i in range(MOST_CELLS):
        offset = t.offsets[piece, i]
        free &= ~(filled >> offset)
        stands |= support >> offset
    return free & stands


@kernel
def meeting(t, piece, cells):
    """Corners at which some cell of an orientation belongs to `cells`; it may reach beyond the board."""
    corners = np.int64(0)
    for i in range(MOST_CELLS):
        corners |= cells >> t.offsets[piece, i]
    return corners


@kernel
def tile_cells(t, piece, corner):
    """Cells of a tile: its orientation, moved to where its bounding box lies."""
    return np.int64(t.cells[piece]) << np.int64(corner)

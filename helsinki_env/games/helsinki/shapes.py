"""Orientations of the shapes, and how far a tile slides onto a board (rules page, "Place").

A slide is a few ANDs. Seen from one side, `profile` packs the board into eight 7-bit sets: byte k holds the lanes in
which a built cell lies among the first k cells. A tile of width w comes to rest in lane x exactly if

- no column j of the tile meets a built cell before the whole tile is on the grid: lane x + j is free among
  its first `low[j]` cells, and
- some column meets one before the tile would leave at the far side: a built cell among the first `high[j]`.

So all lanes of an orientation are judged at once, by shifting and joining those sets.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.bits import BOARD, COLUMN, ROW

NORTH, EAST, SOUTH, WEST = range(4)
MOST_ROOFS = 5
Drawing = tuple[str, ...]

# Bits 0, 7, .., 42 move together in three steps: to pairs 14 apart, to fours 28 apart, to one row.
_PAIRS = np.int64(0b11 | 0b11 << 14 | 0b11 << 28 | 0b11 << 42)
_FOURS = np.int64(0b1111 | 0b1111 << 28)


def cells_of(drawing: Drawing) -> tuple[tuple[int, int], ...]:
    """Return the (row, column) of every roof of a drawing."""
    return tuple((i, j) for i, row in enumerate(drawing) for j, mark in enumerate(row) if mark == "X")


def seen_from(drawing: Drawing, side: int) -> tuple[int, list[int]]:
    """Return (length, fronts) of a tile pushed from `side`.

    Length is its extent along the push; fronts has for each of its lanes the distance from its trailing edge to its
    foremost roof.
    """
    height, width = len(drawing), len(drawing[0])
    fronts: dict[int, int] = {}
    for row, column in cells_of(drawing):
        depth = (row, width - 1 - column, height - 1 - row, column)[side]
        lane = column if side in (NORTH, SOUTH) else row
        fronts[lane] = max(fronts.get(lane, 0), depth)
    return (height if side in (NORTH, SOUTH) else width), [fronts[lane] for lane in sorted(fronts)]


@kernel
def _column(built, column):
    """The seven cells of one column, north first, as a 7-bit set."""
    cells = (built >> column) & COLUMN
    cells = (cells | (cells >> 6)) & _PAIRS
    cells = (cells | (cells >> 12)) & _FOURS
    return (cells | (cells >> 24)) & ROW


@kernel
def profile(built, side):
    """Pack a board as seen from a side: byte k = lanes with a built cell among the first k (k = 0..7)."""
    seen = np.int64(0)
    packed = np.int64(0)
    for k in range(7):
        if side == NORTH:
            seen |= (built >> (7 * k)) & ROW
        elif side == SOUTH:
            seen |= (built >> (42 - 7 * k)) & ROW
        elif side == WEST:
            seen |= _column(built, k)
        else:
            seen |= _column(built, 6 - k)
        packed |= seen << (8 * k + 8)
    return packed


@kernel
def lanes(t, piece, side, packed):
    """Set of lanes in which this orientation can be pushed in from a side (bit = lane)."""
    low = t.low[piece, side]
    high = t.high[piece, side]
    free = ~(packed >> low[0]) & t.lanes[piece, side]
    stop = packed >> high[0]
    for j in range(1, MOST_ROOFS):
        free &= ~((packed >> low[j]) & ROW) >> j
        stop |= ((packed >> high[j]) & ROW) >> j
    return free & stop


@kernel
def fits(t, kind, side, built):
    """Whether a tile can be pushed in from a side in any orientation and lane."""
    return fits_in(t, kind, side, profile(built, side))


@kernel
def fits_in(t, kind, side, packed):
    """Like `fits`, for a board that is packed already."""
    for orientation in range(t.orientations[kind]):
        if lanes(t, 8 * kind + orientation, side, packed):
            return True
    return False


@kernel
def corner_at(t, piece, side, lane, depth):
    """Return the cell of the north-west corner of the bounding box of a tile that was pushed in `depth` cells deep."""
    length = np.int64(t.width[piece, (side + 1) % 4])
    if side == NORTH:
        return 7 * depth + lane
    if side == SOUTH:
        return 7 * (7 - length - depth) + lane
    if side == WEST:
        return 7 * lane + depth
    return 7 * lane + (7 - length - depth)


@kernel
def rest(t, piece, side, lane, built):
    """Return the cell of the north-west corner of the bounding box where a legal slide ends."""
    packed = profile(built, side)
    depth = np.int64(7)
    for j in range(t.width[piece, side]):
        front = np.int64(t.low[piece, side, j]) // 8 - 1
        for free in range(7):
            if (packed >> (8 * free + 8 + lane + j)) & 1:
                depth = min(depth, free - 1 - front)
                break
    return corner_at(t, piece, side, lane, depth)


@kernel
def tile_cells(t, piece, corner):
    """Cells of a tile: its orientation, moved to where its bounding box lies."""
    return (np.int64(t.roofs_mask[piece]) << np.int64(corner)) & BOARD

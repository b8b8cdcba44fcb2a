"""Orientations of the shapes, and the distance that a tile slides onto a board (rules page, "Place").

`profile` packs a board, seen from one side, into eight 7-bit sets: byte k holds the lanes that have a built cell among
the first k cells. A tile pushed into lane x comes to rest on the board if and only if

- no column j of the tile hits a built cell before the whole tile is on the board: the first `low[j]` cells of lane x +
  j are free, and
- some column j hits a built cell before the tile leaves the board on the far side: lane x + j has a built cell among
  its first `high[j]` cells.

Shifting and combining these sets tests all lanes of an orientation together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import fill_vector, load_vector, make_intrinsic, reduce_vector, reverse_bytes
from helsinki_env.games.helsinki.bits import BOARD, ROW

NORTH, EAST, SOUTH, WEST = range(4)
MOST_ROOFS = 5
ShapeRows = tuple[str, ...]

#: Masks that spread rows of seven bits into bytes in three steps; each step moves the upper half of every part.
_FOUR_ROWS = np.int64(0xFFFFFFF)
_TWO_ROWS, _UPPER_TWO = np.int64(0x3FFF00003FFF), np.int64(0x0FFFC0000FFFC000)
_ONE_ROW, _UPPER_ONE = np.int64(0x7F007F007F007F), np.int64(0x3F803F803F803F80)
#: Masks that transpose an 8x8 bit matrix by swapping bits, then pairs, then fours (Warren, "Hacker's Delight", 7-3).
_SWAPPED = tuple(np.int64(mask) for mask in (0x00AA00AA00AA00AA, 0x0000CCCC0000CCCC, 0x00000000F0F0F0F0))
_LANES = np.int64(0x7F7F7F7F7F7F7F00)


def cells_of(drawing: ShapeRows) -> tuple[tuple[int, int], ...]:
    """Return the (row, column) of every roof in a drawing."""
    return tuple((i, j) for i, row in enumerate(drawing) for j, mark in enumerate(row) if mark == "X")


def seen_from(drawing: ShapeRows, side: int) -> tuple[int, list[int]]:
    """Return (length, fronts) of a tile that is pushed in from `side`.

    The length is the extent of the tile along the push. `fronts` contains, for each lane, the distance from the
    trailing edge of the tile to its foremost roof.
    """
    height, width = len(drawing), len(drawing[0])
    fronts: dict[int, int] = {}
    for row, column in cells_of(drawing):
        depth = (row, width - 1 - column, height - 1 - row, column)[side]
        lane = column if side in (NORTH, SOUTH) else row
        fronts[lane] = max(fronts.get(lane, 0), depth)
    return (height if side in (NORTH, SOUTH) else width), [fronts[lane] for lane in sorted(fronts)]


@kernel
def _rows(built):
    """Return the rows of a board as bytes, with the northernmost row in the lowest byte."""
    x = (built & _FOUR_ROWS) | (built >> 28 << 32)
    x = (x & _TWO_ROWS) | ((x & _UPPER_TWO) << 2)
    return (x & _ONE_ROW) | ((x & _UPPER_ONE) << 1)


@kernel
def _columns(rows):
    """Transpose the bytes of `_rows`."""
    x = rows
    swapped = (x ^ (x >> 7)) & _SWAPPED[0]
    x ^= swapped ^ (swapped << 7)
    swapped = (x ^ (x >> 14)) & _SWAPPED[1]
    x ^= swapped ^ (swapped << 14)
    swapped = (x ^ (x >> 28)) & _SWAPPED[2]
    return x ^ swapped ^ (swapped << 28)


@kernel
def profile(built, side):
    """Pack a board, seen from a side: byte k holds the lanes that have a built cell among the first k cells."""
    rows = _rows(np.int64(built))
    seen = _columns(rows) if side == EAST or side == WEST else rows
    # Byte 0 stays empty, and byte 1 gets the row next to the side.
    seen = reverse_bytes(seen) if side == EAST or side == SOUTH else seen << 8
    seen |= seen << 8
    seen |= seen << 16
    seen |= seen << 32
    return seen & _LANES


@kernel
def lanes(t, piece, side, packed):
    """Return the set of lanes in which a tile in this orientation can be pushed in from a side (bit = lane)."""
    low = t.low[piece, side]
    high = t.high[piece, side]
    free = ~(packed >> low[0]) & t.lanes[piece, side]
    stop = packed >> high[0]
    for j in range(1, MOST_ROOFS):
        free &= ~((packed >> low[j]) & ROW) >> j
        stop |= ((packed >> high[j]) & ROW) >> j
    return free & stop


def _slides(low: Any, high: Any, lanes_within: Any, row: int, packed: int) -> Any:
    """Return the results of `lanes` for all eight orientations of a tile: int64, bit 7 * orientation + lane.

    `low` and `high` are int8 (..., 5, 8), and `lanes_within` is int8 (..., 8); `row` selects a tile and a side.
    `packed` is a result of `profile`.
    """
    low, high = low.reshape(-1, MOST_ROOFS, 8)[row], high.reshape(-1, MOST_ROOFS, 8)[row]
    found = 0
    for orientation, within in enumerate(lanes_within.reshape(-1, 8)[row]):
        free, stop = int(within), 0
        for j in range(MOST_ROOFS):
            free &= ~((int(packed) >> int(low[j, orientation]) & 127) >> j)
            stop |= (int(packed) >> int(high[j, orientation]) & 127) >> j
        found |= (free & stop) << 7 * orientation
    return np.int64(found)


def _slides_code(builder: Any, addressed: Any, whole: Any, arguments: Any) -> Any:  # pragma: no cover
    """Emit code for `_slides` that processes all eight orientations in vectors of eight 64-bit integers."""
    bytes_, numbers = ir.VectorType(ir.IntType(8), 8), ir.VectorType(ir.IntType(64), 8)
    row, packed = whole(3), ir.Constant(numbers, ir.Undefined)
    for orientation in range(8):
        packed = builder.insert_element(packed, whole(4), ir.IntType(32)(orientation))

    def by_orientation(argument: int, rows: int, j: int) -> Any:
        """Load entry `j` of an array row for each orientation; `rows` is the number of entries per row."""
        at = builder.add(builder.mul(row, ir.IntType(64)(8 * rows)), ir.IntType(64)(8 * j))
        return builder.zext(load_vector(builder, builder.gep(addressed(argument), [at]), bytes_), numbers)

    def lanes_at(argument: int, j: int) -> Any:
        """Emit ``(packed >> entry & 127) >> j``: the lanes in which column `j` of the tile hits a built cell."""
        met = builder.lshr(packed, by_orientation(argument, MOST_ROOFS, j))
        return builder.lshr(builder.and_(met, fill_vector(numbers, 127)), fill_vector(numbers, j))

    free, stop = by_orientation(2, 1, 0), fill_vector(numbers, 0)
    for j in range(MOST_ROOFS):
        free = builder.and_(free, builder.not_(lanes_at(0, j)))
        stop = builder.or_(stop, lanes_at(1, j))
    shifts = ir.Constant(numbers, list(range(0, 56, 7)))
    return reduce_vector(builder, "or", builder.shl(builder.and_(free, stop), shifts))


def _slides_loop(low, high, lanes_within, row, packed):  # pragma: no cover
    found = np.int64(0)
    for orientation in range(8):
        free, stop = np.int64(lanes_within[row >> 2, row & 3, orientation]), np.int64(0)
        for j in range(MOST_ROOFS):
            free &= ~((packed >> np.int64(low[row >> 2, row & 3, j, orientation]) & 127) >> j)
            stop |= (packed >> np.int64(high[row >> 2, row & 3, j, orientation]) & 127) >> j
        found |= (free & stop) << 7 * orientation
    return found


slides_of = make_intrinsic(_slides, lambda *arguments: types.int64(*arguments), _slides_code, _slides_loop)


@kernel
def legal_slides(t, kind, side, packed):
    """Return the legal placements of a tile from a side, as a set with bit 7 * orientation + lane."""
    return slides_of(t.low_of_kind, t.high_of_kind, t.lanes_of_kind, 4 * kind + side, packed)


@kernel
def fits(t, kind, side, built):
    """Return whether a tile can be pushed in from a side in any orientation and lane."""
    return legal_slides(t, kind, side, profile(built, side)) != 0


@kernel
def fits_in(t, kind, side, packed):
    """Return the result of `fits` for a board packed by `profile`."""
    return legal_slides(t, kind, side, packed) != 0


@kernel
def corner_at(t, piece, side, lane, depth):
    """Return the north-west cell of a tile's bounding box after the tile is pushed in by `depth` cells."""
    length = np.int64(t.width[piece, (side + 1) % 4])
    if side == NORTH:
        return 7 * depth + lane
    if side == SOUTH:
        return 7 * (7 - length - depth) + lane
    if side == WEST:
        return 7 * lane + depth
    return 7 * lane + (7 - length - depth)


@kernel
def resting_corner(t, piece, side, lane, built):
    """Return the north-west cell of a tile's bounding box after a legal slide."""
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
    """Return the cells of a tile in this orientation whose bounding box has its north-west corner at `corner`."""
    return (np.int64(t.roofs_mask[piece]) << np.int64(corner)) & BOARD

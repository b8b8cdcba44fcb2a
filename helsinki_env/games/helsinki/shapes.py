"""Orientations of the shapes, and how far a tile slides onto a board (rules page, "Place").

A slide takes a few AND operations. `profile` packs the board, seen from one side, into eight 7-bit sets: byte k holds
the lanes with a built cell among the first k cells. A tile of width w comes to rest in lane x exactly if

- no column j of the tile meets a built cell before the whole tile is on the grid: lane x + j is free among its first
  `low[j]` cells, and
- some column meets one before the tile would leave at the far side: a built cell among the first `high[j]`.

Shifting and combining those sets tests all lanes of an orientation together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import make_intrinsic, reverse_bytes
from helsinki_env.games.helsinki.bits import BOARD, ROW

NORTH, EAST, SOUTH, WEST = range(4)
MOST_ROOFS = 5
ShapeRows = tuple[str, ...]

#: Three steps spread rows of seven bits into bytes; each step moves the upper half of every part.
_FOUR_ROWS = np.int64(0xFFFFFFF)
_TWO_ROWS, _UPPER_TWO = np.int64(0x3FFF00003FFF), np.int64(0x0FFFC0000FFFC000)
_ONE_ROW, _UPPER_ONE = np.int64(0x7F007F007F007F), np.int64(0x3F803F803F803F80)
#: Transpose an 8x8 bit matrix by swapping bits, then pairs, then fours (Warren, "Hacker's Delight", 7-3).
_SWAPPED = tuple(np.int64(mask) for mask in (0x00AA00AA00AA00AA, 0x0000CCCC0000CCCC, 0x00000000F0F0F0F0))
_LANES = np.int64(0x7F7F7F7F7F7F7F00)


def cells_of(drawing: ShapeRows) -> tuple[tuple[int, int], ...]:
    """Return the (row, column) of every roof of a drawing."""
    return tuple((i, j) for i, row in enumerate(drawing) for j, mark in enumerate(row) if mark == "X")


def seen_from(drawing: ShapeRows, side: int) -> tuple[int, list[int]]:
    """Return (length, fronts) of a tile pushed from `side`.

    Length is the tile's extent along the push. For each lane, fronts holds the distance from the tile's trailing edge
    to its foremost roof.
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
    """Rows of a board as bytes, the northernmost row lowest."""
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
    """Pack a board as seen from a side: byte k = lanes with a built cell among the first k (k = 0..7)."""
    rows = _rows(np.int64(built))
    seen = _columns(rows) if side == EAST or side == WEST else rows
    # Byte 0 stays empty: from the far side the last row moves to byte 1, from the near side the first row does.
    seen = reverse_bytes(seen) if side == EAST or side == SOUTH else seen << 8
    seen |= seen << 8
    seen |= seen << 16
    seen |= seen << 32
    return seen & _LANES


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


def _slides(low: Any, high: Any, lanes_within: Any, row: int, packed: int) -> Any:
    """Like `lanes`, for all eight orientations of a tile: int64, bit 7 * orientation + lane.

    Row `row` of `low` and `high`, int8 (.., 5, 8), and of `lanes_within`, int8 (.., 8); `packed` comes from `profile`.
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
    number, byte = ir.IntType(64), ir.IntType(8)
    eight, wide = ir.VectorType(byte, 8), ir.VectorType(number, 8)
    row, first = whole(3), ir.IntType(32)(0)

    def eight_at(argument: int, at: Any) -> Any:
        address = builder.gep(addressed(argument), [at])
        found = builder.load(builder.bitcast(address, eight.as_pointer()))
        found.align = 1
        return builder.zext(found, wide)

    def everywhere(value: Any) -> Any:
        alone = builder.insert_element(ir.Constant(wide, ir.Undefined), value, first)
        return builder.shuffle_vector(
            alone, ir.Constant(wide, ir.Undefined), ir.Constant(ir.VectorType(ir.IntType(32), 8), [0] * 8)
        )

    board, seven = everywhere(whole(4)), ir.Constant(wide, [127] * 8)
    free, stop = eight_at(2, builder.mul(row, number(8))), None
    for j in range(MOST_ROOFS):
        at, shift = builder.add(builder.mul(row, number(8 * MOST_ROOFS)), number(8 * j)), ir.Constant(wide, [j] * 8)
        met = builder.lshr(builder.and_(builder.lshr(board, eight_at(0, at)), seven), shift)
        free = builder.and_(free, builder.not_(met))
        end = builder.lshr(builder.and_(builder.lshr(board, eight_at(1, at)), seven), shift)
        stop = end if stop is None else builder.or_(stop, end)
    legal = builder.shl(builder.and_(free, stop), ir.Constant(wide, list(range(0, 56, 7))))
    name = "llvm.vector.reduce.or.v8i64"
    function = cgutils.get_or_insert_function(builder.module, ir.FunctionType(number, [wide]), name)
    return builder.call(function, [legal])


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
    """Legal placements of a tile from a side, as a set: bit = 7 * orientation + lane."""
    return slides_of(t.low_of_kind, t.high_of_kind, t.lanes_of_kind, 4 * kind + side, packed)


@kernel
def fits(t, kind, side, built):
    """Whether a tile can be pushed in from a side in any orientation and lane."""
    return legal_slides(t, kind, side, profile(built, side)) != 0


@kernel
def fits_in(t, kind, side, packed):
    """Like `fits`, for a board packed by `profile`."""
    return legal_slides(t, kind, side, packed) != 0


@kernel
def corner_at(t, piece, side, lane, depth):
    """Return the cell of the north-west corner of the bounding box of a tile pushed in `depth` cells deep."""
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
    """Return the cell of the north-west corner of the bounding box after a legal slide."""
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
    """Cells of a tile in this orientation, with its bounding box at `corner`."""
    return (np.int64(t.roofs_mask[piece]) << np.int64(corner)) & BOARD

"""Visibility of cells from the sides of a board."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.bits import BOARD, COLUMN
from helsinki_env.games.helsinki.shapes import NORTH, SOUTH, WEST

__all__ = ["first_reachable_side", "shadow"]

_MIDDLE_WEST = np.int64(sum(int(COLUMN) << column for column in range(1, 7)))
_TWO_WEST = np.int64(sum(int(COLUMN) << column for column in range(2, 7)))
_FOUR_WEST = np.int64(sum(int(COLUMN) << column for column in range(4, 7)))
_MIDDLE_EAST = np.int64(sum(int(COLUMN) << column for column in range(6)))
_TWO_EAST = np.int64(sum(int(COLUMN) << column for column in range(5)))
_FOUR_EAST = np.int64(sum(int(COLUMN) << column for column in range(3)))


@kernel
def shadow(cells, side):
    """Return the cells and all those behind them, as seen from a side."""
    if side == NORTH:
        cells |= cells << 7
        cells |= cells << 14
        return (cells | cells << 28) & BOARD
    if side == SOUTH:
        cells |= cells >> 7
        cells |= cells >> 14
        return cells | cells >> 28
    if side == WEST:
        cells |= (cells << 1) & _MIDDLE_WEST
        cells |= (cells << 2) & _TWO_WEST
        return cells | (cells << 4) & _FOUR_WEST
    cells |= (cells >> 1) & _MIDDLE_EAST
    cells |= (cells >> 2) & _TWO_EAST
    return cells | (cells >> 4) & _FOUR_EAST


@kernel
def first_reachable_side(space):
    """Return the first of the two adjacent sides that a token on a space reaches in its next turn."""
    return (space + 1) // 2 % 4

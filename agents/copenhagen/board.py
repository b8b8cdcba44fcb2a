"""Gain of a tile on a board, and its best placement."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.actions import CELLS, ORIENTATIONS
from helsinki_env.games.copenhagen.bits import BOARD, GROUND, LEFT, neighbors, supported
from helsinki_env.games.copenhagen.score import line_points
from helsinki_env.games.copenhagen.shapes import meeting, placements

__all__ = ["WIN", "placement_gain", "remember_placements", "white_gain"]

#: Gain of ending the game by points, which wins it.
WIN = 40.0
#: Practical maximum of the points of one tile; farther from the goal, ending the game is not considered.
_REACH = 10
_RIGHT = np.int64(int(LEFT) << 4)


@kernel
def _cells_gain(t, w, v, cells, bricks):
    """Return the gain of cells apart from their lines: coats, holes, adjacent edges, reaching the goal."""
    after = v.filled | cells
    empty = BOARD & ~after
    gain = v.coat * popcount(cells & t.coats)
    lonely = empty & ~neighbors(empty) & ~v.lonely
    while lonely:
        gain -= v.gap[lowest_bit(lonely)]
        lonely &= lonely - 1
    touched = (
        popcount(neighbors(cells) & v.filled)
        + popcount(cells & LEFT)
        + popcount(cells & _RIGHT)
        + popcount(cells & GROUND)
    )
    gain += v.later * (w.snug * touched - w.overhang * (popcount(empty & after >> 5) - v.overhangs))
    if v.points + _REACH >= t.goal and v.points + line_points(t, v.filled, after, v.bricks | bricks) >= t.goal:
        gain += WIN
    return gain


@kernel
def placement_gain(t, p, w, v, kind, piece, corner):
    """Return the gain of a tile at a position, without the hand. Coats of arms count as future rewards."""
    y, x = corner // 5, corner % 5
    gain = 0.0
    for i in range(t.height[piece]):
        gain += v.row_gain[y + i, p.in_row[piece, i], np.int64(p.brick_row[piece] == i)]
    for i in range(t.width[piece]):
        gain += v.column_gain[x + i, p.in_column[piece, i], np.int64(p.brick_column[piece] == i)]
    cells = np.int64(t.cells[piece]) << corner
    gain += _cells_gain(t, w, v, cells, np.int64(1) << (corner + t.brick[piece]))
    own = kind // 4
    for colour in range(5):
        near = v.near[colour] & ~cells
        if colour == own:
            near = neighbors(v.coloured[own] | cells) & ~(v.filled | cells)
        if near != v.near[colour]:
            gain += v.touch[popcount(near)] - v.touch[popcount(v.near[colour])]
    return gain


@kernel
def _reopened(w, gain, now):
    """Return the gain of a cell in a line whose value was reduced because of that cell."""
    return (gain + now) / max(w.closed, 0.01) - now


@kernel
def white_gain(t, w, v, cell):
    """Return the gain of a white tile on a cell."""
    cells = np.int64(1) << cell
    row, column = v.row_gain[cell // 5, 1, 0], v.column_gain[cell % 5, 1, 0]
    if v.lonely & cells:  # only a white tile fits: the values of its lines were reduced
        row, column = _reopened(w, row, v.row_now[cell // 5]), _reopened(w, column, v.column_now[cell % 5])
    gain = row + column + _cells_gain(t, w, v, cells, np.int64(0))
    for colour in range(5):
        if v.near[colour] & cells:
            near = popcount(v.near[colour])
            gain += v.touch[near - 1] - v.touch[near]
    return gain


@kernel
def remember_placements(t, p, w, v, kind):
    """Find the best placements of a tile, alone and touching its own color, unless cached."""
    if v.known[kind]:
        return
    v.known[kind] = 1
    for touching in range(2):
        v.best[kind, touching] = ILLEGAL_VALUE
        v.place[kind, touching] = -1
    support = supported(v.filled)
    for orientation in range(t.orientations[kind]):
        piece = ORIENTATIONS * kind + orientation
        corners = placements(t, piece, v.filled, support)
        meets = meeting(t, piece, v.near[kind // 4])
        while corners:
            corner = lowest_bit(corners)
            corners &= corners - 1
            touching = (meets >> corner) & 1
            gain = placement_gain(t, p, w, v, kind, piece, corner)
            if gain > v.best[kind, touching]:
                v.best[kind, touching] = gain
                v.place[kind, touching] = CELLS * orientation + corner

"""A seat's view of its own board, cached until the board changes, and the gain from placing tiles on it.

A line (row or column) with m empty cells is assumed to be full at the end of the game with probability q^(m^d). The
value of q decreases during the game and is 0 in the last turn; d is the weight `line_depth`. The gain in expected
points from filling a few more cells of a line, with or without a brick, is therefore a table lookup.

In all kernels of this package, `t` is the record of the component file's tables and `p` the record of `piece_table`.
`w` are the weights (`helsinki_env.agents.copenhagen.weights`). `g` is a game reconstructed from the observation of the
acting seat, or a determinization of it in a playout. `v` is a scratch record of dtype `VIEW_DTYPE`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, onset
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.actions import CELLS, ORIENTATIONS
from helsinki_env.games.copenhagen.bits import BOARD, GROUND, LEFT, neighbors, supported
from helsinki_env.games.copenhagen.components import Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.score import line_points
from helsinki_env.games.copenhagen.shapes import meeting, placements

#: Numbers of rows and columns of a board.
ROWS, COLUMNS = 9, 5
#: Maximum number of cells that a tile adds to a line, plus one.
ADDED = 6
#: Maximum number of cards of a color in an evaluated hand, plus one.
HAND_CAPACITY = 24

VIEW_DTYPE = np.dtype(
    (
        np.record,
        [
            # cache key of the analysis below
            ("of_turns", np.float64),  # -1: empty
            ("filled", np.int64),
            ("bricks", np.int64),
            ("coloured", np.int64, (5,)),
            ("points", np.int64),
            # evaluation
            ("turns", np.float64),  # turns left after this one, rounded to halves
            ("later", np.float64),  # factor on later values
            ("coat", np.float64),  # value of a coat of arms
            ("chance", np.float64, (2, 10)),  # probability that a row or column is full at the end, by empty cells
            ("short", np.float64, (6,)),  # factor on a plan, by number of missing cards
            ("expected", np.float64),  # expected points of lines that are not full
            ("row_now", np.float64, (ROWS,)),  # expected points
            ("column_now", np.float64, (COLUMNS,)),
            ("row_gain", np.float64, (ROWS, ADDED, 2)),  # gain by number of added cells, without and with a brick
            ("column_gain", np.float64, (COLUMNS, ADDED, 2)),
            ("lonely", np.int64),  # empty cells without an empty neighbor: only a white tile fits
            ("overhangs", np.int64),  # number of empty cells directly below a filled one
            ("gap", np.float64, (45,)),  # loss when an empty cell becomes lonely
            ("near", np.int64, (5,)),  # empty cells adjacent to a color
            ("touch", np.float64, (46,)),  # value of these cells, by their number
            # cached best placements by kind, alone and touching its own color
            ("known", np.int8, (20,)),
            ("best", np.float64, (20, 2)),  # gain
            ("place", np.int64, (20, 2)),  # orientation and cell as in PLACE; -1: none
            # cards, changed during evaluation
            ("hand", np.int64, (5,)),
            ("plan", np.float64, (5, HAND_CAPACITY)),  # value of the best build, by number of cards of a color
        ],
    )
)

PIECES_DTYPE = np.dtype(
    (
        np.record,
        [
            ("in_row", np.int64, (160, 5)),  # number of cells by row of the bounding box
            ("in_column", np.int64, (160, 5)),
            ("brick_row", np.int64, (160,)),
            ("brick_column", np.int64, (160,)),
        ],
    )
)


def new_views(count: int) -> npt.NDArray[Any]:
    """Return empty scratch records, (count,)."""
    views = np.zeros(count, VIEW_DTYPE)
    views["of_turns"] = -1.0
    return views


def piece_table(config: CopenhagenConfig) -> npt.NDArray[Any]:
    """Return the rows and columns of every orientation of every tile, (1,), dtype `PIECES_DTYPE`."""
    return _piece_table(config.component_set)


@lru_cache(maxsize=32)
def _piece_table(components: Components) -> npt.NDArray[Any]:
    from helsinki_env.games.copenhagen.tables import build_tables

    t, table = build_tables(components)[0], np.zeros(1, PIECES_DTYPE)
    for kind in range(20):
        for piece in range(ORIENTATIONS * kind, ORIENTATIONS * kind + int(t.orientations[kind])):
            for cell in range(45):
                if int(t.cells[piece]) >> cell & 1:
                    table["in_row"][0, piece, cell // 5] += 1
                    table["in_column"][0, piece, cell % 5] += 1
            table["brick_row"][0, piece] = t.brick[piece] // 5
            table["brick_column"][0, piece] = t.brick[piece] % 5
    return table


@kernel
def reset_view(v, key):
    """Clear a cached view; `key` is unused because the view needs no random numbers."""
    v.of_turns = -1.0


@kernel
def turns_left(t, w, g):
    """Estimate the turns left after this one, in halves, from the draw pile or the leader's distance to the goal.

    The End of Game card can be anywhere among the last cards, so half of these are expected to be drawn.
    """
    cards = np.float64(np.int64(g.pile_size) - g.end_card)
    if g.players > 2 and g.end_card == 0:
        cards += w.reuse * cards
        for colour in range(5):
            cards += g.discard[colour]
    cards -= 0.5 * min(cards, t.last_cards - 1.0)
    lead = np.int64(0)
    for seat in range(g.players):
        lead = max(lead, np.int64(g.points[seat]))
    turns = min(w.last_turn + cards / (max(0.1, w.cards_a_turn) * g.players), w.goal_pace * (t.goal - lead))
    return np.floor(2.0 * turns + 0.5) * 0.5


@kernel
def analyze_board(t, w, g, seat, v):
    """Compute the turns left and the values of lines for a seat's board, unless they are cached."""
    turns = turns_left(t, w, g)
    same = v.of_turns == turns and v.filled == g.filled[seat] and v.bricks == g.bricks[seat]
    for colour in range(5):
        same &= v.coloured[colour] == g.coloured[seat, colour]
    if same:
        return
    if v.of_turns != turns:
        _analyze_turns(w, v, turns)
    v.filled = g.filled[seat]
    v.bricks = g.bricks[seat]
    v.points = g.points[seat]
    empty = BOARD & ~v.filled
    v.lonely = empty & ~neighbors(empty)
    v.overhangs = popcount(empty & v.filled >> 5)
    for colour in range(5):
        v.coloured[colour] = g.coloured[seat, colour]
        v.near[colour] = neighbors(v.coloured[colour]) & empty
    for kind in range(20):
        v.known[kind] = 0
    _analyze_lines(t, w, v)


@kernel
def _analyze_turns(w, v, turns):
    """Compute the values that depend only on the turns left."""
    v.of_turns = v.turns = turns
    v.later = onset(turns, w.later_patience, w.later_onset)
    v.coat = w.coat * onset(turns, w.coat_patience, w.later_onset)
    chance = w.cell_chance * onset(turns, w.line_patience, w.line_onset)
    for missing in range(10):
        row, column = np.float64(missing), w.column_pace * missing
        v.chance[0, missing] = min(1.0, chance**row**w.line_depth)
        v.chance[1, missing] = min(1.0, chance**column**w.line_depth)
    v.chance[0, 0] = v.chance[1, 0] = 1.0
    for missing in range(6):
        v.short[missing] = w.short**missing
    v.touch[0] = 0.0
    for cells in range(1, 46):
        v.touch[cells] = w.touch * v.later * cells / (cells + w.touch_half)


@kernel
def _line_worth(t, w, v, way, line, missing, brick, high):
    """Return the expected points of a row (`way` 0) or column (1) with `missing` empty cells."""
    points, windows, clean = np.float64(t.points_row), np.float64(t.points_row_windows), w.clean_row
    if way:
        points, windows, clean = np.float64(t.points_column), np.float64(t.points_column_windows), w.clean_column
    if not brick:
        points += (windows - points) * clean**missing
    if way:
        return points * v.chance[1, missing]
    if (t.coat_rows >> (5 * line)) & 1:
        points += v.coat
    return points * v.chance[0, missing] * (w.height**high if missing else 1.0)


@kernel
def _analyze_line(t, w, v, way, line, high, gains):
    """Write the gains from filling more cells of a line and return its expected points.

    `high`: number of rows between the line and the highest tile.
    """
    cells = LEFT << line if way else GROUND << 5 * line
    missing, brick = (9 if way else 5) - popcount(v.filled & cells), v.bricks & cells != 0
    reduction = w.closed ** popcount(v.lonely & cells)
    now = _line_worth(t, w, v, way, line, missing, brick, high) * reduction
    if missing:
        v.expected += now
    for more in range(ADDED):
        for bricked in range(2):
            gain = 0.0
            if 0 < more <= missing:
                then = _line_worth(t, w, v, way, line, missing - more, brick or bricked != 0, high)
                gain = reduction * then - now + (0.0 if way else w.cell * more)
            gains[more, bricked] = gain
    return now


@kernel
def _analyze_lines(t, w, v):
    """Compute the values of lines, the gain from filling more of their cells, and the loss from enclosing a cell."""
    v.expected = 0.0
    for cell in range(45):
        v.gap[cell] = 0.0
    top = np.int64(0)
    for y in range(9):
        if v.filled & GROUND << 5 * y:
            top = y + 1
    for y in range(9):
        v.row_now[y] = _analyze_line(t, w, v, 0, y, max(0, y - top), v.row_gain[y])
        for x in range(5):
            v.gap[5 * y + x] += (1.0 - w.closed) * v.row_now[y]
    for x in range(5):
        v.column_now[x] = _analyze_line(t, w, v, 1, x, 0, v.column_gain[x])
        for y in range(9):
            v.gap[5 * y + x] += (1.0 - w.closed) * v.column_now[x]


#: Gain from reaching the goal, which wins the game.
WIN = 40.0
#: Practical maximum of the points from one tile; `WIN` is considered only within this distance of the goal.
_REACH = 10
_RIGHT = np.int64(int(LEFT) << 4)


@kernel
def _cells_gain(t, w, v, cells, bricks):
    """Return the gain from filling cells, except for their lines: coats, holes, adjacent edges, reaching the goal."""
    after = v.filled | cells
    empty = BOARD & ~after
    gain = v.coat * popcount(cells & t.coats)
    lonely = empty & ~neighbors(empty) & ~v.lonely
    while lonely:
        gain -= v.gap[lowest_bit(lonely)]
        lonely &= lonely - 1
    touched = popcount(neighbors(cells) & v.filled) + popcount(cells & GROUND)
    touched += popcount(cells & LEFT) + popcount(cells & _RIGHT)
    gain += v.later * (w.snug * touched - w.overhang * (popcount(empty & after >> 5) - v.overhangs))
    if v.points + _REACH >= t.goal and v.points + line_points(t, v.filled, after, v.bricks | bricks) >= t.goal:
        gain += WIN
    return gain


@kernel
def placement_gain(t, p, w, v, kind, piece, corner):
    """Return the gain from a tile at a position, excluding the hand; coats of arms count as future rewards."""
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
    """Return the gain from filling a lonely cell, which also restores the reduced value of its line."""
    return (gain + now) / max(w.closed, 0.01) - now


@kernel
def white_gain(t, w, v, cell):
    """Return the gain from placing a white tile on a cell."""
    cells = np.int64(1) << cell
    row, column = v.row_gain[cell // 5, 1, 0], v.column_gain[cell % 5, 1, 0]
    if v.lonely & cells:  # only a white tile fits, so the values of its lines were reduced
        row, column = _reopened(w, row, v.row_now[cell // 5]), _reopened(w, column, v.column_now[cell % 5])
    gain = row + column + _cells_gain(t, w, v, cells, np.int64(0))
    for colour in range(5):
        if v.near[colour] & cells:
            near = popcount(v.near[colour])
            gain += v.touch[near - 1] - v.touch[near]
    return gain


@kernel
def remember_placements(t, p, w, v, kind):
    """Find and cache the best placements of a tile, both alone and touching its own color."""
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

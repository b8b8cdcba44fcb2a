"""A seat's view of its own board, analysed once and remembered for as long as the board stays as it is.

The worth of a board: a line (row or column) with m empty cells is taken to be full at the end with chance q^(m^d);
q shrinks as the game runs out and is 0 in the last turn, d is the weight `line_depth`. What a few more cells in a line
add to the expected points, with a brick among them or without, can then be looked up.

Here and in the other kernels of this folder `t` is the record of the component file's tables, `p` the record of
`piece_table`, `w` the weights (`helsinki_env.agents.copenhagen.weights`), `g` a game restored from the observation of
the seat that thinks, or a deal of it that is being played out, `v` a scratch record of the dtype `VIEW_DTYPE`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.actions import ORIENTATIONS
from helsinki_env.games.copenhagen.bits import BOARD, GROUND, LEFT, neighbors
from helsinki_env.games.copenhagen.components import Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig

__all__ = [
    "PIECES_DTYPE",
    "VIEW_DTYPE",
    "analyze_board",
    "new_views",
    "onset",
    "piece_table",
    "reset_view",
]

#: Rows and columns of the board, and as many beyond it as the largest tile could reach, where nothing is gained.
ROWS, COLUMNS = 9, 5
#: Cells that a tile can add to a line, one more.
ADDED = 6
#: Cards of a colour that a hand is looked at with, one more.
HAND_CAPACITY = 24

VIEW_DTYPE = np.dtype(
    (
        np.record,
        [
            # what the analysis below holds for
            ("of_turns", np.float64),  # -1: for nothing
            ("filled", np.int64),
            ("bricks", np.int64),
            ("coloured", np.int64, (5,)),
            ("points", np.int64),
            # judgement
            ("turns", np.float64),  # turns that are left after this one, in halves
            ("later", np.float64),  # what counts only in later turns counts so much
            ("coat", np.float64),  # what a coat of arms is worth
            ("chance", np.float64, (2, 10)),  # of a row, of a column, with so many empty cells to be full in the end
            ("short", np.float64, (6,)),  # what remains of a plan for which so many cards are missing
            ("expected", np.float64),  # points of lines that are not full yet
            ("row_now", np.float64, (ROWS,)),  # expected points of lines as they are
            ("column_now", np.float64, (COLUMNS,)),
            ("row_gain", np.float64, (ROWS, ADDED, 2)),  # what so many cells, a brick among them or not, add to a row
            ("column_gain", np.float64, (COLUMNS, ADDED, 2)),
            ("lonely", np.int64),  # empty cells without an empty neighbour: only a white tile fits there
            ("overhangs", np.int64),  # how many empty cells lie directly beneath a filled one
            ("gap", np.float64, (45,)),  # what is lost when an empty cell becomes such a one
            ("near", np.int64, (5,)),  # empty cells beside a colour
            ("touch", np.float64, (46,)),  # what so many of those are worth
            # best placements by kind, alone and touching its own colour, as far as somebody asked
            ("known", np.int8, (20,)),
            ("best", np.float64, (20, 2)),  # what they add
            ("place", np.int64, (20, 2)),  # orientation and cell as in PLACE; -1: there is none
            # cards, changed while something is tried
            ("hand", np.int64, (5,)),
            ("plan", np.float64, (5, HAND_CAPACITY)),  # value of the best building by number of cards of a color
        ],
    )
)

PIECES_DTYPE = np.dtype(
    (
        np.record,
        [
            ("in_row", np.int64, (160, 5)),  # cells by row of the bounding box
            ("in_column", np.int64, (160, 5)),
            ("brick_row", np.int64, (160,)),
            ("brick_column", np.int64, (160,)),
        ],
    )
)


def new_views(count: int) -> npt.NDArray[Any]:
    """Return scratch records, (count,), that remember nothing."""
    views = np.zeros(count, VIEW_DTYPE)
    views["of_turns"] = -1.0
    return views


def piece_table(config: CopenhagenConfig) -> npt.NDArray[Any]:
    """Return how every orientation of every tile lies on rows and columns, (1,), dtype `PIECES_DTYPE`."""
    return _pieces(config.component_set)


@lru_cache(maxsize=32)
def _pieces(components: Components) -> npt.NDArray[Any]:
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
def reset_view(v, word):
    """Forget what the view remembers of a game. Nothing is left to chance, so `word` does not matter."""
    v.of_turns = -1.0


@kernel
def onset(turns, patience, onset):
    """A share that rises from 0 to 1 with the turns left and is a half at `patience` of them (Hill's curve)."""
    if turns <= 0.0:
        return 0.0
    return 1.0 / (1.0 + (patience / turns) ** onset)


@kernel
def turns_left(t, w, g):
    """How many turns a seat has after this one, in halves: by the draw pile, or by what the leader lacks to the goal.

    The End of Game card lies among the last cards, anywhere, so half of these will be drawn.
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
    """Analyse the board of a seat, unless that is done: how much of the game is left, what lines are worth."""
    turns = turns_left(t, w, g)
    same = v.of_turns == turns and v.filled == g.filled[seat] and v.bricks == g.bricks[seat]
    for colour in range(5):
        same &= v.coloured[colour] == g.coloured[seat, colour]
    if same:
        return
    if v.of_turns != turns:
        _judge_turns(w, v, turns)
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
    _judge_lines(t, w, v)


@kernel
def _judge_turns(w, v, turns):
    """What depends on the turns left alone."""
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
def _row_worth(t, w, v, y, missing, brick, high):
    """Expected points of a row with so many empty cells."""
    points = np.float64(t.points_row)
    if not brick:
        points += (t.points_row_windows - t.points_row) * w.clean_row**missing
    if (t.coat_rows >> (5 * y)) & 1:
        points += v.coat
    return points * v.chance[0, missing] * (w.height**high if missing else 1.0)


@kernel
def _column_worth(t, w, v, missing, brick):
    """Expected points of a column with so many empty cells."""
    points = np.float64(t.points_column)
    if not brick:
        points += (t.points_column_windows - t.points_column) * w.clean_column**missing
    return points * v.chance[1, missing]


@kernel
def _judge_lines(t, w, v):
    """What lines are worth as they are, what more cells add to them, and what a cell that nothing fits in costs."""
    v.expected = 0.0
    for cell in range(45):
        v.gap[cell] = 0.0
    top = np.int64(0)
    for y in range(9):
        if v.filled & GROUND << 5 * y:
            top = y + 1
    for y in range(9):
        line = GROUND << 5 * y
        missing, brick = 5 - popcount(v.filled & line), v.bricks & line != 0
        high = max(0, y - top)
        now = _row_worth(t, w, v, y, missing, brick, high)
        written_off = w.closed ** popcount(v.lonely & line)
        now *= written_off
        if missing:
            v.expected += now
        v.row_now[y] = now
        for x in range(5):
            v.gap[5 * y + x] += (1.0 - w.closed) * now
        for more in range(ADDED):
            for bricked in range(2):
                gain = 0.0
                if 0 < more <= missing:
                    then = _row_worth(t, w, v, y, missing - more, brick or bricked != 0, high)
                    gain = written_off * then - now + w.cell * more
                v.row_gain[y, more, bricked] = gain
    for x in range(5):
        line = LEFT << x
        missing, brick = 9 - popcount(v.filled & line), v.bricks & line != 0
        now = _column_worth(t, w, v, missing, brick)
        written_off = w.closed ** popcount(v.lonely & line)
        now *= written_off
        if missing:
            v.expected += now
        v.column_now[x] = now
        for y in range(9):
            v.gap[5 * y + x] += (1.0 - w.closed) * now
        for more in range(ADDED):
            for bricked in range(2):
                gain = 0.0
                if 0 < more <= missing:
                    gain = written_off * _column_worth(t, w, v, missing - more, brick or bricked != 0) - now
                v.column_gain[x, more, bricked] = gain

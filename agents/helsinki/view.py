"""A seat's view of its own board, analysed once and remembered for as long as the board stays as it is.

The worth of a board: a line (row or column) with m empty cells is taken to be full at the end with chance q^(m^d);
q shrinks as the game runs out and is 0 in the last turn, d is the weight `line_depth`. So the expected score is a sum
over lines and superstructures, and what a few more cells in a line add to it can be looked up.

Here and in the other kernels of this folder `t` is the record of the component file's tables, `p` the table of pieces
(`pieces`), `w` the weights (`agents.helsinki.weights`), `g` a game restored from the observation of the seat that
thinks, or a deal of it that is being played out, `v` a scratch record of the dtype `VIEW`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.helsinki.cells import shadow
from helsinki_env.engine.bits import count
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.bits import BOARD, COLUMN, ROW, neighbours
from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.config import GameConfig
from helsinki_env.games.helsinki.shapes import MOST_ROOFS, NORTH, SOUTH, corner_at, profile, tile_cells
from helsinki_env.games.helsinki.state import WIDE

__all__ = [
    "BY_DEPTH",
    "BY_LANE",
    "NOTHING",
    "PIECES",
    "VIEW",
    "holds",
    "judge",
    "judge_lines",
    "look",
    "new_views",
    "pieces",
    "roof_value",
    "see",
    "turns_left",
]

NOTHING = -1e9
"""The worth of what cannot be done."""
#: Superstructures that a card may show, one more; cards that show more count as if they showed so many.
SHOWN = 6
#: Lines, and as many beyond the board as the largest tile could reach: there all entries are zero, so that a loop over
#: a tile's lines always has the same length, which is faster than the right one.
PADDED = 7 + MOST_ROOFS - 1
#: How a corner moves with the lane and with the depth of a slide, by side.
BY_LANE, BY_DEPTH = np.array([1, 7, 1, 7], np.int64), np.array([7, -1, -7, 1], np.int64)
#: Different card types that a hand may hold while cards are being tried.
HELD = WIDE

VIEW = np.dtype(
    (
        np.record,
        [
            # what the analysis below holds for
            ("of_built", np.int64),
            ("of_standing", np.int64),
            ("of_coats", np.int64),
            ("of_turns", np.float64),
            ("of_bonus", np.int64),
            # the own board, cells as sets
            ("built", np.int64),
            ("standing", np.int64),  # superstructures
            ("coats", np.int64),  # coats of arms still lying
            ("tiles", np.int64, (len(COLOURS),)),  # pavilion tiles by colour
            ("open", np.int64, (4,)),  # empty cells that are reached from a side in a straight line
            ("reach", np.int64),  # the same from any side
            ("lonely", np.int64),  # empty cells that no side closes off and that have no empty neighbour
            ("packed", np.int64, (4,)),  # see games.helsinki.shapes.profile
            ("height", np.int64, (4, PADDED)),  # empty cells before the first built one, by side and lane
            ("road", np.float64),  # the bonus card that the crosswalks would earn; 0: none
            # judgement
            ("turns", np.float64),  # turns that are left after this one
            ("later", np.float64),  # what counts only in later turns counts so much
            ("later_drawn", np.float64),  # the same once two cards are drawn
            ("loss_drawn", np.float64),  # what the board loses by that
            ("coat", np.float64),  # what a coat is worth
            ("filled", np.float64, (8,)),  # chance of a line with so many empty cells to be full in the end
            ("filled_drawn", np.float64, (8,)),  # the same once two cards are drawn
            ("chance", np.float64, (2, 7, 6)),  # of rows and columns to be full, with 0 to 5 more cells built
            ("gain", np.float64, (2, PADDED, 6)),  # expected points of the line that these cells add
            ("hole", np.float64, (49,)),  # expected points lost when an empty cell is closed off
            ("gap", np.float64, (49,)),  # the same when it loses its last empty neighbour
            # best placements, by kind of tile and side, as far as somebody asked
            ("known", np.int8, (20, 4)),
            ("best", np.float64, (20, 4)),
            ("place", np.int64, (20, 4)),  # orientation and lane as in PLACE
            ("cells", np.int64, (20, 4)),
            ("roofs_known", np.int8, (20, 4, SHOWN)),
            ("roofs", np.float64, (20, 4, SHOWN)),  # what so many superstructures on it add, or (`w.apart`) all of it
            ("taken", np.int64),  # cells that a tile takes while its building is being tried
            # cards and coats that the seat may use, changed while something is tried
            ("meadow", np.int64),
            ("usable", np.int64),  # actions that a coat could pay for
            ("hand", np.int8, (WIDE,)),
            ("held", np.int64, (HELD,)),  # the types in hand
            ("held_count", np.int64),
            ("spare", np.int8, (HELD,)),  # counts of those, kept while a payment is tried
            ("cost", np.float64, (WIDE,)),  # what giving a card away costs
            # what the tile of a card adds from a side, as far as somebody asked: sides as a set
            ("asked", np.int8, (WIDE,)),
            ("adds", np.float64, (WIDE, 4)),
        ],
    )
)

PIECES = np.dtype(
    (
        np.record,
        [
            ("in_row", np.int64, (160, MOST_ROOFS)),  # roofs by row of the bounding box
            ("in_column", np.int64, (160, MOST_ROOFS)),
            ("front", np.int64, (160, 4, MOST_ROOFS)),  # how deep it begins in each lane it takes, by side
            ("corner", np.int64, (160, 4)),  # of the bounding box, if it is pushed into the first lane not at all
        ],
    )
)


def new_views(count: int) -> npt.NDArray[Any]:
    """Return scratch records, (count,), that remember nothing."""
    views = np.zeros(count, VIEW)
    views["of_turns"] = -1.0
    return views


@kernel
def forget(v, word):
    """Forget what the view remembers of a game. Nothing is left to chance, so `word` does not matter."""
    v.of_turns = -1.0


@lru_cache(maxsize=32)
def pieces(config: GameConfig) -> npt.NDArray[Any]:
    """Return how every orientation of every tile lies on rows, columns and lanes, (1,), dtype `PIECES`."""
    t, table = config.tables[0], np.zeros(1, PIECES)
    for piece in range(160):
        for offset in {int(cell) for cell in t.corner_cells[piece]} if t.roofs_mask[piece] else set():
            table["in_row"][0, piece, offset // 7] += 1
            table["in_column"][0, piece, offset % 7] += 1
    taken = np.arange(MOST_ROOFS) < t.width[:, :, None]
    table["front"] = np.where(taken, t.low // 8, -PADDED)  # lanes that it does not take never stop it
    table["corner"] = [[corner_at(t, piece, side, 0, 0) for side in range(4)] for piece in range(160)]
    return table


@kernel
def look(t, g, seat, v):
    """Cards and coats of a seat, and its colours."""
    v.meadow = g.meadow[seat]
    v.usable = ~(np.int64(g.used[seat]) | np.int64(g.denied[seat]) | np.int64(g.covered)) & 0x7FFF
    v.held_count = 0
    for card in range(t.types):
        held = g.hand[seat, card]
        v.hand[card] = held
        if held > 0:
            v.held[v.held_count] = card
            v.held_count += 1
    v.tiles[:] = 0
    for tile in range(g.tile_count[seat]):
        piece = np.int64(g.tile_piece[seat, tile])
        v.tiles[piece // 32] |= tile_cells(t, piece, g.tile_cell[seat, tile])
    v.taken = 0
    v.asked[:] = 0
    v.road = 0.0
    if g.bonus_cards != 0 and g.bonus[seat] < 0:
        for card in range(4):
            if (g.bonus_cards >> card) & 1:
                v.road = np.float64(t.bonus_cards[card])


@kernel
def turns_left(w, g, drawn):
    """How many turns a seat has after this one, by the draw pile less the cards that it draws now."""
    if g.last_round or g.pile_size <= drawn:
        return 0.0
    return w.last_turn + np.float64(g.pile_size - drawn) / (w.cards_a_turn * g.players)


@kernel
def _onset(turns, patience, onset):
    """A share that rises from 0 to 1 with the turns left and is a half at `patience` of them (Hill's curve)."""
    if turns <= 0.0:
        return 0.0
    return 1.0 / (1.0 + (patience / turns) ** onset)


@kernel
def holds(w, g, seat, v):
    """Whether a view is of the board of a seat as it is: board, turns left and bonus cards are the same."""
    same = v.of_built == g.built[seat] and v.of_standing == g.superstructures[seat] and v.of_coats == g.coats[seat]
    return same and v.of_turns == turns_left(w, g, 0) and v.of_bonus == g.bonus_cards


@kernel
def judge(t, w, g, seat, v):
    """Analyse the board of a seat, unless that is done: how much of the game is left, what lines are worth."""
    if holds(w, g, seat, v):
        return
    turns = turns_left(w, g, 0)
    if v.of_turns != turns:
        _judge_turns(w, g, v, turns)
    see(t, g, seat, v)
    _judge_chances(w, v)
    judge_lines(t, w, v)
    _judge_draw(t, w, v)


@kernel
def see(t, g, seat, v):
    """Look at the board of a seat: what lies there, and which of its empty cells are reached from where."""
    coats = np.int64(g.coats[seat])
    v.of_bonus = g.bonus_cards
    v.of_built = v.built = g.built[seat]
    v.of_standing = v.standing = g.superstructures[seat]
    v.of_coats = coats
    v.coats = 0
    for coat in range(8):
        if (coats >> coat) & 1:
            v.coats |= t.coat_cells[coat]
    v.known[:] = 0
    for side in range(4):
        v.packed[side] = profile(v.built, side)
        v.open[side] = BOARD & ~shadow(v.built, side)
        for lane in range(7):
            path = COLUMN << lane if side in (NORTH, SOUTH) else ROW << (7 * lane)
            v.height[side, lane] = count(v.open[side] & path)
    v.reach = v.open[0] | v.open[1] | v.open[2] | v.open[3]
    empty = BOARD & ~v.built
    v.lonely = v.reach & ~neighbours(empty)


@kernel
def _judge_turns(w, g, v, turns):
    """What depends on the turns left alone: now, and once two cards are drawn, which brings the end nearer."""
    drawn = turns_left(w, g, 2)
    v.of_turns = v.turns = turns
    v.later = _onset(turns, w.hand_patience, w.hand_onset)
    v.coat = w.coat * _onset(turns, w.coat_patience, w.coat_onset)
    v.later_drawn = _onset(drawn, w.hand_patience, w.hand_onset)
    now = w.cell_chance * _onset(turns, w.line_patience, w.line_onset)
    then = w.cell_chance * _onset(drawn, w.line_patience, w.line_onset)
    v.filled[0] = v.filled_drawn[0] = 1.0
    for missing in range(1, 8):
        depth = np.float64(missing) ** w.line_depth
        v.filled[missing] = min(1.0, now**depth) if now > 0.0 else 0.0
        v.filled_drawn[missing] = min(1.0, then**depth) if then > 0.0 else 0.0


@kernel
def _judge_draw(t, w, v):
    """What drawing two cards takes from the board because it brings the end of the game nearer."""
    v.loss_drawn = 0.0
    for line in range(7):
        row, column = 7 - count(v.built & (ROW << (7 * line))), 7 - count(v.built & (COLUMN << line))
        v.loss_drawn += (t.points_row + w.room) * max(0.0, v.chance[0, line, 0] - v.filled_drawn[row])
        v.loss_drawn += (t.points_column + w.room) * max(0.0, v.chance[1, line, 0] - v.filled_drawn[column])
    v.loss_drawn *= w.hurry


@kernel
def _judge_chances(w, v):
    """The chance of every line to be full in the end, with up to five more cells built."""
    closed = BOARD & ~v.built & ~v.reach
    for line in range(7):
        for way in range(2):
            cells = COLUMN << line if way else ROW << (7 * line)
            missing = 7 - count(v.built & cells)
            chance = 1.0
            for _ in range(count(closed & cells)):
                chance *= w.closed
            for _ in range(count(v.lonely & cells)):
                chance *= w.lonely
            for more in range(6):
                v.chance[way, line, more] = chance * v.filled[max(0, missing - more)]


@kernel
def judge_lines(t, w, v):
    """What more cells in a line add: its own points and those of the superstructures that stand in it."""
    crossing = t.points_crossing - 2 * t.points_line
    for line in range(7):
        worth_row, worth_column = np.float64(t.points_row), np.float64(t.points_column)
        if v.standing:
            for other in range(7):
                if (v.standing >> (7 * line + other)) & 1:
                    worth_row += t.points_line + crossing * v.chance[1, other, 0]
                if (v.standing >> (7 * other + line)) & 1:
                    worth_column += t.points_line + crossing * v.chance[0, other, 0]
        for more in range(6):
            cells = w.cell * v.later * more * 0.5  # half in the row, half in the column
            v.gain[0, line, more] = (worth_row + w.room) * (v.chance[0, line, more] - v.chance[0, line, 0]) + cells
            v.gain[1, line, more] = (worth_column + w.room) * (v.chance[1, line, more] - v.chance[1, line, 0]) + cells
    for cell in range(49):
        loss = v.chance[0, cell // 7, 0] + v.chance[1, cell % 7, 0]
        loss *= t.points_row + w.room
        v.hole[cell] = (1.0 - w.closed) * loss + w.hole * v.later
        v.gap[cell] = (1.0 - w.lonely) * loss


@kernel
def roof_value(t, v, cell, more_row, more_column):
    """Expected points of a superstructure on a cell, once so many more cells of its lines are built."""
    row, column = v.chance[0, cell // 7, more_row], v.chance[1, cell % 7, more_column]
    both = row * column
    return t.points_line * (row + column - 2.0 * both) + t.points_crossing * both

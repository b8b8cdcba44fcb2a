"""A seat's view of its own board, analyzed once and cached until the board changes.

A line (row or column) with m empty cells is assumed to be full at the end of the game with probability q^(m^d). The
value of q decreases during the game and is 0 in the last turn; d is the weight `line_depth`. The expected score is
therefore a sum over lines and superstructures. The gain from building a few more cells of a line is a table lookup.

In all kernels of this package, `t` is the record of the component file's tables and `p` the table of pieces
(`piece_table`). `w` are the weights (`helsinki_env.agents.helsinki.weights`). `g` is a game reconstructed from the
observation of the acting seat, or a determinization of it in a playout. `v` is a view, a scratch record of
`helsinki_env.agents.helsinki.eval_cache.VIEW_DTYPE`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.helsinki.eval_cache import PADDED, PIECES_DTYPE, PILES
from helsinki_env.agents.heuristic_api import onset
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import copier, gatherer
from helsinki_env.games.helsinki.bits import BOARD, COLUMN, ROW, neighbors
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.shapes import MOST_ROOFS, NORTH, SOUTH, WEST, corner_at, profile, tile_cells

_MIDDLE_WEST = np.int64(sum(int(COLUMN) << column for column in range(1, 7)))
_TWO_WEST = np.int64(sum(int(COLUMN) << column for column in range(2, 7)))
_FOUR_WEST = np.int64(sum(int(COLUMN) << column for column in range(4, 7)))
_MIDDLE_EAST = np.int64(sum(int(COLUMN) << column for column in range(6)))
_TWO_EAST = np.int64(sum(int(COLUMN) << column for column in range(5)))
_FOUR_EAST = np.int64(sum(int(COLUMN) << column for column in range(3)))


@kernel
def shadow(cells, side):
    """Return the given cells and all cells behind them, as seen from a side."""
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


#: Change of a corner per lane and per cell of depth of a slide, by side.
BY_LANE, BY_DEPTH = np.array([1, 7, 1, 7], np.int64), np.array([7, -1, -7, 1], np.int64)
#: Number of card types that are processed together.
_BLOCK = 64
_copy_block, _held_of, _ALL = copier(_BLOCK), gatherer(_BLOCK), np.uint64(2**64 - 1)
_SIZE = np.uint64(7)
#: Each cell's share of the gain from several cells of a line, and a factor above 1 that exceeds any rounding error.
_SHARE, ABOVE = np.array([1.0, 1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0, 1.0 / 5.0]), 1.0 + 1e-9


@kernel
def reset_view(v, key):
    """Clear a cached view; `key` is unused because the view needs no random numbers."""
    v.of_turns = -1.0
    v.latest = 0


@lru_cache(maxsize=32)
def piece_table(config: HelsinkiConfig) -> npt.NDArray[Any]:
    """Return the rows, columns and lanes of every orientation of every tile, (1,), dtype `PIECES_DTYPE`."""
    t, table = config.tables[0], np.zeros(1, PIECES_DTYPE)
    for piece in range(160):
        for offset in {int(cell) for cell in t.corner_cells[piece]} if t.roofs_mask[piece] else set():
            table["in_row"][0, piece, offset // 7] += 1
            table["in_column"][0, piece, offset % 7] += 1
    taken = np.arange(MOST_ROOFS) < t.width[:, :, None]
    table["front"] = np.where(taken, t.low // 8, -PADDED)  # lanes outside the tile never stop it
    table["corner"] = [[corner_at(t, piece, side, 0, 0) for side in range(4)] for piece in range(160)]
    return table


@kernel
def read_hand(t, g, seat, v):
    """Read the cards, coats and colors of a seat."""
    v.meadow = g.meadow[seat]
    v.usable = ~(np.int64(g.used[seat]) | np.int64(g.denied[seat]) | np.int64(g.covered)) & 0x7FFF
    v.held_count = v.pairs = v.changed = v.most_known = 0
    v.best_known[:] = 0
    v.owned[:] = 0
    if t.types <= _BLOCK:
        _copy_block(v.hand, 0, g.hand[seat], 0)
        held = _held_of(v.hand, 0) & np.int64(_ALL >> np.uint64(_BLOCK - t.types))
        while held:
            v.held[v.held_count] = lowest_bit(held)
            v.held_count += 1
            held &= held - 1
    else:
        for card in range(t.types):
            v.hand[card] = g.hand[seat, card]
            if v.hand[card] > 0:
                v.held[v.held_count] = card
                v.held_count += 1
    for i in range(v.held_count):
        card = np.uint64(v.held[i])
        if t.colour[card] >= 0:
            v.owned[np.uint64(t.colour[card])] += v.hand[card]
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
    """Estimate the number of a seat's turns after this one from the size of the draw pile, minus `drawn` cards."""
    if g.last_round or g.pile_size <= drawn:
        return 0.0
    return w.last_turn + np.float64(g.pile_size - drawn) / (w.cards_a_turn * g.players)


@kernel
def is_view_current(w, g, seat, v):
    """Return whether a view is up to date: board, turns left and bonus cards are unchanged."""
    same = v.of_built == g.built[seat] and v.of_standing == g.superstructures[seat] and v.of_coats == g.coats[seat]
    return same and v.of_turns == turns_left(w, g, 0) and v.of_bonus == g.bonus_cards


@kernel
def analyze_board(t, w, g, seat, v):
    """Compute the turns left and the values of lines for a seat's board, unless they are cached."""
    if is_view_current(w, g, seat, v):
        return
    turns = turns_left(w, g, 0)
    if v.of_turns != turns:
        analyze_turns(w, g, v, turns, v)
    read_board(t, g, seat, v)
    _compute_chances(w, v)
    analyze_lines(t, w, v)
    _compute_most(t, w, v)
    _compute_draw(t, w, v)


@kernel
def read_board(t, g, seat, v):
    """Read the board of a seat: its pieces, and the empty cells that each side can reach."""
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
    v.cached[:] = 0
    for side in range(4):
        v.packed[side] = profile(v.built, side)
        v.open[side] = BOARD & ~shadow(v.built, side)
        for lane in range(7):
            path = COLUMN << lane if side in (NORTH, SOUTH) else ROW << (7 * lane)
            v.height[side, lane] = popcount(v.open[side] & path)
    v.reach = v.open[0] | v.open[1] | v.open[2] | v.open[3]
    empty = BOARD & ~v.built
    v.lonely = v.reach & ~neighbors(empty)


@kernel
def analyze_turns(w, g, v, turns, cache):
    """Compute the values that depend only on the turns left, both now and after drawing two cards.

    Drawing cards shortens the game. `cache` is the seat's view that caches the values.
    """
    v.of_turns = v.turns = turns
    cached = cache.of_pile[g.pile_size & (PILES - 1)]
    if cached.turns != turns or not cached.known:
        _compute_turn_values(w, g, v, turns)
        cached.turns, cached.known = turns, 1
        cached.later, cached.coat, cached.later_drawn = v.later, v.coat, v.later_drawn
        for missing in range(8):
            cached.filled[missing], cached.filled_drawn[missing] = v.filled[missing], v.filled_drawn[missing]
    else:
        v.later, v.coat, v.later_drawn = cached.later, cached.coat, cached.later_drawn
        for missing in range(8):
            v.filled[missing], v.filled_drawn[missing] = cached.filled[missing], cached.filled_drawn[missing]
    v.later_now = v.later


@kernel
def _compute_turn_values(w, g, v, turns):
    drawn = turns_left(w, g, 2)
    v.later = onset(turns, w.hand_patience, w.hand_onset)
    v.coat = w.coat * onset(turns, w.coat_patience, w.coat_onset)
    v.later_drawn = onset(drawn, w.hand_patience, w.hand_onset)
    now = w.cell_chance * onset(turns, w.line_patience, w.line_onset)
    then = w.cell_chance * onset(drawn, w.line_patience, w.line_onset)
    v.filled[0] = v.filled_drawn[0] = 1.0
    for missing in range(1, 8):
        depth = np.float64(missing) ** w.line_depth
        v.filled[missing] = min(1.0, now**depth) if now > 0.0 else 0.0
        v.filled_drawn[missing] = min(1.0, then**depth) if then > 0.0 else 0.0


@kernel
def _compute_draw(t, w, v):
    """Compute the loss in the board's value from drawing two cards, which shortens the game."""
    v.loss_drawn = 0.0
    for line in range(7):
        row, column = 7 - popcount(v.built & (ROW << (7 * line))), 7 - popcount(v.built & (COLUMN << line))
        v.loss_drawn += (t.points_row + w.room) * max(0.0, v.chance[0, line, 0] - v.filled_drawn[row])
        v.loss_drawn += (t.points_column + w.room) * max(0.0, v.chance[1, line, 0] - v.filled_drawn[column])
    v.loss_drawn *= w.hurry


@kernel
def line_cells(line, way):
    """Return the cells of a row (`way` 0) or column (1)."""
    return COLUMN << line if way else ROW << (7 * line)


@kernel
def line_chance(w, v, line, way):
    """Return the number of empty cells of a line, and the factor on its probability for unreachable cells."""
    cells, chance = line_cells(line, way), 1.0
    for _ in range(popcount(cells & ~v.built & ~v.reach)):
        chance *= w.closed
    return 7 - popcount(v.built & cells), chance


@kernel
def _compute_chances(w, v):
    """Compute the probability that each line is full at the end, with up to five more cells built."""
    for line in range(7):
        for way in range(2):
            missing, chance = line_chance(w, v, line, way)
            for _ in range(popcount(v.lonely & line_cells(line, way))):
                chance *= w.lonely
            for more in range(6):
                v.chance[way, line, more] = chance * v.filled[max(0, missing - more)]


@kernel
def analyze_lines(t, w, v):
    """Compute the gain from more cells in each line: points for the line and for the superstructures in it."""
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
            cells = w.cell * v.later * more * 0.5  # half is counted in the row, half in the column
            v.gain[0, line, more] = (worth_row + w.room) * (v.chance[0, line, more] - v.chance[0, line, 0]) + cells
            v.gain[1, line, more] = (worth_column + w.room) * (v.chance[1, line, more] - v.chance[1, line, 0]) + cells
    for cell in range(49):
        loss = v.chance[0, cell // 7, 0] + v.chance[1, cell % 7, 0]
        loss *= t.points_row + w.room
        v.hole[cell] = (1.0 - w.closed) * loss + w.hole * v.later
        v.gap[cell] = (1.0 - w.lonely) * loss


@kernel
def _is_monotonic(w):
    """Return whether the weights are monotonic, so that no improvement lowers a value; all tuned weights are."""
    least = min(w.room, w.cell, w.roof, w.hole, w.bonus_card, w.crosswalk, w.line_depth, w.far, w.clash, w.short)
    return least >= 0.0 and max(w.closed, w.lonely, w.far, w.clash, w.short) <= 1.0


@kernel
def _compute_most(t, w, v):
    """Compute upper bounds on the gain from any tile, per cell and per superstructure."""
    v.most_cell = v.most_roof = np.inf
    if not _is_monotonic(w):
        return
    row, column, in_row, in_column = 0.0, 0.0, 0.0, 0.0
    for line in range(7):
        in_row, in_column = max(in_row, v.chance[0, line, 5]), max(in_column, v.chance[1, line, 5])
        for more in range(1, 6):
            row = max(row, v.gain[0, line, more] * _SHARE[more])
            column = max(column, v.gain[1, line, more] * _SHARE[more])
    v.most_cell = (row + column + max(0.0, v.coat)) * ABOVE
    one = t.points_line * max(in_row, in_column)
    both = t.points_line * (in_row + in_column - 2.0 * in_row * in_column) + t.points_crossing * in_row * in_column
    v.most_roof = (max(one, both) + w.roof * v.later) * ABOVE


@kernel
def roof_value(t, v, cell, more_row, more_column):
    """Return the expected points from a superstructure on a cell, with more cells of its row and column built."""
    cell = np.uint64(cell)
    row = v.chance[0, cell // _SIZE, np.uint64(more_row)]
    column = v.chance[1, cell % _SIZE, np.uint64(more_column)]
    both = row * column
    return t.points_line * (row + column - 2.0 * both) + t.points_crossing * both

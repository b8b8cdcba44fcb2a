"""Helsinki's position evaluation, transposition table and implementation of `helsinki_env.agents.heuristic_api`.

The value of a position adds up points scored, expected lines and superstructures and, for later turns, the hand, coats
of arms and cells. `helsinki_env.agents.helsinki.decide` values actions by their contribution to this sum. Win
probabilities follow from a logistic model (Bradley and Terry 1952; Luce 1959 for more than two players). A lead is
worth more when fewer turns are left.

A search evaluates the same boards repeatedly, because every simulation starts from them. The views of a search form one
array: one view per seat, one for other uses, and `BOARDS` per seat. These form a hash table that is keyed by the inputs
of the board analysis. If two boards collide, the later one replaces the earlier one. Cached results are
bit-identical to new computations.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.helsinki.board_view import (
    analyze_board,
    analyze_turns,
    first_reachable_side,
    is_view_current,
    piece_table,
    read_hand,
    reset_view,
    roof_value,
    turns_left,
)
from helsinki_env.agents.helsinki.cards import hand_value
from helsinki_env.agents.helsinki.decide import select_action
from helsinki_env.agents.helsinki.eval_cache import NOWHERE, VIEW_DTYPE, new_views
from helsinki_env.agents.helsinki.lookahead import select_action_lookahead
from helsinki_env.agents.helsinki.weights import QUICK, SEARCH_WEIGHTS, Weights
from helsinki_env.agents.heuristic_api import points_to_probabilities
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.games.helsinki.bits import BOARD
from helsinki_env.games.helsinki.score import rank_of, score
from helsinki_env.games.helsinki.state import LAYOUTS

#: Number of cached boards for each seat, a power of two.
BOARDS = 32
_FACTOR = np.uint64(0xD1342543DE82EF95)
_LAST = np.uint64(BOARDS - 1)


@kernel
def _tiles_of(g, seat):
    """Return a 64-bit hash of a seat's tiles and their cells; collisions are negligible."""
    word = GOLDEN
    for tile in range(g.tile_count[seat]):
        word = (word ^ np.uint64(64 * np.int64(g.tile_piece[seat, tile]) + g.tile_cell[seat, tile])) * _FACTOR
    return word | np.uint64(1)


@kernel
def _slot_of(g, seat, tiles):
    """Return the index of a board in its seat's hash table, starting at 0."""
    word = mix(tiles ^ np.uint64(g.built[seat])) ^ np.uint64(g.superstructures[seat])
    rest = np.int64(g.pile_size) | np.int64(g.coats[seat]) << 8 | np.int64(g.bonus_cards) << 16
    return np.int64(mix(word ^ (np.uint64(rest) << np.uint64(1) | np.uint64(g.last_round))) & _LAST)


@kernel
def view_index(w, g, seat, views):
    """Return the index of the view for the board of a seat."""
    if len(views) <= MAX_SEATS + 1:
        return seat
    latest = views[seat].latest
    if latest == 0:
        latest = seat
    tiles, road = _tiles_of(g, seat), np.int64(g.bonus[seat] < 0)
    v = views[latest]
    if is_view_current(w, g, seat, v):
        if v.of_tiles != tiles or v.of_road != road:
            v.of_tiles = NOWHERE  # the view now mixes results of both boards
        return latest
    found = MAX_SEATS + 1 + BOARDS * seat + _slot_of(g, seat, tiles)
    views[seat].latest = found
    v = views[found]
    if is_view_current(w, g, seat, v) and v.of_tiles == tiles and v.of_road == road:
        v.known[:] = 0
    else:
        v.of_built = -1
        v.of_tiles = tiles
        v.of_road = road
        analyze_turns(w, g, v, turns_left(w, g, 0), views[seat])
    return found


@kernel
def expected_points(t, p, w, g, seat, v):
    """Return a seat's expected points at the end of the game."""
    analyze_board(t, w, g, seat, v)
    read_hand(t, g, seat, v)
    total = np.float64(g.points[seat])
    for line in range(7):
        total += (t.points_row + w.room) * v.chance[0, line, 0] + (t.points_column + w.room) * v.chance[1, line, 0]
    standing = v.standing
    while standing:
        total += roof_value(t, v, lowest_bit(standing), 0, 0) + w.roof * v.later
        standing &= standing - 1
    total += w.cell * v.later * popcount(v.built) - w.hole * v.later * popcount(BOARD & ~v.built & ~v.reach)
    total += v.coat * v.meadow
    return total + hand_value(t, p, w, g, v, first_reachable_side(np.int64(g.token[seat])))


@kernel
def write_win_probabilities(t, p, weights, g, views, lead, lead_growth, shares):
    """Write every seat's win probability, float64 (4,); they sum to 1.

    The logistic model has `lead` + `lead_growth` * sqrt(turns left) points per unit.
    """
    players = np.int64(g.players)
    turns = 0.0
    for seat in range(players):
        if g.done:
            shares[seat] = np.float64(score(t, g, seat)) - 0.5 * rank_of(t, g, seat)
        else:
            v = views[view_index(weights[seat], g, seat, views)]
            shares[seat] = expected_points(t, p, weights[seat], g, seat, v)
            turns = v.turns
    points_to_probabilities(shares, players, lead + lead_growth * math.sqrt(turns))


heuristic_api.reset_view.implements(VIEW_DTYPE, reset_view)
for _layout in LAYOUTS:
    heuristic_api.view_index.implements(_layout, view_index)
    heuristic_api.select_action.implements(_layout, select_action)
    heuristic_api.select_action_lookahead.implements(_layout, select_action_lookahead)
    heuristic_api.write_win_probabilities.implements(_layout, write_win_probabilities)

HEURISTIC = heuristic_api.Heuristic(
    Weights(),
    QUICK,
    piece_table,
    new_views,
    search_weights=SEARCH_WEIGHTS,
    not_tuned=("crosswalk", "apart", "missing"),
    boards=BOARDS,
)

"""Transposition table of a search: boards that recur, each with a view that caches its evaluation.

A search sees the same boards repeatedly, because every simulation begins with the same ones. The views of a search are
one array: those of the seats, one for other uses, then `BOARDS` for each seat. The latter are a hash table, keyed by
the inputs of the board analysis. If two boards collide, the later one replaces the earlier.

A cached result is identical, to the last digit, to a new computation.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board_view import analyze_turns, is_view_current, turns_left
from helsinki_env.agents.helsinki.eval_cache import NOWHERE
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import GOLDEN, mix

__all__ = ["BOARDS", "view_index"]

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
def _place_of(g, seat, tiles):
    """Return the index of a board in the hash table of its seat, from 0."""
    word = mix(tiles ^ np.uint64(g.built[seat])) ^ np.uint64(g.superstructures[seat])
    rest = np.int64(g.pile_size) | np.int64(g.coats[seat]) << 8 | np.int64(g.bonus_cards) << 16
    return np.int64(mix(word ^ (np.uint64(rest) << np.uint64(1) | np.uint64(g.last_round))) & _LAST)


@kernel
def view_index(w, g, seat, views):
    """Return the index of the view with which to evaluate the board of a seat."""
    if len(views) <= MAX_SEATS + 1:
        return seat
    latest = views[seat].latest
    if latest == 0:
        latest = seat
    tiles, road = _tiles_of(g, seat), np.int64(g.bonus[seat] < 0)
    v = views[latest]
    if is_view_current(w, g, seat, v):
        if v.of_tiles != tiles or v.of_road != road:
            v.of_tiles = NOWHERE  # results from now on hold for neither board
        return latest
    found = MAX_SEATS + 1 + BOARDS * seat + _place_of(g, seat, tiles)
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

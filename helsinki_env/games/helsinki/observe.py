"""Vectorized version of `observation`, specialized for the default 51 card types.

Every entry is written once, front to back, without clearing first: a board is ten bit sets, a card pile is one copy of
64 bytes. A write past the end of a field is overwritten by the next field.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import clearer, copier, spreader
from helsinki_env.games.helsinki.observation import OBSERVATION, tile_sets, write_cards
from helsinki_env.games.helsinki.state import GAME, LAYOUTS, MAX_SEATS, NARROW

__all__ = ["observe"]

_HAND, _KNOWN, _DISCARD, _RESHUFFLED = (
    OBSERVATION.layout[name].start for name in ("hand", "known", "discard", "reshuffled")
)
_BOARD, _CELLS = 196, 49

_write_tiles, _write_numbers = spreader(64, 3), spreader(64, 5)
_write_cells, _write_half = spreader(64), spreader(32)
_clear_board, _clear_cards = clearer(_BOARD), clearer(64)
_copy_cards, _copy_half = copier(64), copier(32)
_write_fields = OBSERVATION.write


@kernel
def _write_board(t, g, seat, out, at):
    """Write number planes as one bit set per binary digit, never past the end of the board."""
    tiles, numbers = tile_sets(t, g, seat)
    coats = np.int64(t.coat_sets[g.coats[seat]])
    _write_tiles(out, at, tiles)
    _write_numbers(out, at + _CELLS, numbers)
    _write_cells(out, at + 2 * _CELLS, (np.int64(g.superstructures[seat]),))
    _write_half(out, at + 3 * _CELLS, (coats,))
    _write_half(out, at + 4 * _CELLS - 32, (coats >> (_CELLS - 32),))


@kernel
def _copy_exactly(out, at, cards):
    """Copy one entry per card type and nothing beyond."""
    _copy_half(out, at, cards, 0)
    _copy_half(out, at + NARROW - 32, cards, NARROW - 32)


@kernel
def _write_cards(g, viewer, out, dealt, turned):
    players, seat = np.int64(g.players), np.int64(viewer)
    _copy_cards(out, _HAND, g.hand[viewer], 0)
    for turn in range(players if turned else np.int64(1)):
        _copy_exactly(out, _KNOWN + NARROW * turn, g.known[seat])
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    if dealt:
        for turn in range(players, MAX_SEATS):
            _clear_cards(out, _KNOWN + NARROW * turn)
    _copy_cards(out, _DISCARD, g.discard, 0)
    _copy_exactly(out, _RESHUFFLED, g.reshuffled)


@kernel
def _write_all_but_cards(t, g, viewer, out, dealt, turned):
    players = np.int64(g.players)
    seat = np.int64(viewer)
    for turn in range(players if turned else np.int64(1)):
        _write_board(t, g, seat, out, _BOARD * turn)
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    if dealt:
        for turn in range(players, MAX_SEATS):
            _clear_board(out, _BOARD * turn)
    _write_fields(t, g, viewer, out, dealt)


@kernel
def observe(t, g, viewer, out):
    """Section 7: write what `viewer` may see into `out`, int8 of shape (F,), every entry."""
    _write_all_but_cards(t, g, viewer, out, True, True)
    _write_cards(g, np.int64(viewer), out, True, True)


@kernel
def update_observation(t, g, viewer, out, turned):
    """Like `observe`, if `out` holds an earlier observation of this deal: unused seats are already blank.

    If `turned` is false, the earlier observation has the same viewer, who has been to move ever since. The boards and
    known cards of other seats are then unchanged.
    """
    _write_all_but_cards(t, g, viewer, out, False, turned)
    _write_cards(g, np.int64(viewer), out, False, turned)


@kernel
def observe_other_types(t, g, viewer, out):
    """Like `observe`, for any number of card types."""
    _write_all_but_cards(t, g, viewer, out, True, True)
    write_cards(t, g, viewer, out, 0, 1)


loops.observe.implements(GAME, observe)
loops.update_observation.implements(GAME, update_observation)
for _layout in LAYOUTS[1:]:
    loops.observe.implements(_layout, observe_other_types)

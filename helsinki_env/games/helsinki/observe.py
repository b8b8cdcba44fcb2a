"""Vectorized version of `observation`, specialized for the default 51 card types.

Every entry is written once, front to back, without clearing first: a board is ten bit sets, a card pile is one copy of
64 bytes. A write past the end of a field is overwritten by the next field.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import clearer, copier, spreader, storer
from helsinki_env.games.helsinki.draw import hand_size
from helsinki_env.games.helsinki.observation import observation_layout, tile_sets, write_cards
from helsinki_env.games.helsinki.state import GAME, LAYOUTS, MAX_SEATS, NARROW, PAID

__all__ = ["observe"]

_AT = observation_layout(NARROW).starts
_SEATS, _USED, _DENIED, _COVERED = _AT["seats"], _AT["used"], _AT["denied"], _AT["covered"]
_PHASE, _TABLE, _SUPPLY, _BONUS = _AT["phase"], _AT["table"], _AT["tile_supply"], _AT["bonus_cards"]
_PENDING, _BUILDING, _DISPLAY, _UNSEEN = _AT["pending"], _AT["building"], _AT["display"], _AT["own_unseen"]
_HAND, _KNOWN, _DISCARD, _RESHUFFLED = _AT["hand"], _AT["known"], _AT["discard"], _AT["reshuffled"]
_BOARD, _CELLS = 196, 49

_write_tiles, _write_numbers = spreader(64, 3), spreader(64, 5)
_write_cells, _write_half, _write_actions = spreader(64), spreader(32), spreader(16)
_clear_board, _clear_cards = clearer(_BOARD), clearer(64)
_copy_cards, _copy_half = copier(64), copier(32)
_copy_16, _copy_4, _copy_8_codes, _copy_4_codes = copier(16), copier(4), copier(8, plus=1), copier(4, plus=1)
_store_8, _store_4 = storer(8), storer(4)


@kernel
def _bytes(a, b, c, d, e, f, g, h):
    """Pack eight small numbers into one int64, the first in the lowest byte."""
    low = np.int64(a) | np.int64(b) << 8 | np.int64(c) << 16 | np.int64(d) << 24
    return low | np.int64(e) << 32 | np.int64(f) << 40 | np.int64(g) << 48 | np.int64(h) << 56


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
def _write_seat(t, g, seat, out, at):
    held = hand_size(t, g, seat)
    unseen = np.int64(g.unseen[seat, 0] >= 0) + np.int64(g.unseen[seat, 1] >= 0) + np.int64(g.unseen[seat, 2] >= 0)
    bonus = np.int64(t.bonus_cards[g.bonus[seat]]) if g.bonus[seat] >= 0 else np.int64(0)
    points = min(np.int64(127), np.int64(g.points[seat]))
    token = np.int64(g.token[seat]) + 1
    _store_8(out, at, _bytes(1, held, g.meadow[seat], token, points, bonus, g.limit_lifted[seat], unseen))


@kernel
def _write_pending(g, out):
    _store_8(
        out,
        _PENDING,
        _bytes(g.move, g.drew, g.has_built, g.only_build, g.to_pay, g.substitute, g.any_side, np.int64(g.action) + 1),
    )
    last_roof, last_discard = np.int64(g.last_roof) + 1, np.int64(g.last_discard) + 1
    lifted = np.int64(g.lifted) + 1
    _store_8(
        out,
        _PENDING + 8,
        _bytes(g.resume, g.wilds_left, lifted, g.roofs_left, last_roof, last_discard, g.lifted_now, g.turn_over),
    )
    out[_BUILDING] = g.card + 1
    for i in range(PAID):
        out[_BUILDING + 1 + i] = g.paid[i] + 1 if i < g.paid_count else 0


@kernel
def _write_table(g, viewer, out):
    _write_actions(out, _COVERED, (np.int64(g.covered),))
    _write_actions(out, _PHASE, (np.int64(1) << np.int64(g.phase),))
    rounds = min(np.int64(127), np.int64(g.round_number))
    _store_8(
        out,
        _TABLE,
        _bytes(
            g.players,
            viewer,
            g.dry_roads,
            rounds,
            g.last_round,
            g.pile_size,
            g.wild_supply,
            g.superstructure_supply,
        ),
    )
    _copy_16(out, _SUPPLY, g.supply, 0)
    _copy_4(out, _SUPPLY + 16, g.supply, 16)
    left = np.int64(g.bonus_cards)
    _store_4(out, _BONUS, left & 1 | (left >> 1 & 1) << 8 | (left >> 2 & 1) << 16 | (left >> 3 & 1) << 24)
    _write_pending(g, out)
    _copy_8_codes(out, _DISPLAY, g.display, 0)
    _copy_4_codes(out, _UNSEEN, g.unseen[viewer], 0)


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
    seat = np.int64(viewer)
    for turn in range(players):
        _write_seat(t, g, seat, out, _SEATS + 8 * turn)
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, MAX_SEATS):
        _store_8(out, _SEATS + 8 * turn, np.int64(0))
    for turn in range(players):
        _write_actions(out, _USED + 15 * turn, (np.int64(g.used[seat]),))
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, MAX_SEATS):
        _write_actions(out, _USED + 15 * turn, (np.int64(0),))
    for turn in range(players):
        _write_actions(out, _DENIED + 15 * turn, (np.int64(g.denied[seat]),))
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, MAX_SEATS):
        _write_actions(out, _DENIED + 15 * turn, (np.int64(0),))
    _write_table(g, viewer, out)


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

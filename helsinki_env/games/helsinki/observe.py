"""What a seat may see, written at once for the 51 card types of the box; `observation` says the same for any number.

Every entry is written once, from the front to the back, without clearing first: a board is ten sets, a pile of cards is
one copy of 64 bytes. What is written beyond the end of a piece belongs to the next one, which comes after it.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import clearer, copier, spreader, storer, summer
from helsinki_env.games.helsinki.observation import layout
from helsinki_env.games.helsinki.state import GAME, NARROW, PAID, SEATS

__all__ = ["observe"]

_AT = layout(NARROW).starts
_SEATS, _USED, _DENIED, _COVERED = _AT["seats"], _AT["used"], _AT["denied"], _AT["covered"]
_PHASE, _TABLE, _SUPPLY, _BONUS = _AT["phase"], _AT["table"], _AT["tile_supply"], _AT["bonus_cards"]
_PENDING, _BUILDING, _DISPLAY, _UNSEEN = _AT["pending"], _AT["building"], _AT["display"], _AT["own_unseen"]
_HAND, _KNOWN, _DISCARD, _RESHUFFLED = _AT["hand"], _AT["known"], _AT["discard"], _AT["reshuffled"]
_BOARD, _CELLS = 196, 49

_write_tiles, _write_numbers = spreader(64, 3), spreader(64, 5)
_write_cells, _write_actions = spreader(64), spreader(16)
_clear_board, _clear_cards = clearer(_BOARD), clearer(64)
_copy_cards, _copy_half = copier(64), copier(32)
_copy_16, _copy_4, _copy_8_codes, _copy_4_codes = copier(16), copier(4), copier(8, plus=1), copier(4, plus=1)
_store_8, _store_4 = storer(8), storer(4)
_cards_in = summer(NARROW, 64)


@kernel
def _bytes(a, b, c, d, e, f, g, h):
    """Eight small numbers as one word, the first one lowest."""
    low = np.int64(a) | np.int64(b) << 8 | np.int64(c) << 16 | np.int64(d) << 24
    return low | np.int64(e) << 32 | np.int64(f) << 40 | np.int64(g) << 48 | np.int64(h) << 56


@kernel
def _write_board(t, g, seat, out, at):
    """A plane of numbers is made of sets, one for each binary digit; colours have three, places in the order five."""
    c0 = c1 = c2 = np.int64(0)
    n0 = n1 = n2 = n3 = n4 = np.int64(0)
    for tile in range(g.tile_count[seat]):
        piece = np.uint64(g.tile_piece[seat, tile])
        cells = np.int64(t.roofs_mask[piece]) << np.int64(g.tile_cell[seat, tile])
        colour, number = np.int64(piece >> np.uint64(5)) + 1, np.int64(tile) + 1
        c0 |= cells & -(colour & 1)
        c1 |= cells & -(colour >> 1 & 1)
        c2 |= cells & -(colour >> 2)
        n0 |= cells & -(number & 1)
        n1 |= cells & -(number >> 1 & 1)
        n2 |= cells & -(number >> 2 & 1)
        n3 |= cells & -(number >> 3 & 1)
        n4 |= cells & -(number >> 4)
    grey = np.int64(g.wild[seat]) | t.statue  # 6 and 7
    _write_tiles(out, at, (c0 | t.statue, c1 | grey, c2 | grey))
    _write_numbers(out, at + _CELLS, (n0, n1, n2, n3, n4))
    _write_cells(out, at + 2 * _CELLS, (np.int64(g.superstructures[seat]),))
    _write_cells(out, at + 3 * _CELLS, (np.int64(t.coat_sets[g.coats[seat]]),))


@kernel
def _write_seat(t, g, seat, out, at):
    held = _cards_in(g.hand[seat], 0)
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
def _write_table(t, g, viewer, out):
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
def _write_cards(g, viewer, out):
    players, seat = np.int64(g.players), np.int64(viewer)
    _copy_cards(out, _HAND, g.hand[viewer], 0)
    for turn in range(players):
        _copy_cards(out, _KNOWN + NARROW * turn, g.known[seat], 0)
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, SEATS):
        _clear_cards(out, _KNOWN + NARROW * turn)
    _copy_cards(out, _DISCARD, g.discard, 0)
    _copy_half(out, _RESHUFFLED, g.reshuffled, 0)
    _copy_half(out, _RESHUFFLED + NARROW - 32, g.reshuffled, NARROW - 32)  # to the very end, and no further


@kernel
def observe(t, g, viewer, out):
    """Section 7: write what `viewer` may see into `out`, int8 of shape (F,), every entry."""
    players = np.int64(g.players)
    seat = np.int64(viewer)
    for turn in range(players):
        _write_board(t, g, seat, out, _BOARD * turn)
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, SEATS):
        _clear_board(out, _BOARD * turn)
    for turn in range(players):
        _write_seat(t, g, seat, out, _SEATS + 8 * turn)
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, SEATS):
        _store_8(out, _SEATS + 8 * turn, np.int64(0))
    for turn in range(players):
        _write_actions(out, _USED + 15 * turn, (np.int64(g.used[seat]),))
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, SEATS):
        _write_actions(out, _USED + 15 * turn, (np.int64(0),))
    for turn in range(players):
        _write_actions(out, _DENIED + 15 * turn, (np.int64(g.denied[seat]),))
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    for turn in range(players, SEATS):
        _write_actions(out, _DENIED + 15 * turn, (np.int64(0),))
    _write_table(t, g, viewer, out)
    _write_cards(g, np.int64(viewer), out)


loops.observe.belongs_to(GAME, observe)

"""The observation of a seat, written by several GPU lanes in parallel; `observation` is the single-lane version."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.actions import CELLS
from helsinki_env.games.copenhagen.bits import full_rows
from helsinki_env.games.copenhagen.components import COLUMNS, ROWS
from helsinki_env.games.copenhagen.observation import (
    FACTS,
    LAYOUT,
    PER_BOARD,
    tile_sets,
    write_facts,
    write_pending,
    write_table,
)
from helsinki_env.games.copenhagen.state import GAME, MAX_SEATS, PHASES

__all__: list[str] = []

_AT = LAYOUT.starts
_ROW_COATS, _SEATS, _OWNED, _USED, _DENIED = (
    _AT[name] for name in ("row_coats", "seats", "abilities", "used", "denied")
)
_PHASE, _SUPPLY, _PAID, _REWARDS = (_AT[name] for name in ("phase", "tile_supply", "paid", "rewards"))
_DISPLAY, _HAND, _KNOWN, _DISCARD, _RESHUFFLED = (
    _AT[name] for name in ("display", "hand", "known", "discard", "reshuffled")
)


@kernel
def _seat_after(g, viewer, turn):
    """Return the seat `turn` seats after the viewer, or -1 if it is unused."""
    if turn >= g.players:
        return np.int64(-1)
    seat = np.int64(viewer) + turn
    return seat - g.players if seat >= g.players else seat


@kernel
def _write_board(t, g, seat, out, at, lane, lanes):
    (c0, c1, c2), (n0, n1, n2, n3, n4) = tile_sets(t, g, seat)
    bricks, coats = np.int64(g.bricks[seat]), np.int64(t.coats) & ~np.int64(g.filled[seat])
    for cell in range(lane, CELLS, lanes):
        out[at + cell] = c0 >> cell & 1 | (c1 >> cell & 1) << 1 | (c2 >> cell & 1) << 2
        digits = n0 >> cell & 1 | (n1 >> cell & 1) << 1 | (n2 >> cell & 1) << 2
        out[at + CELLS + cell] = digits | (n3 >> cell & 1) << 3 | (n4 >> cell & 1) << 4
        out[at + 2 * CELLS + cell] = bricks >> cell & 1
        out[at + 3 * CELLS + cell] = coats >> cell & 1


@kernel
def _write_seats(t, g, viewer, out, lane, lanes):
    for turn in range(MAX_SEATS):
        seat = _seat_after(g, viewer, turn)
        if seat >= 0:
            _write_board(t, g, seat, out, PER_BOARD * turn, lane, lanes)
        else:
            for entry in range(PER_BOARD * turn + lane, PER_BOARD * (turn + 1), lanes):
                out[entry] = 0
    for turn in range(lane, MAX_SEATS, lanes):
        seat, facts, coats = _seat_after(g, viewer, turn), _SEATS + FACTS * turn, np.int64(0)
        if seat >= 0:
            write_facts(g, seat, out, facts)
            coats = t.coat_rows & ~full_rows(np.int64(g.filled[seat]))
        else:
            for entry in range(facts, facts + FACTS):
                out[entry] = 0
        for y in range(ROWS):
            out[_ROW_COATS + ROWS * turn + y] = (coats >> (COLUMNS * y)) & 1
    for entry in range(lane, 5 * MAX_SEATS, lanes):
        seat, number = _seat_after(g, viewer, entry // 5), np.int64(entry % 5)
        there = seat >= 0
        out[_OWNED + entry] = np.int64(g.owned[seat]) >> number & 1 if there else 0
        out[_USED + entry] = np.int64(g.used[seat]) >> number & 1 if there else 0
        out[_DENIED + entry] = np.int64(g.denied[seat]) >> number & 1 if there else 0
        out[_KNOWN + entry] = g.known[seat, number] if there else 0


@kernel
def observe_part(t, g, viewer, out, lane, lanes):
    """Section 5: write one lane's share of the observation of `viewer`, int8 (F,)."""
    _write_seats(t, g, viewer, out, lane, lanes)
    for phase in range(lane, len(PHASES), lanes):
        out[_PHASE + phase] = phase == g.phase
    for kind in range(lane, 20, lanes):
        out[_SUPPLY + kind] = g.supply[kind]
    for slot in range(lane, 7, lanes):
        out[_DISPLAY + slot] = g.display[slot] + 1
    for colour in range(lane, 5, lanes):
        out[_PAID + colour] = g.paid[colour]
        out[_HAND + colour] = g.hand[viewer, colour]
        out[_DISCARD + colour] = g.discard[colour]
        out[_RESHUFFLED + colour] = g.reshuffled[colour]
    if lane == 0:
        out[_REWARDS] = g.rewards
        write_table(g, viewer, out)
        write_pending(g, out)


loops.observe_part.implements(GAME, observe_part)

"""Accept consistent game records quickly, in compiled code; `helsinki_env.engine.positions` checks all other records.

The compiled rules index arrays with record values without bounds checks, and searches play games to the end. A record
is consistent if its fields agree with each other and at least one action is legal. Play preserves this property, and a
consistent game can be played to the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from helsinki_env.engine.arrays import record_array
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.limits import check_ranges
from helsinki_env.engine.loops import write_mask
from helsinki_env.games.helsinki import state
from helsinki_env.games.helsinki.actions import MOVE_1_TO_5, MOVE_1_TO_6, action_table
from helsinki_env.games.helsinki.build import coats_to_place, free_roofs, hand_by_color
from helsinki_env.games.helsinki.coats import usable_actions
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.shapes import NORTH, WEST, tile_cells
from helsinki_env.games.helsinki.state import MAX_SEATS, WIDE, game_dtype

_COATS = 8  # number of coats of arms per seat


def are_consistent(states: Any, config: HelsinkiConfig) -> bool:
    """Return whether all records (B,) are consistent. Raise ValueError for a wrong dtype or a value out of range."""
    states = record_array("states", states, game_dtype(config.component_set.types))
    check_ranges(states, config.tables[0])
    count, mask = np.zeros(WIDE, np.int64), np.zeros(action_table(config.component_set.types).size, np.int8)
    return bool(all_consistent(config.tables, states, count, mask))


@kernel
def all_consistent(tables, states, count, mask):
    """Return whether all games are consistent; every field must be in range.

    `count`, int64 (WIDE,), and `mask`, int8 (ids,), are scratch arrays.
    """
    t = tables[0]
    for b in range(len(states)):
        g = states[b]
        if not _is_consistent(t, g, count, mask):
            return False
    return True


@kernel
def _is_consistent(t, g, count, mask):
    if g.seat >= g.players:
        return False
    for seat in range(g.players):
        if (g.token[seat] < 0) != (g.phase == state.PHASE_START):
            return False
    if g.done and g.phase != state.PHASE_END:
        return False
    if g.pile_size == 0 and not g.last_round:
        return False
    if not (_boards(t, g, count) and _cards(t, g, count) and _decision(t, g)):
        return False
    if g.card >= 0 and not _building(t, g):
        return False
    if g.done:
        return True
    write_mask(t, g, mask)
    return np.any(mask)


@kernel
def _boards(t, g, count):
    """Check that tiles are on the board and do not overlap, and that coats and superstructures are on legal cells."""
    for kind in range(20):
        count[kind] = g.supply[kind]
    for seat in range(g.players):
        if not _board(t, g, seat, count):
            return False
    for kind in range(20):
        if count[kind] > t.supply[kind]:
            return False
    return True


@kernel
def _board(t, g, seat, count):
    built = np.int64(t.statue)
    for tile in range(g.tile_count[seat]):
        piece, cell = np.int64(g.tile_piece[seat, tile]), np.int64(g.tile_cell[seat, tile])
        if t.roofs_mask[piece] == 0:
            return False
        if cell % 7 + t.width[piece, NORTH] > 7 or cell // 7 + t.width[piece, WEST] > 7:
            return False
        cells = tile_cells(t, piece, cell)
        if built & cells:
            return False
        built |= cells
        count[piece // 8] += 1
    if built & g.wild[seat] or built | g.wild[seat] != g.built[seat]:
        return False
    if g.superstructures[seat] & ~(g.built[seat] & ~t.statue):
        return False
    coats = np.int64(g.meadow[seat])
    for coat in range(_COATS):
        if (g.coats[seat] >> coat) & 1:
            coats += 1
            if g.built[seat] & t.coat_cells[coat]:
                return False
    return coats <= _COATS


@kernel
def _cards(t, g, count):
    """Check that the cards in the pile, discards, display and hands and those being played add up to the deck."""
    for card in range(t.types):
        count[card] = g.discard[card]
        for seat in range(MAX_SEATS):
            if g.known[seat, card] > g.hand[seat, card]:
                return False
            count[card] += g.hand[seat, card]
    for place in range(g.pile_size):
        count[g.pile[place]] += 1
    for slot in range(8):
        if g.display[slot] >= 0:
            count[g.display[slot]] += 1
    for place in range(g.paid_count):
        count[g.paid[place]] += 1
    if g.card >= 0:
        count[g.card] += 1
    removed = 0
    for card in range(t.types):
        missing = t.deck[g.players, card] - count[card]
        if missing < 0 or (missing and t.number[card] != t.removed_number):
            return False
        removed += missing
    return removed == (g.players == 2)


@kernel
def _decision(t, g):
    """Check that the fields of the pending action are set, and no others."""
    phase = g.phase
    building = phase in (state.PHASE_PAY, state.PHASE_PLACE)
    if g.move and (phase != state.PHASE_MOVE or g.move not in (t.strengths[MOVE_1_TO_6], t.strengths[MOVE_1_TO_5])):
        return False
    if g.only_build and phase != state.PHASE_MAIN:
        return False
    if (g.card >= 0) != building:
        return False
    if (g.to_pay > 0) != (phase == state.PHASE_PAY):
        return False
    if g.paid_count and not building:
        return False
    if g.substitute and phase != state.PHASE_PAY:
        return False
    if g.any_side and phase != state.PHASE_PLACE:
        return False
    if (g.wilds_left > 0) != (phase == state.PHASE_WILD) or g.wilds_left > g.wild_supply:
        return False
    if (g.roofs_left > 0) != (phase == state.PHASE_ROOF) or (g.lifted < 0 and g.roofs_left > g.superstructure_supply):
        return False
    if g.lifted >= 0 and g.roofs_left != 1:
        return False
    interrupts = phase in (state.PHASE_WILD, state.PHASE_LIFT, state.PHASE_ROOF)
    if interrupts and g.resume not in (state.PHASE_MOVE, state.PHASE_MAIN, state.PHASE_END):
        return False
    if g.tile_count[g.seat] == 0 and (g.has_built or (phase == state.PHASE_ROOF and g.lifted < 0)):
        return False
    return phase != state.PHASE_LIFT or free_roofs(t, g, g.seat) != 0


@kernel
def _building(t, g):
    """PAY and PLACE: check that the supply contains the tile and that it can be paid for and placed."""
    kind = np.int64(t.kind[g.card])
    if g.supply[kind] == 0:
        return False
    same, wild, _ = hand_by_color(t, g, g.seat, np.int64(t.colour[g.card]))
    if g.to_pay + g.paid_count >= t.number[g.card] or (g.substitute and g.to_pay - 1 > same + wild):
        return False
    return bool(g.any_side) or coats_to_place(t, g, kind, usable_actions(t, g, g.seat)) <= g.meadow[g.seat]

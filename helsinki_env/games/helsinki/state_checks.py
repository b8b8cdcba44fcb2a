"""Validate external game records before kernels use them.

Compiled rules index arrays with record values without bounds checks, and a search plays until a game is over. A record
is valid only if every field is in range, the fields are consistent and some action is legal. Legal play preserves
validity, and a valid game can be played to its end. (`helsinki_env.games.helsinki.position` also checks that a turn can
have led to a position.)
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.arrays import record_array
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.limits import check_ranges, fail_field
from helsinki_env.engine.loops import write_mask
from helsinki_env.games.helsinki.actions import MOVE_1_TO_5, MOVE_1_TO_6, action_table
from helsinki_env.games.helsinki.build import coats_to_place, free_roofs, hand_by_color
from helsinki_env.games.helsinki.coats import usable_actions
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.shapes import NORTH, WEST, tile_cells
from helsinki_env.games.helsinki.state import (
    MAX_SEATS,
    PHASE_END,
    PHASE_LIFT,
    PHASE_MAIN,
    PHASE_MOVE,
    PHASE_PAY,
    PHASE_PLACE,
    PHASE_ROOF,
    PHASE_START,
    PHASE_WILD,
    WIDE,
    States,
    game_dtype,
)

__all__ = ["check_states"]

_BOX = 8  # coats of arms

#: Possible inconsistencies between fields that are all in range: the field to name and its expected value.
_FAULTS = (
    ("seat", "a seat that is played"),
    ("token", "spaces, or -1 for every seat in phase START"),
    ("phase", f"{PHASE_END} (END) once the game is over"),
    ("pile_size", "at least 1 before the last round"),
    ("tile_piece", "orientations of tiles"),
    ("tile_cell", "cells from which the tiles lie on the board"),
    ("built", "the cells of tiles, wild tiles and statue, which do not overlap"),
    ("superstructures", "cells of pavilion and wild tiles"),
    ("coats", "coats on cells that are not built"),
    ("meadow", "no more coats than have left the board"),
    ("supply", "no more tiles than the boards leave"),
    ("known", "no more cards than are in the hand"),
    ("hand", "with piles, display and cards being paid exactly the deck"),
    ("move", f"0, or in phase {PHASE_MOVE} (MOVE) the spaces of move_1_to_6 or move_1_to_5"),
    ("only_build", f"0 but in phase {PHASE_MAIN} (MAIN)"),
    ("card", f"a card in phases {PHASE_PAY} and {PHASE_PLACE} (PAY, PLACE), else -1"),
    ("to_pay", f"at least 1 in phase {PHASE_PAY} (PAY), else 0"),
    ("paid_count", f"0 but in phases {PHASE_PAY} and {PHASE_PLACE} (PAY, PLACE)"),
    ("substitute", f"0 but in phase {PHASE_PAY} (PAY)"),
    ("any_side", f"0 but in phase {PHASE_PLACE} (PLACE)"),
    ("wilds_left", f"at least 1 in phase {PHASE_WILD} (WILD) and no more than the supply, else 0"),
    ("roofs_left", f"at least 1 in phase {PHASE_ROOF} (ROOF) and no more than the supply, else 0"),
    ("lifted", f"-1 but in phase {PHASE_ROOF} (ROOF), for one roof"),
    ("resume", f"{PHASE_MOVE}, {PHASE_MAIN} or {PHASE_END} (MOVE, MAIN, END) in phases WILD, LIFT and ROOF"),
    ("tile_count", "a tile of the seat to move, which has built"),
    ("phase", f"another one than {PHASE_LIFT} (LIFT) where no roof is free"),
    ("supply", "a tile for the card that is being built"),
    ("to_pay", "with the cards paid no more than the card asks for, and than the hand can pay"),
    ("card", "one whose tile can be placed"),
    ("phase", "one in which some decision is legal"),
)
(
    _SEAT, _TOKEN, _DONE, _PILE, _PIECE, _CELL, _BUILT, _STANDING, _COATS, _MEADOW, _SUPPLY, _KNOWN, _HAND, _MOVE,
    _ONLY_BUILD, _CARD, _TO_PAY, _PAID_COUNT, _SUBSTITUTE, _ANY_SIDE, _WILDS, _ROOFS, _LIFTED, _RESUME, _TILE,
    _NO_ROOF, _NO_TILE, _NOT_PAID, _NOT_PLACED, _NOTHING_LEGAL,
) = range(len(_FAULTS))  # fmt: skip
_SOUND = -1


def check_states(states: States, config: HelsinkiConfig) -> None:
    """Check that games can continue from records, (B,); only the component file of the configuration matters.

    ValueError names the first invalid game and field, the value found and the value expected.
    """
    states = record_array("states", states, game_dtype(config.component_set.types))
    check_ranges(states, config.tables[0])
    count, mask = np.zeros(WIDE, np.int64), np.zeros(action_table(config.component_set.types).size, np.int8)
    b, fault = first_invalid_game(config.tables, states, count, mask)
    if fault != _SOUND:
        name, expected = _FAULTS[fault]
        fail_field(b, name, states[b][name], expected)


# Consistency between fields


@kernel
def first_invalid_game(tables, states, count, mask):
    """Return the first game with inconsistent fields and its inconsistency, or `_SOUND`.

    Every field must be in range. `count`: scratch, int64 (WIDE,); `mask`: scratch, int8 (ids,).
    """
    t = tables[0]
    for b in range(len(states)):
        g = states[b]
        fault = _fault(t, g, count, mask)
        if fault != _SOUND:
            return b, fault
    return len(states), _SOUND


@kernel
def _fault(t, g, count, mask):
    if g.seat >= g.players:
        return _SEAT
    for seat in range(g.players):
        if (g.token[seat] < 0) != (g.phase == PHASE_START):
            return _TOKEN
    if g.done and g.phase != PHASE_END:
        return _DONE
    if g.pile_size == 0 and not g.last_round:
        return _PILE
    fault = _boards(t, g, count)
    if fault == _SOUND:
        fault = _cards(t, g, count)
    if fault == _SOUND:
        fault = _decision(t, g)
    if fault == _SOUND and g.card >= 0:
        fault = _building(t, g)
    if fault != _SOUND or g.done:
        return fault
    write_mask(t, g, mask)
    return _SOUND if np.any(mask) else _NOTHING_LEGAL


@kernel
def _boards(t, g, count):
    """Check that tiles lie on the board without overlap, and that coats and superstructures lie on legal cells."""
    for kind in range(20):
        count[kind] = g.supply[kind]
    for seat in range(g.players):
        fault = _board(t, g, seat, count)
        if fault != _SOUND:
            return fault
    for kind in range(20):
        if count[kind] > t.supply[kind]:
            return _SUPPLY
    return _SOUND


@kernel
def _board(t, g, seat, count):
    built = np.int64(t.statue)
    for tile in range(g.tile_count[seat]):
        piece, cell = np.int64(g.tile_piece[seat, tile]), np.int64(g.tile_cell[seat, tile])
        if t.roofs_mask[piece] == 0:
            return _PIECE
        if cell % 7 + t.width[piece, NORTH] > 7 or cell // 7 + t.width[piece, WEST] > 7:
            return _CELL
        cells = tile_cells(t, piece, cell)
        if built & cells:
            return _BUILT
        built |= cells
        count[piece // 8] += 1
    if built & g.wild[seat] or built | g.wild[seat] != g.built[seat]:
        return _BUILT
    if g.superstructures[seat] & ~(g.built[seat] & ~t.statue):
        return _STANDING
    coats = np.int64(g.meadow[seat])
    for coat in range(_BOX):
        if (g.coats[seat] >> coat) & 1:
            coats += 1
            if g.built[seat] & t.coat_cells[coat]:
                return _COATS
    return _SOUND if coats <= _BOX else _MEADOW


@kernel
def _cards(t, g, count):
    """Check that the pile, discards, display, hands and cards being played add up to the deck."""
    for card in range(t.types):
        count[card] = g.discard[card]
        for seat in range(MAX_SEATS):
            if g.known[seat, card] > g.hand[seat, card]:
                return _KNOWN
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
            return _HAND
        removed += missing
    return _SOUND if removed == (g.players == 2) else _HAND


@kernel
def _decision(t, g):
    """Check that exactly the fields of the pending action are set."""
    phase = g.phase
    building = phase in (PHASE_PAY, PHASE_PLACE)
    if g.move and (phase != PHASE_MOVE or g.move not in (t.strengths[MOVE_1_TO_6], t.strengths[MOVE_1_TO_5])):
        return _MOVE
    if g.only_build and phase != PHASE_MAIN:
        return _ONLY_BUILD
    if (g.card >= 0) != building:
        return _CARD
    if (g.to_pay > 0) != (phase == PHASE_PAY):
        return _TO_PAY
    if g.paid_count and not building:
        return _PAID_COUNT
    if g.substitute and phase != PHASE_PAY:
        return _SUBSTITUTE
    if g.any_side and phase != PHASE_PLACE:
        return _ANY_SIDE
    if (g.wilds_left > 0) != (phase == PHASE_WILD) or g.wilds_left > g.wild_supply:
        return _WILDS
    if (g.roofs_left > 0) != (phase == PHASE_ROOF) or (g.lifted < 0 and g.roofs_left > g.superstructure_supply):
        return _ROOFS
    if g.lifted >= 0 and g.roofs_left != 1:
        return _LIFTED
    if phase in (PHASE_WILD, PHASE_LIFT, PHASE_ROOF) and g.resume not in (PHASE_MOVE, PHASE_MAIN, PHASE_END):
        return _RESUME
    if g.tile_count[g.seat] == 0 and (g.has_built or (phase == PHASE_ROOF and g.lifted < 0)):
        return _TILE
    return _NO_ROOF if phase == PHASE_LIFT and free_roofs(t, g, g.seat) == 0 else _SOUND


@kernel
def _building(t, g):
    """PAY and PLACE: check that the tile is in supply and can be paid and placed."""
    kind = np.int64(t.kind[g.card])
    if g.supply[kind] == 0:
        return _NO_TILE
    same, wild, _ = hand_by_color(t, g, g.seat, np.int64(t.colour[g.card]))
    if g.to_pay + g.paid_count >= t.number[g.card] or (g.substitute and g.to_pay - 1 > same + wild):
        return _NOT_PAID
    if not g.any_side and coats_to_place(t, g, kind, usable_actions(t, g, g.seat)) > g.meadow[g.seat]:
        return _NOT_PLACED
    return _SOUND

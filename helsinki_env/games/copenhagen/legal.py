"""Compute the action mask (rules, section 3).

After every legal action, the turn can be completed. Using an ability is legal only if it changes more than the state
of the ability itself.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import clearer, marker
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen import state
from helsinki_env.games.copenhagen.abilities import active, new_abilities, used_abilities, white_cells
from helsinki_env.games.copenhagen.bits import BOARD, neighbors, supported
from helsinki_env.games.copenhagen.build import (
    color_of,
    completes,
    costs,
    discounted,
    feasible,
    payable,
    recolours,
    size_of,
)
from helsinki_env.games.copenhagen.cards import filled_slots, hand_size, slots_above
from helsinki_env.games.copenhagen.shapes import meeting, placements

#: Mark the corners of an orientation. The ids after them are set to zero. They belong to the next orientation, which is
#: written later, or to action kinds that do not occur in the same phase.
_mark_corners = marker(64)
#: Mark cells in two overlapping parts, without writing beyond the last cell. `_mark_lower` also marks tiles.
_mark_lower, _mark_upper = marker(32), marker(16)
_clear_all = clearer(a.NUM_ACTIONS)


@kernel
def _mark(mask, first, size, legal):
    """Write the entries of `size` arguments: 1 for those in the set `legal` (bit = argument), otherwise 0."""
    for argument in range(size):
        mask[first + argument] = (legal >> argument) & 1


@kernel
def _first_slots(g):
    """MAIN: return the filled slots followed by a card in the next slot, or in any later slot with any_cards."""
    slots = filled_slots(g)
    second = slots >> 1
    if (active(g) >> a.ANY_CARDS) & 1:
        second |= second >> 1
        second |= second >> 2
        second |= second >> 4
    return slots & second


@kernel
def _next_slots(g):
    """TAKE: return the slot after the first card, every later slot with any_cards, or all for an additional card."""
    slots = filled_slots(g)
    if g.first < 0:
        return slots
    if (np.int64(g.using) >> a.ANY_CARDS) & 1:
        return slots & slots_above(g.first + 1)
    return slots & np.int64(2) << np.int64(g.first)


@kernel
def _taking_uses(t, g, usable):
    """DISCARD and END: return additional_card before any discard, and both_actions once the hand limit is met."""
    legal = np.int64(0)
    if g.last_discard < 0 and filled_slots(g):
        legal |= usable & (1 << a.ADDITIONAL_CARD)
    both = usable & (1 << a.BOTH_ACTIONS)
    if both and g.phase == state.PHASE_END and feasible(t, g):
        legal |= both
    return legal


@kernel
def _building_uses(t, g, usable):
    """PLACE: return the abilities that lower the cost or recolor cards and still leave a placement that can be paid.

    [R] The discount always changes the cost, so it is legal even if the tile can be paid without it. After RECOLOUR,
    a discount to zero is illegal, because a recolored card must be paid.
    """
    discount = usable & (1 << a.CONSTRUCTION_DISCOUNT)
    change = usable & (1 << a.CHANGE_OF_COLOURS)
    if not (discount or change):
        return np.int64(0)
    full = costs(t, g, g.tile)
    if discount and not completes(g, g.tile, full >> 1):
        discount = np.int64(0)
    if change and not recolours(g, g.tile, discounted(g, full)):
        change = np.int64(0)
    return discount | change


@kernel
def legal_uses(t, g):
    """Return the set of abilities for which USE is legal now (bit = ability)."""
    usable = active(g)
    if g.phase == state.PHASE_TAKE and g.first >= 0 and filled_slots(g) & slots_above(g.first + 1):
        return usable & (1 << a.ANY_CARDS)
    if g.phase == state.PHASE_DISCARD or g.phase == state.PHASE_END:
        return _taking_uses(t, g, usable)
    if g.phase == state.PHASE_PLACE:
        return _building_uses(t, g, usable)
    return np.int64(0)


@kernel
def _mark_places(t, g, mask, first):
    """PLACE: mark all placements that can be paid now."""
    kind = np.int64(g.tile)
    filled = np.int64(g.filled[g.seat])
    support = supported(filled)
    near = neighbors(np.int64(g.coloured[g.seat, color_of(kind)]))
    alone = size_of(kind) - ((np.int64(g.using) >> a.CONSTRUCTION_DISCOUNT) & 1)
    can_pay = payable(g, kind, np.int64(3) << (alone - 1))
    for orientation in range(t.orientations[kind]):
        piece = a.ORIENTATIONS * kind + orientation
        meets = meeting(t, piece, near)
        legal = np.int64(0)
        if (can_pay >> alone) & 1:
            legal |= ~meets
        if (can_pay >> (alone - 1)) & 1:
            legal |= meets
        legal &= placements(t, piece, filled, support)
        _mark_corners(mask, first + a.CELLS * orientation, (legal & BOARD,))


@kernel
def _pay_colours(g):
    """PAY: return the colors allowed for the next card: non-decreasing, with at least one recolored card in total."""
    own, recoloured = color_of(g.tile), np.int64(g.recolour)
    low, high = min(own, recoloured), max(own, recoloured)
    low_held, high_held = np.int64(g.hand[g.seat, low]), np.int64(g.hand[g.seat, high])
    due, legal = np.int64(g.due), np.int64(0)
    # Once a card of the higher color is paid, all later cards must have that color.
    if high_held >= due and (high == recoloured or g.paid[recoloured] > 0):
        legal |= np.int64(1) << high
    # The lower color comes first; if it is the color of the tile, a recolored card must still follow.
    if g.paid[high] == 0 and low_held > 0 and low_held + high_held >= due and (low == recoloured or due > 1):
        legal |= np.int64(1) << low
    return legal


@kernel
def _mark_discards(t, g, mask, first):
    """DISCARD: mark the colors allowed for the next card: non-decreasing, so that the hand limit can still be met."""
    due = hand_size(g, g.seat) - t.hand_limit
    left = np.int64(0)
    for colour in range(4, -1, -1):
        held = np.int64(g.hand[g.seat, colour])
        left += held
        mask[first + colour] = (colour >= g.last_discard) & (held > 0) & (left >= due)


@kernel
def mark_legal(t, g, mask):
    """Write 1 for each legal action into `mask`, int8 (459,), which must be all zeros."""
    if g.done:
        return
    phase, offset = g.phase, t.offset
    if phase == state.PHASE_MAIN:
        _mark_lower(mask, offset[a.KIND_BUILD], (feasible(t, g),))
        if not (np.int64(g.using) >> a.BOTH_ACTIONS) & 1:
            _mark(mask, offset[a.KIND_TAKE], 7, _first_slots(g))
    elif phase == state.PHASE_TAKE:
        _mark(mask, offset[a.KIND_TAKE], 7, _next_slots(g))
    elif phase == state.PHASE_DISCARD:
        _mark_discards(t, g, mask, offset[a.KIND_DISCARD])
    elif phase == state.PHASE_END:
        mask[offset[a.KIND_END]] = 1
    elif phase == state.PHASE_PLACE:
        _mark_places(t, g, mask, offset[a.KIND_PLACE])
    elif phase == state.PHASE_RECOLOUR:
        _mark(mask, offset[a.KIND_RECOLOUR], 5, recolours(g, g.tile, discounted(g, costs(t, g, g.tile))))
    elif phase == state.PHASE_PAY:
        _mark(mask, offset[a.KIND_PAY], 5, _pay_colours(g))
    elif phase == state.PHASE_COAT:
        cells, first = white_cells(g), offset[a.KIND_WHITE]
        _mark_lower(mask, first, (cells,))
        _mark_upper(mask, first + a.CELLS - 16, (cells >> (a.CELLS - 16),))
        _mark(mask, offset[a.KIND_ABILITY], 5, new_abilities(g))
        mask[offset[a.KIND_REACTIVATE]] = used_abilities(g) != 0
    _mark(mask, offset[a.KIND_USE], 5, legal_uses(t, g))


@kernel
def write_mask(t, g, mask):
    """Write 1 for each legal action and 0 for all others."""
    _clear_all(mask, 0)
    mark_legal(t, g, mask)

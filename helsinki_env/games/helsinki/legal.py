"""Compute the action mask (rules page, section 3).

The mask contains exactly the legal actions. After each legal action, the turn can still be completed. A board action is
legal only if it changes something.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import bit, lowest_bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.vectors import marker
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import state
from helsinki_env.games.helsinki.build import (
    CARDS_AT_ONCE,
    any_feasible,
    coats_to_pay,
    coats_to_place,
    feasible,
    fits_elsewhere,
    free_roofs,
    hand_by_color,
    last_tile,
    side_of,
)
from helsinki_env.games.helsinki.coats import can_move_superstructure, usable_actions, wild_cells
from helsinki_env.games.helsinki.draw import discard_size, hand_size
from helsinki_env.games.helsinki.shapes import legal_slides, profile

#: Write a bit set to the mask, starting at an id: `_mark` writes 64 ids, `_mark_uses` 16. Ids beyond the set become 0,
#: so kinds are marked in ascending order. Every kind marked this way is followed by enough ids.
_mark, _mark_uses = marker(64), marker(16)


@kernel
def _any_time(t, g, usable):
    """Return the legal board actions among those for MOVE, MAIN and END: points, wild tiles, moving superstructures."""
    legal = usable & (1 << a.TWO_POINTS)
    wild = usable & (1 << a.ONE_WILD_TILE | 1 << a.TWO_WILD_TILES)
    if wild and g.wild_supply > 0 and wild_cells(t, g, g.seat):
        legal |= wild
    if can_move_superstructure(t, g, g.seat):
        legal |= usable & (1 << a.MOVE_SUPERSTRUCTURE)
    return legal


@kernel
def _end_actions(t, g, usable):
    """END: return the board actions that are legal after drawing or building."""
    legal = _any_time(t, g, usable)
    if g.has_built:
        if g.superstructure_supply > 0 and last_tile(t, g, g.seat) & ~g.superstructures[g.seat]:
            legal |= usable & (1 << a.EXTRA_SUPERSTRUCTURE)
        action = a.SECOND_PAVILION
    else:
        action = a.DRAW_AND_BUILD
    again = usable & (1 << action)
    if again and any_feasible(t, g, np.int64(g.meadow[g.seat]) - t.costs[action], usable & ~again):
        legal |= again
    return legal


@kernel
def legal_uses(t, g):
    """Return the set of board actions for which USE is legal now (bit = board action)."""
    usable = usable_actions(t, g, g.seat)
    if usable == 0:
        return usable
    phase = g.phase
    if phase == state.PHASE_MOVE and g.move == 0:
        return _any_time(t, g, usable) | usable & (1 << a.MOVE_1_TO_6 | 1 << a.MOVE_1_TO_5 | 1 << a.MOVE_BACK)
    if phase == state.PHASE_MAIN and not g.only_build:
        legal = _any_time(t, g, usable)
        if g.pile_size + discard_size(t, g) >= 2 + t.strengths[a.EXTRA_CARD]:
            legal |= usable & (1 << a.EXTRA_CARD)
        return legal
    if phase == state.PHASE_END:
        return _end_actions(t, g, usable)
    if phase == state.PHASE_DISCARD and g.last_discard < 0 and not g.turn_over:
        return usable & (1 << a.NO_HAND_LIMIT)
    if phase == state.PHASE_PLACE and not g.any_side and usable & (1 << a.ANY_SIDE):
        return 1 << a.ANY_SIDE if fits_elsewhere(t, g, np.int64(t.kind[g.card])) else np.int64(0)
    if phase == state.PHASE_PAY and g.paid_count == 0 and not g.substitute:
        return _pay_actions(t, g, usable)
    return np.int64(0)


@kernel
def _pay_actions(t, g, usable):
    """PAY, before the first card: return which of `one_card_fewer` and `any_card_as_wild` keep the build feasible."""
    usable &= 1 << a.ONE_CARD_FEWER | 1 << a.ANY_CARD_AS_WILD | 1 << a.ANY_SIDE
    legal = np.int64(0)
    coats = np.int64(g.meadow[g.seat])
    coats -= coats_to_place(t, g, np.int64(t.kind[g.card]), usable)
    if coats < 0:
        return legal
    same, wild, others = hand_by_color(t, g, g.seat, np.int64(t.colour[g.card]))
    same += wild
    due = np.int64(g.to_pay)
    fewer, as_wild = 1 << a.ONE_CARD_FEWER, 1 << a.ANY_CARD_AS_WILD
    if usable & fewer:
        left = max(np.int64(0), due - t.strengths[a.ONE_CARD_FEWER])
        if coats_to_pay(t, same, others, left, usable & ~fewer) + t.costs[a.ONE_CARD_FEWER] <= coats:
            legal |= fewer
    if usable & as_wild and others > 0 and same >= due - 1 and t.costs[a.ANY_CARD_AS_WILD] <= coats:
        legal |= as_wild
    return legal


@kernel
def _mask_builds(t, g, mask, first):
    """MAIN: mark BUILD for every feasible card in hand."""
    usable, coats = usable_actions(t, g, g.seat), np.int64(g.meadow[g.seat])
    for begin in range(0, t.types - 1, CARDS_AT_ONCE):
        cards = feasible(t, g, coats, usable, begin)
        while cards:
            mask[first + begin + lowest_bit(cards)] = 1
            cards &= cards - 1


@kernel
def _mark_ordered(t, g, mask, first, begin, end, floor, due):
    last = t.types - 1
    left = np.int64(g.hand[g.seat, last])
    mask[first + last] = (left >= due) & (left > 0)
    for card in range(end - 1, begin - 1, -1):
        held = np.int64(g.hand[g.seat, card])
        left += held
        mask[first + card] = (card >= floor) & (held > 0) & (left >= due)


mark_ordered = OverloadedKernel("mark_ordered", _mark_ordered)
"""`mark_ordered(t, g, mask, first, begin, end, floor, due)`: mark card types in a range, and the wild card.

The range is from `begin` to `end`, exclusive. A type is marked if it is at least `floor` and the hand has at least
`due` cards of this and later types.
"""


@kernel
def _mask_pay(t, g, mask, first):
    """PAY: mark cards of the tile's color and wild cards, in type order, or other colors after `any_card_as_wild`."""
    begin = np.int64(t.colour[g.card]) * t.variants
    end = begin + t.variants
    if g.substitute:
        for card in range(t.types - 1):
            if g.hand[g.seat, card] > 0 and not begin <= card < end:
                mask[first + card] = 1
        return
    floor = np.int64(0)
    if g.paid_count > 0:
        paid = np.int64(g.paid[g.paid_count - 1])
        if begin <= paid < end or paid == t.types - 1:  # the order does not apply to the substitute
            floor = paid
    same, wild, _ = hand_by_color(t, g, g.seat, np.int64(t.colour[g.card]))
    if same + wild >= g.to_pay:
        mark_ordered(t, g, mask, first, begin, end, floor, np.int64(g.to_pay))


@kernel
def _mask_place(t, g, mask, first):
    """PLACE: mark all legal slides from the token's side, or from the other three sides after `any_side`."""
    own = side_of(g, g.seat)
    kind = np.int64(t.kind[g.card])
    for side in range(4):
        if (side == own) == (g.any_side != 0):
            continue
        legal = legal_slides(t, kind, side, profile(g.built[g.seat], side))
        _mark(mask, first + side * a.ORIENTATIONS * a.LANES, (legal,))


@kernel
def roof_cells(t, g):
    """ROOF: return the legal cells for the next superstructure."""
    seat = g.seat
    if g.lifted >= 0:
        return free_roofs(t, g, seat) & ~bit(g.lifted)
    cells = last_tile(t, g, seat) & ~g.superstructures[seat]
    cells &= ~(bit(np.int64(g.last_roof) + 1) - 1)  # cells are chosen in increasing order
    for _ in range(g.roofs_left - 1):  # reserve the last free roofs for the remaining superstructures
        cells &= ~_highest(cells)
    return cells


@kernel
def _highest(cells):
    """Return the highest cell of a set, as a set."""
    above = cells
    for shift in (1, 2, 4, 8, 16, 32):
        above |= above >> shift
    return above & ~(above >> 1)


@kernel
def mark_legal(t, g, mask):
    """Write 1 for each legal id into `mask`, int8 (ids,), which must be all zero on entry."""
    if g.done:
        return
    phase = g.phase
    offset = t.offset
    if phase == state.PHASE_MOVE:
        if g.move == 0:
            mask[offset[a.KIND_MOVE] : offset[a.KIND_MOVE] + 3] = 1
        else:
            mask[offset[a.KIND_MOVE] + 3 : offset[a.KIND_MOVE] + g.move] = 1
    elif phase == state.PHASE_MAIN:
        if not g.only_build:
            mask[offset[a.KIND_DRAW]] = 1
        _mask_builds(t, g, mask, offset[a.KIND_BUILD])
    elif phase == state.PHASE_PAY:
        _mask_pay(t, g, mask, offset[a.KIND_PAY])
    elif phase == state.PHASE_PLACE:
        _mask_place(t, g, mask, offset[a.KIND_PLACE])
    elif phase == state.PHASE_ROOF:
        _mark(mask, offset[a.KIND_ROOF], (roof_cells(t, g),))
    elif phase == state.PHASE_DISCARD:
        due = hand_size(t, g, g.seat) - t.hand_limit
        floor = np.int64(max(0, g.last_discard))
        mark_ordered(t, g, mask, offset[a.KIND_DISCARD], 0, t.types - 1, floor, due)
    elif phase == state.PHASE_WILD:
        _mark(mask, offset[a.KIND_WILD], (wild_cells(t, g, g.seat),))
    elif phase == state.PHASE_LIFT:
        _mark(mask, offset[a.KIND_LIFT], (np.int64(g.superstructures[g.seat]),))
    elif phase == state.PHASE_START:
        mask[offset[a.KIND_START] : offset[a.KIND_START] + 8] = 1
    # END is the last id and follows the fifteen board actions.
    _mark_uses(mask, offset[a.KIND_USE], (legal_uses(t, g) | np.int64(phase == state.PHASE_END) << 15,))

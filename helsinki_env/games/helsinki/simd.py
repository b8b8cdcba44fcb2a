"""SIMD versions of kernels in `draw`, `build` and `legal` for 51 card types, with a hand as one vector."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import lowest_bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import byte_summer, gatherer, leading_zeros, marker
from helsinki_env.games.helsinki.actions import ANY_CARD_AS_WILD, ANY_SIDE, ONE_CARD_FEWER
from helsinki_env.games.helsinki.build import feasible, fits_elsewhere, side_of
from helsinki_env.games.helsinki.draw import discard_size, hand_size
from helsinki_env.games.helsinki.legal import mark_ordered
from helsinki_env.games.helsinki.shapes import fits_in, profile
from helsinki_env.games.helsinki.state import GAME, NARROW

_WILD = NARROW - 1
_COLOURED = np.int64((1 << _WILD) - 1)
_COLORS, _VARIANTS = 5, _WILD // 5
#: Maximum number of cards that a tile costs; also the last column of `up_to`.
_MOST = np.int64(8)

_sum_of_cards, _sum_of_colour = byte_summer(NARROW, 64), byte_summer(_VARIANTS, 16)
_types_held, _kinds_left = gatherer(64), gatherer(32)
_mark = marker(64)


@kernel
def _hand_size(t, g, seat):
    return _sum_of_cards(g.hand[seat], 0)


@kernel
def _discard_size(t, g):
    return _sum_of_cards(g.discard, 0)


@kernel
def _feasible(t, g, coats, usable, begin):
    """Return the feasible builds, computed color by color from lookup tables of sets.

    `cheap` is the set of types whose payment leaves enough coats for `any_side`.
    """
    seat = g.seat
    hand = g.hand[seat]
    wild, cards = np.int64(hand[_WILD]), _sum_of_cards(hand, 0)
    fewer, as_wild = (usable >> ONE_CARD_FEWER) & 1, (usable >> ANY_CARD_AS_WILD) & 1
    left = coats - t.costs[ANY_SIDE]
    payable, cheap = np.int64(0), np.int64(0)
    for colour in range(_COLORS):
        same = _sum_of_colour(hand, colour * _VARIANTS)
        other = as_wild & np.int64(cards - wild > same)
        means = fewer | other << 1
        saved = np.int64(t.saved[coats, means]) if means else np.int64(0)
        payable |= t.up_to[colour, min(_MOST, same + wild + saved)]
        if left >= 0:
            cheap |= t.up_to[colour, min(_MOST, same + wild + t.saved[left, means])]
    payable &= _types_held(hand, 0) & _COLOURED
    supply = _kinds_left(g.supply, 0)
    side = side_of(g, seat)
    packed = profile(g.built[seat], side)
    if not (usable >> ANY_SIDE) & 1:
        cheap = np.int64(0)
    found = np.int64(0)
    while payable:
        kind = np.int64(t.kind[lowest_bit(payable)])
        shown = payable & t.cards_of_kind[kind]
        payable &= ~shown
        if (supply >> kind) & 1:
            if fits_in(t, kind, side, packed):
                found |= shown
            elif shown & cheap and fits_elsewhere(t, g, kind):
                found |= shown & cheap
    return found >> begin & _COLOURED


@kernel
def _mark_ordered(t, g, mask, first, begin, end, floor, due):
    """Count cards from the last type downwards until there are `due`; mark the type reached and all earlier ones."""
    hand = g.hand[g.seat]
    left = np.int64(hand[_WILD])
    found = np.int64((left >= due) & (left > 0)) << _WILD
    held = _types_held(hand, 0) & ((np.int64(1) << end) - (np.int64(1) << begin))
    rest = held if left >= due else np.int64(0)
    while held and left < due:
        card = np.int64(63) - leading_zeros(held)
        left += np.int64(hand[card])
        if left >= due:
            rest = held
        held &= ~(np.int64(1) << card)
    _mark(mask, first, (found | rest & ~((np.int64(1) << floor) - 1),))


for _rule, _kernel in (
    (hand_size, _hand_size),
    (discard_size, _discard_size),
    (feasible, _feasible),
    (mark_ordered, _mark_ordered),
):
    _rule.implements(GAME, _kernel)

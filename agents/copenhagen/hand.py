"""Value of a hand: its cards, and the builds for which they are collected."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.copenhagen.board_view import HAND_CAPACITY, remember_placements
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.actions import CHANGE_OF_COLOURS, CONSTRUCTION_DISCOUNT
from helsinki_env.games.copenhagen.build import size_of


@kernel
def ability_worth(w, v, ability):
    """Return the later value of an active ability."""
    worths = (w.any_cards, w.additional_card, w.construction_discount, w.change_of_colours, w.both_actions)
    return worths[ability] * v.later


@kernel
def ability_price(w, v, ability):
    """Return the cost of using an ability."""
    return (1.0 - w.used) * ability_worth(w, v, ability)


@kernel
def owned_worth(w, g, seat, v):
    """Return the value of a seat's abilities."""
    total = 0.0
    for ability in range(5):
        if (g.used[seat] >> ability) & 1:
            total += w.used * ability_worth(w, v, ability)
        elif (g.owned[seat] >> ability) & 1:
            total += ability_worth(w, v, ability)
    return total


@kernel
def analyze_hand(t, p, w, g, seat, v):
    """Read a seat's cards, and compute the value of each color's best build by number of cards."""
    largest = np.int64(0)
    for colour in range(5):
        v.hand[colour] = g.hand[seat, colour]
        largest = max(largest, v.hand[colour])
    most = min(HAND_CAPACITY, max(largest + 4, 7))
    card = w.card * v.later
    for colour in range(5):
        for held in range(most):
            v.plan[colour, held] = 0.0
        for kind in range(4 * colour, 4 * colour + 4):
            if g.supply[kind] == 0:
                continue
            size = size_of(kind)
            remember_placements(t, p, w, v, kind)
            for touching in range(2):
                if v.place[kind, touching] >= 0:
                    cost = size - touching
                    net = v.best[kind, touching] - card * cost
                    for held in range(max(0, cost - 5), most):
                        value = net * v.short[max(0, cost - held)]
                        if value > v.plan[colour, held]:
                            v.plan[colour, held] = value


@kernel
def hand_value(w, v):
    """Return the value of the cards in `v.hand`: all cards, the best build, and part of the other colors' builds."""
    cards, best, total = np.int64(0), 0.0, 0.0
    for colour in range(5):
        held = v.hand[colour]
        cards += held
        plan = v.plan[colour, held]
        total += plan
        best = max(best, plan)
    return v.later * (w.card * cards + w.best_plan * best + w.other_plans * (total - best))


@kernel
def best_discard(w, v, floor):
    """Return (cheapest color to discard, at least `floor`, or -1; value of the hand without the card)."""
    best, chosen = ILLEGAL_VALUE, np.int64(-1)
    for colour in range(floor, 5):
        if v.hand[colour] > 0:
            v.hand[colour] -= 1
            value = hand_value(w, v)
            v.hand[colour] += 1
            if value > best:
                best, chosen = value, np.int64(colour)
    return chosen, best


@kernel
def limited_value(t, w, v):
    """Return the value of the cards in `v.hand` after discarding down to the hand limit."""
    due = -np.int64(t.hand_limit)
    for colour in range(5):
        due += v.hand[colour]
    if due <= 0:
        return hand_value(w, v)
    value, dropped = 0.0, np.int64(0)  # dropped: number of cards by color, four bits each
    for _ in range(min(due, 3)):
        chosen, value = best_discard(w, v, 0)
        v.hand[chosen] -= 1
        dropped += 1 << 4 * chosen
    for colour in range(5):
        v.hand[colour] += (dropped >> 4 * colour) & 15
    return value


@kernel
def paid_value(w, v, own, cost, recolour):
    """Return the value of the hand after a payment, or `ILLEGAL_VALUE` if it is impossible.

    If `recolour` is not negative, the payment includes at least one card of this color.
    """
    if recolour < 0:
        if v.hand[own] < cost:
            return ILLEGAL_VALUE
        v.hand[own] -= cost
        value = hand_value(w, v)
        v.hand[own] += cost
        return value
    best = ILLEGAL_VALUE
    for others in range(max(1, cost - v.hand[own]), min(cost, v.hand[recolour]) + 1):
        v.hand[own] -= cost - others
        v.hand[recolour] -= others
        best = max(best, hand_value(w, v))
        v.hand[own] += cost - others
        v.hand[recolour] += others
    return best


@kernel
def build_with(t, p, w, v, kind, discount, recolour):
    """Return the value of the best placement of a tile plus the remaining hand; `discount` is 0 or 1."""
    remember_placements(t, p, w, v, kind)
    best = ILLEGAL_VALUE
    for touching in range(2):
        if v.place[kind, touching] >= 0:
            cost = max(0, size_of(kind) - touching - discount)
            value = paid_value(w, v, kind // 4, cost, recolour)
            if value > ILLEGAL_VALUE:
                best = max(best, v.best[kind, touching] + value)
    return best


@kernel
def recoloured(t, p, w, v, kind, discount):
    """Return the result of `build_with` for the best recoloring."""
    best = ILLEGAL_VALUE
    for colour in range(5):
        if colour != kind // 4 and v.hand[colour] > 0:
            best = max(best, build_with(t, p, w, v, kind, discount, colour))
    return best


@kernel
def build_value(t, p, w, v, kind, usable):
    """Return the value of building a tile plus the remaining hand, with the best use of abilities minus their cost."""
    best = build_with(t, p, w, v, kind, 0, -1)
    discount = (usable >> CONSTRUCTION_DISCOUNT) & 1
    change = (usable >> CHANGE_OF_COLOURS) & 1
    if discount:
        best = max(best, build_with(t, p, w, v, kind, 1, -1) - ability_price(w, v, CONSTRUCTION_DISCOUNT))
    if change:
        best = max(best, recoloured(t, p, w, v, kind, 0) - ability_price(w, v, CHANGE_OF_COLOURS))
        if discount:
            both = ability_price(w, v, CONSTRUCTION_DISCOUNT) + ability_price(w, v, CHANGE_OF_COLOURS)
            best = max(best, recoloured(t, p, w, v, kind, 1) - both)
    return best


@kernel
def best_build(t, p, w, g, v, usable):
    """Return the value of the best build with the cards in `v.hand`, or `ILLEGAL_VALUE` if there is none."""
    best = ILLEGAL_VALUE
    for kind in range(20):
        if g.supply[kind] > 0:
            best = max(best, build_value(t, p, w, v, kind, usable))
    return best

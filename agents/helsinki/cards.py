"""What a hand is worth, what paying costs, and what drawing or building brings."""

from __future__ import annotations

import numpy as np

from agents.helsinki.board import tile_gain
from agents.helsinki.view import HELD, NOTHING
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a

__all__ = [
    "best_build",
    "build_parts",
    "build_value",
    "draw_value",
    "hand_value",
    "hold_pair",
    "judge_cards",
    "most_left",
    "near",
    "release_pair",
    "take_cheapest",
]

#: More than what adding up in another order can change.
_ROUNDING = 1e-9


@kernel
def near(space):
    """The first of the two neighbouring sides that a token on a space reaches in its next turn."""
    return (space + 1) // 2 % 4


@kernel
def _plan(t, p, w, g, v, card, first):
    """What building a card in a later turn is expected to add; `first` as `near` returns it."""
    best = 0.0
    kind = np.int64(t.kind[card])
    for turn in range(4 if w.far > 0.0 else 2):
        side = (first + turn) % 4
        if not (v.asked[card] >> side) & 1:
            v.adds[card, side] = tile_gain(t, p, w, g, v, card, side)
            v.asked[card] |= 1 << side
        gain = v.adds[card, side]
        if gain > best:
            if turn > 1:
                gain *= w.far
            if v.cells[kind, side] & v.taken:
                gain *= w.clash
            best = max(best, gain)
    return best


@kernel
def hand_value(t, p, w, g, v, first):
    """What the hand is worth for later turns: its cards, and the best thing to build in each colour."""
    if v.later == 0.0:
        return 0.0
    last = t.types - 1
    wild = np.int64(v.hand[last])
    cards = wild
    by_colour = np.int64(0)  # cards of each colour, eight bits each
    for i in range(v.held_count):
        card = v.held[i]
        if card != last:
            held = np.int64(v.hand[card])
            cards += held
            by_colour += held << (8 * np.int64(t.colour[card]))
    best, total = 0.0, 0.0
    plan, colour = 0.0, np.int64(-1)
    for i in range(v.held_count):
        card = v.held[i]
        if card == last or v.hand[card] == 0:
            continue
        if t.colour[card] != colour:
            total += plan
            best = max(best, plan)
            plan, colour = 0.0, np.int64(t.colour[card])
        worth = _plan(t, p, w, g, v, card, first)
        if worth > plan:
            for _ in range(np.int64(t.number[card]) - ((by_colour >> (8 * colour)) & 255) - wild):
                worth *= w.short
            plan = max(plan, worth)
    total += plan
    best = max(best, plan)
    value = w.card * min(cards, t.hand_limit) + w.wild_card * wild
    late = 1.0 if w.apart == 0.0 else v.later
    value += w.best_plan * best + w.other_plans * (total - best) * late  # those come later still
    return value * v.later


@kernel
def judge_cards(t, p, w, g, v, first):
    """What giving away one card of each type in hand costs."""
    before = hand_value(t, p, w, g, v, first)
    for i in range(v.held_count):
        card = v.held[i]
        v.hand[card] -= 1
        v.cost[card] = before - hand_value(t, p, w, g, v, first)
        v.hand[card] += 1


@kernel
def take_cheapest(t, v, begin, end, wild, number):
    """Take so many of the cheapest cards of types from `begin` to `end` (and wild ones) out of the hand.

    Return (lowest type taken, cost of the dearest, how many there were).
    """
    first, dearest, taken = np.int64(t.types), 0.0, np.int64(0)
    last = t.types - 1
    while taken < number:
        best, chosen = 1e9, np.int64(-1)
        for i in range(v.held_count):
            card = v.held[i]
            if v.hand[card] > 0 and v.cost[card] < best and (begin <= card < end or (wild and card == last)):
                best, chosen = v.cost[card], card
        if chosen < 0:
            break
        v.hand[chosen] -= 1
        first = min(first, chosen)
        dearest = max(dearest, best)
        taken += 1
    return first, dearest, taken


@kernel
def most_left(t, p, w, g, v, first):
    """What the hand that a build leaves is worth at most: with fewer cards and fewer cells no plan gets better."""
    if (
        w.clash > 1.0
        or w.short > 1.0
        or w.far > 1.0
        or w.card < 0.0
        or w.wild_card < 0.0
        or w.best_plan < w.other_plans
    ):
        return -NOTHING  # not with such weights
    return hand_value(t, p, w, g, v, first) + _ROUNDING


@kernel
def build_parts(t, p, w, g, v, card, side, first, coats, least):
    """Return what makes up the value of building a card now, four numbers.

    What the tile adds, NOTHING if it cannot be done; coats for another side; coats for the payment; worth of the hand
    that is left. `coats` may be spent at most. `least`: NOTHING may also be returned if the tile, less a coat for the
    side, adds no more. Needs the costs of `judge_cards`.
    """
    gain = less = tile_gain(t, p, w, g, v, card, side)
    kind = np.int64(t.kind[card])
    cells = v.cells[kind, side]
    turned = 0
    if (v.usable >> a.ANY_SIDE) & 1 and coats > 0:
        for turn in range(1, 4):
            other = tile_gain(t, p, w, g, v, card, (side + turn) % 4)
            if other - v.coat - w.spend * v.later > less:
                gain, less, turned = other, other - v.coat - w.spend * v.later, 1
                cells = v.cells[kind, (side + turn) % 4]
    if less <= NOTHING or less <= least:
        return NOTHING, 0, 0, 0.0
    number, helped = np.int64(t.number[card]) - 1, 0
    for i in range(v.held_count):
        v.spare[i] = v.hand[v.held[i]]
    v.hand[card] -= 1
    begin = np.int64(t.colour[card]) * t.variants
    _, _, taken = take_cheapest(t, v, begin, begin + t.variants, True, number)
    if taken < number and (v.usable >> a.ONE_CARD_FEWER) & 1:
        number -= 1
        helped += 1
    if taken < number and (v.usable >> a.ANY_CARD_AS_WILD) & 1:
        _, _, more = take_cheapest(t, v, 0, t.types - 1, False, 1)
        taken += more
        helped += 1
    left = 0.0
    if taken == number and turned + helped <= coats:
        v.taken = cells
        left = hand_value(t, p, w, g, v, first)
        v.taken = 0
    else:
        gain = NOTHING
    for i in range(v.held_count):
        v.hand[v.held[i]] = v.spare[i]
    return gain, turned, helped, left


@kernel
def build_value(t, p, w, g, v, card, side, first, coats, least):
    """What building a card now is worth, with the hand that is left (see `build_parts`); NOTHING if it cannot be."""
    gain, turned, helped, left = build_parts(t, p, w, g, v, card, side, first, coats, least)
    if gain <= NOTHING:
        return NOTHING
    if turned:
        gain = gain - v.coat - w.spend * v.later
    for _ in range(helped):
        gain -= v.coat
    return gain + left


@kernel
def best_build(t, p, w, g, v, side, first, coats, least):
    """Return (value, card) of the best build from a side, with the hand that it leaves; NOTHING if there is none.

    Builds that are worth no more than `least` may be passed over.
    """
    best, chosen = NOTHING, np.int64(-1)
    most = most_left(t, p, w, g, v, first)
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1 and v.hand[card] > 0:
            value = build_value(t, p, w, g, v, card, side, first, coats, max(best, least) - most)
            if value > best:
                best, chosen = value, card
    return best, chosen


@kernel
def _hold(v, card):
    """Put a card into the hand; cards of a colour stay together."""
    v.hand[card] += 1
    if v.hand[card] == 1 and v.held_count < HELD:
        at = v.held_count
        for i in range(v.held_count):
            if v.held[i] == card:
                return
        while at > 0 and v.held[at - 1] > card:
            v.held[at] = v.held[at - 1]
            at -= 1
        v.held[at] = card
        v.held_count += 1


@kernel
def _release(v, card):
    """Take a card out of the hand that `_hold` put there."""
    v.hand[card] -= 1
    if v.hand[card] == 0:
        at = 0
        while v.held[at] != card:
            at += 1
        v.held_count -= 1
        for i in range(at, v.held_count):
            v.held[i] = v.held[i + 1]


@kernel
def hold_pair(g, v, space):
    """Put the two cards beside a space into the hand."""
    for slot in ((space + 7) % 8, space):
        if g.display[slot] >= 0:
            _hold(v, np.int64(g.display[slot]))


@kernel
def release_pair(g, v, space):
    """Take the cards that `hold_pair` put there out of the hand again."""
    for slot in (space, (space + 7) % 8):
        if g.display[slot] >= 0:
            _release(v, np.int64(g.display[slot]))


@kernel
def draw_value(t, p, w, g, v, space):
    """What the hand is worth after taking the two cards beside a space, less what the board loses by it."""
    hold_pair(g, v, space)
    later = v.later
    v.later = v.later_drawn
    value = hand_value(t, p, w, g, v, near(space)) - v.loss_drawn
    v.later = later
    release_pair(g, v, space)
    return value

"""Value of a hand, cost of payments, and gain from drawing or building."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board import defer_gain, gain_upper_bound, tile_gain
from helsinki_env.agents.helsinki.board_view import first_reachable_side
from helsinki_env.agents.helsinki.eval_cache import HAND_CAPACITY
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a

#: Larger than any rounding error from a different order of summation.
_ROUNDING = 1e-9


@kernel
def _plan(t, p, w, g, v, card, first):
    """Return the expected gain from building a card in a later turn; `first` comes from `first_reachable_side`."""
    best = 0.0
    card = np.uint64(card)  # unsigned indices need no check for negative values
    kind = np.uint64(t.kind[card])
    for turn in range(4 if w.far > 0.0 else 2):
        side = np.uint64((first + turn) & 3)
        if not (v.asked[card] >> side) & 1:
            v.adds[card, side] = tile_gain(t, p, w, g, v, np.int64(card), np.int64(side))
            v.asked[card] |= np.uint8(1) << side
        gain = v.adds[card, side]
        if gain > best:
            if turn > 1:
                gain *= w.far
            if v.taken and v.cells[kind, side] & v.taken:
                gain *= w.clash
            best = max(best, gain)
    return best


@kernel
def _defer_plan(t, w, g, v, card, first):
    """Schedule the tile gains that `_plan` needs for computation on first use."""
    for turn in range(4 if w.far > 0.0 else 2):
        side = (first + turn) % 4
        if not (v.asked[card] >> side) & 0x11:
            v.asked[card] |= 0x10 << side
            defer_gain(t, g, v, np.int64(card), side)


@kernel
def _analyze_hand(t, p, w, g, v, first):
    """Compute the value of each color's best plan; return (number of cards, number of wild cards among them)."""
    wild = np.int64(v.hand[t.types - 1])
    cards, colours, i = wild, np.uint64(0), 0
    while i < v.held_count and t.colour[np.uint64(v.held[i])] >= 0:  # the wild type is last
        colour, begin, held = np.int64(t.colour[np.uint64(v.held[i])]), i, np.int64(0)
        while i < v.held_count and t.colour[np.uint64(v.held[i])] == colour:
            card = np.uint64(v.held[i])
            held += v.hand[card]
            v.planned[i] = -1.0
            if w.apart == 0.0 and v.hand[card] > 0:
                v.planned[i] = _plan(t, p, w, g, v, card, first)
            i += 1
        v.begins[colours], v.ends[colours], v.of_colour[colours] = begin, i, held
        v.plans[colours] = _plan_of_color(t, p, w, g, v, colour, begin, i, held + wild, first)
        colours += np.uint64(1)
        cards += held
    v.colours = colours
    return cards, wild


@kernel
def _plan_of_color(t, p, w, g, v, colour, begin, end, cards, first):
    """Return the result of `_best_plan`, cached as long as the hand's cards of this color do not change."""
    cacheable = w.apart != 0.0 and v.taken == 0 and not (v.changed >> colour) & 1
    if cacheable and (v.best_known[first] >> colour) & 1:
        return v.best_of_colour[first, colour]
    plan = _best_plan(t, p, w, g, v, begin, end, cards, first)
    if cacheable:
        v.best_known[first] |= np.int64(1) << colour
        v.best_of_colour[first, colour] = plan
    return plan


@kernel
def _cached_plan(t, p, w, g, v, i, first):
    """Return the result of `_plan` for an entry of the hand, computed on first use."""
    if v.planned[i] < 0.0:
        v.planned[i] = _plan(t, p, w, g, v, np.uint64(v.held[i]), first)
    return v.planned[i]


@kernel
def _best_plan(t, p, w, g, v, begin, end, cards, first):
    """Return the value of a color's best plan, for entries [begin, end) of the hand and `cards` cards to pay with.

    Affordable plans are evaluated first. Plans with missing cards are seldom better, and those that cannot be better
    are only scheduled.
    """
    plan, some_short = 0.0, False
    for i in range(begin, end):
        card = np.uint64(v.held[i])
        missing = np.int64(t.number[card]) - cards
        if v.hand[card] <= 0:
            continue
        if missing > 0:
            some_short = some_short or missing <= w.missing
        else:
            plan = max(plan, _cached_plan(t, p, w, g, v, i, first))
    if not some_short:
        return plan
    for i in range(begin, end):
        card = np.uint64(v.held[i])
        missing = np.int64(t.number[card]) - cards
        if v.hand[card] <= 0 or missing <= 0 or missing > w.missing:
            continue
        if v.planned[i] < 0.0 < plan and _worth_with(w, gain_upper_bound(t, w, v, card), missing) <= plan:
            _defer_plan(t, w, g, v, card, first)
            continue
        worth = _cached_plan(t, p, w, g, v, i, first)
        if worth > plan:
            plan = max(plan, _worth_with(w, worth, missing))
    return plan


@kernel
def _worth_with(w, worth, missing):
    """Return the value of a plan, reduced for `missing` missing cards."""
    for _ in range(missing):
        worth *= w.short
    return worth


@kernel
def _sum_of_hand(t, w, v, cards, wild):
    """Return the value of a hand, given its size and the plan values of its colors."""
    best, total = 0.0, 0.0
    for colour in range(v.colours):
        total += v.plans[colour]
        best = max(best, v.plans[colour])
    value = w.card * min(cards, t.hand_limit) + w.wild_card * wild
    late = 1.0 if w.apart == 0.0 else v.later
    value += w.best_plan * best + w.other_plans * (total - best) * late  # other plans are carried out later
    return value * v.later


@kernel
def hand_value(t, p, w, g, v, first):
    """Return the value of the hand in later turns: its cards and the best build of each color."""
    if v.later == 0.0:
        return 0.0
    cards, wild = _analyze_hand(t, p, w, g, v, first)
    return _sum_of_hand(t, w, v, cards, wild)


@kernel
def analyze_cards(t, p, w, g, v, first):
    """Compute the cost of giving up one card of each type in hand, which changes only the plans of its color."""
    if v.later == 0.0:
        for i in range(v.held_count):
            v.cost[v.held[i]] = 0.0
        return
    cards, wild = _analyze_hand(t, p, w, g, v, first)
    before = _sum_of_hand(t, w, v, cards, wild)
    _remember_most(v, first, before)
    for colour in range(v.colours):
        plan, begin, end = v.plans[colour], v.begins[colour], v.ends[colour]
        for i in range(begin, end):
            card = v.held[i]
            v.hand[card] -= 1
            v.plans[colour] = _best_plan(t, p, w, g, v, begin, end, v.of_colour[colour] - 1 + wild, first)
            v.cost[card] = before - _sum_of_hand(t, w, v, cards - 1, wild)
            v.hand[card] += 1
        v.plans[colour] = plan
    if wild > 0:
        for colour in range(v.colours):
            v.plans[colour] = _best_plan(
                t, p, w, g, v, v.begins[colour], v.ends[colour], v.of_colour[colour] + wild - 1, first
            )
        v.cost[t.types - 1] = before - _sum_of_hand(t, w, v, cards - 1, wild - 1)


@kernel
def take_cheapest(t, v, begin, end, wild, number):
    """Remove the `number` cheapest cards with types in [begin, end), or wild cards if `wild` is set, from the hand.

    Return (lowest type removed, highest cost, number removed).
    """
    first, dearest, taken, last = np.int64(t.types), 0.0, np.int64(0), t.types - 1
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
def _remember_most(v, first, value):
    """Cache the value of the hand, unless additional cards are being tried."""
    if v.pairs == 0:
        v.most[first] = value
        v.most_known |= 1 << first


@kernel
def hand_upper_bound(t, p, w, g, v, first):
    """Return an upper bound on the hand's value after a build, since fewer cards or cells improve no plan."""
    if max(w.clash, w.short, w.far) > 1.0 or min(w.card, w.wild_card) < 0.0 or w.best_plan < w.other_plans:
        return -ILLEGAL_VALUE  # no bound with such weights
    if v.pairs != 0 or not (v.most_known >> first) & 1:
        value = hand_value(t, p, w, g, v, first)
        _remember_most(v, first, value)
        return value + _ROUNDING
    return v.most[first] + _ROUNDING


@kernel
def _may_pay(t, v, card, coats):
    """Return whether the hand can pay for a card with cards of its color, wild cards and coats."""
    price_fewer, price_wild = np.int64(t.costs[a.ONE_CARD_FEWER]), np.int64(t.costs[a.ANY_CARD_AS_WILD])
    fewer = as_wild = np.int64(0)
    if (v.usable >> a.ONE_CARD_FEWER) & 1 and coats >= price_fewer:
        fewer = np.int64(t.strengths[a.ONE_CARD_FEWER])
    if (v.usable >> a.ANY_CARD_AS_WILD) & 1 and coats >= price_wild:
        as_wild = np.int64(1)
    helped = fewer + as_wild if coats >= price_fewer + price_wild else max(fewer, as_wild)
    return v.owned[t.colour[card]] + v.hand[t.types - 1] + helped >= t.number[card]


@kernel
def save_hand(v):
    """Save the hand before a payment is tried."""
    for i in range(v.held_count):
        v.spare[i] = v.hand[v.held[i]]


@kernel
def restore_hand(v):
    """Restore the hand that `save_hand` saved."""
    for i in range(v.held_count):
        v.hand[v.held[i]] = v.spare[i]


@kernel
def take_color(t, v, card, number):
    """Remove a card and up to `number` of the cheapest cards of its color or wild cards; return how many."""
    v.hand[card] -= 1
    begin = np.int64(t.colour[card]) * t.variants
    _, _, taken = take_cheapest(t, v, begin, begin + t.variants, True, number)
    return taken


@kernel
def _best_side(t, p, w, g, v, card, side, elsewhere):
    """Return (gain, gain minus the cost of the side, whether from another side, cells) for a card's tile.

    Other sides are considered only if `elsewhere` is set.
    """
    kind = np.int64(t.kind[card])
    gain = less = tile_gain(t, p, w, g, v, card, side)
    cells, turned = v.cells[kind, side], 0
    if elsewhere:
        toll = t.costs[a.ANY_SIDE] * v.coat
        for turn in range(1, 4):
            other = tile_gain(t, p, w, g, v, card, (side + turn) % 4)
            if other - toll - w.spend * v.later > less:
                gain, less, turned = other, other - toll - w.spend * v.later, 1
                cells = v.cells[kind, (side + turn) % 4]
    return gain, less, turned, cells


@kernel
def _take_payment(t, v, card):
    """Remove a card and its payment from the hand, which must have been saved.

    Return the number of coats that the payment costs, or -1 if it is impossible.
    """
    number, coats = np.int64(t.number[card]) - 1, np.int64(0)
    taken = take_color(t, v, card, number)
    if taken < number and (v.usable >> a.ONE_CARD_FEWER) & 1:
        number = max(np.int64(0), number - t.strengths[a.ONE_CARD_FEWER])
        coats += t.costs[a.ONE_CARD_FEWER]
        if taken > number:  # the action saves more cards than are missing
            restore_hand(v)
            taken = take_color(t, v, card, number)
    if taken < number and (v.usable >> a.ANY_CARD_AS_WILD) & 1:
        _, _, more = take_cheapest(t, v, 0, t.types - 1, False, 1)
        taken += more
        coats += t.costs[a.ANY_CARD_AS_WILD]
    return coats if taken == number else np.int64(-1)


@kernel
def build_parts(t, p, w, g, v, card, side, first, coats, least):
    """Return (gain, whether from another side, coats for the payment, value of the remaining hand) for a build.

    The gain is `ILLEGAL_VALUE` if the card cannot be built with at most `coats` coats. It may also be `ILLEGAL_VALUE`
    if the gain minus the cost of the side is at most `least`. Call `analyze_cards` first.
    """
    elsewhere = (v.usable >> a.ANY_SIDE) & 1 and coats >= t.costs[a.ANY_SIDE]
    if w.apart != 0.0 and not _may_pay(t, v, card, coats):
        for turn in range(4 if elsewhere else 1):
            defer_gain(t, g, v, card, (side + turn) % 4)
        return ILLEGAL_VALUE, 0, 0, 0.0
    gain, less, turned, cells = _best_side(t, p, w, g, v, card, side, elsewhere)
    if less <= ILLEGAL_VALUE or less <= least:
        return ILLEGAL_VALUE, 0, 0, 0.0
    save_hand(v)
    paid = _take_payment(t, v, card)
    left = 0.0
    if paid >= 0 and turned * t.costs[a.ANY_SIDE] + paid <= coats:
        v.taken = cells
        left = hand_value(t, p, w, g, v, first)
        v.taken = 0
    else:
        gain = ILLEGAL_VALUE
    restore_hand(v)
    return gain, turned, paid, left


@kernel
def build_value(t, p, w, g, v, card, side, first, coats, least):
    """Return the value of building a card now plus the remaining hand, or `ILLEGAL_VALUE` (see `build_parts`)."""
    gain, turned, helped, left = build_parts(t, p, w, g, v, card, side, first, coats, least)
    if gain <= ILLEGAL_VALUE:
        return ILLEGAL_VALUE
    if turned:
        gain = gain - t.costs[a.ANY_SIDE] * v.coat - w.spend * v.later
    for _ in range(helped):
        gain -= v.coat
    return gain + left


@kernel
def best_build(t, p, w, g, v, side, first, coats, least):
    """Return (value, card) of the best build from a side, or (`ILLEGAL_VALUE`, -1) if there is none.

    Builds worth at most `least` may be skipped.
    """
    best, chosen = ILLEGAL_VALUE, np.int64(-1)
    most = hand_upper_bound(t, p, w, g, v, first)
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1 and v.hand[card] > 0:
            value = build_value(t, p, w, g, v, card, side, first, coats, max(best, least) - most)
            if value > best:
                best, chosen = value, card
    return best, chosen


@kernel
def _hold(t, v, card):
    """Add a card to the hand; cards of a color stay together."""
    v.hand[card] += 1
    colour = np.int64(t.colour[card])
    if colour >= 0:
        v.owned[colour] += 1
    v.changed |= np.int64(1) << colour if colour >= 0 else np.int64(-1)  # wild cards go with any color
    if v.hand[card] == 1 and v.held_count < HAND_CAPACITY:
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
def _release(t, v, card):
    """Remove a card that `_hold` added to the hand."""
    v.hand[card] -= 1
    if t.colour[card] >= 0:
        v.owned[t.colour[card]] -= 1
    if v.hand[card] == 0:
        at = 0
        while v.held[at] != card:
            at += 1
        v.held_count -= 1
        for i in range(at, v.held_count):
            v.held[i] = v.held[i + 1]


@kernel
def hold_pair(t, g, v, space):
    """Add the two cards next to a space to the hand."""
    v.pairs += 1
    for slot in ((space + 7) % 8, space):
        if g.display[slot] >= 0:
            _hold(t, v, np.int64(g.display[slot]))


@kernel
def release_pair(t, g, v, space):
    """Remove the cards that `hold_pair` added to the hand."""
    v.pairs -= 1
    if v.pairs == 0:
        v.changed = 0
    for slot in (space, (space + 7) % 8):
        if g.display[slot] >= 0:
            _release(t, v, np.int64(g.display[slot]))


@kernel
def draw_value(t, p, w, g, v, space):
    """Return the value of the hand after drawing the two cards next to a space, minus the loss on the board."""
    hold_pair(t, g, v, space)
    later = v.later
    v.later = v.later_drawn
    value = hand_value(t, p, w, g, v, first_reachable_side(space)) - v.loss_drawn
    v.later = later
    release_pair(t, g, v, space)
    return value

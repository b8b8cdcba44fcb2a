"""Value of the rest of a turn that begins on a space, and the required gain of a board action."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board import tile_gain
from helsinki_env.agents.helsinki.board_view import ILLEGAL_VALUE
from helsinki_env.agents.helsinki.cards import best_build, draw_value, hold_pair, release_pair, take_cheapest
from helsinki_env.agents.helsinki.cells import first_reachable_side
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a

__all__ = ["board_action_price", "draw_and_build", "second_build", "turn_value"]


@kernel
def board_action_price(t, v, action, spend):
    """Return the required gain of a board action."""
    return t.costs[action] * v.coat + spend * v.later


@kernel
def turn_value(t, p, w, g, v, space, coats):
    """Return the value of the rest of a turn that begins by moving to a space: drawing, building, or both."""
    first = first_reachable_side(space)
    side = space // 2
    value = draw_value(t, p, w, g, v, space)
    if coats >= t.costs[a.DRAW_AND_BUILD] and (v.usable >> a.DRAW_AND_BUILD) & 1:
        value = max(value, draw_and_build(t, p, w, g, v, space, coats))
    twice = coats >= t.costs[a.SECOND_PAVILION] and (v.usable >> a.SECOND_PAVILION) & 1
    build, card = best_build(t, p, w, g, v, side, first, coats, ILLEGAL_VALUE if twice else value)
    if card >= 0 and twice:
        build += max(0.0, second_build(t, p, w, g, v, card, side))
    return max(value, build)


@kernel
def draw_and_build(t, p, w, g, v, space, coats):
    """Return the value of drawing and then building, less its price."""
    hold_pair(t, g, v, space)
    for slot in ((space + 7) % 8, space):
        card = np.int64(g.display[slot])
        if card >= 0 and g.hand[g.seat, card] == 0:
            v.cost[card] = w.card * v.later
    later = v.later
    v.later = v.later_drawn
    value, _ = best_build(
        t, p, w, g, v, space // 2, first_reachable_side(space), coats - t.costs[a.DRAW_AND_BUILD], ILLEGAL_VALUE
    )
    v.later = later
    release_pair(t, g, v, space)
    return value - v.loss_drawn + w.tempo * v.later - board_action_price(t, v, a.DRAW_AND_BUILD, w.spend)


@kernel
def second_build(t, p, w, g, v, card, side):
    """Return the approximate gain of a second build after that of `card`: both may need the same cells."""
    for i in range(v.held_count):
        v.spare[i] = v.hand[v.held[i]]
    number = np.int64(t.number[card]) - 1
    begin = np.int64(t.colour[card]) * t.variants
    v.hand[card] -= 1
    _, _, taken = take_cheapest(t, v, begin, begin + t.variants, True, number)
    best = ILLEGAL_VALUE
    if taken == number:
        for i in range(v.held_count):
            other = v.held[i]
            if v.hand[other] > 0 and other < t.types - 1 and _payable(t, v, other):
                cards = w.card * t.number[other] * v.later
                best = max(best, w.second * tile_gain(t, p, w, g, v, other, side) - cards)
    for i in range(v.held_count):
        v.hand[v.held[i]] = v.spare[i]
    return best + w.tempo * v.later - board_action_price(t, v, a.SECOND_PAVILION, w.spend)


@kernel
def _payable(t, v, card):
    """Return whether the hand can pay for a card without coats."""
    held = np.int64(v.hand[t.types - 1])
    for i in range(v.held_count):
        if t.colour[v.held[i]] == t.colour[card]:
            held += v.hand[v.held[i]]
    return held >= t.number[card]

"""Action values of the heuristic by phase.

An action is worth as much as the board and hand after the best continuation of the turn.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.copenhagen.board_view import analyze_board, placement_gain, white_gain
from helsinki_env.agents.copenhagen.hand import (
    ability_price,
    ability_worth,
    analyze_hand,
    best_build,
    best_discard,
    build_value,
    build_with,
    hand_value,
    limited_value,
    paid_value,
    recoloured,
)
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.bits import bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen import state
from helsinki_env.games.copenhagen.abilities import active
from helsinki_env.games.copenhagen.build import cost_at
from helsinki_env.games.copenhagen.shapes import tile_cells

#: Value of legal actions that the evaluation does not consider.
_FALLBACK = 0.1 * ILLEGAL_VALUE


@kernel
def _after_card(t, w, g, v, slot):
    """Return the value of the hand after taking a card from the display."""
    colour = np.int64(g.display[slot])
    v.hand[colour] += 1
    value = limited_value(t, w, v)
    v.hand[colour] -= 1
    return value


@kernel
def _and_more(t, p, w, g, v, slot, more):
    """Return the value of the hand with two new cards if the turn continues with a third card or a build."""
    best = ILLEGAL_VALUE
    if (more >> a.ADDITIONAL_CARD) & 1:
        for third in range(7):
            if abs(third - slot) > 1 and g.display[third] >= 0:
                best = max(best, _after_card(t, w, g, v, third) - ability_price(w, v, a.ADDITIONAL_CARD))
    if (more >> a.BOTH_ACTIONS) & 1:
        usable = active(g)
        best = max(best, best_build(t, p, w, g, v, usable) + w.tempo * v.later - ability_price(w, v, a.BOTH_ACTIONS))
    return best


@kernel
def best_pair(t, w, g, v, slot, usable):
    """Return (value of the hand with the card of a slot and the best second card to its right; that card's color).

    The color is -1 if there is no pair. `usable`: set of the seat's active abilities.
    """
    first, best, with_it = np.int64(g.display[slot]), _FALLBACK, np.int64(-1)
    any_cards = (usable >> a.ANY_CARDS) & 1
    v.hand[first] += 1
    for other in range(slot + 1, 7):
        second = np.int64(g.display[other])
        if second < 0 or (other > slot + 1 and not any_cards):
            continue
        v.hand[second] += 1
        value = limited_value(t, w, v)
        v.hand[second] -= 1
        if other > slot + 1:
            value -= ability_price(w, v, a.ANY_CARDS)
        if value > best:
            best, with_it = value, second
    v.hand[first] -= 1
    return best, with_it


@kernel
def _value_first(t, p, w, g, v, mask, values):
    """MAIN: value the first of two cards by the best second card."""
    take, usable = t.offset[a.KIND_TAKE], active(g)
    more = usable & (1 << a.ADDITIONAL_CARD | 1 << a.BOTH_ACTIONS)
    for slot in range(6):
        if not mask[take + slot]:
            continue
        best, with_it = best_pair(t, w, g, v, slot, usable)
        if with_it >= 0 and more:
            first = np.int64(g.display[slot])
            v.hand[first] += 1
            v.hand[with_it] += 1
            best = max(best, _and_more(t, p, w, g, v, slot, more))
            v.hand[with_it] -= 1
            v.hand[first] -= 1
        values[take + slot] = best


@kernel
def _value_builds(t, p, w, g, v, mask, values):
    """MAIN: value building each tile, including the remaining hand."""
    build, usable = t.offset[a.KIND_BUILD], active(g)
    for kind in range(20):
        if mask[build + kind]:
            values[build + kind] = max(_FALLBACK, build_value(t, p, w, v, kind, usable))


@kernel
def _value_second(t, w, g, v, mask, values):
    """TAKE: value the second or an additional card, and the ability to take a card that is not adjacent."""
    take, use = t.offset[a.KIND_TAKE], t.offset[a.KIND_USE] + a.ANY_CARDS
    for slot in range(7):
        if mask[take + slot]:
            values[take + slot] = _after_card(t, w, g, v, slot)
    if mask[use]:
        best = _FALLBACK
        for slot in range(g.first + 2, 7):
            if g.display[slot] >= 0:
                best = max(best, _after_card(t, w, g, v, slot))
        values[use] = best - ability_price(w, v, a.ANY_CARDS)


@kernel
def _value_uses(t, p, w, g, v, mask, values):
    """Value the abilities for an additional card and for a build in the same turn, after taking cards."""
    use = t.offset[a.KIND_USE]
    if mask[use + a.ADDITIONAL_CARD]:
        best = _FALLBACK
        for slot in range(7):
            if g.display[slot] >= 0:
                best = max(best, _after_card(t, w, g, v, slot))
        values[use + a.ADDITIONAL_CARD] = best - ability_price(w, v, a.ADDITIONAL_CARD)
    if mask[use + a.BOTH_ACTIONS]:
        value = best_build(t, p, w, g, v, active(g)) + w.tempo * v.later - ability_price(w, v, a.BOTH_ACTIONS)
        values[use + a.BOTH_ACTIONS] = max(_FALLBACK, value)


@kernel
def _value_discards(t, w, g, v, mask, values):
    """DISCARD: value each color as the lowest one to discard, together with the least valuable other cards."""
    first = t.offset[a.KIND_DISCARD]
    due = -np.int64(t.hand_limit)
    for colour in range(5):
        due += v.hand[colour]
    for colour in range(5):
        if not mask[first + colour]:
            continue
        v.hand[colour] -= 1
        second, value = np.int64(-1), hand_value(w, v)
        if due > 1:
            second, value = best_discard(w, v, colour)
            if due > 2 and second >= 0:
                v.hand[second] -= 1
                _, value = best_discard(w, v, colour)
                v.hand[second] += 1
        v.hand[colour] += 1
        values[first + colour] = max(_FALLBACK, value)


@kernel
def _value_placements(t, p, w, g, v, mask, values, every):
    """PLACE: value each placement plus the remaining hand, and the abilities for a discount or recolored cards."""
    place, use = t.offset[a.KIND_PLACE], t.offset[a.KIND_USE]
    kind, own, recolour = np.int64(g.tile), np.int64(g.tile) // 4, np.int64(g.recolour)
    discount = (np.int64(g.using) >> a.CONSTRUCTION_DISCOUNT) & 1
    size = kind % 4 + 2
    if every:
        alone = paid_value(w, v, own, size - discount, recolour)
        touching = paid_value(w, v, own, size - 1 - discount, recolour)
        for argument in range(a.CELLS * t.orientations[kind]):
            if mask[place + argument]:
                piece, corner = a.ORIENTATIONS * kind + argument // a.CELLS, argument % a.CELLS
                gain = placement_gain(t, p, w, v, kind, piece, corner)
                least = cost_at(g, tile_cells(t, piece, corner)) < size - discount
                values[place + argument] = max(_FALLBACK, gain + (touching if least else alone))
    else:
        build_with(t, p, w, v, kind, 0, -1)
        for touching in range(2):
            argument = v.place[kind, touching]
            if argument >= 0 and mask[place + argument]:
                value = v.best[kind, touching] + paid_value(w, v, own, size - touching - discount, recolour)
                values[place + argument] = max(_FALLBACK, value)
    if mask[use + a.CONSTRUCTION_DISCOUNT]:
        value = build_with(t, p, w, v, kind, 1, recolour)
        if recolour < 0 and (active(g) >> a.CHANGE_OF_COLOURS) & 1:
            value = max(value, recoloured(t, p, w, v, kind, 1) - ability_price(w, v, a.CHANGE_OF_COLOURS))
        values[use + a.CONSTRUCTION_DISCOUNT] = max(_FALLBACK, value - ability_price(w, v, a.CONSTRUCTION_DISCOUNT))
    if mask[use + a.CHANGE_OF_COLOURS]:
        value = recoloured(t, p, w, v, kind, discount)
        if discount == 0 and (active(g) >> a.CONSTRUCTION_DISCOUNT) & 1:
            value = max(value, recoloured(t, p, w, v, kind, 1) - ability_price(w, v, a.CONSTRUCTION_DISCOUNT))
        values[use + a.CHANGE_OF_COLOURS] = max(_FALLBACK, value - ability_price(w, v, a.CHANGE_OF_COLOURS))


@kernel
def _value_recolours(t, p, w, g, v, mask, values):
    """RECOLOUR: value each color by the build that it allows plus the remaining hand."""
    first, kind = t.offset[a.KIND_RECOLOUR], np.int64(g.tile)
    used = (np.int64(g.using) >> a.CONSTRUCTION_DISCOUNT) & 1
    usable = (active(g) >> a.CONSTRUCTION_DISCOUNT) & 1
    for colour in range(5):
        if mask[first + colour]:
            value = build_with(t, p, w, v, kind, used, colour)
            if usable:
                value = max(
                    value, build_with(t, p, w, v, kind, 1, colour) - ability_price(w, v, a.CONSTRUCTION_DISCOUNT)
                )
            values[first + colour] = max(_FALLBACK, value)


@kernel
def _value_payment(t, w, g, v, mask, values):
    """PAY: value the next card by the most valuable hand that a complete payment leaves."""
    first, own, other = t.offset[a.KIND_PAY], np.int64(g.tile) // 4, np.int64(g.recolour)
    low, high, due = min(own, other), max(own, other), np.int64(g.due)
    for count in range(due + 1):  # number of cards of the lower color to pay
        if count > v.hand[low] or due - count > v.hand[high] or (count > 0 and not mask[first + low]):
            continue
        if (other == low and count == 0 and g.paid[low] == 0) or (other == high and count == due):
            continue
        v.hand[low] -= count
        v.hand[high] -= due - count
        value = hand_value(w, v)
        v.hand[low] += count
        v.hand[high] += due - count
        action = first + (low if count > 0 else high)
        if mask[action]:
            values[action] = max(values[action], value)


@kernel
def _value_rewards(t, w, g, v, mask, values):
    """COAT: value a white tile on each cell, each ability, and reactivating all used abilities."""
    white, ability = t.offset[a.KIND_WHITE], t.offset[a.KIND_ABILITY]
    for cell in range(a.CELLS):
        if mask[white + cell]:
            values[white + cell] = white_gain(t, w, v, cell)
    for number in range(5):
        if mask[ability + number]:
            values[ability + number] = ability_worth(w, v, number)
    if mask[t.offset[a.KIND_REACTIVATE]]:
        total = 0.0
        for number in range(5):
            if np.int64(g.used[g.seat]) & bit(number):
                total += ability_price(w, v, number)
        values[t.offset[a.KIND_REACTIVATE]] = total


@kernel
def _best_legal(mask, values):
    """Return the legal action with the highest value; the lowest id on ties."""
    best, chosen = 4.0 * ILLEGAL_VALUE, np.int64(-1)
    for action in range(len(mask)):
        if mask[action] and values[action] > best:
            best, chosen = values[action], np.int64(action)
    return chosen


@kernel
def select_action(t, p, w, g, v, mask, values, every):
    """Return the best legal action of the seat to move, and write the action values, float64 (ids,).

    Illegal actions get `ILLEGAL_VALUE`. Unless `every` is set, all placements but the best ones get `_FALLBACK`.
    """
    for action in range(len(mask)):
        values[action] = _FALLBACK if mask[action] else ILLEGAL_VALUE
    phase = np.int64(g.phase)
    analyze_board(t, w, g, g.seat, v)
    analyze_hand(t, p, w, g, g.seat, v)
    if phase == state.PHASE_MAIN:
        _value_first(t, p, w, g, v, mask, values)
        _value_builds(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_TAKE:
        _value_second(t, w, g, v, mask, values)
    elif phase == state.PHASE_DISCARD:
        _value_discards(t, w, g, v, mask, values)
        _value_uses(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_END:
        values[t.offset[a.KIND_END]] = hand_value(w, v)
        _value_uses(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_PLACE:
        _value_placements(t, p, w, g, v, mask, values, every)
    elif phase == state.PHASE_RECOLOUR:
        _value_recolours(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_PAY:
        _value_payment(t, w, g, v, mask, values)
    else:
        _value_rewards(t, w, g, v, mask, values)
    return _best_legal(mask, values)

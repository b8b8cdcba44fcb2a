"""Action values of the heuristic by phase: each legal action is valued in points, and the best one is chosen.

Values are comparable only among actions that are legal in the same state. Search players use them to try good actions
first.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board import (
    best_placement,
    best_roof,
    best_wilds,
    cells_gain,
    corner_of,
    lowest_of_best_roofs,
    placement_gain,
    remember_placement,
    roofs_gain,
    roofs_worth,
    tile_gain,
    wilds_gain,
    worst_roof,
)
from helsinki_env.agents.helsinki.board_view import analyze_board, first_reachable_side, read_hand, roof_value
from helsinki_env.agents.helsinki.cards import (
    analyze_cards,
    best_build,
    build_value,
    draw_value,
    hand_value,
    hold_pair,
    release_pair,
    restore_hand,
    save_hand,
    take_cheapest,
    take_color,
)
from helsinki_env.agents.helsinki.eval_cache import SHOWN
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.bits import bit, lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import gatherer
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import state
from helsinki_env.games.helsinki.build import free_roofs, last_tile


@kernel
def board_action_price(t, v, action, spend):
    """Return the gain that a board action must exceed to be worth its cost."""
    return t.costs[action] * v.coat + spend * v.later


@kernel
def turn_value(t, p, w, g, v, space, coats):
    """Return the value of a turn that begins by moving to a space, and continues by drawing, building, or both."""
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
    """Return the value of drawing and then building, minus the cost of the board action."""
    hold_pair(t, g, v, space)
    for slot in ((space + 7) % 8, space):
        card = np.int64(g.display[slot])
        if card >= 0 and g.hand[g.seat, card] == 0:
            v.cost[card] = w.card * v.later
    later = v.later
    v.later = v.later_drawn
    first, left = first_reachable_side(space), coats - t.costs[a.DRAW_AND_BUILD]
    value, _ = best_build(t, p, w, g, v, space // 2, first, left, ILLEGAL_VALUE)
    v.later = later
    release_pair(t, g, v, space)
    return value - v.loss_drawn + w.tempo * v.later - board_action_price(t, v, a.DRAW_AND_BUILD, w.spend)


@kernel
def second_build(t, p, w, g, v, card, side):
    """Return the approximate gain from a second build after building `card`, although both may need the same cells."""
    save_hand(v)
    number = np.int64(t.number[card]) - 1
    best = ILLEGAL_VALUE
    if take_color(t, v, card, number) == number:
        for i in range(v.held_count):
            other = v.held[i]
            if v.hand[other] > 0 and other < t.types - 1 and _payable(t, v, other):
                cards = w.card * t.number[other] * v.later
                best = max(best, w.second * tile_gain(t, p, w, g, v, other, side) - cards)
    restore_hand(v)
    return best + w.tempo * v.later - board_action_price(t, v, a.SECOND_PAVILION, w.spend)


@kernel
def _payable(t, v, card):
    """Return whether the hand can pay for a card without coats."""
    held = np.int64(v.hand[t.types - 1])
    for i in range(v.held_count):
        if t.colour[v.held[i]] == t.colour[card]:
            held += v.hand[v.held[i]]
    return held >= t.number[card]


_BLOCK = 64
_gather = gatherer(_BLOCK)


@kernel
def _legal_of(mask, first, last):
    """Return the legal actions among the first 64 in [first, last), as a bit set relative to `first`."""
    begin = min(first, len(mask) - _BLOCK)
    if begin < 0:
        legal = np.uint64(0)
        for action in range(first, last):
            legal |= np.uint64(mask[action] > 0) << np.uint64(action - first)
        return np.int64(legal)
    legal = np.uint64(_gather(mask, begin)) >> np.uint64(first - begin)
    if last - first < _BLOCK:
        legal &= (np.uint64(1) << np.uint64(last - first)) - np.uint64(1)
    return np.int64(legal)


@kernel
def best_legal(values, mask, first, last):
    """Return the legal action in [first, last) with the highest value; the lowest id on ties, -1 if none is legal."""
    best, chosen = 2.0 * ILLEGAL_VALUE, np.int64(-1)
    for block in range(first, last, _BLOCK):
        legal = _legal_of(mask, block, last)
        while legal:
            action = block + lowest_bit(legal)
            legal &= legal - 1
            if values[action] > best:
                best, chosen = values[action], np.int64(action)
    return chosen


@kernel
def reset_values(values, mask, first, last):
    """Reset the values of the actions in [first, last); return (number of legal actions, one of them)."""
    for action in range(first, last):
        values[action] = ILLEGAL_VALUE
    legal, only = np.int64(0), np.int64(0)
    for block in range(first, last, _BLOCK):
        some = _legal_of(mask, block, last)
        if some:
            legal += popcount(some)
            only = block + lowest_bit(some)
    return legal, only


@kernel
def has_alternatives(mask):
    """Return whether more than one action is legal."""
    legal = np.int64(0)
    for block in range(0, len(mask), _BLOCK):
        legal += popcount(_legal_of(mask, block, len(mask)))
    return legal > 1


#: Deduction from the value of board actions that can wait until the end of the turn.
_TOO_EARLY = 1.0


@kernel
def _value_start(t, p, w, g, v, mask, values):
    for space in range(8):
        best = ILLEGAL_VALUE
        for steps in range(1, 4):
            best = max(best, draw_value(t, p, w, g, v, (space + steps) % 8))
        values[t.offset[a.KIND_START] + space] = best


@kernel
def _value_moves(t, p, w, g, v, mask, values):
    """MOVE: value each space by the best continuation of the turn, minus the coats that the move costs."""
    move, use = t.offset[a.KIND_MOVE], t.offset[a.KIND_USE]
    token = np.int64(g.token[g.seat])
    analyze_cards(t, p, w, g, v, first_reachable_side((token + 2) % 8))
    best = ILLEGAL_VALUE
    for steps in range(1, 7):
        if mask[move + steps - 1]:
            values[move + steps - 1] = turn_value(t, p, w, g, v, (token + steps) % 8, v.meadow)
            best = max(best, values[move + steps - 1])
    if not mask[move]:
        return
    for steps in range(4, 7):
        paid, value = np.int64(-1), ILLEGAL_VALUE
        for action in (a.MOVE_1_TO_5, a.MOVE_1_TO_6):
            if mask[use + action] and steps <= t.strengths[action]:
                if paid == t.costs[action]:
                    value -= 0.01  # save the more flexible 'move 1 to 6' for later
                else:
                    paid = t.costs[action]
                    value = turn_value(t, p, w, g, v, (token + steps) % 8, v.meadow - paid)
                    value -= board_action_price(t, v, action, w.spend)
                values[use + action] = max(values[use + action], value)
    if mask[use + a.MOVE_BACK]:
        space, coats = (token + 8 - t.strengths[a.MOVE_BACK]) % 8, v.meadow - t.costs[a.MOVE_BACK]
        value = turn_value(t, p, w, g, v, space, coats)
        values[use + a.MOVE_BACK] = value - board_action_price(t, v, a.MOVE_BACK, w.spend)
    _value_early(t, mask, values, best - _TOO_EARLY)


@kernel
def _value_early(t, mask, values, value):
    """Set the value of board actions that can wait until the end of the turn."""
    use = t.offset[a.KIND_USE]
    for action in (a.TWO_POINTS, a.ONE_WILD_TILE, a.TWO_WILD_TILES, a.MOVE_SUPERSTRUCTURE):
        if mask[use + action]:
            values[use + action] = value


@kernel
def _value_main(t, p, w, g, v, mask, values):
    """MAIN: value drawing and building."""
    draw, build, use = t.offset[a.KIND_DRAW], t.offset[a.KIND_BUILD], t.offset[a.KIND_USE]
    token = np.int64(g.token[g.seat])
    first = first_reachable_side(token)
    best = ILLEGAL_VALUE
    analyze_cards(t, p, w, g, v, first)
    if mask[draw]:
        best = draw_value(t, p, w, g, v, token)
        if v.meadow >= t.costs[a.DRAW_AND_BUILD] and (v.usable >> a.DRAW_AND_BUILD) & 1:
            best = max(best, draw_and_build(t, p, w, g, v, token, v.meadow))
        values[draw] = best
        if mask[use + a.EXTRA_CARD]:
            cards = t.strengths[a.EXTRA_CARD] * w.extra_card * v.later
            values[use + a.EXTRA_CARD] = best + cards - board_action_price(t, v, a.EXTRA_CARD, w.spend)
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1 and mask[build + card]:
            value = build_value(t, p, w, g, v, card, token // 2, first, v.meadow, ILLEGAL_VALUE)
            twice = v.meadow >= t.costs[a.SECOND_PAVILION] and (v.usable >> a.SECOND_PAVILION) & 1
            if value > ILLEGAL_VALUE and twice:
                value += max(0.0, second_build(t, p, w, g, v, card, token // 2))
            values[build + card] = max(value, 0.1 * ILLEGAL_VALUE)  # legal even if the evaluation finds no payment
            best = max(best, values[build + card])
    _value_early(t, mask, values, best - _TOO_EARLY)


@kernel
def _value_payment(t, p, w, g, v, mask, values):
    """PAY: prefer the least valuable cards, and use a coat if that is cheaper or the only way."""
    pay, use = t.offset[a.KIND_PAY], t.offset[a.KIND_USE]
    fewer, as_wild = use + a.ONE_CARD_FEWER, use + a.ANY_CARD_AS_WILD
    analyze_cards(t, p, w, g, v, first_reachable_side(np.int64(g.token[g.seat])))
    any_card = False
    for i in range(v.held_count):
        card = v.held[i]
        if mask[pay + card]:
            values[pay + card] = -v.cost[card]
            any_card = True
    if not any_card:
        if mask[fewer]:
            values[fewer] = 0.0
        if mask[as_wild]:
            values[as_wild] = -0.1
        return
    if g.substitute:
        return
    begin = np.int64(t.colour[g.card]) * t.variants
    floor = np.int64(0)
    while not mask[pay + floor]:
        floor += 1
    # Pay the lowest type of the cheapest set first, because types are paid in ascending order.
    lowest_type, dearest, _ = take_cheapest(t, v, max(begin, floor), begin + t.variants, True, np.int64(g.to_pay))
    values[pay + lowest_type] = 0.0
    if mask[fewer]:
        saved = dearest * min(np.int64(g.to_pay), t.strengths[a.ONE_CARD_FEWER])
        values[fewer] = saved - board_action_price(t, v, a.ONE_CARD_FEWER, w.spend)
    if mask[as_wild]:
        values[as_wild] = dearest - board_action_price(t, v, a.ANY_CARD_AS_WILD, w.spend) - 0.5


@kernel
def _value_placements(t, p, w, g, v, mask, values, every):
    """PLACE: value each placement by its gain, and using another side by its best gain minus its cost.

    Unless `every` is set, only the best placement from each side is valued.
    """
    place, use = t.offset[a.KIND_PLACE], t.offset[a.KIND_USE] + a.ANY_SIDE
    kind = np.int64(t.kind[g.card])
    roofs = min(np.int64(t.shows[g.card]), np.int64(g.superstructure_supply), SHOWN - 1)
    own = np.int64(g.token[g.seat]) // 2
    for side in range(4):
        if (side == own) == (g.any_side != 0):
            continue
        first = place + side * a.ORIENTATIONS * a.LANES
        if every:
            for argument in range(t.orientations[kind] * a.LANES):
                if mask[first + argument]:
                    piece = 8 * kind + argument // a.LANES
                    corner = corner_of(p, v, piece, side, argument % a.LANES)
                    cells = np.int64(t.roofs_mask[piece]) << corner
                    gain = placement_gain(t, p, w, v, piece, corner, cells)
                    if roofs > 0:
                        gain += roofs_gain(t, p, w, v, piece, corner, cells, roofs)
                    values[first + argument] = gain
        elif roofs > 0:
            gain, argument = best_placement(t, p, w, v, kind, side, roofs)
            if gain > ILLEGAL_VALUE:
                values[first + argument] = gain
        else:
            remember_placement(t, p, w, v, kind, side)
            if v.best[kind, side] > ILLEGAL_VALUE:
                values[first + v.place[kind, side]] = v.best[kind, side]
    if mask[use]:
        best = ILLEGAL_VALUE
        for turn in range(1, 4):
            gain, _ = best_placement(t, p, w, v, kind, (own + turn) % 4, roofs)
            best = max(best, gain)
        values[use] = best - board_action_price(t, v, a.ANY_SIDE, w.spend)


@kernel
def _value_end(t, p, w, g, v, mask, values):
    """END: value board actions by their gain minus the coats that they cost, and ending the turn as 0."""
    use = t.offset[a.KIND_USE]
    values[t.offset[a.KIND_END]] = 0.0
    again = a.SECOND_PAVILION if mask[use + a.SECOND_PAVILION] else a.DRAW_AND_BUILD
    if mask[use + again]:
        token = np.int64(g.token[g.seat])
        first = first_reachable_side(token)
        analyze_cards(t, p, w, g, v, first)
        before = hand_value(t, p, w, g, v, first)
        v.usable &= ~(np.int64(1) << again)
        value, _ = best_build(t, p, w, g, v, token // 2, first, v.meadow - t.costs[again], ILLEGAL_VALUE)
        values[use + again] = value - before + w.tempo * v.later - board_action_price(t, v, again, w.spend)
    if mask[use + a.ONE_WILD_TILE] or mask[use + a.TWO_WILD_TILES]:
        one, two = best_wilds(t, w, v)
        for action in (a.ONE_WILD_TILE, a.TWO_WILD_TILES):
            if mask[use + action]:
                number = min(t.strengths[action], np.int64(g.wild_supply))
                gain = wilds_gain(t, w, v, number, one, two)
                values[use + action] = gain - board_action_price(t, v, action, w.spend_wild)
    if mask[use + a.TWO_POINTS]:
        values[use + a.TWO_POINTS] = t.strengths[a.TWO_POINTS] - board_action_price(t, v, a.TWO_POINTS, w.spend)
    if mask[use + a.EXTRA_SUPERSTRUCTURE]:
        number = min(t.strengths[a.EXTRA_SUPERSTRUCTURE], np.int64(g.superstructure_supply))
        value = roofs_worth(t, v, last_tile(t, g, g.seat) & ~v.standing, number, w.roof * v.later)
        values[use + a.EXTRA_SUPERSTRUCTURE] = value - board_action_price(t, v, a.EXTRA_SUPERSTRUCTURE, w.spend)
    if mask[use + a.MOVE_SUPERSTRUCTURE]:
        value, _ = best_roof(t, v, free_roofs(t, g, g.seat))
        worst, _ = worst_roof(t, v, v.standing)
        values[use + a.MOVE_SUPERSTRUCTURE] = value - worst - board_action_price(t, v, a.MOVE_SUPERSTRUCTURE, w.spend)


@kernel
def _value_roofs(t, g, v, mask, values):
    """ROOF: prefer the most valuable roofs, lowest cell first."""
    first = t.offset[a.KIND_ROOF]
    legal = np.int64(0)
    for cell in range(49):
        if mask[first + cell]:
            legal |= bit(cell)
            values[first + cell] = roof_value(t, v, cell, 0, 0) - 0.001 * cell
    if g.lifted >= 0 or g.roofs_left <= 1:
        return
    begin = lowest_bit(legal)
    legal |= last_tile(t, g, g.seat) & ~v.standing & ~(bit(begin) - 1)  # add roofs that the mask reserves for later
    values[first + lowest_of_best_roofs(t, v, legal, g.roofs_left)] += 10.0


@kernel
def _value_discards(t, p, w, g, v, mask, values):
    """DISCARD: prefer the least valuable cards, and keep all cards if that is worth a coat."""
    first, keep = t.offset[a.KIND_DISCARD], t.offset[a.KIND_USE] + a.NO_HAND_LIMIT
    analyze_cards(t, p, w, g, v, first_reachable_side(np.int64(g.token[g.seat])))
    cards = np.int64(0)
    floor = np.int64(-1)
    for i in range(v.held_count):
        card = v.held[i]
        cards += v.hand[card]
        if mask[first + card]:
            values[first + card] = -v.cost[card]
            if floor < 0:
                floor = card
    due = cards - t.hand_limit
    if mask[keep]:
        values[keep] = w.kept_card * due * v.later - board_action_price(t, v, a.NO_HAND_LIMIT, w.spend)
    chosen, _, _ = take_cheapest(t, v, floor, t.types, False, due)
    values[first + chosen] = 0.0


@kernel
def _value_cells(t, w, g, v, mask, values):
    """WILD: value each cell by the gain from a wild tile."""
    first = t.offset[a.KIND_WILD]
    for cell in range(49):
        if mask[first + cell]:
            values[first + cell] = cells_gain(t, w, v, bit(cell))


@kernel
def _value_lifts(t, v, mask, values):
    """LIFT: prefer the superstructure with the lowest value in its current position."""
    first = t.offset[a.KIND_LIFT]
    for cell in range(49):
        if mask[first + cell]:
            values[first + cell] = -roof_value(t, v, cell, 0, 0)


#: Main kind of action in each phase, in the order of the phases; in MAIN, DRAW precedes it.
_MAIN_KIND = np.array(
    [a.KIND_START, a.KIND_MOVE, a.KIND_BUILD, a.KIND_PAY, a.KIND_PLACE, a.KIND_WILD, a.KIND_LIFT, a.KIND_ROOF,
     a.KIND_DISCARD],
    np.int64,
)  # fmt: skip


@kernel
def select_action(t, p, w, g, v, mask, values, every):
    """Return the best legal action of the seat to move, and write the action values, float64 (ids,).

    Legal actions get a value above `ILLEGAL_VALUE`, except those that the heuristic never takes. The values of actions
    in other phases are left unchanged. Unless `every` is set, only the best placements get a value.
    """
    phase = np.int64(g.phase)
    use, end = t.offset[a.KIND_USE], t.offset[a.KIND_END] + 1
    first, last = use, use
    if phase != state.PHASE_END:
        first, last = t.offset[_MAIN_KIND[phase]], t.offset[_MAIN_KIND[phase] + 1]
    if phase == state.PHASE_MAIN:
        first = t.offset[a.KIND_DRAW]
    legal, only = reset_values(values, mask, first, last)
    uses, use_alone = reset_values(values, mask, use, end)
    if legal + uses == 1:
        only = only if legal else use_alone
        values[only] = 0.0
        return only
    analyze_board(t, w, g, g.seat, v)
    read_hand(t, g, g.seat, v)
    if phase == state.PHASE_MOVE:
        _value_moves(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_MAIN:
        _value_main(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_PAY:
        _value_payment(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_PLACE:
        _value_placements(t, p, w, g, v, mask, values, every)
    elif phase == state.PHASE_ROOF:
        _value_roofs(t, g, v, mask, values)
    elif phase == state.PHASE_DISCARD:
        _value_discards(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_END:
        _value_end(t, p, w, g, v, mask, values)
    elif phase == state.PHASE_WILD:
        _value_cells(t, w, g, v, mask, values)
    elif phase == state.PHASE_LIFT:
        _value_lifts(t, v, mask, values)
    else:
        _value_start(t, p, w, g, v, mask, values)
    chosen = best_legal(values, mask, first, last)
    bought = best_legal(values, mask, use, end)
    if chosen < 0 or (bought >= 0 and values[bought] > values[chosen]):
        return bought
    return chosen

"""What greedy decides, phase by phase: boards and hands are judged as the heuristic does, with weights of its own.

It differs from `agents.helsinki.decide` in that it takes actions of the action board one at a time: what drawing and
building in the same turn, or building twice, would bring is no concern of it before the turn's end. Nor does it see
that drawing brings the end of the game nearer.

`price` is what an action of the action board must bring; for the other names see `agents.helsinki.view`.
"""

from __future__ import annotations

import numpy as np

from agents.helsinki.board import best_cell, best_placement, best_roof, best_wilds, worst_roof
from agents.helsinki.cards import (
    best_build,
    build_value,
    draw_value,
    hand_value,
    judge_cards,
    most_left,
    near,
    take_cheapest,
)
from agents.helsinki.view import NOTHING, forget, judge, look
from helsinki_env.engine.bits import bit, lowest
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.bits import CELLS
from helsinki_env.games.helsinki.build import free_roofs, last_tile
from helsinki_env.games.helsinki.state import (
    PHASE_DISCARD,
    PHASE_END,
    PHASE_LIFT,
    PHASE_MAIN,
    PHASE_MOVE,
    PHASE_PAY,
    PHASE_PLACE,
    PHASE_ROOF,
    PHASE_WILD,
)

__all__ = ["choose_batch"]


@kernel
def _first(mask, begin, end):
    """The lowest legal decision from `begin` to `end`; `end` if there is none."""
    while begin < end and not mask[begin]:
        begin += 1
    return begin


@kernel
def _legal_cells(mask, begin):
    """The cells of which the decisions from `begin` on are legal."""
    cells = np.int64(0)
    for cell in range(CELLS):
        if mask[begin + cell]:
            cells |= bit(cell)
    return cells


@kernel
def _turn_value(t, p, w, g, v, space, coats):
    """What a turn that begins by moving to a space is worth, with the hand that it leaves."""
    draw = draw_value(t, p, w, g, v, space)
    build, _ = best_build(t, p, w, g, v, space // 2, near(space), coats, draw)
    return max(draw, build)


@kernel
def _choose_start(t, p, w, g, v, mask):
    """The space with the best draw in reach of the first turn."""
    start = t.offset[a.KIND_START]
    best, chosen = NOTHING, _first(mask, start, start + 8)
    for space in range(8):
        if mask[start + space]:
            for steps in range(1, 4):
                value = draw_value(t, p, w, g, v, (space + steps) % 8)
                if value > best:
                    best, chosen = value, start + space
    return chosen


@kernel
def _choose_move(t, p, w, g, v, mask, price):
    """The space with the best draw or build; a coat is spent on the move if it gains more than the price."""
    move, use = t.offset[a.KIND_MOVE], t.offset[a.KIND_USE]
    token, coats = np.int64(g.token[g.seat]), np.int64(v.meadow)
    best, chosen = NOTHING, np.int64(-1)
    judge_cards(t, p, w, g, v, near(token))
    for steps in range(1, 7):
        space = (token + steps) % 8
        if mask[move + steps - 1]:
            way, value = move + steps - 1, _turn_value(t, p, w, g, v, space, coats)
        elif steps > 3 and (mask[use + a.MOVE_1_TO_6] or (steps < 6 and mask[use + a.MOVE_1_TO_5])):
            way = use + (a.MOVE_1_TO_5 if steps < 6 and mask[use + a.MOVE_1_TO_5] else a.MOVE_1_TO_6)
            value = _turn_value(t, p, w, g, v, space, coats - 1) - price
        else:
            continue
        if value > best:
            best, chosen = value, way
    if mask[use + a.MOVE_BACK] and _turn_value(t, p, w, g, v, (token + 7) % 8, coats - 1) - price > best:
        return use + a.MOVE_BACK
    return chosen


@kernel
def _choose_main(t, p, w, g, v, mask, price):
    """Draw or build."""
    draw, build, extra = t.offset[a.KIND_DRAW], t.offset[a.KIND_BUILD], t.offset[a.KIND_USE] + a.EXTRA_CARD
    token = np.int64(g.token[g.seat])
    best, chosen = NOTHING, np.int64(-1)
    if mask[draw]:
        best, chosen = draw_value(t, p, w, g, v, token), draw
        if mask[extra] and w.extra_card * v.later > price:
            chosen = extra
    judge_cards(t, p, w, g, v, near(token))
    most = most_left(t, p, w, g, v, near(token))
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1 and mask[build + card]:
            value = build_value(t, p, w, g, v, card, token // 2, near(token), v.meadow, best - most)
            if value > best or chosen < 0:
                best, chosen = value, build + card
    return chosen


@kernel
def _choose_payment(t, p, w, g, v, mask, price):
    """Pay with the cards that are missed least; with a coat if that is cheaper, or if there is no other way."""
    pay, use = t.offset[a.KIND_PAY], t.offset[a.KIND_USE]
    fewer = use + a.ONE_CARD_FEWER
    floor = _first(mask, pay, pay + t.types) - pay
    if floor == t.types:
        return fewer if mask[fewer] else use + a.ANY_CARD_AS_WILD
    judge_cards(t, p, w, g, v, near(np.int64(g.token[g.seat])))
    if g.substitute:
        for i in range(v.held_count):
            v.hand[v.held[i]] *= mask[pay + v.held[i]]
        card, _, _ = take_cheapest(t, v, 0, t.types - 1, False, 1)
        return pay + card
    end = np.int64(t.colour[g.card] + 1) * t.variants
    card, dearest, _ = take_cheapest(t, v, floor, end, True, np.int64(g.to_pay))
    return fewer if mask[fewer] and dearest > price else pay + card


@kernel
def _choose_placement(t, p, w, g, v, mask, price):
    """The best placement; from another side if that is worth a coat."""
    place, use = t.offset[a.KIND_PLACE], t.offset[a.KIND_USE] + a.ANY_SIDE
    kind, own = np.int64(t.kind[g.card]), np.int64(g.token[g.seat]) // 2
    roofs = min(np.int64(t.shows[g.card]), np.int64(g.superstructure_supply))
    best, chosen = NOTHING, np.int64(-1)
    for side in range(4):
        if (side == own) != (g.any_side != 0):
            gain, argument = best_placement(t, p, w, v, kind, side, roofs)
            if gain > best:
                best, chosen = gain, place + side * a.ORIENTATIONS * a.LANES + argument
    if mask[use]:
        for turn in range(1, 4):
            gain, _ = best_placement(t, p, w, v, kind, (own + turn) % 4, roofs)
            if gain - price > best:
                return use
    return chosen


@kernel
def _choose_roof(t, g, v, mask):
    """The roofs worth most, lowest cell first."""
    first = t.offset[a.KIND_ROOF]
    legal, chosen = _legal_cells(mask, first), np.int64(CELLS)
    if g.roofs_left > 1:  # the last ones are kept for those still to come
        legal |= last_tile(t, g, g.seat) & ~v.standing & ~(bit(lowest(legal)) - 1)
    for _ in range(g.roofs_left):
        _, cell = best_roof(t, v, legal)
        if cell < 0:
            break
        legal &= ~bit(cell)
        chosen = min(chosen, cell)
    return first + chosen


@kernel
def _choose_discard(t, p, w, g, v, mask, price):
    """Discard what is missed least; keep all if that is worth a coat."""
    first, keep = t.offset[a.KIND_DISCARD], t.offset[a.KIND_USE] + a.NO_HAND_LIMIT
    due = np.int64(-t.hand_limit)
    for i in range(v.held_count):
        due += v.hand[v.held[i]]
    if mask[keep] and w.kept_card * due * v.later > price:
        return keep
    judge_cards(t, p, w, g, v, near(np.int64(g.token[g.seat])))
    card, _, _ = take_cheapest(t, v, _first(mask, first, first + t.types) - first, t.types, False, due)
    return first + card


@kernel
def _choose_end(t, p, w, g, v, mask, price):
    """Spend coats on what is worth more than the price, the most valuable first."""
    use = t.offset[a.KIND_USE]
    best, chosen = price, t.offset[a.KIND_END]
    again = a.SECOND_PAVILION if mask[use + a.SECOND_PAVILION] else a.DRAW_AND_BUILD
    if mask[use + again]:
        token = np.int64(g.token[g.seat])
        first = near(token)
        judge_cards(t, p, w, g, v, first)
        v.usable &= ~(np.int64(1) << again)
        value, _ = best_build(t, p, w, g, v, token // 2, first, v.meadow - 1, NOTHING)
        value += w.tempo * v.later - hand_value(t, p, w, g, v, first)
        if value > best:
            best, chosen = value, use + again
    if mask[use + a.ONE_WILD_TILE] or mask[use + a.TWO_WILD_TILES]:
        one, two = best_wilds(t, w, v)
        if mask[use + a.TWO_WILD_TILES] and two > best:
            best, chosen = two, use + a.TWO_WILD_TILES
        if mask[use + a.ONE_WILD_TILE] and one > best:
            best, chosen = one, use + a.ONE_WILD_TILE
    if mask[use + a.TWO_POINTS] and t.points_two_points > best:
        best, chosen = np.float64(t.points_two_points), use + a.TWO_POINTS
    if mask[use + a.EXTRA_SUPERSTRUCTURE]:
        value, _ = best_roof(t, v, last_tile(t, g, g.seat) & ~v.standing)
        if value > best:
            best, chosen = value, use + a.EXTRA_SUPERSTRUCTURE
    if mask[use + a.MOVE_SUPERSTRUCTURE]:
        value, _ = best_roof(t, v, free_roofs(t, g, g.seat))
        worst, _ = worst_roof(t, v, v.standing)
        if value - worst > best:
            best, chosen = value - worst, use + a.MOVE_SUPERSTRUCTURE
    return chosen


@kernel
def _choose(t, p, w, spend, g, v, mask):
    """Return greedy's decision in a game; `w` is written over."""
    phase = g.phase
    if g.last_round:
        w.closed = 1.0  # what no tile reaches, wild tiles may still fill: the last of a line is worth all of it
    forget(v)  # nothing is remembered from one game to the next
    judge(t, w, g, g.seat, v)
    look(t, g, g.seat, v)
    v.later_drawn = v.later  # a draw does not bring the end nearer
    if v.later > 0.0:
        w.other_plans /= v.later  # nor do those plans come later than the best one
    price = v.coat + (spend * v.later if phase == PHASE_END else spend)
    if phase == PHASE_MOVE:
        return _choose_move(t, p, w, g, v, mask, price)
    if phase == PHASE_MAIN:
        return _choose_main(t, p, w, g, v, mask, price)
    if phase == PHASE_PAY:
        return _choose_payment(t, p, w, g, v, mask, price)
    if phase == PHASE_PLACE:
        return _choose_placement(t, p, w, g, v, mask, price)
    if phase == PHASE_ROOF:
        return _choose_roof(t, g, v, mask)
    if phase == PHASE_DISCARD:
        return _choose_discard(t, p, w, g, v, mask, price)
    if phase == PHASE_END:
        return _choose_end(t, p, w, g, v, mask, price)
    if phase == PHASE_WILD:
        _, cell = best_cell(t, w, v, _legal_cells(mask, t.offset[a.KIND_WILD]))
        return t.offset[a.KIND_WILD] + cell
    if phase == PHASE_LIFT:
        _, cell = worst_roof(t, v, _legal_cells(mask, t.offset[a.KIND_LIFT]))
        return t.offset[a.KIND_LIFT] + cell
    return _choose_start(t, p, w, g, v, mask)


@kernel
def choose_batch(tables, parts, weights, spend, states, work, views, masks, actions):
    """Write greedy's decision for every game into `actions`, int64 (B,).

    `weights`: of the heuristic's judgement, `work`: as many to write over, `spend`: how much more a coat must bring
    than it is worth; the arrays of tables, parts, weights, work and views have one record.
    """
    for b in range(len(states)):
        work[0] = weights[0]
        actions[b] = _choose(tables[0], parts[0], work[0], spend, states[b], views[0], masks[b])

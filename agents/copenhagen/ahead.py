"""The heuristic's second thoughts: what the next turn can make of this one.

`agents.copenhagen.decide` judges a turn by the board and the hand that it leaves. Here every promising way to spend the
turn is carried out, and the best next turn from there is looked for: the tiles that still fit beside the new one, the
cards that still lie in the display. What others do in between is left out, but for the cards that they may take.
"""

from __future__ import annotations

import numpy as np

from agents.copenhagen.board import placement_gain
from agents.copenhagen.decide import best_of, value_all
from agents.copenhagen.hand import best_build, hand_value, limited_value, look, price
from agents.copenhagen.view import NOTHING, judge
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen import state as phases
from helsinki_env.games.copenhagen.abilities import active
from helsinki_env.games.copenhagen.bits import neighbours
from helsinki_env.games.copenhagen.score import line_points
from helsinki_env.games.copenhagen.shapes import tile_cells

__all__ = ["decide_ahead"]


@kernel
def _best_pair(t, w, g, v, gone):
    """What the hand is worth with the best two cards that lie in the display once some slots (a set) are empty."""
    any_cards = (active(g) >> a.ANY_CARDS) & 1
    best = NOTHING
    for slot in range(6):
        first = np.int64(g.display[slot])
        if first < 0 or (gone >> slot) & 1:
            continue
        v.hand[first] += 1
        for next_slot in range(slot + 1, 7):
            second = np.int64(g.display[next_slot])
            if second < 0 or (gone >> next_slot) & 1:
                continue
            if next_slot > slot + 1 and not any_cards:
                break
            v.hand[second] += 1
            value = limited_value(t, w, v)
            v.hand[second] -= 1
            best = max(best, value - (price(w, v, a.ANY_CARDS) if next_slot > slot + 1 else 0.0))
        v.hand[first] -= 1
    return best


@kernel
def _with_next_turn(t, p, w, g, v, gone):
    """What the cards in `v.hand` are worth in the light of the best next turn, some slots being empty (a set)."""
    now = hand_value(w, v)
    pair = _best_pair(t, w, g, v, gone)
    best = max(now, now + w.display * (pair - now))
    best = max(best, best_build(t, p, w, g, v, active(g)))
    return now + w.ahead * v.later * (best - now)


@kernel
def _pair_ahead(t, p, w, g, v, slot):
    """TAKE: the first of two cards with the best second one, the next turn considered."""
    first, best = np.int64(g.display[slot]), NOTHING
    any_cards = (active(g) >> a.ANY_CARDS) & 1
    v.hand[first] += 1
    for other in range(slot + 1, 7):
        second = np.int64(g.display[other])
        if second < 0:
            continue
        if other > slot + 1 and not any_cards:
            break
        best = max(best, _card_ahead(t, p, w, g, v, slot, other) - (price(w, v, a.ANY_CARDS) * (other > slot + 1)))
    v.hand[first] -= 1
    return best


@kernel
def _card_ahead(t, p, w, g, v, first, slot):
    """The last card of a turn: what the hand with it is worth, the next turn considered."""
    colour = np.int64(g.display[slot])
    v.hand[colour] += 1
    loss = hand_value(w, v) - limited_value(t, w, v)
    value = _with_next_turn(t, p, w, g, v, 1 << first | 1 << slot) - loss
    v.hand[colour] -= 1
    return value


@kernel
def _tile_ahead(t, p, w, g, v, u, work, kind, argument, discount):
    """A tile on its place: what it adds, and the hand after it on the new board, the next turn considered."""
    seat, own = g.seat, kind // 4
    piece, corner = a.ORIENTATIONS * kind + argument // a.CELLS, argument % a.CELLS
    cells = tile_cells(t, piece, corner)
    touching = neighbours(v.coloured[own]) & cells != 0
    cost = max(0, kind % 4 + 2 - np.int64(touching) - discount)
    if cost > v.hand[own]:
        return NOTHING
    gain = placement_gain(t, p, w, v, kind, piece, corner)
    work[0] = g
    later = work[0]
    bricks = v.bricks | np.int64(1) << (corner + t.brick[piece])
    points = line_points(t, v.filled, v.filled | cells, bricks)
    later.points[seat] += points
    if later.points[seat] >= t.goal:
        return gain
    later.filled[seat] |= cells
    later.coloured[seat, own] |= cells
    later.bricks[seat] = bricks
    later.supply[kind] -= 1
    later.hand[seat, own] -= cost
    judge(t, w, later, seat, u)
    look(t, p, w, later, seat, u)
    return gain + _with_next_turn(t, p, w, later, u, 0)


@kernel
def _main_ahead(t, p, w, g, v, u, work, mask, values):
    """MAIN: look again at every promising way to spend the turn; others are corrected like the best of these."""
    take, build, usable = t.offset[a.TAKE], t.offset[a.BUILD], active(g)
    highest = NOTHING
    for action in range(take, build + 20):
        highest = max(highest, values[action])
    discounts = 1 + ((usable >> a.CONSTRUCTION_DISCOUNT) & 1)
    for slot in range(6):
        if mask[take + slot]:
            plain = values[take + slot]
            ahead = _pair_ahead(t, p, w, g, v, slot)
            values[take + slot] = max(ahead, plain)
    for kind in range(20):
        plain = values[build + kind]
        if not mask[build + kind] or plain < highest - w.doubt:
            continue
        best = NOTHING
        for touching in range(2):
            for discount in range(discounts):
                if v.place[kind, touching] >= 0:
                    value = _tile_ahead(t, p, w, g, v, u, work, kind, v.place[kind, touching], discount)
                    best = max(best, value - discount * price(w, v, a.CONSTRUCTION_DISCOUNT))
        values[build + kind] = max(best, plain)


@kernel
def _second_ahead(t, p, w, g, v, mask, values):
    """TAKE: look again at every card; what costs an ability is corrected like the best of these."""
    take, use = t.offset[a.TAKE], t.offset[a.USE] + a.ANY_CARDS
    best, change = NOTHING, 0.0
    for slot in range(7):
        if mask[take + slot]:
            plain = values[take + slot]
            values[take + slot] = _card_ahead(t, p, w, g, v, np.int64(g.first), slot)
            if values[take + slot] > best:
                best, change = values[take + slot], values[take + slot] - plain
    if mask[use]:
        better = NOTHING
        for slot in range(g.first + 2, 7):
            if g.display[slot] >= 0:
                better = max(better, _card_ahead(t, p, w, g, v, np.int64(g.first), slot))
        values[use] = better - price(w, v, a.ANY_CARDS)
    for ability in range(1, 5):
        values[t.offset[a.USE] + ability] += change


@kernel
def _places_ahead(t, p, w, g, v, u, work, mask, values):
    """PLACE: look again at every promising place; abilities are corrected like the best of these."""
    place, use, kind = t.offset[a.PLACE], t.offset[a.USE], np.int64(g.tile)
    discount = (np.int64(g.using) >> a.CONSTRUCTION_DISCOUNT) & 1
    highest, best, change = NOTHING, NOTHING, 0.0
    for argument in range(a.CELLS * t.orientations[kind]):
        highest = max(highest, values[place + argument])
    for argument in range(a.CELLS * t.orientations[kind]):
        plain = values[place + argument]
        if mask[place + argument] and plain >= highest - w.doubt:
            value = _tile_ahead(t, p, w, g, v, u, work, kind, argument, discount)
            values[place + argument] = max(plain, value)
            if values[place + argument] > best:
                best, change = values[place + argument], values[place + argument] - plain
    for ability in range(5):
        if mask[use + ability]:
            values[use + ability] += change


@kernel
def _rewards_ahead(t, p, w, g, v, u, work, mask, values):
    """COAT: what the next turn makes of a reward. Others are corrected like none at all."""
    white, ability, seat = t.offset[a.WHITE], t.offset[a.ABILITY], g.seat
    usual = _with_next_turn(t, p, w, g, v, 0)
    highest = NOTHING
    for action in range(len(mask)):
        highest = max(highest, values[action])
    for cell in range(a.CELLS):
        plain = values[white + cell]
        if not mask[white + cell]:
            continue
        values[white + cell] += usual
        cells = np.int64(1) << cell
        points = g.points[seat] + line_points(t, v.filled, v.filled | cells, v.bricks)
        if plain < highest - w.doubt or points >= t.goal:
            continue
        work[0] = g
        later = work[0]
        later.filled[seat] |= cells
        later.points[seat] = points
        judge(t, w, later, seat, u)
        look(t, p, w, later, seat, u)
        values[white + cell] = plain + _with_next_turn(t, p, w, later, u, 0)
    for number in range(5):
        if mask[ability + number]:
            work[0] = g
            work[0].owned[seat] |= 1 << number
            values[ability + number] += _with_next_turn(t, p, w, work[0], v, 0)
    if mask[t.offset[a.REACTIVATE]]:
        work[0] = g
        work[0].used[seat] = 0
        values[t.offset[a.REACTIVATE]] += _with_next_turn(t, p, w, work[0], v, 0)


@kernel
def decide_ahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision of the seat to move, the next turn considered, and write the values of decisions.

    `u`: a second view, for the board with a new tile; `work`: a record of the type of `g`, (1,). As for `decide` with
    `every` besides.
    """
    value_all(t, p, w, g, v, mask, values, True)
    if w.ahead > 0.0:
        phase = np.int64(g.phase)
        if phase == phases.MAIN:
            _main_ahead(t, p, w, g, v, u, work, mask, values)
        elif phase == phases.TAKE and g.first >= 0:
            _second_ahead(t, p, w, g, v, mask, values)
        elif phase == phases.PLACE and g.recolour < 0:
            _places_ahead(t, p, w, g, v, u, work, mask, values)
        elif phase == phases.COAT:
            _rewards_ahead(t, p, w, g, v, u, work, mask, values)
    return best_of(mask, values)

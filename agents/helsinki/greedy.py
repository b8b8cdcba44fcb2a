"""Greedy player with a one-turn look-ahead.

For each action, it adds up the possible gains of the rest of the turn. They come from the cards next to each space
within reach, each possible build with its best placement, and the use of a coat of arms. It uses the heuristic's
kernels with separate weights, but not the later additions to the heuristic.

Greedy is a fixed baseline: its actions must never change. Sums that can break ties therefore keep their original order
(the weight `apart`).

Unlike `helsinki_env.agents.helsinki.decide`, it considers board actions one at a time. Until the end of the turn, it
ignores drawing and building in the same turn, and building twice. It also ignores that drawing shortens the game.
`spend` is the gain that a board action must bring beyond the value of its coats.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.agents.helsinki import weights as heuristic
from helsinki_env.agents.helsinki.board import (
    best_cell,
    best_placement,
    best_roof,
    best_wilds,
    lowest_of_best_roofs,
    roofs_worth,
    wilds_gain,
    worst_roof,
)
from helsinki_env.agents.helsinki.board_view import (
    analyze_lines,
    line_chance,
    piece_table,
    read_board,
    read_hand,
    turns_left,
)
from helsinki_env.agents.helsinki.cards import (
    analyze_cards,
    build_parts,
    draw_value,
    hand_upper_bound,
    hand_value,
    take_cheapest,
)
from helsinki_env.agents.helsinki.eval_cache import new_views
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, weights_record
from helsinki_env.agents.rows import forced_and_open, validate_inputs
from helsinki_env.engine.bits import bit, lowest_bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import state
from helsinki_env.games.helsinki.bits import CELLS
from helsinki_env.games.helsinki.build import free_roofs, last_tile

__all__ = ["GreedyPlayer", "GreedyWeights"]


@kernel
def _first(mask, begin, end):
    """Return the lowest legal action in [begin, end), or `end` if there is none."""
    while begin < end and not mask[begin]:
        begin += 1
    return begin


@kernel
def _legal_cells(mask, begin):
    """Return the cells whose actions, which start at `begin`, are legal."""
    cells = np.int64(0)
    for cell in range(CELLS):
        if mask[begin + cell]:
            cells |= bit(cell)
    return cells


@kernel
def _evaluate_board(t, w, g, v):
    """Evaluate the seat's own board: the values of lines, coats and holes for the number of turns left.

    A line with m empty cells is assumed to be full at the end with probability q^m. Cells that no tile can reach lower
    this probability, but in the last turn, a wild tile may still fill them. The results must remain bit-identical.
    """
    read_board(t, g, g.seat, v)
    v.roofs_known[:] = 0
    turns = turns_left(w, g, 0)
    v.turns, v.loss_drawn = turns, 0.0
    v.later = v.later_drawn = turns / (turns + w.hand_patience)  # ignores that a draw shortens the game
    v.coat = w.coat * turns / (turns + w.coat_patience)
    q = w.cell_chance * turns / (turns + w.line_patience)
    for line in range(7):
        for way in range(2):
            missing, chance = line_chance(w, v, line, way)
            for _ in range(missing):
                chance *= q
            for more in range(6):
                if q == 0.0:
                    v.chance[way, line, more] = 1.0 if missing <= more else 0.0
                else:
                    v.chance[way, line, more] = min(1.0, chance)
                    chance /= q
    analyze_lines(t, w, v)
    for cell in range(CELLS):
        loss = v.chance[0, cell // 7, 0] + v.chance[1, cell % 7, 0]
        v.hole[cell] = (1.0 - w.closed) * (t.points_row + w.room) * loss + w.hole * v.later


@kernel
def _draw_value(t, p, w, g, v, space, before):
    """Return the value of drawing next to a space, given the current value of the hand."""
    return draw_value(t, p, w, g, v, space) - before


@kernel
def _build_value(t, p, w, g, v, card, side, coats, before, most, least):
    """Return the value of building a card; the hand is worth `before` now and at most `most` afterwards.

    Return `ILLEGAL_VALUE` if the card cannot be built, and possibly if its value is at most `least`.
    """
    gain, turned, helped, left = build_parts(t, p, w, g, v, card, side, side, coats, least + before - most)
    if gain <= ILLEGAL_VALUE:
        return ILLEGAL_VALUE
    return gain - (turned * t.costs[a.ANY_SIDE] + helped) * v.coat - (before - left)


@kernel
def _best_build(t, p, w, g, v, side, coats, before, most, least):
    """Return the value of the best build from a side, or `least` if none is worth more."""
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1 and v.hand[card] > 0:
            least = max(least, _build_value(t, p, w, g, v, card, side, coats, before, most, least))
    return least


@kernel
def _turn_value(t, p, w, g, v, space, coats, before, most):
    """Return the value of a turn that begins by moving to a space."""
    draw = _draw_value(t, p, w, g, v, space, before)
    return _best_build(t, p, w, g, v, space // 2, coats, before, most, draw)


@kernel
def _choose_start(t, p, w, g, v, mask):
    """START: choose the space with the best draw within reach of the first turn."""
    start = t.offset[a.KIND_START]
    best, chosen = ILLEGAL_VALUE, _first(mask, start, start + 8)
    before = hand_value(t, p, w, g, v, 0)
    for space in range(8):
        if mask[start + space]:
            for steps in range(1, 4):
                value = _draw_value(t, p, w, g, v, (space + steps) % 8, before)
                if value > best:
                    best, chosen = value, start + space
    return chosen


@kernel
def _mover(t, mask, use, steps):
    """Return the cheapest board action that moves `steps` steps, or -1 if there is none."""
    chosen = np.int64(-1)
    for action in (a.MOVE_1_TO_5, a.MOVE_1_TO_6):
        enough = mask[use + action] and steps <= t.strengths[action]
        if enough and (chosen < 0 or t.costs[action] < t.costs[chosen]):
            chosen = np.int64(action)
    return chosen


@kernel
def _choose_move(t, p, w, g, v, mask, spend):
    """MOVE: choose the space with the best draw or build; spend a coat if that gains more than it is worth."""
    move, use = t.offset[a.KIND_MOVE], t.offset[a.KIND_USE]
    token, coats = np.int64(g.token[g.seat]), np.int64(v.meadow)
    best, chosen = ILLEGAL_VALUE, np.int64(-1)
    before, most = hand_value(t, p, w, g, v, 0), hand_upper_bound(t, p, w, g, v, 0)
    analyze_cards(t, p, w, g, v, 0)
    for steps in range(1, 7):
        space = (token + steps) % 8
        if mask[move + steps - 1]:
            way, value = move + steps - 1, _turn_value(t, p, w, g, v, space, coats, before, most)
        elif steps > 3:
            action = _mover(t, mask, use, steps)
            if action < 0:
                continue
            way, cost = use + action, t.costs[action]
            value = _turn_value(t, p, w, g, v, space, coats - cost, before, most) - (cost * v.coat + spend)
        else:
            continue
        if value > best:
            best, chosen = value, way
    if mask[use + a.MOVE_BACK]:
        back, cost = (token + 8 - t.strengths[a.MOVE_BACK]) % 8, t.costs[a.MOVE_BACK]
        value = _turn_value(t, p, w, g, v, back, coats - cost, before, most) - cost * v.coat - spend
        if value > best:
            return use + a.MOVE_BACK
    return chosen


@kernel
def _choose_main(t, p, w, g, v, mask, spend):
    """MAIN: choose whether to draw or build."""
    draw, build, extra = t.offset[a.KIND_DRAW], t.offset[a.KIND_BUILD], t.offset[a.KIND_USE] + a.EXTRA_CARD
    token = np.int64(g.token[g.seat])
    best, chosen = ILLEGAL_VALUE, np.int64(-1)
    before, most = hand_value(t, p, w, g, v, 0), hand_upper_bound(t, p, w, g, v, 0)
    if mask[draw]:
        best, chosen = _draw_value(t, p, w, g, v, token, before), draw
        cards = t.strengths[a.EXTRA_CARD] * w.extra_card * v.later
        if mask[extra] and cards > t.costs[a.EXTRA_CARD] * v.coat + spend:
            chosen = extra
    analyze_cards(t, p, w, g, v, 0)
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1 and mask[build + card]:
            value = _build_value(t, p, w, g, v, card, token // 2, v.meadow, before, most, best)
            if value > best or chosen < 0:
                best, chosen = value, build + card
    return chosen


@kernel
def _choose_payment(t, p, w, g, v, mask, spend):
    """PAY: pay with the least valuable cards; use a coat if that is cheaper or the only way."""
    pay, use = t.offset[a.KIND_PAY], t.offset[a.KIND_USE]
    fewer = use + a.ONE_CARD_FEWER
    floor = _first(mask, pay, pay + t.types) - pay
    if floor == t.types:
        return fewer if mask[fewer] else use + a.ANY_CARD_AS_WILD
    analyze_cards(t, p, w, g, v, 0)
    if g.substitute:
        for i in range(v.held_count):
            v.hand[v.held[i]] *= mask[pay + v.held[i]]
        card, _, _ = take_cheapest(t, v, 0, t.types - 1, False, 1)
        return pay + card
    end = np.int64(t.colour[g.card] + 1) * t.variants
    card, dearest, _ = take_cheapest(t, v, floor, end, True, np.int64(g.to_pay))
    saved = dearest * min(np.int64(g.to_pay), t.strengths[a.ONE_CARD_FEWER])
    return fewer if mask[fewer] and saved > t.costs[a.ONE_CARD_FEWER] * v.coat + spend else pay + card


@kernel
def _choose_placement(t, p, w, g, v, mask, spend):
    """PLACE: choose the best placement, from another side if that is worth a coat."""
    place, use = t.offset[a.KIND_PLACE], t.offset[a.KIND_USE] + a.ANY_SIDE
    kind, own = np.int64(t.kind[g.card]), np.int64(g.token[g.seat]) // 2
    roofs = min(np.int64(t.shows[g.card]), np.int64(g.superstructure_supply))
    best, chosen = ILLEGAL_VALUE, np.int64(-1)
    for side in range(4):
        if (side == own) != (g.any_side != 0):
            gain, argument = best_placement(t, p, w, v, kind, side, roofs)
            if gain > best:
                best, chosen = gain, place + side * a.ORIENTATIONS * a.LANES + argument
    if mask[use]:
        for turn in range(1, 4):
            gain, _ = best_placement(t, p, w, v, kind, (own + turn) % 4, roofs)
            if gain - t.costs[a.ANY_SIDE] * v.coat - spend > best:
                return use
    return chosen


@kernel
def _choose_roof(t, g, v, mask):
    """ROOF: choose the most valuable roofs, lowest cell first."""
    first = t.offset[a.KIND_ROOF]
    legal = _legal_cells(mask, first)
    if g.roofs_left > 1:  # add roofs that the mask reserves for later
        legal |= last_tile(t, g, g.seat) & ~v.standing & ~(bit(lowest_bit(legal)) - 1)
    return first + lowest_of_best_roofs(t, v, legal, g.roofs_left)


@kernel
def _choose_discard(t, p, w, g, v, mask, spend):
    """DISCARD: discard the least valuable cards; keep all cards if that is worth a coat."""
    first, keep = t.offset[a.KIND_DISCARD], t.offset[a.KIND_USE] + a.NO_HAND_LIMIT
    due = np.int64(-t.hand_limit)
    for i in range(v.held_count):
        due += v.hand[v.held[i]]
    if mask[keep] and w.kept_card * due * v.later > t.costs[a.NO_HAND_LIMIT] * v.coat + spend:
        return keep
    analyze_cards(t, p, w, g, v, 0)
    card, _, _ = take_cheapest(t, v, _first(mask, first, first + t.types) - first, t.types, False, due)
    return first + card


@kernel
def _more(t, v, action):
    """Return the cost of a board action beyond the value of one coat."""
    return (t.costs[action] - 1) * v.coat


@kernel
def _choose_end(t, p, w, g, v, mask, price):
    """END: choose the most valuable board action if it is worth more than `price`; otherwise, end the turn.

    `price` is the value of one coat.
    """
    use = t.offset[a.KIND_USE]
    best, chosen = price, t.offset[a.KIND_END]
    again = a.SECOND_PAVILION if mask[use + a.SECOND_PAVILION] else a.DRAW_AND_BUILD
    if mask[use + again]:
        before, most = hand_value(t, p, w, g, v, 0), hand_upper_bound(t, p, w, g, v, 0)
        analyze_cards(t, p, w, g, v, 0)
        v.usable &= ~(np.int64(1) << again)
        side = np.int64(g.token[g.seat]) // 2
        value = _best_build(t, p, w, g, v, side, v.meadow - t.costs[again], before, most, ILLEGAL_VALUE)
        if value > ILLEGAL_VALUE and value + w.tempo * v.later - _more(t, v, again) > best:
            best, chosen = value + w.tempo * v.later - _more(t, v, again), use + again
    if mask[use + a.ONE_WILD_TILE] or mask[use + a.TWO_WILD_TILES]:
        one, two = best_wilds(t, w, v)
        for action in (a.TWO_WILD_TILES, a.ONE_WILD_TILE):
            value = wilds_gain(t, w, v, t.strengths[action], one, two) - _more(t, v, action)
            if mask[use + action] and value > best:
                best, chosen = value, use + action
    if mask[use + a.TWO_POINTS]:
        value = t.strengths[a.TWO_POINTS] - _more(t, v, a.TWO_POINTS)
        if value > best:
            best, chosen = value, use + a.TWO_POINTS
    if mask[use + a.EXTRA_SUPERSTRUCTURE]:
        roofs = last_tile(t, g, g.seat) & ~v.standing
        number = min(t.strengths[a.EXTRA_SUPERSTRUCTURE], np.int64(g.superstructure_supply))
        value = roofs_worth(t, v, roofs, number, 0.0)
        value -= _more(t, v, a.EXTRA_SUPERSTRUCTURE)
        if value > best:
            best, chosen = value, use + a.EXTRA_SUPERSTRUCTURE
    if mask[use + a.MOVE_SUPERSTRUCTURE]:
        value, _ = best_roof(t, v, free_roofs(t, g, g.seat))
        worst, _ = worst_roof(t, v, v.standing)
        value -= worst + _more(t, v, a.MOVE_SUPERSTRUCTURE)
        if value > best:
            best, chosen = value, use + a.MOVE_SUPERSTRUCTURE
    return chosen


@kernel
def _choose(t, p, w, spend, g, v, mask):
    """Return the greedy action in a game."""
    phase = g.phase
    _evaluate_board(t, w, g, v)
    read_hand(t, g, g.seat, v)
    if phase == state.PHASE_MOVE:
        return _choose_move(t, p, w, g, v, mask, spend)
    if phase == state.PHASE_MAIN:
        return _choose_main(t, p, w, g, v, mask, spend)
    if phase == state.PHASE_PAY:
        return _choose_payment(t, p, w, g, v, mask, spend)
    if phase == state.PHASE_PLACE:
        return _choose_placement(t, p, w, g, v, mask, spend)
    if phase == state.PHASE_ROOF:
        return _choose_roof(t, g, v, mask)
    if phase == state.PHASE_DISCARD:
        return _choose_discard(t, p, w, g, v, mask, spend)
    if phase == state.PHASE_END:
        return _choose_end(t, p, w, g, v, mask, v.coat + spend * v.later)
    if phase == state.PHASE_WILD:
        _, cell = best_cell(t, w, v, _legal_cells(mask, t.offset[a.KIND_WILD]))
        return t.offset[a.KIND_WILD] + cell
    if phase == state.PHASE_LIFT:
        _, cell = worst_roof(t, v, _legal_cells(mask, t.offset[a.KIND_LIFT]))
        return t.offset[a.KIND_LIFT] + cell
    return _choose_start(t, p, w, g, v, mask)


@kernel
def choose_batch(tables, parts, weights, spend, states, views, masks, actions):
    """Write the greedy action of every game into `actions`, int64 (B,).

    `spend` is the gain that spending a coat must bring beyond the value of the coat. The arrays of tables, pieces,
    weights and views have one record each.
    """
    for b in range(len(states)):
        actions[b] = _choose(tables[0], parts[0], weights[0], spend, states[b], views[0], masks[b])


@dataclass(frozen=True)
class GreedyWeights:
    """Weights of the evaluation; `helsinki_env.agents.helsinki.weights.Weights` describes the attributes."""

    cell_chance: float = 0.98
    line_patience: float = 3.0
    closed: float = 0.84
    room: float = 0.97
    hole: float = 0.07
    coat: float = 0.21
    coat_patience: float = 0.54
    spend: float = 0.44
    cards_a_turn: float = 0.72
    hand_patience: float = 3.0
    card: float = 0.068
    wild_card: float = 0.36
    best_plan: float = 0.22
    other_plans: float = 0.045
    short: float = 0.3
    bonus_card: float = 0.26
    extra_card: float = 0.54
    kept_card: float = 0.35
    tempo: float = 0.68
    crosswalk: float = 0.051


#: Neutral values of the heuristic's other weights: the simplest curves, and tiles placed together with their
#: superstructures.
_NEUTRAL = {
    "last_turn": 0.5,
    "hurry": 0.0,
    "line_onset": 1.0,
    "line_depth": 1.0,
    "lonely": 1.0,
    "cell": 0.0,
    "roof": 0.0,
    "coat_onset": 1.0,
    "hand_onset": 1.0,
    "far": 1.0,
    "clash": 1.0,
    "apart": 0.0,
}


class GreedyPlayer:
    """Deterministic player with a one-turn look-ahead.

    Args:
        config: game configuration; only its component file is used.
        weights: weights of the evaluation.
    """

    name = "greedy"

    def __init__(self, config: HelsinkiConfig | None = None, weights: GreedyWeights | None = None) -> None:
        self.config = config or HelsinkiConfig()
        self.weights = weights or GreedyWeights()
        values = asdict(self.weights) | _NEUTRAL | {"spend": 0.0}  # `spend` is a separate argument
        self._record = weights_record(heuristic.Weights(**values))

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return the action for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, _ = validate_inputs(self.config, observation, action_mask, keys)
        actions, free = forced_and_open(action_mask)
        states, masks, chosen = states[free], action_mask[free], actions[free]
        # Allocate scratch memory for each call, because several threads may use one player.
        views, tables, parts = new_views(1), self.config.tables, piece_table(self.config)
        choose_batch(tables, parts, self._record, float(self.weights.spend), states, views, masks, chosen)
        # It chooses among all legal actions, some of which the mask may omit.
        omitted = masks[np.arange(len(chosen)), chosen] == 0
        actions[free] = np.where(omitted, masks.argmax(axis=1), chosen)
        return actions

"""Look-ahead of the heuristic: how the next turn affects the action values of this one.

`helsinki_env.agents.helsinki.decide` evaluates a turn by the resulting board and hand. This module applies every
promising use of the turn to a copy of the game and finds the best next turn from there. That turn depends on the cards
then in the display, the spaces within reach, and the tiles that still fit. Opponents' actions in between are ignored.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board import corner_of, tile_gain
from helsinki_env.agents.helsinki.board_view import analyze_board, first_reachable_side, read_hand
from helsinki_env.agents.helsinki.cards import (
    analyze_cards,
    best_build,
    build_value,
    draw_value,
    hold_pair,
    release_pair,
    restore_hand,
    save_hand,
    take_color,
)
from helsinki_env.agents.helsinki.decide import best_legal, has_alternatives, select_action
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.bits import bit
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.bits import CELLS
from helsinki_env.games.helsinki.state import PHASE_MAIN, PHASE_MOVE, PHASE_PLACE, PHASE_WILD


@kernel
def _next_turn(t, p, w, g, v, space):
    """Return the value of the best next turn of a token on `space`, including the remaining hand."""
    analyze_cards(t, p, w, g, v, first_reachable_side(space))
    best = ILLEGAL_VALUE
    for steps in range(1, 4):
        to = (space + steps) % 8
        draw = draw_value(t, p, w, g, v, to)
        for slot in ((to + 7) % 8, to):
            if g.display[slot] < 0 and g.pile_size > 0:  # the slot will be refilled with an unknown card
                draw += w.unseen * v.later
        best = max(best, draw)
    for steps in range(1, 4):
        to = (space + steps) % 8
        build, _ = best_build(t, p, w, g, v, to // 2, first_reachable_side(to), v.meadow, best)
        best = max(best, build)
    return best


@kernel
def _draw_ahead(t, p, w, g, v, work, space):
    """Return the value of drawing next to a space plus the value of the best next turn."""
    work[0] = g
    later = work[0]
    hold_pair(t, g, v, space)
    later.display[(space + 7) % 8] = -1
    later.display[space] = -1
    now = v.later
    v.later = v.later_drawn
    value = _next_turn(t, p, w, later, v, space) - v.loss_drawn
    v.later = now
    release_pair(t, g, v, space)
    return value


@kernel
def _after_tile(t, p, w, later, u, kind, cells, space):
    """Return the value of the best next turn after building a tile (-1 for a wild tile) on `cells`.

    The game record `later` is modified.
    """
    seat = later.seat
    later.built[seat] |= cells
    for coat in range(8):
        if (later.coats[seat] >> coat) & 1 and t.coat_cells[coat] & cells:
            later.coats[seat] &= ~np.uint8(1 << coat)
            later.meadow[seat] += 1
    u.of_built = -1  # a tile of another color may have led to the same board
    analyze_board(t, w, later, seat, u)
    read_hand(t, later, seat, u)
    if kind >= 0:
        u.tiles[kind // 4] |= cells
    return _next_turn(t, p, w, later, u, space)


@kernel
def _build_ahead(t, p, w, g, v, u, work, card, space):
    """Return the value of building a card from the side of a space plus the value of the best next turn.

    `u`: a second view, for the board with the new tile. Return `ILLEGAL_VALUE` if building the card costs a coat.
    """
    seat, side, kind = g.seat, space // 2, np.int64(t.kind[card])
    gain = tile_gain(t, p, w, g, v, card, side)
    if gain <= ILLEGAL_VALUE:
        return ILLEGAL_VALUE
    work[0] = g
    later = work[0]
    number = np.int64(t.number[card]) - 1
    save_hand(v)
    taken = take_color(t, v, card, number)
    for i in range(v.held_count):
        later.hand[seat, v.held[i]] = v.hand[v.held[i]]
    restore_hand(v)
    if taken < number:
        return ILLEGAL_VALUE
    later.supply[kind] -= 1
    return gain + _after_tile(t, p, w, later, u, kind, v.cells[kind, side], space)


@kernel
def _space_ahead(t, p, w, g, v, u, work, space):
    """Return how considering the next turn changes the value of a turn from a space."""
    side, first = space // 2, first_reachable_side(space)
    analyze_cards(t, p, w, g, v, first)
    plain, _ = best_build(t, p, w, g, v, side, first, v.meadow, ILLEGAL_VALUE)
    plain = max(plain, draw_value(t, p, w, g, v, space))
    best = ILLEGAL_VALUE
    for i in range(v.held_count):
        card = v.held[i]
        if card < t.types - 1:
            value = build_value(t, p, w, g, v, card, side, first, v.meadow, ILLEGAL_VALUE)
            if value > plain - w.doubt:
                best = max(best, _build_ahead(t, p, w, g, v, u, work, card, space))
    return max(best, _draw_ahead(t, p, w, g, v, work, space)) - plain


@kernel
def _moves_ahead(t, p, w, g, v, u, work, mask, values):
    """MOVE: correct the value of each space; moves that cost a coat get the correction of the best space."""
    move, token = t.offset[a.KIND_MOVE], np.int64(g.token[g.seat])
    best, default = ILLEGAL_VALUE, 0.0
    for steps in range(1, 7):
        way = move + steps - 1
        if mask[way]:
            change = w.ahead * _space_ahead(t, p, w, g, v, u, work, (token + steps) % 8)
            values[way] += change
            if values[way] > best:
                best, default = values[way], change
    for action in range(t.offset[a.KIND_USE], t.offset[a.KIND_USE] + 15):
        values[action] += default


@kernel
def _main_ahead(t, p, w, g, v, u, work, mask, values):
    """MAIN: correct the values of drawing and of promising builds; board actions are corrected like drawing."""
    draw, build = t.offset[a.KIND_DRAW], t.offset[a.KIND_BUILD]
    token = np.int64(g.token[g.seat])
    side, first = token // 2, first_reachable_side(token)
    default = w.ahead * (_draw_ahead(t, p, w, g, v, work, token) - draw_value(t, p, w, g, v, token))
    highest = values[draw]
    for card in range(t.types - 1):
        highest = max(highest, values[build + card])
    values[draw] += default
    for action in range(t.offset[a.KIND_USE], t.offset[a.KIND_USE] + 15):
        values[action] += default
    analyze_cards(t, p, w, g, v, first)
    for i in range(v.held_count):
        card = v.held[i]
        if card == t.types - 1 or not mask[build + card]:
            continue
        change = default
        if values[build + card] > highest - w.doubt:
            value = build_value(t, p, w, g, v, card, side, first, v.meadow, ILLEGAL_VALUE)
            ahead = _build_ahead(t, p, w, g, v, u, work, card, token)
            if ahead > ILLEGAL_VALUE:
                change = w.ahead * (ahead - value)
        values[build + card] += change


@kernel
def _placements_ahead(t, p, w, g, v, u, work, mask, values):
    """PLACE: correct the value of each promising placement by its effect on the next turn."""
    place, kind = t.offset[a.KIND_PLACE], np.int64(t.kind[g.card])
    space = np.int64(g.token[g.seat])
    highest = values[best_legal(values, mask, 0, len(mask))]
    least = 1e9
    for argument in range(4 * a.ORIENTATIONS * a.LANES):
        action = place + argument
        if mask[action] and values[action] > highest - w.doubt:
            side, piece = argument // (a.ORIENTATIONS * a.LANES), 8 * kind + argument // a.LANES % a.ORIENTATIONS
            cells = np.int64(t.roofs_mask[piece]) << corner_of(p, v, piece, side, argument % a.LANES)
            work[0] = g
            change = w.ahead_place * _after_tile(t, p, w, work[0], u, kind, cells, space)
            least = min(least, change)
            values[action] += change
    for action in range(place, place + 4 * a.ORIENTATIONS * a.LANES):
        if mask[action] and values[action] <= highest - w.doubt:
            values[action] += least
    values[t.offset[a.KIND_USE] + a.ANY_SIDE] += least


@kernel
def _cells_ahead(t, p, w, g, v, u, work, mask, values):
    """WILD: correct the value of each promising cell by its effect on the next turn."""
    wild = t.offset[a.KIND_WILD]
    highest = values[best_legal(values, mask, 0, len(mask))]
    for cell in range(CELLS):
        if mask[wild + cell]:
            if values[wild + cell] > highest - w.doubt:
                work[0] = g
                space = np.int64(g.token[g.seat])
                values[wild + cell] += w.ahead_place * _after_tile(t, p, w, work[0], u, -1, bit(cell), space)
            else:
                values[wild + cell] = ILLEGAL_VALUE


@kernel
def select_action_lookahead(t, p, w, g, v, u, work, mask, values):
    """Return the best action like `select_action`, with look-ahead for moves, drawing or building, and placements.

    Scratch: `u`, a second view, and `work`, an array of one record.
    """
    ahead = w.ahead > 0.0 and not g.last_round
    chosen = select_action(t, p, w, g, v, mask, values, ahead)
    if not ahead or not has_alternatives(mask):
        return chosen
    if g.phase == PHASE_MOVE:
        _moves_ahead(t, p, w, g, v, u, work, mask, values)
    elif g.phase == PHASE_MAIN and not g.only_build:
        _main_ahead(t, p, w, g, v, u, work, mask, values)
    elif g.phase == PHASE_PLACE:
        _placements_ahead(t, p, w, g, v, u, work, mask, values)
    elif g.phase == PHASE_WILD:
        _cells_ahead(t, p, w, g, v, u, work, mask, values)
    else:
        return chosen
    return best_legal(values, mask, 0, len(mask))

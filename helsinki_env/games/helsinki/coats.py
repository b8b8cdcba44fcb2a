"""The fifteen board actions, which are paid for with coats of arms (rules page, sections 1 and 3)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.actions import (
    ANY_CARD_AS_WILD,
    ANY_SIDE,
    DRAW_AND_BUILD,
    EXTRA_CARD,
    EXTRA_SUPERSTRUCTURE,
    MOVE_1_TO_5,
    MOVE_1_TO_6,
    MOVE_BACK,
    MOVE_SUPERSTRUCTURE,
    NO_HAND_LIMIT,
    ONE_CARD_FEWER,
    ONE_WILD_TILE,
    SECOND_PAVILION,
    TWO_POINTS,
    TWO_WILD_TILES,
)
from helsinki_env.games.helsinki.bits import neighbors
from helsinki_env.games.helsinki.build import begin_roofs, cover, free_roofs, last_tile, one_card_fewer
from helsinki_env.games.helsinki.draw import draw_cards
from helsinki_env.games.helsinki.state import PHASE_LIFT, PHASE_MAIN, PHASE_ROOF, PHASE_WILD


@kernel
def usable_actions(t, g, seat):
    """Return the set of affordable board actions that are not used, covered or denied."""
    affordable = np.int64(t.affordable[np.uint8(g.meadow[seat])])
    if affordable == 0:  # the common case: an empty meadow and no free board action
        return affordable
    return affordable & ~(np.int64(g.used[seat]) | np.int64(g.denied[seat]) | np.int64(g.covered))


@kernel
def wild_cells(t, g, seat):
    """Return the empty cells next to a pavilion or wild tile (being next to the statue is not enough)."""
    return neighbors(g.built[seat] & ~t.statue) & ~g.built[seat]


@kernel
def can_move_superstructure(t, g, seat):
    """Return whether there is a superstructure to lift and another free roof for it."""
    return g.superstructures[seat] != 0 and free_roofs(t, g, seat) != 0


@kernel
def use(t, g, action):
    """Pay for a board action and apply its immediate effect."""
    seat, strength = g.seat, np.int64(t.strengths[action])
    g.meadow[seat] -= t.costs[action]
    g.used[seat] |= 1 << action
    if action == MOVE_1_TO_6 or action == MOVE_1_TO_5:
        g.move = strength
    elif action == MOVE_BACK:
        g.token[seat] = (np.int64(g.token[seat]) + 8 - strength) % 8
        g.phase = PHASE_MAIN
    elif action == EXTRA_CARD:
        draw_cards(t, g, seat, strength)
        g.drew = 1
    elif action == DRAW_AND_BUILD or action == SECOND_PAVILION:
        g.phase = PHASE_MAIN
        g.only_build = 1
    elif action == ONE_CARD_FEWER:
        one_card_fewer(t, g)
    elif action == ANY_CARD_AS_WILD:
        g.substitute = 1
    elif action == ANY_SIDE:
        g.any_side = 1
    elif action == NO_HAND_LIMIT:
        g.limit_lifted[seat] = 1
        g.lifted_now = 1
    elif action == TWO_POINTS:
        g.points[seat] += strength
    elif action == ONE_WILD_TILE or action == TWO_WILD_TILES:
        _begin(g, action, PHASE_WILD)
        g.wilds_left = min(strength, np.int64(g.wild_supply))
    elif action == MOVE_SUPERSTRUCTURE:
        _begin(g, action, PHASE_LIFT)
    elif action == EXTRA_SUPERSTRUCTURE:
        free = last_tile(t, g, seat) & ~g.superstructures[seat]
        begin_roofs(g, min(strength, np.int64(g.superstructure_supply), popcount(free)))
        g.action = action


@kernel
def _begin(g, action, phase):
    g.action = action
    g.resume = g.phase
    g.phase = phase


@kernel
def resume_phase(g):
    """Return to the phase that WILD, LIFT or ROOF interrupted."""
    g.phase = g.resume
    g.resume = 0
    g.action = -1


@kernel
def place_wild(t, g, cell):
    """WILD: put a wild tile on a cell; if no legal cell is left, the remaining wild tiles are lost."""
    seat = g.seat
    g.wild[seat] |= bit(cell)
    g.wild_supply -= 1
    g.wilds_left -= 1
    cover(t, g, seat, bit(cell))
    if g.wilds_left > 0 and wild_cells(t, g, seat) == 0:
        g.wilds_left = 0
    if g.wilds_left == 0:
        resume_phase(g)


@kernel
def lift(g, cell):
    """LIFT: take a superstructure from a roof to move it."""
    g.superstructures[g.seat] &= ~bit(cell)
    g.lifted = cell
    g.phase = PHASE_ROOF
    g.roofs_left = 1


@kernel
def roof(g, cell):
    """ROOF: put the lifted superstructure, or one from the supply, on a roof."""
    g.superstructures[g.seat] |= bit(cell)
    if g.lifted >= 0:
        g.lifted = -1
    else:
        g.superstructure_supply -= 1
        g.last_roof = cell
    g.roofs_left -= 1
    if g.roofs_left == 0:
        g.last_roof = -1
        resume_phase(g)

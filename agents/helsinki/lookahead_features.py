"""Look-ahead features for a network: what a seat could draw, build and use in its next turn.

A position says little about the next turn, and computing it takes geometry and arithmetic that a network would have to
learn. The heuristic values drawing next to every space, building from every side, and the board actions that add to the
board, with the present hand. Opponents' actions in between are ignored.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board import best_wilds, wilds_gain
from helsinki_env.agents.helsinki.board_view import ILLEGAL_VALUE
from helsinki_env.agents.helsinki.cards import analyze_cards, best_build, draw_value, hand_value
from helsinki_env.agents.helsinki.cells import first_reachable_side
from helsinki_env.agents.helsinki.roofs import best_roof, roofs_worth, worst_roof
from helsinki_env.agents.net.features import FeatureSpec
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.build import free_roofs, last_tile
from helsinki_env.games.helsinki.components import COLOURS

__all__ = ["next_turn_parts", "write_next_turn"]

_COLOURS = len(COLOURS)
#: Gains are encoded in eighths of a point.
_UNIT = 8.0
#: Reach of a token without a coat of arms: number of spaces, and number of sides from there.
_SPACES, _SIDES = 3, 2
_DRAWING, _BUILDING, _CAN_BUILD, _PLANS, _ACTIONS, _GAIN, LEAD = range(7)


def next_turn_parts(types: int) -> tuple[FeatureSpec, ...]:
    """Return the look-ahead features of a seat, in order; they follow the other features of the seat."""
    return (
        FeatureSpec("gain of drawing, by space from the token on", 8, 2.0 * _UNIT),
        FeatureSpec("gain of building, by side from the token on", 4, 2.0 * _UNIT),
        FeatureSpec("can build, by side from the token on", 4),
        FeatureSpec("plans by colour", _COLOURS, 2.0 * _UNIT),
        FeatureSpec("gain of wild tiles and superstructures", 4, 2.0 * _UNIT),
        FeatureSpec("gain of the next turn", 1, 2.0 * _UNIT),
        FeatureSpec("lead in expected points after the next turn", 1, 4.0),  # in halves, as without the next turn
    )


@kernel
def _eighths(points):
    return np.int8(min(127, max(-127, np.int64(round(_UNIT * points)))))


@kernel
def _write_actions(t, w, g, v, seat, begin, out):
    """Write the gains of the board actions that put something onto the board, if they were free."""
    if (v.usable >> a.ONE_WILD_TILE) & 1 or (v.usable >> a.TWO_WILD_TILES) & 1:
        one, two = best_wilds(t, w, v)
        for place, action in enumerate((a.ONE_WILD_TILE, a.TWO_WILD_TILES)):
            if (v.usable >> action) & 1:
                number = min(t.strengths[action], np.int64(g.wild_supply))
                if number > 0:
                    out[begin + place] = _eighths(max(0.0, wilds_gain(t, w, v, number, one, two)))
    if (v.usable >> a.EXTRA_SUPERSTRUCTURE) & 1 and g.tile_count[seat] > 0:
        number = min(t.strengths[a.EXTRA_SUPERSTRUCTURE], np.int64(g.superstructure_supply))
        gain = roofs_worth(t, v, last_tile(t, g, seat) & ~v.standing, number, w.roof * v.later)
        out[begin + 2] = _eighths(max(0.0, gain))
    if (v.usable >> a.MOVE_SUPERSTRUCTURE) & 1 and v.standing:
        best, _ = best_roof(t, v, free_roofs(t, g, seat))
        worst, _ = worst_roof(t, v, v.standing)
        out[begin + 3] = _eighths(max(0.0, best - worst))


@kernel
def write_next_turn(t, p, w, g, v, seat, at, out):
    """Write the `next_turn_parts` except the lead; return the gain of the best next turn, in points.

    `v`: view of the seat, as left by `helsinki_env.agents.helsinki.evaluation.expected_points`. `at`: offsets of the
    features, in order. `out`: features of the seat.
    """
    token = np.int64(g.token[seat])
    if token < 0 or g.done:
        return 0.0
    first = first_reachable_side(token)
    held = hand_value(t, p, w, g, v, first)
    if v.later > 0.0:
        for colour in range(v.colours):
            plan = at[_PLANS] + np.int64(t.colour[v.held[v.begins[colour]]])
            out[plan] = _eighths(v.plans[colour] * v.later)
    best = 0.0
    analyze_cards(t, p, w, g, v, first)
    for turn in range(4):
        value, card = best_build(t, p, w, g, v, (first + turn) % 4, first, v.meadow, ILLEGAL_VALUE)
        if card >= 0:
            out[at[_BUILDING] + turn] = _eighths(value - held)
            out[at[_CAN_BUILD] + turn] = 1
            if turn < _SIDES:
                best = max(best, value - held)
    for ahead in range(8):
        gain = draw_value(t, p, w, g, v, (token + 1 + ahead) % 8) - held
        out[at[_DRAWING] + ahead] = _eighths(gain)
        if ahead < _SPACES:
            best = max(best, gain)
    _write_actions(t, w, g, v, seat, at[_ACTIONS], out)
    out[at[_GAIN]] = _eighths(best)
    return best

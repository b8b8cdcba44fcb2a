"""Evaluation of a seat's whole position in points, and win probabilities from it, for the end of a short playout.

The value is the sum to which the actions of `helsinki_env.agents.helsinki.decide` add: points made, expected lines and
superstructures, and for later turns the hand, coats of arms and cells. Win probabilities follow from a logistic model
(Bradley and Terry 1952; Luce 1959 for more than two players). The value of a lead grows as the turns run out.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents.helsinki.board_view import analyze_board, read_hand, roof_value
from helsinki_env.agents.helsinki.cards import hand_value
from helsinki_env.agents.helsinki.cells import first_reachable_side
from helsinki_env.agents.helsinki.transposition import view_index
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.bits import BOARD
from helsinki_env.games.helsinki.score import rank_of, score

__all__ = ["expected_points", "write_win_probabilities"]


@kernel
def expected_points(t, p, w, g, seat, v):
    """Return the expected points of a seat at the end of the game."""
    analyze_board(t, w, g, seat, v)
    read_hand(t, g, seat, v)
    total = np.float64(g.points[seat])
    for line in range(7):
        total += (t.points_row + w.room) * v.chance[0, line, 0] + (t.points_column + w.room) * v.chance[1, line, 0]
    standing = v.standing
    while standing:
        total += roof_value(t, v, lowest_bit(standing), 0, 0) + w.roof * v.later
        standing &= standing - 1
    total += w.cell * v.later * popcount(v.built) - w.hole * v.later * popcount(BOARD & ~v.built & ~v.reach)
    total += v.coat * v.meadow
    return total + hand_value(t, p, w, g, v, first_reachable_side(np.int64(g.token[seat])))


@kernel
def write_win_probabilities(t, p, weights, g, views, lead, lead_growth, shares):
    """Write every seat's win probability, float64 (4,), with sum 1.

    `lead`: points per unit of the logistic model in the last turn; `lead_growth`: its growth with the square root of
    the turns left.
    """
    players = np.int64(g.players)
    highest = -1e9
    turns = 0.0
    for seat in range(players):
        if g.done:
            shares[seat] = np.float64(score(t, g, seat)) - 0.5 * rank_of(t, g, seat)
        else:
            v = views[view_index(weights[seat], g, seat, views)]
            shares[seat] = expected_points(t, p, weights[seat], g, seat, v)
            turns = v.turns
        highest = max(highest, shares[seat])
    unit = lead + lead_growth * math.sqrt(turns)
    total = 0.0
    for seat in range(players):
        shares[seat] = math.exp((shares[seat] - highest) / unit)
        total += shares[seat]
    for seat in range(players):
        shares[seat] /= total

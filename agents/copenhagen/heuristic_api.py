"""Copenhagen's position evaluation, and its implementation of the interface `helsinki_env.agents.heuristic_api`.

The value of a position is the sum to which the actions of `helsinki_env.agents.copenhagen.decide` add: points made,
expected lines, and for later turns the hand, abilities and cells. Win probabilities follow from a logistic model
(Bradley and Terry 1952; Luce 1959 for more than two players). The value of a lead grows as the turns run out.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.copenhagen.board_view import VIEW_DTYPE, analyze_board, new_views, piece_table, reset_view
from helsinki_env.agents.copenhagen.decide import select_action
from helsinki_env.agents.copenhagen.hand import analyze_hand, hand_value, owned_worth
from helsinki_env.agents.copenhagen.weights import QUICK, Weights
from helsinki_env.agents.heuristic_api import points_to_probabilities
from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.score import rank_of, score
from helsinki_env.games.copenhagen.state import GAME


@kernel
def board_worth(w, g, seat, v):
    """Return points made and expected of a seat with an analyzed board, and the later value of the board."""
    total = np.float64(g.points[seat]) + v.expected + w.cell * popcount(v.filled)
    total -= w.overhang * v.later * v.overhangs
    for colour in range(5):
        total += v.touch[popcount(v.near[colour])]
    return total + owned_worth(w, g, seat, v)


@kernel
def expected_points(t, p, w, g, seat, v):
    """Return the expected points of a seat at the end of the game; the final points once it is over."""
    if g.done:
        return np.float64(score(t, g, seat))
    analyze_board(t, w, g, seat, v)
    analyze_hand(t, p, w, g, seat, v)
    pending = v.coat * g.rewards if seat == g.seat else 0.0
    return board_worth(w, g, seat, v) + hand_value(w, v) + pending


@kernel
def _share_victory(t, g, shares):
    """Rules, section 4: a shared victory counts as an equal share of one win."""
    winners = np.int64(0)
    for seat in range(g.players):
        winners += rank_of(t, g, seat) == 0
    for seat in range(g.players):
        if rank_of(t, g, seat) == 0:
            shares[seat] = 1.0 / winners


@kernel
def write_win_probabilities(t, p, weights, g, views, lead, lead_growth, shares):
    """Write every seat's win probability, float64 (4,), with sum 1.

    `lead`: points per unit of the logistic model in the last turn; `lead_growth`: its growth with the square root of
    the turns left.
    """
    players = np.int64(g.players)
    for seat in range(4):
        shares[seat] = 0.0
    if g.done:
        _share_victory(t, g, shares)
        return
    for seat in range(players):
        shares[seat] = expected_points(t, p, weights[seat], g, seat, views[seat])
    points_to_probabilities(shares, players, lead + lead_growth * math.sqrt(views[0].turns))


@kernel
def select_action_lookahead(t, p, w, g, v, u, work, mask, values):
    """Return the same as `select_action`: look-ahead did not improve the tuned weights."""
    return select_action(t, p, w, g, v, mask, values, False)


heuristic_api.reset_view.implements(VIEW_DTYPE, reset_view)
heuristic_api.select_action.implements(GAME, select_action)
heuristic_api.select_action_lookahead.implements(GAME, select_action_lookahead)
heuristic_api.write_win_probabilities.implements(GAME, write_win_probabilities)

HEURISTIC = heuristic_api.Heuristic(Weights(), QUICK, piece_table, new_views)

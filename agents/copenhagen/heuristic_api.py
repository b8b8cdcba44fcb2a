"""Copenhagen's position evaluation, and its implementation of `helsinki_env.agents.heuristic_api`.

The value of a position is the sum of the points scored, the expected lines and, for later turns, the hand, abilities
and cells. `helsinki_env.agents.copenhagen.decide` values actions by their contribution to this sum. Win probabilities
follow from a logistic model (Bradley and Terry 1952; Luce 1959 for more than two players). A lead is worth more when
fewer turns are left.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.copenhagen.board_view import VIEW_DTYPE, analyze_board, new_views, piece_table, reset_view
from helsinki_env.agents.copenhagen.decide import select_action
from helsinki_env.agents.copenhagen.hand import analyze_hand, hand_value, owned_worth
from helsinki_env.agents.copenhagen.weights import QUICK, Weights
from helsinki_env.agents.heuristic_api import final_win_probability, points_to_probabilities
from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.score import score
from helsinki_env.games.copenhagen.state import GAME


@kernel
def board_worth(w, g, seat, v):
    """Return a seat's points scored and expected plus the later value of its board, which must be analyzed."""
    total = np.float64(g.points[seat]) + v.expected + w.cell * popcount(v.filled)
    total -= w.overhang * v.later * v.overhangs
    for colour in range(5):
        total += v.touch[popcount(v.near[colour])]
    return total + owned_worth(w, g, seat, v)


@kernel
def expected_points(t, p, w, g, seat, v):
    """Return a seat's expected points at the end of the game, or its final points if the game is over."""
    if g.done:
        return np.float64(score(t, g, seat))
    analyze_board(t, w, g, seat, v)
    analyze_hand(t, p, w, g, seat, v)
    pending = v.coat * g.rewards if seat == g.seat else 0.0
    return board_worth(w, g, seat, v) + hand_value(w, v) + pending


@kernel
def write_win_probabilities(t, p, weights, g, views, lead, lead_growth, shares):
    """Write every seat's win probability, float64 (4,); they sum to 1.

    The logistic model has `lead` + `lead_growth` * sqrt(turns left) points per unit.
    """
    players = np.int64(g.players)
    for seat in range(4):
        shares[seat] = 0.0
    if g.done:
        for seat in range(players):
            shares[seat] = final_win_probability(t, g, seat)
        return
    for seat in range(players):
        shares[seat] = expected_points(t, p, weights[seat], g, seat, views[seat])
    points_to_probabilities(shares, players, lead + lead_growth * math.sqrt(views[0].turns))


@kernel
def select_action_lookahead(t, p, w, g, v, u, work, mask, values):
    """Return the result of `select_action`, because look-ahead did not improve play with the tuned weights."""
    return select_action(t, p, w, g, v, mask, values, False)


heuristic_api.reset_view.implements(VIEW_DTYPE, reset_view)
heuristic_api.select_action.implements(GAME, select_action)
heuristic_api.select_action_lookahead.implements(GAME, select_action_lookahead)
heuristic_api.write_win_probabilities.implements(GAME, write_win_probabilities)

HEURISTIC = heuristic_api.Heuristic(Weights(), QUICK, piece_table, new_views)

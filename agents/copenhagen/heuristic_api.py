"""Copenhagen's heuristic as a guide for players of any game (`helsinki_env.agents.heuristic_api`)."""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.copenhagen.board_view import VIEW_DTYPE, analyze_board, new_views, piece_table, reset_view
from helsinki_env.agents.copenhagen.decide import select_action
from helsinki_env.agents.copenhagen.hand import analyze_hand, hand_value, owned_worth
from helsinki_env.agents.copenhagen.weights import QUICK, Weights
from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.score import rank_of, score
from helsinki_env.games.copenhagen.state import GAME

__all__ = ["HEURISTIC", "expected_points"]


@kernel
def board_worth(w, g, seat, v):
    """Points made and expected, with what the board is good for later, of a seat whose board has been judged."""
    total = np.float64(g.points[seat]) + v.expected + w.cell * popcount(v.filled)
    total -= w.overhang * v.later * v.overhangs
    for colour in range(5):
        total += v.touch[popcount(v.near[colour])]
    return total + owned_worth(w, g, seat, v)


@kernel
def expected_points(t, p, w, g, seat, v):
    """Expected points of a seat at the end of the game; those that it has once the game is over."""
    if g.done:
        return np.float64(score(t, g, seat))
    analyze_board(t, w, g, seat, v)
    analyze_hand(t, p, w, g, seat, v)
    pending = v.coat * g.rewards if seat == g.seat else 0.0
    return board_worth(w, g, seat, v) + hand_value(w, v) + pending


@kernel
def _share_victory(t, g, shares):
    """Section 4: a shared victory counts as an equal share of one win."""
    winners = np.int64(0)
    for seat in range(g.players):
        winners += rank_of(t, g, seat) == 0
    for seat in range(g.players):
        if rank_of(t, g, seat) == 0:
            shares[seat] = 1.0 / winners


@kernel
def write_win_probabilities(t, p, weights, g, views, lead, lead_growth, shares):
    """Write every seat's share of the win, float64 (4,), which add up to 1.

    Once the game is over those in the first place share it equally (rules, section 4).

    `lead`: points that make one unit of the logistic model in the last turn; `lead_growth`: how much that grows with
    the square root of the turns left.
    """
    players = np.int64(g.players)
    for seat in range(4):
        shares[seat] = 0.0
    if g.done:
        _share_victory(t, g, shares)
        return
    highest = -1e9
    for seat in range(players):
        shares[seat] = expected_points(t, p, weights[seat], g, seat, views[seat])
        highest = max(highest, shares[seat])
    unit = lead + lead_growth * math.sqrt(views[0].turns)
    total = 0.0
    for seat in range(players):
        shares[seat] = math.exp((shares[seat] - highest) / unit)
        total += shares[seat]
    for seat in range(players):
        shares[seat] /= total


@kernel
def select_action_lookahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision as `select_action` does: looking ahead made the tuned weights no stronger."""
    return select_action(t, p, w, g, v, mask, values, False)


heuristic_api.reset_view.implements(VIEW_DTYPE, reset_view)
for _word, _stated in (
    (heuristic_api.select_action, select_action),
    (heuristic_api.select_action_lookahead, select_action_lookahead),
    (heuristic_api.write_win_probabilities, write_win_probabilities),
):
    _word.implements(GAME, _stated)

HEURISTIC = heuristic_api.Heuristic(Weights(), QUICK, piece_table, new_views)

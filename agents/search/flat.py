"""Flat Monte Carlo: simulate every action in the same determinizations, and repeatedly drop the worse half.

Method: sequential halving (Karnin, Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits"; in game
search: Pepels et al. 2014, "Minimizing simple and cumulative regret in Monte-Carlo tree search") over determinizations
of the hidden cards (Ginsberg 2001, "GIB: imperfect information in a computationally challenging game"). All remaining
actions share the determinizations, so that the luck of the draw does not favor any of them. If the budget is too small
for all actions, the heuristic selects the candidates.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, final_win_probability, select_action, view_index
from helsinki_env.agents.search.workspace import determinize_trial, playout_and_evaluate, reset_views
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import GOLDEN


@kernel
def _rank(arms, values, count):
    """Sort the first `count` actions by value, best first (insertion sort, because they are few and nearly sorted)."""
    for i in range(1, count):
        arm, value = arms[i], values[i]
        at = i
        while at > 0 and values[at - 1] < value:
            arms[at] = arms[at - 1]
            values[at] = values[at - 1]
            at -= 1
        arms[at] = arm
        values[at] = value


@kernel
def _write_candidates(ws, g, legal, budget):
    """Write the candidates to the workspace, the heuristic's best first; return their number."""
    t, p, s, seat = ws.tables[0], ws.pieces[0], ws.settings[0], g.seat
    w = ws.weights[seat]
    v = ws.views[view_index(w, g, seat, ws.views)]
    select_action(t, p, w, g, v, legal, ws.values, True)
    count = 0
    for action in range(len(legal)):
        if legal[action]:
            ws.arms[count] = action
            ws.worths[count] = ws.values[action]
            count += 1
    _rank(ws.arms, ws.worths, count)
    count = min(count, max(2, int(s.arms * math.sqrt(np.float64(budget)))))
    unit = s.lead + s.lead_growth * math.sqrt(v.turns)
    for i in range(count):
        behind = max(ws.worths[i] - ws.worths[0], 1e-3 * ILLEGAL_VALUE)
        # When chances are nearly even, one unit of lead changes the win probability by 1/4.
        ws.totals[ws.arms[i]] = s.trust * 0.25 * behind / unit
    return count


@kernel
def _simulate(ws, g, key, count, won, trials):
    """Simulate the first `count` candidates in the same determinization."""
    determinize_trial(ws, g, key)
    for i in range(count):
        arm = ws.arms[i]
        ws.trial[0] = ws.deal[0]
        apply_action(ws.tables[0], ws.trial[0], arm)
        playout_and_evaluate(ws, g.seat)
        ws.totals[arm] += ws.shares[g.seat]
        trials[arm] += 1
        # The shares of a finished game also depend on the margin, which makes better actions but is no probability.
        ended = ws.trial[0].done
        for seat in range(g.players):
            won[arm, seat] += final_win_probability(ws.tables[0], ws.trial[0], seat) if ended else ws.shares[seat]


@kernel
def _choose(ws, g, legal, key, budget, won, trials):
    """Return the action of the seat to move in `g`, a state reconstructed from its observation."""
    count = _write_candidates(ws, g, legal, budget)
    halvings = np.int64(math.ceil(math.log2(max(1, count))))
    left = budget
    while count > 1 and left > 0:
        deals = max(1, left // (count * halvings))
        halvings = max(1, halvings - 1)
        for _ in range(deals):
            key = key + GOLDEN
            _simulate(ws, g, key, count, won, trials)
            left -= count
        for i in range(count):
            ws.worths[i] = ws.totals[ws.arms[i]]
        _rank(ws.arms, ws.worths, count)
        count = (count + 1) // 2
    return ws.arms[0]


@kernel
def flat_batch(ws, states, masks, keys, budget, deals, actions, won, trials):
    """Write the action for every state to `actions`, int64 (B,), or simulate `actions` if `deals` is not 0.

    `masks`: int8 (B, ids); `keys`: random keys, uint64 (B,); `budget`: simulations per action; `deals`: number of
    determinizations of each given action. Adds the number of simulations of each action to `trials`, int64 (ids,), and
    every seat's win probabilities to `won`, float64 (ids, 4).
    """
    for b in range(len(states)):
        g, key = states[b], keys[b]
        reset_views(ws, key)
        if deals == 0:
            actions[b] = _choose(ws, g, masks[b], key, budget, won, trials)
        ws.arms[0] = actions[b]
        for _ in range(deals):
            key = key + GOLDEN
            _simulate(ws, g, key, 1, won, trials)

"""Flat Monte Carlo: every decision is tried in the same deals, and the worse half is dropped again and again.

Method: sequential halving (Karnin, Koren and Somekh 2013, "Almost optimal exploration in multi-armed bandits"; in game
search: Pepels and others 2014, "Minimizing simple and cumulative regret in Monte-Carlo tree search") over deals of the
hidden cards (Ginsberg 2001, "GIB: imperfect information in a computationally challenging game"). All decisions still
in the race are tried in the same deals, so that luck of the cards does not choose between them. The heuristic's order
decides which ones enter the race when there are more than the playouts can tell apart.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, select_action, view_index
from helsinki_env.agents.search.playout import determinize_trial, playout_and_evaluate
from helsinki_env.agents.search.workspace import reset_views
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import GOLDEN

__all__ = ["flat_batch", "simulate_action"]


@kernel
def _rank(arms, worths, count):
    """Sort the first `count` arms, best first (insertion sort: there are few, nearly in order)."""
    for i in range(1, count):
        arm, worth = arms[i], worths[i]
        at = i
        while at > 0 and worths[at - 1] < worth:
            arms[at] = arms[at - 1]
            worths[at] = worths[at - 1]
            at -= 1
        arms[at] = arm
        worths[at] = worth


@kernel
def _enter(desk, g, legal, budget):
    """Put the decisions that enter the race on the desk, the heuristic's favourite first; return how many they are."""
    t, p, s, seat = desk.tables[0], desk.pieces[0], desk.settings[0], g.seat
    w = desk.weights[seat]
    v = desk.views[view_index(w, g, seat, desk.views)]
    select_action(t, p, w, g, v, legal, desk.values, True)
    count = 0
    for action in range(len(legal)):
        if legal[action]:
            desk.arms[count] = action
            desk.worths[count] = desk.values[action]
            count += 1
    _rank(desk.arms, desk.worths, count)
    count = min(count, max(2, int(s.arms * math.sqrt(np.float64(budget)))))
    unit = s.lead + s.lead_growth * math.sqrt(v.turns)
    for i in range(count):
        behind = max(desk.worths[i] - desk.worths[0], 1e-3 * ILLEGAL_VALUE)
        desk.totals[desk.arms[i]] = s.trust * 0.25 * behind / unit  # a share changes by a quarter for each unit of lead
    return count


@kernel
def _try(desk, g, word, count, won, trials):
    """Try the first `count` decisions on the desk in the same deal."""
    determinize_trial(desk, g, word)
    for i in range(count):
        arm = desk.arms[i]
        desk.trial[0] = desk.deal[0]
        apply_action(desk.tables[0], desk.trial[0], arm)
        playout_and_evaluate(desk, g.seat)
        desk.totals[arm] += desk.shares[g.seat]
        trials[arm] += 1
        for seat in range(g.players):
            won[arm, seat] += desk.shares[seat]


@kernel
def _choose(desk, g, legal, word, budget, won, trials):
    """Return the decision of the seat to move in `g`, a game restored from its observation."""
    count = _enter(desk, g, legal, budget)
    halvings = np.int64(math.ceil(math.log2(max(1, count))))
    left = budget
    while count > 1 and left > 0:
        deals = max(1, left // (count * halvings))
        halvings = max(1, halvings - 1)
        for _ in range(deals):
            word = word + GOLDEN
            _try(desk, g, word, count, won, trials)
            left -= count
        for i in range(count):
            desk.worths[i] = desk.totals[desk.arms[i]]
        _rank(desk.arms, desk.worths, count)
        count = (count + 1) // 2
    return desk.arms[0]


@kernel
def flat_batch(desk, states, masks, words, budget, actions, won, trials):
    """Write the decision for every game into `actions`, int64 (B,); `states` are restored from observations.

    `masks` int8 (B, ids): legal decisions; `words` uint64 (B,): random numbers; `budget`: playouts for each decision.
    How often decisions were tried is added to `trials`, int64 (ids,), and every seat's shares of the win after them to
    `won`, float64 (ids, 4).
    """
    for b in range(len(states)):
        reset_views(desk, words[b])
        actions[b] = _choose(desk, states[b], masks[b], words[b], budget, won, trials)


@kernel
def simulate_action(desk, g, action, word, deals, won, trials):
    """Try one decision in the deals that the race begins with; `won` and `trials` as in `flat_batch`."""
    reset_views(desk, word)
    desk.arms[0] = action
    for _ in range(deals):
        word = word + GOLDEN
        _try(desk, g, word, 1, won, trials)

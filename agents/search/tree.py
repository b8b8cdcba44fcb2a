"""Information-set Monte Carlo tree search: one tree over many deals of the hidden cards.

Method: single-observer ISMCTS (Cowling, Powley and Whitehouse 2012, "Information set Monte Carlo tree search"): every
trial deals the cards that the seat cannot see anew and walks down the tree by the decisions that are legal in that
deal. Every seat takes what is best for itself (max-n; Luckhardt and Irani 1986). A node gets more children only as it
is visited more (progressive widening; Coulom 2007, Chaslot and others 2008), the one that the heuristic values most
first; among those there are, the choice follows PUCT (Rosin 2011; Silver and others 2017) with priors from the same
values.
A trial ends in a short playout by the heuristic and a judgement of every seat's share of the win. Decisions without
a choice have no node. The search ends before its budget is spent once no other decision can be expected to be
visited more than the first (Huang, Coulom and Lin 2010, "Time management for Monte-Carlo tree search applied to the
game of Go").

The tree is one flat array of nodes; children of a node are linked through `sibling`.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, select_action, view_index
from helsinki_env.agents.search.playout import determinize_trial, playout_and_evaluate
from helsinki_env.agents.search.workspace import reset_views
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.playout import BLOCK, mask_block
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.vectors import leading_zeros

__all__ = ["NODE", "tree_batch"]

NODE = np.dtype(
    (
        np.record,
        [
            ("total", np.float64, (MAX_SEATS,)),  # shares of the win, summed over the trials that came through
            ("prior", np.float64),  # how likely the heuristic thought the decision when it was added
            ("visits", np.int64),
            ("available", np.int64),  # trials in which the decision could have been taken
            ("action", np.int64),  # the decision that leads here
            ("child", np.int64),  # first child; 0: none
            ("sibling", np.int64),  # next child of the same parent; 0: none
        ],
    )
)
#: So many trials pass before the next look at whether more of them may change the decision.
_LOOK = 8
#: The least prior of a decision, so that none is never tried again.
_LEAST = 0.001


@kernel
def _add(nodes, used, parent, action, prior):
    """Add a child; return its index."""
    node = nodes[used]
    node.total[:] = 0.0
    node.prior = prior
    node.visits = 0
    node.available = 0
    node.action = action
    node.child = 0
    node.sibling = nodes[parent].child
    nodes[parent].child = used
    return used


@kernel
def _select(nodes, parent, seat, mask, explore):
    """Return (best of the children that are legal in this deal, how many of them there are)."""
    best, chosen, legal = -1.0, np.int64(0), np.int64(0)
    child = nodes[parent].child
    while child:
        node = nodes[child]
        if mask[node.action]:
            legal += 1
            node.available += 1
            bonus = explore * node.prior * math.sqrt(np.float64(node.available)) / (1.0 + node.visits)
            value = node.total[seat] / max(1, node.visits) + bonus
            if value > best:
                best, chosen = value, child
        child = node.sibling
    return chosen, legal


@kernel
def _blocks(mask):
    return (len(mask) + BLOCK - 1) // BLOCK


@kernel
def _count(mask):
    """Return (number of legal decisions, the last of them)."""
    legal, last = np.int64(0), np.int64(0)
    for block in range(_blocks(mask)):
        ids = np.int64(mask_block(mask, block))
        if ids:
            legal += popcount(ids)
            last = BLOCK * block + 63 - leading_zeros(ids)
    return legal, last


@kernel
def _expand(desk, nodes, used, parent):
    """Add the decision that is valued most among those that have no node yet, with its prior among all."""
    mask, values, temperature = desk.mask, desk.values, desk.settings[0].temperature
    highest = 4.0 * ILLEGAL_VALUE
    for block in range(_blocks(mask)):
        ids = np.int64(mask_block(mask, block))
        while ids:
            highest = max(highest, values[BLOCK * block + lowest_bit(ids)])
            ids &= ids - 1
    child = nodes[parent].child
    while child:
        mask[nodes[child].action] *= 2  # marks what is there; 2 is as legal as 1
        child = nodes[child].sibling
    best, chosen = 4.0 * ILLEGAL_VALUE, np.int64(-1)
    total, own = 0.0, 0.0
    for block in range(_blocks(mask)):
        ids = np.int64(mask_block(mask, block))
        while ids:
            action = BLOCK * block + lowest_bit(ids)
            ids &= ids - 1
            likely = math.exp(max(-50.0, (values[action] - highest) / temperature))
            total += likely
            if mask[action] == 1 and values[action] > best:
                best, chosen, own = values[action], action, likely
    return _add(nodes, used, parent, chosen, max(own / total, _LEAST))


@kernel
def _descend(desk, nodes, used, seat, path):
    """Walk down the tree in the trial on the desk and add one node, unless the game ends first.

    Return (nodes used, length of the path); `path` takes the nodes that were visited.
    """
    t, p, s, g = desk.tables[0], desk.pieces[0], desk.settings[0], desk.trial[0]
    node, depth = np.int64(0), 0
    while not g.done and depth < len(path):
        write_mask(t, g, desk.mask)
        legal, last = _count(desk.mask)
        if legal == 1:
            apply_action(t, g, last)
            continue
        chosen, tried = _select(nodes, node, g.seat, desk.mask, s.explore)
        grow = s.widen if g.seat == seat else s.widen_others
        grown = tried < min(np.float64(legal), (1.0 + nodes[node].visits) ** grow)
        if grown:
            w = desk.weights[g.seat]
            select_action(t, p, w, g, desk.views[view_index(w, g, g.seat, desk.views)], desk.mask, desk.values, True)
            chosen = _expand(desk, nodes, used, node)
            used += 1
        apply_action(t, g, nodes[chosen].action)
        path[depth] = chosen
        depth += 1
        node = chosen
        if grown:
            break
    return used, depth


@kernel
def _most_visited(nodes, seat):
    """The decision at the root with the most visits; of equals the one with the larger share of the win."""
    best, chosen = -1.0, np.int64(0)
    child = nodes[0].child
    while child:
        value = nodes[child].visits + nodes[child].total[seat] / (1.0 + nodes[child].visits)
        if value > best:
            best, chosen = value, child
        child = nodes[child].sibling
    return nodes[chosen].action


@kernel
def _decided(nodes, gain):
    """Whether no other decision at the root becomes the most visited one by gaining so many visits on it."""
    most, second = np.int64(0), np.int64(0)
    child = nodes[0].child
    while child:
        visits = nodes[child].visits
        if visits > most:
            most, second = visits, most
        elif visits > second:
            second = visits
        child = nodes[child].sibling
    return most - second > gain


@kernel
def _choose(desk, g, word, budget, nodes, path):
    """Return the decision of the seat to move in `g`, a game restored from its observation."""
    write_mask(desk.tables[0], g, desk.mask)
    legal, last = _count(desk.mask)
    if legal == 1:
        return last
    nodes[0].child = 0
    nodes[0].visits = 0
    used = np.int64(1)
    for trial in range(budget):
        if trial % _LOOK == 0 and _decided(nodes, desk.settings[0].catch_up * (budget - trial)):
            break
        word = word + GOLDEN
        determinize_trial(desk, g, word)
        desk.trial[0] = desk.deal[0]
        used, depth = _descend(desk, nodes, used, g.seat, path)
        playout_and_evaluate(desk, g.seat)
        nodes[0].visits += 1
        for i in range(depth):
            node = nodes[path[i]]
            node.visits += 1
            for seat in range(g.players):
                node.total[seat] += desk.shares[seat]
    return _most_visited(nodes, g.seat)


@kernel
def tree_batch(desk, states, words, budget, nodes, path, actions):
    """Write the decision for every game into `actions`, int64 (B,); `states` are restored from observations.

    `words` uint64 (B,): random numbers; `budget`: trials for each decision. `nodes`: at least `budget` + 1 of dtype
    `NODE`, `path` int64: scratch; a trial adds its node at the latest when the path is full.
    """
    for b in range(len(states)):
        reset_views(desk, words[b])
        actions[b] = _choose(desk, states[b], words[b], budget, nodes, path)

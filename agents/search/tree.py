"""Information-set Monte Carlo tree search: one tree over many determinizations of the hidden cards.

Method: single-observer ISMCTS (Cowling, Powley and Whitehouse 2012, "Information set Monte Carlo tree search"). Every
simulation determinizes the hidden cards and descends the tree along actions that are legal in that determinization.

- Every seat maximizes its own win probability (max-n; Luckhardt and Irani 1986).
- The number of children of a node grows with its visits, in the order of the heuristic's values (progressive widening;
  Coulom 2007, Chaslot et al. 2008).
- PUCT selects among the children (Rosin 2011; Silver et al. 2017), with priors from the same values.
- Each simulation ends with a short playout with the heuristic; evaluating the final position gives every seat's win
  probability.
- Positions with a single legal action get no node.
- The search stops early once no other action is expected to become the most visited one (Huang, Coulom and Lin 2010,
  "Time management for Monte-Carlo tree search applied to the game of Go").

The tree is one flat array of nodes; children of a node are linked through `sibling`.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, select_action, view_index
from helsinki_env.agents.search.workspace import determinize_trial, playout_and_evaluate, reset_views
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.playout import BLOCK, mask_block
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.vectors import leading_zeros

NODE = np.dtype(
    (
        np.record,
        [
            ("total", np.float64, (MAX_SEATS,)),  # sum of the win probabilities of its simulations
            ("prior", np.float64),  # probability of the action, from the heuristic's values when it was added
            ("visits", np.int64),
            ("available", np.int64),  # number of simulations in which the action was legal
            ("action", np.int64),  # the action that leads here
            ("child", np.int64),  # first child, or 0 if there is none
            ("sibling", np.int64),  # next child of the same parent, or 0 if there is none
        ],
    )
)
#: Number of simulations between checks for early stopping.
_LOOK = 8
#: Minimum prior of an action, so that every action is simulated eventually.
_LEAST = 0.001


@kernel
def _add(nodes, used, parent, action, prior):
    """Add a child to a node and return its index."""
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
    """Return (best child that is legal in this determinization, number of legal children)."""
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
    """Return (number of legal actions, last legal action)."""
    legal, last = np.int64(0), np.int64(0)
    for block in range(_blocks(mask)):
        ids = np.int64(mask_block(mask, block))
        if ids:
            legal += popcount(ids)
            last = BLOCK * block + 63 - leading_zeros(ids)
    return legal, last


@kernel
def _expand(ws, nodes, used, parent):
    """Add a child for the best action without a node; its prior is its probability among all legal actions."""
    mask, values, temperature = ws.mask, ws.values, ws.settings[0].temperature
    highest = 4.0 * ILLEGAL_VALUE
    for block in range(_blocks(mask)):
        ids = np.int64(mask_block(mask, block))
        while ids:
            highest = max(highest, values[BLOCK * block + lowest_bit(ids)])
            ids &= ids - 1
    child = nodes[parent].child
    while child:
        mask[nodes[child].action] *= 2  # marks actions that have a node; they stay legal
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
def _descend(ws, allowed, nodes, used, seat, path):
    """Descend the tree in the current simulation and add one node, unless the game ends first.

    Only actions in the mask `allowed` are taken at the root. Write the visited nodes to `path` and return (number of
    nodes, length of the path).
    """
    t, p, s, g = ws.tables[0], ws.pieces[0], ws.settings[0], ws.trial[0]
    node, depth = np.int64(0), 0
    while not g.done and depth < len(path):
        write_mask(t, g, ws.mask)
        if node == 0:
            for i in range(len(allowed)):
                ws.mask[i] = allowed[i]
        legal, last = _count(ws.mask)
        if legal == 1:
            apply_action(t, g, last)
            continue
        chosen, tried = _select(nodes, node, g.seat, ws.mask, s.explore)
        grow = s.widen if g.seat == seat else s.widen_others
        grown = tried < min(np.float64(legal), (1.0 + nodes[node].visits) ** grow)
        if grown:
            w = ws.weights[g.seat]
            select_action(t, p, w, g, ws.views[view_index(w, g, g.seat, ws.views)], ws.mask, ws.values, True)
            chosen = _expand(ws, nodes, used, node)
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
    """Return the most visited action at the root; on ties, the one with the highest win probability."""
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
    """Return whether no other action at the root can become the most visited one with `gain` more visits."""
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
def _choose(ws, g, allowed, key, budget, nodes, path):
    """Return the action of the seat to move in `g`, a state reconstructed from its observation."""
    legal, last = _count(allowed)
    if legal == 1:
        return last
    nodes[0].child = 0
    nodes[0].visits = 0
    used = np.int64(1)
    for trial in range(budget):
        if trial % _LOOK == 0 and _decided(nodes, ws.settings[0].catch_up * (budget - trial)):
            break
        key = key + GOLDEN
        determinize_trial(ws, g, key)
        ws.trial[0] = ws.deal[0]
        used, depth = _descend(ws, allowed, nodes, used, g.seat, path)
        playout_and_evaluate(ws, g.seat)
        nodes[0].visits += 1
        for i in range(depth):
            node = nodes[path[i]]
            node.visits += 1
            for seat in range(g.players):
                node.total[seat] += ws.shares[seat]
    return _most_visited(nodes, g.seat)


@kernel
def tree_batch(ws, states, masks, keys, budget, nodes, path, actions):
    """Write the action for every state to `actions`, int64 (B,).

    `masks`: int8 (B, ids); `keys`: random keys, uint64 (B,); `budget`: simulations per action. Scratch: `nodes`, at
    least `budget` + 1 of dtype `NODE`, and `path`, int64, whose length limits the depth of a simulation.
    """
    for b in range(len(states)):
        reset_views(ws, keys[b])
        actions[b] = _choose(ws, states[b], masks[b], keys[b], budget, nodes, path)

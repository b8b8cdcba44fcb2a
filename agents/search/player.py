"""The search players, `mc:N` and `ismcts:N`.

They search in determinizations of their observation (`helsinki_env.engine.determinization`), so no hidden information
can reach them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from helsinki_env.agents.base import FloatArray, Int8Array, Int64Array, KeyArray
from helsinki_env.agents.evaluation import Evaluation
from helsinki_env.agents.heuristic_api import MonteCarloSettings, heuristic_of
from helsinki_env.agents.rows import validate_extra_actions, validate_inputs
from helsinki_env.agents.search.flat import flat_batch
from helsinki_env.agents.search.tree import NODE, tree_batch
from helsinki_env.agents.search.workspace import WorkspacePool
from helsinki_env.data import Node, UserError
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import default_config

__all__ = ["FlatPlayer", "TreePlayer"]

#: Maximum number of nodes that a simulation visits.
_DEPTH = 256


class _Searcher:
    """Base class for the search players.

    Args:
        budget: number of simulations per action, at least 1.
        config: game configuration; only its component file is used.
        settings: search settings; default: those of the game's heuristic.
        weights: weights of the heuristic in simulations; default: those of the game's heuristic.
    """

    _kind = ""
    #: The player searches rows one by one; see `helsinki_env.agents.base.Player`.
    max_batch_size = 8

    def __init__(
        self, budget: int, config: Any = None, settings: MonteCarloSettings | None = None, weights: Any = None
    ) -> None:
        self.budget = Node(budget, UserError, "budget").integer(1)
        self.name = f"{self._kind}:{self.budget}"
        self.config, self.settings = config or default_config(), settings
        self.weights = weights or heuristic_of(self.config).search_weights
        self._workspaces = WorkspacePool(self.config, self.weights, settings)


class FlatPlayer(_Searcher):
    """Flat Monte Carlo over determinizations; see `helsinki_env.agents.search.flat`."""

    _kind = "mc"

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return the action for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, keys = validate_inputs(self.config, observation, action_mask, keys)
        actions = np.zeros(len(action_mask), np.int64)
        with self._workspaces.borrow() as ws:
            flat_batch(ws, states, action_mask, keys, self.budget, 0, actions, *_tallies(action_mask.shape[1]))
        return actions

    def evaluate_actions(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, also: Int64Array | None = None
    ) -> list[Evaluation]:
        """Return an evaluation for each row, with probability 1 for the chosen action; see `agents.evaluation`."""
        states, action_mask, keys = validate_inputs(self.config, observation, action_mask, keys)
        also, best = validate_extra_actions(also, action_mask), np.zeros(1, np.int64)
        evaluations = []
        for b in range(len(states)):
            won, trials = _tallies(action_mask.shape[1])
            row = slice(b, b + 1)
            with self._workspaces.borrow() as ws:
                inputs = ws, states[row], action_mask[row], keys[row], self.budget
                flat_batch(*inputs, 0, best, won, trials)
                for action in best if also is None else (best[0], also[b]):
                    if not trials[action]:  # not simulated: not a candidate, or the only candidate
                        deals = int(trials[best[0]]) or self.budget
                        flat_batch(*inputs, deals, np.array([action]), won, trials)
            actions = np.flatnonzero(action_mask[b])
            shares = np.full((len(actions), MAX_SEATS), np.nan)
            tried = trials[actions] > 0
            shares[tried] = won[actions[tried]] / trials[actions[tried], None]
            seat, players = int(states["seat"][b]), int(states["players"][b])
            evaluations.append(
                Evaluation(seat, actions, (actions == best[0]).astype(np.float64), shares[:, :players], int(best[0]))
            )
        return evaluations


def _tallies(ids: int) -> tuple[FloatArray, Int64Array]:
    """Return zeroed sums of win probabilities by action and seat, and zeroed simulation counts by action."""
    return np.zeros((ids, MAX_SEATS)), np.zeros(ids, np.int64)


class TreePlayer(_Searcher):
    """Information-set Monte Carlo tree search; see `helsinki_env.agents.search.tree`."""

    _kind = "ismcts"

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return the action for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, keys = validate_inputs(self.config, observation, action_mask, keys)
        actions = np.zeros(len(action_mask), np.int64)
        nodes, path = np.zeros(self.budget + 1, NODE), np.zeros(_DEPTH, np.int64)
        with self._workspaces.borrow() as ws:
            tree_batch(ws, states, action_mask, keys, self.budget, nodes, path, actions)
        return actions

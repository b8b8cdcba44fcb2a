"""The heuristic as a player, and compiled playouts in which it plays all seats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.agents.heuristic_api import heuristic_of, reset_view, select_action_lookahead, weights_record
from helsinki_env.agents.rows import validate_inputs
from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.spec import default_config, spec_of
from helsinki_env.engine.states import States

__all__ = ["HeuristicPlayer", "play_out_with_heuristic"]


@kernel
def _decide_batch(tables, pieces, weights, states, work, views, masks, keys, values, actions):
    t, p, w, v, u = tables[0], pieces[0], weights[0], views[0], views[1]
    for b in range(len(states)):
        reset_view(v, keys[b])  # games are independent
        reset_view(u, keys[b])
        actions[b] = select_action_lookahead(t, p, w, states[b], v, u, work, masks[b], values)


class HeuristicPlayer:
    """Deterministic player that plans the whole turn and takes the action with the highest value.

    The game defines the evaluation (`helsinki_env.agents.heuristic_api`). In a game that defines none, actions are
    random.

    Args:
        config: game configuration; only its component file is used.
        weights: weights of the evaluation.
    """

    name = "heuristic"

    def __init__(self, config: Any = None, weights: Any = None) -> None:
        self.config = config or default_config()
        self.heuristic = heuristic_of(self.config)
        self.weights = weights or self.heuristic.weights
        self._record = weights_record(self.weights)

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return the action for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, keys = validate_inputs(self.config, observation, action_mask, keys)
        work = spec_of(self.config).new_states(self.config, 1)
        actions, values = np.zeros(len(action_mask), np.int64), np.zeros(action_mask.shape[1])
        tables, pieces, views = self.config.tables, self.heuristic.pieces(self.config), self.heuristic.new_views(2)
        _decide_batch(tables, pieces, self._record, states, work, views, action_mask, keys, values, actions)
        return actions


@kernel
def _play_batch(tables, pieces, weights, seconds, states, views, work, mask, values):
    """Play every game to the end; `seconds`: index of the second view of `select_action_lookahead`, by seat."""
    t, p = tables[0], pieces[0]
    decisions = 0
    for b in range(len(states)):
        g = states[b]
        for seat in range(len(views)):
            reset_view(views[seat], g.chance)
        while not g.done:
            write_mask(t, g, mask)
            seat = np.int64(g.seat)
            w, v, u = weights[seat], views[seat], views[seconds[seat]]
            apply_action(t, g, select_action_lookahead(t, p, w, g, v, u, work, mask, values))
            decisions += 1
    return decisions


def play_out_with_heuristic(config: Any, states: States, weights: Sequence[Any] | None = None) -> int:
    """Play game records, (B,), to the end in place with the heuristic; return the number of actions.

    Args:
        config: a configuration with the component file of the games.
        states: game records, (B,).
        weights: weights for each of the four seats; default: the weights used in playouts.
    """
    heuristic, spec = heuristic_of(config), spec_of(config)
    ids = spec.num_actions(config)
    by_seat = list(weights or (heuristic.quick,) * MAX_SEATS)
    records: npt.NDArray[Any] = np.concatenate([weights_record(seat) for seat in by_seat])
    # Only seats with equal weights share a second view, because a view caches values that depend on the weights.
    seconds = np.array([MAX_SEATS + by_seat.index(seat) for seat in by_seat])
    views, work = heuristic.new_views(int(seconds.max()) + 1), spec.new_states(config, 1)
    scratch = np.zeros(ids, np.int8), np.zeros(ids)
    return int(_play_batch(config.tables, heuristic.pieces(config), records, seconds, states, views, work, *scratch))

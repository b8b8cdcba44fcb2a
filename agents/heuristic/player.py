"""The heuristic as a player."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import heuristic_of, reset_view, select_action_lookahead, weights_record
from helsinki_env.agents.rows import validate_inputs
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.spec import default_config, spec_of

__all__ = ["HeuristicPlayer"]


@kernel
def _decide_batch(tables, parts, weights, states, work, views, masks, words, values, actions):
    t, p, w, v, u = tables[0], parts[0], weights[0], views[0], views[1]
    for b in range(len(states)):
        reset_view(v, words[b])  # nothing is remembered from one game to the next
        reset_view(u, words[b])
        actions[b] = select_action_lookahead(t, p, w, states[b], v, u, work, masks[b], values)


class HeuristicPlayer:
    """Plans the whole turn and takes what the evaluation of its game likes best, without chance.

    In a game that has no evaluation it is chance itself.

    What it thinks, the guide of the game says (`helsinki_env.agents.heuristic_api`).

    Args:
        config: the games to be played; only their component file matters.
        weights: of the evaluation.
    """

    name = "heuristic"

    def __init__(self, config: Any = None, weights: Any = None) -> None:
        self.config = config or default_config()
        self.guide = heuristic_of(self.config)
        self.weights = weights or self.guide.weights
        self._record = weights_record(self.weights)

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, keys = validate_inputs(self.config, observation, action_mask, keys)
        work = spec_of(self.config).new_states(self.config, 1)
        actions, values = np.zeros(len(action_mask), np.int64), np.zeros(action_mask.shape[1])
        tables, parts, views = self.config.tables, self.guide.pieces(self.config), self.guide.new_views(2)
        _decide_batch(tables, parts, self._record, states, work, views, action_mask, keys, values, actions)
        return actions

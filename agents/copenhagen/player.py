"""The heuristic as a player."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.copenhagen.ahead import decide_ahead
from agents.copenhagen.view import forget, new_views, pieces
from agents.copenhagen.weights import Weights, weights_record
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.restore import restore
from helsinki_env.games.copenhagen.state import new_states

__all__ = ["HeuristicPlayer"]


@kernel
def _decide_batch(tables, parts, weights, states, work, views, masks, values, actions):
    t, p, w, v, u = tables[0], parts[0], weights[0], views[0], views[1]
    for b in range(len(states)):
        forget(v)  # nothing is remembered from one game to the next
        forget(u)
        actions[b] = decide_ahead(t, p, w, states[b], v, u, work, masks[b], values)


class HeuristicPlayer:
    """Plans the whole turn and takes what the evaluation likes best; without chance.

    Args:
        config: the games to be played; only their component file matters.
        weights: of the evaluation.
    """

    name = "heuristic"

    def __init__(self, config: CopenhagenConfig | None = None, weights: Weights | None = None) -> None:
        self.config = config or CopenhagenConfig()
        self.weights = weights or Weights()
        self._record = weights_record(self.weights)

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `agents.base.Player`."""
        states = restore(self.config, observation)
        actions, values = np.zeros(len(mask), np.int64), np.zeros(mask.shape[1])
        tables, parts, views = self.config.tables, pieces(self.config), new_views(2)
        mask = np.ascontiguousarray(mask)
        _decide_batch(tables, parts, self._record, states, new_states(1), views, mask, values, actions)
        return actions

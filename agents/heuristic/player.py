"""The heuristic as a player."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.helsinki.ahead import decide_ahead
from agents.helsinki.view import new_views, pieces
from agents.helsinki.weights import Weights, weights_record
from helsinki_env import GameConfig
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.restore import restore
from helsinki_env.games.helsinki.state import new_states

__all__ = ["HeuristicPlayer"]


@kernel
def _decide_batch(tables, parts, weights, states, work, views, masks, values, actions):
    t, p, w, v, u = tables[0], parts[0], weights[0], views[0], views[1]
    for b in range(len(states)):
        v.of_turns = u.of_turns = -1.0  # nothing is remembered from one game to the next
        actions[b] = decide_ahead(t, p, w, states[b], v, u, work, masks[b], values)


class HeuristicPlayer:
    """Plans the whole turn and takes what the evaluation likes best; without chance.

    Each decision is the best one for the rest of the turn: where to move (for a coat of arms, too), whether to draw or
    to build and in which order, how to pay, where to place, where superstructures go, and what a coat buys.

    Args:
        config: the games to be played; only their component file matters.
        weights: of the evaluation.
    """

    name = "heuristic"

    def __init__(self, config: GameConfig | None = None, weights: Weights | None = None) -> None:
        self.config = config or GameConfig()
        self.weights = weights or Weights()
        self._record = weights_record(self.weights)

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `agents.base.Player`."""
        states = restore(self.config, observation)
        work = new_states(1, self.config.loaded.types)
        actions, values = np.zeros(len(mask), np.int64), np.zeros(mask.shape[1])
        tables, parts, views = self.config.tables, pieces(self.config), new_views(2)
        mask = np.ascontiguousarray(mask)
        _decide_batch(tables, parts, self._record, states, work, views, mask, values, actions)
        return actions

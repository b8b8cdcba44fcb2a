"""The heuristic as a player."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env import GameConfig
from helsinki_env.agents.heuristic_api import decide_ahead, forget, guide_of, weights_record
from helsinki_env.agents.rows import checked_rows
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.spec import spec_of

__all__ = ["HeuristicPlayer"]


@kernel
def _decide_batch(tables, parts, weights, states, work, views, masks, words, values, actions):
    t, p, w, v, u = tables[0], parts[0], weights[0], views[0], views[1]
    for b in range(len(states)):
        forget(v, words[b])  # nothing is remembered from one game to the next
        forget(u, words[b])
        actions[b] = decide_ahead(t, p, w, states[b], v, u, work, masks[b], values)


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
        self.config = config or GameConfig()
        self.guide = guide_of(self.config)
        self.weights = weights or self.guide.weights
        self._record = weights_record(self.weights)

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `helsinki_env.agents.base.Player`."""
        states, mask, words = checked_rows(self.config, observation, mask, words)
        work = spec_of(self.config).new_states(self.config, 1)
        actions, values = np.zeros(len(mask), np.int64), np.zeros(mask.shape[1])
        tables, parts, views = self.config.tables, self.guide.pieces(self.config), self.guide.new_views(2)
        _decide_batch(tables, parts, self._record, states, work, views, mask, words, values, actions)
        return actions

"""The search players, `mc:N` and `ismcts:N`.

They search in games that are made from the observation alone (`helsinki_env.restore`, `helsinki_env.redeal`), so
nothing that their seat cannot see can reach them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.search.desk import new_desk
from agents.search.flat import flat_batch
from agents.search.settings import Settings
from agents.search.tree import NODE, tree_batch
from helsinki_env import GameConfig
from helsinki_env.engine.hidden import restore

__all__ = ["FlatPlayer", "TreePlayer"]

#: A trial takes no more decisions than this before its new node.
_DEPTH = 256


class _Searcher:
    """What the search players share.

    Args:
        budget: games tried for each decision, at least 1.
        config: the games to be played; only their component file matters.
        settings: of the search; default: those of the game's guide.
        weights: of the heuristic that guides it; default: the guide's quick ones.
    """

    _kind = ""
    #: Rows are searched one after the other, see `agents.base.Player`.
    at_once = 8

    def __init__(
        self,
        budget: int,
        config: Any = None,
        settings: Settings | None = None,
        weights: Any = None,
    ) -> None:
        if budget < 1:
            raise ValueError(f"budget: found {budget}, expected at least 1 game to be tried for each decision")
        self.name = f"{self._kind}:{budget}"
        self.budget = budget
        self.config = config or GameConfig()
        self.settings = settings
        self.weights = weights


class FlatPlayer(_Searcher):
    """Flat Monte Carlo over re-deals; see `agents.search.flat`."""

    _kind = "mc"

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `agents.base.Player`."""
        actions = np.zeros(len(mask), np.int64)
        desk = new_desk(self.config, self.weights, self.settings)
        words = np.ascontiguousarray(words)
        states = restore(self.config, observation)
        flat_batch(desk, states, np.ascontiguousarray(mask), words, self.budget, actions)
        return actions


class TreePlayer(_Searcher):
    """Information-set Monte Carlo tree search; see `agents.search.tree`."""

    _kind = "ismcts"

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `agents.base.Player`."""
        actions = np.zeros(len(mask), np.int64)
        desk = new_desk(self.config, self.weights, self.settings)
        nodes, path = np.zeros(self.budget + 1, NODE), np.zeros(_DEPTH, np.int64)
        words = np.ascontiguousarray(words)
        tree_batch(desk, restore(self.config, observation), words, self.budget, nodes, path, actions)
        return actions

"""The search players, `mc:N` and `ismcts:N`.

They search in games that are made from the observation alone (`helsinki_env.engine.determinization`,
`helsinki_env.engine.determinization`), so nothing that their seat cannot see can reach them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env import GameConfig
from helsinki_env.agents.evaluation import Opinion
from helsinki_env.agents.heuristic_api import guide_of
from helsinki_env.agents.rows import checked_also, checked_rows
from helsinki_env.agents.search.flat import flat_batch, try_alone
from helsinki_env.agents.search.settings import Settings
from helsinki_env.agents.search.tree import NODE, tree_batch
from helsinki_env.agents.search.workspace import Desks
from helsinki_env.data import UserError
from helsinki_env.engine.contract import SEATS

__all__ = ["FlatPlayer", "TreePlayer"]

#: A trial takes no more decisions than this before its new node.
_DEPTH = 256


class _Searcher:
    """What the search players share.

    Args:
        budget: games tried for each decision, at least 1.
        config: the games to be played; only their component file matters.
        settings: of the search; default: those of the game's guide.
        weights: of the heuristic that guides it; default: those that the guide has for trials.
    """

    _kind = ""
    #: Rows are searched one after the other, see `helsinki_env.agents.base.Player`.
    at_once = 8

    def __init__(
        self,
        budget: int,
        config: Any = None,
        settings: Settings | None = None,
        weights: Any = None,
    ) -> None:
        if budget < 1:
            raise UserError(f"budget: found {budget}, expected at least 1 game to be tried for each decision")
        self.name = f"{self._kind}:{budget}"
        self.budget = budget
        self.config = config or GameConfig()
        self.settings = settings
        self.weights = weights or guide_of(self.config).trials
        self._desks = Desks(self.config, self.weights, settings)


class FlatPlayer(_Searcher):
    """Flat Monte Carlo over re-deals; see `helsinki_env.agents.search.flat`."""

    _kind = "mc"

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `helsinki_env.agents.base.Player`."""
        states, mask, words = checked_rows(self.config, observation, mask, words)
        actions = np.zeros(len(mask), np.int64)
        with self._desks.one() as desk:
            flat_batch(desk, states, mask, words, self.budget, actions, *_tallies(mask.shape[1]))
        return actions

    def judge(
        self,
        observation: npt.NDArray[np.int8],
        mask: npt.NDArray[np.int8],
        words: npt.NDArray[np.uint64],
        also: npt.NDArray[np.int64] | None = None,
    ) -> list[Opinion]:
        """Return an evaluation of each row with probability 1 for the chosen action; see `agents.evaluation`."""
        states, mask, words = checked_rows(self.config, observation, mask, words)
        also, best = checked_also(also, mask), np.zeros(1, np.int64)
        found = []
        for b in range(len(states)):
            won, trials = _tallies(mask.shape[1])
            row = slice(b, b + 1)
            with self._desks.one() as desk:
                flat_batch(desk, states[row], mask[row], words[row], self.budget, best, won, trials)
                for action in best if also is None else (best[0], also[b]):
                    if not trials[action]:  # it was not in the race, or had no rival there
                        try_alone(desk, states[b], action, words[b], trials[best[0]] or self.budget, won, trials)
            actions = np.flatnonzero(mask[b])
            shares = np.full((len(actions), SEATS), np.nan)
            tried = trials[actions] > 0
            shares[tried] = won[actions[tried]] / trials[actions[tried], None]
            seat, players = int(states["seat"][b]), int(states["players"][b])
            found.append(
                Opinion(seat, actions, (actions == best[0]).astype(np.float64), shares[:, :players], int(best[0]))
            )
        return found


def _tallies(ids: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Return empty sums of the shares of the win by decision and seat, and of trials by decision."""
    return np.zeros((ids, SEATS)), np.zeros(ids, np.int64)


class TreePlayer(_Searcher):
    """Information-set Monte Carlo tree search; see `helsinki_env.agents.search.tree`."""

    _kind = "ismcts"

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return the decision for each row; see `helsinki_env.agents.base.Player`."""
        states, mask, words = checked_rows(self.config, observation, mask, words)
        actions = np.zeros(len(mask), np.int64)
        nodes, path = np.zeros(self.budget + 1, NODE), np.zeros(_DEPTH, np.int64)
        with self._desks.one() as desk:
            tree_batch(desk, states, words, self.budget, nodes, path, actions)
        return actions

"""Search workspace: one tuple of tables, weights, settings and scratch arrays that kernels pass along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import heuristic_of, reset_view, weights_record
from helsinki_env.agents.search.settings import MonteCarloSettings, settings_record
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.determinization import new_scratch
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.spec import spec_of

__all__ = ["SearchWorkspace", "WorkspacePool", "new_workspace", "reset_views"]


class SearchWorkspace(NamedTuple):
    """What a search works with; every array but the first four is scratch.

    Attributes:
        tables: of the component file, (1,).
        pieces: of the guide, (1,).
        weights: of the heuristic that every seat plays by, (4,).
        settings: of the search, (1,).
        deal: a game with its hidden cards dealt, (1,).
        trial: a copy of it that is played on, (1,).
        views: the seats' views, one that is free for another use, and those of boards that have come up, see
            `helsinki_env.agents.heuristic_api.view_index`, (5 or more,).
        hidden: scratch of the redeal, (1,).
        mask: legal decisions, int8 (ids,).
        values: what the heuristic thinks of them, float64 (ids,).
        shares: of the win, by seat, float64 (4,).
        arms: decisions, int64 (ids,).
        worths: of those, float64 (ids,).
        totals: of decisions, float64 (ids,).
        seen: an observation, int8 (F,).
    """

    tables: npt.NDArray[Any]
    pieces: npt.NDArray[Any]
    weights: npt.NDArray[Any]
    settings: npt.NDArray[Any]
    deal: npt.NDArray[Any]
    trial: npt.NDArray[Any]
    views: npt.NDArray[Any]
    hidden: npt.NDArray[Any]
    mask: npt.NDArray[np.int8]
    values: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    arms: npt.NDArray[np.int64]
    worths: npt.NDArray[np.float64]
    totals: npt.NDArray[np.float64]
    seen: npt.NDArray[np.int8]


def new_workspace(
    config: Any, weights: Any = None, settings: MonteCarloSettings | None = None, boards: int = 0
) -> SearchWorkspace:
    """Return a desk for games with the component file of `config`; one for each thread.

    Args:
        config: of the games.
        weights: of the guide in playouts; default: its quick ones.
        settings: of the search; default: those of the guide.
        boards: of each seat for which there is a view, see `helsinki_env.agents.heuristic_api.view_index`.
    """
    spec, guide = spec_of(config), heuristic_of(config)
    ids = spec.num_actions(config)
    return SearchWorkspace(
        tables=config.tables,
        pieces=guide.pieces(config),
        weights=np.repeat(weights_record(weights or guide.quick), MAX_SEATS),
        settings=settings_record(settings or guide.settings),
        deal=spec.new_states(config, 1),
        trial=spec.new_states(config, 1),
        views=guide.new_views(MAX_SEATS + 1 + MAX_SEATS * boards),
        hidden=new_scratch(config),
        mask=np.zeros(ids, np.int8),
        values=np.zeros(ids),
        shares=np.zeros(MAX_SEATS),
        arms=np.zeros(ids, np.int64),
        worths=np.zeros(ids),
        totals=np.zeros(ids),
        seen=np.zeros(spec.observation_size(config), np.int8),
    )


class WorkspacePool:
    """Pool of desks for the games of one configuration; it makes a new desk if none is free.

    Args:
        config: as for `new_workspace`, like the others.
        weights: of the guide in playouts.
        settings: of the search.
    """

    def __init__(self, config: Any, weights: Any = None, settings: MonteCarloSettings | None = None) -> None:
        self._arguments = config, weights, settings
        self._boards = heuristic_of(config).boards
        self._free: list[SearchWorkspace] = []

    @contextmanager
    def borrow(self) -> Iterator[SearchWorkspace]:
        """Lend a desk that nobody else has; what lies on it is of no meaning."""
        desk = self._free.pop() if self._free else new_workspace(*self._arguments, boards=self._boards)
        try:
            yield desk
        finally:
            self._free.append(desk)

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkspacePool, self._arguments


@kernel
def reset_views(desk, word):
    """Forget what the views remember of another game; `word`: the random number for this one."""
    for view in range(len(desk.views)):
        reset_view(desk.views[view], word)

"""Search workspace: one tuple of tables, weights, settings and scratch arrays that kernels pass along."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import forget, guide_of, weights_record
from helsinki_env.agents.search.settings import Settings, settings_record
from helsinki_env.engine.contract import SEATS
from helsinki_env.engine.determinization import new_scratch
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.spec import spec_of

__all__ = ["Desk", "Desks", "clear", "new_desk"]


class Desk(NamedTuple):
    """What a search works with; every array but the first four is scratch.

    Attributes:
        tables: of the component file, (1,).
        pieces: of the guide, (1,).
        weights: of the heuristic that every seat plays by, (4,).
        settings: of the search, (1,).
        deal: a game with its hidden cards dealt, (1,).
        trial: a copy of it that is played on, (1,).
        views: the seats' views, one that is free for another use, and those of boards that have come up, see
            `helsinki_env.agents.heuristic_api.recall`, (5 or more,).
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


def new_desk(config: Any, weights: Any = None, settings: Settings | None = None, boards: int = 0) -> Desk:
    """Return a desk for games with the component file of `config`; one for each thread.

    Args:
        config: of the games.
        weights: of the guide in playouts; default: its quick ones.
        settings: of the search; default: those of the guide.
        boards: of each seat for which there is a view, see `helsinki_env.agents.heuristic_api.recall`.
    """
    spec, guide = spec_of(config), guide_of(config)
    ids = spec.ids(config)
    return Desk(
        tables=config.tables,
        pieces=guide.pieces(config),
        weights=np.repeat(weights_record(weights or guide.quick), SEATS),
        settings=settings_record(settings or guide.settings),
        deal=spec.new_states(config, 1),
        trial=spec.new_states(config, 1),
        views=guide.new_views(SEATS + 1 + SEATS * boards),
        hidden=new_scratch(config),
        mask=np.zeros(ids, np.int8),
        values=np.zeros(ids),
        shares=np.zeros(SEATS),
        arms=np.zeros(ids, np.int64),
        worths=np.zeros(ids),
        totals=np.zeros(ids),
        seen=np.zeros(spec.features(config), np.int8),
    )


class Desks:
    """Pool of desks for the games of one configuration; it makes a new desk if none is free.

    Args:
        config: as for `new_desk`, like the others.
        weights: of the guide in playouts.
        settings: of the search.
    """

    def __init__(self, config: Any, weights: Any = None, settings: Settings | None = None) -> None:
        self._arguments = config, weights, settings
        self._boards = guide_of(config).boards
        self._free: list[Desk] = []

    @contextmanager
    def one(self) -> Iterator[Desk]:
        """Lend a desk that nobody else has; what lies on it is of no meaning."""
        desk = self._free.pop() if self._free else new_desk(*self._arguments, boards=self._boards)
        try:
            yield desk
        finally:
            self._free.append(desk)

    def __reduce__(self) -> tuple[Any, ...]:
        return Desks, self._arguments


@kernel
def clear(desk, word):
    """Forget what the views remember of another game; `word`: the random number for this one."""
    for view in range(len(desk.views)):
        forget(desk.views[view], word)

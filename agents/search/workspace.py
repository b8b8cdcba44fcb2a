"""Workspace of the search kernels (tables, weights, settings, scratch arrays), with determinization and playouts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import FloatArray, Int8Array, Int64Array
from helsinki_env.agents.heuristic_api import (
    MonteCarloSettings,
    heuristic_of,
    reset_view,
    select_action,
    settings_record,
    view_index,
    weights_record,
    write_win_probabilities,
)
from helsinki_env.engine.contract import MAX_SEATS, apply_action, determinize_state
from helsinki_env.engine.determinization import DeterminizationError, new_scratch
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import mix
from helsinki_env.engine.spec import spec_of


class SearchWorkspace(NamedTuple):
    """Inputs and scratch memory of a search; every array after `settings` is scratch."""

    tables: npt.NDArray[Any]  # (1,): tables of the component file
    pieces: npt.NDArray[Any]  # (1,): lookup data of the heuristic
    weights: npt.NDArray[Any]  # (4,): weights of the heuristic, by seat
    settings: npt.NDArray[Any]  # (1,): search settings
    deal: npt.NDArray[Any]  # (1,): a determinization
    trial: npt.NDArray[Any]  # (1,): the copy of it that a simulation plays
    views: npt.NDArray[Any]  # (5 or more,): one per seat, one for other uses, and those of `view_index`
    hidden: npt.NDArray[Any]  # (1,): scratch for determinization
    mask: Int8Array  # (ids,): legal actions
    values: FloatArray  # (ids,): heuristic values of actions
    shares: FloatArray  # (4,): win probabilities by seat
    arms: Int64Array  # (ids,): candidate actions
    worths: FloatArray  # (ids,): their values
    totals: FloatArray  # (ids,): sums of the values of actions
    seen: Int8Array  # (F,): an observation


def new_workspace(
    config: Any, weights: Any = None, settings: MonteCarloSettings | None = None, boards: int = 0
) -> SearchWorkspace:
    """Create a workspace for one thread and for games with the component file of `config`.

    `weights` and `settings` default to those of the heuristic's playouts. `boards` is the number of extra views per
    seat.
    """
    spec, heuristic = spec_of(config), heuristic_of(config)
    ids = spec.num_actions(config)
    return SearchWorkspace(
        tables=config.tables,
        pieces=heuristic.pieces(config),
        weights=np.repeat(weights_record(weights or heuristic.quick), MAX_SEATS),
        settings=settings_record(settings or heuristic.settings),
        deal=spec.new_states(config, 1),
        trial=spec.new_states(config, 1),
        views=heuristic.new_views(MAX_SEATS + 1 + MAX_SEATS * boards),
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
    """Thread-safe pool of workspaces.

    The arguments are those of `new_workspace`, but `boards` defaults to that of the heuristic.
    """

    def __init__(
        self, config: Any, weights: Any = None, settings: MonteCarloSettings | None = None, boards: int | None = None
    ) -> None:
        self._arguments = config, weights, settings, heuristic_of(config).boards if boards is None else boards
        self._free: list[SearchWorkspace] = []

    @contextmanager
    def borrow(self) -> Iterator[SearchWorkspace]:
        """Yield a free or new workspace, whose scratch content is undefined."""
        try:
            ws = self._free.pop()
        except IndexError:  # another thread may take the last one at any time
            ws = new_workspace(*self._arguments)
        try:
            yield ws
        finally:
            self._free.append(ws)

    def __reduce__(self) -> tuple[Any, ...]:
        return WorkspacePool, self._arguments


@kernel
def reset_views(ws, key):
    """Reset all views for a new game; `key`: random key of the game."""
    for view in range(len(ws.views)):
        reset_view(ws.views[view], key)


@kernel
def determinize_trial(ws, g, key):
    """Copy a state to `ws.deal` and determinize the cards that the acting seat cannot see.

    Raises DeterminizationError if the observation of the state is impossible.
    """
    ws.deal[0] = g
    if not determinize_state(ws.tables[0], ws.deal[0], g.seat, mix(key), ws.hidden[0], ws.mask):
        raise DeterminizationError(
            "found no deal that fits what the seat to move knows; can this position occur in a game?"
        )


@kernel
def playout_and_evaluate(ws, seat):
    """Play `ws.trial` with the heuristic for `settings.turns` turns of `seat`; write the win probabilities."""
    t, p, s, g = ws.tables[0], ws.pieces[0], ws.settings[0], ws.trial[0]
    turns = s.turns
    passed = False
    while not g.done:
        if g.seat != seat:
            passed = True
        elif passed:
            passed = False
            turns -= 1.0
            if turns <= 0.0:
                break
        write_mask(t, g, ws.mask)
        w = ws.weights[g.seat]
        v = ws.views[view_index(w, g, g.seat, ws.views)]
        apply_action(t, g, select_action(t, p, w, g, v, ws.mask, ws.values, False))
    write_win_probabilities(t, p, ws.weights, g, ws.views, s.lead, s.lead_growth, ws.shares)

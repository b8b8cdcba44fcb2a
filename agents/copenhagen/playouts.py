"""Games played to their end by the heuristic in compiled code, with weights of their own for every seat."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.copenhagen.ahead import decide_ahead
from agents.copenhagen.view import forget, new_views, pieces
from agents.copenhagen.weights import QUICK, Weights, weights_record
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.states import States
from helsinki_env.games.copenhagen.actions import SIZE
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.state import SEATS, new_states
from helsinki_env.games.copenhagen.step import apply

__all__ = ["play_out_guided"]


@kernel
def _play_batch(tables, parts, weights, states, views, work, mask, values):
    """Play every game to its end; the fifth view serves second thoughts."""
    t, p = tables[0], parts[0]
    decisions = 0
    for b in range(len(states)):
        g = states[b]
        for seat in range(len(views)):
            forget(views[seat])
        while not g.done:
            write_mask(t, g, mask)
            w = weights[g.seat]
            apply(t, g, decide_ahead(t, p, w, g, views[g.seat], views[SEATS], work, mask, values))
            decisions += 1
    return decisions


def play_out_guided(config: CopenhagenConfig, states: States, weights: Sequence[Weights] = (QUICK,) * SEATS) -> int:
    """Play records to the end in place, each seat by the heuristic; return how many decisions were taken.

    Args:
        config: a configuration with the component file of the games.
        states: records, (B,).
        weights: of each of the four seats; default: those of the playouts of the search players.
    """
    records: npt.NDArray[Any] = np.concatenate([weights_record(seat) for seat in weights])
    views, work, scratch = new_views(SEATS + 1), new_states(1), (np.zeros(SIZE, np.int8), np.zeros(SIZE))
    return int(_play_batch(config.tables, pieces(config), records, states, views, work, *scratch))

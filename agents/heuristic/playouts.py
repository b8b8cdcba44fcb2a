"""Games played to their end by the heuristic in compiled code, with weights of their own for every seat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import heuristic_of, reset_view, select_action_lookahead, weights_record
from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States

__all__ = ["play_out_with_heuristic"]


@kernel
def _play_batch(tables, parts, weights, states, views, work, mask, values):
    """Play every game to its end; the fifth view serves second thoughts."""
    t, p = tables[0], parts[0]
    decisions = 0
    for b in range(len(states)):
        g = states[b]
        for seat in range(len(views)):
            reset_view(views[seat], g.chance)
        while not g.done:
            write_mask(t, g, mask)
            seat = np.int64(g.seat)
            apply_action(
                t, g, select_action_lookahead(t, p, weights[seat], g, views[seat], views[MAX_SEATS], work, mask, values)
            )
            decisions += 1
    return decisions


def play_out_with_heuristic(config: Any, states: States, weights: Sequence[Any] | None = None) -> int:
    """Play records to the end in place, each seat by the heuristic; return how many decisions were taken.

    Args:
        config: a configuration with the component file of the games.
        states: records, (B,).
        weights: of each of the four seats; default: those of the playouts of the search players.
    """
    guide, spec = heuristic_of(config), spec_of(config)
    ids = spec.num_actions(config)
    records: npt.NDArray[Any] = np.concatenate([weights_record(seat) for seat in weights or (guide.quick,) * MAX_SEATS])
    views, work = guide.new_views(MAX_SEATS + 1), spec.new_states(config, 1)
    scratch = np.zeros(ids, np.int8), np.zeros(ids)
    return int(_play_batch(config.tables, guide.pieces(config), records, states, views, work, *scratch))

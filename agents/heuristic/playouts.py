"""Games played to their end by the heuristic in compiled code, with weights of their own for every seat."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from agents.heuristic.decide import decide
from agents.heuristic.view import new_views, pieces
from agents.heuristic.weights import Weights, weights_record
from helsinki_env import GameConfig
from helsinki_env.core.kernel import kernel
from helsinki_env.core.state import SEATS, States
from helsinki_env.core.step import apply, write_mask

__all__ = ["guided_playout", "play_out_guided"]


@kernel
def guided_playout(t, p, weights, g, views, mask, values):
    """Play a game to its end; return the number of decisions.

    `weights` and `views`: one record for each seat; `mask` int8 and `values` float64 (ids,): scratch.
    """
    decisions = 0
    while not g.done:
        write_mask(t, g, mask)
        apply(t, g, decide(t, p, weights[g.seat], g, views[g.seat], mask, values, False))
        decisions += 1
    return decisions


@kernel
def _play_batch(tables, parts, weights, states, views, mask, values):
    decisions = 0
    for b in range(len(states)):
        for seat in range(len(views)):
            views[seat].of_turns = -1.0
        decisions += guided_playout(tables[0], parts[0], weights, states[b], views, mask, values)
    return decisions


def play_out_guided(config: GameConfig, states: States, weights: list[Weights] | None = None) -> int:
    """Play records to the end in place, each seat by the heuristic; return how many decisions were taken.

    Args:
        config: a configuration with the component file of the games.
        states: records, (B,).
        weights: of each seat; default: the tuned ones.
    """
    chosen = weights or [Weights()] * SEATS
    records: npt.NDArray[Any] = np.concatenate([weights_record(w) for w in chosen])
    ids = config.tables[0].offset[11] + 1
    return int(
        _play_batch(
            config.tables,
            pieces(config),
            records,
            states,
            new_views(SEATS),
            np.zeros(ids, np.int8),
            np.zeros(ids),
        )
    )

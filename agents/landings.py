"""Where each legal placement would come to rest: the geometry that a network need not learn.

Read from the observation and the mask alone. A network that values the cells of a board can so value every placement,
whatever side, orientation and lane it comes from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.core import state
from helsinki_env.core.actions import LANES, ORIENTATIONS, PLACE
from helsinki_env.core.bits import bit
from helsinki_env.core.kernel import kernel
from helsinki_env.core.shapes import MOST_ROOFS, rest
from helsinki_env.observation import layout

__all__ = ["NO_CELL", "landings"]

#: Stands in place of a cell where a tile has fewer than five roofs.
NO_CELL = 49
_PHASE = layout(0)["phase"].start + state.PLACE
_BUILDING = layout(0)["building"].start
_PLACES = 4 * ORIENTATIONS * LANES


@kernel
def _write(tables, observation, mask, rows, actions, cells):
    t = tables[0]
    first = t.offset[PLACE]
    found = 0
    for b in range(len(observation)):
        if not observation[b, _PHASE]:
            continue
        kind = np.int64(t.kind[np.int64(observation[b, _BUILDING]) - 1])
        built = np.int64(0)
        for cell in range(49):
            if observation[b, cell]:
                built |= bit(cell)
        for argument in range(_PLACES):
            if mask[b, first + argument]:
                piece = 8 * kind + argument // LANES % ORIENTATIONS
                corner = rest(t, piece, argument // (ORIENTATIONS * LANES), argument % LANES, built)
                rows[found] = b
                actions[found] = first + argument
                for roof in range(MOST_ROOFS):
                    cells[found, roof] = corner + t.corner_cells[piece, roof] if roof < kind % 4 + 2 else NO_CELL
                found += 1


def landings(
    tables: Any, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the landing of every legal placement of a batch: (rows, actions, cells).

    Args:
        tables: of the component file (`GameConfig.tables`).
        observation: int8 (B, F), seen from the seat to move.
        mask: legal decisions, int8 (B, A).

    Returns:
        rows int64 (N,): row of the batch. actions int64 (N,): id of the placement. cells int64 (N, 5): cells of the own
        board that the tile would cover, `NO_CELL` beyond its roofs.
    """
    first = int(tables[0].offset[PLACE])
    count = int(mask[:, first : first + _PLACES].sum(dtype=np.int64))
    rows, actions = np.zeros((2, count), np.int64)
    cells = np.zeros((count, MOST_ROOFS), np.int64)
    _write(tables, observation, mask, rows, actions, cells)
    return rows, actions, cells

"""Build the lookup tables of a component file: one record, passed as `t`, with all data that kernels read.

Kernels never read component files themselves, so a new file needs no recompilation.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.limits import Limits, register_limits
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import COLUMNS, ROWS, Components
from helsinki_env.games.copenhagen.shapes import MOST_CELLS, ShapeRows, offsets_of
from helsinki_env.games.copenhagen.state import GAME, RECORD, TILE_KINDS, Bounds

_PIECES = TILE_KINDS * actions.ORIENTATIONS

TABLES = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("cells", np.int64, (_PIECES,)),  # cells of an orientation placed in the lower left corner, as a set
                ("corners", np.int64, (_PIECES,)),  # possible lower left corners, as a set
                ("offsets", np.int64, (_PIECES, MOST_CELLS)),  # its cells, padded with the first cell
                ("coats", np.int64),  # cells with a coat of arms, as a set
                ("coat_rows", np.int64),  # rows with a coat of arms, each as its leftmost cell
                ("hand_limit", np.int64),
                ("goal", np.int64),
                ("last_cards", np.int64),
                ("points_row", np.int64),
                ("points_row_windows", np.int64),
                ("points_column", np.int64),
                ("points_column_windows", np.int64),
                ("white_tiles", np.int64),
                ("offset", np.int64, (len(actions.KINDS),)),
                ("kind_of", np.int8, (actions.NUM_ACTIONS,)),  # action kind of each id
                ("width", np.int8, (_PIECES,)),
                ("height", np.int8, (_PIECES,)),
                ("brick", np.int8, (_PIECES,)),  # cell of the brick in the lower left corner
                ("orientations", np.int8, (TILE_KINDS,)),
                ("outlines", np.uint8, (TILE_KINDS, actions.ORIENTATIONS)),  # orientations with distinct cells
                ("outline_count", np.int8, (TILE_KINDS,)),
                ("cards", np.int8, (5,)),  # number of cards of each color, by number of players
                ("hands", np.int8, (4,)),
                ("supply", np.int8, (5, TILE_KINDS)),  # number of tiles, by number of players
            ],
            align=True,
        ),
    )
)


@lru_cache(maxsize=32)
def build_tables(components: Components) -> npt.NDArray[Any]:
    """Return the tables of a component file, shape (1,), dtype `TABLES`. Kernels receive its single record."""
    array = np.zeros(1, TABLES)
    t = array[0]
    t.offset[:] = actions.KIND_OFFSETS
    t.kind_of[:] = actions.KIND_OF
    t.coats = sum(1 << cell for cell in components.coats)
    t.coat_rows = sum(1 << COLUMNS * y for y in components.coat_rows)
    for name in ("hand_limit", "goal", "last_cards", "white_tiles"):
        t[name] = getattr(components, name)
    for name in ("row", "row_windows", "column", "column_windows"):
        t[f"points_{name}"] = getattr(components, f"points_{name}")
    t.hands[:] = components.hands
    for players in (2, 3, 4):
        t.cards[players] = components.cards[players - 2]
        t.supply[players] = list(components.copies[players - 2]) * 5
    for kind in range(TILE_KINDS):
        drawings = orientations(components.drawings[kind // 4][kind % 4])
        t.orientations[kind] = len(drawings)
        seen = set()
        for orientation, drawing in enumerate(drawings):
            piece = actions.ORIENTATIONS * kind + orientation
            _fill_piece(t, piece, drawing)
            if int(t.cells[piece]) not in seen:
                seen.add(int(t.cells[piece]))
                t.outlines[kind, t.outline_count[kind]] = piece
                t.outline_count[kind] += 1
    array.flags.writeable = False
    return array


def _fill_piece(t: Any, piece: int, drawing: ShapeRows) -> None:
    cells, brick = offsets_of(drawing)
    width, height = len(drawing[0]), len(drawing)
    t.width[piece], t.height[piece], t.brick[piece] = width, height, brick
    t.cells[piece] = sum(1 << cell for cell in cells)
    t.corners[piece] = sum(1 << COLUMNS * y + x for y in range(ROWS - height + 1) for x in range(COLUMNS - width + 1))
    t.offsets[piece] = (cells + cells[:1] * MOST_CELLS)[:MOST_CELLS]


def bounds_of(t: Any) -> Bounds:
    """Return the component counts in the tables `t` that limit the fields of a record."""
    return Bounds(int(t["cards"].max()), tuple(t["supply"].max(axis=0).tolist()), int(t["white_tiles"]))


@lru_cache(maxsize=32)
def _limits(bounds: Bounds) -> Limits:
    return Limits(actions.NUM_ACTIONS, *RECORD.ranges(bounds))


register_limits(GAME, TABLES, lambda t: _limits(bounds_of(t)))

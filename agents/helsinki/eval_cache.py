"""Memory layout of a seat's view of its own board, one record: see `helsinki_env.agents.helsinki.board_view`.

Records are aligned to cache lines, so that a search with many views loads few of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.shapes import MOST_ROOFS
from helsinki_env.games.helsinki.state import WIDE

#: Maximum number of superstructures of a card, plus one; cards with more count as having the maximum.
SHOWN = 6
#: Lines, padded by the reach of the largest tile. The padding is zero, so that a loop over a tile's lines has a fixed
#: length, which is faster than the exact one.
PADDED = 7 + MOST_ROOFS - 1
#: Maximum number of different card types in a hand while cards are being tried.
HAND_CAPACITY = WIDE
#: Number of draw pile sizes for which turn evaluations are cached, a power of two.
PILES = 128
#: Size of a cache line in bytes.
LINE = 64
#: See `known` below.
DUE = 2
#: Key of unknown tiles.
NOWHERE = np.uint64(0)


def _record(fields: list[Any]) -> np.dtype[Any]:
    """Return a record type whose records are aligned to cache lines (`LINE`) if the first one is."""
    size = np.dtype(fields, align=True).itemsize
    padding: list[Any] = [("pad", np.uint8, (-size % LINE,))] if size % LINE else []
    return np.dtype((np.record, np.dtype([*fields, *padding], align=True)))


_TURNS = _record(
    [
        ("known", np.int64),
        ("turns", np.float64),
        # as in `VIEW_DTYPE`
        ("later", np.float64),
        ("coat", np.float64),
        ("later_drawn", np.float64),
        ("filled", np.float64, (8,)),
        ("filled_drawn", np.float64, (8,)),
    ]
)
"""Values that depend only on the turns left."""

_PLACEMENT = _record(
    [
        ("best", np.float64),
        ("cells", np.int64),
        ("place", np.int32),  # orientation and lane as in PLACE
        ("roofs_known", np.int32),  # bit set of the numbers of superstructures with known `roofs`
        ("roofs", np.float64, (SHOWN - 1,)),  # their gains, from one on
    ]
)
"""A best placement in one cache line."""

VIEW_DTYPE = _record(
    [
        # cached best placements, by kind of tile and side: now, and while drawing two cards
        ("placements", _PLACEMENT, (20, 4, 2)),
        # key of the analysis below
        ("of_built", np.int64),
        ("of_standing", np.int64),
        ("of_coats", np.int64),
        ("of_turns", np.float64),
        ("of_bonus", np.int64),
        ("of_tiles", np.uint64),  # hash of the tiles and their cells; `NOWHERE`: not known
        ("of_road", np.int64),  # whether the seat may still earn a bonus card
        ("latest", np.int64),  # in a seat's own view: the last result of `view_index`; 0: itself
        # the own board, cells as bit sets
        ("built", np.int64),
        ("standing", np.int64),  # superstructures
        ("coats", np.int64),  # coats of arms not yet taken
        ("tiles", np.int64, (len(COLOURS),)),  # pavilion tiles by color
        ("open", np.int64, (4,)),  # empty cells that a side reaches in a straight line
        ("reach", np.int64),  # the same from any side
        ("lonely", np.int64),  # empty cells that no side closes off, without an empty neighbor
        ("packed", np.int64, (4,)),  # see games.helsinki.shapes.profile
        ("height", np.int64, (4, PADDED)),  # empty cells before the first built one, by side and lane
        ("road", np.float64),  # value of the bonus card that the crosswalks would earn; 0: none
        # evaluation
        ("turns", np.float64),  # turns left after this one
        ("later", np.float64),  # weight of what counts only in later turns
        ("later_now", np.float64),  # `later`, except while cards are being drawn
        ("later_drawn", np.float64),  # the same after drawing two cards
        ("loss_drawn", np.float64),  # loss of the board from that
        ("coat", np.float64),  # value of a coat
        ("filled", np.float64, (8,)),  # probability of a line with this many empty cells to be full at the end
        ("filled_drawn", np.float64, (8,)),  # the same after drawing two cards
        ("chance", np.float64, (2, 7, 6)),  # probability of rows and columns to be full, with 0 to 5 more cells built
        ("gain", np.float64, (2, PADDED, 6)),  # expected points of the line from these cells
        ("hole", np.float64, (49,)),  # expected points lost when an empty cell is closed off
        ("gap", np.float64, (49,)),  # the same when it loses its last empty neighbor
        ("of_pile", _TURNS, (PILES,)),  # cached values by the size of the draw pile
        # upper bounds on the points of each cell of a tile and of each superstructure
        ("most_cell", np.float64),
        ("most_roof", np.float64),
        ("cached", np.int8, (20, 4, 2)),  # which `placements` are known
        # Current placements: the first request since the board changed determines whether they are for now (1) or for
        # drawing (2). Add 2 (`DUE`) for a requested placement that is not computed yet.
        ("known", np.int8, (20, 4)),
        ("best", np.float64, (20, 4)),
        ("place", np.int64, (20, 4)),  # orientation and lane as in PLACE
        ("cells", np.int64, (20, 4)),
        ("roofs_known", np.int8, (20, 4, SHOWN)),  # 1: known; `DUE` or one more: as in `known`
        ("roofs", np.float64, (20, 4, SHOWN)),  # gain of the superstructures on it, or (`w.apart`) the total gain
        ("taken", np.int64),  # cells of a tile whose building is being tried
        # cards and coats that the seat may use, changed during evaluation
        ("meadow", np.int64),
        ("usable", np.int64),  # board actions that a coat could pay for
        ("hand", np.int8, (WIDE,)),
        ("held", np.int64, (HAND_CAPACITY,)),  # card types in hand
        ("held_count", np.int64),
        ("pairs", np.int64),  # pairs of the display that are held temporarily
        ("owned", np.int64, (len(COLOURS),)),  # cards by color
        ("changed", np.int64),  # colors of these cards, as a bit set
        ("best_of_colour", np.float64, (4, len(COLOURS))),  # values of the best plans of other colors, by side
        ("best_known", np.int64, (4,)),  # bit set of the colors for which they are known
        ("most", np.float64, (4,)),  # upper bound on the value of the hand without such pairs, by side
        ("most_known", np.int64),  # bit set of the sides for which it is known
        ("spare", np.int8, (HAND_CAPACITY,)),  # their counts, saved while a payment is tried
        ("cost", np.float64, (WIDE,)),  # cost of giving a card away
        # the hand by color, in the order of `held`: its entries, number of cards, value of the best plan
        ("colours", np.int64),
        ("begins", np.int64, (len(COLOURS),)),
        ("ends", np.int64, (len(COLOURS),)),
        ("of_colour", np.int64, (len(COLOURS),)),
        ("plans", np.float64, (len(COLOURS),)),
        ("planned", np.float64, (HAND_CAPACITY,)),  # value of building each of `held`; -1: not known
        # requested gains of a card's tile by side: bit set of the sides, then of the sides not computed yet
        ("asked", np.uint8, (WIDE,)),
        ("adds", np.float64, (WIDE, 4)),
    ]
)

PIECES_DTYPE = np.dtype(
    (
        np.record,
        [
            ("in_row", np.int64, (160, MOST_ROOFS)),  # roofs by row of the bounding box
            ("in_column", np.int64, (160, MOST_ROOFS)),
            ("front", np.int64, (160, 4, MOST_ROOFS)),  # depth of its front in each of its lanes, by side
            ("corner", np.int64, (160, 4)),  # corner of the bounding box at depth 0 of the first lane
        ],
    )
)


def new_views(count: int) -> npt.NDArray[Any]:
    """Return empty scratch records, (count,)."""
    memory = np.zeros(count * VIEW_DTYPE.itemsize + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE
    views = memory[begin : begin + count * VIEW_DTYPE.itemsize].view(VIEW_DTYPE)
    views["of_turns"] = -1.0
    return views

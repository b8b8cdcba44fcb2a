"""Memory layout of a seat's view of its own board, a single record; see `helsinki_env.agents.helsinki.board_view`.

Records are aligned to cache lines, so that a search with many views loads few lines.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.shapes import MOST_ROOFS
from helsinki_env.games.helsinki.state import WIDE

#: Maximum number of superstructures of a card, plus one; cards with more are treated as having the maximum.
SHOWN = 6
#: Number of lines, padded for the largest tile. The padding is zero, so that loops over a tile's lines can have a fixed
#: length, which is faster.
PADDED = 7 + MOST_ROOFS - 1
#: Maximum number of different card types in a hand while cards are being tried.
HAND_CAPACITY = WIDE
#: Number of draw pile sizes for which turn evaluations are cached, a power of two.
PILES = 128
#: Size of a cache line in bytes.
LINE = 64
#: Marks requested values; see `known` below.
DUE = 2
#: Hash of unknown tiles.
NOWHERE = np.uint64(0)


def _record(fields: list[Any]) -> np.dtype[Any]:
    """Create a record type whose records are aligned to cache lines (`LINE`) if the first one is."""
    size = np.dtype(fields, align=True).itemsize
    padding: list[Any] = [("pad", np.uint8, (-size % LINE,))] if size % LINE else []
    return np.dtype((np.record, np.dtype([*fields, *padding], align=True)))


_TURNS = _record(
    [
        ("known", np.int64),
        ("turns", np.float64),
        # the fields below are as in `VIEW_DTYPE`
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
        ("roofs_known", np.int32),  # bit set of the superstructure counts whose `roofs` are known
        ("roofs", np.float64, (SHOWN - 1,)),  # gains from one or more superstructures
    ]
)
"""A best placement, which fits in one cache line."""

VIEW_DTYPE = _record(
    [
        # cached best placements, by kind of tile and side: now, and while drawing two cards
        ("placements", _PLACEMENT, (20, 4, 2)),
        # cache key of the analysis below
        ("of_built", np.int64),
        ("of_standing", np.int64),
        ("of_coats", np.int64),
        ("of_turns", np.float64),
        ("of_bonus", np.int64),
        ("of_tiles", np.uint64),  # hash of the tiles and their cells; `NOWHERE` if unknown
        ("of_road", np.int64),  # whether the seat may still earn a bonus card
        ("latest", np.int64),  # in a seat's own view: the last result of `view_index`, or 0 for itself
        # the seat's own board; cells are bit sets
        ("built", np.int64),
        ("standing", np.int64),  # superstructures
        ("coats", np.int64),  # coats of arms not yet taken
        ("tiles", np.int64, (len(COLORS),)),  # pavilion tiles by color
        ("open", np.int64, (4,)),  # empty cells that can be reached in a straight line, by side
        ("reach", np.int64),  # empty cells that can be reached from any side
        ("lonely", np.int64),  # cells of `reach` without an empty neighbor
        ("packed", np.int64, (4,)),  # see games.helsinki.shapes.profile
        ("height", np.int64, (4, PADDED)),  # empty cells before the first built one, by side and lane
        ("road", np.float64),  # value of the bonus card that the crosswalks would earn; 0 if there is none
        # evaluation
        ("turns", np.float64),  # turns left after this one
        ("later", np.float64),  # factor on later values
        ("later_now", np.float64),  # value of `later` while no cards are being drawn
        ("later_drawn", np.float64),  # the same after drawing two cards
        ("loss_drawn", np.float64),  # loss in the board's value from drawing two cards
        ("coat", np.float64),  # value of a coat
        ("filled", np.float64, (8,)),  # probability that a line with this many empty cells is full at the end
        ("filled_drawn", np.float64, (8,)),  # the same after drawing two cards
        ("chance", np.float64, (2, 7, 6)),  # probability that a line is full at the end, with 0 to 5 more cells built
        ("gain", np.float64, (2, PADDED, 6)),  # expected points from these cells in the line
        ("hole", np.float64, (49,)),  # expected points lost when an empty cell is closed off
        ("gap", np.float64, (49,)),  # the same when it loses its last empty neighbor
        ("of_pile", _TURNS, (PILES,)),  # cached values by size of the draw pile
        # upper bounds on the points of each cell of a tile and of each superstructure
        ("most_cell", np.float64),
        ("most_roof", np.float64),
        ("cached", np.int8, (20, 4, 2)),  # whether each of `placements` is known
        # Current placements: the first request since the board changed determines whether they are for now (1) or for
        # drawing (2). `DUE` (2) is added while a requested placement has not been computed.
        ("known", np.int8, (20, 4)),
        ("best", np.float64, (20, 4)),
        ("place", np.int64, (20, 4)),  # orientation and lane as in PLACE
        ("cells", np.int64, (20, 4)),
        ("roofs_known", np.int8, (20, 4, SHOWN)),  # 1 if known; `DUE` or `DUE` + 1 if requested
        ("roofs", np.float64, (20, 4, SHOWN)),  # gain from superstructures, or total gain if `w.apart` is 0
        ("taken", np.int64),  # cells of a tile that is being tried
        # cards and coats that the seat may use, changed during evaluation
        ("meadow", np.int64),
        ("usable", np.int64),  # board actions that the coats could pay for
        ("hand", np.int8, (WIDE,)),
        ("held", np.int64, (HAND_CAPACITY,)),  # card types in hand
        ("held_count", np.int64),
        ("pairs", np.int64),  # number of display pairs that are held temporarily
        ("owned", np.int64, (len(COLORS),)),  # cards by color
        ("changed", np.int64),  # colors of temporarily held cards, as a bit set
        ("best_of_colour", np.float64, (4, len(COLORS))),  # values of the best plans of unchanged colors, by side
        ("best_known", np.int64, (4,)),  # bit set of the colors for which they are known
        ("most", np.float64, (4,)),  # upper bound on the value of the hand without temporary pairs, by side
        ("most_known", np.int64),  # bit set of the sides for which it is known
        ("spare", np.int8, (HAND_CAPACITY,)),  # counts of `held`, saved while a payment is tried
        ("cost", np.float64, (WIDE,)),  # cost of giving up a card
        # the hand by color, in the order of `held`: entries, number of cards, value of the best plan
        ("colours", np.int64),
        ("begins", np.int64, (len(COLORS),)),
        ("ends", np.int64, (len(COLORS),)),
        ("of_colour", np.int64, (len(COLORS),)),
        ("plans", np.float64, (len(COLORS),)),
        ("planned", np.float64, (HAND_CAPACITY,)),  # value of building each of `held`; -1 if unknown
        # gains of each card's tile by side: bit set of computed (low bits) and requested sides (high bits); values
        ("asked", np.uint8, (WIDE,)),
        ("adds", np.float64, (WIDE, 4)),
    ]
)

PIECES_DTYPE = np.dtype(
    (
        np.record,
        [
            ("in_row", np.int64, (160, MOST_ROOFS)),  # number of roofs by row of the bounding box
            ("in_column", np.int64, (160, MOST_ROOFS)),
            ("front", np.int64, (160, 4, MOST_ROOFS)),  # depth of the front in each lane, by side
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

"""What a seat's view of its own board holds, as one record: see `agents.helsinki.view`.

What is fetched from memory together begins with a record, so that a search, which has many views, fetches little.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.shapes import MOST_ROOFS
from helsinki_env.games.helsinki.state import WIDE

__all__ = ["DUE", "HELD", "NOWHERE", "PADDED", "PIECES", "PILES", "SHOWN", "VIEW", "new_views"]

#: Superstructures that a card may show, one more; cards that show more count as if they showed so many.
SHOWN = 6
#: Lines, and as many beyond the board as the largest tile could reach: there all entries are zero, so that a loop over
#: a tile's lines always has the same length, which is faster than the right one.
PADDED = 7 + MOST_ROOFS - 1
#: Different card types that a hand may hold while cards are being tried.
HELD = WIDE
#: Draw piles that are told apart where judgements of turns are kept, a power of two.
PILES = 128
#: Bytes that are fetched from memory together.
LINE = 64
#: See `known` below.
DUE = 2
#: For tiles that are not known.
NOWHERE = np.uint64(0)


def _record(fields: list[Any]) -> np.dtype[Any]:
    """Return a type of records of which each begins where memory is fetched from (`LINE`), if the first one does."""
    size = np.dtype(fields, align=True).itemsize
    padding: list[Any] = [("pad", np.uint8, (-size % LINE,))] if size % LINE else []
    return np.dtype((np.record, np.dtype([*fields, *padding], align=True)))


_TURNS = _record(
    [
        ("known", np.int64),
        ("turns", np.float64),
        # as in `VIEW`
        ("later", np.float64),
        ("coat", np.float64),
        ("later_drawn", np.float64),
        ("filled", np.float64, (8,)),
        ("filled_drawn", np.float64, (8,)),
    ]
)
"""What depends on the turns left alone."""

_PLACEMENT = _record(
    [
        ("best", np.float64),
        ("cells", np.int64),
        ("place", np.int32),  # orientation and lane as in PLACE
        ("roofs_known", np.int32),  # numbers of superstructures for which `roofs` is known, as a set
        ("roofs", np.float64, (SHOWN - 1,)),  # what they add, from one on
    ]
)
"""A best placement, in as many bytes as are fetched from memory together."""

VIEW = _record(
    [
        # best placements, by kind of tile and side, as far as somebody has ever asked: now, and drawing two cards
        ("placements", _PLACEMENT, (20, 4, 2)),
        # what the analysis below holds for
        ("of_built", np.int64),
        ("of_standing", np.int64),
        ("of_coats", np.int64),
        ("of_turns", np.float64),
        ("of_bonus", np.int64),
        ("of_tiles", np.uint64),  # where which tiles lie, as one word; `NOWHERE`: not known
        ("of_road", np.int64),  # whether the seat may still earn a bonus card
        ("latest", np.int64),  # of a seat's own view: that which `recall` has found last; 0: itself
        # the own board, cells as sets
        ("built", np.int64),
        ("standing", np.int64),  # superstructures
        ("coats", np.int64),  # coats of arms still lying
        ("tiles", np.int64, (len(COLOURS),)),  # pavilion tiles by colour
        ("open", np.int64, (4,)),  # empty cells that are reached from a side in a straight line
        ("reach", np.int64),  # the same from any side
        ("lonely", np.int64),  # empty cells that no side closes off and that have no empty neighbour
        ("packed", np.int64, (4,)),  # see games.helsinki.shapes.profile
        ("height", np.int64, (4, PADDED)),  # empty cells before the first built one, by side and lane
        ("road", np.float64),  # the bonus card that the crosswalks would earn; 0: none
        # judgement
        ("turns", np.float64),  # turns that are left after this one
        ("later", np.float64),  # what counts only in later turns counts so much
        ("later_now", np.float64),  # what `later` is but while cards are being drawn
        ("later_drawn", np.float64),  # the same once two cards are drawn
        ("loss_drawn", np.float64),  # what the board loses by that
        ("coat", np.float64),  # what a coat is worth
        ("filled", np.float64, (8,)),  # chance of a line with so many empty cells to be full in the end
        ("filled_drawn", np.float64, (8,)),  # the same once two cards are drawn
        ("chance", np.float64, (2, 7, 6)),  # of rows and columns to be full, with 0 to 5 more cells built
        ("gain", np.float64, (2, PADDED, 6)),  # expected points of the line that these cells add
        ("hole", np.float64, (49,)),  # expected points lost when an empty cell is closed off
        ("gap", np.float64, (49,)),  # the same when it loses its last empty neighbour
        ("of_pile", _TURNS, (PILES,)),  # what has been judged of the turns left, by the size of the draw pile
        # what no tile exceeds: points of each of its cells and of each superstructure
        ("most_cell", np.float64),
        ("most_roof", np.float64),
        ("kept", np.int8, (20, 4, 2)),  # which `placements` are known
        # those that count: who asked first since the board changed decides whether they are now's (1) or not (2);
        # 2 more (`DUE`): somebody did who could do without, and nobody has looked yet
        ("known", np.int8, (20, 4)),
        ("best", np.float64, (20, 4)),
        ("place", np.int64, (20, 4)),  # orientation and lane as in PLACE
        ("cells", np.int64, (20, 4)),
        ("roofs_known", np.int8, (20, 4, SHOWN)),  # 1: known; `DUE` or one more: as in `known`
        ("roofs", np.float64, (20, 4, SHOWN)),  # what so many superstructures on it add, or (`w.apart`) all of it
        ("taken", np.int64),  # cells that a tile takes while its building is being tried
        # cards and coats that the seat may use, changed while something is tried
        ("meadow", np.int64),
        ("usable", np.int64),  # actions that a coat could pay for
        ("hand", np.int8, (WIDE,)),
        ("held", np.int64, (HELD,)),  # the types in hand
        ("held_count", np.int64),
        ("pairs", np.int64),  # pairs of the display that are held for the time being
        ("owned", np.int64, (len(COLOURS),)),  # cards by colour
        ("changed", np.int64),  # colours of their cards, as a set
        ("best_of_colour", np.float64, (4, len(COLOURS))),  # what the best plans of other colours are worth, by side
        ("best_known", np.int64, (4,)),  # for which colours, as a set
        ("most", np.float64, (4,)),  # what the hand, without such pairs, is worth at most; see `cards.most_left`
        ("most_known", np.int64),  # for which sides, as a set
        ("spare", np.int8, (HELD,)),  # counts of those, kept while a payment is tried
        ("cost", np.float64, (WIDE,)),  # what giving a card away costs
        # the hand by colour, in the order of `held`: entries of it, cards, what the best plan is worth
        ("colours", np.int64),
        ("begins", np.int64, (len(COLOURS),)),
        ("ends", np.int64, (len(COLOURS),)),
        ("of_colour", np.int64, (len(COLOURS),)),
        ("plans", np.float64, (len(COLOURS),)),
        ("planned", np.float64, (HELD,)),  # what building each of `held` is worth; -1: not known
        # what the tile of a card adds from a side, as far as somebody asked: sides as a set, and four bits above
        # that those for which that is due
        ("asked", np.uint8, (WIDE,)),
        ("adds", np.float64, (WIDE, 4)),
    ]
)

PIECES = np.dtype(
    (
        np.record,
        [
            ("in_row", np.int64, (160, MOST_ROOFS)),  # roofs by row of the bounding box
            ("in_column", np.int64, (160, MOST_ROOFS)),
            ("front", np.int64, (160, 4, MOST_ROOFS)),  # how deep it begins in each lane it takes, by side
            ("corner", np.int64, (160, 4)),  # of the bounding box, if it is pushed into the first lane not at all
        ],
    )
)


def new_views(count: int) -> npt.NDArray[Any]:
    """Return scratch records, (count,), that remember nothing."""
    memory = np.zeros(count * VIEW.itemsize + LINE, np.uint8)
    begin = -memory.ctypes.data % LINE
    views = memory[begin : begin + count * VIEW.itemsize].view(VIEW)
    views["of_turns"] = -1.0
    return views

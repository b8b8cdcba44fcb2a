"""GAME, the dtype of a game: one flat record per game; a batch is an array of records.

`states["hand"]` is the column of a batch, `states[b]` a single game as rules see it. The record is complete, including
its random key. It always has four seats; unused ones stay blank. -1 means "none", and 0 means zero. The record does not
store coats of arms: they remain on cells until these are filled, and at rows until these are full.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MAX_SEATS = 4
#: A board of 45 cells holds at most this many tiles of two cells.
TILES = 22
#: Twenty cards of each color (component files with more are rejected) and the End of Game card.
PILE = 101
#: The End of Game card in the draw pile.
END_CARD = 5

# Phases, in the order of the rules.
(
    PHASE_MAIN,
    PHASE_TAKE,
    PHASE_DISCARD,
    PHASE_END,
    PHASE_PLACE,
    PHASE_RECOLOUR,
    PHASE_PAY,
    PHASE_COAT,
) = range(8)
PHASES = ("MAIN", "TAKE", "DISCARD", "END", "PLACE", "RECOLOUR", "PAY", "COAT")

States = npt.NDArray[Any]

_FIELDS: list[tuple[str, Any] | tuple[str, Any, tuple[int, ...]]] = [
    ("chance", np.uint64),
    # boards: sets of cells
    ("filled", np.int64, (MAX_SEATS,)),
    ("coloured", np.int64, (MAX_SEATS, 5)),  # cells of colored tiles, by color
    ("white", np.int64, (MAX_SEATS,)),
    ("bricks", np.int64, (MAX_SEATS,)),
    ("points", np.int16, (MAX_SEATS,)),
    ("round_number", np.int16),
    ("place", np.int16),  # PAY: the argument of PLACE
    # colored tiles in the order built: 8 * kind + orientation, where kind = 4 * colour + size - 2; lower left corner
    ("tile_piece", np.uint8, (MAX_SEATS, TILES)),
    ("tile_cell", np.int8, (MAX_SEATS, TILES)),
    ("tile_count", np.int8, (MAX_SEATS,)),
    # abilities as sets of ids
    ("owned", np.int8, (MAX_SEATS,)),
    ("used", np.int8, (MAX_SEATS,)),
    ("denied", np.int8, (MAX_SEATS,)),
    # cards; the next to be drawn is pile[pile_size - 1]
    ("hand", np.int8, (MAX_SEATS, 5)),
    ("known", np.int8, (MAX_SEATS, 5)),
    ("discard", np.int8, (5,)),
    ("reshuffled", np.int8, (5,)),  # the draw pile by color, once it was made from the discard pile
    ("pile", np.int8, (PILE,)),
    ("pile_size", np.int8),
    ("end_card", np.int8),  # whether the End of Game card is in the draw pile
    ("display", np.int8, (7,)),
    ("supply", np.int8, (20,)),  # by kind
    ("white_tiles", np.int8),
    ("players", np.int8),
    ("seat", np.int8),
    ("phase", np.int8),
    ("done", np.int8),
    # the operation in progress
    ("first", np.int8),  # TAKE: slot of the first of two cards, until the second is taken
    ("using", np.int8),  # set of the abilities used for the operation in progress
    ("tile", np.int8),  # kind of the tile that is being built
    ("recolour", np.int8),  # the color whose cards count as the tile's
    ("due", np.int8),  # PAY: cards still to be paid
    ("paid", np.int8, (5,)),  # PAY: cards paid so far
    ("last_discard", np.int8),
    ("rewards", np.int8),  # COAT: pending rewards
]


def _layout() -> np.dtype[Any]:
    used = np.dtype(_FIELDS, align=True).itemsize
    return np.dtype((np.record, np.dtype([*_FIELDS, ("pad", np.uint8, (-used % 64 or 64,))], align=True)))


GAME = _layout()

#: Fields that are -1 when they are empty.
NONE_FIELDS = ("display", "place", "first", "tile", "recolour", "last_discard")


def new_states(count: int) -> States:
    """Return `count` blank records, shape (count,): no cards dealt, two players."""
    states = np.zeros(count, GAME)
    states["players"] = 2
    for name in NONE_FIELDS:
        states[name] = -1
    return states

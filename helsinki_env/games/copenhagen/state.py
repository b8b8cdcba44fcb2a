"""Define `GAME`, the dtype of a game: one flat record for each game. A batch is an array of records.

`states["hand"]` is a column of a batch, and `states[b]` is the single game that a kernel receives. The record is
complete, including the random state. It always has four seats; unused seats stay blank. -1 means "none". The record
does not store coats of arms, because they stay on a cell until it is filled, and next to a row until it is full.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract
from helsinki_env.engine.fields import Digits, Field, RecordTable
from helsinki_env.engine.positions import MAX_OBSERVED
from helsinki_env.games.copenhagen.actions import CELLS, ORIENTATIONS
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, TILE_SIZES

#: Number of kinds of colored tiles, one for each color and size.
TILE_KINDS = len(COLORS) * len(TILE_SIZES)
#: Maximum number of colored tiles on a board: 45 cells hold at most 22 tiles of two cells.
TILES = 22
#: Maximum size of the draw pile: 20 cards of each color, the most that a component file may have, and the End of Game
#: card.
PILE = 101
#: Value of the End of Game card in the draw pile.
END_CARD = 5

MAX_SEATS = contract.MAX_SEATS

# The phases, in the order of the rules.
(PHASE_MAIN, PHASE_TAKE, PHASE_DISCARD, PHASE_END, PHASE_PLACE, PHASE_RECOLOUR, PHASE_PAY, PHASE_COAT) = range(8)
PHASES = ("MAIN", "TAKE", "DISCARD", "END", "PLACE", "RECOLOUR", "PAY", "COAT")

States = npt.NDArray[Any]


class Bounds(NamedTuple):
    """Component counts that limit fields: cards of one color, tiles of each kind, and white tiles."""

    cards: int
    supply: tuple[int, ...]
    white_tiles: int


_BOARD: dict[str, Any] = {"high": 2**CELLS - 1}
_SET: dict[str, Any] = {"members": ABILITIES, "noun": "an ability", "plural": "abilities"}
_CARDS: dict[str, Any] = {
    "high": "cards",
    "position_high": PILE,
    "noun": "a card count",
    "plural": "card counts, one for each colour",
}
_COLOUR: dict[str, Any] = {"empty": -1, "high": len(COLORS) - 1}
_BUILDING = (PHASE_PLACE, PHASE_RECOLOUR, PHASE_PAY)

RECORD = RecordTable(
    __name__,
    __file__,
    (
        Field("chance", np.uint64, high=2**64 - 1),
        # the boards, as sets of cells
        Field("filled", np.int64, (MAX_SEATS,), **_BOARD),
        Field("coloured", np.int64, (MAX_SEATS, 5), **_BOARD),  # cells of colored tiles, by color
        Field("white", np.int64, (MAX_SEATS,), **_BOARD),
        Field("bricks", np.int64, (MAX_SEATS,), **_BOARD),
        # colored tiles in the order built: 8 * kind + orientation, where kind = 4 * colour + size - 2, and lower left
        # corner
        Field("tile_piece", np.uint8, (MAX_SEATS, TILES), high=ORIENTATIONS * TILE_KINDS - 1),
        Field("tile_cell", np.int8, (MAX_SEATS, TILES), high=CELLS - 1),
        Field("tile_count", np.int8, (MAX_SEATS,), high=TILES),
        # Points are below the goal during the game, but the last turn can add all lines of a board.
        Field("points", np.int16, (MAX_SEATS,), high=1000, scale=12, noun="points"),
        Field("owned", np.int8, (MAX_SEATS,), key="abilities", **_SET),
        Field("used", np.int8, (MAX_SEATS,), **_SET),
        Field("denied", np.int8, (MAX_SEATS,), is_setup=True, **_SET),
        # cards; pile[pile_size - 1] is drawn next
        Field("hand", np.int8, (MAX_SEATS, 5), scale=3, **_CARDS),
        Field("known", np.int8, (MAX_SEATS, 5), scale=3, **_CARDS),
        Field("discard", np.int8, (5,), scale=6, key="discard_pile", **_CARDS),
        Field("reshuffled", np.int8, (5,), scale=6, **_CARDS),  # cards in a draw pile made from the discard pile
        Field("pile", np.int8, (PILE,), high=END_CARD),
        Field("pile_size", np.int8, high=PILE, scale=50, key="draw_pile"),
        Field("end_card", np.int8),  # whether the End of Game card is in the draw pile
        Field("display", np.int8, (7,), noun="null or a colour", plural="colours or null", **_COLOUR),
        Field("supply", np.int8, (TILE_KINDS,), high="supply", scale=3),  # by kind
        Field("white_tiles", np.int8, high="white_tiles", scale=20, noun="a supply"),
        Field("players", np.int8, low=2, high=MAX_SEATS, is_setup=True),
        Field("seat", np.int8, high=MAX_SEATS - 1),
        Field(
            "round_number",
            np.int16,
            low=1,
            high=20_000,
            position_high=MAX_OBSERVED,
            scale=25,
            key="round",
            noun="a round",
        ),
        Field("phase", np.int8, options=len(PHASES)),
        Field("done", np.int8),
        # the operation in progress
        # slot of the first of two cards until the second card is taken
        Field("first", np.int8, empty=-1, high=6, optional=(PHASE_TAKE,)),
        # abilities used for the operation in progress
        Field(
            "using",
            np.int8,
            required=(PHASE_RECOLOUR, PHASE_PAY),
            optional=(PHASE_MAIN, PHASE_TAKE, PHASE_PLACE, PHASE_COAT),
            **_SET,
        ),
        # kind of the tile that is being built
        Field(
            "tile",
            np.int8,
            empty=-1,
            high=TILE_KINDS - 1,
            required=_BUILDING,
            digits=Digits(("colour", "size"), 4, (1, 2), (5, 5)),
        ),
        # color that counts as the color of the tile
        Field("recolour", np.int8, required=(PHASE_PAY,), optional=(PHASE_PLACE,), **_COLOUR),
        # argument of PLACE
        Field(
            "place",
            np.int16,
            empty=-1,
            high=ORIENTATIONS * CELLS - 1,
            required=(PHASE_PAY,),
            digits=Digits(("orientation", "cell"), CELLS, (1, 1), (ORIENTATIONS, CELLS)),
        ),
        # cards still to be paid, and cards paid so far
        Field("due", np.int8, high=TILE_SIZES[-1], required=(PHASE_PAY,)),
        Field("paid", np.int8, (5,), scale=3, optional=(PHASE_PAY,), **{**_CARDS, "high": TILE_SIZES[-1]}),
        # color of the last card discarded in this turn
        Field("last_discard", np.int8, optional=tuple({*range(len(PHASES))} - {PHASE_TAKE}), **_COLOUR),
        # pending rewards
        Field("rewards", np.int8, high=CELLS, scale=3, required=(PHASE_COAT,)),
    ),
)
"""The fields of a record (`helsinki_env.engine.fields`)."""

GAME = RECORD.dtype


def new_states(count: int) -> States:
    """Return `count` blank records, shape (count,), with two players and no cards dealt."""
    states = RECORD.new_states(count)
    states["players"] = 2
    return states

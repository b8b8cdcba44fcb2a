"""The record dtype, `GAME`. A game is one flat record, and a batch is an array of records.

`states["hand"]` is a column of a batch, and `states[b]` is the single game that a kernel receives. A record contains
the complete state of a game, including the random state, but no derived values such as masks or scores. It always has
four seats; unused seats are blank. -1 means "none" in all fields.

With the default 51 card types, a record has 1,024 bytes. A component file with fewer types uses a layout with more
padding, and a file with more types uses a wider layout. Kernels are selected by dtype; some are specialized for 51
types.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract
from helsinki_env.engine.fields import Field, RecordTable
from helsinki_env.engine.positions import MAX_OBSERVED
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS

MAX_SEATS = contract.MAX_SEATS
#: Maximum number of pavilion tiles on a board; component files that allow more are rejected.
TILES = 22
DECK = 100
PAID = 7
UNSEEN = 3
NARROW, WIDE = 51, 91

# Phases, in the order of the rules page.
(
    PHASE_START,
    PHASE_MOVE,
    PHASE_MAIN,
    PHASE_PAY,
    PHASE_PLACE,
    PHASE_WILD,
    PHASE_LIFT,
    PHASE_ROOF,
    PHASE_DISCARD,
    PHASE_END,
) = range(10)
PHASES = ("START", "MOVE", "MAIN", "PAY", "PLACE", "WILD", "LIFT", "ROOF", "DISCARD", "END")

States = npt.NDArray[Any]


class Bounds(NamedTuple):
    """Component counts that limit fields: card types, tiles by kind, other supplies, wild tiles per board action."""

    types: int
    supply: tuple[int, ...]
    wild_tiles: int
    superstructures: int
    wilds: int

    @property
    def last_type(self) -> int:
        """Highest card type."""
        return self.types - 1

    @property
    def last_pavilion(self) -> int:
        """Highest card type that is not a wild card."""
        return self.types - 2


_MAX_COUNT, _COATS, _CELLS = 20_000, 8, 49
_BOARD: dict[str, Any] = {"high": 2**_CELLS - 1}
_ACTIONS: dict[str, Any] = {"members": BOARD_ACTIONS, "noun": "an action", "plural": "actions"}
_CARD: dict[str, Any] = {"high": "last_type", "scale": NARROW}
#: Phases after the first action of a turn.
_TURN = tuple(range(PHASE_MAIN, PHASE_END + 1))


def _record_table(capacity: int, padding: int = 0) -> RecordTable:
    fields = (
        Field("chance", np.uint64, high=2**64 - 1),
        # sets of cells with bit 7 * row + column; `built` contains pavilion tiles, wild tiles and the statue
        Field("built", np.int64, (MAX_SEATS,), **_BOARD),
        Field("wild", np.int64, (MAX_SEATS,), **_BOARD),
        Field("superstructures", np.int64, (MAX_SEATS,), **_BOARD),
        Field("used", np.int16, (MAX_SEATS,), **_ACTIONS),
        Field("denied", np.int16, (MAX_SEATS,), is_setup=True, **_ACTIONS),
        Field(  # scored during play
            "points", np.int16, (MAX_SEATS,), high=_MAX_COUNT, position_high=MAX_OBSERVED, scale=10, noun="points"
        ),
        Field("covered", np.int16, is_setup=True, **_ACTIONS),
        Field(
            "round_number",
            np.int16,
            low=1,
            high=_MAX_COUNT,
            position_high=MAX_OBSERVED,
            scale=20,
            key="round",
            noun="a round",
        ),
        # counts by card type: cards in hand, those of them that are publicly known, the discard pile, and a reshuffled
        # draw pile without the cards that visibly left it
        Field("hand", np.int8, (MAX_SEATS, capacity), high=DECK),
        Field("known", np.int8, (MAX_SEATS, capacity), high=DECK),
        Field("discard", np.int8, (capacity,), high=DECK),
        Field("reshuffled", np.int8, (capacity,), high=DECK),
        Field("pile", np.int8, (DECK,), **_CARD),  # the next card is last
        # pavilion tiles in building order: 8 * kind + orientation with kind = 4 * color + roofs - 2, and the cell of
        # the north-west corner of the bounding box
        Field("tile_piece", np.uint8, (MAX_SEATS, TILES), high=8 * 20 - 1),
        Field("tile_cell", np.int8, (MAX_SEATS, TILES), high=_CELLS - 1),
        Field("tile_count", np.int8, (MAX_SEATS,), high=TILES),
        Field("unseen", np.int8, (MAX_SEATS, UNSEEN), empty=-1, **_CARD),  # drawn face down from a reshuffled pile
        Field("coats", np.uint8, (MAX_SEATS,), high=2**_COATS - 1),  # on the board; bit = index in the component file
        Field("meadow", np.int8, (MAX_SEATS,), high=_COATS, scale=3, noun="coats of arms"),
        Field("token", np.int8, (MAX_SEATS,), empty=-1, high=7, noun="null or a space"),
        Field("bonus", np.int8, (MAX_SEATS,), empty=-1, high=3),  # index of the bonus card taken
        Field("limit_lifted", np.int8, (MAX_SEATS,)),
        Field("supply", np.int8, (20,), high="supply", scale=3),  # by kind
        Field("display", np.int8, (8,), empty=-1, noun="null or a card type", plural="card types or null", **_CARD),
        Field("wild_supply", np.int8, high="wild_tiles", scale=12, key="wild_tiles", noun="a supply"),
        Field(
            "superstructure_supply", np.int8, high="superstructures", scale=30, key="superstructures", noun="a supply"
        ),
        Field("bonus_cards", np.int8, members=("1st", "2nd", "3rd", "4th")),  # bonus cards that are left
        Field("pile_size", np.int8, high=DECK, scale=50, key="draw_pile"),
        Field("players", np.int8, low=2, high=MAX_SEATS, is_setup=True),
        Field("seat", np.int8, high=MAX_SEATS - 1),
        Field("phase", np.int8, options=len(PHASES)),
        Field("last_round", np.int8),
        Field("done", np.int8),
        Field("dry_roads", np.int8, is_setup=True),
        # the pending action
        Field("move", np.int8, high=6, optional=(PHASE_MOVE,)),  # maximum number of spaces of a paid longer move
        Field("drew", np.int8, optional=_TURN),
        Field("has_built", np.int8, key="built", optional=_TURN),
        Field("only_build", np.int8, optional=(PHASE_MAIN,)),
        # card being built
        Field("card", np.int8, empty=-1, high="last_pavilion", scale=NARROW, required=(PHASE_PAY, PHASE_PLACE)),
        Field("to_pay", np.int8, high=PAID, scale=4, required=(PHASE_PAY,)),
        Field("substitute", np.int8, optional=(PHASE_PAY,)),  # any_card_as_wild: a card of another color is due
        # cards paid; only the first `paid_count` entries are valid
        Field(
            "paid", np.int8, (PAID,), key="paid_cards", optional=(PHASE_PAY, PHASE_PLACE), in_position=False, **_CARD
        ),
        Field("paid_count", np.int8, high=PAID, key="paid", optional=(PHASE_PAY, PHASE_PLACE)),
        Field("any_side", np.int8, optional=(PHASE_PLACE,)),
        # board action in progress
        Field("action", np.int8, empty=-1, high=14, required=(PHASE_WILD, PHASE_LIFT), optional=(PHASE_ROOF,)),
        # phase to return to
        Field("resume", np.int8, high=PHASE_END, required=(PHASE_WILD, PHASE_LIFT, PHASE_ROOF)),
        Field("wilds_left", np.int8, high="wilds", scale=2, required=(PHASE_WILD,)),
        Field("lifted", np.int8, empty=-1, high=_CELLS - 1, optional=(PHASE_ROOF,)),
        Field("roofs_left", np.int8, high=5, scale=2, required=(PHASE_ROOF,)),
        Field("last_roof", np.int8, empty=-1, high=_CELLS - 1, optional=(PHASE_ROOF,)),
        Field("last_discard", np.int8, empty=-1, optional=(PHASE_DISCARD,), **_CARD),
        Field("lifted_now", np.int8, optional=_TURN),
        Field("turn_over", np.int8, optional=(PHASE_DISCARD,)),
    )
    return RecordTable(__name__, __file__, fields, padding)


# Always use these dtype objects: Numba takes ten times as long to recognize an equal dtype.
RECORDS = (_record_table(NARROW), _record_table(NARROW, padding=64), _record_table(WIDE))
"""The fields of a record (`helsinki_env.engine.fields`) for 51, fewer than 51, and more than 51 card types."""

RECORD = RECORDS[0]
LAYOUTS = tuple(record.dtype for record in RECORDS)
"""Record dtypes, in the order of `RECORDS`."""

GAME = LAYOUTS[0]


def record_table(types: int) -> RecordTable:
    """Return the record fields for a number of card types."""
    return RECORDS[0 if types == NARROW else 1 if types < NARROW else 2]


def game_dtype(types: int) -> np.dtype[Any]:
    """Return the record layout for `types` card types."""
    return record_table(types).dtype


def new_states(count: int, types: int = NARROW) -> States:
    """Return `count` blank records, shape (count,), with no cards dealt, two players and no covered board actions."""
    states = record_table(types).new_states(count)
    states["players"] = 2
    return states

"""The action table: maps integers to actions. All ids, mask offsets, names and documents derive from it.

`id = offset(kind) + argument`, kinds in the order of the rules page, section 3, "Decisions".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

(
    KIND_START,
    KIND_MOVE,
    KIND_DRAW,
    KIND_BUILD,
    KIND_PAY,
    KIND_PLACE,
    KIND_WILD,
    KIND_LIFT,
    KIND_ROOF,
    KIND_DISCARD,
    KIND_USE,
    KIND_END,
) = range(12)
KINDS = ("START", "MOVE", "DRAW", "BUILD", "PAY", "PLACE", "WILD", "LIFT", "ROOF", "DISCARD", "USE", "END")

# Board actions.
(
    MOVE_1_TO_6,
    TWO_WILD_TILES,
    ANY_SIDE,
    EXTRA_CARD,
    EXTRA_SUPERSTRUCTURE,
    MOVE_1_TO_5,
    ONE_WILD_TILE,
    SECOND_PAVILION,
    ONE_CARD_FEWER,
    MOVE_SUPERSTRUCTURE,
    MOVE_BACK,
    NO_HAND_LIMIT,
    DRAW_AND_BUILD,
    ANY_CARD_AS_WILD,
    TWO_POINTS,
) = range(15)

SIDES = ("north", "east", "south", "west")
ORIENTATIONS = 8
LANES = 7


@dataclass(frozen=True)
class ActionTable:
    """Offsets and sizes of the action kinds for a number of card types (51 with the default components)."""

    types: int

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of actions of each kind, in the order of `KINDS`."""
        place = len(SIDES) * ORIENTATIONS * LANES
        return (8, 6, 1, self.types - 1, self.types, place, 49, 49, 49, self.types, 15, 1)

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First id of each kind."""
        return tuple(int(n) for n in np.concatenate(([0], np.cumsum(self.sizes)[:-1])))

    @cached_property
    def size(self) -> int:
        """Number of ids (554 with the default components)."""
        return sum(self.sizes)

    @cached_property
    def kind_of(self) -> npt.NDArray[np.int16]:
        """Kind of every id, shape (size,)."""
        return np.repeat(np.arange(len(KINDS), dtype=np.int16), self.sizes)

    def encode(self, kind: int, argument: int = 0) -> int:
        """Return the id of an action; ValueError if the argument is out of range for the kind."""
        if not 0 <= argument < self.sizes[kind]:
            raise ValueError(f"{KINDS[kind]} takes an argument from 0 to {self.sizes[kind] - 1}, not {argument}")
        return self.offsets[kind] + argument

    def decode(self, action: int) -> tuple[int, int]:
        """Return (kind, argument) of an id; ValueError if the id is out of range."""
        if not 0 <= action < self.size:
            raise ValueError(f"action {action} does not exist: ids run from 0 to {self.size - 1}")
        kind = int(self.kind_of[action])
        return kind, action - self.offsets[kind]


def place_argument(side: int, orientation: int, lane: int) -> int:
    """Argument of PLACE: `(side * 8 + orientation) * 7 + lane`."""
    return (side * ORIENTATIONS + orientation) * LANES + lane


@lru_cache(maxsize=8)
def action_table(types: int) -> ActionTable:
    """Return the action table for a number of card types."""
    return ActionTable(types)

"""The action table assigns an id to every action; mask offsets, names and documentation are derived from it.

`id = offset(kind) + argument`, with the kinds in the order of the rules page, section 3, "Actions".
"""

from __future__ import annotations

from functools import lru_cache

from helsinki_env.engine.layout import ActionTable

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


def place_argument(side: int, orientation: int, lane: int) -> int:
    """Return the argument of PLACE, `(side * 8 + orientation) * 7 + lane`."""
    return (side * ORIENTATIONS + orientation) * LANES + lane


@lru_cache(maxsize=8)
def action_table(types: int) -> ActionTable:
    """Return the action table for a number of card types (51 with the default components)."""
    place = len(SIDES) * ORIENTATIONS * LANES
    return ActionTable(KINDS, (8, 6, 1, types - 1, types, place, 49, 49, 49, types, 15, 1))

"""GAME: the one dtype. A game is one flat record; a batch is an array of them.

`states["hand"]` is the column of a batch, `states[b]` the one game that a rule sees. The record is complete
(its random word included) and minimal: no mask, no cached score. It always has four seats; those beyond the
number of players stay blank. -1 means "none" throughout, and 0 nothing.

The record is 1,024 bytes with 51 card types (those of the box). A component file with fewer types gets one with more
padding, one with more types the wide layout. They differ in nothing else; but the type of a record says so whether
kernels that are made for exactly 51 types may be used, and only what is used is compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

SEATS = 4
#: Most pavilion tiles that a board can hold (component files that allow more are refused).
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


def game_dtype(types: int) -> np.dtype[Any]:
    """Return the record layout for `types` card types.

    Fields (shapes in brackets; cell sets are int64 with bit `7 * row + column`):

    - chance uint64: the random word. built, wild, superstructures int64 [4]: cell sets per seat; `built` holds
      pavilion tiles, wild tiles and the statue.
    - used, denied int16 [4], covered int16: action sets, bit = action. round_number, points int16: points made in play.
    - hand, known [4, types]: cards held, and those of them that everybody saw being taken.
    - discard, reshuffled [types]: the discard pile; a reshuffled draw pile less what all have seen leave it.
    - pile [100], pile_size: the draw pile, next card last. display [8]: card type per slot.
    - tile_piece uint8, tile_cell [4, 22], tile_count [4]: pavilion tiles in the order built: 8 * kind +
      orientation, and the cell of the north-west corner of the tile's bounding box.
    - supply [20]: pavilion tiles left, kind = 4 * colour + roofs - 2. wild_supply, superstructure_supply.
    - coats uint8 [4]: coats still on the board, bit = index in the component file. meadow [4], token [4].
    - bonus [4]: index of the bonus card taken, bonus_cards: set of those left. limit_lifted [4].
    - unseen [4, 3]: cards that a seat drew from a reshuffled pile without the others seeing them.
    - players, seat, phase, last_round, done, dry_roads; then the decision in progress (see `position`).
    """
    return GAME if types == NARROW else LAYOUTS[1] if types < NARROW else LAYOUTS[2]


def _layout(capacity: int, more: int = 0) -> np.dtype[Any]:
    fields: list[tuple[str, Any] | tuple[str, Any, tuple[int, ...]]] = [
        ("chance", np.uint64),
        ("built", np.int64, (SEATS,)),
        ("wild", np.int64, (SEATS,)),
        ("superstructures", np.int64, (SEATS,)),
        ("used", np.int16, (SEATS,)),
        ("denied", np.int16, (SEATS,)),
        ("points", np.int16, (SEATS,)),
        ("covered", np.int16),
        ("round_number", np.int16),
        ("hand", np.int8, (SEATS, capacity)),
        ("known", np.int8, (SEATS, capacity)),
        ("discard", np.int8, (capacity,)),
        ("reshuffled", np.int8, (capacity,)),
        ("pile", np.int8, (DECK,)),
        ("tile_piece", np.uint8, (SEATS, TILES)),
        ("tile_cell", np.int8, (SEATS, TILES)),
        ("tile_count", np.int8, (SEATS,)),
        ("unseen", np.int8, (SEATS, UNSEEN)),
        ("coats", np.uint8, (SEATS,)),
        ("meadow", np.int8, (SEATS,)),
        ("token", np.int8, (SEATS,)),
        ("bonus", np.int8, (SEATS,)),
        ("limit_lifted", np.int8, (SEATS,)),
        ("supply", np.int8, (20,)),
        ("display", np.int8, (8,)),
        ("wild_supply", np.int8),
        ("superstructure_supply", np.int8),
        ("bonus_cards", np.int8),
        ("pile_size", np.int8),
        ("players", np.int8),
        ("seat", np.int8),
        ("phase", np.int8),
        ("last_round", np.int8),
        ("done", np.int8),
        ("dry_roads", np.int8),
        # the decision in progress
        ("move", np.int8),  # the most spaces once move_1_to_6 or move_1_to_5 is paid
        ("drew", np.int8),
        ("has_built", np.int8),
        ("only_build", np.int8),
        ("card", np.int8),  # card being built
        ("to_pay", np.int8),
        ("substitute", np.int8),  # any_card_as_wild: the card of another colour is due
        ("paid", np.int8, (PAID,)),
        ("paid_count", np.int8),
        ("any_side", np.int8),
        ("action", np.int8),  # the action of the action board being carried out
        ("resume", np.int8),  # phase to go back to
        ("wilds_left", np.int8),
        ("lifted", np.int8),
        ("roofs_left", np.int8),
        ("last_roof", np.int8),
        ("last_discard", np.int8),
        ("lifted_now", np.int8),
        ("turn_over", np.int8),
    ]
    # As the fields stand, each lies where its type wants it. Only a type that says so is read without care for that.
    used = np.dtype(fields).itemsize
    size = -used % 64 + more
    if size:
        fields.append(("pad", np.uint8, (size,)))
    return np.dtype((np.record, np.dtype(fields, align=True)))


# One object for each: Numba takes ten times as long to recognise one that is merely equal.
GAME = _layout(NARROW)
LAYOUTS = (GAME, _layout(NARROW, more=64), _layout(WIDE))
"""The types of records: with 51 card types, with fewer, with more."""

#: Fields that are -1 when there is nothing in them.
NONE_FIELDS = ("token", "bonus", "card", "action", "lifted", "last_roof", "last_discard", "display", "unseen")


def new_states(count: int, types: int = NARROW) -> States:
    """Return `count` blank records, shape (count,): no cards dealt, two players, nothing covered."""
    states = np.zeros(count, game_dtype(types))
    states["players"] = 2
    for name in NONE_FIELDS:
        states[name] = -1
    return states

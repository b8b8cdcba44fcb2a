"""GAME: the record dtype. A game is one flat record; a batch is an array of records.

`states["hand"]` is a column of a batch, and `states[b]` is the single game that a kernel receives. The record is
complete (it includes the random key) and minimal: no mask, no cached score. It always has four seats; unused seats stay
blank. -1 means "none" and 0 means "nothing" in all fields.

The record has 1,024 bytes with the default 51 card types. A component file with fewer types uses a layout with more
padding, one with more types the wide layout. The layouts differ in nothing else. The dtype lets kernels specialized for
exactly 51 types be selected, and only kernels in use are compiled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

MAX_SEATS = 4
#: Most pavilion tiles that fit on a board (component files that allow more are rejected).
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

    - chance uint64: the random key. built, wild, superstructures int64 [4]: cell sets per seat; `built` holds pavilion
      tiles, wild tiles and the statue.
    - used, denied int16 [4], covered int16: sets of board actions, bit = id. round_number, points int16: points made in
      play.
    - hand, known [4, types]: cards held, and those of them taken in view of all players.
    - discard, reshuffled [types]: the discard pile; a reshuffled draw pile less the cards that visibly left it.
    - pile [100], pile_size: the draw pile, next card last. display [8]: card type per slot.
    - tile_piece uint8, tile_cell [4, 22], tile_count [4]: pavilion tiles in the order built: 8 * kind + orientation,
      and the cell of the north-west corner of the tile's bounding box.
    - supply [20]: pavilion tiles left, kind = 4 * color + roofs - 2. wild_supply, superstructure_supply.
    - coats uint8 [4]: coats still on the board, bit = index in the component file. meadow [4], token [4].
    - bonus [4]: index of the bonus card taken, bonus_cards: set of those left. limit_lifted [4].
    - unseen [4, 3]: cards that a seat drew face down from a reshuffled pile.
    - players, seat, phase, last_round, done, dry_roads; then the pending action (see `position`).
    """
    return GAME if types == NARROW else LAYOUTS[1] if types < NARROW else LAYOUTS[2]


def _layout(capacity: int, more: int = 0) -> np.dtype[Any]:
    fields: list[tuple[str, Any] | tuple[str, Any, tuple[int, ...]]] = [
        ("chance", np.uint64),
        ("built", np.int64, (MAX_SEATS,)),
        ("wild", np.int64, (MAX_SEATS,)),
        ("superstructures", np.int64, (MAX_SEATS,)),
        ("used", np.int16, (MAX_SEATS,)),
        ("denied", np.int16, (MAX_SEATS,)),
        ("points", np.int16, (MAX_SEATS,)),
        ("covered", np.int16),
        ("round_number", np.int16),
        ("hand", np.int8, (MAX_SEATS, capacity)),
        ("known", np.int8, (MAX_SEATS, capacity)),
        ("discard", np.int8, (capacity,)),
        ("reshuffled", np.int8, (capacity,)),
        ("pile", np.int8, (DECK,)),
        ("tile_piece", np.uint8, (MAX_SEATS, TILES)),
        ("tile_cell", np.int8, (MAX_SEATS, TILES)),
        ("tile_count", np.int8, (MAX_SEATS,)),
        ("unseen", np.int8, (MAX_SEATS, UNSEEN)),
        ("coats", np.uint8, (MAX_SEATS,)),
        ("meadow", np.int8, (MAX_SEATS,)),
        ("token", np.int8, (MAX_SEATS,)),
        ("bonus", np.int8, (MAX_SEATS,)),
        ("limit_lifted", np.int8, (MAX_SEATS,)),
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
        # the pending action
        ("move", np.int8),  # maximum number of spaces after move_1_to_6 or move_1_to_5
        ("drew", np.int8),
        ("has_built", np.int8),
        ("only_build", np.int8),
        ("card", np.int8),  # card being built
        ("to_pay", np.int8),
        ("substitute", np.int8),  # any_card_as_wild: a card of another color is due
        ("paid", np.int8, (PAID,)),
        ("paid_count", np.int8),
        ("any_side", np.int8),
        ("action", np.int8),  # board action in progress
        ("resume", np.int8),  # phase to return to
        ("wilds_left", np.int8),
        ("lifted", np.int8),
        ("roofs_left", np.int8),
        ("last_roof", np.int8),
        ("last_discard", np.int8),
        ("lifted_now", np.int8),
        ("turn_over", np.int8),
    ]
    # Fields are naturally aligned in this order. NumPy and Numba use aligned access only if the dtype says so.
    used = np.dtype(fields).itemsize
    size = -used % 64 + more
    if size:
        fields.append(("pad", np.uint8, (size,)))
    return np.dtype((np.record, np.dtype(fields, align=True)))


# Reuse these dtype objects: Numba takes ten times as long to recognize an equal but distinct one.
GAME = _layout(NARROW)
LAYOUTS = (GAME, _layout(NARROW, more=64), _layout(WIDE))
"""Record dtypes: with 51 card types, with fewer, with more."""

#: Fields that use -1 for "none".
NONE_FIELDS = ("token", "bonus", "card", "action", "lifted", "last_roof", "last_discard", "display", "unseen")


def new_states(count: int, types: int = NARROW) -> States:
    """Return `count` blank records, shape (count,): no cards dealt, two players, nothing covered."""
    states = np.zeros(count, game_dtype(types))
    states["players"] = 2
    for name in NONE_FIELDS:
        states[name] = -1
    return states

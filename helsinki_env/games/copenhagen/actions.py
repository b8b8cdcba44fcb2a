"""The action table: the id of every action. All ids, mask offsets, names and documents derive from it.

`id = offset(kind) + argument`, with kinds in the order of the rules, section 3, "Decisions".
"""

from __future__ import annotations

import numpy as np

(
    KIND_TAKE,
    KIND_BUILD,
    KIND_PLACE,
    KIND_PAY,
    KIND_DISCARD,
    KIND_USE,
    KIND_RECOLOUR,
    KIND_WHITE,
    KIND_ABILITY,
    KIND_REACTIVATE,
    KIND_END,
) = range(11)
KINDS = ("TAKE", "BUILD", "PLACE", "PAY", "DISCARD", "USE", "RECOLOUR", "WHITE", "ABILITY", "REACTIVATE", "END")

# The abilities.
ANY_CARDS, ADDITIONAL_CARD, CONSTRUCTION_DISCOUNT, CHANGE_OF_COLOURS, BOTH_ACTIONS = range(5)

CELLS = 45
ORIENTATIONS = 8

#: Number of actions of each kind, in the order of `KINDS`.
KIND_SIZES = (7, 20, ORIENTATIONS * CELLS, 5, 5, 5, 5, CELLS, 5, 1, 1)
#: First id of each kind.
KIND_OFFSETS = tuple(sum(KIND_SIZES[:kind]) for kind in range(len(KIND_SIZES)))
#: Number of ids, 459.
NUM_ACTIONS = sum(KIND_SIZES)
#: Kind of every id, shape (459,).
KIND_OF = np.repeat(np.arange(len(KINDS), dtype=np.int16), KIND_SIZES)


def encode(kind: int, argument: int = 0) -> int:
    """Return the id of an action; ValueError if the argument is invalid for the kind."""
    if not 0 <= argument < KIND_SIZES[kind]:
        raise ValueError(f"{KINDS[kind]} takes an argument from 0 to {KIND_SIZES[kind] - 1}, not {argument}")
    return KIND_OFFSETS[kind] + argument


def decode(action: int) -> tuple[int, int]:
    """Return (kind, argument) of an id; ValueError if the id is invalid."""
    if not 0 <= action < NUM_ACTIONS:
        raise ValueError(f"action {action} does not exist: ids run from 0 to {NUM_ACTIONS - 1}")
    kind = int(KIND_OF[action])
    return kind, action - KIND_OFFSETS[kind]

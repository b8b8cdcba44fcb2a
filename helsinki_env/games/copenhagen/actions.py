"""Define the action table, from which action ids, mask offsets, names and documentation are derived.

`id = offset(kind) + argument`, with kinds in the order of the rules, section 3, "Actions".
"""

from __future__ import annotations

from helsinki_env.engine.layout import ActionTable

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

# The ids of the abilities.
ANY_CARDS, ADDITIONAL_CARD, CONSTRUCTION_DISCOUNT, CHANGE_OF_COLOURS, BOTH_ACTIONS = range(5)

CELLS = 45
ORIENTATIONS = 8

TABLE = ActionTable(KINDS, (7, 20, ORIENTATIONS * CELLS, 5, 5, 5, 5, CELLS, 5, 1, 1))
#: Number of actions of each kind, first id of each kind, kind of every id, (459,), and total number of ids, 459.
KIND_SIZES, KIND_OFFSETS, KIND_OF, NUM_ACTIONS = TABLE.sizes, TABLE.offsets, TABLE.kind_of, TABLE.size
encode, decode = TABLE.encode, TABLE.decode

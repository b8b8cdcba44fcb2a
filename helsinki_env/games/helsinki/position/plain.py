"""Mapping between pending keys and record fields, shared by writing, reading and checking."""

from __future__ import annotations

from helsinki_env.games.helsinki.game import ENV_VERSION

__all__ = ["CARRIED_OUT", "ENV_VERSION", "FLAGS", "MOVES", "NUMBERS", "WILDS"]

#: Pending keys and the fields of the record that hold them.
FLAGS = {
    "drew": "drew",
    "built": "has_built",
    "only_build": "only_build",
    "substitute": "substitute",
    "any_side": "any_side",
    "lifted_now": "lifted_now",
    "turn_over": "turn_over",
}
#: Numeric pending keys, their fields, and the value that means "nothing".
NUMBERS = {
    "move": ("move", 0),
    "card": ("card", -1),
    "to_pay": ("to_pay", 0),
    "wilds_left": ("wilds_left", 0),
    "lifted": ("lifted", -1),
    "roofs_left": ("roofs_left", 0),
    "last_roof": ("last_roof", -1),
    "last_discard": ("last_discard", -1),
}
#: Board actions that place wild tiles.
WILDS = ("one_wild_tile", "two_wild_tiles")
#: Board actions that are followed by a move.
MOVES = ("move_1_to_6", "move_1_to_5")
#: Board actions that may be in progress in each phase; None: superstructures of a build.
CARRIED_OUT: dict[str, tuple[str | None, ...]] = {
    "WILD": WILDS,
    "LIFT": ("move_superstructure",),
    "ROOF": (None, "move_superstructure", "extra_superstructure"),
}

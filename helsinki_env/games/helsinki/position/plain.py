"""What writing, reading and checking share: which pending key is which field of the record."""

from __future__ import annotations

from helsinki_env.games.helsinki.game import VERSION

__all__ = ["CARRIED_OUT", "FLAGS", "MOVES", "NUMBERS", "VERSION", "WILDS"]

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
#: The same for numbers, with the value that means "nothing".
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
#: The actions by which wild tiles are placed.
WILDS = ("one_wild_tile", "two_wild_tiles")
#: The actions after which the move is still to be made.
MOVES = ("move_1_to_6", "move_1_to_5")
#: What may be carried out in these phases, None for the superstructures of a build.
CARRIED_OUT: dict[str, tuple[str | None, ...]] = {
    "WILD": WILDS,
    "LIFT": ("move_superstructure",),
    "ROOF": (None, "move_superstructure", "extra_superstructure"),
}

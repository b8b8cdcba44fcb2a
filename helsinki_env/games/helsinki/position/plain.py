"""What writing, reading and checking share: a record as plain numbers, the names of its fields, and how to complain."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from helsinki_env.data import shown
from helsinki_env.games.helsinki.game import VERSION

__all__ = [
    "CARRIED_OUT",
    "FLAGS",
    "MOST_SAID",
    "NUMBERS",
    "VERSION",
    "PositionError",
    "cell_list",
    "fail",
    "fill",
    "plain",
]

MOST_SAID = 127
"""Round and points stay within what an observation, which is int8, can say."""

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
#: What may be carried out in these phases, None for the superstructures of a build.
CARRIED_OUT: dict[str, tuple[str | None, ...]] = {
    "WILD": ("one_wild_tile", "two_wild_tiles"),
    "LIFT": ("move_superstructure",),
    "ROOF": (None, "move_superstructure", "extra_superstructure"),
}


class PositionError(ValueError):
    """A position that cannot be read or played on. The message names key, value found and what is expected."""


def fail(key: str, found: object, expected: str) -> NoReturn:
    """Raise PositionError."""
    raise PositionError(f"position: {key}: found {shown(found)}, expected {expected}")


def cell_list(cells: int) -> list[int]:
    """Return the cells of a set (bit = cell), ascending."""
    found = []
    while cells:
        lowest = cells & -cells
        found.append(lowest.bit_length() - 1)
        cells ^= lowest
    return found


def plain(state: Any) -> SimpleNamespace:
    """Return a record as plain numbers and lists, by its field names: to work on it directly is ten times slower."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def fill(states: Any, p: SimpleNamespace) -> None:
    """Write plain numbers into the only record of `states`: the inverse of `plain`."""
    states[0] = tuple(getattr(p, name) for name in states.dtype.names)

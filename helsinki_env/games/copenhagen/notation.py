"""Convert actions to text and back. For positions, see `helsinki_env.games.copenhagen.position`.

    >>> action_to_string(3), action_to_string(7 + 2), action_to_string(string_to_action("PLACE 2 at 0,4"))
    ('TAKE 3', 'BUILD blue 4', 'PLACE 2 at 0,4')

Display slots are numbered from 0. Tiles are written as ``colour size``, cells as ``x,y`` from the lower left corner,
and abilities by name. PLACE is followed by the orientation and the lower left corner of the tile's bounding box.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from helsinki_env.data import as_integer, short_repr
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.actions import KINDS
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, COLUMNS, DISPLAY, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.position import from_dict, to_dict

__all__ = ["action_to_string", "from_dict", "string_to_action", "tile_name", "to_dict"]

_CELL_TEXTS = tuple(f"{x},{y}" for y in range(ROWS) for x in range(COLUMNS))


def tile_name(kind: int) -> str:
    """Return the name of a kind of colored tile (``4 * colour + size - 2``), such as ``blue 4``."""
    return f"{COLORS[kind // len(TILE_SIZES)]} {TILE_SIZES[kind % len(TILE_SIZES)]}"


#: The texts of all arguments of each action kind, in order. A kind without an argument has one empty text.
_TEXTS: dict[int, tuple[str, ...]] = {
    a.KIND_TAKE: tuple(map(str, range(DISPLAY))),
    a.KIND_BUILD: tuple(tile_name(kind) for kind in range(len(COLORS) * len(TILE_SIZES))),
    a.KIND_PLACE: tuple(f"{turn} at {cell}" for turn in range(a.ORIENTATIONS) for cell in _CELL_TEXTS),
    a.KIND_PAY: COLORS,
    a.KIND_DISCARD: COLORS,
    a.KIND_USE: ABILITIES,
    a.KIND_RECOLOUR: COLORS,
    a.KIND_WHITE: _CELL_TEXTS,
    a.KIND_ABILITY: ABILITIES,
    a.KIND_REACTIVATE: ("",),
    a.KIND_END: ("",),
}
_COMMA = re.compile(r" ?, ?")


def action_to_string(action: int | np.integer[Any]) -> str:
    """Return an action as text, such as ``BUILD blue 4``. `string_to_action` is the inverse.

    Args:
        action: action id, 0 to 458.

    Raises:
        ValueError: if the id is invalid.
    """
    number = as_integer(action)
    if number is None:
        raise ValueError(f"action {short_repr(action)} is not a whole number")
    if not 0 <= number < a.NUM_ACTIONS:
        raise ValueError(f"action {short_repr(number)} does not exist: ids run from 0 to {a.NUM_ACTIONS - 1}")
    kind, argument = a.decode(number)
    return f"{KINDS[kind]} {_TEXTS[kind][argument]}".strip()


def string_to_action(text: str) -> int:
    """Return the id of an action written by `action_to_string`. Extra spaces are ignored, even around a comma.

    Args:
        text: action kind and argument.

    Raises:
        ValueError: if the text is invalid. The message names the text and the expected argument.
    """
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"action {short_repr(text)}: expected text such as 'TAKE 3' or 'BUILD blue 4'")
    name, _, rest = " ".join(text.split()).partition(" ")
    if name not in KINDS:
        kinds = ", ".join(KINDS)
        raise ValueError(
            f"action {short_repr(text)}: {short_repr(name)} is not a kind of action; the kinds are {kinds}"
        )
    kind, argument = KINDS.index(name), _COMMA.sub(",", rest)
    if argument not in _TEXTS[kind]:
        raise ValueError(f"action {short_repr(text)}: expected {_expected(kind)}")
    return a.encode(kind, _TEXTS[kind].index(argument))


def _expected(kind: int) -> str:
    """Return a description of the argument that an action kind takes."""
    name, texts = KINDS[kind], _TEXTS[kind]
    if texts == ("",):
        return f"'{name}' alone"
    if len(texts) == len(COLORS):
        return f"'{name}' and one of {', '.join(texts)}"
    return f"something from '{name} {texts[0]}' to '{name} {texts[-1]}'"

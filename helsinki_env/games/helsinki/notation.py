"""Positions and actions as text.

Positions are converted by `to_dict` and `from_dict` (see `helsinki_env.games.helsinki.position`). Actions are converted
in both directions:

    >>> action_to_string(65), action_to_string(15 + 13), action_to_string(string_to_action("PLACE north o2 lane 3"))
    ('PAY blue 1/2', 'BUILD green 3/3+1', 'PLACE north o2 lane 3')

A card is written as ``color number/roofs+superstructures`` or ``wild``, and a cell as ``r2c5``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.data import Node, as_integer, short_repr
from helsinki_env.engine.layout import ActionTable
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.actions import KINDS, SIDES, action_table
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, Components, load_components
from helsinki_env.games.helsinki.position import from_dict, to_dict

__all__ = ["action_to_string", "card_to_string", "from_dict", "string_to_action", "to_dict"]

_CARD_KINDS = (a.KIND_BUILD, a.KIND_PAY, a.KIND_DISCARD)
_CELL_KINDS = (a.KIND_WILD, a.KIND_LIFT, a.KIND_ROOF)
_NO_ARGUMENT = (a.KIND_DRAW, a.KIND_END)
_PLACE = re.compile(r"(north|east|south|west) o([0-7]) lane ([0-6])")
_DIGIT = re.compile(r"[0-9]")
_CELL = re.compile(r"r([0-6])c([0-6])")


@lru_cache(maxsize=8)
def card_names(components: Components) -> tuple[str, ...]:
    """Return the names of all card types, as written by `card_to_string`."""
    names: list[str] = []
    for card in range(components.types):
        if card == components.wild_type:
            names.append("wild")
            continue
        variant = components.variants[card % len(components.variants)]
        name = f"{COLORS[components.card_color(card)]} {variant.number}/{variant.roofs}"
        if variant.superstructures:
            name += f"+{variant.superstructures}"
        names.append(name)
    return tuple(names)


def _loaded(components: Components | str | Path) -> Components:
    return components if isinstance(components, Components) else load_components(components)


def card_to_string(card: int, components: Components | str | Path = "default") -> str:
    """Return a card type as text, such as ``green 3/3+1`` (color, number, roofs, superstructures).

    Raises:
        ValueError: if the card type is out of range.
    """
    names = card_names(_loaded(components))
    return names[Node(card, ValueError, "card type").integer(0, len(names) - 1)]


def action_to_string(action: int | np.integer[Any], components: Components | str | Path = "default") -> str:
    """Return an action as text, such as ``BUILD green 3/3+1``; `string_to_action` reads it back.

    Raises:
        ValueError: if the id is out of range.
    """
    loaded = _loaded(components)
    number = as_integer(action)
    if number is None:
        raise ValueError(f"action {short_repr(action)} is not a whole number")
    kind, argument = action_table(loaded.types).decode(number)
    name = KINDS[kind]
    if kind in _NO_ARGUMENT:
        return name
    return f"{name} {_describe_argument(kind, argument, loaded)}"


def _describe_argument(kind: int, argument: int, components: Components) -> str:
    if kind in _CARD_KINDS:
        return card_to_string(argument, components)
    if kind in _CELL_KINDS:
        return f"r{argument // 7}c{argument % 7}"
    if kind == a.KIND_PLACE:
        side, rest = divmod(argument, a.ORIENTATIONS * a.LANES)
        return f"{SIDES[side]} o{rest // a.LANES} lane {rest % a.LANES}"
    if kind == a.KIND_USE:
        return BOARD_ACTIONS[argument]
    return str(argument + 1 if kind == a.KIND_MOVE else argument)


def string_to_action(text: str, components: Components | str | Path = "default") -> int:
    """Return the id of an action written by `action_to_string`.

    Raises:
        ValueError: if the text is invalid; the message names the text and the expected argument.
    """
    loaded = _loaded(components)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"action {short_repr(text)}: expected text such as 'MOVE 2' or 'BUILD green 3/3+1'")
    name, _, rest = " ".join(text.split()).partition(" ")
    if name not in KINDS:
        raise ValueError(
            f"action {short_repr(text)}: {short_repr(name)} is not a kind of action; the kinds are {', '.join(KINDS)}"
        )
    kind = KINDS.index(name)
    argument = _parse_argument(kind, rest, loaded)
    table = action_table(loaded.types)
    if argument is None or not 0 <= argument < table.sizes[kind]:
        raise ValueError(f"action {short_repr(text)}: expected {_example(kind, table, loaded)}")
    return table.encode(kind, argument)


def _parse_argument(kind: int, rest: str, components: Components) -> int | None:
    if kind in _NO_ARGUMENT:
        return 0 if not rest else None
    if kind in _CARD_KINDS:
        names = card_names(components)
        return names.index(rest) if rest in names else None
    if kind in _CELL_KINDS:
        cell = _CELL.fullmatch(rest)
        return 7 * int(cell[1]) + int(cell[2]) if cell else None
    if kind == a.KIND_PLACE:
        place = _PLACE.fullmatch(rest)
        return a.place_argument(SIDES.index(place[1]), int(place[2]), int(place[3])) if place else None
    if kind == a.KIND_USE:
        return BOARD_ACTIONS.index(rest) if rest in BOARD_ACTIONS else None
    if not _DIGIT.fullmatch(rest):
        return None
    return int(rest) - 1 if kind == a.KIND_MOVE else int(rest)


def _example(kind: int, table: ActionTable, components: Components) -> str:
    if kind in _NO_ARGUMENT:
        return f"'{KINDS[kind]}' alone"
    low, high = (action_to_string(table.encode(kind, i), components) for i in (0, table.sizes[kind] - 1))
    return f"something from '{low}' to '{high}'"

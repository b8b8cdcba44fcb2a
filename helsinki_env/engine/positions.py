"""Write, read and check positions of any game."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from helsinki_env.data import Node, UserError, short_repr
from helsinki_env.engine.arrays import record_array
from helsinki_env.engine.limits import check_ranges, fail_field

if TYPE_CHECKING:
    from helsinki_env.engine.spec import GameSpec

MAX_OBSERVED = 127
"""Largest number of rounds or points that fits into an int8 observation."""
_HEX_UINT64 = re.compile("0x[0-9a-fA-F]{16}")


class PositionError(UserError):
    """Raised for an invalid position. The message names the key, the value found and the expected value."""


def fail(key: str, found: object, expected: str) -> NoReturn:
    """Raise PositionError for an invalid value."""
    raise PositionError(f"position: {key}: found {short_repr(found)}, expected {expected}")


def cell_list(cells: int) -> list[int]:
    """Return the cells of a set (bit = cell) in ascending order."""
    found = []
    while cells:
        lowest = cells & -cells
        found.append(lowest.bit_length() - 1)
        cells ^= lowest
    return found


def or_none(number: int) -> int | None:
    """Return a number, or None if it is negative, which means "none" in records."""
    return None if number < 0 else number


def record_to_namespace(state: Any) -> SimpleNamespace:
    """Return a record as a namespace of Python numbers and lists, which can be read ten times as fast."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def fill_record(states: Any, p: SimpleNamespace) -> None:
    """Write a namespace into the single record of `states`; the inverse of `record_to_namespace`."""
    states[0] = tuple(getattr(p, name) for name in states.dtype.names)


def seen_hand(seat: Mapping[str, Any]) -> tuple[int, list[int]]:
    """Return the size and the publicly known cards of a hand, from a whole position or from one seat's view."""
    hand = seat["hand"]
    return (hand["size"], hand["known"]) if isinstance(hand, Mapping) else (sum(hand), seat["known"])


# Values of a position


def exact_mapping(entry: Node, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Node]:
    """Return the entries of a mapping that has exactly these keys, except that optional keys may be missing."""
    entry.mapping(keys)
    for key in keys:
        if key not in entry.value and key not in optional:
            entry[key].fail("a value for this required key")
    return dict(entry.items())


def bounded_integer(entry: Node, what: str, low: int, high: int) -> int:
    """Return an integer from `low` to `high`. `what` describes it in error messages."""
    return entry.integer(low, high, f"{what} from {low} to {high}")


def bounded_integers(
    entry: Node, what: str, many: str, most: int, length: int | None = None, low: int = 0
) -> list[int]:
    """Return integers from `low` to `most`. `what` (singular) and `many` (plural) describe them in error messages."""
    found = entry.value
    if (
        isinstance(found, list)
        and length in (None, len(found))
        and all(type(n) is int and low <= n <= most for n in found)
    ):
        return [*found]  # the fast path
    return [bounded_integer(item, what, low, most) for item in entry.entries(many, length=length)]


def distinct_integers(entry: Node, what: str, many: str, size: int, low: int = 0) -> list[int]:
    """Return distinct integers from `low` to `size` - 1. `what` and `many` describe them as in `bounded_integers`."""
    found = bounded_integers(entry, what, many, size - 1, low=low)
    if len(set(found)) < len(found):
        duplicate = next(i for i, number in enumerate(found) if number in found[:i])
        entry.entries(many)[duplicate].fail(f"{many} without duplicates")
    return found


def bit_set(found: Sequence[int]) -> int:
    """Return distinct integers as a bit set (bit = integer)."""
    return sum(1 << number for number in found)


def read_chance(entry: Node) -> int:
    """Return the random state in ``{"word": "0x..."}``, written with 16 hexadecimal digits."""
    word = exact_mapping(entry, ("word",))["word"]
    if not isinstance(word.value, str) or not _HEX_UINT64.fullmatch(word.value):
        word.fail("'0x' and 16 hexadecimal digits")
    return int(word.value, 16)


def free_cells(entry: Node, filled: int, cells: int) -> int:
    """Return a set of cells on a board with `cells` cells. Cells in the set `filled` are rejected."""
    found = bit_set(distinct_integers(entry, "a cell", "cells", cells))
    if found & filled:
        entry.fail(f"empty cells; {cell_list(found & filled)} are filled already")
    return found


def bounding_corner(cells: int, columns: int) -> int:
    """Return the cell in the lowest row and column of the bounding box of a set of cells; 0 for an empty set."""
    rows, positions = zip(*(divmod(cell, columns) for cell in cell_list(cells) or [0]), strict=True)
    return columns * min(rows) + min(positions)


def read_tile_supply(entry: Node, colours: Sequence[str], what: str, most: Sequence[int]) -> list[int]:
    """Return the number of tiles left for each color and size, each at most the limit for its size in `most`."""
    supply = exact_mapping(entry, colours)
    return [
        bounded_integer(count, "a supply of tiles", 0, limit)
        for colour in colours
        for count, limit in zip(supply[colour].entries(what, length=len(most)), most, strict=True)
    ]


# Whole positions


def hide_from_others(position: dict[str, Any], seat: int) -> None:
    """Remove the random state, the order of the draw pile and the hidden cards in other hands from a position."""
    del position["chance"]
    position["draw_pile"] = len(position["draw_pile"])
    for i, other in enumerate(position["seats"]):
        if i != seat:
            other["hand"] = {"size": sum(other["hand"]), "known": other["known"]}


def read_header(
    position: Mapping[str, Any], game: str, version: int, keys: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Node]:
    """Return the entries of a whole position after checking its keys, game and version."""
    given = Node(position, PositionError, file="position")
    if isinstance(position, Mapping) and isinstance(given["draw_pile"].value, int):
        given["draw_pile"].fail("a list of cards: a copy for one seat cannot be continued")
    data = exact_mapping(given, keys, optional)
    data["game"].choice([game])
    data["version"].integer(version, version, f"{version}: other versions have other rules")
    return data


def read_config(kind: type[Any], data: Mapping[str, Node], **options: Any) -> Any:
    """Return the configuration for a position, given its component file and options."""
    components = data["components"].text("the name of a component file, or a path")
    try:
        return kind(components=components, **options)
    except (ValueError, OSError) as problem:
        raise PositionError(f"position: {problem}") from None


def check_supply(key: str, left: int, taken: int, box: int) -> None:
    """Check that boards and supply together hold at most the number of components in the game."""
    if taken > box:
        fail(f"all of {key}", taken, f"at most {box} on all boards")
    if left > box - taken:
        fail(key, left, f"at most {box - taken}: {taken} of {box} are on boards")


def check_states(spec: GameSpec, states: Any, config: Any) -> None:
    """Reject records, (B,), that are invalid as positions or that change when they are written and read again.

    Compiled rules use values of a record as array indices without bounds checks, and a search plays games to their end.
    Every valid position can be played to its end. Only the component file of the configuration is used.

    Raises:
        ValueError: if a record is invalid. The message names the game, the key or field, the value found and the
            expected value.
    """
    assert spec.to_dict is not None
    assert spec.from_dict is not None
    states = record_array("states", states, spec.new_states(config, 0).dtype)
    check_ranges(states, config.tables[0])
    for b, state in enumerate(states):
        try:
            own = spec.config_of(config, state)
            again = spec.from_dict(spec.to_dict(spec.game._from_valid_state(own, state)), own)
        except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
            raise ValueError(f"states: game {b}: {str(problem).removeprefix('position: ')}") from None
        for name in () if again.state.tobytes() == state.tobytes() else state.dtype.names:
            if (again.state[name] != state[name]).any():
                fail_field(b, name, state[name], str(again.state[name]))

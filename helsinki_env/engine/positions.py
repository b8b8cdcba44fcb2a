"""Shared code to write, read and check positions of any game."""

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
"""Maximum of rounds and points, so that they fit into an int8 observation."""
_HEX_UINT64 = re.compile("0x[0-9a-fA-F]{16}")


class PositionError(UserError):
    """An invalid position. The message names the key, the value found and the expected value."""


def fail(key: str, found: object, expected: str) -> NoReturn:
    """Raise PositionError."""
    raise PositionError(f"position: {key}: found {short_repr(found)}, expected {expected}")


def cell_list(cells: int) -> list[int]:
    """Return the cells of a set (bit = cell), ascending."""
    found = []
    while cells:
        lowest = cells & -cells
        found.append(lowest.bit_length() - 1)
        cells ^= lowest
    return found


def or_none(number: int) -> int | None:
    """Return None for a negative number, which means "none" in records."""
    return None if number < 0 else number


def record_to_namespace(state: Any) -> SimpleNamespace:
    """Return a record as plain numbers and lists by field name, which are ten times as fast to read."""
    values = (value.tolist() if isinstance(value, np.ndarray) else value for value in state.item())
    return SimpleNamespace(**dict(zip(state.dtype.names, values, strict=True)))


def fill_record(states: Any, p: SimpleNamespace) -> None:
    """Write plain numbers into the single record of `states`: the inverse of `record_to_namespace`."""
    states[0] = tuple(getattr(p, name) for name in states.dtype.names)


def seen_hand(seat: Mapping[str, Any]) -> tuple[int, list[int]]:
    """Return the size and the publicly known cards of a hand, from a whole position or a copy for one seat."""
    hand = seat["hand"]
    return (hand["size"], hand["known"]) if isinstance(hand, Mapping) else (sum(hand), seat["known"])


# Values of a position


def exact_mapping(entry: Node, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Node]:
    """Return the entries of a mapping with exactly these keys, of which the optional ones may be missing."""
    entry.mapping(keys)
    for key in keys:
        if key not in entry.value and key not in optional:
            entry[key].fail("a value for this required key")
    return dict(entry.items())


def bounded_integer(entry: Node, what: str, low: int, high: int) -> int:
    """Return an integer; `what` describes it in the message."""
    return entry.integer(low, high, f"{what} from {low} to {high}")


def bounded_integers(
    entry: Node, what: str, many: str, most: int, length: int | None = None, low: int = 0
) -> list[int]:
    """Return a list of integers from `low` to `most`; `what` and `many` are singular and plural in messages."""
    found = entry.value
    if (
        isinstance(found, list)
        and length in (None, len(found))
        and all(type(n) is int and low <= n <= most for n in found)
    ):
        return [*found]  # the fast path
    return [bounded_integer(item, what, low, most) for item in entry.entries(many, length=length)]


def distinct_integers(entry: Node, what: str, many: str, size: int, low: int = 0) -> list[int]:
    """Return distinct integers from `low` to `size` - 1; `what` and `many` are singular and plural in messages."""
    found = bounded_integers(entry, what, many, size - 1, low=low)
    if len(set(found)) < len(found):
        duplicate = next(i for i, number in enumerate(found) if number in found[:i])
        entry.entries(many)[duplicate].fail(f"{many} without duplicates")
    return found


def bit_set(found: Sequence[int]) -> int:
    """Return distinct integers as a bit set (bit = integer)."""
    return sum(1 << number for number in found)


def read_chance(entry: Node) -> int:
    """Return the random key from ``{"word": "0x..."}`` with 16 hexadecimal digits."""
    word = exact_mapping(entry, ("word",))["word"]
    if not isinstance(word.value, str) or not _HEX_UINT64.fullmatch(word.value):
        word.fail("'0x' and 16 hexadecimal digits")
    return int(word.value, 16)


def free_cells(entry: Node, filled: int, cells: int) -> int:
    """Return cells of a board of `cells` cells as a set; the error rejects cells in the set `filled`."""
    found = bit_set(distinct_integers(entry, "a cell", "cells", cells))
    if found & filled:
        entry.fail(f"empty cells; {cell_list(found & filled)} are filled already")
    return found


def bounding_corner(cells: int, columns: int) -> int:
    """Return the corner with the lowest row and column of the bounding box of a set of cells; 0 for no cells."""
    rows, positions = zip(*(divmod(cell, columns) for cell in cell_list(cells) or [0]), strict=True)
    return columns * min(rows) + min(positions)


def read_tile_supply(entry: Node, colours: Sequence[str], what: str, most: Sequence[int]) -> list[int]:
    """Return tiles left by color and size, from lists by color of at most `most` tiles by size."""
    supply = exact_mapping(entry, colours)
    return [
        bounded_integer(count, "a supply of tiles", 0, limit)
        for colour in colours
        for count, limit in zip(supply[colour].entries(what, length=len(most)), most, strict=True)
    ]


# Whole positions


def hide_from_others(position: dict[str, Any], seat: int) -> None:
    """Remove the random key, the order of the draw pile and the unknown cards of other hands from a position."""
    del position["chance"]
    position["draw_pile"] = len(position["draw_pile"])
    for i, other in enumerate(position["seats"]):
        if i != seat:
            other["hand"] = {"size": sum(other["hand"]), "known": other["known"]}


def read_header(
    position: Mapping[str, Any], game: str, version: int, keys: Sequence[str], optional: Sequence[str] = ()
) -> dict[str, Node]:
    """Return the entries of a whole position of a game with exactly these keys."""
    given = Node(position, PositionError, file="position")
    if isinstance(position, Mapping) and isinstance(given["draw_pile"].value, int):
        given["draw_pile"].fail("a list of cards: a copy for one seat cannot be continued")
    data = exact_mapping(given, keys, optional)
    data["game"].choice([game])
    data["version"].integer(version, version, f"{version}: other versions have other rules")
    return data


def read_config(kind: type[Any], data: Mapping[str, Node], **options: Any) -> Any:
    """Return the configuration of a position, from its component file and the options."""
    components = data["components"].text("the name of a component file, or a path")
    try:
        return kind(components=components, **options)
    except (ValueError, OSError) as problem:
        raise PositionError(f"position: {problem}") from None


def check_supply(key: str, left: int, taken: int, box: int) -> None:
    """Check that boards and supply together hold at most the components of the box."""
    if taken > box:
        fail(f"all of {key}", taken, f"at most {box} on all boards")
    if left > box - taken:
        fail(key, left, f"at most {box - taken}: {taken} of {box} are on boards")


def check_states(spec: GameSpec, states: Any, config: Any) -> None:
    """Reject records, (B,), that change when they are written as positions and read again.

    Compiled rules index arrays with values of a record without bounds checks, and a search plays games to their end.
    Every valid position can be played to its end. Of the configuration, only the component file is used.

    Raises:
        ValueError: for an invalid record; the message names the game, the key or field, the value and the expected one.
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

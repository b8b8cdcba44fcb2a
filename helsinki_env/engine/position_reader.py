"""Read and check the values of a position, for any game."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helsinki_env.data import Node

__all__ = ["bit_set", "bounded_integer", "bounded_integers", "distinct_integers", "exact_mapping", "hex_uint64"]

_WORD = re.compile("0x[0-9a-fA-F]{16}")


def exact_mapping(entry: Node, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Node]:
    """Return the entries of a mapping with exactly these keys; the optional ones may be missing."""
    entry.mapping(keys)
    for key in keys:
        if key not in entry.value and key not in optional:
            entry[key].fail("this key: it is missing")
    return dict(entry.items())


def bounded_integer(entry: Node, what: str, low: int, high: int) -> int:
    """Return an integer; `what` describes it in the message."""
    return entry.integer(low, high, f"{what} from {low} to {high}")


def bounded_integers(
    entry: Node, what: str, many: str, most: int, length: int | None = None, low: int = 0
) -> list[int]:
    """Return a list of integers from `low` to `most`; `what` and `many` are its singular and plural in messages."""
    found = entry.value
    if (
        isinstance(found, list)
        and length in (None, len(found))
        and all(type(n) is int and low <= n <= most for n in found)
    ):
        return [*found]  # the fast path
    return [bounded_integer(item, what, low, most) for item in entry.entries(many, length=length)]


def distinct_integers(entry: Node, what: str, many: str, size: int, low: int = 0) -> list[int]:
    """Return distinct integers from `low` to `size` - 1; `what` and `many` are their names in messages."""
    found = bounded_integers(entry, what, many, size - 1, low=low)
    if len(set(found)) < len(found):
        twice = next(i for i, number in enumerate(found) if number in found[:i])
        entry.entries(many)[twice].fail(f"each of the {many} once")
    return found


def bit_set(found: Sequence[int]) -> int:
    """Return distinct integers as a bit set (bit = integer)."""
    return sum(1 << number for number in found)


def hex_uint64(entry: Node) -> int:
    """Return a 64-bit integer from 16 hexadecimal digits."""
    if not isinstance(entry.value, str) or not _WORD.fullmatch(entry.value):
        entry.fail("'0x' and 16 hexadecimal digits")
    return int(entry.value, 16)

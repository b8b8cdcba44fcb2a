"""Values of a position as they are read, whatever the game: what is of the wrong kind is found here."""

from __future__ import annotations

import re
from collections.abc import Sequence

from helsinki_env.data import Entry

__all__ = ["as_bits", "different", "mapping", "numbers", "whole", "word"]

_WORD = re.compile("0x[0-9a-fA-F]{16}")


def mapping(entry: Entry, keys: Sequence[str], optional: Sequence[str] = ()) -> dict[str, Entry]:
    """Return what stands under exactly these keys; the optional ones may be missing."""
    entry.mapping(keys)
    for key in keys:
        if key not in entry.value and key not in optional:
            entry[key].fail("this key: it is missing")
    return dict(entry.items())


def whole(entry: Entry, what: str, low: int, high: int) -> int:
    """Return a whole number; `what` it is, is for the message."""
    return entry.integer(low, high, f"{what} from {low} to {high}")


def numbers(entry: Entry, what: str, many: str, most: int, length: int | None = None, low: int = 0) -> list[int]:
    """Return a list of whole numbers from `low` to `most`; `what` each of them is, `many` of them are."""
    found = entry.value
    if (
        isinstance(found, list)
        and length in (None, len(found))
        and all(type(n) is int and low <= n <= most for n in found)
    ):
        return [*found]  # the quick look
    return [whole(item, what, low, most) for item in entry.entries(many, length=length)]


def different(entry: Entry, what: str, many: str, size: int, low: int = 0) -> list[int]:
    """Return different whole numbers from `low` to `size` - 1; `what` each of them is, `many` of them are."""
    found = numbers(entry, what, many, size - 1, low=low)
    if len(set(found)) < len(found):
        twice = next(i for i, number in enumerate(found) if number in found[:i])
        entry.entries(many)[twice].fail(f"each of the {many} once")
    return found


def as_bits(found: Sequence[int]) -> int:
    """Return different numbers as a set (bit = number)."""
    return sum(1 << number for number in found)


def word(entry: Entry) -> int:
    """Return 64 bits that are written as 16 hexadecimal digits."""
    if not isinstance(entry.value, str) or not _WORD.fullmatch(entry.value):
        entry.fail("'0x' and 16 hexadecimal digits")
    return int(entry.value, 16)

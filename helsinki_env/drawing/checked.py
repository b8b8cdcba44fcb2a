"""Validation of position values, as far as drawings need it."""

from __future__ import annotations

from collections.abc import Iterable

from helsinki_env.data import Node

#: Maximum length of a list in a drawing.
MAX_LIST_LENGTH = 101


def integer_tuple(entry: Node, what: str, most: int, length: int | None = None) -> tuple[int, ...]:
    """Return a list of integers from 0 to `most`."""
    found = entry.value
    if (
        isinstance(found, list)
        and (len(found) <= MAX_LIST_LENGTH if length is None else len(found) == length)
        and all(type(n) is int and 0 <= n <= most for n in found)
    ):
        return tuple(found)  # the fast path
    return tuple(item.integer(0, most) for item in entry.entries(what, length=length, most=MAX_LIST_LENGTH))


def optional_integer(entry: Node, most: int) -> int | None:
    """Return an integer from 0 to `most`, or None for null."""
    return None if entry.value is None else entry.integer(0, most, f"null or a whole number from 0 to {most}")


def is_connected(cells: Iterable[int], columns: int) -> bool:
    """Return whether distinct cells, numbered by rows of `columns` cells, are connected edge to edge."""
    listed = list(cells)
    left = set(listed[1:])
    edge = listed[:1]
    while edge:
        row, column = divmod(edge.pop(), columns)
        near = {cell for cell in left if abs(cell // columns - row) + abs(cell % columns - column) == 1}
        left -= near
        edge.extend(near)
    return bool(listed) and not left and len(set(listed)) == len(listed)


def pluralize(amount: int, word: str) -> str:
    """Format an amount with its noun in singular or plural: ``1 card``, ``2 cards``."""
    return f"{amount} {word}" if amount == 1 else f"{amount} {word}s"

"""Values of positions that drawings read, checked as far as a drawing needs it."""

from __future__ import annotations

from collections.abc import Iterable

from helsinki_env.data import Entry

#: Nothing on a table is told by a longer list.
MOST_LISTED = 101


def numbers(entry: Entry, what: str, most: int, length: int | None = None) -> tuple[int, ...]:
    """Return a list of whole numbers from 0 to `most`."""
    found = entry.value
    if (
        isinstance(found, list)
        and (len(found) <= MOST_LISTED if length is None else len(found) == length)
        and all(type(n) is int and 0 <= n <= most for n in found)
    ):
        return tuple(found)  # the quick look
    return tuple(item.integer(0, most) for item in entry.entries(what, length=length, most=MOST_LISTED))


def or_none(entry: Entry, most: int) -> int | None:
    """Return a whole number from 0 to `most`, or None for null."""
    return None if entry.value is None else entry.integer(0, most, f"null or a whole number from 0 to {most}")


def in_one_piece(cells: Iterable[int], columns: int) -> bool:
    """Return whether different cells, numbered by rows of so many columns, hang together edge to edge."""
    listed = list(cells)
    left = set(listed[1:])
    edge = listed[:1]
    while edge:
        row, column = divmod(edge.pop(), columns)
        near = {cell for cell in left if abs(cell // columns - row) + abs(cell % columns - column) == 1}
        left -= near
        edge.extend(near)
    return bool(listed) and not left and len(set(listed)) == len(listed)


def count_of(amount: int, word: str) -> str:
    """Write an amount with its word in the right number: ``1 card``, ``2 cards``."""
    return f"{amount} {word}" if amount == 1 else f"{amount} {word}s"

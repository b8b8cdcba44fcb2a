"""The pages of a Parquet file, as far as their headers tell how much memory they take once they are unpacked.

The footer of a file tells the same, but nothing holds it to the truth, and nobody who reads the pages looks there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

__all__ = ["Page", "PageError", "pages_of"]

_HEADERS = (2**9, 2**16)
"""Bytes in which a header is looked for: nearly all are short, but statistics make some longer."""
_MOST_NESTED = 8
#: What stands in a header, by the numbers of its fields, and in its part for each kind of page: number of values and
#: encoding.
_UNPACKED, _PACKED = 2, 3
_KINDS = {5: (1, 2), 7: (1, 2), 8: (1, 4)}


class PageError(ValueError):
    """A page header that cannot be read."""


class Page(NamedTuple):
    """A page of a column.

    Attributes:
        values: how many it has.
        size: bytes once it is unpacked.
        encoding: number of its encoding in the format.
    """

    values: int
    size: int
    encoding: int


def pages_of(file: BinaryIO, start: int, length: int) -> Iterator[Page]:
    """Yield the pages of a column in a row group.

    Args:
        file: the Parquet file.
        start: where its first page begins.
        length: bytes of all its pages.

    Raises:
        PageError: if the bytes are no pages.
    """
    end = start + length
    while start < end:
        header, size = _header(file, start, end)
        kinds = [(header[field], places) for field, places in _KINDS.items() if field in header]
        if len(kinds) != 1 or not isinstance(kinds[0][0], dict):
            raise PageError("found a page of an unknown kind")
        ((about, (values, encoding)),) = kinds
        numbers = [about.get(values), header.get(_UNPACKED), about.get(encoding), header.get(_PACKED)]
        if any(not isinstance(number, int) or number < 0 for number in numbers):
            raise PageError("found a page without its sizes")
        *told, packed = numbers
        yield Page(*told)
        start += size + packed


def _header(file: BinaryIO, start: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a header by their numbers, and how many bytes it takes."""
    for most in _HEADERS:
        file.seek(start)
        reader = _Reader(file.read(min(most, end - start)))
        try:
            return reader.structure(), reader.place
        except IndexError:
            continue
    raise PageError("found a header that does not end")


class _Reader:
    """Reads Thrift's compact protocol, in which headers are written; IndexError at the end of the bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = data, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a structure by their numbers; None for those that are no numbers or structures."""
        if depth > _MOST_NESTED:
            raise PageError("found a header that is nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else self._number()
            fields[number] = self._value(kind & 15, depth)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self._number()
        if kind == 12:
            return self.structure(depth + 1)
        if kind in (3, 7, 8):
            self._skip({3: 1, 7: 8}.get(kind) or self._size())
            return None
        raise PageError("found a header with fields of an unknown type")

    def _byte(self) -> int:
        self.place += 1
        return self._data[self.place - 1]

    def _skip(self, length: int) -> None:
        self.place += length
        if self.place > len(self._data):
            raise IndexError

    def _size(self) -> int:
        """Return a whole number, seven bits a byte."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise PageError("found a number that is too long")

    def _number(self) -> int:
        value = self._size()
        return (value >> 1) ^ -(value & 1)

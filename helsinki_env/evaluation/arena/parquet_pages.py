"""Read the page headers of a Parquet file, which give the decompressed size of its pages.

The footer gives the sizes, too, but it may be wrong, and Parquet readers do not check it against the pages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

from helsinki_env.data import UserError

__all__ = ["PageError", "PageHeader", "page_headers"]

_HEADERS = (2**9, 2**16)
"""Bytes to read for a header: nearly all are short, but statistics make some longer."""
_MOST_NESTED = 8
#: Field numbers in a header, and in its part for each kind of page: number of values and encoding.
_UNPACKED, _PACKED = 2, 3
_KINDS = {5: (1, 2), 7: (1, 2), 8: (1, 4)}


class PageError(UserError):
    """A page header that cannot be read."""


class PageHeader(NamedTuple):
    """A page of a column.

    Attributes:
        values: number of values.
        size: decompressed size in bytes.
        encoding: number of its encoding in the Parquet format.
    """

    values: int
    size: int
    encoding: int


def page_headers(file: BinaryIO, start: int, length: int) -> Iterator[PageHeader]:
    """Yield the pages of a column in a row group.

    Args:
        file: the Parquet file.
        start: offset of the first page.
        length: total bytes of its pages.

    Raises:
        PageError: if the bytes are not valid pages.
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
        yield PageHeader(*told)
        start += size + packed


def _header(file: BinaryIO, start: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a header, keyed by number, and its size in bytes."""
    for most in _HEADERS:
        file.seek(start)
        reader = _Reader(file.read(min(most, end - start)))
        try:
            return reader.structure(), reader.place
        except IndexError:
            continue
    raise PageError("found a header that does not end")


class _Reader:
    """Reader of Thrift's compact protocol, the format of the headers; raises IndexError at the end of the bytes."""

    def __init__(self, data: bytes) -> None:
        self._data, self.place = data, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a structure, keyed by number; None for those other than numbers and structures."""
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
        """Read an unsigned varint, seven bits a byte."""
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

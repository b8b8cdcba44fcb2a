"""Parquet files of games, read only after checking how much memory they need when decompressed.

A few kilobytes of Parquet can expand to gigabytes: a run of equal values takes a few bytes, and a dictionary-encoded
string can be referenced by every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Self

from helsinki_env.data import short_repr
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.evaluation.arena.parquet_pages import PageError, page_headers
from helsinki_env.evaluation.arena.plan import ArenaError
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

__all__ = ["MAX_ROW_GROUPS", "BoundedParquetFile"]

MAX_ROW_GROUPS = 4000
"""Maximum row groups of an unknown file: a quarter of a million games."""
_MOST_ROWS = 2**16
"""Maximum games in a row group."""
_MOST_DECISIONS = 2**15 - 1
"""Maximum actions in a game."""
_MOST_VALUES = 2**25
"""Maximum values of a column in a row group."""
_MOST_BYTES = 2**27
"""Maximum bytes of a row group when decompressed."""
_MOST_PAGES = 1000
"""Maximum pages of a column in a row group."""
_MOST_TEXT = 1000
"""Maximum characters of a name."""
_FOOTER = 2**12
"""Maximum bytes of the footer for each row group, and for its fixed part."""
_MOST_LISTED = 1000
"""Maximum entries of a list in the footer, such as columns."""
_ENCODINGS = (0, 2, 3, 8)
"""Plain, dictionary and run-length encodings: none in which values are built from other values."""
_BATCH = 16
"""Number of games converted to Python objects at a time."""


class BoundedParquetFile:
    """A Parquet file of games.

    Args:
        source: path of the file, or its content.
        schema: required columns.
        most_groups: maximum number of row groups.

    Attributes:
        rows: number of games in each row group.

    Raises:
        ArenaError: if the source is not such a file, or would take too much memory.
    """

    def __init__(self, source: Path | bytes, schema: Any, most_groups: int = MAX_ROW_GROUPS) -> None:
        with _readable():
            self._bytes: BinaryIO = BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        try:
            with _readable():
                self._open(schema, most_groups)
        except BaseException:
            self._bytes.close()
            raise

    def _open(self, schema: Any, most_groups: int) -> None:
        footer = self._footer()
        _check("bytes of its footer", footer, _FOOTER * (most_groups + 16))
        listed = max(_MOST_LISTED, most_groups)
        file = pq.ParquetFile(self._bytes, thrift_container_size_limit=listed, thrift_string_size_limit=max(footer, 1))
        if not file.schema_arrow.equals(schema):
            names = short_repr(file.schema_arrow.names)
            raise ArenaError(f"found other columns than those of games of helsinki arena: {names}")
        about, columns = file.metadata, file.schema
        _check("row groups", about.num_row_groups, most_groups)
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        self.rows: tuple[int, ...] = tuple(group.num_rows for group in groups)
        for rows in self.rows:
            _check("games of a row group", rows, _MOST_ROWS)
        self._groups, self._schema = groups, schema
        # Read strings as dictionaries: a long string that is referenced often is then stored once.
        texts = [columns.column(i).path for i in range(len(columns)) if columns.column(i).physical_type == "BYTE_ARRAY"]
        self._file = pq.ParquetFile(self._bytes, metadata=about, read_dictionary=texts)

    def _footer(self) -> int:
        """Return the size of the footer in bytes."""
        size = self._bytes.seek(0, 2)
        self._bytes.seek(max(0, size - 8))
        return min(size, int.from_bytes(self._bytes.read(4), "little"))

    def __enter__(self) -> Self:
        """Return the file; the `with` block closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._bytes.close()

    def group(self, number: int, games: int | None = None) -> Any:
        """Return a row group as an Arrow table.

        Args:
            number: index of the row group.
            games: expected number of games.

        Raises:
            ArenaError: if the group is damaged, has another number of games, or would take too much memory.
        """
        if games not in (None, self.rows[number]):
            raise ArenaError(f"found {self.rows[number]} games, expected {games}")
        self._check_group(number)
        with _readable():
            table = self._file.read_row_group(number)
            self._check_texts(table)
            return table.cast(self._schema)

    def batches(self, number: int, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield the games of a row group as dictionaries, a few at a time.

        Args:
            number: index of the row group.
            columns: columns to read.

        Raises:
            ArenaError: as for `group`.
        """
        self._check_group(number)
        with _readable():
            for batch in self._file.iter_batches(_BATCH, [number], columns, use_threads=False):
                self._check_texts(batch)
                for field in batch.schema:
                    if pa.types.is_list(field.type):
                        longest = pc.max(pc.list_value_length(batch[field.name])).as_py() or 0
                        _check(f"values of {field.name}", longest, _most_of(field.name))
                yield batch.to_pylist()

    def _check_group(self, number: int) -> None:
        """Raise ArenaError if a row group would take too much memory; reads only page headers."""
        group, size = self._groups[number], 0
        for i in range(group.num_columns):
            column = group.column(i)
            name = column.path_in_schema.partition(".")[0]
            most = min(_MOST_VALUES, max(1, group.num_rows) * _most_of(name))
            _check(f"values of {name}", column.num_values, most)
            starts = column.data_page_offset, column.dictionary_page_offset or column.data_page_offset
            values = 0
            with _readable():
                for count, page in enumerate(page_headers(self._bytes, min(starts), column.total_compressed_size), 1):
                    size, values = size + page.size, values + page.values
                    _check(f"pages of {name}", count, _MOST_PAGES)
                    _check("bytes of a row group once they are unpacked", size, _MOST_BYTES)
                    _check(f"values of {name}", values, 2 * most)  # including those of the dictionary
                    if page.encoding not in _ENCODINGS:
                        raise ArenaError(f"{name}: found the encoding {page.encoding}, expected plain or dictionary")

    def _check_texts(self, rows: Any) -> None:
        for field in rows.schema:
            column = rows[field.name]
            for part in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                texts = part.values if pa.types.is_list(field.type) else part
                if pa.types.is_dictionary(texts.type):
                    longest = pc.max(pc.binary_length(texts.dictionary)).as_py() or 0
                    _check(f"bytes of a text of {field.name}", longest, 4 * _MOST_TEXT)
                    _check(f"bytes of the texts of {field.name}", longest * len(texts), _MOST_BYTES)


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, PageError, OverflowError, UnicodeDecodeError) as problem:
        raise ArenaError(f"cannot be read as Parquet: {' '.join(str(problem).split())}") from None


def _check(what: str, found: int, most: int) -> None:
    if not 0 <= found <= most:
        raise ArenaError(f"{what}: found {found:,}, expected at most {most:,}")


def _most_of(column: str) -> int:
    """Return the maximum values of a column in a game: one per seat, except for the actions."""
    return _MOST_DECISIONS if column == "decisions" else MAX_SEATS

"""Parquet files of games, of which nothing is unpacked before it is known how much memory that takes.

Some kilobytes of Parquet can stand for gigabytes: a run of equal values takes a few bytes, and a text that is written
once may be meant in every row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Self

from agents.arena.pages import PageError, pages_of
from agents.arena.plan import ArenaError
from helsinki_env.data import shown
from helsinki_env.engine.contract import SEATS
from helsinki_env.extras import needs

with needs("arena"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

__all__ = ["MOST_GROUPS", "GamesFile"]

MOST_GROUPS = 4000
"""Row groups of a file of which nothing else is known: a quarter of a million games."""
_MOST_ROWS = 2**16
"""Games of a row group."""
_MOST_DECISIONS = 2**15 - 1
"""Of a game."""
_MOST_VALUES = 2**25
"""Of a column in a row group."""
_MOST_BYTES = 2**27
"""Of a row group, once it is unpacked."""
_MOST_PAGES = 1000
"""Of a column in a row group."""
_MOST_TEXT = 1000
"""Characters of a name."""
_FOOTER = 2**12
"""Bytes of the footer for each row group, and before them."""
_MOST_LISTED = 1000
"""Entries of a list in the footer, such as columns."""
_ENCODINGS = (0, 2, 3, 8)
"""Values as they are, as places in a list of different ones, and runs: none in which a value is made of others."""
_BATCH = 16
"""Games that are made Python objects at a time."""


class GamesFile:
    """A Parquet file of games.

    Args:
        source: path of the file, or its content.
        schema: the columns that it must have.
        most_groups: row groups that it may have.

    Attributes:
        rows: how many games each row group has.

    Raises:
        ArenaError: if it is no such file, or would take too much memory.
    """

    def __init__(self, source: Path | bytes, schema: Any, most_groups: int = MOST_GROUPS) -> None:
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
            names = shown(file.schema_arrow.names)
            raise ArenaError(f"found other columns than those of games of helsinki arena: {names}")
        about, columns = file.metadata, file.schema
        _check("row groups", about.num_row_groups, most_groups)
        groups = [about.row_group(number) for number in range(about.num_row_groups)]
        self.rows: tuple[int, ...] = tuple(group.num_rows for group in groups)
        for rows in self.rows:
            _check("games of a row group", rows, _MOST_ROWS)
        self._groups, self._schema = groups, schema
        # Texts stay a list of different ones and places in it: a long one that is meant often is there once.
        texts = [columns.column(i).path for i in range(len(columns)) if columns.column(i).physical_type == "BYTE_ARRAY"]
        self._file = pq.ParquetFile(self._bytes, metadata=about, read_dictionary=texts)

    def _footer(self) -> int:
        """Return how many bytes the footer takes."""
        size = self._bytes.seek(0, 2)
        self._bytes.seek(max(0, size - 8))
        return min(size, int.from_bytes(self._bytes.read(4), "little"))

    def __enter__(self) -> Self:
        """Return the file, which is closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._bytes.close()

    def group(self, number: int, games: int | None = None) -> Any:
        """Return a row group as an Arrow table.

        Args:
            number: of the row group.
            games: how many it must have.

        Raises:
            ArenaError: if it is damaged, has other games, or would take too much memory.
        """
        if games not in (None, self.rows[number]):
            raise ArenaError(f"found {self.rows[number]} games, expected {games}")
        self._check_group(number)
        with _readable():
            table = self._file.read_row_group(number)
            self._check_texts(table)
            return table.cast(self._schema)

    def batches(self, number: int, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield the games of a row group as plain data, a few at a time.

        Args:
            number: of the row group.
            columns: which are read.

        Raises:
            ArenaError: as `group`.
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
        """Raise ArenaError if a row group would take too much memory; only headers of pages are read."""
        group, size = self._groups[number], 0
        for i in range(group.num_columns):
            column = group.column(i)
            name = column.path_in_schema.partition(".")[0]
            most = min(_MOST_VALUES, max(1, group.num_rows) * _most_of(name))
            _check(f"values of {name}", column.num_values, most)
            starts = column.data_page_offset, column.dictionary_page_offset or column.data_page_offset
            values = 0
            with _readable():
                for count, page in enumerate(pages_of(self._bytes, min(starts), column.total_compressed_size), 1):
                    size, values = size + page.size, values + page.values
                    _check(f"pages of {name}", count, _MOST_PAGES)
                    _check("bytes of a row group once they are unpacked", size, _MOST_BYTES)
                    _check(f"values of {name}", values, 2 * most)  # those of a list of different ones as well
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
    except (pa.ArrowException, OSError, PageError, OverflowError) as problem:
        raise ArenaError(f"cannot be read as Parquet: {' '.join(str(problem).split())}") from None


def _check(what: str, found: int, most: int) -> None:
    if not 0 <= found <= most:
        raise ArenaError(f"{what}: found {found:,}, expected at most {most:,}")


def _most_of(column: str) -> int:
    """Return how many values a column may have in a game; an entry for each seat, but for the decisions."""
    return _MOST_DECISIONS if column == "decisions" else SEATS

"""Games as Parquet: schema, writer with byte-for-byte reproducible output, and readers with bounded memory use.

A file stores the digest of each matchup's configuration, not the configuration itself. `ParquetGameReader` finds the
configuration among those that are possible with the bundled component files.

A few kilobytes of Parquet can expand to gigabytes: a run of equal values takes only a few bytes, and every row may
refer to the same dictionary-encoded string. `BoundedParquetFile` checks the decompressed size before reading.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from itertools import chain, islice, product
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from helsinki_env.data import short_repr
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.spec import game_names, spec_by_name
from helsinki_env.evaluation.arena.designs import decode_setup, with_disabled
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import Schedule, WorkUnitGames, check_equal, schedule_games, validate_games
from helsinki_env.evaluation.play import GameResults
from helsinki_env.records import Record, replay
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.yaml_files import list_yaml

with requires_extra("stats"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

_MAX_GROUPS = 4000  # row groups of a file without a plan: about a quarter of a million games
_MAX_ROWS = 2**16  # games in a row group
_MAX_ACTIONS = 2**15 - 1  # actions in a game
_MAX_VALUES = 2**25  # values of a column in a row group
_MAX_BYTES = 2**27  # decompressed bytes of a row group
_MAX_PAGES = 1000  # pages of a column in a row group
_MAX_TEXT = 1000  # characters of a name
_MAX_FOOTER = 2**12  # bytes of the footer per row group
_MAX_LIST = 1000  # entries of a list in the footer, such as columns
_ENCODINGS = (0, 2, 3, 8)  # plain, dictionary and run-length, where no value depends on other values
_BATCH = 16  # games converted to Python objects at a time
_HEADER_SIZES = (2**9, 2**16)  # bytes to read for a page header; the second size is for headers with long statistics
_MAX_DEPTH = 8  # nesting depth of a page header
#: Field numbers of the decompressed and compressed sizes in a page header.
_UNPACKED_SIZE, _PACKED_SIZE = 2, 3
#: Page types by field number, with the field numbers of their value count and encoding.
_KINDS = {5: (1, 2), 7: (1, 2), 8: (1, 4)}

SCHEMA = pa.schema(
    [
        ("matchup", pa.string()),
        ("lineup", pa.int32()),
        ("block", pa.int32()),  # number within the line-up, and of the deal
        ("game", pa.int32()),  # number within the line-up
        ("seed", pa.uint64()),  # seed of the deal, as for `HelsinkiGame`
        ("config_digest", pa.string()),
        ("players", pa.list_(pa.string())),
        ("player", pa.list_(pa.int16())),  # index into the players of the matchup
        ("decisions", pa.list_(pa.int16())),  # action ids of the game, in order
        ("covered", pa.int16()),  # actions disabled for all seats, bit i for action i
        ("denied", pa.list_(pa.int16())),  # actions disabled for each seat, bit i for action i
        ("used", pa.list_(pa.int16())),  # actions used by each seat, bit i for action i
        ("scores", pa.list_(pa.int16())),
        ("places", pa.list_(pa.int8())),  # rank of each seat (0 is first)
        ("rounds", pa.int16()),
        ("seat_decisions", pa.list_(pa.int16())),
    ]
)
"""The columns. All list columns except `decisions` have one entry per seat."""


def games_to_arrow(matchup: MatchupPlan, unit: WorkUnit, games: WorkUnitGames) -> Any:
    """Return the games of a work unit as an Arrow table with the columns of `SCHEMA`."""
    columns = {name: values.tolist() for name, values in _planned(matchup, unit, games.schedule).items()}
    for field in SCHEMA:
        if field.name == "decisions":
            columns[field.name] = list(games.played.decisions)
        elif field.name not in columns:
            columns[field.name] = getattr(games.played, field.name).tolist()
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def games_from_arrow(matchup: MatchupPlan, seed: int, unit: WorkUnit, rows: Any) -> WorkUnitGames:
    """Return the games in an Arrow table from `games_to_arrow`; raise ArenaError if they contradict the plan."""
    planned = schedule_games(matchup, seed, unit)
    if len(rows) != len(planned.game):
        raise ArenaError(f"found {len(rows)} games, expected {len(planned.game)}")
    found = {name: _values(rows, name, matchup.seats) for name in SCHEMA.names if name != "decisions"}
    decisions, lengths = _lists(rows, "decisions")
    for column, expected in _planned(matchup, unit, planned).items():
        check_equal(column, found.pop(column), expected, planned.game)
    games = WorkUnitGames(planned, GameResults(decisions=tuple(np.split(decisions, lengths.cumsum()[:-1])), **found))
    validate_games(games, matchup.config)
    return games


def _planned(matchup: MatchupPlan, unit: WorkUnit, planned: Schedule) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a work unit that the plan determines, (G,) each, or (G, S) for list columns."""
    games = len(planned.game)
    return {
        "matchup": np.full(games, matchup.name, object),
        "lineup": np.full(games, unit.lineup),
        "block": planned.block,
        "game": planned.game,
        "seed": planned.seeds,
        "config_digest": np.full(games, matchup.config.digest, object),
        "players": np.array(matchup.players, object)[planned.seating],
        "player": planned.seating,
        "covered": planned.disabled.covered,
        "denied": planned.disabled.denied,
    }


def _values(rows: Any, column: str, seats: int) -> npt.NDArray[Any]:
    """Return a column as an array, (G,), or (G, S) if it has one entry per seat."""
    if not pa.types.is_list(rows[column].type):
        return _whole(column, rows[column].combine_chunks())
    values, lengths = _lists(rows, column)
    if (lengths != seats).any():
        raise ArenaError(f"{column}: found {np.unique(lengths).tolist()} values, expected {seats}")
    return values.reshape(-1, seats)


def _lists(rows: Any, column: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the concatenated lists of a column, and the length of the list of each game, (G,)."""
    lists = rows[column].combine_chunks()
    return _whole(column, lists.flatten()), _whole(column, lists.value_lengths())


def _whole(column: str, values: Any) -> npt.NDArray[Any]:
    """Return Arrow values as an array; raise ArenaError if a value is missing."""
    if values.null_count:
        raise ArenaError(f"{column}: found a missing value, expected one everywhere")
    try:
        return np.asarray(values)
    except (pa.ArrowException, UnicodeDecodeError):  # which error is raised depends on the text's position in a list
        raise ArenaError(f"{column}: found text that is not UTF-8") from None


class _Hashed:
    """A writable file that computes the SHA-256 digest of the written bytes."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.sha256 = file, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()


def write_parquet(file: BinaryIO, tables: Iterable[Any], schema: Any = SCHEMA) -> str:
    """Write Arrow tables with the columns of `schema` as row groups, and return the SHA-256 digest of the file."""
    hashed = _Hashed(file)
    with pq.ParquetWriter(hashed, schema, compression="zstd", compression_level=3, version="2.6") as writer:
        for rows in tables:
            writer.write_table(rows, row_group_size=max(1, len(rows)))
    return hashed.sha256.hexdigest()


def read_parquet(source: Path) -> Iterator[Any]:
    """Yield the row groups of a file as Arrow tables.

    Raises ArenaError if the file is invalid or needs too much memory.
    """
    with BoundedParquetFile(source, SCHEMA) as file:
        for number in range(len(file.rows)):
            yield file.group(number)


#: Columns that are needed for game records.
_RECORD_COLUMNS = ("seed", "config_digest", "players", "decisions", "covered", "denied", "scores", "places")


class ParquetGameReader:
    """Reader for the games in a Parquet file, given its content.

    Raises ArenaError if the content is invalid or too large.
    """

    def __init__(self, content: bytes) -> None:
        with _named():
            self._file = BoundedParquetFile(content, SCHEMA)
        self.count = sum(self._file.rows)

    def records(self, first: int, count: int) -> list[Record]:
        """Return the records of up to `count` games, starting at index `first`. Each record is validated by a replay.

        Raises:
            ArenaError: if the file is damaged, a game is too large, or a configuration is unknown.
            RecordError: if a record is invalid.
        """
        with _named():
            records = list(islice(self._records(first), count))
        for record in records:
            replay(record)
        return records

    def _records(self, first: int) -> Iterator[Record]:
        for group, size in enumerate(self._file.rows):
            if first < size:
                rows = chain.from_iterable(self._file.batches(group, _RECORD_COLUMNS))
                yield from map(_record, islice(rows, first, None))
            first = max(0, first - size)


@contextmanager
def _named() -> Iterator[None]:
    """Add a prefix to the message of an ArenaError that is raised in the block."""
    try:
        yield
    except ArenaError as problem:
        raise ArenaError(f"games: {problem}") from None


def _record(row: dict[str, Any]) -> Record:
    if any(value is None for value in row.values()) or None in row["denied"]:
        raise ArenaError("found a missing value, expected one everywhere")
    return Record(
        config=_config(row["config_digest"], len(row["players"]), row["covered"], tuple(row["denied"])),
        seed=row["seed"],
        players=tuple(row["players"]),
        decisions=tuple(row["decisions"]),
        scores=tuple(row["scores"]),
        places=tuple(row["places"]),
    )


@lru_cache(maxsize=4096)
def _config(digest: str, players: int, covered: int, denied: tuple[int, ...]) -> Any:
    """Return the configuration of a matchup with the actions disabled in a game, given as bit sets."""
    for_all, by_seat = decode_setup(covered, denied)
    for config in _candidates(players, for_all, by_seat):
        if config.digest == digest:
            return with_disabled(config, covered, denied)
    raise ArenaError(
        f"config_digest: found {short_repr(digest)}, expected the digest of a configuration with a shipped component "
        "file; use games with their configurations (helsinki arena --format jsonl)"
    )


def _candidates(players: int, covered: tuple[int, ...], denied: tuple[tuple[int, ...], ...]) -> Iterator[Any]:
    """Yield all possible configurations of a matchup, with and without the actions disabled in a game."""
    if not 2 <= players <= 4:
        return
    for spec in map(spec_by_name, game_names()):
        for components in _components(spec.name):
            start = spec.config(num_players=players, components=components)
            values: dict[str, tuple[Any, ...]] = {"reward": REWARDS}
            flags = [setup for setup in spec.setup_options if not setup.choices]
            values |= {setup.key: (getattr(start, setup.key), setup.value) for setup in flags}
            values |= {"covered": ((), covered)} if hasattr(start, "covered") else {}
            values |= {"denied": (start.denied, denied)}
            for chosen in product(*(dict.fromkeys(choice) for choice in values.values())):
                yield start.replace(**dict(zip(values, chosen, strict=True)))


@lru_cache(maxsize=8)
def _components(game: str) -> tuple[str, ...]:
    """Return the names of the bundled component files of a game."""
    found = []
    for name in list_yaml("components"):
        try:
            spec_by_name(game).config(components=name)
        except ValueError:
            continue
        found.append(name)
    return tuple(found)


class BoundedParquetFile:
    """A Parquet file with the columns of `schema`, given its path or content.

    `rows` contains the number of games in each row group.

    Methods raise ArenaError if the file is invalid or needs too much memory.
    """

    def __init__(self, source: Path | bytes, schema: Any, max_groups: int = _MAX_GROUPS) -> None:
        with _readable():
            self._bytes: BinaryIO = BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        try:
            with _readable():
                self._open(schema, max_groups)
        except BaseException:
            self._bytes.close()
            raise

    def _open(self, schema: Any, max_groups: int) -> None:
        footer = self._footer()
        _check("bytes of its footer", footer, _MAX_FOOTER * (max_groups + 16))
        length = max(_MAX_LIST, max_groups)
        file = pq.ParquetFile(self._bytes, thrift_container_size_limit=length, thrift_string_size_limit=max(footer, 1))
        if not file.schema_arrow.equals(schema):
            names = short_repr(file.schema_arrow.names)
            raise ArenaError(f"columns: found {names}, expected those of a file from helsinki arena")
        metadata, columns = file.metadata, file.schema
        _check("row groups", metadata.num_row_groups, max_groups)
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        self.rows: tuple[int, ...] = tuple(group.num_rows for group in groups)
        for rows in self.rows:
            _check("games of a row group", rows, _MAX_ROWS)
        self._groups, self._schema = groups, schema
        # Read strings as dictionaries, so that a repeated long string is stored only once.
        texts = [columns.column(i).path for i in range(len(columns)) if columns.column(i).physical_type == "BYTE_ARRAY"]
        self._file = pq.ParquetFile(self._bytes, metadata=metadata, read_dictionary=texts)

    def _footer(self) -> int:
        """Return the size of the footer in bytes."""
        size = self._bytes.seek(0, 2)
        self._bytes.seek(max(0, size - 8))
        return min(size, int.from_bytes(self._bytes.read(4), "little"))

    def __enter__(self) -> Self:
        """Return the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self._bytes.close()

    def group(self, number: int, games: int | None = None) -> Any:
        """Return a row group as an Arrow table. `games` is the expected number of games, or None for any number."""
        if games not in (None, self.rows[number]):
            raise ArenaError(f"found {self.rows[number]} games, expected {games}")
        self._check_group(number)
        with _readable():
            rows = self._file.read_row_group(number)
            self._check_texts(rows)
            return rows.cast(self._schema)

    def batches(self, number: int, columns: Sequence[str]) -> Iterator[list[dict[str, Any]]]:
        """Yield the games of a row group as lists of dictionaries, a few games at a time."""
        self._check_group(number)
        with _readable():
            for batch in self._file.iter_batches(_BATCH, [number], columns, use_threads=False):
                self._check_texts(batch)
                for field in batch.schema:
                    if pa.types.is_list(field.type):
                        longest = pc.max(pc.list_value_length(batch[field.name])).as_py() or 0
                        _check(f"values of {field.name}", longest, _max_values(field.name))
                yield batch.to_pylist()

    def _check_group(self, number: int) -> None:
        """Raise ArenaError if a row group needs too much memory according to its page headers."""
        group, size = self._groups[number], 0
        for i in range(group.num_columns):
            column = group.column(i)
            name = column.path_in_schema.partition(".")[0]
            limit = min(_MAX_VALUES, max(1, group.num_rows) * _max_values(name))
            _check(f"values of {name}", column.num_values, limit)
            starts = column.data_page_offset, column.dictionary_page_offset or column.data_page_offset
            values = 0
            with _readable():
                for count, page in enumerate(_page_headers(self._bytes, min(starts), column.total_compressed_size), 1):
                    size, values = size + page.size, values + page.values
                    _check(f"pages of {name}", count, _MAX_PAGES)
                    _check("bytes of a decompressed row group", size, _MAX_BYTES)
                    _check(f"values of {name}", values, 2 * limit)  # including values of the dictionary
                    if page.encoding not in _ENCODINGS:
                        raise ArenaError(f"{name}: found encoding {page.encoding}, expected plain or dictionary")

    def _check_texts(self, rows: Any) -> None:
        for field in rows.schema:
            column = rows[field.name]
            for part in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                texts = part.values if pa.types.is_list(field.type) else part
                if pa.types.is_dictionary(texts.type):
                    longest = pc.max(pc.binary_length(texts.dictionary)).as_py() or 0
                    _check(f"bytes of a text of {field.name}", longest, 4 * _MAX_TEXT)
                    _check(f"bytes of the texts of {field.name}", longest * len(texts), _MAX_BYTES)


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError, _PageError, OverflowError, UnicodeDecodeError) as problem:
        raise ArenaError(f"cannot be read as Parquet: {' '.join(str(problem).split())}") from None


def _check(name: str, found: int, limit: int) -> None:
    if not 0 <= found <= limit:
        raise ArenaError(f"{name}: found {found:,}, expected at most {limit:,}")


def _max_values(column: str) -> int:
    """Return the maximum number of values that a column may hold per game: one per seat, except for the actions."""
    return _MAX_ACTIONS if column == "decisions" else MAX_SEATS


class _PageError(Exception):
    """Raised if a page header cannot be read."""


class _PageHeader(NamedTuple):
    values: int  # number of values
    size: int  # decompressed size in bytes
    encoding: int  # number of the encoding in the Parquet format


def _page_headers(file: BinaryIO, start: int, length: int) -> Iterator[_PageHeader]:
    """Yield the page headers of a column in a row group, which takes `length` bytes starting at offset `start`.

    The sizes in the footer may be wrong, and Parquet readers do not check them against the pages.
    """
    end = start + length
    while start < end:
        header, size = _header(file, start, end)
        kinds = [(header[field], fields) for field, fields in _KINDS.items() if field in header]
        if len(kinds) != 1 or not isinstance(kinds[0][0], dict):
            raise _PageError("found a page of an unknown kind")
        ((page, (values, encoding)),) = kinds
        numbers = [page.get(values), header.get(_UNPACKED_SIZE), page.get(encoding), header.get(_PACKED_SIZE)]
        if any(not isinstance(number, int) or number < 0 for number in numbers):
            raise _PageError("found a page header without sizes")
        yield _PageHeader(*numbers[:3])
        start += size + numbers[3]


def _header(file: BinaryIO, start: int, end: int) -> tuple[dict[int, Any], int]:
    """Return the fields of a page header by number, and the size of the header in bytes."""
    for length in _HEADER_SIZES:
        file.seek(start)
        reader = _Reader(file.read(min(length, end - start)))
        try:
            return reader.structure(), reader.position
        except IndexError:
            continue
    raise _PageError("found a truncated header")


class _Reader:
    """Reader for page headers in Thrift's compact protocol. Raises IndexError at the end of the data."""

    def __init__(self, data: bytes) -> None:
        self._data, self.position = data, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        """Return the fields of a structure by number. Only numbers, booleans and structures have a value."""
        if depth > _MAX_DEPTH:
            raise _PageError("found a header that is nested too deeply")
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
        raise _PageError("found a header with fields of an unknown type")

    def _byte(self) -> int:
        self.position += 1
        return self._data[self.position - 1]

    def _skip(self, length: int) -> None:
        self.position += length
        if self.position > len(self._data):
            raise IndexError

    def _size(self) -> int:
        """Read an unsigned varint, with seven bits per byte."""
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise _PageError("found a number that is too long")

    def _number(self) -> int:
        value = self._size()
        return (value >> 1) ^ -(value & 1)

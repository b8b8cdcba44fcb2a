"""Games as Parquet: the schema, a writer whose output is byte-for-byte reproducible, and a reader for single files.

A file stores the digest of each matchup's configuration, not the configuration itself. `ParquetGameReader` finds it
among those that the shipped component files can produce.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import chain, islice, product
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from helsinki_env.data import short_repr
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.spec import game_names, spec_by_name
from helsinki_env.evaluation.arena.bounded_parquet import BoundedParquetFile
from helsinki_env.evaluation.arena.designs import decode_setup, with_disabled
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import Schedule, WorkUnitGames, check_equal, schedule_games, validate_games
from helsinki_env.evaluation.play import GameResults
from helsinki_env.records import Record, replay
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.yaml_files import list_yaml

with requires_extra("stats"):
    import pyarrow as pa
    import pyarrow.parquet as pq

SCHEMA = pa.schema(
    [
        ("table", pa.string()),
        ("lineup", pa.int32()),
        ("block", pa.int32()),  # within the line-up; also the deal number
        ("game", pa.int32()),  # within the line-up
        ("seed", pa.uint64()),  # of the deal, as for `HelsinkiGame`
        ("config_digest", pa.string()),
        ("players", pa.list_(pa.string())),
        ("player", pa.list_(pa.int16())),  # index into the players of the matchup
        ("decisions", pa.list_(pa.int16())),  # action ids in order
        ("covered", pa.int16()),  # bit i: action i was disabled for all
        ("denied", pa.list_(pa.int16())),  # bit i: action i was disabled for the seat
        ("used", pa.list_(pa.int16())),  # bit i: the seat used action i
        ("scores", pa.list_(pa.int16())),
        ("places", pa.list_(pa.int8())),  # 0 is first
        ("rounds", pa.int16()),
        ("seat_decisions", pa.list_(pa.int16())),
    ]
)
"""The columns. Lists with one entry per seat: player, players, denied, used, scores, places, seat_decisions."""


def games_to_arrow(table: MatchupPlan, chunk: WorkUnit, games: WorkUnitGames) -> Any:
    """Return the games of a work unit as an Arrow table with the columns of `SCHEMA`."""
    columns = {name: values.tolist() for name, values in _planned(table, chunk, games.schedule).items()}
    for field in SCHEMA:
        if field.name == "decisions":
            columns[field.name] = list(games.played.decisions)
        elif field.name not in columns:
            columns[field.name] = getattr(games.played, field.name).tolist()
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def games_from_arrow(table: MatchupPlan, seed: int, chunk: WorkUnit, rows: Any) -> WorkUnitGames:
    """Return the games of an Arrow table from `games_to_arrow`; ArenaError if they contradict the plan."""
    planned = schedule_games(table, seed, chunk)
    if len(rows) != len(planned.game):
        raise ArenaError(f"found {len(rows)} games, expected {len(planned.game)}")
    found = {name: _values(rows, name, table.seats) for name in SCHEMA.names if name != "decisions"}
    decisions, lengths = _lists(rows, "decisions")
    for column, expected in _planned(table, chunk, planned).items():
        check_equal(column, found.pop(column), expected, planned.game)
    games = WorkUnitGames(planned, GameResults(decisions=tuple(np.split(decisions, lengths.cumsum()[:-1])), **found))
    validate_games(games, table.config)
    return games


def _planned(table: MatchupPlan, chunk: WorkUnit, planned: Schedule) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a work unit that follow from the plan, (G,), or (G, S) for list columns."""
    games = len(planned.game)
    return {
        "table": np.full(games, table.name, object),
        "lineup": np.full(games, chunk.lineup),
        "block": planned.block,
        "game": planned.game,
        "seed": planned.seeds,
        "config_digest": np.full(games, table.config.digest, object),
        "players": np.array(table.players, object)[planned.seating],
        "player": planned.seating,
        "covered": planned.disabled.covered,
        "denied": planned.disabled.denied,
    }


def _values(rows: Any, column: str, seats: int) -> npt.NDArray[Any]:
    """Return a column as an array, (G,), or (G, S) for a column with one entry per seat."""
    if not pa.types.is_list(rows[column].type):
        return _whole(column, rows[column].combine_chunks())
    values, lengths = _lists(rows, column)
    if (lengths != seats).any():
        raise ArenaError(f"{column}: found {np.unique(lengths).tolist()} values, expected {seats}")
    return values.reshape(-1, seats)


def _lists(rows: Any, column: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the concatenated entries of a list column, and the number of entries of each game, (G,)."""
    lists = rows[column].combine_chunks()
    return _whole(column, lists.flatten()), _whole(column, lists.value_lengths())


def _whole(column: str, values: Any) -> npt.NDArray[Any]:
    """Return Arrow values as an array; ArenaError if a value is missing."""
    if values.null_count:
        raise ArenaError(f"{column}: found a missing value, expected one everywhere")
    try:
        return np.asarray(values)
    except (pa.ArrowException, UnicodeDecodeError):  # depends on the position of the text in a list
        raise ArenaError(f"{column}: found text that is not UTF-8") from None


class _Hashed:
    """A writable file that computes the checksum of the written bytes."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.sha256 = file, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()


def write_parquet(file: BinaryIO, chunks: Iterable[Any]) -> str:
    """Write Arrow tables with the columns of `SCHEMA`, each as one row group; return the SHA-256 of the file."""
    hashed = _Hashed(file)
    with pq.ParquetWriter(hashed, SCHEMA, compression="zstd", compression_level=3, version="2.6") as writer:
        for rows in chunks:
            writer.write_table(rows, row_group_size=max(1, len(rows)))
    return hashed.sha256.hexdigest()


def read_parquet(source: Path) -> Iterator[Any]:
    """Yield the row groups of a file as Arrow tables; ArenaError if it is invalid or would take too much memory."""
    with BoundedParquetFile(source, SCHEMA) as file:
        for number in range(len(file.rows)):
            yield file.group(number)


#: Columns of a record.
_RECORD_COLUMNS = ("seed", "config_digest", "players", "decisions", "covered", "denied", "scores", "places")


class ParquetGameReader:
    """The games of a Parquet file, given its content; ArenaError if it is invalid or too large."""

    def __init__(self, content: bytes) -> None:
        with _named():
            self._file = BoundedParquetFile(content, SCHEMA)
        self.count = sum(self._file.rows)

    def records(self, first: int, count: int) -> list[Record]:
        """Return the records of at most `count` games from index `first` on, validated by replaying them.

        Raise ArenaError for damaged files, large games and unknown configurations, RecordError for invalid records.
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
    """Prefix the errors of the block."""
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
    """Return a game's configuration: its matchup's, with the actions disabled in this game, bit i for action i."""
    for_all, by_seat = decode_setup(covered, denied)
    for config in _candidates(players, for_all, by_seat):
        if config.digest == digest:
            return with_disabled(config, covered, denied)
    raise ArenaError(
        f"config_digest: found {short_repr(digest)}, expected that of a configuration with a shipped component file; "
        "write games with their configurations (helsinki arena --format jsonl)"
    )


def _candidates(players: int, covered: tuple[int, ...], denied: tuple[tuple[int, ...], ...]) -> Iterator[Any]:
    """Yield the possible configurations of a matchup, with and without the actions disabled in one game."""
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
    """Return the shipped component files of a game."""
    found = []
    for name in list_yaml("components"):
        try:
            spec_by_name(game).config(components=name)
        except ValueError:
            continue
        found.append(name)
    return tuple(found)

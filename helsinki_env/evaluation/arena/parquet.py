"""Games as Parquet: the schema, and a writer whose output is byte-for-byte reproducible."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.bounded_parquet import BoundedParquetFile
from helsinki_env.evaluation.arena.checks import check_equal, validate_games
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import Schedule, WorkUnitGames, schedule_games
from helsinki_env.evaluation.play import GameResults
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["SCHEMA", "games_from_arrow", "games_to_arrow", "read_parquet", "write_parquet"]

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
    """Return the games of a chunk as an Arrow table with the columns of `SCHEMA`."""
    columns = {name: values.tolist() for name, values in _planned(table, chunk, games.schedule).items()}
    for field in SCHEMA:
        if field.name == "decisions":
            columns[field.name] = list(games.played.decisions)
        elif field.name not in columns:
            columns[field.name] = getattr(games.played, field.name).tolist()
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def games_from_arrow(table: MatchupPlan, seed: int, chunk: WorkUnit, rows: Any) -> WorkUnitGames:
    """Return the games of an Arrow table with the columns of `SCHEMA`: the inverse of `games_to_arrow`, without times.

    Args:
        table: the matchup.
        seed: seed of the run.
        chunk: the chunk.
        rows: the games.

    Raises:
        ArenaError: if the games contradict the plan; names column, game, value found and value expected.
    """
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
    """Return the columns of a chunk that follow from the plan, (G,), or (G, S) for list columns."""
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
    """Return Arrow values as an array, if none is missing."""
    if values.null_count:
        raise ArenaError(f"{column}: found a value missing, expected one everywhere")
    try:
        return np.asarray(values)
    except (pa.ArrowException, UnicodeDecodeError):  # the error depends on the position of the text in a list
        raise ArenaError(f"{column}: found text that is not in UTF-8") from None


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
    """Write Arrow tables with the columns of `SCHEMA` to a file, each as one row group.

    Returns:
        SHA-256 of the written bytes, hexadecimal digits.
    """
    hashed = _Hashed(file)
    with pq.ParquetWriter(hashed, SCHEMA, compression="zstd", compression_level=3, version="2.6") as writer:
        for rows in chunks:
            writer.write_table(rows, row_group_size=max(1, len(rows)))
    return hashed.sha256.hexdigest()


def read_parquet(source: Path) -> Iterator[Any]:
    """Yield the row groups of a Parquet file as Arrow tables with the columns of `SCHEMA`.

    Args:
        source: path of the file.

    Raises:
        ArenaError: if it is not such a file, or would take too much memory.
    """
    with BoundedParquetFile(source, SCHEMA) as file:
        for number in range(len(file.rows)):
            yield file.group(number)

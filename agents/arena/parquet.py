"""Games as Parquet: what the columns are, and how they are written so that the same games are always the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from agents.arena.bounded import GamesFile
from agents.arena.checks import check_games, compare
from agents.arena.chunk import ChunkGames, Schedule, schedule
from agents.arena.plan import ArenaError, Chunk, TablePlan
from agents.play import Outcome
from helsinki_env.extras import needs

with needs("arena"):
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["SCHEMA", "games_of", "read_parquet", "rows_of", "write_parquet"]

SCHEMA = pa.schema(
    [
        ("table", pa.string()),
        ("lineup", pa.int32()),
        ("block", pa.int32()),  # within the line-up; also the number of the deck
        ("game", pa.int32()),  # within the line-up
        ("seed", pa.uint64()),  # of the deck, as for `Game`
        ("config_digest", pa.string()),
        ("players", pa.list_(pa.string())),
        ("player", pa.list_(pa.int16())),  # index into the players of the table
        ("decisions", pa.list_(pa.int16())),  # ids of the action table
        ("covered", pa.int16()),  # bit i: nobody could use action i
        ("denied", pa.list_(pa.int16())),  # bit i: the seat could not use action i
        ("used", pa.list_(pa.int16())),  # bit i: the seat used action i
        ("scores", pa.list_(pa.int16())),
        ("places", pa.list_(pa.int8())),  # 0 is first
        ("rounds", pa.int16()),
        ("seat_decisions", pa.list_(pa.int16())),
    ]
)
"""The columns. Lists of one entry for each seat: player, players, denied, used, scores, places, seat_decisions."""


def rows_of(table: TablePlan, chunk: Chunk, games: ChunkGames) -> Any:
    """Return the games of a chunk as an Arrow table with the columns of `SCHEMA`."""
    columns = {name: values.tolist() for name, values in _planned(table, chunk, games.schedule).items()}
    for field in SCHEMA:
        if field.name == "decisions":
            columns[field.name] = list(games.played.decisions)
        elif field.name not in columns:
            columns[field.name] = getattr(games.played, field.name).tolist()
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def games_of(table: TablePlan, seed: int, chunk: Chunk, rows: Any) -> ChunkGames:
    """Return the games of an Arrow table with the columns of `SCHEMA`: what `rows_of` was given, but for the times.

    Args:
        table: what was to be played.
        seed: of the run.
        chunk: which of it.
        rows: the games.

    Raises:
        ArenaError: if they are not those of the plan; names column and game, what was found there and what is expected.
    """
    planned = schedule(table, seed, chunk)
    if len(rows) != len(planned.game):
        raise ArenaError(f"found {len(rows)} games, expected {len(planned.game)}")
    found = {name: _values(rows, name, table.seats) for name in SCHEMA.names if name != "decisions"}
    decisions, lengths = _lists(rows, "decisions")
    for column, expected in _planned(table, chunk, planned).items():
        compare(column, found.pop(column), expected, planned.game)
    games = ChunkGames(planned, Outcome(decisions=tuple(np.split(decisions, lengths.cumsum()[:-1])), **found))
    check_games(games, table.config)
    return games


def _planned(table: TablePlan, chunk: Chunk, planned: Schedule) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of a chunk that follow from the plan, (G,), or (G, S) for those with a list for each game."""
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
        "covered": planned.barred.covered,
        "denied": planned.barred.denied,
    }


def _values(rows: Any, column: str, seats: int) -> npt.NDArray[Any]:
    """Return a column as an array, (G,), or (G, S) for one with an entry for each seat."""
    if not pa.types.is_list(rows[column].type):
        return _whole(column, rows[column].combine_chunks())
    values, lengths = _lists(rows, column)
    if (lengths != seats).any():
        raise ArenaError(f"{column}: found {np.unique(lengths).tolist()} values, expected {seats}")
    return values.reshape(-1, seats)


def _lists(rows: Any, column: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the entries of a column of lists, one after the other, and how many each game has, (G,)."""
    lists = rows[column].combine_chunks()
    return _whole(column, lists.flatten()), _whole(column, lists.value_lengths())


def _whole(column: str, values: Any) -> npt.NDArray[Any]:
    """Return Arrow values as an array if none is missing."""
    if values.null_count:
        raise ArenaError(f"{column}: found a value missing, expected one everywhere")
    return np.asarray(values)


class _Hashed:
    """A file to write to that takes the checksum of what is written."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.sha256 = file, hashlib.sha256()

    def write(self, data: Any) -> int:
        self.sha256.update(data)
        return self.file.write(data)

    def flush(self) -> None:
        self.file.flush()


def write_parquet(file: BinaryIO, chunks: Iterable[Any]) -> str:
    """Write Arrow tables with the columns of `SCHEMA` to a file, each as a row group of its own.

    Returns:
        the SHA-256 of what was written, in hexadecimal digits.
    """
    hashed = _Hashed(file)
    with pq.ParquetWriter(hashed, SCHEMA, compression="zstd", compression_level=3, version="2.6") as writer:
        for rows in chunks:
            writer.write_table(rows, row_group_size=max(1, len(rows)))
    return hashed.sha256.hexdigest()


def read_parquet(source: Path) -> Iterator[Any]:
    """Yield the row groups of a Parquet file, Arrow tables with the columns of `SCHEMA`.

    Args:
        source: path of the file.

    Raises:
        ArenaError: if it is no such file, or would take too much memory.
    """
    with GamesFile(source, SCHEMA) as file:
        for number in range(len(file.rows)):
            yield file.group(number)

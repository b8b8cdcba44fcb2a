"""Games as Parquet: what the columns are, and how they are written so that the same games are always the same bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from agents.arena.chunk import ChunkGames
from agents.arena.plan import ArenaError, Chunk, TablePlan
from helsinki_env.extras import needs

with needs("arena"):
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["SCHEMA", "as_array", "joined_rows", "parquet_bytes", "read_parquet", "rows_of", "write_parquet"]

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
    planned, played = games.schedule, games.played
    n = len(planned.game)
    columns = {
        "table": [table.name] * n,
        "lineup": np.full(n, chunk.lineup),
        "block": planned.block,
        "game": planned.game,
        "seed": planned.seeds,
        "config_digest": [table.config.digest] * n,
        "players": [[table.players[i] for i in seats] for seats in planned.seating.tolist()],
        "player": list(planned.seating.astype(np.int16)),
        "decisions": list(played.decisions),
        "covered": planned.barred.covered,
        "denied": list(planned.barred.denied),
        "used": list(played.used),
        "scores": list(played.scores),
        "places": list(played.places),
        "rounds": played.rounds,
        "seat_decisions": list(played.seat_decisions),
    }
    return pa.table([pa.array(columns[field.name], field.type) for field in SCHEMA], schema=SCHEMA)


def joined_rows(parts: Iterable[Any]) -> Any:
    """Return some Arrow tables as one."""
    return pa.concat_tables([SCHEMA.empty_table(), *parts]).combine_chunks()


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


def parquet_bytes(rows: Any) -> bytes:
    """Return an Arrow table as the content of a Parquet file."""
    file = BytesIO()
    write_parquet(file, [rows])
    return file.getvalue()


def read_parquet(source: Any, name: object = None) -> Iterable[Any]:
    """Yield the row groups of a Parquet file, Arrow tables with the columns of `SCHEMA`.

    Args:
        source: path of the file, or a file that is open for reading.
        name: what it is called in errors; default: the source.

    Raises:
        ArenaError: if it is no such file.
    """
    name = source if name is None else name
    try:
        with pq.ParquetFile(source) as file:
            if not file.schema_arrow.equals(SCHEMA):
                raise ArenaError(f"{name}: found other columns than those of games: {file.schema_arrow.names}")
            for group in range(file.num_row_groups):
                yield file.read_row_group(group)
    except (pa.ArrowInvalid, OSError) as problem:
        raise ArenaError(f"{name}: cannot be read as Parquet: {problem}") from None


def as_array(rows: Any, column: str, seats: int | None = None) -> npt.NDArray[Any]:
    """Return a column of numbers as an array, (G,), or (G, seats) for one with an entry for each seat."""
    values = rows[column].combine_chunks()
    if seats is None:
        return np.asarray(values)
    return np.asarray(values.flatten()).reshape(-1, seats)

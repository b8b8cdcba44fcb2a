"""The folder of a run: the plan, a file for each chunk, and at the end one file with all games.

==================  ================================================================================================
run.json            the plan; written first
chunks/NAME.parquet the games of a chunk, see `agents.arena.parquet`
chunks/NAME.json    what holds them to be whole, and the players' times; written before them
games.parquet       all games in the order of the plan (or games.jsonl: records that ``helsinki replay`` reads)
times.json          the players' times, the only thing that another run would not write again byte for byte
==================  ================================================================================================

Every file appears whole or not at all. A chunk counts if its games have the checksum that stands beside them, so a run
may be killed at any moment: what is not there is played again, and gives the same.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena.chunk import ChunkGames
from agents.arena.designs import as_sets
from agents.arena.parquet import parquet_bytes, read_parquet, rows_of, write_parquet
from agents.arena.plan import ArenaError, Chunk, Plan, TablePlan
from agents.registry import player_files
from helsinki_env import GameConfig
from helsinki_env.files import held, remove_leftovers, replacing, write_json
from helsinki_env.record import Record, RecordWriter

__all__ = ["RunFolder"]

_NETWORKS = "networks.json"


class RunFolder:
    """The folder of a run.

    Args:
        path: where it is.
        plan: what is played there.
    """

    def __init__(self, path: Path, plan: Plan) -> None:
        self.path, self.plan = path, plan

    @classmethod
    @contextmanager
    def create(cls, path: Path, plan: Plan) -> Iterator[RunFolder]:
        """Give the folder of a new run, or of one with the same plan that goes on; nobody else gets it meanwhile.

        Raises:
            ArenaError: if another run is there, or somebody else is at it.
            OSError: if the folder cannot be written.
        """
        busy = ArenaError(f"{path}: found another process that plays this run (wait for it, or choose another --out)")
        with held(path / ".lock", busy):
            cls._begin(path, plan)
            yield cls(path, plan)

    @classmethod
    def _begin(cls, path: Path, plan: Plan) -> None:
        manifest = path / "run.json"
        if manifest.exists():
            different = _difference(_read_manifest(path), plan.to_dict())
            if different:
                raise ArenaError(f"{path}: holds another run: {different} (choose another --out, or remove {path})")
        elif (path / "chunks").exists():
            raise ArenaError(f"{path}: found chunks but no run.json, expected both or none (choose another --out)")
        for folder in (path, path / "chunks"):
            remove_leftovers(folder)
        now, before = _networks(plan), cls(path, plan).networks
        for player, digest in now.items():
            if before.get(player, digest) != digest:
                raise ArenaError(
                    f"{path}: {player} played with the network {before[player]} here, found {digest} now (bring the "
                    "former back, or choose another --out)"
                )
        if before | now != before:
            write_json(path / _NETWORKS, before | now)
        if not manifest.exists():
            write_json(manifest, plan.to_dict())

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder of a run, to read it.

        Raises:
            ArenaError: if there is none, or this version cannot read it.
        """
        return cls(path, Plan.from_dict(_read_manifest(path)))

    @property
    def networks(self) -> dict[str, str]:
        """Which network is behind a player's name: 16 hexadecimal digits of its file."""
        path = self.path / _NETWORKS
        try:
            found: dict[str, str] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
        except ValueError as problem:
            raise ArenaError(f"{path}: cannot be read ({problem}); remove it to go on without") from None
        return found

    def save(self, chunk: Chunk, games: ChunkGames) -> None:
        """Write the games of a chunk."""
        table = self.plan.tables[chunk.table]
        content = parquet_bytes(rows_of(table, chunk, games))
        note = {
            "plan": self.plan.digest,
            "sha256": hashlib.sha256(content).hexdigest(),
            "times": [
                {"player": player, "seconds": seconds, "decisions": decisions}
                for player, seconds, decisions in zip(
                    games.members.tolist(), games.played.seconds.tolist(), games.played.asked.tolist(), strict=True
                )
            ],
        }
        write_json(self._path(chunk, "json"), note)
        with replacing(self._path(chunk, "parquet")) as file:
            file.write(content)

    def missing(self) -> list[Chunk]:
        """Return the chunks that have not been played, or whose files are damaged, in order."""
        return [chunk for chunk in self.plan.chunks if self._content(chunk) is None]

    def rows(self) -> Iterator[tuple[Chunk, Any]]:
        """Yield the chunks that have been played with their games as Arrow tables, in the order of the plan.

        They come from the file with all games if there is one, so the chunks may be left out where a run is copied to.
        """
        joined = self.path / "games.parquet"
        if joined.exists():
            return zip(self.plan.chunks, read_parquet(joined), strict=True)
        return self._rows_of_chunks()

    def _rows_of_chunks(self) -> Iterator[tuple[Chunk, Any]]:
        for chunk in self.plan.chunks:
            content = self._content(chunk)
            if content is not None:
                for rows in read_parquet(BytesIO(content)):
                    yield chunk, rows

    def records(self) -> Iterator[Record]:
        """Yield the record of every game that has been played, in the order of the plan."""
        return _records(self.plan, self.rows())

    def join(self, form: str) -> Path:
        """Write all games to one file, and the times to another; return the path of the former.

        Args:
            form: "parquet" or "jsonl".
        """
        path = self.path / f"games.{form}"
        if form == "jsonl":
            with RecordWriter(path) as writer:
                for record in _records(self.plan, self._rows_of_chunks()):
                    writer.write(record)
        else:
            with replacing(path) as file:
                write_parquet(file, (rows for _, rows in self._rows_of_chunks()))
        write_json(self.path / "times.json", self.times())
        return path

    def times(self) -> list[dict[str, Any]]:
        """Return for each player of each table its decisions and the time it took for them."""
        sums: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0])
        for chunk in self.plan.chunks:
            for entry in (_read_note(self._path(chunk, "json")) or {}).get("times", []):
                total = sums[chunk.table, entry["player"]]
                total[0] += entry["seconds"]
                total[1] += entry["decisions"]
        tables = self.plan.tables
        return [
            {
                "table": tables[table].name,
                "player": tables[table].players[player],
                "seconds": seconds,
                "decisions": decisions,
            }
            for (table, player), (seconds, decisions) in sorted(sums.items())
        ]

    def _path(self, chunk: Chunk, ending: str) -> Path:
        return self.path / "chunks" / f"{chunk.name}.{ending}"

    def _content(self, chunk: Chunk) -> bytes | None:
        """Return the Parquet file of a chunk if it is there and whole."""
        note = _read_note(self._path(chunk, "json"))
        try:
            content = self._path(chunk, "parquet").read_bytes()
        except FileNotFoundError:
            return None
        if note is None or note.get("plan") != self.plan.digest:
            return None
        return content if note.get("sha256") == hashlib.sha256(content).hexdigest() else None


def _records(plan: Plan, chunks: Iterable[tuple[Chunk, Any]]) -> Iterator[Record]:
    for chunk, rows in chunks:
        for row in rows.to_pylist():
            yield Record(
                config=_config_of(plan.tables[chunk.table], row["covered"], tuple(row["denied"])),
                seed=row["seed"],
                players=tuple(row["players"]),
                decisions=tuple(row["decisions"]),
                scores=tuple(row["scores"]),
                ranking=tuple(np.argsort(row["places"]).tolist()),
            )


@lru_cache(maxsize=4096)
def _config_of(table: TablePlan, covered: int, denied: tuple[int, ...]) -> GameConfig:
    """The configuration of a game whose actions are barred by these sets, bit i for action i."""
    for_all, *by_seat = (np.flatnonzero(found).tolist() for found in as_sets(np.array([covered, *denied])))
    config = GameConfig.from_dict({**table.config.to_dict(), "covered": for_all, "denied": by_seat})
    return table.config if config == table.config else config


def _networks(plan: Plan) -> dict[str, str]:
    """The networks of a plan's players as they are now."""
    found = {}
    for player in sorted({name for table in plan.tables for name in table.players}):
        contents = [path.read_bytes() for path in player_files(player) if path.is_file()]
        if contents:
            found[player] = hashlib.sha256(b"".join(contents)).hexdigest()[:16]
    return found


def _read_manifest(path: Path) -> dict[str, Any]:
    """Return the plan in the folder of a run as plain data."""
    manifest = path / "run.json"
    try:
        data = json.loads(manifest.read_text(encoding="utf-8"))
    except OSError as problem:
        remedy = "helsinki arena --out makes such a folder"
        raise ArenaError(f"{path}: found no run: {manifest}: {problem.strerror} ({remedy})") from None
    except ValueError as problem:
        raise ArenaError(f"{manifest}: cannot be read: {problem} (remove {path}, or bring the file back)") from None
    if not isinstance(data, dict):
        raise ArenaError(f"{manifest}: found {data!r:.80}, expected the plan of a run (remove {path})")
    return data


def _read_note(path: Path) -> dict[str, Any] | None:
    """Return what stands beside a chunk, or None if it cannot be read: the chunk then counts as not played."""
    try:
        note = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return note if isinstance(note, dict) else None


def _difference(found: Any, expected: Any, where: str = "") -> str:
    """Return the first place where two plans differ, as a message; empty if they are the same."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        keys: Iterable[Any] = [*expected, *(key for key in found if key not in expected)]
        pairs = [(f"{where}.{key}" if where else str(key), found.get(key), expected.get(key)) for key in keys]
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        pairs = [(f"{where}[{i}]", a, b) for i, (a, b) in enumerate(zip(found, expected, strict=True))]
    else:
        return "" if found == expected else f"{where}: found {found!r:.100} there, expected {expected!r:.100}"
    return next((text for key, a, b in pairs if (text := _difference(a, b, key))), "")

"""The folder of a run: the plan, a file for each chunk, and at the end one file with all games.

==================  ================================================================================================
run.json            the plan and its digest; written first
chunks/NAME.parquet the games of a chunk, see `agents.arena.parquet`
chunks/NAME.json    what holds them to be whole, and the players' times; written before them
games.parquet       all games in the order of the plan (or games.jsonl: records that ``helsinki replay`` reads)
digests.json        the plan whose games are in games.parquet, and the checksum of that file
times.json          the players' times, the only thing that another run would not write again byte for byte
==================  ================================================================================================

Every file appears whole or not at all. A chunk counts if it is the one that its name says, of this plan, and its games
have the checksum that stands beside them, so a run may be killed at any moment: what is not there is played again, and
gives the same. The last chunk of a line-up may hold only its first blocks, from when fewer games were asked for.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena.checks import check_games
from agents.arena.chunk import ChunkGames
from agents.arena.designs import as_sets
from agents.arena.parquet import joined_rows, parquet_bytes, read_parquet, rows_of, write_parquet
from agents.arena.plan import ArenaError, Chunk, Plan, TablePlan, of_any_length
from agents.registry import player_files
from helsinki_env import GameConfig
from helsinki_env.data import brief, read_json
from helsinki_env.files import held, is_file, remove_leftovers, replacing, write_json
from helsinki_env.record import Record, RecordWriter

__all__ = ["RunFolder"]

_NETWORKS = "networks.json"
_GAMES = "games.parquet"
_DIGESTS = "digests.json"
_TIMES = "times.json"
#: What is made of the chunks, and is not that of a plan with more games.
_JOINED = (_GAMES, _DIGESTS, "games.jsonl", _TIMES)


@dataclass(frozen=True)
class _Note:
    """What stands beside the games of a chunk.

    Attributes:
        chunk: its name.
        first: its first block.
        end: the block after the last that is there.
        basis: of the plan.
        sha256: of the Parquet file, hexadecimal digits.
        times: seconds and decisions of each player of the table, by its number.
    """

    chunk: str
    first: int
    end: int
    basis: str
    sha256: str
    times: list[dict[str, Any]]


@dataclass(frozen=True)
class _Kept:
    """What has been played of a chunk.

    Attributes:
        chunk: these blocks of it, from its first.
        content: the Parquet file.
        times: see `_Note`.
    """

    chunk: Chunk
    content: bytes
    times: list[dict[str, Any]]


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
        """Give the folder of a new run, or of one that goes on; nobody else gets it meanwhile.

        A run goes on with the same plan, or with one that has more games of the same.

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
        before = None
        if manifest.exists():
            before = cls.open(path)
            _check_extends(path, before.plan, plan)
        elif (path / "chunks").exists():
            raise ArenaError(f"{path}: found chunks but no run.json, expected both or none (choose another --out)")
        for folder in (path, path / "chunks"):
            remove_leftovers(folder)
        now, known = _networks(plan), cls(path, plan).networks
        for player, digest in now.items():
            if known.get(player, digest) != digest:
                raise ArenaError(
                    f"{path}: {player} played with the network {known[player]} here, found {digest} now (bring the "
                    "former back, or choose another --out)"
                )
        if known | now != known:
            write_json(path / _NETWORKS, known | now)
        if before is not None:
            before._restore()
            if before.plan.digest == plan.digest:
                return
            for name in _JOINED:
                (path / name).unlink(missing_ok=True)
        write_json(manifest, plan.to_dict())

    @classmethod
    def open(cls, path: Path) -> RunFolder:
        """Return the folder of a run, to read it.

        Raises:
            ArenaError: if there is none, its plan was changed, or this version cannot read it.
        """
        manifest = path / "run.json"
        if not is_file(manifest):
            raise ArenaError(
                f"{brief(path)}: found no run, expected the folder of one, with run.json (helsinki arena makes it)"
            )
        return cls(path, Plan.from_dict(read_json(manifest, ArenaError)))

    @property
    def networks(self) -> dict[str, str]:
        """Which network is behind a player's name: 16 hexadecimal digits of its file."""
        path = self.path / _NETWORKS
        if not path.exists():
            return {}
        try:
            return {player: digest.text("a digest") for player, digest in read_json(path, ArenaError).items()}
        except ArenaError as problem:
            raise ArenaError(f"{problem} (remove the file to go on without)") from None

    def save(self, chunk: Chunk, games: ChunkGames) -> None:
        """Write the games of a chunk, after those of its blocks that are there if they are the others.

        Raises:
            ArenaError: if those have gone.
        """
        rows = rows_of(self.plan.tables[chunk.table], chunk, games)
        times = [
            {"player": player, "seconds": seconds, "decisions": decisions}
            for player, seconds, decisions in zip(
                games.members.tolist(), games.played.seconds.tolist(), games.played.asked.tolist(), strict=True
            )
        ]
        whole = self.plan.whole(chunk)
        if chunk.first > whole.first:
            kept = self._kept(whole)
            if kept is None or kept.chunk.end != chunk.first:
                raise ArenaError(
                    f"{self._path(whole, 'parquet')}: found its first games gone while the others were played (start "
                    "again with the same arguments)"
                )
            rows = joined_rows([*read_parquet(BytesIO(kept.content)), rows])
            times = kept.times + times
        self._write(replace(chunk, first=whole.first), rows, times)

    def _write(self, chunk: Chunk, rows: Any, times: list[dict[str, Any]]) -> None:
        content = parquet_bytes(rows)
        note = {
            "chunk": chunk.name,
            "blocks": [chunk.first, chunk.end],
            "basis": self.plan.basis,
            "sha256": hashlib.sha256(content).hexdigest(),
            "times": times,
        }
        write_json(self._path(chunk, "json"), note)
        with replacing(self._path(chunk, "parquet")) as file:
            file.write(content)

    def missing(self) -> list[Chunk]:
        """Return what is to be played: chunks that have not been, or whose files are damaged, or the rest of them."""
        found = []
        for chunk in self.plan.chunks:
            kept = self._kept(chunk)
            if kept is None:
                found.append(chunk)
            elif kept.chunk.end < chunk.end:
                found.append(replace(chunk, first=kept.chunk.end))
        return found

    def rows(self) -> Iterator[tuple[Chunk, Any]]:
        """Yield the chunks that have been played with their games as Arrow tables, in the order of the plan.

        They come from the file with all games if there is one, so the chunks may be left out where a run is copied to.

        Raises:
            ArenaError: if that file is not the one that was written, or games are not those of the plan.
        """
        return self._rows_of_joined() if (self.path / _GAMES).exists() else self._rows_of_chunks()

    def _rows_of_joined(self) -> Iterator[tuple[Chunk, Any]]:
        joined = self.path / _GAMES
        remedy = "bring the files back as they were written, or remove it and start helsinki arena again"
        if (problem := self._not_as_written()) is not None:
            raise ArenaError(f"{joined}: {problem} ({remedy})")
        for chunk, rows in zip_longest(self.plan.chunks, read_parquet(joined)):
            if chunk is None or rows is None:
                raise ArenaError(
                    f"{joined}: found {'fewer' if rows is None else 'more'} row groups than there are chunks, "
                    f"{len(self.plan.chunks)} ({remedy})"
                )
            self._check(joined, chunk, rows, remedy)
            yield chunk, rows

    def _not_as_written(self) -> str | None:
        """Say what is wrong with the file that holds all games, None if nothing is."""
        path = self.path / _DIGESTS
        if not path.exists():
            return f"found no {_DIGESTS} beside it, expected the file with its checksum"
        digests = read_json(path, ArenaError)
        plan, expected = (digests[key].text("a digest") for key in ("plan", _GAMES))
        if plan != self.plan.digest:
            return f"found games of the plan {plan!r}, expected {self.plan.digest!r}, that of run.json"
        with (self.path / _GAMES).open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            return f"found the checksum {found[:16]}…, expected {expected:.16}… as {_DIGESTS} says"
        return None

    def _check(self, path: Path, chunk: Chunk, rows: Any, remedy: str) -> None:
        try:
            check_games(self.plan.tables[chunk.table], self.plan.seed, chunk, rows)
        except ArenaError as problem:
            raise ArenaError(f"{path}: {self.plan.describe(chunk)}: {problem} ({remedy})") from None

    def _rows_of_chunks(self) -> Iterator[tuple[Chunk, Any]]:
        for chunk in self.plan.chunks:
            kept = self._kept(chunk)
            if kept is not None:
                path = self._path(chunk, "parquet")
                rows = joined_rows(read_parquet(BytesIO(kept.content), path))
                self._check(path, kept.chunk, rows, "remove it and start helsinki arena again, which plays it anew")
                yield kept.chunk, rows

    def _restore(self) -> None:
        """Write the chunks that are left only in the file with all games, if it is whole."""
        lacking = {self.plan.whole(chunk) for chunk in self.missing()}
        if lacking and (self.path / _GAMES).exists():
            with suppress(ArenaError):  # what cannot be had from there is played again
                for chunk, rows in self._rows_of_joined():
                    if chunk in lacking:
                        self._write(chunk, rows, [])

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
                digest = write_parquet(file, (rows for _, rows in self._rows_of_chunks()))
                write_json(self.path / _DIGESTS, {"plan": self.plan.digest, _GAMES: digest})
        write_json(self.path / _TIMES, self.times())
        return path

    def times(self) -> list[dict[str, Any]]:
        """Return for each player of each table its decisions and the time it took for them."""
        sums: defaultdict[tuple[int, int], list[float]] = defaultdict(lambda: [0.0, 0])
        for chunk in self.plan.chunks:
            note = _read_note(self._path(chunk, "json"))
            for entry in note.times if note else []:
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

    def _kept(self, chunk: Chunk) -> _Kept | None:
        """Return what has been played of a chunk, None if nothing that is whole."""
        note = _read_note(self._path(chunk, "json"))
        try:
            content = self._path(chunk, "parquet").read_bytes()
        except FileNotFoundError:
            return None
        if note is None or (note.chunk, note.basis) != (chunk.name, self.plan.basis):
            return None
        if note.first != chunk.first or not chunk.first < note.end <= chunk.end:
            return None
        if note.sha256 != hashlib.sha256(content).hexdigest():
            return None
        return _Kept(replace(chunk, end=note.end), content, note.times)


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
    config = table.config.changed(covered=for_all, denied=by_seat)
    return table.config if config == table.config else config


def _networks(plan: Plan) -> dict[str, str]:
    """The networks of a plan's players as they are now."""
    found = {}
    for player in sorted({name for table in plan.tables for name in table.players}):
        contents = [path.read_bytes() for path in player_files(player) if is_file(path)]
        if contents:
            found[player] = hashlib.sha256(b"".join(contents)).hexdigest()[:16]
    return found


def _check_extends(path: Path, there: Plan, plan: Plan) -> None:
    """Check that a plan is the one that is there, or the same with more games.

    Raises:
        ArenaError: saying what differs.
    """
    different = _difference(of_any_length(there.to_dict()), of_any_length(plan.to_dict()))
    if different:
        raise ArenaError(f"{path}: holds another run: {different} (choose another --out, or remove {path})")
    for before, now in zip(there.tables, plan.tables, strict=True):
        if now.blocks < before.blocks:
            raise ArenaError(
                f"{path}: games: found {now.blocks * now.seats:,} of each line-up of table {now.name!r}, expected at "
                f"least the {before.blocks * before.seats:,} of the run that is there (ask for as many or more, or "
                "choose another --out)"
            )


def _read_note(path: Path) -> _Note | None:
    """Return what stands beside a chunk, or None if it cannot be read: the chunk then counts as not played."""
    try:
        note = read_json(path, ArenaError)
        first, end = (block.integer(0) for block in note["blocks"].entries("numbers of blocks", length=2))
        times = [
            {
                "player": entry["player"].integer(0),
                "seconds": entry["seconds"].number(0),
                "decisions": entry["decisions"].integer(0),
            }
            for entry in note["times"].entries("players' times")
        ]
        return _Note(note["chunk"].text(), first, end, note["basis"].text(), note["sha256"].text(), times)
    except ArenaError:
        return None


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

"""Write a dataset: missing shards in worker processes, the dataset card after each shard, and the README at the end."""

from __future__ import annotations

import hashlib
import multiprocessing
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.agents.registry import files_digest
from helsinki_env.data import read_json
from helsinki_env.dataset.transitions import (
    Column,
    DatasetError,
    dataset_columns,
    openspiel_trajectory,
    record_transitions,
)
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.load import load_records
from helsinki_env.evaluation.arena.plan import Plan, WorkUnit
from helsinki_env.evaluation.arena.run import init_worker_process
from helsinki_env.evaluation.arena.store import records_of
from helsinki_env.evaluation.arena.work_unit import play_work_unit, player_file_digests
from helsinki_env.records import Record, read_records
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, hold_lock_file, remove_leftovers, write_json
from helsinki_env.utils.spawning import check_main
from helsinki_env.utils.stopping import block_interrupts

with requires_extra("stats"):
    import pyarrow as pa
    import pyarrow.parquet as pq

__all__ = ["CARD", "FreshGames", "RecordedGames", "file_sha256", "write_dataset"]

CARD = "dataset.json"
"""File name of the dataset card."""
#: Format version of the dataset card.
_FORMAT = 1
#: Number of games in a row group; a process holds only these games in memory as arrays.
_GROUP_GAMES = 25


class FreshGames:
    """New games to play, defined by a plan with one matchup whose work units are the shards."""

    def __init__(self, plan: Plan) -> None:
        (table,) = plan.tables
        self.plan, self.config, self.games = plan, table.config, plan.games
        self._files = player_file_digests(table)
        self.facts = {"players": list(table.players), "seed": plan.seed, "player_files": self._files}

    def shards(self, size: int) -> Iterator[tuple[int, Callable[[], list[Record]]]]:
        """Yield, for each shard, its number of games and a function that returns their records in any process."""
        for unit in self.plan.chunks:
            yield self.plan.games_of([unit]), partial(_play, self.plan, unit, self._files)


def _play(plan: Plan, unit: WorkUnit, files: Mapping[str, str]) -> list[Record]:
    return list(records_of(plan, [(unit, play_work_unit(plan.tables[unit.table], plan.seed, unit, files))]))


class RecordedGames:
    """Recorded games, from a tournament folder or a file of records.

    Raises DatasetError if there are no games, a game is unfinished, or the configurations differ (except in the denied
    actions). Raises ArenaError or RecordError if the source is invalid.
    """

    def __init__(self, path: str | Path) -> None:
        self.path, self.games, sha256, players = Path(path), 0, hashlib.sha256(), dict[str, None]()
        same = lru_cache(lambda config: config.replace(denied=None))  # parsing a configuration is slow
        for record in self._records():
            self.games += 1
            if self.games == 1:
                self.config: Any = same(record.config)
            if same(record.config) != self.config or not record.finished:
                found = f"another configuration, {record.config}" if record.finished else "an unfinished game"
                raise DatasetError(
                    f"{path}: game {self.games}: found {found}, expected finished games with the configuration of the "
                    "first; write them to separate files"
                )
            players |= dict.fromkeys(record.players)
            sha256.update(record.to_json().encode() + b"\n")
        if not self.games:
            raise DatasetError(f"{path}: found no games, expected at least one")
        self.facts = {"players": sorted(players), "records": self.path.name, "sha256": sha256.hexdigest()}

    def shards(self, size: int) -> Iterator[tuple[int, Callable[[], list[Record]]]]:
        """Yield, for each shard, its number of games and a function that returns their records in any process."""
        records = self._records()
        while lines := [record.to_json() for record in islice(records, size)]:
            yield len(lines), partial(_parse, lines)

    def _records(self) -> Iterator[Record]:
        return load_records(self.path) if self.path.is_dir() else read_records(self.path)


def _parse(lines: list[str]) -> list[Record]:
    return [Record.from_json(line) for line in lines]


@dataclass(frozen=True)
class _Shard:
    """A shard, which any process can write (see `write_dataset`)."""

    number: int
    first: int  # index of its first game
    records: Callable[[], list[Record]]
    columns: tuple[Column, ...]
    evaluator: str | None
    openspiel: bool

    def write(self, folder: Path) -> dict[str, Any]:
        """Write the files of the shard and return its entry for the dataset card."""
        records, rows, lines = self.records(), 0, list[str]()
        schema = pa.schema([(column.name, _arrow_type(column)) for column in self.columns])
        files = {f"games-{self.number:05d}.jsonl": [record.to_json() for record in records]}
        data = f"data-{self.number:05d}.parquet"
        with (
            atomic_write(folder / data) as file,
            pq.ParquetWriter(file, schema, compression="zstd", compression_level=3, version="2.6") as writer,
        ):
            for begin in range(0, len(records), _GROUP_GAMES):
                group = list(enumerate(records[begin : begin + _GROUP_GAMES], self.first + begin))
                games = [record_transitions(record, number, self.evaluator) for number, record in group]
                if self.openspiel:
                    lines += [openspiel_trajectory(one, game) for (_, one), game in zip(group, games, strict=True)]
                table = pa.table([_arrow(column, games) for column in self.columns], schema=schema)
                writer.write_table(table, row_group_size=len(table))
                rows += len(table)
        if self.openspiel:
            files[f"trajectories-{self.number:05d}.jsonl"] = lines
        for name, content in files.items():
            with atomic_write(folder / name) as file:
                file.writelines(line.encode() + b"\n" for line in content)
        sha256 = {name: file_sha256(folder / name) for name in (data, *files)}
        return {"number": self.number, "games": len(records), "rows": rows, "files": sha256}


def _arrow_type(column: Column) -> Any:
    kind = pa.string() if column.dtype == "str" else pa.from_numpy_dtype(np.dtype(column.dtype))
    return pa.list_(kind, *column.shape) if column.shape else kind


def _arrow(column: Column, games: list[dict[str, Any]]) -> Any:
    """Convert a column of several games to an Arrow array."""
    values = pa.array(np.concatenate([game[column.name] for game in games]).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(values, *column.shape) if column.shape else values


def file_sha256(path: Path) -> str:
    """Return the SHA-256 checksum of a file, as 64 hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_dataset(
    source: FreshGames | RecordedGames,
    folder: str | Path,
    command: str = "",
    shard_games: int = 200,
    evaluator: str | None = None,
    openspiel: bool = False,
    processes: int = 1,
    resumed: Callable[[int], None] = lambda games: None,
    progress: Callable[[int], None] = lambda games: None,
) -> dict[str, Any]:
    """Write the missing shards of a dataset, and return the dataset card.

    Args:
        source: the new or recorded games.
        folder: dataset folder, which is created if it does not exist.
        command: the command that writes the dataset, which is stored in the card.
        shard_games: number of games per shard.
        evaluator: name of the player that evaluates the actions; None adds no evaluations.
        openspiel: whether to also write OpenSpiel trajectories.
        processes: number of worker processes.
        resumed: called once, with the number of games in the existing shards.
        progress: called after each new shard with its number of games.

    Raises:
        DatasetError: if the folder contains other files, a file has changed, or another process is writing to it.
        PlayerError, ArenaError, RecordError: if the games cannot be played or read; all are ValueErrors.
    """
    folder, spec, columns = Path(folder), spec_of(source.config), dataset_columns(source.config, evaluator)
    head: dict[str, Any] = {
        "format": _FORMAT,
        "command": command,
        "versions": {"helsinki-env": helsinki_env.__version__, "numpy": np.__version__, "pyarrow": pa.__version__},
        "environment": f"{spec.name}_v{spec.version}",
        "config": source.config.to_dict(),
        "config_digest": source.config.digest,
        **source.facts,
        "evaluator": evaluator,
        "evaluator_files": None if evaluator is None else files_digest(evaluator, source.config),
        "openspiel": openspiel,
        "columns": [{**column._asdict(), "shape": list(column.shape)} for column in columns],
        "games": source.games,
        "shard_games": shard_games,
    }

    def planned() -> Iterator[_Shard]:
        first = 0
        for number, (games, records) in enumerate(source.shards(shard_games)):
            yield _Shard(number, first, records, columns, evaluator, openspiel)
            first += games

    busy = DatasetError(f"{folder}: another process is writing to it; wait, or choose another --out")
    with hold_lock_file(folder / ".lock", busy):
        remove_leftovers(folder)
        shards = _existing(folder, head)
        resumed(sum(shard["games"] for shard in shards.values()))
        card = _write_card(folder, head, shards)
        missing = (shard for shard in planned() if shard.number not in shards)
        with closing(_write_shards(missing, folder, processes)) as written:
            for shard in written:
                shards[shard["number"]] = shard
                card = _write_card(folder, head, shards)
                progress(shard["games"])
        with atomic_write(folder / "README.md") as file:
            file.write(_page(card).encode())
        remove_leftovers(folder)
    return card


def _write_card(folder: Path, head: dict[str, Any], shards: dict[int, dict[str, Any]]) -> dict[str, Any]:
    entries = [shards[number] for number in sorted(shards)]
    card = head | {"rows": sum(entry["rows"] for entry in entries), "shards": entries}
    write_json(folder / CARD, card)
    return card


def _existing(folder: Path, head: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Check the card and files in a folder, and return the card entries of the complete shards by shard number."""
    path, shards = folder / CARD, dict[int, dict[str, Any]]()
    if not path.exists():
        if found := sorted(one.name for one in folder.iterdir() if one.name != ".lock"):
            raise DatasetError(f"{folder}: found {found[0]} and no {CARD}, expected a dataset or an empty folder")
        return shards
    data = read_json(path, DatasetError).mapping()
    for key, expected in head.items():
        if data[key].value != expected:
            data[key].fail(repr(expected), "repeat the arguments of the first call, or choose another --out")
    for entry in data["shards"].entries("shards"):
        files = {folder / Path(name).name: sha256 for name, sha256 in entry["files"].mapping().value.items()}
        for file, sha256 in files.items():
            if file.is_file() and file_sha256(file) != sha256:
                raise DatasetError(
                    f"{file}: found a changed file, expected the SHA-256 {str(sha256)[:16]} of {CARD}; remove "
                    "the file, and the same command writes it again"
                )
        if all(file.is_file() for file in files):
            counts = {key: entry[key].integer(0) for key in ("number", "games", "rows")}
            shards[counts["number"]] = counts | {"files": entry["files"].value}
    return shards


def _write_shards(shards: Iterable[_Shard], folder: Path, processes: int) -> Generator[dict[str, Any]]:
    """Write shards in worker processes; yield their card entries in order of completion."""
    check_main(DatasetError)
    remaining, running = iter(shards), set[Future[dict[str, Any]]]()
    with _workers(processes) as pool:
        while True:
            while len(running) < 2 * processes and (shard := next(remaining, None)) is not None:
                with block_interrupts():
                    running.add(pool.submit(shard.write, folder))
            if not running:
                return
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                yield future.result()


@contextmanager
def _workers(processes: int) -> Iterator[ProcessPoolExecutor]:
    """Provide worker processes, which are terminated after the block, even if it was interrupted."""
    others = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), init_worker_process)
    try:
        yield pool
    except BrokenProcessPool:
        raise DatasetError(
            "a worker process ended, expected it to run; finished shards are saved: run the same command again"
        ) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
            process.join()


def _page(card: dict[str, Any]) -> str:
    """Return the dataset card as Markdown, with the metadata header that dataset hubs read."""
    rows = [
        f"| `{column['name']}` | {column['dtype']} | {tuple(column['shape']) or ''} | {column['content']} |"
        for column in card["columns"]
    ]
    versions = ", ".join(f"{name} {version}" for name, version in card["versions"].items())
    return f"""---
configs:
- config_name: default
  data_files: data-*.parquet
---

# Transitions of {card["environment"]}

Written by `{card["command"]}` with {versions}.

- Players: {", ".join(f"`{name}`" for name in card["players"])}
- Seed: {card.get("seed", "in each record")}
- Games: {card["games"]:,}, in {len(card["shards"]):,} shards
- Transitions: {card["rows"]:,}

Each row is one action. The next row with the same `game` and `seat` has the seat's next observation.

| Column | Type | Shape | Content |
| --- | --- | --- | --- |
{chr(10).join(rows)}

`games-*.jsonl` holds the records of the games, and `{CARD}` the configuration and the checksum of each file.
"""

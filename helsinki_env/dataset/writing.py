"""Write a dataset: missing shards in worker processes, the dataset card after each shard, and the README at the end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import helsinki_env
from helsinki_env.agents.registry import files_digest
from helsinki_env.data import check_same_settings, read_stored_settings
from helsinki_env.dataset.reading import CARD, has_file
from helsinki_env.dataset.transitions import DatasetError, dataset_columns, openspiel_trajectory, record_transitions
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.load import load_records
from helsinki_env.evaluation.arena.parquet import write_parquet
from helsinki_env.evaluation.arena.plan import Plan, WorkUnit
from helsinki_env.evaluation.arena.run import run_in_processes
from helsinki_env.evaluation.arena.store import records_of
from helsinki_env.evaluation.arena.work_unit import play_work_unit, player_file_digests
from helsinki_env.records import Record, read_records
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, hold_lock_file, remove_leftovers, write_json
from helsinki_env.utils.markdown import markdown_table

with requires_extra("stats"):
    import pyarrow as pa

__all__ = ["FreshGames", "RecordedGames", "write_dataset"]

#: Format version of the dataset card.
_FORMAT = 1
#: Number of games in a row group; a process holds only these games in memory as arrays.
_GROUP_GAMES = 25


class FreshGames:
    """New games to play, defined by a plan with one matchup whose work units are the shards."""

    def __init__(self, plan: Plan) -> None:
        (matchup,) = plan.matchups
        self.plan, self.config, self.games, self.shard_games = plan, matchup.config, plan.games, plan.unit_games
        self._files = player_file_digests(matchup)
        self.facts = {"players": list(matchup.players), "seed": plan.seed, "player_files": self._files}

    def shards(self) -> Iterator[tuple[int, Callable[[], Iterable[Record]]]]:
        """Yield, for each shard, its number of games and a function that returns their records in any process."""
        for unit in self.plan.work_units:
            yield self.plan.games_of([unit]), partial(_play, self.plan, unit, self._files)


def _play(plan: Plan, unit: WorkUnit, files: dict[str, str]) -> Iterator[Record]:
    """Yield the games of a work unit without copies: a deterministic player in all seats repeats each deal's game."""
    known = set[tuple[int, tuple[int, ...]]]()
    for record in records_of(plan, [(unit, play_work_unit(plan.matchups[unit.matchup], plan.seed, unit, files))]):
        game = record.seed, tuple(record.decisions)
        if game not in known:
            known.add(game)
            yield record


class RecordedGames:
    """Recorded games, from a tournament folder or a file of records, with a number of games per shard.

    Raises DatasetError if there are no games, a game is unfinished, or the configurations differ (except in the denied
    actions). Raises ArenaError or RecordError if the source is invalid.
    """

    def __init__(self, path: str | Path, shard_games: int = 200) -> None:
        self.path, self.shard_games, games = Path(path), shard_games, 0
        sha256, players = hashlib.sha256(), set[str]()
        same = lru_cache(lambda config: config.replace(denied=None))  # parsing a configuration is slow
        for games, record in enumerate(self._records(), 1):
            if games == 1:
                self.config: Any = same(record.config)
            if same(record.config) != self.config or not record.finished:
                found = f"another configuration, {record.config}" if record.finished else "an unfinished game"
                raise DatasetError(
                    f"{path}: game {games}: found {found}, expected finished games with the configuration of the "
                    "first; write them to separate files"
                )
            players.update(record.players)
            sha256.update(record.to_json().encode() + b"\n")
        if not games:
            raise DatasetError(f"{path}: found no games, expected at least one")
        self.games = games
        self.facts = {"players": sorted(players), "records": self.path.name, "sha256": sha256.hexdigest()}

    def shards(self) -> Iterator[tuple[int, Callable[[], Iterable[Record]]]]:
        """Yield, for each shard, its number of games and a function that returns their records in any process."""
        records = self._records()
        while shard := tuple(islice(records, self.shard_games)):
            yield len(shard), partial(tuple, shard)

    def _records(self) -> Iterator[Record]:
        return load_records(self.path) if self.path.is_dir() else read_records(self.path)


def write_dataset(
    source: FreshGames | RecordedGames,
    folder: str | Path,
    command: str = "",
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
        evaluator: name of the player that evaluates the actions; None adds no evaluations.
        openspiel: whether to also write OpenSpiel trajectories.
        processes: number of worker processes.
        resumed: called once, with the number of games in the existing shards.
        progress: called after each new shard with its number of games.

    Raises:
        DatasetError: if the folder contains other files, a file has changed, or another process is writing to it.
        PlayerError, ArenaError, RecordError: if the games cannot be played or read; all are ValueErrors.
    """
    folder, spec = Path(folder), spec_of(source.config)
    head: dict[str, Any] = {
        "format": _FORMAT,
        "command": command,
        "versions": {"helsinki-env": helsinki_env.__version__, "numpy": np.__version__, "pyarrow": pa.__version__},
        "environment": spec.environment,
        "config": source.config.to_dict(),
        "config_digest": source.config.digest,
        **source.facts,
        "evaluator": evaluator,
        "evaluator_files": None if evaluator is None else files_digest(evaluator, source.config),
        "openspiel": openspiel,
        "columns": dataset_columns(source.config, evaluator),
        "games": source.games,
        "shard_games": source.shard_games,
    }
    shards: dict[int, dict[str, Any]] = {}

    def write_card() -> dict[str, Any]:
        entries = [shards[number] for number in sorted(shards)]
        totals = {key: sum(entry[key] for entry in entries) for key in ("rows", "copies")}
        card = head | totals | {"shards": entries}
        write_json(folder / CARD, card)
        return card

    def jobs() -> Iterator[tuple[int, tuple[Any, ...]]]:
        first = 0
        for number, (games, load) in enumerate(source.shards()):
            if number not in shards:
                yield number, (number, first, games, load)
            first += games

    busy = DatasetError(f"{folder}: another process is writing to it; wait, or choose another --out")
    with hold_lock_file(folder / ".lock", busy):
        remove_leftovers(folder)
        shards |= _existing_shards(folder, head)
        resumed(sum(shard["games"] + shard["copies"] for shard in shards.values()))
        card, write = write_card(), partial(_write_shard, folder, evaluator, openspiel)
        with closing(run_in_processes(write, jobs(), processes, "shards")) as written:
            for number, shard in written:
                shards[number] = shard.result()
                card = write_card()
                progress(shards[number]["games"] + shards[number]["copies"])
        with atomic_write(folder / "README.md") as file:
            file.write(_page(card).encode())
        remove_leftovers(folder)
    return card


def _existing_shards(folder: Path, head: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """Check the card and files in a folder, and return the card entries of the complete shards by shard number."""
    if not (folder / CARD).exists():
        if found := sorted(path.name for path in folder.iterdir() if path.name != ".lock"):
            raise DatasetError(f"{folder}: found {found[0]} and no {CARD}, expected a dataset or an empty folder")
        return {}
    card = read_stored_settings(folder / CARD, DatasetError)
    check_same_settings(folder, head, {key: card[key].value for key in head}, DatasetError)
    shards = {}
    for entry in card["shards"].entries("shards"):
        files = entry["files"].mapping().value
        present = [has_file(folder, name, sha256) for name, sha256 in files.items()]
        if all(present):
            counts = {key: entry[key].integer(0) for key in ("number", "games", "copies", "rows")}
            shards[counts["number"]] = counts | {"files": files}
    return shards


def _write_shard(
    folder: Path,
    evaluator: str | None,
    openspiel: bool,
    number: int,
    first: int,
    games: int,
    load: Callable[[], Iterable[Record]],
) -> dict[str, Any]:
    """Write the files of a shard, whose first game has the number `first`; return its entry for the dataset card.

    `games` is the number of games including copies, which `load` leaves out.
    """
    records, data = list(load()), f"data-{number:05d}.parquet"

    def groups() -> Iterator[Any]:
        for begin in range(0, len(records), _GROUP_GAMES):
            group = enumerate(records[begin : begin + _GROUP_GAMES], first + begin)
            games = [record_transitions(record, game, evaluator) for game, record in group]
            yield pa.table({name: _to_arrow([game[name] for game in games]) for name in games[0]})

    tables = groups()
    first_table = next(tables)
    with atomic_write(folder / data) as file:
        files = {data: write_parquet(file, chain([first_table], tables), first_table.schema)}
    lines: dict[str, Iterable[str]] = {"games": map(Record.to_json, records)}
    if openspiel:
        lines["trajectories"] = map(openspiel_trajectory, records)
    for kind, texts in lines.items():
        name, content = f"{kind}-{number:05d}.jsonl", "".join(f"{text}\n" for text in texts).encode()
        with atomic_write(folder / name) as file:
            file.write(content)
        files[name] = hashlib.sha256(content).hexdigest()
    rows = sum(len(record.decisions) for record in records)
    return {
        "number": number,
        "games": len(records),
        "copies": games - len(records),
        "rows": rows,
        "files": files,
    }


def _to_arrow(parts: list[npt.NDArray[Any]]) -> Any:
    """Concatenate the rows of several games as an Arrow array."""
    rows = np.concatenate(parts)
    values = pa.array(rows.reshape(-1))
    return values if rows.ndim == 1 else pa.FixedSizeListArray.from_arrays(values, rows.shape[1])


def _page(card: dict[str, Any]) -> str:
    """Return the dataset card as Markdown, with the metadata header that dataset hubs read."""
    columns = [
        (f"`{column['name']}`", column["dtype"], tuple(column["shape"]) or "", column["content"])
        for column in card["columns"]
    ]
    return f"""---
configs:
- config_name: default
  data_files: data-*.parquet
---

# Transitions of {card["environment"]}

Written by `{card["command"]}` with {", ".join(f"{name} {version}" for name, version in card["versions"].items())}.

- Players: {", ".join(f"`{name}`" for name in card["players"])}
- Seed: {card.get("seed", "in each record")}
- Games: {card["games"] - card["copies"]:,}, in {len(card["shards"]):,} shards ({card["copies"]:,} copies left out)
- Transitions: {card["rows"]:,}

Each row is one action. The next row with the same `game` and `seat` has the seat's next observation.

{markdown_table(("Column", "Type", "Shape", "Content"), columns, left=4)}

`games-*.jsonl` holds the records of the games, and `{CARD}` the configuration and the checksum of each file.
"""

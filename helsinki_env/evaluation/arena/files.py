"""The two files of a work unit: ``NAME.games`` holds the results of its games (`encode_results`).

``NAME.json`` is written first and holds the metadata: blocks, plan, checksum of the games and the players' times.
Deals, seating and disabled actions follow from the plan (`helsinki_env.evaluation.arena.work_unit.schedule_games`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.data import read_json
from helsinki_env.evaluation.arena.plan import ArenaError, Plan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import ThinkingTime, WorkUnitGames, schedule_games, validate_games
from helsinki_env.evaluation.play import GameResults
from helsinki_env.utils.files import atomic_write, write_json

GAMES_SUFFIX = ".games"
"""File name extension of games."""
_METADATA_SUFFIX = ".json"
#: Maximum actions of a seat in a game.
_MAX_ACTIONS = 2**15 - 1


@dataclass(frozen=True)
class WorkUnitMetadata:
    """The metadata of a work unit."""

    chunk: str  # name of the work unit
    first: int  # first block
    end: int  # one past the last block that was played
    basis: str  # `Plan.basis`
    sha256: str  # checksum of the games file, hexadecimal digits
    times: tuple[ThinkingTime, ...]  # of the line-up's players


@dataclass(frozen=True)
class SavedWorkUnit:
    """The games file of a work unit."""

    chunk: WorkUnit  # the blocks that were played, from the first on
    content: bytes
    times: tuple[ThinkingTime, ...]  # of the line-up's players


class WorkUnitFiles:
    """The folder with the work units of a run."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan

    def path(self, chunk: WorkUnit, ending: str = GAMES_SUFFIX) -> Path:
        """Return the path of a work unit's games, or of its file with another extension."""
        return self.folder / f"{chunk.name}{ending}"

    def write(self, chunk: WorkUnit, played: GameResults, times: Sequence[ThinkingTime]) -> None:
        """Write the games of a work unit and its metadata."""
        content = encode_results(played)
        metadata = {
            "chunk": chunk.name,
            "blocks": [chunk.first, chunk.end],
            "basis": self.plan.basis,
            "sha256": hashlib.sha256(content).hexdigest(),
            "times": [{"player": time.player, **time.to_dict()} for time in times],
        }
        write_json(self.path(chunk, _METADATA_SUFFIX), metadata)
        with atomic_write(self.path(chunk)) as file:
            file.write(content)

    def load_saved(self, chunk: WorkUnit) -> SavedWorkUnit | None:
        """Return the saved games of a work unit, or None if they are missing or damaged."""
        metadata = self._metadata(chunk)
        if metadata is None or (metadata.chunk, metadata.basis) != (chunk.name, self.plan.basis):
            return None
        if metadata.first != chunk.first or not chunk.first < metadata.end <= chunk.end:
            return None
        played, path = replace(chunk, end=metadata.end), self.path(chunk)
        seats = self.plan.tables[chunk.table].seats
        max_bytes = self.plan.games_of([played]) * (_columns(seats).itemsize + 2 * _MAX_ACTIONS * seats)
        try:
            if path.stat().st_size > max_bytes:
                return None
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        if metadata.sha256 != hashlib.sha256(content).hexdigest():
            return None
        return SavedWorkUnit(played, content, metadata.times)

    def games(self, saved: SavedWorkUnit) -> WorkUnitGames:
        """Return the games of a work unit; ArenaError if they are invalid or contradict the plan."""
        chunk, table = saved.chunk, self.plan.tables[saved.chunk.table]
        try:
            played = decode_results(saved.content, self.plan.games_of([chunk]), table.seats)
            games = WorkUnitGames(schedule_games(table, self.plan.seed, chunk), played, saved.times)
            validate_games(games, table.config)
        except ArenaError as problem:
            raise ArenaError(
                f"{self.path(chunk)}: {self.plan.describe(chunk)}: {problem}; remove the file and run helsinki arena "
                "again"
            ) from None
        return games

    def times(self, chunk: WorkUnit) -> tuple[ThinkingTime, ...]:
        """Return the players' times in a work unit, if known."""
        metadata = self._metadata(chunk)
        return () if metadata is None else metadata.times

    def _metadata(self, chunk: WorkUnit) -> WorkUnitMetadata | None:
        return read_metadata(self.path(chunk, _METADATA_SUFFIX), len(self.plan.tables[chunk.table].players))


def read_metadata(path: Path, players: int) -> WorkUnitMetadata | None:
    """Return the metadata of a work unit with `players` players, or None if they cannot be read."""
    try:
        data = read_json(path, ArenaError)
        first, end = (block.integer(0) for block in data["blocks"].entries("numbers of blocks", length=2))
        times = tuple(
            ThinkingTime(
                player=entry["player"].integer(0, players - 1),
                seconds=entry["seconds"].number(0),
                decisions=entry["decisions"].integer(0),
                replaced_actions=ReplacedActions(*(entry.get(kind, 0).integer(0) for kind in ReplacedActions._fields)),
            )
            for entry in data["times"].entries("players' times")
        )
        return WorkUnitMetadata(data["chunk"].text(), first, end, data["basis"].text(), data["sha256"].text(), times)
    except ArenaError:
        return None


def _columns(seats: int) -> np.dtype[np.void]:
    """Return the dtype of a game's results without its actions; the names are those of `GameResults`."""
    return np.dtype(
        [
            ("scores", "<i2", (seats,)),
            ("places", "<i1", (seats,)),
            ("rounds", "<i2"),
            ("used", "<i2", (seats,)),
            ("seat_decisions", "<i2", (seats,)),
        ]
    )


def encode_results(played: GameResults) -> bytes:
    """Encode the results of games as bytes; equal games give equal bytes.

    Little-endian: a record of scores, places, rounds, used and seat_decisions for each game, then the actions of all
    games, int16. The number of actions of a game is the sum of its seat_decisions.
    """
    columns = np.zeros(len(played.rounds), _columns(played.scores.shape[1]))
    for name in columns.dtype.names or ():
        columns[name] = getattr(played, name)
    return columns.tobytes() + np.concatenate(played.decisions).astype("<i2").tobytes()


def decode_results(content: bytes, games: int, seats: int) -> GameResults:
    """Decode the result of `encode_results`; ArenaError if the bytes do not encode `games` games."""
    columns = _columns(seats)
    start = games * columns.itemsize
    if len(content) < start:
        raise ArenaError(f"found {len(content):,} bytes, expected {start:,} and the actions of {games} games")
    found = np.frombuffer(content, columns, games)
    if (found["seat_decisions"] < 0).any():
        raise ArenaError("seat_decisions: found a negative number of actions")
    lengths = found["seat_decisions"].sum(axis=1, dtype=np.int64)
    expected = start + 2 * int(lengths.sum())
    if len(content) != expected:
        raise ArenaError(f"found {len(content):,} bytes, expected {expected:,} as seat_decisions require")
    decisions = np.frombuffer(content, "<i2", offset=start).astype(np.int16)
    others: dict[str, Any] = {
        name: found[name].astype(found[name].dtype.newbyteorder("=")) for name in columns.names or ()
    }
    return GameResults(decisions=tuple(np.split(decisions, lengths.cumsum()[:-1])), **others)

"""The files of a chunk: its games, and a note with their checksum.

==========  ========================================================================================================
NAME.games  the results of the games of a chunk, see `encode_results`
NAME.json   the note: blocks, plan, checksum of the games, and the players' times; written before the games
==========  ========================================================================================================

Deals, seating and disabled actions follow from the plan, see `helsinki_env.evaluation.arena.work_unit.schedule_games`.
The files therefore store only the results, in a format that needs only NumPy.

Letters in shapes: G games, S seats.
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
from helsinki_env.evaluation.arena.checks import validate_games
from helsinki_env.evaluation.arena.plan import ArenaError, Plan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import ThinkingTime, WorkUnitGames, schedule_games
from helsinki_env.evaluation.play import GameResults
from helsinki_env.utils.files import atomic_write, write_json

__all__ = [
    "GAMES_SUFFIX",
    "SavedWorkUnit",
    "WorkUnitFiles",
    "WorkUnitMetadata",
    "decode_results",
    "encode_results",
    "read_metadata",
]

GAMES_SUFFIX = ".games"
"""File name extension of games."""
_NOTE = ".json"
#: Maximum actions of a seat in a game.
_MOST_DECISIONS = 2**15 - 1


@dataclass(frozen=True)
class WorkUnitMetadata:
    """The note of a chunk.

    Attributes:
        chunk: name of the chunk.
        first: first block.
        end: one past the last block that was played.
        basis: `Plan.basis` of the plan.
        sha256: checksum of the games file, hexadecimal digits.
        times: times of the line-up's players.
    """

    chunk: str
    first: int
    end: int
    basis: str
    sha256: str
    times: tuple[ThinkingTime, ...]


@dataclass(frozen=True)
class SavedWorkUnit:
    """The games file of a chunk as it was saved.

    Attributes:
        chunk: the blocks that were played, from the first on.
        content: content of the games file.
        times: times of the line-up's players.
    """

    chunk: WorkUnit
    content: bytes
    times: tuple[ThinkingTime, ...]


class WorkUnitFiles:
    """The folder with the chunks of a run.

    Args:
        folder: path of the folder.
        plan: the tournament.
    """

    def __init__(self, folder: Path, plan: Plan) -> None:
        self.folder, self.plan = folder, plan

    def path(self, chunk: WorkUnit, ending: str = GAMES_SUFFIX) -> Path:
        """Return the path of a chunk's games, or of its file with another extension."""
        return self.folder / f"{chunk.name}{ending}"

    def write(self, chunk: WorkUnit, played: GameResults, times: Sequence[ThinkingTime]) -> None:
        """Write the results of the games of a chunk."""
        content = encode_results(played)
        note = {
            "chunk": chunk.name,
            "blocks": [chunk.first, chunk.end],
            "basis": self.plan.basis,
            "sha256": hashlib.sha256(content).hexdigest(),
            "times": [{"player": spent.player, **spent.to_dict()} for spent in times],
        }
        write_json(self.path(chunk, _NOTE), note)
        with atomic_write(self.path(chunk)) as file:
            file.write(content)

    def load_saved(self, chunk: WorkUnit) -> SavedWorkUnit | None:
        """Return the saved games of a chunk, or None if there are no intact ones."""
        note = self._note(chunk)
        if note is None or (note.chunk, note.basis) != (chunk.name, self.plan.basis):
            return None
        if note.first != chunk.first or not chunk.first < note.end <= chunk.end:
            return None
        there, path = replace(chunk, end=note.end), self.path(chunk)
        seats = self.plan.tables[chunk.table].seats
        try:
            if path.stat().st_size > self.plan.games_of([there]) * _most_bytes(seats):
                return None
            content = path.read_bytes()
        except FileNotFoundError:
            return None
        if note.sha256 != hashlib.sha256(content).hexdigest():
            return None
        return SavedWorkUnit(there, content, note.times)

    def games(self, kept: SavedWorkUnit) -> WorkUnitGames:
        """Return the games of a chunk.

        Raises:
            ArenaError: if the file does not hold games, or its games contradict the plan.
        """
        chunk, table = kept.chunk, self.plan.tables[kept.chunk.table]
        try:
            played = decode_results(kept.content, self.plan.games_of([chunk]), table.seats)
            games = WorkUnitGames(schedule_games(table, self.plan.seed, chunk), played, kept.times)
            validate_games(games, table.config)
        except ArenaError as problem:
            raise ArenaError(
                f"{self.path(chunk)}: {self.plan.describe(chunk)}: {problem} (remove it and start helsinki arena "
                "again, which plays it anew)"
            ) from None
        return games

    def times(self, chunk: WorkUnit) -> tuple[ThinkingTime, ...]:
        """Return the players' times in a chunk, if known."""
        note = self._note(chunk)
        return () if note is None else note.times

    def _note(self, chunk: WorkUnit) -> WorkUnitMetadata | None:
        return read_metadata(self.path(chunk, _NOTE), len(self.plan.tables[chunk.table].players))


def read_metadata(path: Path, players: int) -> WorkUnitMetadata | None:
    """Return the note of a chunk, or None if it cannot be read: the chunk then counts as not played.

    Args:
        path: path of the note.
        players: number of players of the matchup.
    """
    try:
        note = read_json(path, ArenaError)
        first, end = (block.integer(0) for block in note["blocks"].entries("numbers of blocks", length=2))
        times = tuple(
            ThinkingTime(
                player=entry["player"].integer(0, players - 1),
                seconds=entry["seconds"].number(0),
                decisions=entry["decisions"].integer(0),
                replaced_actions=ReplacedActions(*(entry.get(kind, 0).integer(0) for kind in ReplacedActions._fields)),
            )
            for entry in note["times"].entries("players' times")
        )
        return WorkUnitMetadata(note["chunk"].text(), first, end, note["basis"].text(), note["sha256"].text(), times)
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


def _most_bytes(seats: int) -> int:
    """Return the maximum bytes of a game."""
    return _columns(seats).itemsize + 2 * _MOST_DECISIONS * seats


def encode_results(played: GameResults) -> bytes:
    """Encode the results of games as bytes; equal games give equal bytes.

    The bytes are two arrays: for each game a record of scores, places, rounds, used and seat_decisions, (G,), followed
    by the actions of all games, concatenated, int16. All numbers are little-endian. The number of actions of a game is
    the sum of its seat_decisions.
    """
    columns = np.zeros(len(played.rounds), _columns(played.scores.shape[1]))
    for name in columns.dtype.names or ():
        columns[name] = getattr(played, name)
    return columns.tobytes() + np.concatenate(played.decisions).astype("<i2").tobytes()


def decode_results(content: bytes, games: int, seats: int) -> GameResults:
    """Decode the result of `encode_results`.

    Args:
        content: the bytes.
        games: number of games G, at least one.
        seats: number of seats S.

    Raises:
        ArenaError: if the bytes do not encode that many games.
    """
    columns = _columns(seats)
    start = games * columns.itemsize
    if len(content) < start:
        raise ArenaError(f"found {len(content):,} bytes, expected {start:,} and the decisions of {games} games")
    found = np.frombuffer(content, columns, games)
    if (found["seat_decisions"] < 0).any():
        raise ArenaError("found less than no decision of a seat")
    lengths = found["seat_decisions"].sum(axis=1, dtype=np.int64)
    expected = start + 2 * int(lengths.sum())
    if len(content) != expected:
        raise ArenaError(f"found {len(content):,} bytes, expected {expected:,} for as many decisions as the seats took")
    decisions = np.frombuffer(content, "<i2", offset=start).astype(np.int16)
    others: dict[str, Any] = {
        name: found[name].astype(found[name].dtype.newbyteorder("=")) for name in columns.names or ()
    }
    return GameResults(decisions=tuple(np.split(decisions, lengths.cumsum()[:-1])), **others)

"""What an arena run played, as arrays and as records: for ratings, studies of balance and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.arena.parquet import as_array
from agents.arena.plan import ArenaError, TablePlan
from agents.arena.store import RunFolder
from helsinki_env import GameConfig
from helsinki_env.record import Record

__all__ = ["Table", "load_run", "records"]


@dataclass(frozen=True)
class Table:
    """The games of one table of a run; row g of every array is game g, in the order of the plan.

    Attributes:
        name: of the table.
        config: what was played, for S seats.
        players: as they were asked for, each once.
        seating: who sat in each seat, int64 (G, S), indices into `players`; somebody may sit there several times.
        block: which block a game belongs to, int64 (G,), one number for each block of each line-up. The games of a
            block are one deck, dealt once for each rotation of the seats.
        deck: which deck was dealt, int64 (G,); all line-ups of a table play the same decks.
        places: by seat, 0 is first, int8 (G, S).
        scores: points by seat, int16 (G, S).
        rounds: rounds played, int16 (G,).
        covered: the actions that nobody could use, int16 (G,), bit i for action i.
        denied: those that each seat could not use, int16 (G, S), likewise.
        used: those that each seat had used at the end, int16 (G, S), likewise.
        missing: games of the plan that have not been played yet; 0 for a finished run.
    """

    name: str
    config: GameConfig
    players: tuple[str, ...]
    seating: npt.NDArray[np.int64]
    block: npt.NDArray[np.int64]
    deck: npt.NDArray[np.int64]
    places: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int16]
    rounds: npt.NDArray[np.int16]
    covered: npt.NDArray[np.int16]
    denied: npt.NDArray[np.int16]
    used: npt.NDArray[np.int16]
    missing: int = 0

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.block)


def load_run(path: str | Path) -> list[Table]:
    """Return the tables of a run, finished or not; `Table.missing` says how many games are not there yet.

    Args:
        path: the folder of the run.

    Raises:
        ArenaError: if there is no run, it was played with another version of the environment, no game is there yet, or
            files are not as they were written, or games not those of the plan.
    """
    folder = RunFolder.open(Path(path))
    played: dict[int, list[Any]] = {number: [] for number in range(len(folder.plan.tables))}
    for chunk, rows in folder.rows():
        played[chunk.table].append(rows)
    if not any(played.values()):
        raise ArenaError(f"{path}: found a run of which no game has been played yet (go on with helsinki arena)")
    return [_table(plan, played[number]) for number, plan in enumerate(folder.plan.tables)]


def records(path: str | Path) -> Iterator[Record]:
    """Yield the record of every game of a run, finished or not, in the order of the plan.

    Args:
        path: the folder of the run.

    Raises:
        ArenaError: if there is no run, or it was played with another version of the environment.
    """
    return RunFolder.open(Path(path)).records()


def _table(plan: TablePlan, played: list[Any]) -> Table:
    deck = _joined(played, "block").astype(np.int64)
    return Table(
        name=plan.name,
        config=plan.config,
        players=plan.players,
        seating=_joined(played, "player", plan.seats).astype(np.int64),
        block=_joined(played, "lineup").astype(np.int64) * plan.blocks + deck,
        deck=deck,
        places=_joined(played, "places", plan.seats).astype(np.int8),
        scores=_joined(played, "scores", plan.seats).astype(np.int16),
        rounds=_joined(played, "rounds").astype(np.int16),
        covered=_joined(played, "covered").astype(np.int16),
        denied=_joined(played, "denied", plan.seats).astype(np.int16),
        used=_joined(played, "used", plan.seats).astype(np.int16),
        missing=plan.games - len(deck),
    )


def _joined(played: list[Any], column: str, seats: int | None = None) -> npt.NDArray[Any]:
    """Return a column of some Arrow tables as one array, also of none."""
    empty = np.zeros(0 if seats is None else (0, seats), np.int8)
    return np.concatenate([empty, *(as_array(rows, column, seats) for rows in played)])

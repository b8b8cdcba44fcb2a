"""Load the games of an arena run as arrays and as records: for ratings, balance studies and figures."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, WorkUnit
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames
from helsinki_env.records import Record

__all__ = ["MatchupGames", "load_records", "load_run"]

_Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class MatchupGames:
    """The games of one matchup of a run; row g of every array is game g, in the order of the plan.

    Attributes:
        name: name of the matchup.
        config: game configuration, for S seats.
        players: unique player names, as in the plan.
        seating: the player in each seat, int64 (G, S), indices into `players`; a player may sit in several seats.
        block: block of paired games, int64 (G,), one number for each block of each line-up. The games of a block are
            one deal, played once for each rotation of the seats.
        deck: deal number, int64 (G,); all line-ups of a matchup play the same deals.
        places: rank by seat, 0 is first, int8 (G, S).
        scores: points by seat, int16 (G, S).
        rounds: rounds played, int16 (G,).
        covered: actions disabled for all, int16 (G,), bit i for action i.
        denied: actions disabled for each seat, int16 (G, S), same encoding.
        used: actions that each seat had used at the end, int16 (G, S), same encoding.
        missing: games of the plan that have not been played yet; 0 for a finished run.
    """

    name: str
    config: Any
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


def load_run(path: str | Path, *, whole: bool = False) -> list[MatchupGames]:
    """Load the matchups of a run, finished or not; `MatchupGames.missing` is the number of games not played yet.

    Args:
        path: folder of the run.
        whole: raise an error if the run is not finished.

    Raises:
        ArenaError: for a folder without a run, a run from another version of the environment or without games, and
            files that are damaged or contradict the plan.
    """
    folder = RunFolder.open(Path(path))
    tables = folder.plan.tables
    played: list[list[_Columns]] = [[_of_nothing(table.seats)] for table in tables]
    for chunk, games in folder.games(whole=whole):
        played[chunk.table].append(_columns(tables[chunk.table], chunk, games))
    if all(len(parts) == 1 for parts in played):
        raise ArenaError(f"{path}: found a run of which no game has been played yet (go on with helsinki arena)")
    return [_table(table, parts) for table, parts in zip(tables, played, strict=True)]


def load_records(path: str | Path) -> Iterator[Record]:
    """Yield the game record of every game of a run, finished or not, in the order of the plan.

    Args:
        path: folder of the run.

    Raises:
        ArenaError: if there is no run, or it was played with another version of the environment.
    """
    return RunFolder.open(Path(path)).records()


def _columns(table: MatchupPlan, chunk: WorkUnit, games: WorkUnitGames) -> _Columns:
    """Return the arrays of a `MatchupGames` with the games of one chunk."""
    planned, played = games.schedule, games.played
    return {
        "seating": planned.seating,
        "block": chunk.lineup * table.blocks + planned.block,
        "deck": planned.block,
        "places": played.places,
        "scores": played.scores,
        "rounds": played.rounds,
        "covered": planned.disabled.covered,
        "denied": planned.disabled.denied,
        "used": played.used,
    }


def _of_nothing(seats: int) -> _Columns:
    """Return the arrays of a `MatchupGames` without games."""
    one, each = np.zeros(0, np.int16), np.zeros((0, seats), np.int16)
    number = one.astype(np.int64)
    return {
        "seating": each.astype(np.int64),
        "block": number,
        "deck": number,
        "places": each.astype(np.int8),
        "scores": each,
        "rounds": one,
        "covered": one,
        "denied": each,
        "used": each,
    }


def _table(plan: MatchupPlan, parts: list[_Columns]) -> MatchupGames:
    columns: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    missing = plan.games - len(columns["deck"])
    return MatchupGames(name=plan.name, config=plan.config, players=plan.players, missing=missing, **columns)

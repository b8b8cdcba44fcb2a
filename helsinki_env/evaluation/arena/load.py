"""Load the games of a tournament as arrays or records, and convert records from any source to arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, encode_action_sets
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, WorkUnit
from helsinki_env.evaluation.arena.store import RunFolder, records_of
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames
from helsinki_env.evaluation.play import SeatedGames
from helsinki_env.records import Record, RecordError

__all__ = ["MatchupGames", "RatableGames", "group_records", "load_records", "load_run"]

_Columns = dict[str, npt.NDArray[Any]]
#: dtype of each array of a `MatchupGames`, and whether it has a column for each seat.
_ARRAYS: Mapping[str, tuple[Any, bool]] = {
    "seating": (np.int64, True),
    "block": (np.int64, False),
    "deal": (np.int64, False),
    "places": (np.int8, True),
    "scores": (np.int16, True),
    "rounds": (np.int16, False),
    "covered": (np.int16, False),
    "denied": (np.int16, True),
    "used": (np.int16, True),
}


@dataclass(frozen=True)
class RatableGames(SeatedGames):
    """G games with S seats that can be rated. Row g of every array belongs to game g.

    Attributes:
        players, seating, places, scores: see `helsinki_env.evaluation.play.SeatedGames`.
        name: name of the matchup, or a description of its configuration.
        deal: deal number, int64 (G,). Games with the same number may be correlated.
        covered: actions disabled for all seats of a game, int16 (G,), bit i for action i.
        denied: actions disabled for each seat, int16 (G, S), in the same encoding.
    """

    name: str
    deal: npt.NDArray[np.int64]
    covered: npt.NDArray[np.int16]
    denied: npt.NDArray[np.int16]


@dataclass(frozen=True)
class MatchupGames(RatableGames):
    """The games of one matchup in a run, in the order of the plan. All line-ups play the same deals.

    Attributes:
        config: game configuration for S seats.
        block: number of the block of paired games, int64 (G,), unique over all line-ups. A block plays the same deal
            once per seat rotation.
        rounds: number of rounds played, int16 (G,).
        used: actions used by each seat, int16 (G, S), bit i for action i.
        missing: number of games in the plan that have not been played yet, 0 if the run is finished.
    """

    config: Any
    block: npt.NDArray[np.int64]
    rounds: npt.NDArray[np.int16]
    used: npt.NDArray[np.int16]
    missing: int = 0


def load_run(path: str | Path, *, whole: bool = False) -> list[MatchupGames]:
    """Load the matchups of a finished or unfinished run.

    Args:
        path: folder of the run.
        whole: whether to raise an error if the run is unfinished.

    Raises:
        ArenaError: if the folder has no run, the run has no games or is from another version of the environment, or
            files are damaged or contradict the plan.
    """
    folder = RunFolder.open(Path(path))
    matchups = folder.plan.matchups
    played: list[list[_Columns]] = [[_no_games(matchup.seats)] for matchup in matchups]
    for unit, games in folder.games(whole=whole):
        played[unit.matchup].append(_columns(matchups[unit.matchup], unit, games))
    if all(len(parts) == 1 for parts in played):
        raise ArenaError(f"{path}: found a run without games, expected at least one; resume it with helsinki arena")
    return [_matchup_games(matchup, parts) for matchup, parts in zip(matchups, played, strict=True)]


def load_records(path: str | Path) -> Iterator[Record]:
    """Yield the record of every game in a finished or unfinished run, in the order of the plan.

    Args:
        path: folder of the run.

    Raises:
        ArenaError: if the folder has no run, or the run is from another version of the environment.
    """
    folder = RunFolder.open(Path(path))
    return records_of(folder.plan, folder.games())


def _columns(matchup: MatchupPlan, unit: WorkUnit, games: WorkUnitGames) -> _Columns:
    """Return the arrays of a `MatchupGames` for the games of one work unit."""
    planned, played = games.schedule, games.played
    return {
        "seating": planned.seating,
        "block": unit.lineup * matchup.blocks + planned.block,
        "deal": planned.block,
        "covered": planned.disabled.covered,
        "denied": planned.disabled.denied,
        **{name: getattr(played, name) for name in ("places", "scores", "rounds", "used")},
    }


def _no_games(seats: int) -> _Columns:
    return {name: np.zeros((0, seats) if by_seat else 0, dtype) for name, (dtype, by_seat) in _ARRAYS.items()}


def _matchup_games(plan: MatchupPlan, parts: list[_Columns]) -> MatchupGames:
    columns: dict[str, Any] = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    missing = plan.games - len(columns["deal"])
    return MatchupGames(name=plan.name, config=plan.config, players=plan.players, missing=missing, **columns)


def group_records(records: Iterable[Record], named: Callable[[Any], str]) -> list[RatableGames]:
    """Group games by configuration, ignoring actions denied to single seats, in order of first appearance.

    Args:
        records: records of finished games.
        named: function that returns the name of a group, given its configuration.

    Raises:
        RecordError: if a game is unfinished.
    """
    matchups: dict[Any, list[Record]] = {}
    equal = lru_cache(lambda config: config.replace(denied=None))  # parsing a configuration is slow
    for number, record in enumerate(records):
        if not record.finished:
            raise RecordError(f"game {number + 1}: found an unfinished game, expected only finished games")
        matchups.setdefault(equal(record.config), []).append(record)
    return [_recorded_games(named(config), games) for config, games in matchups.items()]


def _recorded_games(name: str, games: list[Record]) -> RatableGames:
    players, deals = _Numbers(), _Numbers()
    sets = np.zeros((len(games), 1 + len(games[0].players), MAX_DENIABLE_IDS), np.bool_)
    for g, game in enumerate(games):
        for column, actions in enumerate([getattr(game.config, "covered", ()), *game.config.denied]):
            sets[g, column, list(actions)] = True
    disabled = encode_action_sets(sets)
    return RatableGames(
        name=name,
        seating=np.array([[players[name] for name in game.players] for game in games], np.int64),
        players=tuple(players),
        deal=np.array([deals[game.seed, game.stream, game.episode] for game in games], np.int64),
        places=np.array([game.places for game in games], np.int8),
        scores=np.array([game.scores for game in games], np.int16),
        covered=disabled[:, 0],
        denied=disabled[:, 1:],
    )


class _Numbers(dict[Any, int]):
    """Dictionary that numbers keys in the order of their first access."""

    def __missing__(self, key: Any) -> int:
        self[key] = len(self)
        return self[key]

"""Create or extend a position suite: play games, choose positions from them, and evaluate all legal actions.

The games are between players of graded strength. Position i depends only on the seed and i, so a longer suite begins
with the positions of a shorter one. An interrupted run can be resumed, because games are saved as in
`helsinki_env.evaluation.arena` and each position is saved as a file.

The search simulates every legal action in the same determinizations of the hidden cards. The heuristic continues the
game until the end of the seat's turn after next, where the network predicts the win probabilities
(`agents.net.search`).
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import helsinki_env
from helsinki_env.agents.base import FloatArray
from helsinki_env.agents.net.search import NetSearchPlayer
from helsinki_env.agents.registry import files_digest, make_player
from helsinki_env.data import digest_of, read_json, with_digest
from helsinki_env.engine.determinization import states_from_observations
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.arena.plan import Plan, environment_versions, plan_from_dict
from helsinki_env.evaluation.arena.run import run_in_processes
from helsinki_env.evaluation.arena.store import RunFolder, records_of
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.positions import PositionsError
from helsinki_env.evaluation.positions.suite import FORMAT, SCALE
from helsinki_env.records import Record, replay_steps
from helsinki_env.utils.files import atomic_write, check_no_link, hold_lock_file, remove_leftovers, write_json

__all__ = ["SuitePlan", "value_positions", "write_suite"]

GRADED = ("net", "epsilon:0.1:net", "heuristic", "epsilon:0.2:heuristic", "greedy")
"""Players in the games, from strong to weak."""
EVALUATOR = "net+search:1"
"""Search player that evaluates the actions. Its search budget is irrelevant, because every action is simulated."""
#: Number of batches of simulations. Each half yields one of the two values of an action; all yield standard errors.
_BATCHES = 32
#: Number of batches in one call. Fewer batches require less memory.
_CALL = 8
#: Test for positions in which the choice matters: simulations per action, minimum range of values, number of tries.
_SCREENED, _SPREAD, _TRIES = 16, 0.03, 10
_VALUES = "values"


@dataclass(frozen=True)
class SuitePlan:
    """The plan of a suite.

    Attributes:
        gauntlet: the gauntlet with the matchups of the suite.
        positions: number of positions.
        determinizations: number of simulations per legal action, rounded up to a multiple of 32.
        version: version of the suite.
        seed: seed for games, selection of positions and simulations.
    """

    gauntlet: Gauntlet
    positions: int
    determinizations: int = 1024
    version: int = 1
    seed: int = 0

    @property
    def tournament(self) -> Plan:
        """The tournament from which the positions are chosen."""
        matchups = []
        for matchup in self.gauntlet.matchups:
            seats = int(matchup.played["seats"])
            lineups = [[GRADED[(first + i) % len(GRADED)] for i in range(seats)] for first in range(len(GRADED))]
            lineups.append([GRADED[0]] * seats)
            blocks = -(-self.positions // (len(self.gauntlet.matchups) * len(lineups)))
            matchups.append({**matchup.played, "name": matchup.name, "lineups": lineups, "games": blocks * seats})
        return plan_from_dict({"seed": self.seed, "unit_games": 60, "matchups": matchups})

    def position_numbers(self, plan: Plan) -> dict[tuple[int, int, int], int]:
        """Map (matchup, line-up, game) of each game used to the index of the position taken from it."""
        found = {}
        for i in range(self.positions):
            matchup, number = i % len(plan.matchups), i // len(plan.matchups)
            lineups, seats = len(plan.matchups[matchup].lineups), plan.matchups[matchup].seats
            rotation = int(np.random.default_rng([self.seed, i]).integers(seats))
            found[matchup, number % lineups, number // lineups * seats + rotation] = i
        return found

    @property
    def deals(self) -> int:
        """Number of determinizations in a batch of simulations."""
        return -(-self.determinizations // _BATCHES)

    @property
    def basis(self) -> dict[str, Any]:
        """All data on which the values of positions depend."""
        matchup = self.tournament.matchups[0]
        return {
            "package": helsinki_env.__version__,
            "played": digest_of([{"name": one.name, **one.played} for one in self.gauntlet.matchups]),
            "environment": environment_versions(self.tournament.matchups),
            "seed": self.seed,
            "determinizations": self.deals * _BATCHES,
            "players": list(GRADED),
            "evaluator": EVALUATOR,
            "evaluator_digest": files_digest(EVALUATOR, matchup.config),
        }


def value_positions(
    plan: SuitePlan,
    folder: Path,
    processes: int,
    resumed: Callable[[int], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Evaluate the missing positions of a suite, taken from the finished run ``folder/games``; save each to a file.

    `resumed` is called once with the number of saved positions, and `progress` with 1 after each new position.

    Raises:
        PositionsError: if another process evaluates the positions of the folder.
    """
    values, basis, games = folder / _VALUES, digest_of(plan.basis), plan.tournament
    busy = PositionsError(
        f"{folder}: found another process that writes this suite; wait for it, or choose another --out"
    )
    check_no_link(values)
    with hold_lock_file(values / ".lock", busy):
        remove_leftovers(values)
        jobs = [job for job in _jobs(plan, games, folder) if _saved(values, job.number, basis) is None]
        if resumed is not None:
            resumed(plan.positions - len(jobs))
        tasks = ((job.number, (job,)) for job in jobs)
        with closing(run_in_processes(_value_position, tasks, processes, "positions")) as finished:
            for number, future in finished:
                write_json(_file(values, number), {"basis": basis, "position": future.result()})
                if progress is not None:
                    progress(1)


def _file(values: Path, number: int) -> Path:
    return values / f"{number:05d}.json"


def _saved(values: Path, number: int, basis: str) -> dict[str, Any] | None:
    """Return a saved position, or None if it is missing or belongs to another suite."""
    try:
        data = read_json(_file(values, number), PositionsError)
        found: dict[str, Any] = data["position"].mapping().value
        return found if data["basis"].value == basis else None
    except (PositionsError, FileNotFoundError):
        return None


@dataclass(frozen=True)
class _Job:
    """The data needed to choose and evaluate a position."""

    number: int
    matchup: int
    config: Any  # configuration of the matchup
    record: str  # JSON record of the whole game
    seed: int
    deals: int


def _jobs(plan: SuitePlan, games: Plan, folder: Path) -> list[_Job]:
    """Return the jobs for all positions, in order of their numbers."""
    numbers, jobs = plan.position_numbers(games), []
    for unit, played in RunFolder.open(folder / "games").games(whole=True):
        for i, record in enumerate(records_of(games, [(unit, played)])):
            number = numbers.get((unit.matchup, unit.lineup, int(played.schedule.game[i])))
            if number is not None:
                config = games.matchups[unit.matchup].config
                jobs.append(_Job(number, unit.matchup, config, record.to_json(), plan.seed, plan.deals))
    return sorted(jobs, key=lambda job: job.number)


@lru_cache(maxsize=8)
def _evaluator(config: Any) -> NetSearchPlayer:
    player = make_player(EVALUATOR, config)
    assert isinstance(player, NetSearchPlayer)
    return player


def _value_position(job: _Job) -> dict[str, Any]:
    """Choose a position in a game, evaluate its legal actions, and return the suite entry of the position."""
    record, player = Record.from_json(job.record), _evaluator(job.config)
    rng = np.random.default_rng([job.seed, job.number, 1])
    step, game = _choose(record, player, rng)
    values = _simulate(player, game, rng, job.deals, _BATCHES)
    half = _BATCHES // 2
    best = values.mean(axis=0).argmax()
    errors = (values - values[:, best : best + 1]).std(axis=0, ddof=1) / _BATCHES**0.5
    until = replace(record, decisions=record.decisions[:step], scores=None, places=None, ranking=None)
    return {
        "matchup": job.matchup,
        "phase": _phase(game),
        "record": until.to_dict(),
        "first": _whole(values[:half].mean(axis=0)),
        "second": _whole(values[half:].mean(axis=0)),
        "errors": _whole(errors),
    }


def _whole(values: FloatArray) -> list[int]:
    whole: list[int] = np.rint(values * SCALE).astype(np.int64).tolist()
    return whole


def _choose(record: Record, player: NetSearchPlayer, rng: np.random.Generator) -> tuple[int, BoardGame]:
    """Choose a random position in which the choice matters. Half of the time, a phase is drawn first."""
    steps, games = [], []
    for step, (game, action) in enumerate(replay_steps(record)):
        if action is not None and len(game.legal_actions()) > 1:
            steps.append(step)
            games.append(game)
    phases = [_phase(game) for game in games]
    for _ in range(_TRIES):
        chosen = np.arange(len(games))
        if rng.integers(2):
            phase = rng.choice(sorted(set(phases)))
            chosen = np.flatnonzero(np.array(phases) == phase)
        at = int(rng.choice(chosen))
        if np.ptp(_simulate(player, games[at], rng, _SCREENED, 1)) >= _SPREAD:
            break
    return steps[at], games[at]


def _phase(game: BoardGame) -> str:
    states = states_from_observations(game.config, game.observation()[None])
    return spec_of(game.config).phases[int(states["phase"][0])]


def _simulate(
    player: NetSearchPlayer, game: BoardGame, rng: np.random.Generator, deals: int, batches: int
) -> FloatArray:
    """Return the mean value of each legal action in each batch of simulations, float64 (batches, C)."""
    actions = game.legal_actions()
    state = states_from_observations(player.config, game.observation()[None])
    parts = []
    for first in range(0, batches, _CALL):
        rows = min(_CALL, batches - first)
        keys = rng.integers(0, 2**64, rows, np.uint64)
        arms, counts = np.tile(actions, (rows, 1)), np.full(rows, len(actions))
        parts.append(player.simulate_actions(np.repeat(state, rows), arms, counts, deals, keys))
    return np.concatenate(parts)


def write_suite(plan: SuitePlan, folder: Path, path: Path, command: str) -> None:
    """Write the suite file from the saved positions; raise PositionsError if one is missing."""
    basis = plan.basis
    entries = []
    for number in range(plan.positions):
        entry = _saved(folder / _VALUES, number, digest_of(basis))
        if entry is None:
            raise PositionsError(f"{folder}: found no position {number}, expected all; run the same command again")
        entries.append(entry)
    matchups = [
        {"name": matchup.name, "game": spec_of(matchup.config).name, "config": matchup.config.to_dict()}
        for matchup in plan.tournament.matchups
    ]
    data = with_digest(
        {
            "suite": FORMAT,
            "name": plan.gauntlet.name,
            "version": plan.version,
            "package": helsinki_env.__version__,
            "command": command,
            **basis,
            "matchups": matchups,
            "positions": entries,
        }
    )
    lines = [f" {json.dumps(key)}: {json.dumps(value)}" for key, value in data.items() if key != "positions"]
    rows = ",\n".join("  " + json.dumps(entry, separators=(",", ":")) for entry in entries)
    lines.insert(-1, f' "positions": [\n{rows}\n ]')
    with atomic_write(path, follow=True) as file:
        file.write(("{\n" + ",\n".join(lines) + "\n}\n").encode())

"""Small tournaments on this machine with live ratings: storage, worker processes and management.

Each tournament runs in its own process, and only a few run in parallel. Results are saved before pages show them.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from multiprocessing.connection import Connection
from typing import Any

from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.evaluation.arena.load import group_records
from helsinki_env.evaluation.arena.plan import MatchupPlan, Plan, WorkUnit, round_robin_lineups
from helsinki_env.evaluation.arena.run import init_worker_process
from helsinki_env.evaluation.arena.store import records_of
from helsinki_env.evaluation.arena.work_unit import play_work_unit
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.shares import unrated_data
from helsinki_env.records import Record
from helsinki_env.utils.extras import MissingExtraError
from helsinki_env.utils.spawning import exit_reason
from helsinki_env.utils.stopping import block_interrupts
from helsinki_env.web.store import StoreError, TableStore
from helsinki_env.web.tables import TableError

MIN_DEALS = 2
"""Minimum number of deals in a tournament, because confidence intervals are based on the variation between deals."""
MAX_PARALLEL = 2
"""Maximum number of tournaments played in parallel; others wait."""
_STATISTICS_PROCESSES = 1
"""Maximum number of processes that only compute statistics, for tournaments that are not running."""
_UNIT_SECONDS = 1.0
"""Target duration of a batch of parallel games in seconds: large batches are faster, small ones show results sooner."""
_RATING_SHARE = 0.2
"""Maximum fraction of time spent on ratings."""
_NICENESS = 5
"""Niceness (`os.nice`) of the process relative to the server and the players at tables."""


@dataclass(frozen=True)
class Tournament:
    """The settings of a tournament, which plays the same games as `helsinki arena` with the same seed."""

    name: str  # part of the URL
    title: str
    made: float  # creation time, in seconds since 1970
    config: Any
    players: tuple[str, ...]  # each once
    deals: int  # number of deals per line-up, each played in every rotation of the seats
    seed: int
    options: tuple[str, ...] = ()  # labels of the chosen options

    @cached_property
    def plan(self) -> Plan:
        """The plan of all games, ordered by line-up."""
        lineups = round_robin_lineups(len(self.players), self.config.num_players)
        return Plan(self.seed, (MatchupPlan("tournament", self.config, self.players, lineups, self.deals),))

    @property
    def games(self) -> int:
        """Total number of games."""
        return self.plan.games

    def deals_done(self, numbers: Sequence[int]) -> list[int]:
        """Return the number of deals that each line-up has completed, given the indices of all finished games."""
        (matchup,) = self.plan.matchups
        done = [0] * len(matchup.lineups)
        for number in numbers:
            done[number // matchup.seats % len(matchup.lineups)] += 1
        return [games // matchup.seats for games in done]

    def numbers(self, unit: WorkUnit) -> list[int]:
        """Return the game indices of a work unit, ordered by deal, line-up and rotation of the seats."""
        (matchup,) = self.plan.matchups
        return [
            (deal * len(matchup.lineups) + unit.lineup) * matchup.seats + rotation
            for deal in range(unit.first, unit.end)
            for rotation in range(matchup.seats)
        ]


class TournamentStore:
    """The tournaments in a database, with their game records as JSON lines (`helsinki_env.records`)."""

    def __init__(self, store: TableStore) -> None:
        self._store, self._rows = store, store.rows
        #: Cache of settings, which never change and are slow to read.
        self._loaded: dict[str, Tournament] = {}

    def __len__(self) -> int:
        """Return the number of tournaments."""
        return int(self._rows.execute("SELECT count(*) FROM tournaments").fetchone()[0])

    def add(self, tournament: Tournament) -> None:
        """Save a new tournament."""
        settings = {
            "config": config_to_dict(tournament.config),
            "players": list(tournament.players),
            "deals": tournament.deals,
            "seed": tournament.seed,
            "options": list(tournament.options),
        }
        with self._store.transaction():
            self._rows.execute(
                "INSERT INTO tournaments (name, title, made, settings) VALUES (?, ?, ?, ?)",
                (tournament.name, tournament.title, tournament.made, json.dumps(settings)),
            )

    def names(self, first: int = 0, limit: int = -1) -> list[str]:
        """Return at most `limit` names (-1 for all), newest first, after skipping the `first` newest."""
        rows = self._rows.execute(
            "SELECT name FROM tournaments ORDER BY made DESC, name LIMIT ? OFFSET ?", (limit, first)
        )
        return [name for (name,) in rows]

    def has(self, name: str) -> bool:
        """Return whether a tournament exists."""
        return self._rows.execute("SELECT 1 FROM tournaments WHERE name = ?", (name,)).fetchone() is not None

    def check(self, name: str) -> None:
        """Raise TableError if a tournament does not exist."""
        if not self.has(name):
            raise TableError(f"tournament {name!r:.40}: does not exist")

    def load(self, name: str) -> Tournament:
        """Load a tournament; raise ValueError if this version cannot play it."""
        self.check(name)
        if name not in self._loaded:
            title, made, text = self._rows.execute(
                "SELECT title, made, settings FROM tournaments WHERE name = ?", (name,)
            ).fetchone()
            settings = json.loads(text)
            config = config_from_dict(settings["config"])
            try:
                players, deals, seed, options = (settings[key] for key in ("players", "deals", "seed", "options"))
            except KeyError as problem:
                raise ValueError(f"tournament {name}: found no {problem}, expected one of this version") from None
            self._loaded[name] = Tournament(name, title, made, config, tuple(players), deals, seed, tuple(options))
        return self._loaded[name]

    def remove(self, name: str) -> None:
        """Delete a tournament and its games."""
        self._loaded.pop(name, None)
        with self._store.transaction():
            self._rows.execute("DELETE FROM tournament_games WHERE name = ?", (name,))
            self._rows.execute("DELETE FROM tournaments WHERE name = ?", (name,))

    def write(self, name: str, games: Sequence[tuple[int, str]]) -> None:
        """Save finished games, each as (index, line), in one transaction."""
        with self._store.transaction():
            self._rows.executemany(
                "INSERT INTO tournament_games (name, number, record) VALUES (?, ?, ?)",
                [(name, number, line) for number, line in games],
            )

    def count(self, name: str) -> int:
        """Return the number of finished games of a tournament."""
        return int(self._rows.execute("SELECT count(*) FROM tournament_games WHERE name = ?", (name,)).fetchone()[0])

    def lines(self, name: str) -> list[tuple[int, str]]:
        """Return the index and line of each finished game, ordered by index."""
        return self._rows.execute(
            "SELECT number, record FROM tournament_games WHERE name = ? ORDER BY number", (name,)
        ).fetchall()

    def latest(self, name: str, limit: int) -> list[tuple[int, str]]:
        """Return the index and line of the games with the highest indices, highest first."""
        return self._rows.execute(
            "SELECT number, record FROM tournament_games WHERE name = ? ORDER BY number DESC LIMIT ?", (name, limit)
        ).fetchall()

    def line(self, name: str, number: int) -> str:
        """Return the record of a game as a JSON line; raise TableError if the game does not exist."""
        row = self._rows.execute(
            "SELECT record FROM tournament_games WHERE name = ? AND number = ?", (name, number)
        ).fetchone()
        if row is None:
            raise TableError(f"game {number} of tournament {name!r:.40}: does not exist")
        return str(row[0])


def _work(connection: Connection, tournament: Tournament, saved: Sequence[tuple[int, str]], playing: bool) -> None:
    """Play the missing games of a tournament, or only compute statistics; the main function of a worker process.

    The process sends ("games", [(index, line), ...]) for finished games, ("figures", data) with the result of
    `tournament_statistics`, and ("failed", message) after an error. `saved` are the games already played.
    """
    init_worker_process()
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    try:
        _play(connection, tournament, saved, playing)
    except OSError:
        return  # the server has closed the connection
    except Exception as problem:  # a third-party player may raise anything
        connection.send(("failed", f"{type(problem).__name__}: {problem}"))


def _play(connection: Connection, tournament: Tournament, saved: Sequence[tuple[int, str]], playing: bool) -> None:
    games = {number: Record.from_json(line) for number, line in saved}
    done, deals = tournament.deals_done(list(games)), 1
    rated_at, rating_seconds = time.monotonic(), 0.0
    while playing and (unit := next_work_unit(done, tournament.deals, deals)) is not None:
        began = time.monotonic()
        played = play_work_unit(tournament.plan.matchups[0], tournament.seed, unit)
        records = list(records_of(tournament.plan, [(unit, played)]))
        new = dict(zip(tournament.numbers(unit), records, strict=True))
        connection.send(("games", [(number, record.to_json()) for number, record in new.items()]))
        games |= new
        done[unit.lineup] = unit.end
        now = time.monotonic()
        deals = max(1, min(2 * deals, int(deals * _UNIT_SECONDS / (now - began + 1e-9))))
        if rating_seconds <= _RATING_SHARE * (now - rated_at):
            connection.send(("figures", tournament_statistics(tournament, games)))
            rated_at = time.monotonic()
            rating_seconds = rated_at - now
    if games:
        connection.send(("figures", tournament_statistics(tournament, games)))


def next_work_unit(done: Sequence[int], deals: int, limit: int) -> WorkUnit | None:
    """Return the next work unit of at most `limit` deals, for the line-up with the fewest deals `done`, or None."""
    lineup = min(range(len(done)), key=done.__getitem__)
    first = done[lineup]
    return WorkUnit(0, lineup, 0, first, min(deals, first + limit)) if first < deals else None


def tournament_statistics(tournament: Tournament, games: dict[int, Record]) -> dict[str, Any]:
    """Return player statistics from at least one game, in the format of `rating.report.matchup_rating_data`.

    `without` is the reason why there are no ratings, or None. Missing ratings and unknown bounds are None.
    """
    (matchup,) = group_records((games[number] for number in sorted(games)), lambda _: tournament.title)
    if len(set(matchup.deal.tolist())) < MIN_DEALS:
        reason = "ratings need at least two deals, because their intervals measure how deals differ"
        return unrated_data(matchup) | {"without": reason}
    try:
        from helsinki_env.evaluation.rating.ratings import rate
        from helsinki_env.evaluation.rating.report import matchup_rating_data

        data = matchup_rating_data(rate(matchup))
    except (RatingError, MissingExtraError) as problem:
        return unrated_data(matchup) | {"without": str(problem)}
    return {key: data[key] for key in ("games", "deals", "reference", "players", "pairs")} | {"without": None}


@dataclass
class _Run:
    """A running or waiting process that plays a tournament or only computes its statistics."""

    playing: bool
    before: int  # number of finished games at the start
    task: asyncio.Task[None] | None = None  # reads messages from the process
    began: float | None = None  # on the monotonic clock; None while waiting


@dataclass(frozen=True)
class TournamentState:
    """The state of a tournament."""

    tournament: Tournament
    state: str  # "waiting" (for other tournaments to end), "playing", "stopped" or "finished"
    done: int  # number of finished games
    seconds_left: float | None  # estimated; None if unknown
    statistics: dict[str, Any] | None  # None while they are being computed
    message: str  # error that stopped the tournament


class TournamentManager:
    """Manages all tournaments in a database; not thread-safe."""

    def __init__(self, store: TableStore) -> None:
        self.store = TournamentStore(store)
        self._runs: dict[str, _Run] = {}
        self._statistics: dict[str, dict[str, Any]] = {}
        self._messages: dict[str, str] = {}
        self._parallel = {True: asyncio.Semaphore(MAX_PARALLEL), False: asyncio.Semaphore(_STATISTICS_PROCESSES)}
        #: Threads that read messages, one per process.
        self._threads = ThreadPoolExecutor(MAX_PARALLEL + _STATISTICS_PROCESSES, "tournaments")

    def state(self, name: str) -> TournamentState:
        """Return the state of a tournament."""
        tournament, done, run = self.store.load(name), self.store.count(name), self._runs.get(name)
        state, left = "finished" if done == tournament.games else "stopped", None
        if run is not None and run.playing:
            state = "waiting" if run.began is None else "playing"
            if run.began is not None and done > run.before:
                seconds_per_game = (time.monotonic() - run.began) / (done - run.before)
                left = seconds_per_game * (tournament.games - done)
        return TournamentState(tournament, state, done, left, self._statistics.get(name), self._messages.get(name, ""))

    def add(self, tournament: Tournament) -> None:
        """Save a new tournament and start it."""
        self.store.add(tournament)
        self.resume(tournament.name)

    def resume(self, name: str) -> None:
        """Resume a tournament, either now or after other tournaments have ended."""
        tournament, run = self.store.load(name), self._runs.get(name)
        if run is not None and run.playing:
            return
        if self.store.count(name) < tournament.games:
            self._begin(tournament, playing=True)

    def update_statistics(self, name: str) -> None:
        """Compute the statistics of a tournament, unless they already cover all finished games."""
        current = self.store.count(name) == (self._statistics[name]["games"] if name in self._statistics else 0)
        if not current and name not in self._runs and name not in self._messages:
            self._begin(self.store.load(name), playing=False)

    def _begin(self, tournament: Tournament, playing: bool) -> None:
        previous = self._runs.pop(tournament.name, None)
        if previous is not None and previous.task is not None:
            previous.task.cancel()
        self._messages.pop(tournament.name, None)
        run = _Run(playing, self.store.count(tournament.name))
        self._runs[tournament.name] = run
        run.task = asyncio.create_task(self._run(tournament, run))

    async def _run(self, tournament: Tournament, run: _Run) -> None:
        name = tournament.name
        try:
            async with self._parallel[run.playing]:
                run.began = time.monotonic()
                await self._run_process(tournament, run.playing)
        except (StoreError, OSError) as problem:
            self._messages[name] = f"it cannot continue: {problem}"
        finally:
            if self._runs.get(name) is run:
                del self._runs[name]

    async def _run_process(self, tournament: Tournament, playing: bool) -> None:
        """Run a process until it ends, and save the games and statistics that it sends."""
        context = multiprocessing.get_context("spawn")
        connection, other_end = context.Pipe(duplex=False)
        arguments = (other_end, tournament, self.store.lines(tournament.name), playing)
        process = context.Process(target=_work, args=arguments, daemon=True)
        loop = asyncio.get_running_loop()
        starting = loop.run_in_executor(self._threads, _start, process, other_end)
        try:
            await asyncio.shield(starting)
            while (message := await loop.run_in_executor(self._threads, _receive, connection)) is not None:
                self._handle(tournament.name, *message)
            await loop.run_in_executor(self._threads, process.join)
            if process.exitcode:
                self._messages[tournament.name] = f"it cannot continue: {exit_reason([process], began=True)}"
        finally:
            with suppress(Exception):
                await starting
            if process.pid is not None:
                process.kill()
                await loop.run_in_executor(self._threads, process.join)
            connection.close()

    def _handle(self, name: str, kind: str, content: Any) -> None:
        if kind == "games":
            self.store.write(name, content)
        elif kind == "figures":
            self._statistics[name] = content
        else:
            self._messages[name] = f"it cannot continue: {content}"

    async def stop(self, name: str) -> None:
        """Stop a tournament; finished games are saved."""
        self.store.check(name)
        await self._stop(name)

    async def _stop(self, name: str) -> None:
        run = self._runs.pop(name, None)
        if run is not None and run.task is not None:
            run.task.cancel()
            with suppress(asyncio.CancelledError):
                await run.task

    async def remove(self, name: str) -> None:
        """Stop a tournament and delete it and its games."""
        self.store.check(name)
        while name in self._runs:  # a page may have started another run in the meantime
            await self._stop(name)
        self.store.remove(name)
        self._statistics.pop(name, None)
        self._messages.pop(name, None)

    async def close(self) -> None:
        """Stop all processes."""
        for name in list(self._runs):
            await self._stop(name)
        self._threads.shutdown(wait=False, cancel_futures=True)


def _start(process: Any, other_end: Connection) -> None:
    with block_interrupts():
        process.start()
    other_end.close()


def _receive(connection: Connection) -> tuple[str, Any] | None:
    """Return the next message from a process, or None if the process has ended."""
    try:
        message: tuple[str, Any] = connection.recv()
    except (EOFError, OSError):
        return None
    return message

"""Running tournaments: one process each, a few at a time; results are written before they are shown."""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from helsinki_env.utils.spawning import exit_reason
from helsinki_env.utils.stopping import block_interrupts
from helsinki_env.web.store import StoreError, TableStore
from helsinki_env.web.tournaments.storage import KeptTournaments, Tournament
from helsinki_env.web.tournaments.work import work

__all__ = ["MOST_AT_ONCE", "TournamentManager", "TournamentState"]

MOST_AT_ONCE = 2
"""Maximum number of tournaments played in parallel; others wait."""
#: Number of processes that only compute statistics, for tournaments that are not running.
_FIGURING = 1


@dataclass
class _Run:
    """A process that plays a tournament or only computes its statistics, running or waiting to start.

    Attributes:
        playing: whether it plays.
        before: number of finished games at its start.
        task: the task that reads its messages.
        began: start time by the monotonic clock; None while it waits.
    """

    playing: bool
    before: int
    task: asyncio.Task[None] | None = None
    began: float | None = None


@dataclass(frozen=True)
class TournamentState:
    """State of a tournament.

    Attributes:
        tournament: its settings.
        state: "waiting" for others to end, "playing", "stopped" or "finished".
        done: number of finished games.
        seconds_left: estimated time for the remaining games; None if unknown.
        figures: see `work.tournament_statistics`; None while they are computed.
        message: the error that stopped it; empty if there is none.
    """

    tournament: Tournament
    state: str
    done: int
    seconds_left: float | None
    figures: dict[str, Any] | None
    message: str


class TournamentManager:
    """All tournaments of a database. Used by one thread.

    Args:
        store: the database.
    """

    def __init__(self, store: TableStore) -> None:
        self.kept = KeptTournaments(store)
        self._runs: dict[str, _Run] = {}
        self._figures: dict[str, dict[str, Any]] = {}
        self._messages: dict[str, str] = {}
        self._places = {True: asyncio.Semaphore(MOST_AT_ONCE), False: asyncio.Semaphore(_FIGURING)}
        #: Threads that read messages, one for each process.
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE + _FIGURING, "tournaments")

    def standing(self, name: str) -> TournamentState:
        """Return the state of a tournament.

        Raises:
            NoTournamentError: if it does not exist.
        """
        tournament, done, run = self.kept.load(name), self.kept.count(name), self._runs.get(name)
        state, left = "finished" if done == tournament.games else "stopped", None
        if run is not None and run.playing:
            state = "waiting" if run.began is None else "playing"
            if run.began is not None and done > run.before:
                each = (time.monotonic() - run.began) / (done - run.before)
                left = each * (tournament.games - done)
        return TournamentState(tournament, state, done, left, self._figures.get(name), self._messages.get(name, ""))

    def add(self, tournament: Tournament) -> None:
        """Save a new tournament and start it."""
        self.kept.add(tournament)
        self.resume(tournament.name)

    def resume(self, name: str) -> None:
        """Resume a tournament, now or when others have ended."""
        tournament, run = self.kept.load(name), self._runs.get(name)
        if run is not None and run.playing:
            return
        if self.kept.count(name) < tournament.games:
            self._begin(tournament, playing=True)

    def look(self, name: str) -> None:
        """Compute the statistics of a tournament unless they already cover all its games."""
        done = self.kept.count(name)
        known = done == (self._figures[name]["games"] if name in self._figures else 0)
        if not known and name not in self._runs and name not in self._messages:
            self._begin(self.kept.load(name), playing=False)

    def _begin(self, tournament: Tournament, playing: bool) -> None:
        former = self._runs.pop(tournament.name, None)
        if former is not None and former.task is not None:
            former.task.cancel()
        self._messages.pop(tournament.name, None)
        run = _Run(playing, self.kept.count(tournament.name))
        self._runs[tournament.name] = run
        run.task = asyncio.create_task(self._run(tournament, run))

    async def _run(self, tournament: Tournament, run: _Run) -> None:
        name = tournament.name
        try:
            async with self._places[run.playing]:
                run.began = time.monotonic()
                await self._listen(tournament, run.playing)
        except (StoreError, OSError) as problem:
            self._messages[name] = f"it cannot go on: {problem}"
        finally:
            if self._runs.get(name) is run:
                del self._runs[name]

    async def _listen(self, tournament: Tournament, playing: bool) -> None:
        """Run a process until it ends, and save what it sends."""
        context = multiprocessing.get_context("spawn")
        line, theirs = context.Pipe(duplex=False)
        arguments = (theirs, tournament, self.kept.lines(tournament.name), playing)
        process = context.Process(target=work, args=arguments, daemon=True)
        loop = asyncio.get_running_loop()
        starting = loop.run_in_executor(self._threads, _start, process, theirs)
        try:
            await asyncio.shield(starting)
            while (message := await loop.run_in_executor(self._threads, _received, line)) is not None:
                self._heard(tournament.name, *message)
            await loop.run_in_executor(self._threads, process.join)
            if process.exitcode:
                self._messages[tournament.name] = f"it cannot go on: {exit_reason([process], began=True)}"
        finally:
            with suppress(Exception):
                await starting
            if process.pid is not None:
                process.kill()
                await loop.run_in_executor(self._threads, process.join)
            line.close()

    def _heard(self, name: str, kind: str, content: Any) -> None:
        if kind == "games":
            self.kept.write(name, content)
        elif kind == "figures":
            self._figures[name] = content
        else:
            self._messages[name] = f"it cannot go on: {content}"

    async def stop(self, name: str) -> None:
        """Stop a tournament; finished games are saved."""
        self.kept.check(name)
        await self._stop(name)

    async def _stop(self, name: str) -> None:
        run = self._runs.pop(name, None)
        if run is not None and run.task is not None:
            run.task.cancel()
            with suppress(asyncio.CancelledError):
                await run.task

    async def remove(self, name: str) -> None:
        """Stop a tournament and delete it with its games."""
        self.kept.check(name)
        while name in self._runs:  # a page may have started another run in the meantime
            await self._stop(name)
        self.kept.remove(name)
        self._figures.pop(name, None)
        self._messages.pop(name, None)

    async def close(self) -> None:
        """Stop all processes."""
        for name in list(self._runs):
            await self._stop(name)
        self._threads.shutdown(wait=False, cancel_futures=True)


def _start(process: Any, theirs: Connection) -> None:
    with block_interrupts():
        process.start()
    theirs.close()


def _received(line: Connection) -> tuple[str, Any] | None:
    """Return the next message of a process; None when it has ended."""
    try:
        message: tuple[str, Any] = line.recv()
    except (EOFError, OSError):
        return None
    return message

"""Local worker processes that play work units."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from multiprocessing.synchronize import Event
from typing import Any

from helsinki_env.agents.net.description import set_warning_handler
from helsinki_env.evaluation.arena.plan import ArenaError, Plan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames, play_work_unit, player_file_digests
from helsinki_env.utils.spawning import check_main, exit_reason
from helsinki_env.utils.stopping import block_interrupts

FinishedWorkUnits = Generator[tuple[WorkUnit, WorkUnitGames], None, None]
"""Work units with their games, in order of completion."""
#: Work units submitted to each worker: the current one and the next one.
WORK_UNITS_PER_WORKER = 2


class WorkUnitError(ArenaError):
    """A work unit that could not be played; names the work unit and the cause."""

    @classmethod
    def of(cls, plan: Plan, chunk: WorkUnit, problem: BaseException) -> WorkUnitError:
        """Return the error of a work unit whose player or game failed."""
        return cls(
            f"{plan.describe(chunk)}: {type(problem).__name__}: {problem}; finished work units are saved: run the same "
            "command again to resume"
        )


def limit_to_one_thread() -> None:
    """Restrict a worker process to one compute thread; there is one worker per CPU core."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


class _Workers:
    """Processes that play work units; they start with the first one."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._others = set(multiprocessing.active_children())
        self._started: set[multiprocessing.process.BaseProcess] = set()
        context = multiprocessing.get_context("spawn")  # fork would copy locked locks that no thread releases
        self._began = context.Event()
        self.pool = ProcessPoolExecutor(processes, context, initializer=_initialize, initargs=(self._began,))

    def submit(self, *arguments: Any) -> Future[WorkUnitGames]:
        with block_interrupts():
            future = self.pool.submit(play_work_unit, *arguments)
        self._started |= set(multiprocessing.active_children()) - self._others
        return future

    def exit_reason(self) -> str:
        """Return why the process pool is broken."""
        self.pool.shutdown(wait=True)
        return exit_reason(self._started, self._began.is_set())

    def end(self) -> None:
        """Shut down after the submitted work units have been played."""
        self.pool.shutdown(wait=True)

    def kill(self) -> None:
        """Terminate without waiting for the submitted work units."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        ours = set(multiprocessing.active_children()) - self._others
        for process in ours:
            process.terminate()
        for process in ours:
            process.join()


#: Idle workers for the next tournament, at most one entry; None outside of `reuse_workers`.
_IDLE: ContextVar[list[_Workers] | None] = ContextVar("_IDLE", default=None)


@contextmanager
def reuse_workers() -> Iterator[None]:
    """Reuse the worker processes of one tournament for the next one in the block, because they take seconds to start.

    Workers whose players are loaded from files still end with their tournament.
    """
    idle: list[_Workers] = []
    token = _IDLE.set(idle)
    try:
        yield
        while idle:
            idle.pop().end()
    finally:
        _IDLE.reset(token)
        while idle:
            idle.pop().kill()


def _get_workers(processes: int) -> _Workers:
    """Return idle workers if their number matches, else new ones."""
    idle = _IDLE.get() or []
    while idle:
        workers = idle.pop()
        if workers.processes == processes:
            return workers
        workers.end()
    return _Workers(processes)


def play_in_processes(plan: Plan, chunks: Iterable[WorkUnit], processes: int) -> FinishedWorkUnits:
    """Play work units in worker processes, which then end or stay idle (`reuse_workers`).

    Raise WorkUnitError if a player fails, and ArenaError if a process ends or none can be started from this script.
    """
    check_main(ArenaError)
    files = [player_file_digests(table) for table in plan.tables]
    workers = _get_workers(processes)
    remaining = iter(chunks)
    running: dict[Future[WorkUnitGames], WorkUnit] = {}
    done = False
    try:
        while True:
            for chunk in remaining:
                future = workers.submit(plan.tables[chunk.table], plan.seed, chunk, files[chunk.table])
                running[future] = chunk
                if len(running) >= WORK_UNITS_PER_WORKER * processes:
                    break
            if not running:
                break
            ended = wait(running, return_when=FIRST_COMPLETED).done
            for future in sorted(ended, key=lambda future: future.exception() is not None):  # results first
                chunk = running.pop(future)
                try:
                    games = future.result()
                except BrokenProcessPool:
                    raise
                except Exception as problem:
                    raise WorkUnitError.of(plan, chunk, problem) from problem
                yield chunk, games
        done = True
    except BrokenProcessPool:
        raise ArenaError(
            f"{workers.exit_reason()}. Finished work units are saved: run the same command again to resume"
        ) from None
    finally:
        if not done:
            workers.kill()
        elif (idle := _IDLE.get()) is not None and not any(files):  # files may change before the next tournament
            idle.append(workers)
        else:
            workers.end()


def _initialize(began: Event) -> None:
    """Initialize a worker process, and signal that it has started."""
    began.set()
    init_worker_process()


def init_worker_process() -> None:
    """Use one thread, ignore Ctrl-C, which the parent handles, and exit when the parent exits."""
    limit_to_one_thread()
    set_warning_handler(lambda text: None)  # the parent creates every player first, so it has already warned
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=partial(_exit_with, parent), daemon=True).start()


def _exit_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)

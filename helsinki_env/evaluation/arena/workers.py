"""Local worker processes that play chunks."""

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

__all__ = [
    "FinishedWorkUnits",
    "WorkUnitError",
    "init_worker_process",
    "limit_to_one_thread",
    "play_in_processes",
    "reuse_workers",
]

FinishedWorkUnits = Generator[tuple[WorkUnit, WorkUnitGames], None, None]
"""Chunks with their games, in order of completion."""
#: Chunks submitted ahead for each worker: one to play and one to continue with.
WORK_UNITS_PER_WORKER = 2


class WorkUnitError(ArenaError):
    """A chunk that could not be played; names the chunk and the cause."""

    @classmethod
    def of(cls, plan: Plan, chunk: WorkUnit, problem: BaseException) -> WorkUnitError:
        """Return the error of a chunk whose player or game failed."""
        return cls(
            f"{plan.describe(chunk)}: {type(problem).__name__}: {problem} (finished chunks are kept; start again with "
            "the same arguments to go on)"
        )


def limit_to_one_thread() -> None:
    """Restrict a worker to one compute thread: there are as many workers as CPU cores."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


class _Workers:
    """Processes that play chunks; they start with the first chunk."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._others = set(multiprocessing.active_children())
        self._started: set[multiprocessing.process.BaseProcess] = set()
        context = multiprocessing.get_context("spawn")  # fork would copy locked locks that no thread releases
        self._began = context.Event()
        self.pool = ProcessPoolExecutor(processes, context, initializer=_begin, initargs=(self._began,))

    def submit(self, *asked: Any) -> Future[WorkUnitGames]:
        """Submit a chunk."""
        with block_interrupts():
            future = self.pool.submit(play_work_unit, *asked)
        self._started |= set(multiprocessing.active_children()) - self._others
        return future

    def why_ended(self) -> str:
        """Return why the process pool is broken; see `helsinki_env.utils.spawning.exit_reason`."""
        self.pool.shutdown(wait=True)
        return exit_reason(self._started, self._began.is_set())

    def end(self) -> None:
        """Shut down after the submitted chunks have been played."""
        self.pool.shutdown(wait=True)

    def kill(self) -> None:
        """Terminate now: after an interruption, nothing will save the remaining chunks."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        ours = set(multiprocessing.active_children()) - self._others
        for process in ours:
            process.terminate()
        for process in ours:
            process.join()


#: Idle workers for the next tournament, at most one entry; None outside of `reuse_workers`.
_WAITING: ContextVar[list[_Workers] | None] = ContextVar("_WAITING", default=None)


@contextmanager
def reuse_workers() -> Iterator[None]:
    """Reuse the worker processes of one tournament for the next one in the block.

    A process takes seconds to start, which is as long as a small tournament. Workers whose players are loaded from
    files still end with their tournament.
    """
    waiting: list[_Workers] = []
    token = _WAITING.set(waiting)
    try:
        yield
        while waiting:
            waiting.pop().end()
    finally:
        _WAITING.reset(token)
        while waiting:
            waiting.pop().kill()


def _begun(processes: int) -> _Workers:
    """Return workers: idle ones if their number matches, else new ones."""
    waiting = _WAITING.get() or []
    while waiting:
        workers = waiting.pop()
        if workers.processes == processes:
            return workers
        workers.end()
    return _Workers(processes)


def play_in_processes(plan: Plan, chunks: Iterable[WorkUnit], processes: int) -> FinishedWorkUnits:
    """Play chunks in worker processes, which then end or stay idle (`reuse_workers`).

    Args:
        plan: the tournament.
        chunks: the chunks to play.
        processes: number of processes; the results do not depend on it.

    Yields:
        The chunks with their games, in order of completion.

    Raises:
        ChunkError: if a player fails.
        ArenaError: if a process dies, or none can be started from this script.
    """
    check_main(ArenaError)
    files = [player_file_digests(table) for table in plan.tables]
    workers = _begun(processes)
    waiting = iter(chunks)
    running: dict[Future[WorkUnitGames], WorkUnit] = {}
    done = False
    try:
        while True:
            for chunk in waiting:
                asked = plan.tables[chunk.table], plan.seed, chunk, files[chunk.table]
                running[workers.submit(*asked)] = chunk
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
            f"{workers.why_ended()}. Finished work units are saved: run the same command again to resume"
        ) from None
    finally:
        if not done:
            workers.kill()
        elif (kept := _WAITING.get()) is not None and not any(files):  # files may change before the next tournament
            kept.append(workers)
        else:
            workers.end()


def _begin(began: Event) -> None:
    """Initialize a worker process, and signal that it has started."""
    began.set()
    init_worker_process()


def init_worker_process() -> None:
    """Initialize a process: one thread, ignore Ctrl-C, which the parent handles, and exit when the parent exits."""
    limit_to_one_thread()
    set_warning_handler(lambda text: None)  # the parent creates every player first, so it has already warned
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=partial(_follow, parent), daemon=True).start()


def _follow(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)

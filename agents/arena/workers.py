"""Processes of this machine that play chunks."""

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

from agents.arena.chunk import ChunkGames, files_of, play_chunk
from agents.arena.plan import ArenaError, Chunk, Plan
from helsinki_env.stopping import interrupts_held

__all__ = ["ChunkError", "Finished", "begin", "in_processes", "one_thread", "processors", "workers_kept"]

Finished = Generator[tuple[Chunk, ChunkGames], None, None]
"""Chunks with their games, in the order in which they are done."""
#: Chunks that are handed out at a time, for each worker: one to play and one to go on with.
AHEAD = 2


class ChunkError(ArenaError):
    """A chunk that could not be played; names it and says what went wrong."""

    @classmethod
    def of(cls, plan: Plan, chunk: Chunk, problem: BaseException) -> ChunkError:
        """Return the error of a chunk whose player or game went wrong."""
        return cls(
            f"{plan.describe(chunk)}: {type(problem).__name__}: {problem} (finished chunks are kept; start again with "
            "the same arguments to go on)"
        )


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def one_thread() -> None:
    """Let each worker compute with one thread: there are as many workers as processors."""
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


class _Workers:
    """Processes that play chunks; they begin when there are some."""

    def __init__(self, processes: int) -> None:
        self.processes = processes
        self._others = set(multiprocessing.active_children())
        context = multiprocessing.get_context("spawn")  # forked copies of threads' locks would never open
        self.pool = ProcessPoolExecutor(processes, context, initializer=begin)

    def end(self) -> None:
        """Let them end when they have played what was handed out."""
        self.pool.shutdown(wait=True)

    def kill(self) -> None:
        """End them now: somebody who breaks off does not want to wait for chunks that nobody will save."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        ours = set(multiprocessing.active_children()) - self._others
        for process in ours:
            process.terminate()
        for process in ours:
            process.join()


#: Workers that wait for the next tournament, at most one entry; None where nobody keeps any.
_WAITING: ContextVar[list[_Workers] | None] = ContextVar("_WAITING", default=None)


@contextmanager
def workers_kept() -> Iterator[None]:
    """Let the processes that play one tournament in the block play the next one there as well.

    A process takes seconds until it plays, which is as long as a small tournament. Those whose players are read from
    files end with it all the same.
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
    """Return so many workers, those that wait if there are as many."""
    waiting = _WAITING.get() or []
    while waiting:
        workers = waiting.pop()
        if workers.processes == processes:
            return workers
        workers.end()
    return _Workers(processes)


def in_processes(plan: Plan, chunks: Iterable[Chunk], processes: int) -> Finished:
    """Play chunks in processes of their own, which end then, or wait for more (`workers_kept`).

    Args:
        plan: what is played.
        chunks: which of it.
        processes: how many; the results do not depend on it.

    Yields:
        The chunks with their games, as they are done.

    Raises:
        ChunkError: if a player goes wrong.
        ArenaError: if a process dies.
    """
    files = [files_of(table) for table in plan.tables]
    workers = _begun(processes)
    waiting = iter(chunks)
    running: dict[Future[ChunkGames], Chunk] = {}
    done = False
    try:
        while True:
            for chunk in waiting:
                asked = plan.tables[chunk.table], plan.seed, chunk, files[chunk.table]
                with interrupts_held():
                    running[workers.pool.submit(play_chunk, *asked)] = chunk
                if len(running) >= AHEAD * processes:
                    break
            if not running:
                break
            ended = wait(running, return_when=FIRST_COMPLETED).done
            for future in sorted(ended, key=lambda future: future.exception() is not None):  # what is there, first
                chunk = running.pop(future)
                try:
                    games = future.result()
                except BrokenProcessPool:
                    raise
                except Exception as problem:
                    raise ChunkError.of(plan, chunk, problem) from problem
                yield chunk, games
        done = True
    except BrokenProcessPool:
        raise ArenaError(
            "a process died, out of memory perhaps (try fewer --processes; finished chunks are kept: start again with "
            "the same arguments to go on)"
        ) from None
    finally:
        if not done:
            workers.kill()
        elif (kept := _WAITING.get()) is not None and not any(files):  # files may be others by the next tournament
            kept.append(workers)
        else:
            workers.end()


def begin() -> None:
    """Set a new process up: one thread, deaf to Ctrl-C, which is for the parent, and gone when that is gone."""
    one_thread()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=partial(_follow, parent), daemon=True).start()


def _follow(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)

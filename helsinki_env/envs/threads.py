"""Thread pool for kernels, which run in parallel because they release the GIL and games share no data."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from helsinki_env.data import as_integer, short_repr
from helsinki_env.engine.atomics import APART, spin_until
from helsinki_env.engine.kernel import JIT
from helsinki_env.utils.machine import cpu_count

#: Number of spins before a waiting thread sleeps, about half a millisecond. Waking a thread takes almost a tenth of a
#: millisecond, usually longer than the time between two steps of a batch.
_PATIENCE = 30_000


class _Team:
    """Helper threads that run the same function as the calling thread, once per call.

    Locks synchronize the threads. A thread spins for a while before it blocks on a lock, because waking up is slow.
    """

    def __init__(self, helpers: int, patience: int) -> None:
        self.work: Callable[[int], Any] | None = None
        self.problems: list[BaseException] = []
        self.over = False
        self.interrupted = False  # during a call; afterwards, True means that helpers may still be working
        self._patience = patience
        self._rounds = 0
        self._round_of = np.zeros(APART * (1 + helpers), np.int64)
        self._begin = [threading.Lock() for _ in range(helpers)]
        self._done = [threading.Lock() for _ in range(helpers)]
        for lock in (*self._begin, *self._done):
            lock.acquire()
        self._threads = [
            threading.Thread(target=self._serve, args=(own,), name=f"games-{own}", daemon=True)
            for own in range(1, helpers + 1)
        ]
        for thread in self._threads:
            thread.start()

    def _serve(self, own: int) -> None:
        rounds = 0
        while not self.over:
            rounds += 1
            spin_until(self._round_of, 0, rounds, self._patience)
            self._begin[own - 1].acquire()
            if self.over or self.work is None:
                return
            try:
                self.work(own)
            except BaseException as problem:
                self.problems.append(problem)
            self._done[own - 1].release()
            self._round_of[APART * own] = rounds

    def _start_round(self) -> None:
        self._rounds += 1
        for lock in self._begin:
            lock.release()
        self._round_of[0] = self._rounds

    def run(self, work: Callable[[int], Any]) -> None:
        """Call `work` in every thread with its number (0 for the calling thread); at the end, raise the first error."""
        self.work = work
        self.interrupted = True
        self._start_round()
        try:
            work(0)
        except BaseException as problem:
            self.problems.insert(0, problem)
        for own, lock in enumerate(self._done, start=1):
            spin_until(self._round_of, APART * own, self._rounds, self._patience)
            lock.acquire()
        self.interrupted = False
        self.work = None  # drop the references to its arrays, because the buffer pool counts references
        problems, self.problems = self.problems, []
        if problems:
            raise problems[0]

    def end(self, process: int) -> None:
        """End the threads, unless this process is a fork of the process that started them."""
        if os.getpid() == process:
            self.over = True
            self._start_round()
            for thread in self._threads:
                thread.join()


class ThreadPool:
    """Run a function in several threads, including the calling one; None means one thread per available CPU core."""

    def __init__(self, threads: int | None = 1, name: str = "num_threads") -> None:
        if threads is None:
            threads = cpu_count()
        self.threads = as_integer(threads) or 0
        if self.threads < 1:
            raise ValueError(f"{name}: found {short_repr(threads)}, expected a whole number of at least 1, or None")
        self._team: _Team | None = None
        self._process = 0

    def each(self, work: Callable[[int], Any]) -> None:
        """Call `work` in every thread with its number (0 for the calling thread); at the end, raise the first error.

        The threads divide the work among themselves. If compilation is disabled, only the calling thread works, because
        interpreted kernels hold the GIL.
        """
        if self.threads == 1 or not JIT:
            work(0)
            return
        if self._team is None or self._process != os.getpid():  # helper threads do not survive a fork
            self._process = os.getpid()
            # Spinning only helps if each thread has its own CPU core.
            self._team = _Team(self.threads - 1, _PATIENCE if self.threads <= cpu_count() else 1)
            self._end = weakref.finalize(self, self._team.end, self._process)
        try:
            self._team.run(work)
        finally:
            if self._team.interrupted:  # its threads are still working
                self._team.over = True  # each ends after its work
                self._team = None

    def run(self, function: Callable[[int, int], Any], size: int) -> None:
        """Call `function(begin, end)` for slices that cover `range(size)`, one per thread."""
        if size < 2 * self.threads or not JIT:
            function(0, size)
            return
        edges = [size * i // self.threads for i in range(self.threads + 1)]
        self.each(lambda own: function(edges[own], edges[own + 1]))

    def close(self) -> None:
        """End the threads."""
        if self._team is not None and self._process == os.getpid():
            self._end()
        self._team = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Support copying and pickling; each copy starts its own threads."""
        return ThreadPool, (self.threads,)

"""Splits a batch over threads: kernels hold no lock of Python and games share nothing, so slices run side by side."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

from helsinki_env.engine.kernel import JIT

#: A slice is cut into so many pieces at most, of so many games at least.
_PIECES, _GAMES = 8, 128


class Slices:
    """Runs a function over the slices of a batch, the first in the calling thread.

    Slices of many games are cut into pieces: a thread that is done with its own takes those that others have left, so
    nobody waits for one that woke late or was held up.

    Args:
        threads: how many slices; None: one for each processor that this process may use.
    """

    def __init__(self, threads: int | None = 1) -> None:
        if threads is None:
            threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise ValueError(f"num_threads: found {threads!r}, expected a whole number of at least 1, or None")
        self.threads = threads
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def run(self, function: Callable[[int, int], Any], size: int) -> None:
        """Call `function(begin, end)` for pieces that cover `range(size)`, for no fewer of them than threads."""
        if self.threads == 1 or size < 2 * self.threads or not JIT:  # interpreted kernels gain nothing by it
            function(0, size)
            return
        if self._pool is None or self._process != os.getpid():  # threads stay behind where a process forks
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="helsinki")
            self._process = os.getpid()
        pieces = max(1, min(_PIECES, size // (self.threads * _GAMES)))
        edges = [size * i // (self.threads * pieces) for i in range(self.threads * pieces + 1)]
        slices = [deque(pairwise(edges[i : i + pieces + 1])) for i in range(0, len(edges) - 1, pieces)]

        def work(own: int) -> None:
            for i in range(self.threads):
                left = slices[(own + i) % self.threads]
                take = left.pop if i else left.popleft  # who helps begins where the other ends
                while left:
                    try:
                        begin, end = take()
                    except IndexError:  # the other was faster
                        break
                    function(begin, end)

        waiting = [self._pool.submit(work, own) for own in range(1, self.threads)]
        work(0)
        for future in waiting:
            future.result()

    def close(self) -> None:
        """Let the threads end."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.shutdown()
        self._pool = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles get threads of their own."""
        return Slices, (self.threads,)

"""A Ray cluster that plays chunks: many machines, of which some may go away on the way.

Every machine needs the same version of this package and of the packages that bring its players.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from agents.arena.chunk import ChunkGames, files_of, play_chunk
from agents.arena.plan import ArenaError, Chunk, Plan, TablePlan
from agents.arena.workers import AHEAD, ChunkError, Finished, one_thread
from helsinki_env.extras import needs
from helsinki_env.machine import processors

__all__ = ["on_ray"]

#: How often Ray plays a chunk again when its worker dies, and how often it is then handed out anew.
_RETRIES = 3
_AGAIN = 3


def on_ray(plan: Plan, chunks: Iterable[Chunk], address: str | None = None, processes: int | None = None) -> Finished:
    """Play chunks on a Ray cluster.

    Args:
        plan: what is played.
        chunks: which of it.
        address: of the cluster, such as ``"10.0.0.1:6379"`` or ``"auto"``; None: the one this process is connected to,
            or else a new one on this machine alone.
        processes: how many workers a new one has; None: one for each processor.

    Yields:
        The chunks with their games, as they are done.

    Raises:
        ArenaError: if there is no cluster, or a chunk's workers die again and again.
        MissingExtraError: if there is no Ray.
        ChunkError: if a player goes wrong.
    """
    ray = _imported(address)
    with _connected(ray, address, processes):
        play = ray.remote(num_cpus=1, max_retries=_RETRIES)(_play)
        tables, files = ray.put(plan.tables), [files_of(table) for table in plan.tables]
        waiting = iter(chunks)
        running: dict[Any, Chunk] = {}
        lost: Counter[Chunk] = Counter()
        while True:
            workers = max(1, int(ray.cluster_resources().get("CPU", 1)))  # machines come and go
            while len(running) < AHEAD * workers and (chunk := next(waiting, None)) is not None:
                running[play.remote(tables, plan.seed, chunk, files[chunk.table])] = chunk
            if not running:
                return
            ended, _ = ray.wait(list(running))
            chunk = running.pop(ended[0])
            try:
                games = ray.get(ended[0])
            except ray.exceptions.RayTaskError as problem:
                raise ChunkError.of(plan, chunk, problem.cause) from None
            except ray.exceptions.RayError as problem:  # the worker or its machine has gone
                lost[chunk] += 1
                if lost[chunk] > _AGAIN:
                    raise ChunkError.of(plan, chunk, problem) from None
                running[play.remote(tables, plan.seed, chunk, files[chunk.table])] = chunk
            else:
                yield chunk, games


def _play(tables: tuple[TablePlan, ...], seed: int, chunk: Chunk, files: dict[str, str]) -> ChunkGames:
    """Play a chunk on a worker."""
    one_thread()
    return play_chunk(tables[chunk.table], seed, chunk, files)


def _imported(address: str | None) -> Any:
    """Return Ray, made ready for a cluster at an address, or for one of this machine alone.

    Raises:
        ArenaError: if nobody is at the address.
        MissingExtraError: if it is not installed.
    """
    if address is None:
        # Without this at its import Ray replaces a loopback address by one that others can reach.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    else:
        _knock(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault(
        "RAY_TQDM_PATCH_PRINT", "0"
    )  # it would replace Python's `print`, which kernels could not call
    with needs("ray"):
        return import_module("ray")


def _knock(address: str) -> None:
    """Raise an error if nobody is at an address: Ray would try for a quarter of an hour."""
    host, colon, port = address.rpartition("//")[2].rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as problem:
            raise ArenaError(f"--ray: found no cluster at {address}: {problem}") from None


@contextmanager
def _connected(ray: Any, address: str | None, processes: int | None) -> Iterator[None]:
    """Connect to a cluster while the block runs, unless this process is connected already."""
    if ray.is_initialized() and address is None:
        yield
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            # Without this word Ray would join whatever cluster there is on this machine, or that RAY_ADDRESS names.
            ray.init(
                "local",
                num_cpus=processes or processors(),
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
        else:
            ray.init(address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as problem:
        raise ArenaError(f"--ray: found no cluster at {address or 'this machine'}: {problem}") from None
    finally:
        # Ray takes the signal over, for good, in the main thread; what is done about it is for our caller to say.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        ray.shutdown()

"""Play work units on a Ray cluster of several machines, some of which may leave during the run.

Every machine needs the same version of this package and of the packages that provide its players.
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

from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, Plan, WorkUnit
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames, play_work_unit, player_file_digests
from helsinki_env.evaluation.arena.workers import (
    WORK_UNITS_PER_WORKER,
    FinishedWorkUnits,
    WorkUnitError,
    limit_to_one_thread,
)
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count

#: How often Ray retries a work unit after its worker died, and how often it is then submitted again.
_RETRIES = 3
_RESUBMISSIONS = 3


def play_on_ray(
    plan: Plan, chunks: Iterable[WorkUnit], address: str | None = None, processes: int | None = None
) -> FinishedWorkUnits:
    """Play work units on a Ray cluster.

    `address` is, for example, ``"10.0.0.1:6379"`` or ``"auto"``; None: the cluster that this process is connected to,
    or else a new one on this machine with a number of `processes`.

    Raise ArenaError without a cluster, WorkUnitError if a player fails or workers die repeatedly.
    """
    ray = _import_ray(address)
    with _connected(ray, address, processes):
        play = ray.remote(num_cpus=1, max_retries=_RETRIES)(_play)
        tables, files = ray.put(plan.tables), [player_file_digests(table) for table in plan.tables]
        remaining = iter(chunks)
        running: dict[Any, WorkUnit] = {}
        lost: Counter[WorkUnit] = Counter()
        while True:
            workers = max(1, int(ray.cluster_resources().get("CPU", 1)))  # machines join and leave
            while len(running) < WORK_UNITS_PER_WORKER * workers and (chunk := next(remaining, None)) is not None:
                running[play.remote(tables, plan.seed, chunk, files[chunk.table])] = chunk
            if not running:
                return
            ended, _ = ray.wait(list(running))
            chunk = running.pop(ended[0])
            try:
                games = ray.get(ended[0])
            except ray.exceptions.RayTaskError as problem:
                raise WorkUnitError.of(plan, chunk, problem.cause) from None
            except ray.exceptions.RayError as problem:  # the worker or its machine was lost
                lost[chunk] += 1
                if lost[chunk] > _RESUBMISSIONS:
                    raise WorkUnitError.of(plan, chunk, problem) from None
                running[play.remote(tables, plan.seed, chunk, files[chunk.table])] = chunk
            else:
                yield chunk, games


def _play(tables: tuple[MatchupPlan, ...], seed: int, chunk: WorkUnit, files: dict[str, str]) -> WorkUnitGames:
    """Play a work unit on a worker."""
    limit_to_one_thread()
    return play_work_unit(tables[chunk.table], seed, chunk, files)


def _import_ray(address: str | None) -> Any:
    """Return Ray, configured for a cluster at an address or for a local one; ArenaError if nothing answers there."""
    if address is None:
        # Set before the import: Ray otherwise replaces a loopback address by one reachable from other machines.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    else:
        _check_address(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")  # kernels cannot call Ray's replacement of `print`
    with requires_extra("ray"):
        return import_module("ray")


def _check_address(address: str) -> None:
    """Raise ArenaError if nothing answers at an address: Ray would retry for a quarter of an hour."""
    host, colon, port = address.rpartition("//")[2].rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as problem:
            raise ArenaError(f"--ray: found no cluster at {address}: {problem}") from None


@contextmanager
def _connected(ray: Any, address: str | None, processes: int | None) -> Iterator[None]:
    """Connect to a cluster for the duration of the block, unless this process is already connected."""
    if ray.is_initialized() and address is None:
        yield
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            # Without this value Ray would join any cluster on this machine, or the one in RAY_ADDRESS.
            ray.init(
                "local",
                num_cpus=processes or cpu_count(),
                include_dashboard=False,
                _node_ip_address="127.0.0.1",
                **quiet,
            )
        else:
            ray.init(address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as problem:
        raise ArenaError(f"--ray: found no cluster at {address or 'this machine'}: {problem}") from None
    finally:
        # Ray permanently replaces the signal handler in the main thread; the caller decides how to handle the signal.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        ray.shutdown()

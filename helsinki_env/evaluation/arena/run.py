"""Run a tournament: play the missing games of a plan, save them, and join all games into one file.

Work units are played by processes on this machine, or on a Ray cluster whose machines may leave during the run. Every
machine needs the same version of this package and of the packages that provide its players.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Literal, TypeVar

from helsinki_env.agents.llm.usage import BUDGET_FOLDER, shared_budget
from helsinki_env.agents.net.description import set_warning_handler
from helsinki_env.agents.registry import make_player
from helsinki_env.data import Node
from helsinki_env.evaluation.arena.plan import ArenaError, MatchupPlan, Plan, WorkUnit
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.arena.work_unit import WorkUnitGames, play_work_unit, player_file_digests
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.spawning import check_main, exit_reason
from helsinki_env.utils.stopping import block_interrupts

__all__ = ["run_arena"]

FinishedWorkUnits = Generator[tuple[WorkUnit, WorkUnitGames], None, None]
"""Generator of work units and their games, in order of completion."""
T = TypeVar("T")
K = TypeVar("K")
#: Number of jobs submitted per worker: the current job and the next one.
_JOBS_PER_WORKER = 2


class WorkUnitError(ArenaError):
    """Failed work unit. The message names the work unit and the cause."""

    @classmethod
    def of(cls, plan: Plan, unit: WorkUnit, problem: BaseException) -> WorkUnitError:
        """Return the error for a work unit in which a player or a game failed."""
        return cls(
            f"{plan.describe(unit)}: {type(problem).__name__}: {problem}; finished work units are saved: run the same "
            "command again to resume"
        )


_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
"""Environment variables of processes with one compute thread."""


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Restrict processes that are started in the block to one compute thread. NumPy reads the variables on import."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(_THREADS)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def limit_to_one_thread() -> None:
    """Restrict a worker process to one compute thread, since there is one worker per CPU core."""
    os.environ.update(_THREADS)
    if (torch := sys.modules.get("torch")) is not None:
        torch.set_num_threads(1)


class Workers:
    """A pool of worker processes, which start with the first job."""

    def __init__(self, processes: int) -> None:
        self.processes, self.budget_folder = processes, os.environ.get(BUDGET_FOLDER)
        self._started: set[multiprocessing.process.BaseProcess] = set()
        context = multiprocessing.get_context("spawn")  # fork would copy held locks that are never released
        self._began = context.Event()
        self.pool = ProcessPoolExecutor(processes, context, initializer=_initialize, initargs=(self._began,))

    def run(self, function: Callable[..., T], jobs: Iterable[tuple[K, Any]]) -> Iterator[tuple[K, Future[T]]]:
        """Call a function for each job, (key, arguments), and yield (key, future) pairs in order of completion."""
        remaining = iter(jobs)
        running: dict[Future[T], K] = {}
        while True:
            for key, arguments in remaining:
                with block_interrupts(), _one_thread_each():
                    running[self.pool.submit(function, *arguments)] = key
                self._started |= set((self.pool._processes or {}).values())
                if len(running) >= _JOBS_PER_WORKER * self.processes:
                    break
            if not running:
                return
            ended = wait(running, return_when=FIRST_COMPLETED).done
            for future in sorted(ended, key=lambda future: future.exception() is not None):  # successful jobs first
                yield running.pop(future), future

    def exit_reason(self) -> str:
        """Return the reason why the process pool is broken."""
        self.pool.shutdown(wait=True)
        return exit_reason(self._started, self._began.is_set())

    def end(self) -> None:
        """Shut down after all submitted jobs have finished."""
        self.pool.shutdown(wait=True)

    def kill(self) -> None:
        """Terminate the workers without waiting for submitted jobs."""
        self.pool.shutdown(wait=False, cancel_futures=True)
        for process in self._started:
            process.terminate()
        for process in self._started:
            process.join()


#: Idle workers for the next tournament, with at most one entry, or None outside `reuse_workers`.
_IDLE: ContextVar[list[Workers] | None] = ContextVar("_IDLE", default=None)


@contextmanager
def reuse_workers() -> Iterator[None]:
    """Reuse worker processes for all tournaments in the block.

    After a tournament with players that are loaded from files, new processes are started.
    """
    idle: list[Workers] = []
    token = _IDLE.set(idle)
    try:
        yield
        while idle:
            idle.pop().end()
    finally:
        _IDLE.reset(token)
        while idle:
            idle.pop().kill()


def _get_workers(processes: int) -> Workers:
    """Return the idle workers if their number and language-model budget match, otherwise new workers."""
    idle = _IDLE.get() or []
    while idle:
        workers = idle.pop()
        if (workers.processes, workers.budget_folder) == (processes, os.environ.get(BUDGET_FOLDER)):
            return workers
        workers.end()
    return Workers(processes)


def run_in_processes(
    function: Callable[..., T],
    jobs: Iterable[tuple[K, Any]],
    processes: int,
    saved: str = "work units",
    *,
    reusable: bool = False,
) -> Generator[tuple[K, Future[T]]]:
    """Call a function in worker processes for each job, as `Workers.run` does.

    The processes then end, or become idle if they are `reusable` (see `reuse_workers`). `saved` names, in an error
    message, what the caller saves after each job.

    Raises ArenaError if a process dies, or the main script cannot start processes.
    """
    check_main(ArenaError)
    workers, done = _get_workers(processes), False
    try:
        for key, future in workers.run(function, jobs):
            if isinstance(problem := future.exception(), BrokenProcessPool):
                raise problem
            yield key, future
        done = True
    except BrokenProcessPool:
        raise ArenaError(
            f"{workers.exit_reason()}. Finished {saved} are saved: run the same command again to resume"
        ) from None
    finally:
        if not done:
            workers.kill()
        elif (idle := _IDLE.get()) is not None and reusable:
            idle.append(workers)
        else:
            workers.end()


def play_in_processes(plan: Plan, units: Iterable[WorkUnit], processes: int) -> FinishedWorkUnits:
    """Play work units in worker processes, which then end or become idle (see `reuse_workers`).

    Raises:
        WorkUnitError: if a player or a game fails.
        ArenaError: if a process dies, or the main script cannot start processes.
    """
    files = [player_file_digests(matchup) for matchup in plan.matchups]
    jobs = ((unit, (plan.matchups[unit.matchup], plan.seed, unit, files[unit.matchup])) for unit in units)
    reusable = not any(files)  # files may change before the next tournament
    with closing(run_in_processes(play_work_unit, jobs, processes, reusable=reusable)) as finished:
        for unit, future in finished:
            try:
                games = future.result()
            except Exception as problem:
                raise WorkUnitError.of(plan, unit, problem) from problem
            yield unit, games


def _initialize(began: Event) -> None:
    """Signal that a worker process has started, then initialize it."""
    began.set()
    init_worker_process()


def init_worker_process() -> None:
    """Initialize a worker process: use one thread, ignore warnings and Ctrl-C, and exit when the parent exits."""
    limit_to_one_thread()
    set_warning_handler(lambda text: None)  # the parent has created every player and shown its warnings
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=partial(_exit_with, parent), daemon=True).start()


def _exit_with(parent: multiprocessing.process.BaseProcess) -> None:
    parent.join()
    os._exit(1)


#: Number of times Ray retries a work unit whose worker died, and number of times it is then submitted again.
_RETRIES = 3
_RESUBMISSIONS = 3


def play_on_ray(
    plan: Plan, units: Iterable[WorkUnit], address: str | None = None, processes: int | None = None
) -> FinishedWorkUnits:
    """Play work units on a Ray cluster.

    `address` is, for example, ``"10.0.0.1:6379"`` or ``"auto"``. None selects the cluster to which this process is
    connected. If there is none, a new cluster with `processes` workers is started on this machine.

    Raises:
        ArenaError: if no cluster is found.
        WorkUnitError: if a player or a game fails, or workers die repeatedly.
    """
    ray = _import_ray(address)
    with _connected(ray, address, processes):
        play = ray.remote(num_cpus=1, max_retries=_RETRIES)(_play)
        matchups, files = ray.put(plan.matchups), [player_file_digests(matchup) for matchup in plan.matchups]
        remaining = iter(units)
        running: dict[Any, WorkUnit] = {}
        lost: Counter[WorkUnit] = Counter()
        try:
            while True:
                workers = max(1, int(ray.cluster_resources().get("CPU", 1)))  # machines may join and leave
                while len(running) < _JOBS_PER_WORKER * workers and (unit := next(remaining, None)) is not None:
                    running[play.remote(matchups, plan.seed, unit, files[unit.matchup])] = unit
                if not running:
                    return
                ended, _ = ray.wait(list(running))
                unit = running.pop(ended[0])
                try:
                    games = ray.get(ended[0])
                except ray.exceptions.RayTaskError as problem:
                    raise WorkUnitError.of(plan, unit, problem.cause) from None
                except ray.exceptions.RayError as problem:  # the worker or its machine is gone
                    lost[unit] += 1
                    if lost[unit] > _RESUBMISSIONS:
                        raise WorkUnitError.of(plan, unit, problem) from None
                    running[play.remote(matchups, plan.seed, unit, files[unit.matchup])] = unit
                else:
                    yield unit, games
        finally:  # after an error or an interruption, the cluster may remain
            for task in running:
                ray.cancel(task, force=True)


def _play(matchups: tuple[MatchupPlan, ...], seed: int, unit: WorkUnit, files: dict[str, str]) -> WorkUnitGames:
    """Play a work unit on a worker."""
    limit_to_one_thread()
    return play_work_unit(matchups[unit.matchup], seed, unit, files)


def _import_ray(address: str | None) -> Any:
    """Import Ray, configured for a cluster at an address or on this machine.

    Raises ArenaError if nothing answers at the address.
    """
    if address is None:
        # Must be set before the import. Otherwise Ray replaces a loopback address with one that other machines can
        # reach.
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    else:
        _check_address(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_TQDM_PATCH_PRINT", "0")  # kernels cannot call Ray's replacement for `print`
    with requires_extra("ray"):
        return import_module("ray")


def _check_address(address: str) -> None:
    """Raise ArenaError if nothing answers at an address. Ray would retry for a quarter of an hour."""
    host, colon, port = address.rpartition("//")[2].rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=10).close()
        except OSError as problem:
            raise ArenaError(f"--ray: found no cluster at {address}: {problem}") from None


@contextmanager
def _connected(ray: Any, address: str | None, processes: int | None) -> Iterator[None]:
    """Connect to a cluster for the duration of the block, unless this process is already connected to one."""
    if ray.is_initialized() and address is None:
        yield
        return
    quiet = {"log_to_driver": False, "logging_level": logging.ERROR}
    handler = signal.getsignal(signal.SIGTERM)
    try:
        if address is None:
            # Without "local", Ray would join any cluster on this machine, or the one in RAY_ADDRESS.
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
        # Restore the signal handler in the main thread, which Ray replaces permanently.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, handler)
    try:
        yield
    finally:
        ray.shutdown()


def run_arena(
    plan: Plan,
    path: str | Path,
    *,
    processes: int | None = None,
    ray: bool = False,
    address: str | None = None,
    form: Literal["parquet", "jsonl"] = "parquet",
    resumed: Callable[[int], None] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Path:
    """Play the missing games of a tournament and return the path of the file with all games.

    The games depend only on the plan, not on the number of processes or interruptions. Those of networks also depend on
    the type of CPU, because CPUs round sums differently.

    Args:
        plan: the tournament.
        path: folder of the run. An existing run of the same plan, possibly with fewer games, is resumed.
        processes: number of worker processes, or None for one per CPU core.
        ray: whether to play on a Ray cluster instead of local processes.
        address: address of the cluster, see `play_on_ray`.
        form: format of the file: "parquet", or "jsonl" for records that ``helsinki replay`` can read.
        resumed: function called once with the number of games that were already saved.
        progress: function called with the number of games saved since the last call.

    Raises:
        ArenaError: if the folder holds another run, or if playing fails. A failed run can be resumed.
        PlayerError: if a player cannot be created.
        MissingExtraError: if PyArrow (for Parquet) or Ray is not installed.
        OSError: if the folder is not writable.
    """
    if not ray:
        check_main(ArenaError)
    processes = cpu_count() if processes is None and not ray else processes
    if processes is not None:
        Node(processes, ArenaError, "processes").integer(1)
    # Fail early: create every player and import the writer before the first game.
    if form == "parquet":
        import_module("helsinki_env.evaluation.arena.parquet")
    for matchup in plan.matchups:
        for player in matchup.players:
            make_player(player, matchup.config)
    names = [player for matchup in plan.matchups for player in matchup.players]
    with shared_budget(names), RunFolder.create(Path(path), plan) as folder:
        missing = folder.missing()
        if resumed is not None:
            resumed(plan.games - plan.games_of(missing))
        if missing:
            played = (
                play_on_ray(plan, missing, address, processes)
                if ray
                else play_in_processes(plan, missing, processes or 1)
            )
            with closing(played):
                for unit, games in played:
                    folder.save(unit, games)
                    if progress is not None:
                        progress(plan.games_of([unit]))
        return folder.join(form)

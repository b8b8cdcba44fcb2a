"""Run a tournament: play the missing games of a plan, save them, and join all games in one file."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Literal

from helsinki_env.agents.registry import make_player
from helsinki_env.data import Node
from helsinki_env.evaluation.arena.cluster import play_on_ray
from helsinki_env.evaluation.arena.plan import ArenaError, Plan
from helsinki_env.evaluation.arena.store import RunFolder
from helsinki_env.evaluation.arena.workers import play_in_processes
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.spawning import check_main

__all__ = ["run_arena"]


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
    """Play a tournament, or its missing games, and return the path of the file with all games.

    The games depend only on the plan, not on processes, machines or interruptions.

    Args:
        plan: the tournament.
        path: folder of the run; a run of the same plan, or of the same plan with fewer games, is resumed.
        processes: number of worker processes; None: one per CPU core.
        ray: play on a Ray cluster instead of local processes.
        address: address of the cluster, see `helsinki_env.evaluation.arena.cluster.play_on_ray`.
        form: "parquet", or "jsonl" for records that ``helsinki replay`` reads.
        resumed: called once with the number of games that were already saved.
        progress: called with the number of games saved since the last call.

    Raises:
        ArenaError: if the folder holds another run, or after a failure from which the run can be resumed.
        PlayerError: if a player cannot be created.
        MissingExtraError: if PyArrow (for Parquet) or Ray is required and not installed.
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
    for table in plan.tables:
        for player in table.players:
            make_player(player, table.config)
    with RunFolder.create(Path(path), plan) as folder:
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
                for chunk, games in played:
                    folder.save(chunk, games)
                    if progress is not None:
                        progress(plan.games_of([chunk]))
        return folder.join(form)

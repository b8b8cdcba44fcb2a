"""A tournament from its plan to the file with all games: what is missing is played, saved and joined."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from pathlib import Path
from typing import Literal

from agents.arena.cluster import on_ray
from agents.arena.plan import ArenaError, Plan
from agents.arena.store import RunFolder
from agents.arena.workers import in_processes
from agents.registry import make_player
from helsinki_env.data import Entry
from helsinki_env.machine import processors
from helsinki_env.spawning import check_main

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
    """Play a tournament, or what is missing of it, and return the path of the file with all games.

    The games depend on the plan alone: not on processes, machines, or on how often the run was stopped.

    Args:
        plan: what is played.
        path: folder of the run; if there is one with the same plan, or the same with fewer games, it goes on.
        processes: how many play side by side; None: one for each processor.
        ray: play on a Ray cluster instead of processes.
        address: of that cluster, see `agents.arena.cluster.on_ray`.
        form: "parquet", or "jsonl" for records that ``helsinki replay`` reads.
        resumed: called once with the number of games that were there before.
        progress: called with the number of games that have been saved since the last call.

    Raises:
        ArenaError: if another run is in the folder, or something went wrong that starting again can go on from.
        PlayerError: if a player cannot be made.
        MissingExtraError: if nothing is there that writes Parquet, or there is no Ray.
        OSError: if the folder cannot be written.
    """
    if not ray:
        check_main(ArenaError)
    processes = processors() if processes is None and not ray else processes
    if processes is not None:
        Entry(processes, ArenaError, "processes").integer(1)
    # What cannot be made or written shall be known now, not in a worker or at the end, hours later.
    if form == "parquet":
        import_module("agents.arena.parquet")
    for table in plan.tables:
        for player in table.players:
            make_player(player, table.config)
    with RunFolder.create(Path(path), plan) as folder:
        missing = folder.missing()
        if resumed is not None:
            resumed(plan.games - plan.games_of(missing))
        if missing:
            played = on_ray(plan, missing, address, processes) if ray else in_processes(plan, missing, processes or 1)
            with closing(played):
                for chunk, games in played:
                    folder.save(chunk, games)
                    if progress is not None:
                        progress(plan.games_of([chunk]))
        return folder.join(form)

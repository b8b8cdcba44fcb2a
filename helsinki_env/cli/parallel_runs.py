"""Play tournaments in parallel processes, with progress output. A study plays one tournament per folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from helsinki_env.cli.progress import ProgressDisplay, saved_progress
from helsinki_env.data import UserError
from helsinki_env.utils.files import check_no_link
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.plan import Plan


@dataclass(frozen=True)
class WorkerOptions:
    """Options for the worker processes, shared by several commands."""

    processes: Annotated[int | None, tyro.conf.arg(metavar="INT", help_behavior_hint="")] = None
    """number of parallel processes; default: one per CPU core."""
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]", help_behavior_hint="")] = None
    """address of the Ray cluster that plays the games; without an address, a new cluster starts on this machine."""

    @property
    def extra(self) -> str:
        """Name of the extra that the processes need. Raises UserError if several addresses are given."""
        if self.ray is not None and len(self.ray) > 1:
            raise UserError(f"--ray: found {' '.join(self.ray)}, expected one address or none")
        return "stats" if self.ray is None else "ray"

    @property
    def arguments(self) -> dict[str, Any]:
        """Arguments of `helsinki_env.evaluation.arena.run.run_arena`."""
        address = self.ray[0] if self.ray else None
        return {"processes": self.processes, "ray": self.ray is not None, "address": address}


Workers = Annotated[WorkerOptions, tyro.conf.arg(name="")]
ALL_CORES = WorkerOptions()


def check_players(names: Iterable[str], config: Any = None) -> None:
    """Create every player once, so that an invalid name raises PlayerError before hours of games are played."""
    from helsinki_env.agents.registry import make_player

    for name in dict.fromkeys(names):
        make_player(name, config)


def play_tournament(
    plan: Plan,
    out: Path,
    workers: WorkerOptions,
    *,
    part: str = "",
    form: Literal["parquet", "jsonl"] = "parquet",
    folder: Path | None = None,
) -> tuple[Path, ProgressDisplay]:
    """Play the missing games of a tournament; return the games file and the final progress.

    Messages refer to `out`. If the run is only one `part` of `out`, `folder` is the folder of that part.
    """
    from helsinki_env.evaluation.arena.run import run_arena

    with saved_progress(plan.games, "games", out, part) as display:
        path = run_arena(
            plan,
            folder or out,
            **workers.arguments,
            form=form,
            resumed=display.resume,
            progress=display.advance,
        )
    return path, display


def tournament_runner(out: Path, workers: WorkerOptions) -> Callable[[str, Plan], None]:
    """Return a function that plays or resumes one tournament of a study in `out`, given its name and plan."""
    console = plain_console()

    def play(part: str, plan: Plan) -> None:
        console.print(f"{part}: {plan.games:,} games")
        check_no_link(out / part)
        play_tournament(plan, out, workers, part=part, folder=out / part)

    return play

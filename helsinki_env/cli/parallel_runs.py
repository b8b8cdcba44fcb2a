"""Run the tournaments of a study, one folder each, with progress output."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.data import UserError
from helsinki_env.utils.files import check_no_link
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.evaluation.arena.plan import Plan

__all__ = ["address_of", "check_players", "tournament_runner"]


def address_of(ray: tuple[str, ...] | None) -> str | None:
    """Return the address given to the option --ray, None without one.

    Raises:
        ValueError: if there are several.
    """
    if ray is not None and len(ray) > 1:
        raise UserError(f"--ray: found {' '.join(ray)}, expected one address or none")
    return ray[0] if ray else None


def check_players(names: Iterable[str], config: Any = None) -> None:
    """Create every player once, so that an invalid name fails before hours of games.

    Args:
        names: names of the players.
        config: game configuration; by default, that of the default game.

    Raises:
        PlayerError: if a player does not exist.
    """
    from helsinki_env.agents.registry import make_player

    for name in dict.fromkeys(names):
        make_player(name, config)


def tournament_runner(out: Path, processes: int | None, ray: tuple[str, ...] | None) -> Callable[[str, Plan], None]:
    """Return a function that plays or resumes a tournament, given its name and plan.

    Args:
        out: folder of all tournaments.
        processes: number of parallel processes; None: one per CPU core.
        ray: value of the option --ray; None if it was not given.
    """
    from helsinki_env.evaluation.arena.run import run_arena

    console, address = plain_console(), address_of(ray)

    def play(part: str, plan: Plan) -> None:
        def keep() -> str:
            done = f"{waiting.done:,} of {waiting.games:,} games of part {part}"
            return f"{done} are kept in {out}; go on with: {rerun_command_line()}"

        console.print(f"{part}: {plan.games:,} games", highlight=False)
        waiting = ProgressDisplay(plan.games)
        check_no_link(out / part)
        with save_on_interrupt(keep), waiting:
            run_arena(
                plan,
                out / part,
                processes=processes,
                ray=ray is not None,
                address=address,
                resumed=waiting.resume,
                progress=waiting.advance,
            )

    return play

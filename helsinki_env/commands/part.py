"""How commands play the parts of what they study: each a tournament in a folder of its own, in sight of who waits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helsinki_env.commands.waiting import Waiting
from helsinki_env.data import UserError
from helsinki_env.files import check_no_link
from helsinki_env.stopping import again, kept
from helsinki_env.terminal import plain_console

if TYPE_CHECKING:
    from agents.arena.plan import Plan

__all__ = ["address_of", "check_players", "playing_parts"]


def address_of(ray: tuple[str, ...] | None) -> str | None:
    """Return the address that follows the option --ray, None without one.

    Raises:
        ValueError: if there are more.
    """
    if ray is not None and len(ray) > 1:
        raise UserError(f"--ray: found {' '.join(ray)}, expected one address or none")
    return ray[0] if ray else None


def check_players(names: Iterable[str], config: Any = None) -> None:
    """Make every player once: a mistake in a name shall not come to light after hours of games.

    Args:
        names: of the players.
        config: what they play; default: the usual game.

    Raises:
        PlayerError: if there is no such player.
    """
    from agents.registry import make_player

    for name in dict.fromkeys(names):
        make_player(name, config)


def playing_parts(out: Path, processes: int | None, ray: tuple[str, ...] | None) -> Callable[[str, Plan], None]:
    """Return what plays a part, given its name and what is played, or goes on with it.

    Args:
        out: folder of all parts.
        processes: how many play side by side; None: one for each processor.
        ray: what follows the option --ray; None: it was not given.
    """
    from agents.arena.run import run_arena

    console, address = plain_console(), address_of(ray)

    def play(part: str, plan: Plan) -> None:
        def keep() -> str:
            done = f"{waiting.done:,} of {waiting.games:,} games of part {part}"
            return f"{done} are kept in {out}; go on with: {again()}"

        console.print(f"{part}: {plan.games:,} games", highlight=False)
        waiting = Waiting(plan.games)
        check_no_link(out / part)
        with kept(keep), waiting:
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

"""The ``helsinki compile`` command: precompile all kernels, for container images and a fast first start."""

from __future__ import annotations

import time

from helsinki_env.cli.options import read_list
from helsinki_env.cli.precompile import KERNEL_GROUPS, describe_group, group_name, precompile_groups
from helsinki_env.data import UserError, choices_text
from helsinki_env.engine import kernel
from helsinki_env.engine.spec import game_names, spec_by_name
from helsinki_env.utils.terminal import plain_console


def main(parts: str = "all", game: str | None = None, processes: int | None = None) -> None:
    """Precompile all kernels: the rules of every game, its players, and training.

    Machine code depends on the CPU. Run the command on the machine that will use the code, or build an image on the
    same type of CPU. The code is saved in the folder HELSINKI_CACHE_DIR (by default, the user's cache folder) and
    expires after 30 days without use.

    Example: helsinki compile

    Example: helsinki compile --parts games,heuristic,net

    Example: helsinki compile --game copenhagen

    Args:
        parts: comma-separated parts, or all: games, game, seat (the environments), greedy, heuristic, mc, ismcts, net
            (players), training.
        game: game whose kernels are compiled; default: all games.
        processes: number of parallel processes; default: the number of CPU cores plus one.
    """
    chosen = list(KERNEL_GROUPS) if parts == "all" else read_list(parts)
    for part in chosen:
        if part not in KERNEL_GROUPS:
            raise UserError(f"--parts: found {part!r}, expected all or {choices_text(KERNEL_GROUPS, part)}")
    games = [spec_by_name(name) for name in (game_names() if game is None else [game])]
    console, started = plain_console(), time.monotonic()
    missing_extra = precompile_groups((group_name(part, spec.config()) for spec in games for part in chosen), processes)
    for part in missing_extra:
        console.print(f"Skipped: {describe_group(part)} (extra not installed)")
    console.print(
        f"Compiled in {time.monotonic() - started:.1f} s, saved in {kernel.CACHE_FOLDER}"
        if kernel.JIT
        else "Nothing to compile: NUMBA_DISABLE_JIT is set"
    )

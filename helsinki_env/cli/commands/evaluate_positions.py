"""The commands ``helsinki evaluate positions`` and ``suite``: test a player on single positions; make the suites."""

from __future__ import annotations

from pathlib import Path

from helsinki_env.cli.options import out_file, out_folder
from helsinki_env.cli.parallel_runs import play_tournament
from helsinki_env.cli.precompile import precompile_plan
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console


def suite(
    gauntlet: str | None = None,
    positions: int = 400,
    determinizations: int = 1024,
    version: int = 1,
    seed: int = 0,
    out: Path = Path("runs/suite"),
    write: Path | None = None,
    processes: int | None = None,
) -> int:
    """Make a position suite, or extend one: every legal action of its positions gets a value by a strong search.

    The same command resumes an interrupted run and gives the same file. With more positions, it adds the missing ones.

    Example: helsinki evaluate suite --positions 20 --determinizations 64 --out runs/suite

    Example: helsinki evaluate suite --gauntlet copenhagen --positions 400 --out runs/suite-copenhagen

    Args:
        gauntlet: a name in configs/gauntlets or the path of a YAML file, which gives the matchups; default: helsinki.
        positions: number of positions.
        determinizations: simulations of each legal action, rounded up to a multiple of 32.
        version: version of the suite; raise it if you publish other positions or values.
        seed: random seed of games, selection and simulations.
        out: folder of the run.
        write: file of the suite; default: NAME.json in the folder of the run.
        processes: number of parallel processes; default: one per CPU core.
    """
    with requires_extra("stats"):
        from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
        from helsinki_env.evaluation.positions.generate import SuitePlan, value_positions, write_suite

    chosen = Gauntlet.from_yaml(default_spec().name if gauntlet is None else gauntlet)
    plan = SuitePlan(chosen, positions, determinizations, version, seed)
    path = out / f"{chosen.name}.json" if write is None else write
    out_folder(out)
    out_file(path, "--write")
    games = plan.games
    precompile_plan(games)
    play_tournament(games, out, processes, None, part="games", folder=out / "games", form="jsonl")
    display = ProgressDisplay(positions, "positions")
    with (
        save_on_interrupt(
            lambda: f"{display.done:,} of {positions:,} positions saved in {out}; resume with: {rerun_command_line()}"
        ),
        display,
    ):
        value_positions(plan, out, processes or cpu_count(), display.resume, display.advance)
    options = f"--positions {positions} --determinizations {determinizations} --version {version} --seed {seed}"
    write_suite(plan, out, path, f"helsinki evaluate suite --gauntlet {chosen.name} {options}")
    plain_console().print(f"Wrote {path}: {positions:,} positions")
    return 0

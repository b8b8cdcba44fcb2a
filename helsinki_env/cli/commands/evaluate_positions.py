"""The commands ``helsinki evaluate positions`` and ``suite``: test a player on single positions, and create suites."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.table import Table

from helsinki_env.cli.options import config_file, out_file, out_folder
from helsinki_env.cli.parallel_runs import WorkerOptions, check_players, play_tournament
from helsinki_env.cli.precompile import precompile_plan
from helsinki_env.cli.progress import ProgressDisplay, saved_progress
from helsinki_env.data import Node, UserError
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import check_no_link, write_json
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console, results_table


def positions(
    player: Annotated[str, tyro.conf.Positional],
    suite: str | None = None,
    out: Path = Path("runs/positions"),
    write: Path | None = None,
) -> int:
    """Test a player on single positions with known action values: about 400 actions instead of 40,000.

    The result is the mean regret: the win probability that the player loses per position, in percentage points. Running
    the same command again resumes an interrupted test and produces the same certificate.

    Example: helsinki evaluate positions heuristic --out runs/positions

    Example: helsinki evaluate positions net --suite copenhagen --out runs/positions-net --write docs/positions.md

    Args:
        player: name of the player, in the same form as for helsinki evaluate run.
        suite: a bundled suite (helsinki or copenhagen) or the path to a .json file; default: helsinki.
        out: folder for the player's actions and certificate.json.
        write: page to which the player's row is added, such as docs/positions.md; the certificate is saved in a folder
            next to it.
    """
    from helsinki_env.agents.llm.usage import shared_budget

    with requires_extra("stats"):
        from helsinki_env.evaluation.gauntlet.certificate import certified_name
        from helsinki_env.evaluation.positions.certificate import (
            PositionsPage,
            ask_player,
            make_certificate,
            positions_row,
        )
        from helsinki_env.evaluation.positions.suite import Suite

    chosen = Suite.read(default_spec().name if suite is None else suite)
    player = player.strip()
    check_players([player], chosen.matchups[0][1])
    out_folder(out)
    if (out / "certificate.json").exists() and certified_name(out / "certificate.json", "suite") is None:
        raise UserError(f"--out: found {out}, the folder of an evaluation with games; choose another one")
    page = None if write is None else PositionsPage(write, chosen)
    if page is not None:
        page.check(player)
    with saved_progress(len(chosen.positions), "positions", out) as display, shared_budget([player]):
        answers = ask_player(chosen, player, out / "answers.json", display.resume, display.advance)
    certificate = make_certificate(chosen, player, answers)
    write_json(out / "certificate.json", certificate)
    wrote = [out / "certificate.json"]
    if page is not None:
        wrote += [page.write(certificate), page.path]
    console = plain_console()
    console.print(_table(certificate["certified"]))
    console.print(positions_row(certificate))
    if answers.usage:
        console.print(answers.usage.report(player, answers.replaced))
    console.print(f"Wrote {', '.join(map(str, wrote))}")
    return 0


def verify_positions(
    certificate: Path, player: str | None, suite: str, positions: int, seed: int | None, trust: bool
) -> int:
    """Check a certificate of a position suite, for ``helsinki evaluate verify``."""
    from helsinki_env.evaluation.positions.certificate import check_answers, read_certificate, regret_text
    from helsinki_env.evaluation.positions.suite import Suite

    chosen = Suite.read(suite)
    overall = read_certificate(certificate, chosen)["certified"]["overall"]
    sample_seed = secrets.randbelow(2**32) if seed is None else seed
    order = np.random.default_rng(sample_seed).permutation(len(chosen.positions))
    display = ProgressDisplay(min(positions, len(order)), "positions")
    with (
        save_on_interrupt(lambda: f"{display.done:,} actions match; start again with: {rerun_command_line()}"),
        display,
    ):
        name = check_answers(
            certificate, chosen, player, order[:positions].tolist(), trust=trust, progress=display.advance
        )
    console = plain_console()
    regret = f"{100 * overall['regret']:.2f} ({regret_text(overall)})"
    console.print(f"{certificate}: {name} has the mean regret {regret}: all figures follow from the actions")
    console.print(f"{display.done:,} of {len(order):,} actions asked again with --seed {sample_seed}: the same")
    return 0


def _table(certified: Mapping[str, Any]) -> Table:
    """Return a table of results for all positions and for each group."""
    from helsinki_env.evaluation.positions.certificate import regret_text

    title = f"{certified['player']}: {certified['suite']}, version {certified['version']}"
    columns = ("positions of", "positions", "regret", "95% interval", "best actions")
    table = results_table(columns, "positions of", title, "regret in percentage points of win probability")
    for name, result in (("all", certified["overall"]), *((one["group"], one) for one in certified["groups"])):
        cells = f"{100 * result['regret']:.2f}", regret_text(result), f"{result['best']:.1%}"
        table.add_row(name, f"{result['positions']:,}", *cells)
    return table


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
    """Create or extend a position suite, with the values of all legal actions estimated by a strong search.

    Running the same command again resumes an interrupted run and produces the same file. If you increase --positions,
    the missing positions are added.

    Example: helsinki evaluate suite --positions 20 --determinizations 64 --out runs/suite

    Example: helsinki evaluate suite --gauntlet copenhagen --positions 400 --out runs/suite-copenhagen

    Args:
        gauntlet: gauntlet that defines the matchups: a name in configs/gauntlets or the path to a YAML file; default:
            helsinki.
        positions: number of positions.
        determinizations: number of simulations per legal action, rounded up to a multiple of 32.
        version: version of the suite; increase it if you publish different positions or values.
        seed: random seed for games, selection and simulations.
        out: folder for the run.
        write: file for the suite; default: NAME.json in the run folder.
        processes: number of parallel processes; default: one per CPU core.
    """
    with requires_extra("stats"):
        from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
        from helsinki_env.evaluation.positions.generate import SuitePlan, value_positions, write_suite

    Node(positions, UserError, "--positions").integer(2)
    # The opponents of the gauntlet do not play, so its code is not run.
    chosen = Gauntlet.from_yaml(config_file(gauntlet or default_spec().name, "gauntlets", "--gauntlet"), trust=True)
    plan = SuitePlan(chosen, positions, determinizations, version, seed)
    path = out / f"{chosen.name}.json" if write is None else write
    out_folder(out)
    out_file(path, "--write")
    games = plan.tournament
    precompile_plan(games)
    check_no_link(out / "games")
    play_tournament(games, out, WorkerOptions(processes), part="games", folder=out / "games", form="jsonl")
    with saved_progress(positions, "positions", out) as display:
        value_positions(plan, out, processes or cpu_count(), display.resume, display.advance)
    options = f"--positions {positions} --determinizations {determinizations} --version {version} --seed {seed}"
    write_suite(plan, out, path, f"helsinki evaluate suite --gauntlet {chosen.name} {options}")
    plain_console().print(f"Wrote {path}: {positions:,} positions")
    return 0

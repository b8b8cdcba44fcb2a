"""The ``helsinki check`` command: test whether a player follows the protocol before rating it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Table

from helsinki_env.cli.options import config_file, out_file
from helsinki_env.cli.parallel_runs import check_players
from helsinki_env.cli.progress import ProgressDisplay
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.files import write_json
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console

_MARKS = {True: "passed", False: "FAILED", None: "not tested"}


def main(
    player: Annotated[str, tyro.conf.Positional],
    gauntlet: str | None = None,
    rows: int = 40,
    seconds: float = 2.0,
    json: Path | None = None,
) -> int:
    """Check a player before rating it: legal actions, determinism, independence of rows, and time per action.

    The player plays against the random player in every seat and at every player count. The command then queries the
    player again with some of the same inputs. The exit status is 1 if a check fails.

    Example: helsinki check heuristic

    Example: helsinki check my_module:Builder --gauntlet copenhagen

    Example: helsinki check "program:python3 bot.py" --seconds 5 --json check.json

    Args:
        player: name of the player, in the same form as for helsinki evaluate run.
        gauntlet: gauntlet that defines the matchups: a name in configs/gauntlets or the path to a YAML file; default:
            helsinki.
        rows: number of inputs to repeat in each matchup.
        seconds: maximum time per action, in seconds.
        json: output file for the results.
    """
    from helsinki_env.agents.llm.usage import shared_budget
    from helsinki_env.evaluation.compliance import check_player
    from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet

    # The opponents of the gauntlet do not play, so its code is not run.
    chosen = Gauntlet.from_yaml(config_file(gauntlet or default_spec().name, "gauntlets", "--gauntlet"), trust=True)
    player = player.strip()
    check_players([player], chosen.reference.matchups[0].config)
    if json is not None:
        out_file(json, "--json")
    display = ProgressDisplay(len(chosen.matchups), "matchups")
    saved = f"nothing saved; start again with: {rerun_command_line()}"
    with save_on_interrupt(lambda: saved), display, shared_budget([player]):
        results = check_player(player, chosen, rows=rows, seconds=seconds, progress=display.advance)
    table = Table(title=player)
    for name in ("the player", "result", "details"):
        table.add_column(name, overflow="fold")
    for result in results:
        table.add_row(result.name, _MARKS[result.passed], result.details)
    console = plain_console()
    console.print(table)
    failed = sum(result.passed is False for result in results)
    console.print(f"{len(results)} checks, {failed} failed")
    if json is not None:
        write_json(json, {"player": player, "gauntlet": chosen.name, "checks": [vars(result) for result in results]})
        console.print(f"Wrote {json}")
    return 1 if failed else 0

"""The command ``helsinki balance tune``: search changes of the action board after which no action stands out."""

from __future__ import annotations

import shlex
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import tyro

from helsinki_env.cli.options import out_folder
from helsinki_env.cli.parallel_runs import address_of, check_players, tournament_runner
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.data import UserError
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, check_no_link
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console

__all__ = ["tune"]


def tune(
    config: Annotated[str | None, tyro.conf.Positional] = None,
    out: Path = Path("runs/tune"),
    player: str | None = None,
    num_players: str | None = None,
    max_changes: int | None = None,
    evaluator: str | None = None,
    proposal: Path | None = None,
    processes: int | None = None,
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")] = None,
    trust: bool = False,
) -> int:
    """Search the smallest change of the action board after which no action is an outlier.

    The file says what may change: costs and strengths, or which five actions are covered. Games with denied actions
    estimate marginal effects on the published board, on boards with random numbers, and on the best candidates. The
    command proposes a change only if a test on fresh deals shows a better balanced board.

    The report is written to OUT/report, with the file to play with. The same command resumes an interrupted search.

    Example: helsinki balance tune quick --out runs/tune

    Example: helsinki balance tune standard --num-players 2,3 --max-changes 3 --out runs/tune-3

    Example: helsinki balance tune covered --out runs/covered --evaluator net

    Example: helsinki balance tune --proposal docs/balance/tune/standard/tune.json --evaluator net --out runs/evaluated

    Args:
        config: search: a name in configs/tune or the path of a YAML file; default: quick.
        out: folder of all games of the search.
        player: player in all seats; default: the player of the file.
        num_players: comma-separated numbers of players, a subset of those in the file.
        max_changes: maximum number of changed values; default: that of the file.
        evaluator: another player, which tests the proposal on fresh deals; can be added after the search.
        proposal: tune.json of an earlier search, to test its proposal without a search.
        processes: number of parallel processes; default: one per CPU core.
        ray: address of the Ray cluster that plays the games; without an address, a new cluster on this machine.
        trust: run code that the file or the --proposal names: program:COMMAND and MODULE:ATTRIBUTE. Read the code
            first.
    """
    with requires_extra("stats" if ray is None else "ray"):
        results, report = _module("results"), _module("report")
    address_of(ray)
    if proposal is not None:
        if evaluator is None or any(value is not None for value in (config, player, num_players, max_changes)):
            raise UserError(
                f"--proposal: found {proposal}, expected it with --evaluator and without a file, --player, "
                "--num-players and --max-changes; it is tested without a search"
            )
        search, earlier = results.read_found(proposal, trust=trust)
    else:
        search, earlier = _module("config").TuneConfig.from_yaml(config or "quick", trust=trust), None
    if num_players is not None:
        search = search.only(_read_numbers(num_players))
    if player is not None:
        search = replace(search, player=player, weaker="random" if player == search.weaker else search.weaker)
    if max_changes is not None:
        search = replace(search, most=max_changes)
    if evaluator == search.player:
        raise UserError(f"--evaluator: found {evaluator!r}, expected another player than the one that searches")
    all_players = [search.player, search.weaker, *([] if evaluator is None else [evaluator])]
    check_players(all_players)
    out_folder(out)
    search.open(out)
    precompile_groups(groups_for(all_players))
    console = plain_console()

    tuning = results.BoardTuning(search, out, tournament_runner(out, processes, ray))
    with save_on_interrupt(lambda: f"games saved in {out}; resume with: {rerun_command_line()}"):
        if earlier is None:
            options = {"--player": player, "--num-players": num_players, "--max-changes": max_changes}
            given = [part for name, value in options.items() if value is not None for part in (name, str(value))]
            command = shlex.join(["helsinki", "balance", "tune", search.name, *given])
            data = results.tune_results(tuning, evaluator, command)
        else:
            data = results.reevaluate_proposal(tuning, earlier, evaluator)
    board: Path | None = tuning.proposal
    check_no_link(out / "report")
    for path, content in report.tune_report_files(data, board.read_bytes() if board else None).items():
        with atomic_write(out / "report" / path) as file:
            file.write(content)
    for sentence in (*data["summary"], *([data["judged"]["summary"]] if data["judged"] else [])):
        console.print(f"- {sentence}", highlight=False, soft_wrap=True)
    next_command = f"; next: {report.play_command(data, f'{out}/report/{report.PROPOSAL}')}" if board else ""
    console.print(f"Wrote {out}/report{next_command}", highlight=False, soft_wrap=True)
    return 0


def _module(name: str) -> Any:
    """Return a module of the default game's search."""
    return import_module(f"helsinki_env.evaluation.balance.{default_spec().name}.tune.{name}")


def _read_numbers(text: str) -> tuple[int, ...]:
    numbers = [number.strip() for number in text.split(",")]
    if not all(number in ("2", "3", "4") for number in numbers):
        raise UserError(f"--num-players: found {text!r}, expected some of 2, 3, 4, separated by commas")
    return tuple(map(int, numbers))

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
    players: str | None = None,
    most: int | None = None,
    judge: str | None = None,
    found: Path | None = None,
    processes: int | None = None,
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")] = None,
    trust: bool = False,
) -> int:
    """Search the smallest change of the action board after which no action stands out.

    What may change are costs and strengths, or which five actions are covered; the file says it.
    Games with denied actions tell what actions are worth, on the board as it is, on boards with random numbers, and on
    those that seem best. A change is proposed only if fresh games prove that it brings the board nearer to balance.
    The report is written to OUT/report, with the file to play with. It can be stopped at any moment.

    Example: helsinki balance tune quick --out runs/tune

    Example: helsinki balance tune standard --players 2,3 --most 3 --out runs/tune-3

    Example: helsinki balance tune covered --out runs/covered --judge net

    Example: helsinki balance tune --found docs/balance/tune/standard/tune.json --judge net --out runs/judged

    Args:
        config: what is asked: a name in configs/tune or the path of a YAML file, which says what may change. Default:
            quick.
        out: folder of everything that is played.
        player: who plays, instead of the one in the file.
        players: only these numbers of players of those in the file, separated by commas.
        most: how many numbers may change at most, instead of what is in the file.
        judge: another player, who judges what is proposed on fresh decks; may be asked once all else is played.
        found: the tune.json of an earlier search; its proposal is judged, and nothing is searched.
        processes: how many play side by side; default: one for each processor.
        ray: spread the games over the Ray cluster at this address; without one over a new cluster on this machine.
        trust: run code that the file or that of --found names: program:COMMAND and MODULE:ATTRIBUTE. Read the code
            first.
    """
    with requires_extra("arena" if ray is None else "ray"):
        playing, report = _tuning("run"), _tuning("report")
    address_of(ray)
    if found is not None:
        if judge is None or any(x is not None for x in (config, player, players, most)):
            raise UserError(
                f"--found: found {found}, expected --judge with it, and neither another file nor --player, --players "
                "or --most: its proposal is judged, and nothing is searched"
            )
        asked, earlier = _tuning("results").read_found(found, trust=trust)
    else:
        asked, earlier = _tuning("config").TuneConfig.from_yaml(config or "quick", trust=trust), None
    if players is not None:
        asked = asked.only(_numbers(players))
    if player is not None:
        asked = replace(asked, player=player, weaker="random" if player == asked.weaker else asked.weaker)
    if most is not None:
        asked = replace(asked, most=most)
    if judge == asked.player:
        raise UserError(f"--judge: found {judge!r}, expected another player than the one who searches")
    everybody = [asked.player, asked.weaker, *([] if judge is None else [judge])]
    check_players(everybody)
    out_folder(out)
    asked.open(out)
    precompile_groups(groups_for(everybody))
    console = plain_console()

    tuning = playing.BoardTuning(asked, out, tournament_runner(out, processes, ray))
    with save_on_interrupt(lambda: f"what was played is kept in {out}; go on with: {rerun_command_line()}"):
        results = _tuning("results")
        if earlier is None:
            options = {"--player": player, "--players": players, "--most": most}
            words = [word for name, value in options.items() if value is not None for word in (name, str(value))]
            command = shlex.join(["helsinki", "balance", "tune", asked.name, *words])
            data = results.tune_results(tuning, judge, command)
        else:
            data = results.reevaluate_proposal(tuning, earlier, judge)
    proposal: Path | None = tuning.proposal
    check_no_link(out / "report")
    for path, content in report.tune_report_files(data, proposal.read_bytes() if proposal else None).items():
        with atomic_write(out / "report" / path) as file:
            file.write(content)
    for sentence in (*data["summary"], *([data["judged"]["summary"]] if data["judged"] else [])):
        console.print(f"- {sentence}", highlight=False, soft_wrap=True)
    play = f"; now: {report.play_command(data, f'{out}/report/{report.PROPOSAL}')}" if proposal else ""
    console.print(f"Wrote {out}/report{play}", highlight=False, soft_wrap=True)
    return 0


def _tuning(name: str) -> Any:
    """Return a module of the default game's search."""
    return import_module(f"helsinki_env.evaluation.balance.{default_spec().name}.tune.{name}")


def _numbers(text: str) -> tuple[int, ...]:
    words = [word.strip() for word in text.split(",")]
    if not all(word in ("2", "3", "4") for word in words):
        raise UserError(f"--players: found {text!r}, expected some of 2, 3, 4, separated by commas")
    return tuple(int(word) for word in words)

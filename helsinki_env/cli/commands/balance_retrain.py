"""The command ``helsinki balance retrain``: test conclusions with players trained without the action."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import tyro

from helsinki_env.cli.commands.train import learn
from helsinki_env.cli.options import out_folder
from helsinki_env.cli.parallel_runs import address_of, tournament_runner
from helsinki_env.cli.precompile import group_name, groups_for, precompile_groups
from helsinki_env.data import UserError, read_json
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.files import atomic_write, check_no_link, is_file
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console

__all__ = ["retrain"]


def retrain(
    config: Annotated[str, tyro.conf.Positional] = "quick",
    out: Path = Path("runs/retrained"),
    processes: int | None = None,
    ray: Annotated[tuple[str, ...] | None, tyro.conf.arg(metavar="[ADDRESS]")] = None,
    trust: bool = False,
) -> int:
    """Check whether the conclusions hold for networks trained without the action.

    The command trains networks on this machine, one after another: with all actions, and without each tested action.
    Then they play against each other. The report is written to OUT/report. The same command resumes an interrupted run.

    Example: helsinki balance retrain quick --out runs/retrained

    Example: helsinki balance retrain standard --out runs/retrained-standard

    Args:
        config: experiment: a name in configs/retrained or the path of a YAML file.
        out: folder of all networks and games.
        processes: number of parallel processes; default: one per CPU core.
        ray: address of the Ray cluster that plays the games; without an address, a new cluster on this machine.
        trust: run code that the preset names: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in `helsinki_env.cli.commands.train`
    with requires_extra("stats" if ray is None else "ray"):
        retraining = _retraining()
    with requires_extra("train"):
        import torch

        from helsinki_env.agents.net.description import AFTERSTATE_KIND
        from helsinki_env.training.preset import Preset
        from helsinki_env.training.run import RunError, Training
    address_of(ray)
    asked = retraining.RetrainingConfig.from_yaml(config)
    preset = Preset.from_yaml(asked.preset, trust=trust)
    if preset.learner != AFTERSTATE_KIND or preset.rules != default_spec().name:
        raise UserError(
            f"{config}: preset: found {asked.preset}, which trains a {preset.learner} network for {preset.rules}, "
            f"expected one that trains a {AFTERSTATE_KIND} network for {default_spec().name}"
        )
    if preset.start or preset.against or preset.covered or preset.components != "default":
        raise UserError(
            f"{config}: preset: found {asked.preset}, expected one without start, against, covered and "
            "components, so that its networks learn from scratch on the published board with all actions"
        )
    taught = {count for table in preset.matchups for count in table.players}
    if missing := set(asked.players) - taught:
        raise UserError(
            f"{config}: found games of {min(missing)} players, expected some of {', '.join(map(str, sorted(taught)))}, "
            f"as in the preset {asked.preset}"
        )
    for action in asked.claims:
        replace(preset, covered=(action,)).check()  # fail now, not after the first network
    out_folder(out)
    asked.open(out)
    precompile_groups([group_name("training"), *groups_for(["net", *preset.opponents, *preset.evaluation.opponents])])
    torch.set_num_threads(1)
    console = plain_console()

    def train(learner: Any, folder: Path) -> None:
        covered = (learner.without,) if learner.without else ()
        training = Training(
            replace(preset, covered=covered), folder, learner.seed, resume=is_file(folder / "state.safetensors")
        )
        summary = folder / "summary.json"
        if is_file(summary) and read_json(summary, RunError)["finished"].value is True:
            return  # with the same preset, or it could not have been resumed
        console.print(f"training {learner.name}", highlight=False)
        if not learn(training, console, rerun_command_line)["finished"]:
            raise UserError(
                f"{folder}: found an unfinished training after {preset.minutes:g} minutes; increase minutes in the "
                f"preset {asked.preset} and resume, because only networks of equal training are comparable"
            )

    retrained = retraining.RetrainingStudy(asked, out, train, tournament_runner(out, processes, ray))
    with save_on_interrupt(lambda: f"networks and games saved in {out}; resume with: {rerun_command_line()}"):
        data = retraining.retraining_results(retrained)
    check_no_link(out / "report")
    for path, content in retraining.retraining_report_files(data).items():
        with atomic_write(out / "report" / path) as file:
            file.write(content)
    for sentence in data["summary"]:
        console.print(f"- {sentence}", highlight=False, soft_wrap=True)
    console.print(f"Wrote {out}/report", highlight=False, soft_wrap=True)
    return 0


def _retraining() -> Any:
    """Return the module of the default game's retraining study."""
    return import_module(f"helsinki_env.evaluation.balance.{default_spec().name}.retraining")

"""The ``helsinki train`` command: train a player, showing the progress and a table of results."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from helsinki_env.data import UserError
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.stopping import rerun_command_line, save_on_interrupt
from helsinki_env.utils.terminal import plain_console, results_table

if TYPE_CHECKING:
    from helsinki_env.training.preset import Preset


def main(
    preset: str | None = None,
    game: str | None = None,
    out: Path | None = None,
    seed: int = 0,
    resume: bool = False,
    minutes: float | None = None,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    threads: int = 1,
    against: str | None = None,
    num_players: int | None = None,
    trust: bool = False,
) -> None:
    """Train a player and evaluate it against the baselines.

    Example: helsinki train --preset quick --out runs/first --seed 1

    Example: helsinki train --preset standard --resume

    Example: helsinki train --game copenhagen --preset quick

    Example: helsinki train --preset gpu --device cuda

    Example: helsinki train --against net --num-players 3 --out runs/best-response

    --resume continues an interrupted run and produces the same result. To view the progress, run tensorboard --logdir
    runs.

    Args:
        preset: a name in configs/training (quick, gpu, best_response for any game; standard, varied, strong,
            two_players, retrained, retrained_long for Helsinki; copenhagen) or the path to a YAML file; default: quick,
            or best_response with --against.
        game: name of the game, such as copenhagen; default: the game of the preset.
        out: folder for the run; default: runs/PRESET, or runs/GAME-PRESET.
        seed: random seed for weights, games and evaluation.
        resume: resume the run in the folder.
        minutes: maximum total training time in minutes; default: the limit of the preset.
        device: device for the network and, with the preset gpu, the games; auto selects a GPU if PyTorch finds one.
        threads: number of threads for learning; the number affects the last digits of the results.
        against: opponent to train a best response against, such as net. The win rate of the best response shows how
            exploitable that opponent is.
        num_players: with --against, the number of players, 2 to 4; default: that of the preset. The opponent plays all
            other seats.
        trust: allow code named in the preset to run: program:COMMAND and MODULE:ATTRIBUTE. Read the code first.
    """
    import helsinki_env.training  # noqa: F401  # before PyTorch, which reads an environment variable set there
    from helsinki_env.cli.options import out_folder

    with requires_extra("train"):
        import torch

        from helsinki_env.training.gpu.distributed import ProcessGroup
        from helsinki_env.training.run import Training, check_run_folder

    if preset is None:
        preset = "quick" if against is None else "best_response"
    chosen = _read_preset(preset, game, against, num_players, minutes, trust)
    device = _usable_device(device, torch.cuda.is_available())
    torch.set_num_threads(threads)
    folder = out or Path("runs") / (Path(preset).stem if game is None else f"{game}-{Path(preset).stem}")
    group = ProcessGroup.from_torchrun(device)
    console = plain_console()
    console.quiet = not group.is_main
    console.print(
        f"Training {preset} on {device}: {_pretraining_text(chosen)}{chosen.ppo.total_timesteps:,} self-play steps, "
        f"at most {chosen.minutes:g} minutes; results go to {folder}"
    )
    out_folder(folder)
    check_run_folder(folder, resume)  # fail before anything is compiled
    if group.is_main:
        _precompile(chosen)
    group.broadcast(None)  # barrier: the other processes wait for the first process
    training = Training(chosen, folder, seed, device, resume, group)
    summary = learn(training, console, lambda: rerun_command_line("--resume"))
    group.close()  # not after an error, because the other processes may be waiting for this one
    if not group.is_main:
        return
    console.print(_table(summary))
    if chosen.against:
        console.print(
            f"Best response to {chosen.against}: the excess over chance level is a lower bound on the exploitability."
        )
    name = f"{training.network.player}:{folder}"
    rate = ["helsinki", "evaluate", "run", name]
    rate += [] if chosen.rules == default_spec().name else ["--gauntlet", chosen.rules]
    console.print(f"Saved {summary['checkpoint']}; play it as {name}, rate it with {shlex.join(rate)}")
    if not summary["finished"]:
        command = ["helsinki", "train", *([] if game is None else ["--game", game])]
        command += [] if against is None else ["--against", against]
        command += [] if num_players is None else ["--num-players", str(num_players)]
        command += ["--preset", preset, "--out", str(folder), "--seed", str(seed), "--device", device]
        command += ["--threads", str(threads), *(["--trust"] if trust else []), "--resume"]
        console.print(
            f"Stopped after {chosen.minutes:g} minutes, before the end of the training. "
            f"Resume with: {shlex.join(command)} "
            f"--minutes {2 * chosen.minutes:g}"
        )


def _read_preset(
    name: str, game: str | None, against: str | None, num_players: int | None, minutes: float | None, trust: bool
) -> Preset:
    """Return the preset, modified by the command-line options."""
    from helsinki_env.cli.options import config_file
    from helsinki_env.training.preset import Preset

    preset = Preset.from_yaml(config_file(name, "training", "--preset"), trust=trust)
    if game is not None and game != preset.rules:
        preset = preset.for_game(game, name)
    if num_players not in (None, 2, 3, 4):
        raise UserError(f"--num-players: found {num_players}, expected 2, 3 or 4")
    if against is not None:
        preset = preset.best_response_to(against, num_players)
    elif num_players is not None:
        raise UserError(
            f"--num-players: found {num_players}, expected it with --against; a preset has its own matchups"
        )
    return preset if minutes is None else replace(preset, minutes=minutes)


def _usable_device(device: Literal["auto", "cpu", "cuda"], has_gpu: bool) -> Literal["cpu", "cuda"]:
    """Return the device given by the option; raise UserError if PyTorch does not find the GPU."""
    if device == "auto":
        return "cuda" if has_gpu else "cpu"
    if device == "cuda" and not has_gpu:
        raise UserError("--device: found cuda, but PyTorch finds no usable GPU; expected cpu or auto")
    return device


def _pretrains(preset: Preset) -> bool:
    from helsinki_env.agents.net.description import AFTERSTATE_KIND

    return preset.learner == AFTERSTATE_KIND


def _pretraining_text(preset: Preset) -> str:
    """Describe the steps before self-play, for the first line of the output."""
    samples = preset.pretraining.samples
    taught = f"{samples:,} samples of the heuristic's games, then " if _pretrains(preset) else ""
    return f"from the network {preset.start} on, {taught if samples else ''}" if preset.start else taught


def _precompile(preset: Preset) -> None:
    from helsinki_env.cli.precompile import group_name, groups_for, precompile_groups

    if _pretrains(preset):
        parts = groups_for(["net", "heuristic", "greedy"], preset.game)
        precompile_groups([group_name("training", preset.game), *parts])
    else:
        precompile_groups(groups_for(preset.evaluation.opponents, preset.game))


def learn(training: Any, console: Any, resume_command: Callable[[], str]) -> dict[str, Any]:
    """Run the training with progress output and return its summary; save a checkpoint if it is stopped."""

    def keep() -> str:
        if not training.keep():
            return f"nothing saved; start again with: {rerun_command_line()}"
        return f"run saved in {training.folder} after its last update; resume with: {resume_command()}"

    shown = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    # Without a terminal, the display would only print its last state, cut to the width; `_Lines` prints whole lines.
    with save_on_interrupt(keep), Progress(*shown, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("dealing", total=1.0)
        lines = _Lines(console)

        def report(now: Any) -> None:
            text = _describe(now)
            progress.update(task, completed=now.progress.done, description=text)
            lines.show(now, text)

        summary: dict[str, Any] = training.run(report)
    return summary


class _Lines:
    """Prints occasional lines instead of a progress bar if the output is not a terminal."""

    def __init__(self, console: Any, every: float = 15.0) -> None:
        self.console, self.every, self.last = console, every, -every

    def show(self, now: Any, text: str) -> None:
        if not self.console.is_terminal and now.seconds - self.last >= self.every:
            self.last = now.seconds
            self.console.print(f"{now.seconds:5.0f} s  {now.progress.done:4.0%}  {text}")


def _describe(now: Any) -> str:
    p = now.progress
    if p.part == "sequential halving":
        return "sequential halving of all measured networks"
    if p.part not in ("pretraining", "self-play"):
        return f"{p.part} after {p.decisions:,} actions"
    noun = "positions" if p.part == "pretraining" else "actions"
    text = f"{p.part}: {p.decisions:,} {noun}"
    if p.points == p.points:  # false for NaN, which means that no game has ended
        text += f", {p.points:.1f} points a seat"
    for s in now.measured["results"] if now.measured else ():
        text += f", {s['share']:.0%} against {s['opponent']} ({s['players']}p)"
    return text


def _table(summary: dict[str, Any]) -> Table:
    title = "One seat, all seats in turn, against the baselines in all others"
    columns = ("players", "against", "games", "games won", "95% interval", "points")  # at most 80 characters wide
    table = results_table(columns, "against", title)
    for s in summary["results"]:
        points = f"{s['score']:.1f} : {s['other_score']:.1f}"
        interval = f"{s['low']:.1%} to {s['high']:.1%}"
        table.add_row(str(s["players"]), s["opponent"], f"{s['games']:,}", f"{s['share']:.1%}", interval, points)
    return table

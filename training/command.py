"""The command ``helsinki train``: progress while it learns, and a table of what it reached."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

__all__ = ["main"]


def main(
    preset: str = "quick",
    out: Path | None = None,
    seed: int = 0,
    minutes: float | None = None,
    device: Literal["auto", "cpu", "cuda"] = "auto",
) -> None:
    """Train a player by self-play and measure it against the baselines.

    Example: helsinki train --preset quick --out runs/first --seed 1

    Args:
        preset: a name in configs/training or the path of a YAML file.
        out: folder for checkpoint, curve and summary; default runs/PRESET.
        seed: of weights, games and evaluation.
        minutes: stop after so many minutes instead of the preset's.
        device: where the network computes; auto takes a graphics card if PyTorch finds one.
    """
    # Threads that wait shall sleep: spinning ones stop each other whenever something else runs on the machine too, and
    # training was seen to take four times as long. Read when PyTorch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    from training.preset import Preset
    from training.run import Report, train

    chosen = Preset.from_yaml(preset)
    if minutes is not None:
        if minutes <= 0:
            raise ValueError(f"--minutes: found {minutes}, expected a number above 0")
        chosen = replace(chosen, minutes=minutes)
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.set_num_threads(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
    folder = out or Path("runs") / Path(preset).stem
    console = Console()
    console.print(
        f"Training [bold]{preset}[/] on {device}: {chosen.game.num_players} players, at most "
        f"{chosen.ppo.decisions:,} decisions or {chosen.minutes:g} minutes; results go to {folder}"
    )
    shown = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn())
    with Progress(*shown, console=console) as progress:
        task = progress.add_task("dealing", total=1.0)
        lines = _Lines(console)

        def report(now: Report) -> None:
            text = _describe(now)
            progress.update(task, completed=now.done, description=text)
            lines.show(now, text)

        summary = train(chosen, folder, seed, device, report)
    console.print(_table(summary))
    console.print(f"Saved {summary['checkpoint']}; play it as [bold]net:{summary['checkpoint']}[/]")


class _Lines:
    """Where the output is no terminal a line now and then takes the place of the moving bar."""

    def __init__(self, console: Any, every: float = 15.0) -> None:
        self.console, self.every, self.last = console, every, 0.0

    def show(self, now: Any, text: str) -> None:
        if not self.console.is_terminal and now.seconds - self.last >= self.every:
            self.last = now.seconds
            self.console.print(f"{now.done:4.0%} {now.seconds:5.0f} s  {text}", highlight=False)


def _describe(now: Any) -> str:
    p = now.progress
    text = f"{p.decisions:,} decisions, {now.rate:,.0f}/s"
    if p.score == p.score:  # some game has ended
        text += f", return of winners {p.returned:+.2f}, {p.score:.1f} points a seat"
    if now.win_rate == now.win_rate:  # it has been measured
        text += f", wins {now.win_rate:.0%} against random"
    return text


def _table(summary: dict[str, Any]) -> Table:
    table = Table(title="The trained player against the baselines (all seats in turn)")
    for name, style in (("against", "bold"), ("games", ""), ("games won", ""), ("95 % interval", ""), ("points", "")):
        table.add_column(name, style=style, justify="left" if name == "against" else "right")
    for name, s in summary["standings"].items():
        points = f"{s['score']:.1f} : {s['other_score']:.1f}"
        table.add_row(name, f"{s['games']:,}", f"{s['share']:.1%}", f"{s['low']:.1%} to {s['high']:.1%}", points)
    return table

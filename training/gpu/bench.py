"""How fast training on a device goes, and what the time goes to."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from helsinki_env.training.gpu.learner import PlainLearner
from helsinki_env.training.learner import RunContext
from helsinki_env.training.preset import Preset
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.terminal import plain_console

with requires_extra("train"):
    import torch

    from helsinki_env.training.gpu.distributed import ProcessGroup
    from helsinki_env.training.run import uses_bfloat16

__all__ = ["main"]


def main(preset: Preset, rounds: int, seed: int, device: str, games: int | None) -> None:
    """Measure how many decisions a second are played and learnt from.

    Args:
        preset: of a plain network.
        rounds: updates that count; some before them do not, as what is compiled or recorded once is so in them.
        seed: of weights and games.
        device: "cpu" or "cuda".
        games: side by side, instead of the preset's.
    """
    ppo = preset.ppo if games is None else replace(preset.ppo, num_envs=games)
    place = RunContext(
        Path(), seed, torch.device(device), uses_bfloat16(preset.precision, torch.device(device)), ProcessGroup()
    )
    torch.manual_seed(seed)
    learner = PlainLearner(replace(preset, ppo=ppo), place)
    part = learner.ppo
    learner.pool.add("itself", learner.network, -1)
    for _ in range(4 if device == "cuda" else 1):
        part.update()
    spent, before, began = {"playing": 0.0, "learning": 0.0}, part.decisions, time.perf_counter()
    for _ in range(rounds):
        for name, seconds in part.update().seconds.items():
            spent[name] += seconds
    took = time.perf_counter() - began
    played = rounds * ppo.num_envs * ppo.num_steps
    size = sum(p.numel() for p in learner.network.parameters())
    title = f"{rounds} updates on {_name(device)}: {ppo.num_envs:,} games, {ppo.num_steps} steps, {size:,} weights"
    table = Table(title=title)
    table.add_column("what")
    table.add_column("decisions a second", justify="right")
    for name, count, seconds in (
        ("playing: games, network, noise", played, spent["playing"]),
        (f"learning: {ppo.update_epochs} passes", played, spent["learning"]),
        ("both", played, took),
        ("both, decisions that are learnt from", part.decisions - before, took),
    ):
        table.add_row(name, f"{count / seconds:,.0f}")
    plain_console().print(table)


def _name(device: str) -> str:
    return torch.cuda.get_device_name() if device == "cuda" else f"a processor, {torch.get_num_threads()} threads"

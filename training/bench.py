"""Benchmark training throughput and profile it, in alternation with Stable-Baselines3.

    python -m helsinki_env.training.bench --help
    python -m helsinki_env.training.bench --preset standard --rounds 3

Both learn two-player games with networks of similar size and the same numbers of parallel games, epochs and samples
per minibatch. Both may use all CPU cores. Our learner starts from a trained network, the typical state of a run.

The benchmark counts all steps of the games, as Stable-Baselines3 counts its time steps, and the steps that a network
evaluates. Our learner skips steps with a single legal action; Stable-Baselines3 evaluates them and learns from them.

A preset of a plain network (``--preset gpu``) is measured alone, on the chosen device.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro
from rich.table import Table

from helsinki_env.data import Node, UserError
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.terminal import plain_console, prepare_output

if TYPE_CHECKING:
    from helsinki_env.agents.net.network import Network

__all__ = ["main"]

#: Run one update; return the number of steps, the number of evaluated steps, and the time by activity.
Update = Callable[[], tuple[int, int, dict[str, float]]]


def _ours(preset: Any, network: Network, seed: int) -> Update:
    """Return a function that runs one update of our learner."""
    with requires_extra("sb3"):
        import torch

    from helsinki_env.training.matchups import MatchupConfig
    from helsinki_env.training.ppo import PPO
    from helsinki_env.training.rollout import RolloutCollector
    from helsinki_env.training.run import uses_bfloat16

    torch.manual_seed(seed)
    config = replace(preset.ppo, fixed_opponent_fraction=0.0)
    device = torch.device("cpu")
    stage = RolloutCollector(
        preset.game, [MatchupConfig()], config.num_envs, 0.0, seed, device, ahead=network.config.ahead
    )

    def nobody(rollout: int) -> Any:
        raise AssertionError(f"rollout {rollout} has no opponents")

    learner = PPO(network, stage, config, seed, nobody, uses_bfloat16(preset.precision, device))

    def update() -> tuple[int, int, dict[str, float]]:
        torch.set_num_threads(1)  # one CPU core plays, the other learns
        before = learner.decisions
        progress = learner.update()
        learner.wait_for_rollout()  # otherwise it would keep playing during the other's measurement
        return config.num_envs * config.num_steps, learner.decisions - before, progress.seconds

    return update


def _theirs(preset: Any, ours: int, seed: int) -> tuple[Update, int]:
    """Return a function that runs one update of Stable-Baselines3, and the number of weights of its network."""
    with requires_extra("sb3"):
        import torch
        from sb3_contrib import MaskablePPO

    from helsinki_env.training.sb3 import make_sb3_env

    c = preset.ppo
    env = make_sb3_env(c.num_envs, seed=seed)
    inputs, ids = int(env.observation_space.shape[0]), int(env.action_space.n)  # type: ignore[index,attr-defined]
    # Policy and value have separate bodies: 2 (inputs w + w w) + w ids weights.
    width = next(w for w in range(16, 4096, 16) if 2 * (inputs * w + w * w) + w * ids >= ours)
    arch = {"net_arch": [width, width], "activation_fn": torch.nn.ReLU}
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=c.num_steps, batch_size=c.minibatch_size, n_epochs=c.update_epochs, gamma=1.0,
        seed=seed, policy_kwargs=arch, device="cpu",
    )  # fmt: skip
    threads = cpu_count()

    def update() -> tuple[int, int, dict[str, float]]:
        torch.set_num_threads(threads)
        model.learn(c.num_envs * c.num_steps, reset_num_timesteps=False)
        return c.num_envs * c.num_steps, c.num_envs * c.num_steps, {}

    return update, sum(p.numel() for p in model.policy.parameters())


def main(
    preset: str = "standard",
    checkpoint: Path | None = None,
    rounds: int = 4,
    seed: int = 0,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    games: int | None = None,
) -> None:
    """Measure how fast training goes, and how Stable-Baselines3's MaskablePPO does beside it.

    Args:
        preset: a name in configs/training or the path of a YAML file; games, steps and passes are taken from it.
        checkpoint: the network that ours goes on from; default: net:first, of the size of the presets.
        rounds: updates of each, in turns, after one that does not count; games last about two updates, and cost
            more at some times than at others, so an even number is best.
        seed: of weights and games.
        device: of a plain network; auto takes a graphics card if PyTorch finds one.
        games: of a plain network, instead of the preset's.
    """
    Node(rounds, UserError, "--rounds").integer(1, 10**6)
    Node(seed, UserError, "--seed").integer(0, 2**31)
    from helsinki_env.agents.net.checkpoint import load_checkpoint
    from helsinki_env.agents.net.description import PLAIN_KIND
    from helsinki_env.agents.net.make import network_path
    from helsinki_env.training.preset import Preset

    chosen = Preset.from_yaml(preset)
    if chosen.learner == PLAIN_KIND:
        with requires_extra("train"):
            import torch

            from helsinki_env.training.gpu import bench

        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        bench.main(chosen, rounds, seed, device, games)
        return
    network, _ = load_checkpoint(checkpoint or network_path("first"))
    size = sum(p.numel() for p in network.parameters())
    ours = _ours(chosen, network, seed)
    theirs, weights = _theirs(chosen, size, seed)
    counted: dict[str, list[tuple[int, int, float]]] = {"helsinki train": [], "MaskablePPO": []}
    spent: dict[str, float] = {}
    whole = 0.0
    for number in range(rounds + 1):
        for name, update in (("helsinki train", ours), ("MaskablePPO", theirs)):
            began = time.perf_counter()
            decisions, asked, seconds = update()
            took = time.perf_counter() - began
            if number:
                counted[name].append((decisions, asked, took))
                for part, value in seconds.items():
                    spent[part] = spent.get(part, 0.0) + value
                whole += took if seconds else 0.0
    console = plain_console()
    table = Table(title=f"{rounds} updates of each, in turns: decisions a second")
    for column in ("learner", "weights", "of the games", "asked about", "of the games, each update"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    rates = []
    for (name, found), count in zip(counted.items(), (size, weights), strict=True):
        took = sum(seconds for _, _, seconds in found)
        rates.append([sum(entry[kind] for entry in found) / took for kind in (0, 1)])
        each = ", ".join(f"{decisions / seconds:,.0f}" for decisions, _, seconds in found)
        table.add_row(name, f"{count:,}", *(f"{rate:,.0f}" for rate in rates[-1]), each)
    console.print(table)
    ratios = [ours / theirs for ours, theirs in zip(*rates, strict=True)]
    console.print(f"Ratio: {ratios[0]:.2f} of the games, {ratios[1]:.2f} asked about")
    parts = Table(title="What the time of helsinki train goes to: playing (one processor) and learning (the other)")
    parts.add_column("part")
    parts.add_column("of the time", justify="right")
    for part, value in spent.items():
        parts.add_row(part, f"{value / whole:.1%}")
    console.print(parts)


if __name__ == "__main__":
    prepare_output()
    with requires_extra("sb3", program=True):
        try:
            tyro.cli(main, prog="python -m helsinki_env.training.bench")
        except UserError as problem:
            sys.exit(f"helsinki_env.training.bench: {problem}")

"""Benchmark training throughput, alternating with Stable-Baselines3.

    python benchmarks/training_speed.py --help
    python benchmarks/training_speed.py --preset standard --rounds 3

Both learn two-player games with networks of similar size and the same numbers of parallel games, epochs and samples per
minibatch. Both may use all CPU cores. Our learner starts with a trained network, which is typical of most of a run.

The benchmark counts the steps that a network evaluates and learns from. Our learner plays all seats and skips steps
with a single legal action. Stable-Baselines3 plays one seat against a random player and learns from all its steps.

A preset with an MLP (``--preset gpu``) is measured on its own on the selected device.
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
from helsinki_env.engine.spec import default_spec
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.machine import cpu_count
from helsinki_env.utils.terminal import plain_console, prepare_output

if TYPE_CHECKING:
    from helsinki_env.agents.net.network import Network
    from helsinki_env.training.preset import Preset

#: Function that runs one update; returns the number of evaluated steps and the time by activity.
Update = Callable[[], tuple[int, dict[str, float]]]


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

    def no_opponent(rollout: int) -> Any:
        raise AssertionError(f"rollout {rollout} has no opponents")

    learner = PPO(network, stage, config, seed, no_opponent, uses_bfloat16(preset.precision, device))

    def update() -> tuple[int, dict[str, float]]:
        torch.set_num_threads(1)  # one CPU core plays while another learns
        before = learner.decisions
        progress = learner.update()
        learner.wait_for_rollout()  # a running rollout would slow the other learner
        return learner.decisions - before, progress.seconds

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
    # Policy and value networks are separate: 2 (inputs w + w w) + w ids weights.
    width = next(w for w in range(16, 4096, 16) if 2 * (inputs * w + w * w) + w * ids >= ours)
    arch = {"net_arch": [width, width], "activation_fn": torch.nn.ReLU}
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=c.num_steps, batch_size=c.minibatch_size, n_epochs=c.update_epochs, gamma=1.0,
        seed=seed, policy_kwargs=arch, device="cpu",
    )  # fmt: skip
    threads = cpu_count()

    def update() -> tuple[int, dict[str, float]]:
        torch.set_num_threads(threads)
        model.learn(c.num_envs * c.num_steps, reset_num_timesteps=False)
        return c.num_envs * c.num_steps, {}

    return update, sum(p.numel() for p in model.policy.parameters())


def main(
    preset: str = "standard",
    checkpoint: Path | None = None,
    rounds: int = 4,
    seed: int = 0,
    device: Literal["auto", "cpu", "cuda"] = "auto",
    games: int | None = None,
) -> None:
    """Measure training throughput, alternating with MaskablePPO from Stable-Baselines3.

    Args:
        preset: name in configs/training or path of a YAML file, which sets the numbers of games, steps and epochs.
        checkpoint: initial network of our learner; default: net:first.
        rounds: number of updates of each learner after a warm-up update. Use an even number, because games last about
            two updates and the cost of a step varies during a game.
        seed: random seed of weights and games.
        device: device of an MLP; auto selects a GPU if PyTorch finds one.
        games: number of parallel games of an MLP; default: that of the preset.
    """
    Node(rounds, UserError, "--rounds").integer(1, 10**6)
    Node(seed, UserError, "--seed").integer(0, 2**31)
    from helsinki_env.agents.net.checkpoint import load_checkpoint
    from helsinki_env.agents.net.description import MLP_KIND
    from helsinki_env.agents.net.make import network_path
    from helsinki_env.training.preset import Preset

    chosen = Preset.from_yaml(preset)
    if chosen.learner == MLP_KIND:
        with requires_extra("train"):
            import torch

        if device == "auto":
            device = "cuda" if torch.cuda.is_available() else "cpu"
        _measure_mlp(chosen, rounds, seed, device, games)
        return
    Node(chosen.rules, UserError, f"{preset}: rules").choice((default_spec().name,))
    network, _ = load_checkpoint(checkpoint or network_path("first"))
    size = sum(p.numel() for p in network.parameters())
    ours = _ours(chosen, network, seed)
    theirs, weights = _theirs(chosen, size, seed)
    counted: dict[str, list[tuple[int, float]]] = {"helsinki train": [], "MaskablePPO": []}
    spent: dict[str, float] = {}
    total = 0.0
    for number in range(rounds + 1):
        for name, update in (("helsinki train", ours), ("MaskablePPO", theirs)):
            began = time.perf_counter()
            evaluated, seconds = update()
            took = time.perf_counter() - began
            if number:
                counted[name].append((evaluated, took))
                for part, value in seconds.items():
                    spent[part] = spent.get(part, 0.0) + value
                total += took if seconds else 0.0
    console = plain_console()
    table = Table(title=f"{rounds} updates of each, alternating: steps per second")
    for column in ("learner", "weights", "evaluated", "evaluated, by update"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    rates = []
    for (name, updates), count in zip(counted.items(), (size, weights), strict=True):
        took = sum(seconds for _, seconds in updates)
        rates.append(sum(evaluated for evaluated, _ in updates) / took)
        by_update = ", ".join(f"{evaluated / seconds:,.0f}" for evaluated, seconds in updates)
        table.add_row(name, f"{count:,}", f"{rates[-1]:,.0f}", by_update)
    console.print(table)
    console.print(f"Ratio: {rates[0] / rates[1]:.2f}")
    parts = Table(title="Time of helsinki train: playing on one CPU core, learning on the other")
    parts.add_column("activity")
    parts.add_column("share of the time", justify="right")
    for part, value in spent.items():
        parts.add_row(part, f"{value / total:.1%}")
    console.print(parts)


def _measure_mlp(preset: Preset, rounds: int, seed: int, device: str, games: int | None) -> None:
    """Measure play and learning with an MLP on a device."""
    with requires_extra("train"):
        import torch

    from helsinki_env.training.gpu.distributed import ProcessGroup
    from helsinki_env.training.learner import MLPLearner, RunContext
    from helsinki_env.training.run import uses_bfloat16

    ppo = preset.ppo if games is None else replace(preset.ppo, num_envs=games)
    fast = uses_bfloat16(preset.precision, torch.device(device))
    torch.manual_seed(seed)
    learner = MLPLearner(replace(preset, ppo=ppo), RunContext(Path(), seed, torch.device(device), fast, ProcessGroup()))
    phase = learner.ppo
    learner.pool.add("itself", learner.network, -1)
    for _ in range(4 if device == "cuda" else 1):  # the first updates compile kernels and capture CUDA graphs
        phase.update()
    spent, before, began = {"playing": 0.0, "learning": 0.0}, phase.decisions, time.perf_counter()
    for _ in range(rounds):
        for name, seconds in phase.update().seconds.items():
            spent[name] += seconds
    took = time.perf_counter() - began
    played = rounds * ppo.num_envs * ppo.num_steps
    size = sum(p.numel() for p in learner.network.parameters())
    name = torch.cuda.get_device_name() if device == "cuda" else f"a CPU, {torch.get_num_threads()} threads"
    table = Table(title=f"{rounds} updates on {name}: {ppo.num_envs:,} games, {ppo.num_steps} steps, {size:,} weights")
    table.add_column("activity")
    table.add_column("steps per second", justify="right")
    for activity, count, seconds in (
        ("playing: games, network, noise", played, spent["playing"]),
        (f"learning: {ppo.update_epochs} epochs", played, spent["learning"]),
        ("both", played, took),
        ("both, training samples only", phase.decisions - before, took),
    ):
        table.add_row(activity, f"{count / seconds:,.0f}")
    plain_console().print(table)


if __name__ == "__main__":
    prepare_output()
    with requires_extra("sb3", program=True):
        try:
            tyro.cli(main, prog="python benchmarks/training_speed.py")
        except UserError as problem:
            sys.exit(f"training_speed.py: {problem}")

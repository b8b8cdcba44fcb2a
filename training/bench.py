"""How fast training goes, what the time goes to, and how Stable-Baselines3 does beside it: one run, in turns.

    python -m training.bench --help
    python -m training.bench --preset standard --rounds 3

Both learn two-player games with a network of about as many weights, as many games side by side, as many passes over
what was played, and minibatches of the same size; both may use all processors. Counted are decisions that were learnt
from. Ours leaves out decisions without a choice, which cost it no evaluation; Stable-Baselines3 learns from them as
from all others.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import tyro
from rich.console import Console
from rich.table import Table

__all__ = ["main"]


def _ours(preset: Any, seed: int) -> Callable[[], tuple[int, dict[str, float]]]:
    """Return a function that does one update of ours and returns decisions learnt from and what the time went to."""
    import torch

    from agents.net.network import Network
    from training.ppo import PPO
    from training.rollout import Stage
    from training.run import uses_bfloat16
    from training.tables import TableConfig

    torch.manual_seed(seed)
    config = replace(preset.ppo, apart=0.0)
    device = torch.device("cpu")
    stage = Stage(preset.game, [TableConfig()], config.games, 0.0, seed, device)

    def nobody(rollout: int) -> Any:
        raise AssertionError(f"rollout {rollout} has no opponents")

    learner = PPO(
        Network(preset.game, preset.network), stage, config, seed, nobody, uses_bfloat16(preset.precision, device)
    )

    def update() -> tuple[int, dict[str, float]]:
        torch.set_num_threads(1)  # one processor plays, the other learns
        before = learner.decisions
        progress = learner.update()
        return learner.decisions - before, progress.seconds

    return update


def _theirs(preset: Any, seed: int) -> tuple[Callable[[], tuple[int, dict[str, float]]], int]:
    """Return a function that does one update of Stable-Baselines3's, and how many weights its network has."""
    import torch
    from sb3_contrib import MaskablePPO

    from agents.net.network import Network
    from training.sb3 import make_sb3_env

    c = preset.ppo
    ours = sum(p.numel() for p in Network(preset.game, preset.network).parameters())
    env = make_sb3_env(c.games, seed=seed)
    inputs, ids = int(env.observation_space.shape[0]), int(env.action_space.n)  # type: ignore[index,attr-defined]
    # Policy and value have a body each: 2 (inputs w + w w) + w ids weights.
    width = next(w for w in range(16, 4096, 16) if 2 * (inputs * w + w * w) + w * ids >= ours)
    arch = {"net_arch": [width, width], "activation_fn": torch.nn.ReLU}
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=c.steps, batch_size=c.batch, n_epochs=c.epochs, gamma=1.0, seed=seed,
        policy_kwargs=arch, device="cpu",
    )  # fmt: skip
    threads = os.cpu_count() or 1

    def update() -> tuple[int, dict[str, float]]:
        torch.set_num_threads(threads)
        model.learn(c.games * c.steps, reset_num_timesteps=False)
        return c.games * c.steps, {}

    return update, sum(p.numel() for p in model.policy.parameters())


def main(preset: str = "standard", rounds: int = 3, seed: int = 0) -> None:
    """Measure how fast training goes, and how Stable-Baselines3's MaskablePPO does beside it.

    Args:
        preset: a name in configs/training or the path of a YAML file; network, games, steps and passes are taken
            from it.
        rounds: updates of each, in turns, after one that does not count.
        seed: of weights and games.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    from training.preset import Preset

    chosen = Preset.from_yaml(preset)
    ours = _ours(chosen, seed)
    theirs, weights = _theirs(chosen, seed)
    rates: dict[str, list[float]] = {"helsinki train": [], "MaskablePPO": []}
    spent: dict[str, float] = {}
    whole = 0.0
    for number in range(rounds + 1):
        for name, update in (("helsinki train", ours), ("MaskablePPO", theirs)):
            began = time.perf_counter()
            decisions, seconds = update()
            took = time.perf_counter() - began
            if number:
                rates[name].append(decisions / took)
                for part, value in seconds.items():
                    spent[part] = spent.get(part, 0.0) + value
                whole += took if seconds else 0.0
    console = Console()
    table = Table(title=f"{rounds} updates of each, in turns; the network of Stable-Baselines3 has {weights:,} weights")
    for column in ("learner", "decisions learnt from a second", "each update"):
        table.add_column(column, justify="left" if column == "learner" else "right")
    for name, found in rates.items():
        table.add_row(name, f"{statistics.median(found):,.0f}", ", ".join(f"{rate:,.0f}" for rate in found))
    console.print(table)
    ratio = statistics.median(rates["helsinki train"]) / statistics.median(rates["MaskablePPO"])
    console.print(f"Ratio of the medians: {ratio:.2f}")
    parts = Table(title="What the time of helsinki train goes to: playing (one processor) and learning (the other)")
    parts.add_column("part")
    parts.add_column("of the time", justify="right")
    for part, value in spent.items():
        parts.add_row(part, f"{value / whole:.1%}")
    console.print(parts)


if __name__ == "__main__":
    tyro.cli(main)

"""Measure the speed of tensor environments on a GPU or CPU: actions per second for several batch sizes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from helsinki_env.envs.tensors import GameTorchEnv
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

_STEPS = 20


class TensorRow(NamedTuple):
    """A row: batch size, and median actions per second of the environment alone and with action selection."""

    batch: int
    per_second: float
    with_choosing: float


def _clock(device: torch.device) -> Callable[[], float]:
    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    return now


def _measure(config: Any, batch: int, device: str, seconds: float) -> TensorRow:
    env = GameTorchEnv(batch, config, device)
    env.reset(seed=0)
    now = _clock(env.device)
    actions = [env.sample().clone()]

    def step() -> None:
        env.step(actions[0])

    def choose() -> None:
        actions[0] = env.sample()

    def both_of_them() -> None:
        choose()
        step()

    for _ in range(3):
        both_of_them()
    alone: list[float] = []
    both: list[float] = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(alone) < 3:
        # Repeated selection costs the same each time. Stepping needs new actions, so its time is the difference.
        begin = now()
        for _ in range(_STEPS):
            choose()
        middle = now()
        for _ in range(_STEPS):
            both_of_them()
        total = now() - middle
        alone.append(batch * _STEPS / (total - (middle - begin)))
        both.append(batch * _STEPS / total)
    return TensorRow(batch, statistics.median(alone), statistics.median(both))


def measure_tensors(
    config: Any, batches: Sequence[int], device: str, seconds: float, report: Callable[[TensorRow], None]
) -> dict[str, Any]:
    """Measure uniformly random legal play for each batch size; return the results and conditions as plain data."""
    rows = []
    for batch in batches:
        rows.append(_measure(config, batch, device, seconds))
        report(rows[-1])
    name = torch.cuda.get_device_name(device) if device.startswith("cuda") else "processor, one thread"
    return {"device": name, "torch": torch.__version__, "rows": [row._asdict() for row in rows]}

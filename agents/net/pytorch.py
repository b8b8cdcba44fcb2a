"""A network in PyTorch as a player asks it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.network import Network
from helsinki_env.agents.net.player import NumpyOutput, inference_batches
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["TorchModel", "single_torch_thread", "supports_bfloat16"]

_LOCK = threading.Lock()
#: How many threads are in `single_torch_thread`, and how many PyTorch computed with before the first of them.
_inside, _before = 0, 1


@contextmanager
def single_torch_thread() -> Iterator[None]:
    """Let PyTorch compute with one thread, and afterwards with as many as before.

    Small networks gain nothing by more, and their last bits are then the same everywhere. Threads that wait for each
    other spin: on a machine that has other work as well, play takes several times as long.
    """
    global _inside, _before
    with _LOCK:
        if not _inside:  # else the number is already that of another thread that is in here
            _before = torch.get_num_threads()
        _inside += 1
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(_before)
        with _LOCK:
            _inside -= 1


def supports_bfloat16(device: torch.device | str = "cpu") -> bool:
    """Whether the hardware multiplies bfloat16 natively."""
    if torch.device(device).type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    capabilities = torch.cpu.get_capabilities()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


class TorchModel:
    """A network in PyTorch.

    Args:
        network: the network; it is put into its playing state.
        fast: compute in bfloat16: several times as fast where the processor knows it, and a little less exact.
    """

    def __init__(self, network: Network, fast: bool = False) -> None:
        self.network, self.fast = network.eval(), fast
        self.group = network.group.cpu().numpy()
        self.sharpness = float(network.sharpness.detach().exp())
        self.ahead = network.config.ahead
        self._device = network.group.device

    @torch.no_grad()
    def __call__(self, seats: npt.NDArray[np.int8], table: npt.NDArray[np.int8]) -> NumpyOutput:
        """Assess positions, int8 (N, P, S) and int8 (N, G); each on its own, whatever it is asked together with."""
        parts = []
        with single_torch_thread(), torch.autocast(self._device.type, torch.bfloat16, enabled=self.fast):
            for rows in inference_batches(len(table)):
                said = self.network(*(torch.from_numpy(x[rows]).to(self._device) for x in (seats, table)))
                parts.append([x.cpu().numpy() for x in said])
        return NumpyOutput(*(np.concatenate([part[i] for part in parts])[: len(table)] for i in range(4)))

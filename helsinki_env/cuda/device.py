"""GPU backend for batches of games in tensors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from helsinki_env.envs.cpu_backend import Memory
from helsinki_env.utils.extras import requires_extra

with requires_extra("cuda"):
    import numba_cuda  # noqa: F401  # replaces numba.cuda
    import torch
    from numba import cuda
    from torch import Tensor

    from helsinki_env.cuda import kernels
    from helsinki_env.cuda.target import register_overloads

__all__ = ["CudaBackend"]

_THREADS = 128


class CudaBackend:
    """Plays games in GPU memory. Calls are asynchronous and run in the current PyTorch stream.

    Args:
        memory: all tensors, on the GPU.
        dtypes: record dtypes by tensor name.
    """

    def __init__(self, memory: Memory, dtypes: dict[str, np.dtype[Any]]) -> None:
        register_overloads()
        self._memory, self._count = memory, len(memory.states)
        arrays = {name: self._array(getattr(memory, name)) for name in vars(memory)}
        for name, dtype in dtypes.items():
            arrays[name] = arrays[name].view(dtype).reshape(len(arrays[name]))
        arrays["words"] = arrays["words"].view(np.uint64)
        self._arrays = arrays
        self._streams: dict[int, Any] = {}  # numba identifies a cached launch by its stream object
        self._first = torch.zeros(1, dtype=torch.int64, device=memory.states.device)

    @staticmethod
    def _array(tensor: Tensor) -> Any:
        return cuda.as_cuda_array(tensor)

    def _run(self, kernel: Any, threads: int, *arguments: Any) -> None:
        """Start a kernel with `threads` threads per game; string arguments name arrays."""
        arrays = [self._arrays[value] if isinstance(value, str) else value for value in arguments]
        self._launch(kernel, self._count * threads, arrays)

    def _launch(self, kernel: Any, threads: int, arguments: list[Any]) -> None:
        device = self._memory.states.device
        with torch.cuda.device(device), cuda.gpus[device.index]:
            pointer = torch.cuda.current_stream(device).cuda_stream
            stream = self._streams.get(pointer) or self._streams.setdefault(pointer, cuda.external_stream(pointer))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small batches leave most of the GPU idle, which is expected
                kernel[-(-threads // _THREADS), _THREADS, stream](*arguments)

    def reset(self) -> None:
        """Deal all games."""
        self._run(kernels.reset_kernel, 1, "tables", "states", "runs", "setup", "drawn", "reports")

    def observe(self) -> None:
        """Write masks, observations and acting seats."""
        self._memory.masks.zero_()
        self._run(kernels.mark_all, 1, "tables", "states", "masks", "seats")
        self._run(kernels.observe_all, kernels.WARP, "tables", "states", "observations")

    def step(self, reward: int) -> None:
        """Apply `actions`, then write masks, observations and acting seats."""
        self._run(
            kernels.step_kernel, 1, "tables", "states", "runs", "setup", "drawn", "actions", reward, "masks", "reports",
            "rewards", "ended", "illegal",
        )  # fmt: skip
        self.observe()

    def first_illegal(self) -> int:
        """Return the index of the first game whose action in `actions` is illegal, or -1. Synchronizes with the GPU."""
        self._first.fill_(self._count)
        self._run(kernels.refuse_all, 1, "states", "actions", "masks", self._array(self._first))
        found = int(self._first)
        return found if found < self._count else -1

    def sample(self) -> None:
        """Sample a uniformly random legal action for each game into `chosen`."""
        self._run(kernels.choose_all, kernels.WARP, "masks", "words", "chosen")

"""GPU backend for tensor batches of games.

For each `helsinki_env.engine.kernel` called by a CUDA kernel, numba-cuda compiles the Python function behind the CPU
version. Two kinds of callees need special handling: overloaded kernels resolve to the kernel for the game of the
record, and vector intrinsics to plain loops.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.vectors import FALLBACK_LOOPS
from helsinki_env.envs.tensors import Memory
from helsinki_env.utils.extras import requires_extra

with requires_extra("cuda"):
    import numba_cuda  # noqa: F401  # replaces numba.cuda
    import torch
    from numba import cuda
    from numba.cuda.core import config
    from torch import Tensor

    from helsinki_env.cuda import kernels

_THREADS = 128


class CudaBackend:
    """Backend that runs the games in GPU memory. Calls are asynchronous and run in the current PyTorch stream."""

    def __init__(self, memory: Memory, dtypes: dict[str, np.dtype[Any]]) -> None:
        register_overloads()
        self._memory, self._count = memory, len(memory.states)
        arrays = {name: self._array(getattr(memory, name)) for name in vars(memory)}
        for name, dtype in dtypes.items():
            arrays[name] = arrays[name].view(dtype).reshape(len(arrays[name]))
        arrays["keys"] = arrays["keys"].view(np.uint64)
        self._arrays = arrays
        self._streams: dict[int, Any] = {}  # numba caches launches by stream object
        self._first = torch.zeros(1, dtype=torch.int64, device=memory.states.device)

    @staticmethod
    def _array(tensor: Tensor) -> Any:
        return cuda.as_cuda_array(tensor)

    def _run(self, kernel: Any, threads: int, *arguments: Any) -> None:
        """Launch a kernel with `threads` threads per game; string arguments are names of arrays."""
        arrays = [self._arrays[value] if isinstance(value, str) else value for value in arguments]
        self._launch(kernel, self._count * threads, arrays)

    def _launch(self, kernel: Any, threads: int, arguments: list[Any]) -> None:
        device = self._memory.states.device
        with torch.cuda.device(device), cuda.gpus[device.index]:
            pointer = torch.cuda.current_stream(device).cuda_stream
            stream = self._streams.get(pointer) or self._streams.setdefault(pointer, cuda.external_stream(pointer))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # small batches are expected to leave most of the GPU idle
                kernel[-(-threads // _THREADS), _THREADS, stream](*arguments)

    def reset(self) -> None:
        """Deal all games."""
        self._run(kernels.reset_kernel, 1, "tables", "states", "runs", "setup", "drawn", "reports")

    def observe(self) -> None:
        """Write the masks, observations and acting seats."""
        self._mark()
        self._run(kernels.observe_all, kernels.WARP, "tables", "states", "observations")

    def _mark(self) -> None:
        self._memory.masks.zero_()
        self._run(kernels.mark_all, 1, "tables", "states", "masks", "seats")

    def step(self, reward: int, observe: bool = True) -> None:
        """Apply `actions`, then write the masks, acting seats and, if `observe` is true, the observations."""
        self._run(
            kernels.step_kernel, 1, "tables", "states", "runs", "setup", "drawn", "actions", reward, "masks", "reports",
            "rewards", "ended", "illegal",
        )  # fmt: skip
        (self.observe if observe else self._mark)()

    def first_illegal(self) -> int:
        """Return the index of the first game whose action in `actions` is illegal, or -1. Synchronizes with the GPU."""
        self._first.fill_(self._count)
        self._run(kernels.find_illegal, 1, "states", "actions", "masks", self._array(self._first))
        found = int(self._first)
        return found if found < self._count else -1

    def sample(self) -> None:
        """Sample a uniformly random legal action for each game into `chosen`."""
        self._run(kernels.sample_all, kernels.WARP, "masks", "keys", "chosen")


class _CudaOverload:
    """Overloaded kernel for use in CUDA kernels; it resolves to the kernel for the record type among the arguments."""

    is_compiling = False

    def __init__(self, overloaded: OverloadedKernel) -> None:
        self.overloaded = overloaded

    def _function_for(self, arguments: tuple[Any, ...]) -> Any:
        return function_of(self.overloaded.kernel_for(arguments).py_func)

    def get_call_template(self, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Return the call template used by the calling kernel."""
        return self._function_for(arguments).get_call_template(arguments, keywords)

    def get_overload(self, arguments: tuple[Any, ...]) -> Any:
        """Return the overload used by the calling kernel."""
        return self._function_for(arguments).get_overload(arguments)


# Numba types hold only weak references to these objects.
_overloads: dict[OverloadedKernel, _CudaOverload] = {}
_functions: dict[Callable[..., Any], Any] = {}


def function_of(function: Callable[..., Any]) -> Any:
    """Convert a Python function to a CUDA device function."""
    if function not in _functions:
        _functions[function] = cuda.jit(device=True)(function)
    return _functions[function]


def register_overloads() -> None:
    """Register overloads and intrinsics with numba-cuda, including those defined since the last call."""
    if not JIT or config.ENABLE_CUDASIM:  # kernels are plain functions in this mode and call each other directly
        return
    from numba.cuda import types
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.extending import typeof_impl

    @typeof_impl.register(OverloadedKernel)  # type: ignore[untyped-decorator]  # Numba is untyped
    def type_of_overload(overloaded: OverloadedKernel, context: Any) -> Any:
        return types.Dispatcher(_overloads.setdefault(overloaded, _CudaOverload(overloaded)))

    typing = cuda_target.typing_context
    typing.refresh()
    for intrinsic, loop in FALLBACK_LOOPS.items():
        if typing._lookup_global(intrinsic) is not None:
            typing._remove_global(intrinsic)  # remove the CPU version
        typing.insert_global(intrinsic, types.Dispatcher(function_of(loop)))

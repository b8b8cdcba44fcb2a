"""Simulated GPUs: one that records the requested kernels, and one that runs them."""

from __future__ import annotations

import re
import threading
from typing import Any, NamedTuple

import numba
import numpy as np
from torch import Tensor

from helsinki_env.cuda.device import CudaBackend
from helsinki_env.envs.tensors import GameTorchEnv


class HostGpu(CudaBackend):
    """A GPU whose memory is that of the CPU."""

    @staticmethod
    def _array(tensor: Tensor) -> Any:
        return tensor.numpy()


class Asked(HostGpu):
    """Collects kernels with the types of their arguments instead of running them."""

    def __init__(self, env: GameTorchEnv) -> None:
        super().__init__(env.memory, env._dtypes)
        self.kernels: dict[str, tuple[Any, tuple[Any, ...]]] = {}
        self.reset()
        self.step(0)
        self.first_illegal()
        self.sample()

    def _launch(self, kernel: Any, threads: int, arguments: list[Any]) -> None:
        function = kernel.py_func
        self.kernels[function.__name__] = function, tuple(map(numba.typeof, arguments))


class Resources(NamedTuple):
    """What the assembler says of a kernel, and how many products of floats are fused with a sum."""

    registers: int
    stack: int
    spilled: int
    fused: int


def compiled_for_hopper(function: Any, types: tuple[Any, ...]) -> Resources:
    """Compile a kernel for compute capability 9.0, down to the code of the card, without a driver."""
    from cuda.bindings import nvjitlink
    from numba.cuda import compiler, dispatcher

    class Hopper:
        compute_capability = (9, 0)

    asked = dispatcher.get_current_device
    dispatcher.get_current_device = lambda: Hopper  # numba-cuda asks for the card even where it is told for which
    try:
        ptx, _ = compiler.compile(function, types, device=False, cc=(9, 0), abi="numba")
    finally:
        dispatcher.get_current_device = asked
    options = ["-arch=sm_90", "-verbose"]
    linker = nvjitlink.create(len(options), options)
    try:
        code = ptx.encode()
        nvjitlink.add_data(linker, nvjitlink.InputType.PTX, code, len(code), "kernel")
        nvjitlink.complete(linker)
        log = bytearray(nvjitlink.get_info_log_size(linker))
        nvjitlink.get_info_log(linker, log)
    finally:
        nvjitlink.destroy(linker)
    text = log.decode()

    def numbers(pattern: str) -> list[int]:
        found = [int(number) for number in re.findall(pattern, text)]
        assert found, text
        return found

    return Resources(
        registers=max(numbers(r"Used (\d+) registers")),
        stack=max(numbers(r"(\d+) bytes stack frame")),
        spilled=max(numbers(r"(\d+) bytes spill (?:stores|loads)")),
        fused=len(re.findall(r"fma\.rn\.f", ptx)),
    )


class Simulated(HostGpu):
    """Runs the kernels in numba-cuda's simulator, a thread of Python for each of the card."""

    def __init__(self, env: GameTorchEnv) -> None:
        from numba.cuda.simulator.kernelapi import FakeCUDAModule

        FakeCUDAModule.ballot_sync = _ballot
        super().__init__(env.memory, env._dtypes)

    def _launch(self, kernel: Any, threads: int, arguments: list[Any]) -> None:
        kernel[-(-threads // 32), 32](*arguments)


_votes: dict[int, bool] = {}


def _ballot(module: Any, lanes: int, vote: bool) -> int:
    """What the simulator lacks: which lanes say yes, as bits; its blocks are single warps here."""
    lane = threading.current_thread().threadIdx.x  # type: ignore[attr-defined]  # the simulator's own threads
    _votes[lane] = bool(vote)
    module.syncthreads()
    found = sum(1 << lane for lane, yes in _votes.items() if yes)
    module.syncthreads()
    return int(np.uint32(found))

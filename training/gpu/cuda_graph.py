"""Work that is recorded once and then replayed by the card, so that it need not wait for Python.

Source: PyTorch's notes on CUDA semantics, "CUDA Graphs".
"""

from __future__ import annotations

from collections.abc import Callable

from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["CudaGraph"]

#: Calls before the recording: libraries make up their minds in the first ones.
_BEFORE = 3


class CudaGraph:
    """Calls a function; on a card, from the fourth call on, what it did is replayed.

    Args:
        function: reads and writes the same tensors in every call, waits for nothing and decides nothing by what is in
            them.
        device: where they are; on a processor the function is just called.
    """

    def __init__(self, function: Callable[[], None], device: torch.device) -> None:
        self._function, self._device = function, device
        self._calls = 0
        self._graph: torch.cuda.CUDAGraph | None = None

    def __call__(self) -> None:
        """Do it once."""
        if self._device.type != "cuda":
            self._function()
            return
        if self._graph is None and self._calls < _BEFORE:
            self._calls += 1
            here = torch.cuda.current_stream(self._device)
            aside = torch.cuda.Stream(self._device)  # type: ignore[no-untyped-call]  # PyTorch's own
            aside.wait_stream(here)
            with torch.cuda.stream(aside):  # as recording asks for it
                self._function()
            here.wait_stream(aside)
            return
        if self._graph is None:
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):  # nothing is computed here
                self._function()
        self._graph.replay()

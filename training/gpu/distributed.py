"""Distributed training with one process per GPU, started by ``torchrun``.

Each process plays part of the games; all processes have the same network.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor, distributed, nn
    from torch.nn.utils import parameters_to_vector, vector_to_parameters


class ProcessGroup:
    """Process group of a run, as seen by process `rank` of `size`."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @classmethod
    def from_torchrun(cls, device: str) -> ProcessGroup:
        """Join the group of processes started by ``torchrun``; with "cuda", each process uses its own GPU."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return cls()
        if device == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        # PyTorch's optimizers import this module, whose functions keep the group that exists at that time. The threads
        # of a group that outlives `close` can abort the interpreter while it ends.
        importlib.import_module("torch.distributed.nn")
        distributed.init_process_group("nccl" if device == "cuda" else "gloo")
        return cls(distributed.get_rank(), distributed.get_world_size())

    def close(self) -> None:
        """Leave the process group."""
        if self.size > 1:
            distributed.destroy_process_group()

    @property
    def is_main(self) -> bool:
        """Return whether this process writes files and prints progress."""
        return self.rank == 0

    def all_reduce(self, values: Tensor) -> Tensor:
        """Sum a tensor over all processes in place and return it."""
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def all_gather(self, rows: Tensor) -> Tensor:
        """Concatenate the rows of all processes."""
        if self.size == 1:
            return rows
        parts = [torch.empty_like(rows) for _ in range(self.size)]
        distributed.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    def broadcast(self, value: Any) -> Any:
        """Return the value that the first process has."""
        if self.size == 1:
            return value
        values = [value]
        distributed.broadcast_object_list(values)
        return values[0]

    def sum_gradients(self, network: nn.Module) -> None:
        """Sum the gradients of a network over all processes in place.

        DistributedDataParallel would keep the process group, so that its threads would outlive `close`.
        """
        if self.size > 1:
            gradients = [p.grad for p in network.parameters() if p.grad is not None]
            vector_to_parameters(self.all_reduce(parameters_to_vector(gradients)), gradients)

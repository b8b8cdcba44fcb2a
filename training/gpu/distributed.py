"""Processes that train together, one per GPU, as started by ``torchrun``.

Every process plays a part of the games; all processes have the same network.
"""

from __future__ import annotations

import os
from typing import Any

from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor, distributed
    from torch.nn.parallel import DistributedDataParallel


class ProcessGroup:
    """Process `rank` of the `size` processes of a run."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @classmethod
    def from_torchrun(cls, device: str) -> ProcessGroup:
        """Join the processes that ``torchrun`` started; with "cuda" each process uses its own GPU."""
        size = int(os.environ.get("WORLD_SIZE", "1"))
        if size == 1:
            return cls()
        if device == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        distributed.init_process_group("nccl" if device == "cuda" else "gloo")
        return cls(distributed.get_rank(), distributed.get_world_size())

    def close(self) -> None:
        """Leave the group."""
        if self.size > 1:
            distributed.destroy_process_group()

    @property
    def is_main(self) -> bool:
        """Return whether this process writes files and prints progress."""
        return self.rank == 0

    def all_reduce(self, values: Tensor) -> Tensor:
        """Return the sum over all processes, in the same tensor."""
        if self.size > 1:
            distributed.all_reduce(values)
        return values

    def all_gather(self, rows: Tensor) -> Tensor:
        """Return the concatenated rows of all processes."""
        if self.size == 1:
            return rows
        parts = [torch.empty_like(rows) for _ in range(self.size)]
        distributed.all_gather(parts, rows.contiguous())
        return torch.cat(parts)

    def broadcast(self, value: Any) -> Any:
        """Return the value of the first process."""
        if self.size == 1:
            return value
        values = [value]
        distributed.broadcast_object_list(values)
        return values[0]

    def wrap_ddp(self, network: torch.nn.Module) -> torch.nn.Module:
        """Return the network with gradients averaged over all processes."""
        return DistributedDataParallel(network, broadcast_buffers=False) if self.size > 1 else network

"""Where the games of a batch of tensors are played: what every such place does, and the processor, which is one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from helsinki_env.engine import playout
from helsinki_env.envs import tensor_kernels as kernels
from helsinki_env.envs.kernels import REPORT, RUN
from helsinki_env.extras import needs

with needs("train"):
    import torch
    from torch import Tensor

__all__ = ["Memory", "Place", "Processor"]


def _rows(count: int, dtype: np.dtype[Any], device: torch.device) -> Tensor:
    return torch.zeros((count, dtype.itemsize), dtype=torch.uint8, device=device)


def bytes_of(records: Any, device: torch.device) -> Tensor:
    """Return contiguous records (count,) as uint8 (count, bytes of a record) on a device, a copy."""
    rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), -1)
    return torch.tensor(rows, device=device)


@dataclass
class Memory:
    """All tensors of a batch of B games with A decisions and F entries of an observation, on one device.

    Records are rows of bytes: the kernels know what stands in them.

    Attributes:
        tables: the component file, one record.
        states: the games.
        runs: where their chance comes from.
        setup: what is played, one record.
        drawn: what random episodes draw, one record for each game.
        reports: what is said of games that ended in the last step.
        masks: legal decisions, int8 (B, A).
        observations: int8 (B, F), of the seat to move.
        seats: who is to move, int64 (B,).
        rewards: of the seat that acted, float32 (B,).
        ended: bool (B,).
        actions: what the next step carries out, int64 (B,).
        illegal: how many illegal decisions there were, int64 (1,).
        words: random words of `sample`, the bits of uint64 as int64 (B,).
        chosen: what `sample` chose, int64 (B,).
    """

    tables: Tensor
    states: Tensor
    runs: Tensor
    setup: Tensor
    drawn: Tensor
    reports: Tensor
    masks: Tensor
    observations: Tensor
    seats: Tensor
    rewards: Tensor
    ended: Tensor
    actions: Tensor
    illegal: Tensor
    words: Tensor
    chosen: Tensor

    @classmethod
    def of(cls, spec: Any, config: Any, episodes: Any, count: int, device: torch.device) -> Memory:
        """Return the tensors of so many games, nothing dealt yet."""
        states, setup, drawn = spec.new_states(config, 1), spec.new_states(config, 1), episodes.record()
        spec.apply_setup(setup, config)

        def numbers(*shape: int, dtype: torch.dtype = torch.int64) -> Tensor:
            return torch.zeros(shape, dtype=dtype, device=device)

        return cls(
            tables=bytes_of(config.tables, device),
            states=bytes_of(states, device).repeat(count, 1),
            runs=_rows(count, RUN, device),
            setup=bytes_of(setup, device),
            drawn=bytes_of(drawn, device).repeat(count, 1),
            reports=_rows(count, REPORT, device),
            masks=numbers(count, spec.ids(config), dtype=torch.int8),
            observations=numbers(count, spec.features(config), dtype=torch.int8),
            seats=numbers(count),
            rewards=numbers(count, dtype=torch.float32),
            ended=numbers(count, dtype=torch.bool),
            actions=numbers(count),
            illegal=numbers(1),
            words=numbers(count),
            chosen=numbers(count),
        )


class Place(Protocol):
    """Plays the games that lie in its memory; each call writes there, and returns nothing."""

    def begin(self) -> None:
        """Deal all games."""

    def look(self) -> None:
        """Write masks, observations and seats."""

    def step(self, reward: int) -> None:
        """Carry out `actions` and look; `reward` is the number of a kind in `REWARDS`."""

    def first_illegal(self) -> int:
        """Return the index of the first game whose decision in `actions` is not legal, or -1."""
        ...

    def choose(self) -> None:
        """Write a uniformly random legal decision of each game into `chosen`."""


class Processor:
    """Plays games in the memory of the processor, with the kernels of the other batches."""

    def __init__(self, memory: Memory, dtypes: dict[str, np.dtype[Any]]) -> None:
        """`dtypes`: of the records, by the name of the tensor."""
        self._memory = memory

        def records(name: str) -> Any:
            return getattr(memory, name).numpy().view(dtypes[name])[:, 0]

        self._games = tuple(map(records, ("tables", "states", "runs", "setup", "drawn")))
        self._reports = records("reports")
        self._looks = memory.masks.numpy(), memory.observations.numpy(), memory.seats.numpy()
        self._results = memory.rewards.numpy(), memory.ended.numpy(), memory.illegal.numpy()
        self._actions, self._chosen = memory.actions.numpy(), memory.chosen.numpy()
        self._words = memory.words.numpy().view(np.uint64)

    def begin(self) -> None:
        """Deal all games."""
        kernels.begin_all(*self._games, self._reports)

    def look(self) -> None:
        """Write masks, observations and seats."""
        tables, states, *_ = self._games
        kernels.look_all(tables, states, *self._looks)

    def step(self, reward: int) -> None:
        """Carry out `actions` and look."""
        kernels.step_all(*self._games, self._actions, reward, *self._looks, self._reports, *self._results)

    def first_illegal(self) -> int:
        """Return the index of the first game whose decision in `actions` is not legal, or -1."""
        return int(kernels.first_illegal(self._games[1], self._actions, self._looks[0]))

    def choose(self) -> None:
        """Write a uniformly random legal decision of each game into `chosen`."""
        playout.choose_batch(self._looks[0], self._words, self._chosen)

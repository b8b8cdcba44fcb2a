"""Backends of the tensor environments: their protocol, and the CPU backend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from helsinki_env.engine import playout
from helsinki_env.envs import tensor_kernels as kernels
from helsinki_env.envs.kernels import REPORT, RUN
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["Backend", "CpuBackend", "Memory"]


def _rows(count: int, dtype: np.dtype[Any], device: torch.device) -> Tensor:
    return torch.zeros((count, dtype.itemsize), dtype=torch.uint8, device=device)


def bytes_of(records: Any, device: torch.device) -> Tensor:
    """Return a copy of contiguous records (count,) on a device, as uint8 (count, bytes per record)."""
    rows = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), -1)
    return torch.tensor(rows, device=device)


@dataclass
class Memory:
    """All tensors of a batch of B games with A actions and F observation entries, on one device.

    Records are rows of bytes, which the kernels interpret.
    """

    tables: Tensor  # the component file, one record
    states: Tensor  # records of the games
    runs: Tensor  # random streams of the games
    setup: Tensor  # game options, one record
    drawn: Tensor  # options of random episodes, one record per game
    reports: Tensor  # results of the games that ended in the last step
    masks: Tensor  # int8 (B, A)
    observations: Tensor  # int8 (B, F), of the acting seats
    seats: Tensor  # acting seats, int64 (B,)
    rewards: Tensor  # of the seats that acted, float32 (B,)
    ended: Tensor  # bool (B,)
    actions: Tensor  # of the next step, int64 (B,)
    illegal: Tensor  # number of illegal actions so far, int64 (1,)
    keys: Tensor  # random keys of `sample`, the bits of uint64 as int64 (B,)
    chosen: Tensor  # result of `sample`, int64 (B,)

    @classmethod
    def of(cls, spec: Any, config: Any, episodes: Any, count: int, device: torch.device) -> Memory:
        """Return the tensors for `count` games, none of them dealt yet."""
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
            masks=numbers(count, spec.num_actions(config), dtype=torch.int8),
            observations=numbers(count, spec.observation_size(config), dtype=torch.int8),
            seats=numbers(count),
            rewards=numbers(count, dtype=torch.float32),
            ended=numbers(count, dtype=torch.bool),
            actions=numbers(count),
            illegal=numbers(1),
            keys=numbers(count),
            chosen=numbers(count),
        )


class Backend(Protocol):
    """A backend that plays the games in its memory; each call writes there and returns nothing."""

    def reset(self) -> None:
        """Deal all games."""

    def observe(self) -> None:
        """Write masks, observations and acting seats."""

    def step(self, reward: int) -> None:
        """Apply `actions`, then do as `observe`; `reward` is the index of a reward type in `REWARDS`."""

    def first_illegal(self) -> int:
        """Return the index of the first game whose action in `actions` is illegal, or -1."""
        ...

    def sample(self) -> None:
        """Sample a uniformly random legal action for each game into `chosen`."""


class CpuBackend:
    """The CPU backend, with the same kernels as the other batch environments."""

    def __init__(self, memory: Memory, dtypes: dict[str, np.dtype[Any]]) -> None:
        """Attach to the memory; `dtypes` are the record dtypes by tensor name."""
        self._memory = memory

        def records(name: str) -> Any:
            return getattr(memory, name).numpy().view(dtypes[name])[:, 0]

        self._games = tuple(map(records, ("tables", "states", "runs", "setup", "drawn")))
        self._reports = records("reports")
        self._looks = memory.masks.numpy(), memory.observations.numpy(), memory.seats.numpy()
        self._results = memory.rewards.numpy(), memory.ended.numpy(), memory.illegal.numpy()
        self._actions, self._chosen = memory.actions.numpy(), memory.chosen.numpy()
        self._keys = memory.keys.numpy().view(np.uint64)
        self._sets = np.empty(playout.num_blocks(memory.masks.shape[1]), np.uint64)

    def reset(self) -> None:
        """Deal all games."""
        kernels.reset_all(*self._games, self._reports)

    def observe(self) -> None:
        """Write masks, observations and acting seats."""
        tables, states, *_ = self._games
        kernels.observe_games(tables, states, *self._looks)

    def step(self, reward: int) -> None:
        """Apply `actions`, then write masks, observations and acting seats."""
        kernels.step_all(*self._games, self._actions, reward, *self._looks, self._reports, *self._results)

    def first_illegal(self) -> int:
        """Return the index of the first game whose action in `actions` is illegal, or -1."""
        return int(kernels.first_illegal_tensor_game(self._games[1], self._actions, self._looks[0]))

    def sample(self) -> None:
        """Sample a uniformly random legal action for each game into `chosen`."""
        playout.sample_batch(self._looks[0], self._keys, self._chosen, self._sets)

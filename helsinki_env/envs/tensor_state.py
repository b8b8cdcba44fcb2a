"""Validate saved states of tensor environments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.spec import spec_of
from helsinki_env.envs.cpu_backend import Memory
from helsinki_env.envs.kernels import REPORT, finish_one
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["SAVED", "checked_state"]

#: Tensors of the memory that form a state; all others are derived or constant.
SAVED = ("states", "runs", "reports", "words", "illegal")
#: Fields of the report of a finished game.
_REPORTED = ("reward", "rewards", "scores", "places", "rounds")


def checked_state(
    state: Any, memory: Memory, dtypes: Mapping[str, np.dtype[Any]], config: Any, most_players: int
) -> dict[str, Tensor]:
    """Return copies of the tensors of a state, on the CPU.

    Args:
        state: argument of `GameTorchEnv.set_state`.
        memory: memory of the environment.
        dtypes: record dtypes by tensor name.
        config: configuration of the environment.
        most_players: maximum number of players that it reports on.

    Raises:
        ValueError: if the state does not fit the environment or is invalid.
    """
    if not isinstance(state, Mapping) or set(state) != set(SAVED):
        found = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise ValueError(f"state: found {found}, expected {', '.join(SAVED)}")
    taken = {name: _copy(name, state[name], getattr(memory, name)) for name in SAVED}
    states, reports = (taken[name].numpy().view(dtypes[name])[:, 0] for name in ("states", "reports"))
    spec_of(config).check(states, config)
    if (states["players"] > most_players).any():
        b = int((states["players"] > most_players).argmax())
        raise ValueError(f"states: game {b}: players: found {states['players'][b]}, expected at most {most_players}")
    _check_reports(reports, states, config)
    if int(taken["illegal"][0]) < 0:
        raise ValueError(f"illegal: found {int(taken['illegal'][0])}, expected a count of illegal actions")
    return taken


def _copy(name: str, found: object, own: Tensor) -> Tensor:
    """Return a copy of a state tensor, checked against the environment's own tensor."""
    if not isinstance(found, Tensor) or found.layout != torch.strided or found.device.type == "meta":
        raise ValueError(f"{name}: found {type(found).__name__}, expected a tensor with values")
    if found.shape != own.shape or found.dtype != own.dtype:
        raise ValueError(
            f"{name}: found {tuple(found.shape)} of {found.dtype}, expected {tuple(own.shape)} of {own.dtype}"
        )
    copied = torch.empty(own.shape, dtype=own.dtype)
    copied.copy_(found)
    return copied


def _check_reports(reports: npt.NDArray[Any], states: npt.NDArray[Any], config: Any) -> None:
    """Check that finished games have correct reports and all other reports are blank."""
    expected = np.zeros(len(reports), REPORT)
    for b in np.flatnonzero(states["done"]).tolist():
        finish_one(config.tables, states[b : b + 1], REWARDS.index(config.reward), expected[b : b + 1])
    for name in ("ended", *_REPORTED):
        found, right = reports[name], expected[name]
        if name == "ended":
            found, right = found.view(np.uint8), right.view(np.uint8)
        wrong = ~np.isclose(found, right, rtol=1e-5) if right.dtype.kind == "f" else found != right
        wrong = wrong.reshape(len(reports), -1).any(axis=1)
        if wrong.any():
            b = int(np.flatnonzero(wrong)[0])
            raise ValueError(
                f"reports: game {b}: {name}: found {found[b].tolist()}, expected {right[b].tolist()} as in `states`"
            )

"""Scaled observations as network inputs for other libraries."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError
from helsinki_env.engine.spec import game_names, spec_by_name

__all__ = ["scale_observation"]


@lru_cache(maxsize=8)
def _scale(size: int) -> npt.NDArray[np.float32]:
    """Return the factor of every entry of an observation of this size, float32 (F,)."""
    for name in game_names():
        scales = spec_by_name(name).scales
        divisors = None if scales is None else scales(size)
        if divisors is not None:
            return (1.0 / divisors.astype(np.float64)).astype(np.float32)
    raise UserError(f"observation: found {size} entries, expected the observation size of a game")


def scale_observation(obs: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return observations, int8 (..., F), as network inputs, float32 (..., F), in a new array.

    Entries keep their positions, so the game's `unpack` finds the fields. Each entry is divided by a large value of
    ordinary games, so most lie between 0 and 1.

    Raises:
        ValueError: if no game has observations of this length.
    """
    scaled: npt.NDArray[np.float32] = obs * _scale(obs.shape[-1])
    return scaled

"""Observations as plain inputs for networks of other libraries: one flat array, every entry scaled."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError
from helsinki_env.engine.spec import game_names, spec_by_name

__all__ = ["scale_observation"]


@lru_cache(maxsize=8)
def _scale(size: int) -> npt.NDArray[np.float32]:
    """Return what the entries of an observation of this size are multiplied by, float32 (F,)."""
    for name in game_names():
        scales = spec_by_name(name).scales
        found = None if scales is None else scales(size)
        if found is not None:
            return (1.0 / found.astype(np.float64)).astype(np.float32)
    raise UserError(f"observation: found {size} entries, as no game has that says how they are scaled")


def scale_observation(obs: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return observations int8 (..., F) as inputs of a network, float32 (..., F), in a new array.

    Every entry keeps its place (the game's `split` finds the pieces) and is divided by a large value that it takes in
    usual games, so most lie between 0 and 1.

    Raises:
        ValueError: if no game has observations of this length.
    """
    scaled: npt.NDArray[np.float32] = obs * _scale(obs.shape[-1])
    return scaled

"""Observations as plain inputs for networks of other libraries: one flat array, every entry scaled."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.games.helsinki import observation

__all__ = ["features"]

#: What the pieces of an observation are divided by: large values of usual games. Codes of cards stay in their order.
_LARGE: dict[str, Any] = {
    "boards": np.array([7, 12, 1, 1]).reshape(4, 1, 1),  # by plane
    "seats": [1, 7, 3, 8, 10, 9, 1, 1],  # by fact, as the next two
    "table": [4, 3, 1, 20, 1, 50, 12, 30],
    "pending": [6, 1, 1, 1, 4, 1, 1, 15, 9, 2, 49, 2, 49, 51, 1, 1],
    "tile_supply": 3,
    "building": 51,
    "display": 51,
    "own_unseen": 51,
    "hand": 2,
    "known": 2,
    "discard": 4,
    "reshuffled": 4,
}


@lru_cache(maxsize=8)
def _scale(size: int) -> npt.NDArray[np.float32]:
    """Return what the entries of an observation of this size are multiplied by, float32 (F,)."""
    layout = observation.layout((size - observation.layout(0).size) // 7)
    pieces = [np.broadcast_to(_LARGE.get(piece.name, 1), piece.shape).reshape(-1) for piece in layout.pieces]
    return (1.0 / np.concatenate(pieces)).astype(np.float32)


def features(obs: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Return observations int8 (..., F) as inputs of a network, float32 (..., F), in a new array.

    Every entry keeps its place (`helsinki_env.observation.split` finds the pieces) and is divided by a large value that
    it takes in usual games, so most lie between 0 and 1.
    """
    scaled: npt.NDArray[np.float32] = obs * _scale(obs.shape[-1])
    return scaled

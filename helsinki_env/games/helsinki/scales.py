"""Divisors that normalize observation entries for networks of other libraries: large values of typical games."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.games.helsinki.observation import observation_layout

__all__ = ["scales"]

#: By field; missing fields hold only zeros and ones. Card codes keep their order.
_LARGE: dict[str, Any] = {
    "boards": np.array([7, 12, 1, 1]).reshape(4, 1, 1),  # by plane
    "seats": [1, 7, 3, 8, 10, 9, 1, 1],  # one divisor per fact, as in the next two fields
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


def scales(size: int) -> npt.NDArray[np.float32] | None:
    """Return the divisors for observations of length `size`, (F,), or None if no layout has this length."""
    types, rest = divmod(size - observation_layout(0).size, 7)
    if types < 1 or rest:
        return None
    pieces = observation_layout(types).fields
    return np.concatenate([np.broadcast_to(_LARGE.get(p.name, 1), p.shape).reshape(-1) for p in pieces]).astype(
        np.float32
    )

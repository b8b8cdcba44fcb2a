"""Divisors that normalize observations for networks of other libraries: large values of typical games."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.games.copenhagen.observation import LAYOUT

__all__ = ["scales"]

#: Divisors by field; fields that are not listed hold ones and zeros.
_LARGE: dict[str, Any] = {
    "boards": np.array([6, 12, 1, 1]).reshape(4, 1, 1),  # by plane
    "seats": [1, 8, 12],  # by fact, as in the next two
    "table": [4, 3, 25, 50, 1, 20],
    "pending": [7, 1, 1, 1, 1, 1, 5, 5, 5, 8, 45, 5, 5],
    "tile_supply": 3,
    "paid": 3,
    "rewards": 3,
    "display": 5,
    "hand": 3,
    "known": 3,
    "discard": 6,
    "reshuffled": 6,
}


def scales(size: int) -> npt.NDArray[np.float32] | None:
    """Return the divisors for observations of this length, (F,), or None if no observation has it."""
    if size != LAYOUT.size:
        return None
    pieces = [np.broadcast_to(_LARGE.get(p.name, 1), p.shape).reshape(-1) for p in LAYOUT.fields]
    return np.concatenate(pieces).astype(np.float32)

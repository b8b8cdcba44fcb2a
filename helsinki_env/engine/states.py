"""Copy arrays of game records (structured NumPy arrays) for any game."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import as_integer, short_repr

__all__ = ["States", "copy_states", "repeat_state"]

States = npt.NDArray[Any]
"""Records of one dtype, (count,)."""


def copy_states(states: States, out: States | None = None) -> States:
    """Return a copy of contiguous records, (count,), written into `out` if given. Raise ValueError for other arrays.

    The records are copied as bytes, because NumPy would copy structured arrays field by field.
    """
    try:
        if out is None:
            out = np.empty(states.shape, states.dtype)
        np.copyto(out.view(np.uint8), states.view(np.uint8))
    except (AttributeError, TypeError, ValueError) as problem:
        raise ValueError(f"states: found {problem}, expected contiguous records, and out of the same shape") from None
    return out


def repeat_state(states: States, count: int) -> States:
    """Return `count` copies of one contiguous record, (1,), including padding. Raise ValueError for invalid input."""
    number = as_integer(count)
    if not isinstance(states, np.ndarray) or states.shape != (1,) or not states.dtype.names:
        raise ValueError(f"states: found {short_repr(states)}, expected one record of shape (1,)")
    if number is None or number < 0:
        raise ValueError(f"count: found {short_repr(count)}, expected a whole number of at least 0")
    return np.tile(states.view(np.uint8), (count, 1)).view(states.dtype)[:, 0]

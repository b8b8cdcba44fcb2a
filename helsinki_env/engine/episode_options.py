"""Parse the options of random episodes: one value, or several to draw from."""

from __future__ import annotations

from typing import Any

import numpy as np

from helsinki_env.data import short_repr
from helsinki_env.engine.values import as_integer

__all__ = ["as_values", "options_dtype", "read_player_counts", "size_range"]


def options_dtype(*names: str) -> np.dtype[Any]:
    """Return the dtype of episode options for kernels: `players`, integers by name, `chance`.

    `players` is the set of player counts (bit = count), 0 as configured; `chance` is the random key of the episode.
    """
    fields = [*((name, np.int64) for name in ("players", *names)), ("chance", np.uint64)]
    return np.dtype((np.record, np.dtype(fields, align=True)))


def as_values(value: Any) -> tuple[Any, ...]:
    """Return the values to draw from; a value that is not a collection becomes a single one."""
    try:
        return tuple(value)
    except TypeError:  # a single value
        return (value,)


def read_player_counts(value: Any) -> tuple[int, ...]:
    """Return the player counts to draw from.

    Raises:
        ValueError: if there are none, or one is not 2, 3 or 4.
    """
    counts = tuple(as_integer(n) for n in as_values(value))
    if not counts or any(n not in (2, 3, 4) for n in counts):
        raise ValueError(f"num_players: found {short_repr(value)}, expected 2, 3 or 4, or some of them, such as (2, 3)")
    return tuple(n for n in counts if n is not None)


def size_range(name: str, value: Any, most: int, what: str) -> tuple[int, int]:
    """Return the minimum and maximum size of a set to draw, from a number or (low, high).

    Args:
        name: name of the option, for the message.
        value: the number or pair.
        most: number of elements to draw from.
        what: noun for the elements, for the message.

    Raises:
        ValueError: if it is neither, or outside 0 to `most`.
    """
    values = as_values(value)
    low, high = values if len(values) == 2 else (value, value)
    low, high = as_integer(low), as_integer(high)
    if low is None or high is None or not 0 <= low <= high <= most:
        raise ValueError(
            f"{name}: found {short_repr(value)}, expected how many {what}: a number or (low, high) from 0 to {most}"
        )
    return low, high

"""Argmax over legal actions, scanning the mask in blocks of 64."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board_view import ILLEGAL_VALUE
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.vectors import gatherer

__all__ = ["best_legal", "has_alternatives", "reset_values"]

_BLOCK = 64
_gather = gatherer(_BLOCK)


@kernel
def _legal_of(mask, first, last):
    """Return the legal actions among up to 64 from `first` to before `last`, as a bit set relative to `first`."""
    begin = min(first, len(mask) - _BLOCK)
    if begin < 0:
        legal = np.uint64(0)
        for action in range(first, last):
            legal |= np.uint64(mask[action] > 0) << np.uint64(action - first)
        return np.int64(legal)
    legal = np.uint64(_gather(mask, begin)) >> np.uint64(first - begin)
    if last - first < _BLOCK:
        legal &= (np.uint64(1) << np.uint64(last - first)) - np.uint64(1)
    return np.int64(legal)


@kernel
def best_legal(values, mask, first, last):
    """Return the legal action from `first` to before `last` with the highest value, the lowest id on ties; -1: none."""
    best, chosen = 2.0 * ILLEGAL_VALUE, np.int64(-1)
    for block in range(first, last, _BLOCK):
        legal = _legal_of(mask, block, last)
        while legal:
            action = block + lowest_bit(legal)
            legal &= legal - 1
            if values[action] > best:
                best, chosen = values[action], np.int64(action)
    return chosen


@kernel
def reset_values(values, mask, first, last):
    """Reset the values of the actions from `first` to before `last`; return (number of legal actions, one of them)."""
    for action in range(first, last):
        values[action] = ILLEGAL_VALUE
    legal, only = np.int64(0), np.int64(0)
    for block in range(first, last, _BLOCK):
        some = _legal_of(mask, block, last)
        if some:
            legal += popcount(some)
            only = block + lowest_bit(some)
    return legal, only


@kernel
def has_alternatives(mask):
    """Return whether there is more than one legal action."""
    legal = np.int64(0)
    for block in range(0, len(mask), _BLOCK):
        legal += popcount(_legal_of(mask, block, len(mask)))
    return legal > 1

"""Play uniformly at random in compiled code: sample legal actions for a batch, and play games to the end.

Players have a separate random stream for each game, independent of the game's own random state. An action therefore
never changes later random draws, and a game in a batch is identical to a single game.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node, as_integer, short_repr
from helsinki_env.engine.arrays import (
    INT64,
    UINT64,
    ArrayError,
    fail_mask,
    gather_invalid,
    has_invalid_entry,
    mask_array,
    writable_array,
)
from helsinki_env.engine.bits import lowest_bit, popcount
from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.limits import check_ranges, limits_of
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import GOLDEN, initial_state, mix
from helsinki_env.engine.vectors import gatherer

__all__ = ["play_out", "random_keys", "sample_actions"]

#: Larger requests are almost certainly typos.
MOST_GAMES = 2**24
_S32 = np.uint64(32)
#: Number of ids per bit set.
BLOCK = 64
_gather = gatherer(BLOCK)


@kernel
def mask_block(mask, block):
    """Return the legal ids in a block of 64 ids, as a bit set (bit = id minus the first id of the block)."""
    first = BLOCK * block
    if first + BLOCK <= len(mask):
        return np.uint64(_gather(mask, first))
    if len(mask) >= BLOCK:  # the last ids, without those in the previous block
        return np.uint64(_gather(mask, len(mask) - BLOCK)) >> np.uint64(first + BLOCK - len(mask))
    legal = np.uint64(0)
    for action in range(len(mask)):
        legal |= np.uint64(mask[action] > 0) << np.uint64(action)
    return legal


def num_blocks(ids: int) -> int:
    """Return the number of bit sets that hold `ids` ids."""
    return (ids + BLOCK - 1) // BLOCK


@kernel
def sample_action(mask, key):
    """Return a uniformly random legal id for a uniformly random `key`, or 0 if no id is legal."""
    blocks = (len(mask) + BLOCK - 1) // BLOCK
    legal = np.int64(0)
    for block in range(blocks):
        legal += popcount(mask_block(mask, block))
    rank = np.int64(((key >> _S32) * np.uint64(legal)) >> _S32)
    for block in range(blocks):
        ids = mask_block(mask, block)
        held = popcount(ids)
        if rank < held:
            for _ in range(rank):
                ids &= ids - np.uint64(1)
            return BLOCK * block + lowest_bit(np.int64(ids))
        rank -= held
    return 0


@kernel
def _first_keys(seed, streams, keys):
    for b in range(len(keys)):
        keys[b] = initial_state(seed, streams[b], np.uint64(0))


def random_keys(count: int, seed: int = 0) -> npt.NDArray[np.uint64]:
    """Return `count` independent random keys for players, uint64 (count,), determined by the seed.

    Raises:
        ValueError: if the count or the seed is invalid.
    """
    keys = np.zeros(Node(count, ValueError, "count").integer(0, MOST_GAMES), np.uint64)
    key = np.uint64(Node(seed, ValueError, "seed").integer(0, 2**64 - 1))
    _first_keys(key, np.arange(len(keys), dtype=np.uint64), keys)
    return keys


@kernel
def _sets_of(mask, sets):
    """Write the legal ids as bit sets. Return the number of legal ids, or -1 if an entry is neither 0 nor 1."""
    ids, last, legal, odd = len(mask), len(sets) - 1, np.int64(0), np.int64(0)
    if ids < BLOCK:
        sets[0] = mask_block(mask, 0)
        return np.int64(-1) if has_invalid_entry(mask) else popcount(sets[0])
    for block in range(last):
        sets[block] = np.uint64(_gather(mask, BLOCK * block))
        odd |= gather_invalid(mask, BLOCK * block)
        legal += popcount(sets[block])
    sets[last] = np.uint64(_gather(mask, ids - BLOCK)) >> np.uint64(BLOCK * len(sets) - ids)
    odd |= gather_invalid(mask, ids - BLOCK)
    return np.int64(-1) if odd else legal + popcount(sets[last])


@kernel
def sample_batch(masks, keys, actions, sets):
    """Sample a legal action for each row, or 0 if none is legal, and advance the keys.

    Return the number of rows, or the index of the first invalid mask, in which case all keys are left unchanged.
    `sets` is a scratch array, uint64 (blocks,).
    """
    for b in range(len(masks)):
        legal = _sets_of(masks[b], sets)
        if legal < 0:
            for before in range(b):
                keys[before] = keys[before] - GOLDEN
            return b
        keys[b] = keys[b] + GOLDEN
        rank = np.int64(((mix(keys[b]) >> _S32) * np.uint64(legal)) >> _S32)
        actions[b] = 0
        for block in range(len(sets)):
            held = popcount(sets[block])
            if rank < held:
                ids = sets[block]
                for _ in range(rank):
                    ids &= ids - np.uint64(1)
                actions[b] = BLOCK * block + lowest_bit(np.int64(ids))
                break
            rank -= held
    return len(masks)


def sample_actions(
    masks: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64], out: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """Return a uniformly random legal action for each game, int64 (B,). It is 0 if the game is over.

    Args:
        masks: action masks, int8 (B, ids). Booleans and any other integer type are also accepted.
        keys: random keys, uint64 (B,) (see `random_keys`), which are advanced in place.
        out: output array, int64 (B,). By default, a new array is returned.

    Raises:
        ArrayError: (a ValueError) if an array is invalid. Nothing is changed in that case.
    """
    masks = mask_array("masks", masks)
    rows, ids = masks.shape
    streams = writable_array("keys", keys, UINT64, rows)
    actions = np.empty(rows, np.int64) if out is None else writable_array("out", out, INT64, rows)
    if out is not None and (out.base is not None or keys.base is not None) and np.may_share_memory(out, keys):
        raise ArrayError("out: found memory shared with keys, expected a separate array")
    b = sample_batch(masks, streams, actions, np.empty(num_blocks(ids) or 1, np.uint64))
    if b < rows:
        fail_mask("masks", masks, b)
    if streams is not keys:
        keys[...] = streams
    if out is None or actions is out:
        return actions
    out[...] = actions
    return out


@kernel
def playout_kernel(t, states, keys, mask):
    """Play every game to its end at random, and return the number of actions. `mask` is a scratch array, int8 (ids,).

    Return -1 - b if no action is legal in game b, which cannot happen in a valid game.
    """
    decisions = 0
    for b in range(len(states)):
        g = states[b]
        while not g.done:
            write_mask(t, g, mask)
            keys[b] = keys[b] + GOLDEN
            action = sample_action(mask, mix(keys[b]))
            if action == 0 and mask[0] == 0:  # `sample_action` found nothing legal
                return -1 - b
            apply_action(t, g, action)
            decisions += 1
    return decisions


def play_out(tables: Any, states: Any, keys: npt.NDArray[np.uint64], ids: int) -> int:
    """Play a batch of games to the end with uniformly random actions, and return the total number of actions.

    Args:
        tables: record of the tables, ``config.tables[0]``.
        states: game records, (B,), which are modified in place.
        keys: random keys, uint64 (B,) (see `random_keys`), which are advanced in place.
        ids: number of action ids, `GameSpec.num_actions`.

    Raises:
        ValueError: if an argument is invalid or a record is unreachable.
    """
    dtype = getattr(states, "dtype", None)
    if dtype is None or not apply_action.is_implemented_for(dtype):
        raise ArrayError(f"states: found {short_repr(states)}, expected records of a game")
    games = writable_array("states", states, dtype, None)
    streams = writable_array("keys", keys, UINT64, len(games))
    limits = limits_of(tables, dtype)
    expected = as_integer(ids) or 0 if limits is None else limits.num_actions
    if as_integer(ids) != expected or expected < 1:
        raise ValueError(f"ids: found {short_repr(ids)}, expected {expected or 'the number of actions'}")
    check_ranges(games, tables)
    decisions = int(playout_kernel(tables, games, streams, np.zeros(ids, np.int8)))
    if decisions < 0:
        raise ValueError(f"states: game {-1 - decisions}: found no legal action, expected a reachable position")
    if streams is not keys:
        keys[...] = streams
    if games is not states:
        states[...] = games
    return decisions

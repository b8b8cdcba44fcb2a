"""Uniformly random play in compiled code: choosing legal decisions for a batch, and playing games to their end.

Whoever plays has a random word of their own for each game, apart from the game's chance: taking another decision
never changes what is drawn later, and a game played in a batch is the same as one played alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Entry
from helsinki_env.engine.bits import count, lowest
from helsinki_env.engine.contract import apply
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import GOLDEN, first_word, mix
from helsinki_env.engine.vectors import gatherer

__all__ = ["choose_uniformly", "pick", "play_out", "player_words", "playout_kernel"]

#: What more would need is surely a slip of the keyboard.
MOST_GAMES = 2**24
_S32 = np.uint64(32)
#: Ids that make one set.
BLOCK = 64
_gather = gatherer(BLOCK)


@kernel
def block_of(mask, block):
    """The legal ones of 64 ids, as a set (bit = id less the first of the block)."""
    first = BLOCK * block
    if first + BLOCK <= len(mask):
        return np.uint64(_gather(mask, first))
    if len(mask) >= BLOCK:  # the last ids, without those that belong to the block before
        return np.uint64(_gather(mask, len(mask) - BLOCK)) >> np.uint64(first + BLOCK - len(mask))
    legal = np.uint64(0)
    for action in range(len(mask)):
        legal |= np.uint64(mask[action] > 0) << np.uint64(action)
    return legal


@kernel
def blocks_of(ids):
    """How many sets so many ids make."""
    return (ids + BLOCK - 1) // BLOCK


@kernel
def pick(mask, word):
    """Return a legal id, each equally likely for a uniform `word`; 0 if none is legal."""
    blocks = blocks_of(len(mask))
    legal = np.int64(0)
    for block in range(blocks):
        legal += count(block_of(mask, block))
    rank = np.int64(((word >> _S32) * np.uint64(legal)) >> _S32)
    for block in range(blocks):
        ids = block_of(mask, block)
        held = count(ids)
        if rank < held:
            for _ in range(rank):
                ids &= ids - np.uint64(1)
            return BLOCK * block + lowest(np.int64(ids))
        rank -= held
    return 0


@kernel
def _choose_batch(masks, words, actions):
    for b in range(len(masks)):
        words[b] = words[b] + GOLDEN
        actions[b] = pick(masks[b], mix(words[b]))


@kernel
def _first_words(seed, streams, words):
    for b in range(len(words)):
        words[b] = first_word(seed, streams[b], np.uint64(0))


def player_words(count: int, seed: int = 0) -> npt.NDArray[np.uint64]:
    """Return `count` independent random words for players, uint64 (count,), the same for the same seed.

    Raises:
        ValueError: for what is no number of words, or no seed.
    """
    words = np.zeros(Entry(count, ValueError, "count").integer(0, MOST_GAMES), np.uint64)
    word = np.uint64(Entry(seed, ValueError, "seed").integer(0, 2**64 - 1))
    _first_words(word, np.arange(len(words), dtype=np.uint64), words)
    return words


def choose_uniformly(
    masks: npt.NDArray[np.int8], words: npt.NDArray[np.uint64], out: npt.NDArray[np.int64] | None = None
) -> npt.NDArray[np.int64]:
    """Return a uniformly random legal id per game, int64 (B,); 0 where nothing is legal (the game is over).

    Args:
        masks: legal decisions, int8 (B, ids).
        words: random words, uint64 (B,) (see `player_words`); advanced in place.
        out: where to write; default: a new array.
    """
    actions = np.zeros(len(masks), np.int64) if out is None else out
    _choose_batch(np.ascontiguousarray(masks, np.int8), words, actions)
    return actions


@kernel
def playout_kernel(t, states, words, mask):
    """Play every game to its end at random; return the number of decisions. `mask`: scratch, int8 (ids,)."""
    decisions = 0
    for b in range(len(states)):
        g = states[b]
        while not g.done:
            write_mask(t, g, mask)
            words[b] = words[b] + GOLDEN
            apply(t, g, pick(mask, mix(words[b])))
            decisions += 1
    return decisions


def play_out(tables: Any, states: Any, words: npt.NDArray[np.uint64], ids: int) -> int:
    """Play a batch of records to the end in place with uniformly random decisions; return how many were taken."""
    return int(playout_kernel(tables, states, words, np.zeros(ids, np.int8)))

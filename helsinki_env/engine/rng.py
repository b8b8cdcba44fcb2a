"""Draw random numbers from one 64-bit state per game (splitmix64), regardless of batch size and number of threads.

Source: Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators". The rules page (section
"Chance") specifies the states, the shuffle and the order of draws, so that other implementations can deal the same
games.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@kernel
def mix(z):
    """Scramble a uint64 with the output function of splitmix64."""
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@kernel
def initial_state(seed, stream, episode):
    """Return the initial random state of episode number `episode` in a stream (all arguments are uint64)."""
    return mix((mix((mix(seed + GOLDEN) ^ stream) + GOLDEN) ^ episode) + GOLDEN)


@kernel
def random_below(g, n):
    """Draw an integer from 0 to n - 1 (multiply-shift on 32 bits), and advance the game's random state."""
    g.chance = g.chance + GOLDEN
    return np.int64(((mix(g.chance) >> _S32) * np.uint64(n)) >> _S32)


@kernel
def shuffle(g, cards, size):
    """Shuffle the first `size` entries in place (Fisher-Yates, from the last entry to the first)."""
    for top in range(size - 1, 0, -1):
        other = random_below(g, top + 1)
        card = cards[top]
        cards[top] = cards[other]
        cards[other] = card


@kernel
def list_cards(counts, types, cards):
    """Write `counts[type]` cards of each type into `cards`, in ascending order, and return the number of cards."""
    size = np.int64(0)
    for card in range(types):
        for _ in range(counts[card]):
            cards[size] = card
            size += 1
    return size


# Draw set members, subsets and cards. `p` is a record with a random state.


@kernel
def draw_member(p, members, size):
    """Draw a uniformly random member of a set of integers from 0 to `size` - 1 (bit = integer); 0 if it is empty."""
    found = 0
    for candidate in range(size):
        found += (members >> candidate) & 1
    rank = random_below(p, found)
    for candidate in range(size):
        if (members >> candidate) & 1:
            if rank == 0:
                return candidate
            rank -= 1
    return 0


@kernel
def draw_subset(p, size, low, high):
    """Draw a subset of the integers from 0 to `size` - 1: first its size from `low` to `high`, then its members."""
    wanted = low + random_below(p, high - low + 1)
    drawn = 0
    for candidate in range(size):
        if random_below(p, size - candidate) < wanted:
            drawn |= 1 << candidate
            wanted -= 1
    return drawn


@kernel
def draw_card(p, cards, i, size):
    """Draw a uniformly random card from positions `i` to `size` - 1, and move it to position `i`."""
    other = i + random_below(p, size - i)
    drawn = cards[other]
    cards[other] = cards[i]
    cards[i] = drawn
    return drawn

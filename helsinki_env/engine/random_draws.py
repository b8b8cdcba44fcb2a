"""Random draws for any game: set members, subsets, cards; `p` is a record with random state (`engine.rng`)."""

from __future__ import annotations

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import random_below

__all__ = ["draw_card", "draw_member", "draw_subset"]


@kernel
def draw_member(p, members, size):
    """Draw a member of a set of integers from 0 to `size` - 1 (bit = integer) uniformly; 0 if the set is empty."""
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
    """Draw a subset of the integers from 0 to `size` - 1: its size uniformly from `low` to `high`, then its members."""
    wanted = low + random_below(p, high - low + 1)
    drawn = 0
    for candidate in range(size):
        if random_below(p, size - candidate) < wanted:
            drawn |= 1 << candidate
            wanted -= 1
    return drawn


@kernel
def draw_card(p, cards, i, size):
    """Draw one of the cards at positions `i` to `size` - 1 uniformly and move it to position `i`."""
    other = i + random_below(p, size - i)
    drawn = cards[other]
    cards[other] = cards[i]
    cards[i] = drawn
    return drawn

"""A race: who of many wins most against somebody, when each measurement alone is too coarse to tell."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["strongest"]


def strongest(
    contenders: int, games: int, won: Callable[[int, int, int], float], told: Callable[[float], None] | None = None
) -> int:
    """Return which of several wins most, by sequential halving (Karnin, Koren and Somekh 2013).

    In every round the games go in equal parts to those that are left, who all meet the same decks, no round those of
    another one; the better half stays. What counts is what they have won in all rounds together.

    Args:
        contenders: how many there are, at least 1; of equals the later one stays.
        games: of each round.
        won: the share of the games that one wins, of (contender, games, number of the round).
        told: called with the part of the race that lies behind, 0 to 1.
    """
    left = list(range(contenders))
    wins = [0.0] * contenders
    rounds = max(1, contenders - 1).bit_length()
    number = 0
    while len(left) > 1:
        each = max(2, games // len(left))
        for place, which in enumerate(left):
            wins[which] += each * won(which, each, number)
            if told is not None:
                told((number + (place + 1) / len(left)) / rounds)
        left = sorted(left, key=lambda which: (-wins[which], -which))[: (len(left) + 1) // 2]
        number += 1
    return left[0]

"""Sequential halving: find the contender with the highest win rate from noisy measurements."""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["best_contender"]


def best_contender(
    contenders: int, games: int, won: Callable[[int, int, int], float], told: Callable[[float], None] | None = None
) -> int:
    """Return the contender with the most wins, by sequential halving (Karnin, Koren and Somekh 2013).

    Each round divides its games equally among the remaining contenders. All of them play the same deals, and each
    round uses new deals. The better half by total wins over all rounds remains.

    Args:
        contenders: number of contenders, at least 1; ties keep the later contender.
        games: games per round.
        won: callable (contender, games, round number) that returns the win rate.
        told: progress callback, called with the completed fraction, 0 to 1.
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

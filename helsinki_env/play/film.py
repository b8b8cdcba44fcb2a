"""A record as a film: everything that a page needs to show the game, step by step."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Judgement"]


@dataclass(frozen=True)
class Judgement:
    """What somebody who judges thinks of the course of a game of D decisions by n seats.

    Attributes:
        judge: who judges, the name of a player.
        shares: every seat's share of the win before each decision, and at the end; D + 1 rows of n numbers from 0 to 1.
        costs: D numbers: the share of the win that each decision cost the seat that took it, 0 or more; None where it
            had no choice, or was not judged.
        better: D ids: the decision that was thought best, where it is another one; else None.
    """

    judge: str
    shares: tuple[tuple[float, ...], ...]
    costs: tuple[float | None, ...]
    better: tuple[int | None, ...]

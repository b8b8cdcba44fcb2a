"""How a player did: share of games won with its interval, mean points and mean place."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Standing", "standing", "wilson"]

_Z95 = 1.959963984540054


def wilson(share: float, games: float) -> tuple[float, float]:
    """Return the 95 % interval (Wilson's) of a share of won games; (0, 1) if there are none."""
    if games <= 0:
        return 0.0, 1.0
    z2 = _Z95 * _Z95 / games
    middle = (share + z2 / 2) / (1 + z2)
    half = _Z95 * math.sqrt(share * (1 - share) / games + z2 / (4 * games)) / (1 + z2)
    return max(0.0, middle - half) if share > 0 else 0.0, min(1.0, middle + half) if share < 1 else 1.0


@dataclass(frozen=True)
class Standing:
    """How a player did, in all seats or in one.

    Attributes:
        player: its name.
        seat: the seat, or None for all.
        games: games played; one in which it sat twice counts twice.
        share: share of games won.
        low: lower end of the 95 % interval of that share.
        high: upper end.
        score: mean points.
        place: mean place, 1 is first.
    """

    player: str
    seat: int | None
    games: int
    share: float
    low: float
    high: float
    score: float
    place: float

    def __str__(self) -> str:
        """Return everything in one line."""
        who = self.player if self.seat is None else f"{self.player} in seat {self.seat}"
        won = f"{self.share:.1%} of {self.games:,} games won ({self.low:.1%} to {self.high:.1%})"
        return f"{who}: {won}, {self.score:.1f} points, place {self.place:.2f}"


def standing(
    player: str,
    seat: int | None,
    chosen: npt.NDArray[np.bool_],
    places: npt.NDArray[np.int8],
    scores: npt.NDArray[np.int16],
    decks: npt.NDArray[np.int64] | None = None,
) -> Standing:
    """Return how a player did.

    The interval of the share of games won is Wilson's. Games of one deck are not independent: the number of games that
    goes into it is lowered to that of independent games whose mean would vary as this one does by decks (never raised).

    Args:
        player: its name.
        seat: the seat that is meant, or None for all.
        chosen: where it sat, bool (G, S), at least one True.
        places: by seat, 0 is first, int8 (G, S).
        scores: points by seat, int16 (G, S).
        decks: which deck a game was dealt, int64 (G,); None: another one for each game.
    """
    won = (places == 0)[chosen].astype(np.float64)
    share = float(won.mean())
    worth = float(len(won))
    if decks is not None:
        worth = min(worth, _independent(won, np.broadcast_to(decks[:, None], chosen.shape)[chosen]))
    low, high = wilson(share, worth)
    return Standing(
        player,
        seat,
        len(won),
        share,
        low,
        high,
        score=float(scores[chosen].mean()),
        place=float(places[chosen].mean()) + 1,
    )


def _independent(won: npt.NDArray[np.float64], decks: npt.NDArray[np.int64]) -> float:
    """How many independent games have a mean that varies as much as that of these, (N,), grouped by deck, (N,)."""
    share, n = float(won.mean()), len(won)
    _, deck = np.unique(decks, return_inverse=True)
    excess = np.bincount(deck, won - share)
    if len(excess) < 2 or not 0 < share < 1:
        return float(len(excess))
    variance = float((excess**2).sum()) * len(excess) / (len(excess) - 1) / n**2
    return share * (1 - share) / variance if variance > 0 else math.inf

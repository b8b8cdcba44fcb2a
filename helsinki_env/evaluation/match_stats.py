"""Match statistics of players: win rates with confidence intervals, mean points and mean ranks.

Matches, tournaments and ratings use the same interval for win rates (`proportion_interval`) and the same rules for
ties:

- each of k seats that tie for first receives 1/k of a win (`fractional_wins`);
- tied seats receive the mean of the ranks they share (`midranks`).

Every game therefore has exactly one win, and its ranks have the same sum, with or without ties. Equally strong players
win one game in S, so win rates of different players are comparable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

__all__ = [
    "PlayerResult",
    "fractional_wins",
    "mean_by_deal",
    "midranks",
    "player_result",
    "proportion_interval",
    "student_quantile",
    "wilson_interval",
]

Array = npt.NDArray[np.float64]

#: Minimum degrees of freedom at which the expansion of Student's quantile around the normal one has 14 exact digits.
_MANY = 1000


@lru_cache(maxsize=1024)
def student_quantile(units: int, level: float = 0.95) -> float:
    """Return the two-sided quantile of Student's t distribution with `units` - 1 degrees of freedom (at least 1)."""
    freedom = max(1, units - 1)
    z = NormalDist().inv_cdf((1 + level) / 2)
    if freedom >= _MANY:  # Abramowitz and Stegun 1964, 26.7.5
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        fourth = (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160
        return z + (first + (second + (third + fourth / freedom) / freedom) / freedom) / freedom
    low, high = 0.0, math.pi / 2  # bisect over angles, because tails may be heavy
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return math.sqrt(freedom) * math.tan((low + high) / 2)


def _within(angle: float, freedom: int) -> float:
    """Return the probability that |t| is at most sqrt(freedom) * tan(angle) (Abramowitz and Stegun 1964, 26.7.3-4)."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return (angle + sine * total) * 2 / math.pi if odd else sine * total


def wilson_interval(share: npt.ArrayLike, games: npt.ArrayLike, quantile: npt.ArrayLike) -> tuple[Array, Array]:
    """Return both endpoints of Wilson's interval for proportions (N,) of independent games, given a quantile."""
    share = np.asarray(share, np.float64)
    square = np.asarray(quantile) ** 2 / np.asarray(games)
    middle = (share + square / 2) / (1 + square)
    half = np.sqrt(square * (share * (1 - share) + square / 4)) / (1 + square)
    low = np.where(share > 0, np.maximum(0, middle - half), share)
    high = np.where(share < 1, np.minimum(1, middle + half), share)
    return low, high


def proportion_interval(happened: Array, possible: Array) -> tuple[Array, Array, Array]:
    """Return proportions and both endpoints of their 95% confidence intervals, (N,) each.

    Proportions without possible events are NaN.

    Games of one deal are correlated, so deals are the independent units. The variance of a ratio of sums over units
    (Cochran 1977, *Sampling Techniques*, section 6.3) determines the effective sample size. The result is Wilson's
    interval for this sample size, with a quantile of Student's t distribution for the number of units.

    Args:
        happened: number of events in each of D units for N proportions, float64 (D, N).
        possible: number of events that were possible, float64 (D, N).
    """
    total = possible.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        share = happened.sum(axis=0) / total
        seen = (possible > 0).sum(axis=0)
        variance = ((happened - share * possible) ** 2).sum(axis=0) / total**2 * (seen / (seen - 1))
        # Identical units contain no information about the variance, so each counts as one game.
        effective = np.where(variance > 1e-15, share * (1 - share) / variance, seen)
        low, high = wilson_interval(share, effective, np.array([student_quantile(int(units)) for units in seen]))
    return share, low, high


def _tied(places: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the number of seats with the same rank as each seat, including itself, int64 (..., S)."""
    count: npt.NDArray[np.int64] = np.sum(places[..., :, None] == places[..., None, :], axis=-1, dtype=np.int64)
    return count


def fractional_wins(places: npt.NDArray[np.integer]) -> Array:
    """Return the fraction of the win for each seat, (..., S): 1/k if k seats tie for first, 0 for all other seats."""
    wins: Array = (places == 0) / _tied(places)
    return wins


def mean_by_deal(values: npt.ArrayLike, deal: npt.NDArray[np.integer]) -> Array:
    """Average `values` over the games of each deal, (D,) or (D, K), sorted by deal number.

    `values` has shape (G,) or (G, K), and `deal` contains the deal number of each game, (G,).
    """
    by_game = np.asarray(values, np.float64)
    _, number, games = np.unique(deal, return_inverse=True, return_counts=True)
    sums = np.zeros((len(games), *by_game.shape[1:]))
    np.add.at(sums, number.ravel(), by_game)
    means: Array = sums / games.reshape(-1, *[1] * (by_game.ndim - 1))
    return means


def mean_and_half_width(values: Array) -> tuple[float, float]:
    """Return the mean of independent values, such as deals, and the half-width of its 95% t interval."""
    half = student_quantile(len(values)) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()), half


def midranks(places: npt.NDArray[np.integer]) -> Array:
    """Return ranks, (..., S), where tied seats receive the mean of the ranks they share.

    These are midranks (Kendall 1945, "The treatment of ties in ranking problems"). For example, ranks 0, 0, 2 become
    0.5, 0.5, 2.
    """
    ranks: Array = places + (_tied(places) - 1) / 2
    return ranks


@dataclass(frozen=True)
class PlayerResult:
    """The statistics of a player in one seat or in all seats.

    Attributes:
        player: name of the player.
        seat: the seat, or None for all seats.
        games: number of games, counted once per seat taken by the player.
        share: win rate; a k-way tie for first counts as 1/k of a win.
        low: lower endpoint of the 95% confidence interval of the win rate, see `proportion_interval`.
        high: upper endpoint.
        score: mean points.
        place: mean rank (1 is first), see `midranks`.
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
        """Return a one-line summary of the statistics."""
        name = self.player if self.seat is None else f"{self.player} in seat {self.seat}"
        won = f"{self.share:.1%} of {self.games:,} games won ({self.low:.1%} to {self.high:.1%})"
        return f"{name}: {won}, {self.score:.1f} points, mean rank {self.place:.2f}"


def player_result(
    player: str,
    seat: int | None,
    chosen: npt.NDArray[np.bool_],
    places: npt.NDArray[np.int8],
    scores: npt.NDArray[np.int16],
    deals: npt.NDArray[np.int64],
) -> PlayerResult:
    """Return the statistics of a player in the seats `chosen`, (G, S), given deal numbers `deals`, (G,)."""
    _, deal = np.unique(deals, return_inverse=True)
    happened, possible = (
        np.bincount(deal, counted.sum(axis=1))[:, None].astype(np.float64)
        for counted in (chosen * fractional_wins(places), chosen)
    )
    share, low, high = (float(value[0]) for value in proportion_interval(happened, possible))
    return PlayerResult(
        player,
        seat,
        int(chosen.sum()),
        share,
        low,
        high,
        score=float(scores[chosen].mean()),
        place=float(midranks(places)[chosen].mean()) + 1,
    )

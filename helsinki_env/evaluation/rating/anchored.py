"""The rating of one player relative to opponents with fixed ratings.

The model is that of `helsinki_env.evaluation.rating.plackett_luce`: the winner is drawn with probability proportional
to worth, then the second among the others, and so on. All worths except the player's are known, so the model is a
logistic regression with one parameter. Each rank up to the player's own is one trial: either the player takes it, or
one of the remaining opponents does, whose worths add up.

The rating maximizes the log-likelihood plus half the logarithm of the information (Firth 1993, "Bias reduction of
maximum likelihood estimates", Biometrika 80). It is finite even for a player that won or lost every game, and free of
the bias of order 1/n. Against a single opponent it is the log odds of (wins + 1/2) : (losses + 1/2), as for ratings
with virtual draws.

The interval contains all ratings at which the slope of the log-likelihood is within Student's quantile times its
standard error of zero: Wilson's interval, for a logistic regression. A player that won every game has no upper end; one
that lost every game has no lower end. Games of one deal are correlated, so the error comes from the variation between
deals. The information is divided by the ratio of two variances of the slope: over deals (Huber 1967; White 1982) and by
the model, where the penalty counts as half an observed game. The fixed ratings define the scale and have no error.

The overall rating is the unweighted mean over the matchups, because matchups differ in their spread of ratings. The
ends of its interval are combined from those of the matchups (Zou and Donner 2008, "Construction of confidence limits
about effect measures", Statistics in Medicine 27), with the correlations due to shared deals.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.plackett_luce import Array, orders_of_finish
from helsinki_env.evaluation.rating.ratings import ELO
from helsinki_env.utils.extras import requires_extra

with requires_extra("arena"):
    from scipy.optimize import brentq
    from scipy.special import expit

__all__ = ["AnchoredGames", "AnchoredRating", "anchored_ratings"]

#: Maximum distance from all opponents, in natural logarithms: 6,900 Elo points.
_FARTHEST = 40.0
_EXACT = 1e-9


@dataclass(frozen=True)
class AnchoredGames:
    """Games of one matchup in which the player sat once, G of them with S seats.

    Attributes:
        known: fixed Elo points of every seat: opponent's rating plus seat effect; only the seat effect for the player's
            own seat, float64 (G, S).
        own: the player's seat, bool (G, S).
        places: rank by seat, 0 is first, int (G, S); for ties see `helsinki_env.evaluation.rating.plackett_luce`.
        deck: deal number, int (G,); equal numbers in different matchups are equal deals.
    """

    known: Array
    own: npt.NDArray[np.bool_]
    places: npt.NDArray[np.integer]
    deck: npt.NDArray[np.integer]


@dataclass(frozen=True)
class AnchoredRating:
    """A rating in Elo points on a fixed scale.

    Attributes:
        rating: the player's rating.
        low: lower end of the 95% interval; minus infinity if every comparison was lost.
        high: upper end; infinity if every comparison was won.
        games: number of games.
        decks: number of deals, the independent units.
    """

    rating: float
    low: float
    high: float
    games: int
    decks: int


def anchored_ratings(tables: Sequence[AnchoredGames]) -> tuple[AnchoredRating, list[AnchoredRating]]:
    """Return the player's overall rating, the mean over the matchups, and its rating in each matchup.

    Raises:
        RatingError: if a matchup has games of fewer than two deals.
    """
    alone = [_table(games) for games in tables]
    decks = np.unique(np.concatenate([np.asarray(games.deck, np.int64) for games in tables]))
    pulls = np.zeros((len(tables), len(decks)))
    for number, (games, (_, pull)) in enumerate(zip(tables, alone, strict=True)):
        pulls[number, np.searchsorted(decks, np.unique(games.deck))] = pull
    length = np.sqrt((pulls**2).sum(axis=1))
    alike = pulls @ pulls.T / np.maximum(np.outer(length, length), np.finfo(np.float64).tiny)
    np.fill_diagonal(alike, 1.0)
    found = [rating for rating, _ in alone]
    mean = float(np.mean([one.rating for one in found]))
    below, above = (
        _length(np.array([getattr(one, end) - one.rating for one in found]), alike) / len(found)
        for end in ("low", "high")
    )
    games_played = sum(one.games for one in found)
    return AnchoredRating(mean, mean - below, mean + above, games_played, len(decks)), found


def _length(parts: Array, alike: Array) -> float:
    """Return the half-length of a sum's interval from those of its terms and their correlations."""
    return float(np.sqrt(max(0.0, float(parts @ alike @ parts)))) if np.isfinite(parts).all() else np.inf


@dataclass(frozen=True)
class _Trials:
    """The player's N binary trials: each rank that it could have taken; ties are split into weighted trials.

    Attributes:
        ahead: known part of its log worth minus the log worth of all remaining opponents, natural logarithms, (N,).
        taken: whether it took the rank, 1 or 0, (N,).
        part: weight of the trial, in games, (N,).
        unit: index of the deal, (N,).
    """

    ahead: Array
    taken: Array
    part: Array
    unit: npt.NDArray[np.int64]

    def slope(self, strength: float) -> float:
        """Return the derivative of the log-likelihood."""
        return float(self.part @ (self.taken - expit(strength + self.ahead)))

    def penalized_slope(self, strength: float) -> float:
        """Return the derivative of the log-likelihood with Firth's penalty."""
        won, lost = expit(strength + self.ahead), expit(-strength - self.ahead)
        known = self.part * won * lost
        return self.slope(strength) + float(known @ (lost - won) / known.sum()) / 2

    def information(self, strength: float) -> float:
        """Return minus the second derivative of the log-likelihood."""
        return float(self.part @ (expit(strength + self.ahead) * expit(-strength - self.ahead)))


def _trials(games: AnchoredGames) -> _Trials:
    game, order, part = orders_of_finish(games.places)
    _, unit = np.unique(games.deck, return_inverse=True)
    known = np.take_along_axis((games.known / ELO)[game], order, axis=1)
    own = np.take_along_axis(games.own[game], order, axis=1)
    place = own.argmax(axis=1)
    others = np.where(own, -np.inf, known)
    mine = known[np.arange(len(known)), place]
    found = []
    for stage in range(order.shape[1] - 1):
        there = place >= stage
        left = np.logaddexp.reduce(others[there, stage:], axis=1)
        taken = (place[there] == stage).astype(np.float64)
        found.append((mine[there] - left, taken, part[there], unit.ravel()[game[there]]))
    return _Trials(*(np.concatenate(column) for column in zip(*found, strict=True)))


def _table(games: AnchoredGames) -> tuple[AnchoredRating, Array]:
    """Return the rating in one matchup, and the influence of each deal on it, in ascending order of deals."""
    decks = len(np.unique(games.deck))
    if decks < 2:
        raise RatingError(
            f"found games of {decks} deck, expected at least 2: intervals come from how much decks differ"
        )
    trials = _trials(games)
    strength = _root(trials.penalized_slope, -_FARTHEST, _FARTHEST)
    missed = trials.part * (trials.taken - expit(strength + trials.ahead))
    pulls = np.bincount(trials.unit, missed, minlength=decks).astype(np.float64)
    pulls -= pulls.mean()
    spread = (pulls @ pulls * decks / (decks - 1) + 0.5) / trials.information(strength)
    reach = student_quantile(decks) * float(np.sqrt(spread))
    low, high = (
        _root(partial(_beyond, trials, side * reach), strength, side * _FARTHEST) if bounded else side * np.inf
        for side, bounded in ((-1, trials.taken.any()), (1, not trials.taken.all()))
    )
    return AnchoredRating(strength * ELO, low * ELO, high * ELO, len(games.deck), decks), pulls


def _beyond(trials: _Trials, reach: float, strength: float) -> float:
    """Return the slope plus `reach` standard errors, a signed number: zero at an end of the interval."""
    return trials.slope(strength) + reach * float(np.sqrt(trials.information(strength)))


def _root(function: Callable[[float], float], one: float, other: float) -> float:
    """Return the root of a function with opposite signs at two points."""
    return float(brentq(function, one, other, xtol=_EXACT))

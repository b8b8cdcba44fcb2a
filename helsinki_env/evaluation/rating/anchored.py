"""Rate one player against opponents with fixed ratings.

The model is the same as in `helsinki_env.evaluation.rating.plackett_luce`. Only the player's worth is unknown, so the
model is a logistic regression with one parameter. Each rank, down to the rank of the player, is one trial. It is taken
either by the player or by one of the remaining opponents, whose worths are summed.

The rating maximizes the log-likelihood plus half the log of the Fisher information (Firth 1993, "Bias reduction of
maximum likelihood estimates", Biometrika 80). It is finite even for a player that wins or loses every game. Against a
single opponent, it is the log odds of (wins + 1/2) : (losses + 1/2).

The interval contains all ratings at which the slope of the log-likelihood differs from zero by at most its standard
error times a quantile of Student's t distribution. It generalizes Wilson's interval to logistic regression. It is
unbounded for a player that wins or loses every game. Games of one deal are correlated, so the standard error is
clustered by deal. The information is scaled by the ratio of the slope's variance over deals (Huber 1967; White 1982) to
its variance under the model. In this ratio the penalty counts as half an observed game. The fixed ratings define the
scale and are treated as exact.

The overall rating is the unweighted mean over the matchups, because matchups differ in their spread of ratings. Its
interval combines the intervals of the matchups (Zou and Donner 2008, "Construction of confidence limits about effect
measures", Statistics in Medicine 27), and accounts for the correlations due to shared deals.
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

with requires_extra("stats"):
    from scipy.optimize import brentq
    from scipy.special import expit

#: Maximum difference from all opponents in natural logarithms, about 6,900 Elo points.
_MAX_STRENGTH = 40.0
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class AnchoredGames:
    """G games of one matchup with S seats, one of which is taken by the rated player."""

    known: Array  # fixed Elo points by seat, (G, S): rating of the opponent (0 for the player) plus seat effect
    own: npt.NDArray[np.bool_]  # the player's seat, (G, S)
    places: npt.NDArray[np.integer]  # rank of each seat (0 is first), (G, S)
    deal: npt.NDArray[np.integer]  # deal number, (G,); matchups may share deals


@dataclass(frozen=True)
class AnchoredRating:
    """A rating in Elo points on a fixed scale."""

    rating: float
    low: float  # lower endpoint of the 95% interval; -inf if every comparison was lost
    high: float  # upper endpoint; inf if every comparison was won
    games: int
    deals: int  # number of deals, which are the independent units


def anchored_ratings(matchups: Sequence[AnchoredGames]) -> tuple[AnchoredRating, list[AnchoredRating]]:
    """Return the player's overall rating (the mean over the matchups) and its rating in each matchup."""
    results = [_rating(games) for games in matchups]
    deals = np.unique(np.concatenate([np.asarray(games.deal, np.int64) for games in matchups]))
    influence = np.zeros((len(matchups), len(deals)))
    for row, games, (_, by_deal) in zip(influence, matchups, results, strict=True):
        row[np.searchsorted(deals, np.unique(games.deal))] = by_deal
    norm = np.sqrt((influence**2).sum(axis=1))
    correlation = influence @ influence.T / np.maximum(np.outer(norm, norm), np.finfo(np.float64).tiny)
    np.fill_diagonal(correlation, 1.0)
    ratings = [rating for rating, _ in results]
    mean = float(np.mean([rating.rating for rating in ratings]))
    below, above = (
        _half_length(np.array([getattr(rating, end) - rating.rating for rating in ratings]), correlation) / len(ratings)
        for end in ("low", "high")
    )
    games_played = sum(rating.games for rating in ratings)
    return AnchoredRating(mean, mean - below, mean + above, games_played, len(deals)), ratings


def _half_length(parts: Array, correlation: Array) -> float:
    """Return the half-length of the interval of a sum, given the half-lengths of the terms and their correlation."""
    return float(np.sqrt(max(0.0, float(parts @ correlation @ parts)))) if np.isfinite(parts).all() else np.inf


@dataclass(frozen=True)
class _Trials:
    """The player's N binary trials, one for each rank that it could take. Ties are split into weighted trials."""

    offset: Array  # known part of the player's log worth minus the log of the remaining opponents' total worth, (N,)
    taken: Array  # 1 if the player took the rank, otherwise 0, (N,)
    weight: Array  # number of games, fractional for ties, (N,)
    unit: npt.NDArray[np.int64]  # index of the deal, (N,)

    def slope(self, strength: float) -> float:
        """Return the derivative of the log-likelihood."""
        return float(self.weight @ (self.taken - expit(strength + self.offset)))

    def penalized_slope(self, strength: float) -> float:
        """Return the derivative of the log-likelihood with Firth's penalty."""
        won, lost = expit(strength + self.offset), expit(-strength - self.offset)
        information = self.weight * won * lost
        return self.slope(strength) + float(information @ (lost - won) / information.sum()) / 2

    def information(self, strength: float) -> float:
        """Return the negative second derivative of the log-likelihood."""
        return float(self.weight @ (expit(strength + self.offset) * expit(-strength - self.offset)))


def _trials(games: AnchoredGames) -> _Trials:
    game, order, weight = orders_of_finish(games.places)
    _, unit = np.unique(games.deal, return_inverse=True)
    known = np.take_along_axis((games.known / ELO)[game], order, axis=1)
    own = np.take_along_axis(games.own[game], order, axis=1)
    rank = own.argmax(axis=1)
    others = np.where(own, -np.inf, known)
    mine = known[np.arange(len(known)), rank]
    trials = []
    for stage in range(order.shape[1] - 1):
        rows = rank >= stage
        remaining = np.logaddexp.reduce(others[rows, stage:], axis=1)
        taken = (rank[rows] == stage).astype(np.float64)
        trials.append((mine[rows] - remaining, taken, weight[rows], unit.ravel()[game[rows]]))
    return _Trials(*(np.concatenate(column) for column in zip(*trials, strict=True)))


def _rating(games: AnchoredGames) -> tuple[AnchoredRating, Array]:
    """Return the rating in one matchup and the influence of each deal on it, in ascending order of deals."""
    deals = len(np.unique(games.deal))
    if deals < 2:
        raise RatingError(
            f"games: found {deals} deal, expected at least 2, because intervals require differences between deals"
        )
    trials = _trials(games)
    bound = _MAX_STRENGTH + float(np.abs(trials.offset).max())
    strength = _root(trials.penalized_slope, -bound, bound)
    residual = trials.weight * (trials.taken - expit(strength + trials.offset))
    influence = np.bincount(trials.unit, residual, minlength=deals).astype(np.float64)
    influence -= influence.mean()
    ratio = (influence @ influence * deals / (deals - 1) + 0.5) / trials.information(strength)
    errors = student_quantile(deals) * float(np.sqrt(ratio))
    low, high = (
        _root(partial(_end, trials, side * errors), strength, side * bound) if bounded else side * np.inf
        for side, bounded in ((-1, trials.taken.any()), (1, not trials.taken.all()))
    )
    return AnchoredRating(strength * ELO, low * ELO, high * ELO, len(games.deal), deals), influence


def _end(trials: _Trials, errors: float, strength: float) -> float:
    """Return the slope plus a signed multiple of its standard error; zero at an endpoint of the interval."""
    return trials.slope(strength) + errors * float(np.sqrt(trials.information(strength)))


def _root(function: Callable[[float], float], one: float, other: float) -> float:
    """Return the root of a function between two points at which it has opposite signs."""
    return float(brentq(function, one, other, xtol=_TOLERANCE))

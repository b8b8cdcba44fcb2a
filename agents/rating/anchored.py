"""The rating of one player among others whose ratings are fixed.

The model is that of `agents.rating.plackett_luce`: who comes first is drawn among all with probability proportional to
worth, then who comes second among the others, and so on. All worths but the player's own are known, so what remains is
a logistic regression with one parameter: at each place that is given away while the player is still there, either it
gets it or one of the others that are left, whose worths add up.

The rating is where the log-likelihood plus half the logarithm of the information is largest (Firth 1993, "Bias
reduction of maximum likelihood estimates", Biometrika 80): who won or lost every game still gets a finite one, and the
bias of order 1/n goes. Against a single opponent that is the log odds of (wins + 1/2) : (losses + 1/2), as for ratings
with virtual draws.

The interval has all ratings at which the slope of the log-likelihood is no farther from zero than Student's quantile
times its standard error there: Wilson's interval, for a logistic regression. Who won every game has no upper end, who
lost every game no lower one. The error comes from how much decks differ, as
games of one deck depend on each other: the information is worth less by the ratio of both variances of the slope, over
decks (Huber 1967; White 1982) and by the model, where the penalty counts as half a game that was seen. The fixed
ratings are the scale and have no error.

The rating over several tables is the mean of those of each, whoever has more games: tables differ in how far players
are apart. The ends of its interval follow from those of the tables (Zou and Donner 2008, "Construction of confidence
limits about effect measures", Statistics in Medicine 27), with the correlations that come from equal decks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from agents.rating.errors import RatingError
from agents.rating.plackett_luce import Array, orders_of_finish
from agents.rating.ratings import ELO
from agents.standing import student_quantile
from helsinki_env.extras import needs

with needs("arena"):
    from scipy.optimize import brentq
    from scipy.special import expit

__all__ = ["Anchored", "AnchoredGames", "anchored"]

#: Nobody is so far from all others, in natural logarithms: 6,900 Elo points.
_FARTHEST = 40.0
_EXACT = 1e-9


@dataclass(frozen=True)
class AnchoredGames:
    """Games of one table in which the player sat once, G of them with S seats.

    Attributes:
        known: the Elo points of every seat that are fixed: those of who sits there and of the seat; of the player's own
            seat those of the seat alone, float64 (G, S).
        own: the player's seat, bool (G, S).
        places: by seat, 0 is first, int (G, S); for shared ones see `agents.rating.plackett_luce`.
        deck: which deck was dealt, int (G,); equal numbers at different tables are equal decks.
    """

    known: Array
    own: npt.NDArray[np.bool_]
    places: npt.NDArray[np.integer]
    deck: npt.NDArray[np.integer]


@dataclass(frozen=True)
class Anchored:
    """A rating in Elo points on a fixed scale.

    Attributes:
        rating: the player's.
        low: lower end of the 95 % interval; minus infinity if every place was lost.
        high: upper end; infinity if every place was won.
        games: games played.
        decks: decks played, the independent units.
    """

    rating: float
    low: float
    high: float
    games: int
    decks: int


def anchored(tables: Sequence[AnchoredGames]) -> tuple[Anchored, list[Anchored]]:
    """Return the player's rating over all tables, the mean of theirs, and that at each table.

    Raises:
        RatingError: if a table has games of fewer than two decks.
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
    return Anchored(mean, mean - below, mean + above, games_played, len(decks)), found


def _length(parts: Array, alike: Array) -> float:
    """Return how far a sum reaches whose parts reach so far, by their correlations."""
    return float(np.sqrt(max(0.0, float(parts @ alike @ parts)))) if np.isfinite(parts).all() else np.inf


@dataclass(frozen=True)
class _Trials:
    """The player's chances of N places, each taken or not; of games with ties, parts.

    Attributes:
        ahead: by how much the known part of its worth exceeds that of all others left, natural logarithms, (N,).
        taken: whether it got the place, 1 or 0, (N,).
        part: how much of a game it is, (N,).
        unit: the number of the deck, (N,).
    """

    ahead: Array
    taken: Array
    part: Array
    unit: npt.NDArray[np.int64]

    def slope(self, strength: float) -> float:
        """Return the derivative of the log-likelihood."""
        return float(self.part @ (self.taken - expit(strength + self.ahead)))

    def penalised(self, strength: float) -> float:
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


def _table(games: AnchoredGames) -> tuple[Anchored, Array]:
    """Return the rating at one table, and how much each deck pulls at it, in ascending order of decks."""
    decks = len(np.unique(games.deck))
    if decks < 2:
        raise RatingError(
            f"found games of {decks} deck, expected at least 2: intervals come from how much decks differ"
        )
    trials = _trials(games)
    strength = _root(trials.penalised, -_FARTHEST, _FARTHEST)
    missed = trials.part * (trials.taken - expit(strength + trials.ahead))
    pulls = np.bincount(trials.unit, missed, minlength=decks).astype(np.float64)
    pulls -= pulls.mean()
    spread = (pulls @ pulls * decks / (decks - 1) + 0.5) / trials.information(strength)
    reach = student_quantile(decks) * float(np.sqrt(spread))
    low, high = (
        _root(partial(_beyond, trials, side * reach), strength, side * _FARTHEST) if bounded else side * np.inf
        for side, bounded in ((-1, trials.taken.any()), (1, not trials.taken.all()))
    )
    return Anchored(strength * ELO, low * ELO, high * ELO, len(games.deck), decks), pulls


def _beyond(trials: _Trials, reach: float, strength: float) -> float:
    """Return the slope less so many of its standard errors: zero at an end of the interval."""
    return trials.slope(strength) + reach * float(np.sqrt(trials.information(strength)))


def _root(function: Callable[[float], float], one: float, other: float) -> float:
    """Return where a function is zero that has opposite signs at these two."""
    return float(brentq(function, one, other, xtol=_EXACT))

"""The Plackett-Luce model of rankings: its exact likelihood, the derivatives, and a fit with Newton's method.

The winner is drawn from all seats with probabilities proportional to their worths, the second from the remaining seats,
and so on (Luce 1959, *Individual Choice Behavior*; Plackett 1975, "The analysis of permutations", Applied Statistics
24). Here a worth is ``exp(features @ theta)``, so the effects of player, seat and covariates are additive. The model is
a chain of multinomial logits, so the log-likelihood is concave and Newton's method finds its unique maximum. Hunter
2004 ("MM algorithms for generalized Bradley-Terry models", Annals of Statistics 32) gives conditions for a finite
maximum. With `VirtualDraws` it is always finite.

`helsinki_env.evaluation.rating.ratings` encodes players and seats as features. For speed, games with the same features
in the same order of finish are counted as one *pattern*. Each game belongs to a *unit*: a set of games that may be
correlated, such as all games of one deal.

**Ties.** A game with tied ranks counts as all compatible orders of finish with equal weights. A tie of k seats has k!
orders, and the log-likelihood is the mean over these orders (`orders_of_finish`). This is the expected log-likelihood
if ties are broken at random. With two players, a tie counts as half a win and half a loss, as in Elo ratings (Elo 1978)
and in the cross-table (`helsinki_env.evaluation.rating.shares`).

Two alternatives are less suitable. The marginal likelihood (Kalbfleisch and Prentice 1973, Biometrika 60; Allison and
Christakis 1994, Sociological Methodology 24) treats a tie as an unobserved order, so a draw between two players
contains no information. The model of Turner, van Etten, Firth and Kosmidis 2020 (Computational Statistics 35; for two
players Davidson 1970) has a parameter for each tie size. Its strengths describe the odds in games without ties, whereas
a rating here describes how often one player finishes ahead of another in all games.

Letters in shapes: U patterns, S seats, K parameters, D units, M virtual draws, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain, permutations, product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.rating import RatingError

Array = npt.NDArray[np.float64]

_MAX_STEPS = 100
#: Convergence tolerance for twice the gain in log-likelihood predicted for the next Newton step.
_TOLERANCE = 1e-12
#: Number of patterns whose Hessians are held in memory together, a few MB.
_BATCH = 4096


@dataclass(frozen=True)
class Rankings:
    """Games as orders of finish. Identical orders are counted together."""

    features: Array  # features of the seats in each pattern, in order of finish, (U, S, K)
    counts: Any  # number of games by unit and pattern, fractional for ties, as a SciPy sparse array (D, U)
    #: Number of ranks in the likelihood, or None for all. With 1, the model is a multinomial logit of the winner
    #: (McFadden 1974).
    depth: int | None = None

    @property
    def stages(self) -> int:
        """Number of choices per pattern in the likelihood, at most S - 1."""
        choices: int = self.features.shape[1] - 1
        return choices if self.depth is None else min(self.depth, choices)

    @cached_property
    def weights(self) -> Array:
        """Number of games with each pattern, float64 (U,)."""
        return np.asarray(self.counts.sum(axis=0), np.float64).ravel()

    @cached_property
    def rows(self) -> Array:
        """The features as a matrix, float64 (U * S, K)."""
        return self.features.reshape(-1, self.features.shape[2])


@dataclass(frozen=True)
class VirtualDraws:
    """Virtual draws between two sides that differ by a contrast.

    They keep the rating of a player that always wins finite. With two players, one virtual draw yields the log odds of
    (wins + 1/2) : (losses + 1/2), which also removes the bias of order 1/n (Haldane 1955; Anscombe 1956).
    """

    contrasts: Array  # difference between the features of the two sides, (M, K)
    wins: Array  # weight of a win by the first side, (M,) or, for resamples, (M, R)
    losses: Array  # weight of a loss, of the same shape

    @classmethod
    def of(cls, contrasts: Array, games: float) -> VirtualDraws:
        """Return `games` virtual draws for each contrast."""
        half = np.full(len(contrasts), games / 2)
        return cls(contrasts, half, half)


class Derivatives(NamedTuple):
    """The log-likelihood at a given theta, with its gradient, float64 (K,), and Hessian, float64 (K, K)."""

    value: float
    gradient: Array
    hessian: Array


@dataclass(frozen=True)
class Fit:
    """The parameters at the maximum of the log-likelihood, and their covariance."""

    theta: Array  # parameters on the scale of log worths, (K,)
    #: Cluster-robust covariance of theta, (K, K): the sandwich estimate of Huber 1967 and White 1982, times D / (D -
    #: 1).
    covariance: Array


def orders_of_finish(places: npt.NDArray[np.integer]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Array]:
    """Return the N orders of finish that are compatible with the given ranks, (G, S). A tie of k seats has k! orders.

    Returns:
        the game of each order, ascending, (N,); its seats, best first, (N, S); its weight, (N,). Weights sum to 1 for
        each game.
    """
    places, seats = np.asarray(places, np.int64), places.shape[1]
    _, first, kind = np.unique(places @ seats ** np.arange(seats), return_index=True, return_inverse=True)
    orders = [_orders(row) for row in places[first]]
    parts = np.array(list(map(len, orders)))[kind]
    game = np.repeat(np.arange(len(places)), parts)
    begin = np.cumsum([0, *map(len, orders)])[kind]
    within = np.arange(len(game)) - np.repeat(np.cumsum(parts) - parts, parts)
    return game, np.concatenate(orders)[begin[game] + within], (1 / parts)[game]


def _orders(places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return all orders, int64 (N, S), that are compatible with the ranks of one game, (S,)."""
    groups = [np.flatnonzero(places == place).tolist() for place in np.unique(places)]
    return np.array([list(chain(*order)) for order in product(*map(permutations, groups))], np.int64)


def _stages(rankings: Rankings, theta: Array) -> tuple[Array, Array, Array]:
    """Return the log-likelihood of each pattern, (U, ...), and its worths and sums of remaining worths, (U, S, ...).

    `theta` is (K,) or, for resamples, (K, R). In the latter case, the results have an additional last axis R.
    """
    units, seats, _ = rankings.features.shape
    utility = (rankings.rows @ theta).reshape(units, seats, *theta.shape[1:])
    utility -= utility.max(axis=1, keepdims=True)
    worth = np.exp(utility)
    left = np.cumsum(worth[:, ::-1], axis=1)[:, ::-1]
    stages = rankings.stages
    value = (utility[:, :stages] - np.log(left[:, :stages])).sum(axis=1)
    return value, worth, left


def _residuals(worth: Array, left: Array, stages: int) -> Array:
    """Return actual minus expected choices for each rank, summed over stages, (U, S) or (U, S, R)."""
    inverse = np.cumsum(1 / left[:, :stages], axis=1)
    rest = np.repeat(inverse[:, -1:], worth.shape[1] - stages, axis=1)
    residual: Array = -worth * np.concatenate([inverse, rest], axis=1)
    residual[:, :stages] += 1
    return residual


def gradients(rankings: Rankings, weights: Array, theta: Array) -> Array:
    """Return the gradients of R log-likelihoods with weights (U, R) at theta, (K, R)."""
    _, worth, left = _stages(rankings, theta)
    residual = _residuals(worth, left, rankings.stages)
    residual *= weights[:, None]
    gradient: Array = rankings.rows.T @ residual.reshape(-1, theta.shape[1])
    return gradient


def _expectations(features: Array, worth: Array, left: Array, stages: int) -> tuple[Array, Array]:
    """Return the expected number of choices of each rank, (U, S), and the mean features by stage, (U, stages, K)."""
    chosen = -_residuals(worth, left, stages)
    chosen[:, :stages] += 1
    tails = np.cumsum((worth[:, :, None] * features)[:, ::-1], axis=1)[:, ::-1]
    return chosen, tails[:, :stages] / left[:, :stages, None]


def derivatives(theta: Array, rankings: Rankings, virtual: VirtualDraws, weights: Array | None = None) -> Derivatives:
    """Return the log-likelihood of the games and virtual draws, and its derivatives, with pattern weights (U,)."""
    weights = rankings.weights if weights is None else weights
    values, worth, left = _stages(rankings, theta)
    gradient = rankings.rows.T @ (weights[:, None] * _residuals(worth, left, rankings.stages)).ravel()
    chosen, means = _expectations(rankings.features, worth, left, rankings.stages)
    flat = means.reshape(-1, len(theta))
    second = rankings.rows.T @ ((weights[:, None] * chosen).reshape(-1, 1) * rankings.rows)
    second -= flat.T @ (np.repeat(weights, means.shape[1])[:, None] * flat)

    difference = virtual.contrasts @ theta
    win = 1 / (1 + np.exp(-difference))
    games = virtual.wins + virtual.losses
    value = float(weights @ values) - float(
        virtual.wins @ np.logaddexp(0, -difference) + virtual.losses @ np.logaddexp(0, difference)
    )
    gradient += virtual.contrasts.T @ (virtual.wins - games * win)
    second += virtual.contrasts.T @ ((games * win * (1 - win))[:, None] * virtual.contrasts)
    return Derivatives(value, gradient, -second)


def unit_scores(theta: Array, rankings: Rankings) -> Array:
    """Return the gradient of each unit's log-likelihood, float64 (D, K)."""
    _, worth, left = _stages(rankings, theta)
    by_pattern = np.einsum("us,usk->uk", _residuals(worth, left, rankings.stages), rankings.features)
    scores: Array = rankings.counts @ by_pattern
    return scores


def unit_hessians(theta: Array, rankings: Rankings) -> Array:
    """Return the Hessian of each unit's log-likelihood, float64 (D, K, K)."""
    patterns, _, k = rankings.features.shape
    _, worth, left = _stages(rankings, theta)
    total = np.zeros((rankings.counts.shape[0], k * k))
    for begin in range(0, patterns, _BATCH):
        part = slice(begin, begin + _BATCH)
        features = rankings.features[part]
        chosen, means = _expectations(features, worth[part], left[part], rankings.stages)
        second = np.einsum("usi,usj->uij", chosen[:, :, None] * features, features, optimize=True)
        second -= np.einsum("usi,usj->uij", means, means, optimize=True)
        total -= rankings.counts[:, part] @ second.reshape(-1, k * k)
    return total.reshape(-1, k, k)


def maximize_likelihood(
    rankings: Rankings, virtual: VirtualDraws, weights: Array | None = None, start: Array | None = None
) -> tuple[Array, Derivatives]:
    """Return theta, (K,), at the maximum and the derivatives there.

    Raises RatingError if Newton's method finds no maximum.
    """
    theta = np.zeros(rankings.features.shape[2]) if start is None else start
    here = derivatives(theta, rankings, virtual, weights)
    for _ in range(_MAX_STEPS):
        step = np.linalg.solve(here.hessian, -here.gradient)
        if step @ here.gradient < _TOLERANCE * max(1.0, abs(here.value)):
            return theta + step, here
        size = 1.0
        there = derivatives(theta + step, rankings, virtual, weights)
        while not there.value >= here.value and size > 1e-6:  # concave, so short steps always gain
            size /= 2
            there = derivatives(theta + size * step, rankings, virtual, weights)
        theta, here = theta + size * step, there
    raise RatingError(
        f"likelihood: found no maximum in {_MAX_STEPS} Newton steps, expected a few; check for features that are "
        "linearly dependent, or larger than 100"
    )


def fit(rankings: Rankings, virtual: VirtualDraws) -> Fit:
    """Fit the model to games of at least two units.

    In the covariance, each virtual draw counts as an independent half win and half loss. Otherwise the interval of a
    player that always wins would shrink to a point.
    """
    units = rankings.counts.shape[0]
    if units < 2:
        raise RatingError(
            f"units: found games of {units} deal, expected at least 2, because intervals require differences between "
            "deals; play more games"
        )
    theta, here = maximize_likelihood(rankings, virtual)
    scores = unit_scores(theta, rankings)
    scores -= scores.mean(axis=0)
    inverse = np.linalg.inv(-here.hessian)
    influence = scores @ inverse
    covariance = influence.T @ influence * (units / (units - 1))
    win = 1 / (1 + np.exp(-virtual.contrasts @ theta))
    noise = virtual.wins * (1 - win) ** 2 + virtual.losses * win**2
    pulled = virtual.contrasts @ inverse
    covariance += pulled.T @ (noise[:, None] * pulled)
    return Fit(theta, covariance)

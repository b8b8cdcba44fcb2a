"""By how many points an action moves the score: a second outcome beside who wins, and less noisy.

What is explained is a seat's *margin*, its score minus the mean score of the others. It is explained by what the seat
is denied minus what the others are denied on average, and by the seat. Whatever raises all scores of a game alike drops
out, so this compares seats within games. If being denied an action costs a seat b points of its own and brings every
other seat c points, the estimate is b + c.

Standard errors are the sandwich over blocks (games of one deck, all rotations of the seats; Liang and Zeger 1986,
"Longitudinal data analysis using generalized linear models", Biometrika 73) with the usual factor for few
observations (Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", Journal of Human Resources
50): D / (D - 1) * (N - 1) / (N - K).

Letters in shapes: G games, S seats, A actions, K parameters, D blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.rating.errors import RatingError
from helsinki_env.extras import needs

with needs("arena"):
    from scipy import sparse

__all__ = ["LeastSquares", "Margins", "against_others", "contrasts", "estimate", "least_squares"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Margins:
    """By how many points actions move the margin.

    Attributes:
        power: points of margin that are lost by being denied an action, which is what having it gains, float64 (A,).
        covariance: of `power`, float64 (A, A).
        blocks: independent blocks.
        games: games.
    """

    power: Array
    covariance: Array
    blocks: int
    games: int

    @property
    def error(self) -> Array:
        """Standard errors of `power`, float64 (A,)."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True)
class LeastSquares:
    """A linear model that was fitted to games.

    Attributes:
        theta: coefficients, float64 (K,).
        covariance: of theta, float64 (K, K), if blocks are independent of each other and their games are not.
        factor: that `covariance` contains for few observations.
        blocks: independent blocks.
    """

    theta: Array
    covariance: Array
    factor: float
    blocks: int


def against_others(values: npt.NDArray[np.generic]) -> Array:
    """Return every seat's value minus the mean of the others' in its game, float64, for values (G, S, ...)."""
    seats = values.shape[1]
    own = values.astype(np.float64)
    difference: Array = (own - own.mean(axis=1, keepdims=True)) * (seats / (seats - 1))
    return difference


def contrasts(denied: npt.NDArray[np.generic]) -> Array:
    """Return features of a model that compares seats within games, float64 (G, S, S - 1 + the last dimension).

    Args:
        denied: what every seat is denied, in one or more ways, (G, S, ...).

    Returns:
        seat effects that add up to zero, then what is denied, own minus mean of the others.
    """
    games, seats, _ = denied.shape
    seat = np.concatenate([np.eye(seats - 1), np.full((1, seats - 1), -1.0)])
    return np.concatenate([np.broadcast_to(seat, (games, seats, seats - 1)), against_others(denied)], axis=2)


def least_squares(features: Array, outcome: Array, block: npt.NDArray[np.int64]) -> LeastSquares | None:
    """Fit a linear model by least squares.

    Args:
        features: of every seat, float64 (G, S, K), adding up to zero in every game.
        outcome: what is explained, float64 (G, S), likewise.
        block: which games may depend on each other, int64 (G,).

    Returns:
        the fit; None if the games do not tell all coefficients apart.
    """
    games, seats, k = features.shape
    _, unit = np.unique(block, return_inverse=True)
    blocks = int(unit.max()) + 1
    # A block repeats the same denied sets in every seat, and what happens to the last seat of a game follows from the
    # others: so many observations are there that can differ in what is denied.
    observations = blocks * (seats - 1)
    rows = features.reshape(-1, k)
    gram = rows.T @ rows
    scale = np.sqrt(np.diag(gram))
    if observations <= k or not scale.all() or np.linalg.matrix_rank(gram / np.outer(scale, scale), hermitian=True) < k:
        return None
    inverse = np.linalg.inv(gram / np.outer(scale, scale)) / np.outer(scale, scale)
    theta = inverse @ (rows.T @ outcome.ravel())
    residual = outcome - features @ theta
    counts = sparse.csr_array((np.ones(games), (unit.ravel(), np.arange(games))), dtype=np.float64)
    influence = (counts @ np.einsum("gs,gsk->gk", residual, features)) @ inverse
    factor = blocks / (blocks - 1) * (observations - 1) / (observations - k)
    return LeastSquares(theta, influence.T @ influence * factor, factor, blocks)


def estimate(denied: npt.NDArray[np.bool_], scores: npt.NDArray[np.integer], block: npt.NDArray[np.int64]) -> Margins:
    """Return by how many points every action moves the margin.

    Args:
        denied: what each seat could not use, bool (G, S, A).
        scores: points of each seat at the end, (G, S).
        block: which games may depend on each other, int64 (G,).

    Raises:
        RatingError: if effects cannot be told apart.
    """
    games, seats, _ = denied.shape
    found = least_squares(contrasts(denied), against_others(scores), block)
    if found is None:
        sizes = np.unique(denied.sum(axis=2)).tolist()
        remedy = "loose, as sets of one size only compare actions with each other" if len(sizes) == 1 else "games"
        raise RatingError(
            f"found {games} games with sets of {sizes} denied actions, expected enough to tell all actions apart: "
            f"raise {remedy}"
        )
    own = slice(seats - 1, None)
    return Margins(-found.theta[own], found.covariance[own, own], found.blocks, games)

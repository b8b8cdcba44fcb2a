"""Estimate the effect of actions on the score margin, an outcome with less noise than the win.

The outcome is a seat's *margin*, its score minus the mean score of the others. It is explained by the seat, and by the
actions denied to the seat minus the mean of those denied to the others. Anything that raises all scores of a game
equally cancels, so this compares seats within games. If denying an action to a seat costs it b points and gives every
other seat c points, the estimate is b + c.

Standard errors are the sandwich over blocks (games of one deal, all rotations of the seats; Liang and Zeger 1986,
"Longitudinal data analysis using generalized linear models", Biometrika 73) with the usual small-sample factor (Cameron
and Miller 2015, "A practitioner's guide to cluster-robust inference", Journal of Human Resources 50):
D / (D - 1) * (N - 1) / (N - K).

Letters in shapes: G games, S seats, A actions, K parameters, D blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.rating import RatingError
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import sparse

__all__ = ["LeastSquares", "MarginEffects", "against_others", "contrasts", "estimate_margin_effects", "least_squares"]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class MarginEffects:
    """Effects of actions on the margin, in points.

    Attributes:
        power: effect of having an action rather than being denied it, float64 (A,).
        covariance: covariance of `power`, float64 (A, A).
        blocks: number of independent blocks.
        games: number of games.
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
    """A fitted linear model.

    Attributes:
        theta: coefficients, float64 (K,).
        covariance: cluster-robust covariance of theta over blocks, float64 (K, K).
        factor: small-sample factor included in `covariance`.
        blocks: number of independent blocks.
    """

    theta: Array
    covariance: Array
    factor: float
    blocks: int


def against_others(values: npt.NDArray[np.generic]) -> Array:
    """Return every seat's value minus the mean of the other seats in its game, float64, for values (G, S, ...)."""
    seats = values.shape[1]
    own = values.astype(np.float64)
    difference: Array = (own - own.mean(axis=1, keepdims=True)) * (seats / (seats - 1))
    return difference


def contrasts(denied: npt.NDArray[np.generic]) -> Array:
    """Return features of a model that compares seats within games, float64 (G, S, S - 1 + the last dimension).

    Args:
        denied: restrictions of every seat, in one or more ways, (G, S, ...).

    Returns:
        seat effects that sum to zero, followed by own restrictions minus the mean of the others'.
    """
    games, seats, _ = denied.shape
    seat = np.concatenate([np.eye(seats - 1), np.full((1, seats - 1), -1.0)])
    return np.concatenate([np.broadcast_to(seat, (games, seats, seats - 1)), against_others(denied)], axis=2)


def least_squares(features: Array, outcome: Array, block: npt.NDArray[np.int64]) -> LeastSquares | None:
    """Fit a linear model by least squares.

    Args:
        features: features of every seat, float64 (G, S, K), summing to zero in every game.
        outcome: outcome of every seat, float64 (G, S), summing to zero in every game.
        block: block of each game, int64 (G,); games of different blocks are independent.

    Returns:
        the fit; None if the games do not identify all coefficients.
    """
    games, seats, k = features.shape
    _, unit = np.unique(block, return_inverse=True)
    blocks = int(unit.max()) + 1
    # Count only observations that can differ in the denied sets: a block repeats its sets in every seat, and the
    # last seat of a game follows from the others.
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


def estimate_margin_effects(
    denied: npt.NDArray[np.bool_], scores: npt.NDArray[np.integer], block: npt.NDArray[np.int64]
) -> MarginEffects:
    """Estimate the effect of every action on the margin.

    Args:
        denied: actions denied to each seat, bool (G, S, A).
        scores: final points of each seat, (G, S).
        block: block of each game, int64 (G,); games of different blocks are independent.

    Raises:
        RatingError: if effects are not identifiable.
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
    return MarginEffects(-found.theta[own], found.covariance[own, own], found.blocks, games)

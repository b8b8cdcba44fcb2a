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
    """Effects of having an action rather than being denied it on the margin, in points."""

    power: Array  # float64 (A,)
    covariance: Array  # of `power`, float64 (A, A)
    blocks: int
    games: int

    @property
    def error(self) -> Array:
        """Standard errors of `power`, float64 (A,)."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True)
class LeastSquares:
    """A fitted linear model."""

    theta: Array  # coefficients, float64 (K,)
    covariance: Array  # of theta, cluster-robust over blocks, float64 (K, K)
    factor: float  # small-sample factor included in `covariance`
    blocks: int


def against_others(values: npt.NDArray[np.generic]) -> Array:
    """Return every seat's value minus the mean of the other seats in its game, float64, for values (G, S, ...)."""
    seats = values.shape[1]
    own = values.astype(np.float64)
    difference: Array = (own - own.mean(axis=1, keepdims=True)) * (seats / (seats - 1))
    return difference


def contrasts(denied: npt.NDArray[np.generic]) -> Array:
    """Return features of a model that compares seats within games, float64 (G, S, S - 1 + N), from N restrictions.

    They are seat effects that sum to zero, followed by the seat's restrictions minus the mean of the others'.
    """
    games, seats, _ = denied.shape
    seat = np.concatenate([np.eye(seats - 1), np.full((1, seats - 1), -1.0)])
    return np.concatenate([np.broadcast_to(seat, (games, seats, seats - 1)), against_others(denied)], axis=2)


def least_squares(features: Array, outcome: Array, block: npt.NDArray[np.int64]) -> LeastSquares | None:
    """Fit a linear model by least squares; None if the games do not identify all coefficients.

    Features, float64 (G, S, K), and outcome, float64 (G, S), sum to zero over the seats of every game.
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
    """Estimate the effect of every action on the margin, from final points (G, S); RatingError if not identifiable."""
    games, seats, _ = denied.shape
    model = least_squares(contrasts(denied), against_others(scores), block)
    if model is None:
        sizes = np.unique(denied.sum(axis=2)).tolist()
        remedy = "loose, as sets of one size only compare actions with each other" if len(sizes) == 1 else "games"
        raise RatingError(
            f"found {games} games with sets of {sizes} denied actions, expected enough to tell all actions apart: "
            f"raise {remedy}"
        )
    own = slice(seats - 1, None)
    return MarginEffects(-model.theta[own], model.covariance[own, own], model.blocks, games)

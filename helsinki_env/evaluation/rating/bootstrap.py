"""The block bootstrap of a Plackett-Luce fit, which resamples deals.

Units (deals), not games, are drawn with replacement (Efron 1979; Davison and Hinkley 1997, section 3.8), because games
of one deal are correlated, also across line-ups. The halves of virtual draws get exponential weights (Rubin 1981).

Intervals are *expanded* percentile intervals (Hesterberg 2015, "What teachers should know about the bootstrap", The
American Statistician 69). They replace the normal distribution by Student's with D - 1 degrees of freedom, and correct
the factor sqrt((D - 1) / D) by which plain percentiles are too narrow.
"""

from __future__ import annotations

import math

import numpy as np

from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.evaluation.rating.model import RatingModel
from helsinki_env.evaluation.rating.plackett_luce import (
    Array,
    Fit,
    VirtualDraws,
    gradients,
    maximize_likelihood,
    unit_hessians,
    unit_scores,
)
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy.special import ndtr

#: Maximum numbers in the arrays of one batch of resamples, so that they fit the CPU cache (4 MB each).
_BATCH_NUMBERS = 500_000
_MAX_STEPS = 12
#: Convergence tolerance in natural logarithms, 0.002 Elo: far below the resampling variation.
_TOLERANCE = 1e-5


def bootstrap_fits(model: RatingModel, fitted: Fit, resamples: int, seed: int) -> Array:
    """Fit the parameters to resampled units, float64 (resamples, K).

    Every resample starts at the fit to all games and takes Newton steps with the fixed Hessian of its units at the
    start. Each unit's Hessian is computed only once, and all resamples of a batch step together. The few resamples that
    do not converge are fitted individually.
    """
    rng = np.random.default_rng(seed)
    rankings, virtual = model.rankings, model.virtual
    units, patterns = rankings.counts.shape
    scores = unit_scores(fitted.theta, rankings)
    hessians = unit_hessians(fitted.theta, rankings)
    theta = np.empty((resamples, len(fitted.theta)))
    batch = max(1, min(resamples, _BATCH_NUMBERS // (patterns * rankings.features.shape[1])))
    for begin in range(0, resamples, batch):
        size = min(batch, resamples - begin)
        draws = rng.multinomial(units, np.full(units, 1 / units), size=size).astype(np.float64)
        drawn = VirtualDraws(
            virtual.contrasts,
            virtual.wins[:, None] * rng.standard_exponential((len(virtual.wins), size)),
            virtual.losses[:, None] * rng.standard_exponential((len(virtual.losses), size)),
        )
        weights = np.ascontiguousarray(rankings.counts.T @ draws.T)
        first = scores.T @ draws.T
        second = np.tensordot(draws, hessians, axes=1)
        theta[begin : begin + size] = _fit_batch(model, fitted.theta, weights, drawn, first, second)
    return theta


def _fit_batch(
    model: RatingModel, start: Array, weights: Array, virtual: VirtualDraws, gradient: Array, hessian: Array
) -> Array:
    """Fit a batch of resamples; gradient (K, R) and Hessian (R, K, K) are those of the games at the start."""
    win = 1 / (1 + np.exp(-virtual.contrasts @ start))[:, None]
    games = (virtual.wins + virtual.losses) * win * (1 - win)
    hessian = hessian - np.einsum("mr,mi,mj->rij", games, virtual.contrasts, virtual.contrasts, optimize=True)
    inverse = np.linalg.inv(hessian)
    theta = np.repeat(start[:, None], weights.shape[1], axis=1)
    active = np.arange(weights.shape[1])
    for _ in range(_MAX_STEPS):
        now = theta[:, active]
        wins, losses = virtual.wins[:, active], virtual.losses[:, active]
        win = 1 / (1 + np.exp(-virtual.contrasts @ now))
        total = gradient + virtual.contrasts.T @ (wins - (wins + losses) * win)
        step = -np.einsum("rij,jr->ir", inverse[active], total)
        # If a resample has less information on a rating, the fixed Hessian overshoots: limit steps to length 1.
        length = np.abs(step).max(axis=0)
        theta[:, active] += step / np.maximum(length, 1)
        active = active[length > _TOLERANCE]
        if not len(active):
            break
        gradient = gradients(model.rankings, weights[:, active], theta[:, active])
    for r in active:
        draws = VirtualDraws(virtual.contrasts, virtual.wins[:, r], virtual.losses[:, r])
        theta[:, r], _ = maximize_likelihood(model.rankings, draws, weights[:, r], start)
    return theta.T


def percentiles(samples: Array, units: int, level: float = 0.95) -> tuple[Array, Array]:
    """Return both ends of the expanded percentile interval of each column of (R, N) values, resampled from units."""
    outside = float(ndtr(-math.sqrt(units / (units - 1)) * student_quantile(units, level)))
    low, high = np.quantile(samples, [outside, 1 - outside], axis=0, method="weibull")
    return low, high


def rank_probabilities(samples: Array) -> Array:
    """Return the fraction of resamples (R, P) in which a player (row) has a rank (column), strongest first, (P, P)."""
    players = samples.shape[1]
    order = np.argsort(-samples, axis=1, kind="stable")
    shares = [np.bincount(order[:, rank], minlength=players) / len(samples) for rank in range(players)]
    return np.stack(shares, axis=1)


def stronger_probabilities(samples: Array) -> Array:
    """Return the fraction of resamples (R, P) in which the row's player is rated above the column's, (P, P)."""
    above = np.stack([(samples[:, i, None] > samples).mean(axis=0) for i in range(samples.shape[1])])
    np.fill_diagonal(above, 0.5)
    return above

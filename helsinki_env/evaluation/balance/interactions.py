"""Interactions of actions: complements, substitutes and Shapley values.

The model is linear in the win rate. A seat's outcome is 1 for first rank, else 0, minus 1 / S. The regressors are the
seat, and the actions and pairs of actions denied to it minus the mean of those denied to the others. Like
`helsinki_env.evaluation.balance.effects` it compares seats within games, with the same standard errors over blocks.

**The coalition game.** Let v(T) be the win rate, in %, of a seat that may use the set T of actions, regardless of
the other seats' actions. With N the set of all actions, the fit is

    v(T) = v(N) - sum of single[i] over i not in T + sum of pair[i, j] over pairs {i, j} not in T

`single[i]` = v(N) - v(N without i) is what action i adds to all others. `pair[i, j]` = v(T with i and j) - v(T with i)
- v(T with j) + v(T) is the same for every T (the game is 2-additive; Grabisch 1997, "k-order additive discrete fuzzy
measures and their representation", Fuzzy Sets and Systems 92). Positive values mean complements: the two are worth more
together. Negative values mean substitutes. The Shapley value of i (Shapley 1953, "A value for n-person games") is its
average contribution when a seat receives the actions one by one in random order:

    shapley[i] = single[i] - sum of pair[i, j] over j / 2

The Shapley values sum to v(N) - v(nothing).

Win rates are nonlinear where the model is linear. Two actions with strong effects therefore get a small pair effect as
an artifact: with three seats and effects of three percentage points each, about a tenth of a point.

Errors and intervals require studies of thousands of blocks. With 800 blocks for 120 coefficients, the intervals of
single actions and pairs have nominal coverage, but those of Shapley values cover 93 to 94% instead of 95%. Absolute
values are identified only by the blocks with sets of random sizes.

Letters in shapes: G games, S seats, A actions, P pairs, K parameters, D blocks, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import AblationGames, contrasts, least_squares
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import stats

__all__ = ["Interactions", "estimate_interactions", "weighted_least_squares"]

Array = npt.NDArray[np.float64]

#: Blocks whose sums of squares are held at a time: limits the memory to some ten MB.
_CHUNK = 256


@dataclass(frozen=True)
class Interactions:
    """Effects of single actions and pairs, in percentage points of the win rate.

    P-values are two-sided, for no effect, by Student's t with D - 1 degrees of freedom.
    """

    single: Array  # effect of an action if all others are available, float64 (A,)
    single_error: Array
    single_p: Array
    pair: Array  # joint effect minus the separate effects, float64 (A, A), symmetric with zero diagonal
    pair_error: Array
    pair_p: Array  # with unit diagonal
    shapley: Array  # average effect over random orders, float64 (A,)
    shapley_low: Array  # lower end of its interval, from resampled blocks
    shapley_high: Array
    blocks: int
    games: int

    @property
    def pair_adjusted(self) -> Array:
        """`pair_p` adjusted over all pairs by Benjamini and Hochberg (false discovery rate), float64 (A, A)."""
        one, two = np.triu_indices(len(self.single), 1)
        return _symmetric(stats.false_discovery_control(self.pair_p[one, two]), len(self.single), 1.0)

    def value(self, available: npt.NDArray[np.bool_]) -> Array:
        """Return v(T) - v(N), float64 (...), for sets T of available actions, bool (..., A)."""
        lacks = (~available).astype(np.float64)
        value: Array = ((lacks @ self.pair) * lacks).sum(axis=-1) / 2 - lacks @ self.single
        return value


def estimate_interactions(
    study: AblationGames, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interactions:
    """Fit the effects of single actions and all pairs; RatingError if the games do not identify all pairs.

    The Shapley intervals come from `resamples`, in which blocks get random exponential weights (the Bayesian bootstrap
    of Rubin 1981, Annals of Statistics 9), so that every resample identifies all pairs. Percentiles are scaled away
    from the estimate by the same small-sample factor as the standard errors.
    """
    games, seats, actions = study.denied.shape
    one, two = np.triu_indices(actions, 1)
    features = contrasts(np.concatenate([study.denied, study.denied[:, :, one] & study.denied[:, :, two]], axis=2))
    outcome = 100.0 * (fractional_wins(study.places) - 1.0 / seats)
    model = least_squares(features, outcome, study.block)
    if model is None:
        raise RatingError(_why_unidentified(study))

    error = np.sqrt(np.diag(model.covariance))
    p = 2 * stats.t.sf(np.abs(model.theta / error), model.blocks - 1)
    alone, both = slice(seats - 1, seats - 1 + actions), slice(seats - 1 + actions, None)
    # Shapley values are linear in the coefficients; the signs flip because those are effects of denial.
    shapley = np.zeros((actions, features.shape[2]))
    shapley[:, alone] = -np.eye(actions)
    pairs = np.arange(len(one))
    shapley[:, both][one, pairs] = shapley[:, both][two, pairs] = -0.5
    weights = np.random.default_rng(seed).exponential(size=(resamples, model.blocks))
    resampled = weighted_least_squares(features, outcome, study.block, weights)
    drawn = (resampled - model.theta) @ shapley.T * np.sqrt(model.factor)
    ends = [0.5 - level / 2, 0.5 + level / 2]
    # the (R + 1) p-th smallest of R: other definitions of a percentile give too narrow intervals for small R
    low, high = np.quantile(drawn, ends, axis=0, method="weibull") + shapley @ model.theta
    return Interactions(
        single=-model.theta[alone],
        single_error=error[alone],
        single_p=p[alone],
        pair=_symmetric(model.theta[both], actions, 0.0),
        pair_error=_symmetric(error[both], actions, 0.0),
        pair_p=_symmetric(p[both], actions, 1.0),
        shapley=shapley @ model.theta,
        shapley_low=low,
        shapley_high=high,
        blocks=model.blocks,
        games=games,
    )


def _why_unidentified(study: AblationGames) -> str:
    """Name the value of the study's design (`arena.designs.ScreeningDesign`) that keeps pairs from being identified."""
    games, seats, actions = study.denied.shape
    sizes = np.unique(study.denied.sum(axis=2)).tolist()
    expected = f"expected that all {actions * (actions - 1) // 2} pairs of actions can be separated"
    blocks, parameters = len(np.unique(study.block)), seats - 1 + actions * (actions + 1) // 2
    if len(sizes) == 1:
        return (
            f"found only sets of {sizes[0]} denied actions, {expected}: raise loose, the fraction of blocks with sets "
            "of random sizes (0.2 is enough), and let sizes differ; with one size, single actions are sums of pairs"
        )
    if blocks * (seats - 1) <= parameters:
        return f"found {games} games in {blocks} blocks for {parameters} effects, {expected}: raise games"
    different = len(np.unique(study.denied.reshape(-1, actions), axis=0))
    return (
        f"found {different} different sets of denied actions, {expected}: raise copies, of the design, to at least 8, "
        "or loose, the fraction of blocks with sets of random sizes"
    )


def weighted_least_squares(features: Array, outcome: Array, block: npt.NDArray[np.int64], weights: Array) -> Array:
    """Return weighted least-squares coefficients, float64 (R, K), for R sets of block weights, float64 (R, D).

    Weights are in ascending order of the block numbers. They add up each block's sums of squares and products.
    """
    _, seats, k = features.shape
    _, unit, counts = np.unique(block, return_inverse=True, return_counts=True)
    order = np.argsort(unit.ravel(), kind="stable")
    first = np.cumsum(counts) - counts
    resamples = len(weights)
    upper = np.triu_indices(k)
    squares, products = np.zeros((resamples, len(upper[0]))), np.zeros((resamples, k))
    for begin in range(0, len(counts), _CHUNK):
        part = slice(begin, begin + _CHUNK)
        games = order[first[begin] : first[begin] + counts[part].sum()]
        own = unit.ravel()[games] - begin
        index = np.arange(len(games)) + first[begin] - first[part][own]
        # Pad blocks with fewer games, as in an interrupted run, with zeros.
        shape = (len(counts[part]), int(counts[part].max()), seats)
        x, y = np.zeros((*shape, k)), np.zeros(shape)
        x[own, index], y[own, index] = features[games], outcome[games]
        rows = x.reshape(shape[0], -1, k)
        columns = rows.transpose(0, 2, 1)
        squares += weights[:, part] @ (columns @ rows)[:, upper[0], upper[1]]
        products += weights[:, part] @ (columns @ y.reshape(shape[0], -1, 1))[:, :, 0]
    gram = np.zeros((resamples, k, k))
    gram[:, upper[0], upper[1]] = gram[:, upper[1], upper[0]] = squares
    return np.asarray(np.linalg.solve(gram, products[:, :, None])[:, :, 0], np.float64)


def _symmetric(values: Array, actions: int, diagonal: float) -> Array:
    """Return a symmetric matrix (A, A) from the values of all pairs, (P,)."""
    matrix = np.full((actions, actions), diagonal)
    one, two = np.triu_indices(actions, 1)
    matrix[one, two] = matrix[two, one] = values
    return matrix

"""Estimate how being denied actions affects the win rate and the score margin, and how these effects interact.

The design denies each seat of each game its own random set of actions. The probability that a seat wins is proportional
to ``exp(seat effect - effects of the denied actions)``. This is a multinomial logit model of the winner (McFadden 1974,
"Conditional logit analysis of qualitative choice behavior"). The result is the average marginal effect: the difference
in a seat's win probability between having the action and being denied it, averaged over all seats of all games.

The likelihood uses only the winner of each game. The Plackett-Luce model of full rankings has tighter intervals, but
it assumes that lower ranks depend on the actions as strongly as the first rank. In these games, they depend on the
actions less strongly. Full rankings therefore understate the effect on winning, by a factor of about 1.15 with three
players and of 1.2 to 1.25 with four (docs/notes/effect-sizes.md). With two players the models are identical.

Standard errors are sandwich estimates over blocks (Huber 1967, White 1982), converted to marginal effects with the
delta method. A block contains the games of one deal in all seat rotations. Intervals are simultaneous over all actions.
Their width is based on the distribution of the largest standardized error (Hothorn, Bretz and Westfall 2008,
"Simultaneous inference in general parametric models").

**Margin.** A second, less noisy outcome is the *margin* of a seat: its score minus the mean score of the others. The
regressors of the linear model are the seat, and the actions denied to the seat minus the mean of those denied to the
others. The model compares seats within games, because changes that affect all seats of a game equally cancel out. If
denying an action to a seat costs it b points and gives every other seat c points, the estimate is b + c. Standard
errors are sandwich estimates over blocks (Liang and Zeger 1986, "Longitudinal data analysis using generalized linear
models", Biometrika 73) with the usual small-sample factor (Cameron and Miller 2015, "A practitioner's guide to
cluster-robust inference", Journal of Human Resources 50): D / (D - 1) * (N - 1) / (N - K).

**Interactions.** A linear model of the win rate estimates complements, substitutes and Shapley values. The outcome of a
seat is its win (1 for the first rank, otherwise 0) minus 1 / S. The regressors are the seat, and the actions and pairs
of actions denied to it minus the mean of those denied to the others. Standard errors are computed as for the margin.

**Coalition game.** Let v(T) be the win rate, in %, of a seat that may use the set T of actions, regardless of the other
seats' actions. If N is the set of all actions, the fitted model is

    v(T) = v(N) - sum of single[i] over i not in T + sum of pair[i, j] over pairs {i, j} not in T

Here `single[i]` = v(N) - v(N without i) is the gain from adding action i to all others. The pair effect `pair[i, j]` =
v(T with i and j) - v(T with i) - v(T with j) + v(T) is the same for every T: the game is 2-additive (Grabisch 1997,
"k-order additive discrete fuzzy measures and their representation", Fuzzy Sets and Systems 92). Positive values
indicate complements, negative values substitutes. The Shapley value of i (Shapley 1953, "A value for n-person games")
is its average contribution when a seat receives the actions one by one in random order:

    shapley[i] = single[i] - sum of pair[i, j] over j / 2

The Shapley values sum to v(N) - v(empty set).

Win rates are nonlinear, so the linear model assigns a small spurious pair effect to two actions with strong effects:
about a tenth of a percentage point with three seats and effects of three percentage points each.

Reliable errors and intervals require thousands of blocks. With 800 blocks for 120 coefficients, the intervals of single
actions and pairs have nominal coverage, but those of Shapley values cover 93 to 94% instead of 95%. Absolute values are
identified only by blocks in which the number of denied actions is random.

Letters in shapes: G games, S seats, A actions, P pairs, K parameters, D blocks, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.plackett_luce import Fit, Rankings, VirtualDraws, fit, orders_of_finish
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import sparse, stats

__all__ = [
    "AblationGames",
    "Interactions",
    "MarginEffects",
    "WinEffects",
    "estimate_interactions",
    "estimate_margin_effects",
    "estimate_win_effects",
]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AblationGames:
    """Games in which seats were denied actions. Games of different blocks are independent."""

    denied: npt.NDArray[np.bool_]  # actions denied to each seat, (G, S, A)
    places: npt.NDArray[np.integer]  # rank of each seat (0 is first), (G, S); ties as in `rating.plackett_luce`
    block: npt.NDArray[np.int64]  # block of each game, (G,)


@dataclass(frozen=True)
class MarginEffects:
    """Effects on the margin, in points, of having an action instead of being denied it."""

    power: Array  # float64 (A,)
    covariance: Array  # covariance of `power`, float64 (A, A)
    blocks: int
    games: int

    @property
    def error(self) -> Array:
        """Standard errors of `power`, float64 (A,)."""
        return np.sqrt(np.diag(self.covariance))


@dataclass(frozen=True)
class WinEffects(MarginEffects):
    """Average marginal effects of having an action on the win rate, in percentage points."""

    seat: Array  # win rate of each seat when nothing is denied, in %, float64 (S,)
    fit: Fit  # the parameters are S - 1 seat effects, then the effects of being denied each action


def ablation_features(study: AblationGames) -> Array:
    """Return the features of each seat, float64 (G, S, K): sum-to-zero coding of the seat, then its denied actions."""
    games, seats, actions = study.denied.shape
    features = np.zeros((games, seats, seats - 1 + actions))
    features[:, : seats - 1, : seats - 1] = np.eye(seats - 1)
    features[:, seats - 1, : seats - 1] = -1.0
    features[:, :, seats - 1 :] = study.denied
    return features


def win_probabilities(features: Array, theta: Array) -> Array:
    """Return the probability of finishing first for each seat, float64 (G, S), given features (G, S, K)."""
    utility = features @ theta
    odds = np.exp(utility - utility.max(axis=1, keepdims=True))
    chances: Array = odds / odds.sum(axis=1, keepdims=True)
    return chances


def _rankings(study: AblationGames, features: Array, depth: int | None) -> Rankings:
    game, order, part = orders_of_finish(study.places)
    sorted_features = np.take_along_axis(features[game], order[:, :, None], axis=1)
    _, unit = np.unique(study.block, return_inverse=True)
    counts = sparse.csr_array((part, (unit.ravel()[game], np.arange(len(game)))), dtype=np.float64)
    return Rankings(sorted_features, counts, depth)


def estimate_win_effects(study: AblationGames, depth: int | None = 1) -> WinEffects:
    """Fit the model and return the marginal effect of every action.

    Args:
        study: the games.
        depth: number of ranks in the likelihood: 1 for the winner only, None for the full ranking. With more than two
            seats, estimates from the full ranking are biased if lower ranks depend less on the actions than the first
            rank.

    Raises:
        RatingError: if there is only one block or an effect is not identifiable.
    """
    games, seats, actions = study.denied.shape
    features = ablation_features(study)
    rankings = _rankings(study, features, depth)
    virtual = VirtualDraws.of(np.eye(seats - 1 + actions), 1.0)
    model = fit(rankings, virtual)
    power, slope = marginal_effects(features, model.theta, seats)
    nothing_denied = features[:1].copy()
    nothing_denied[:, :, seats - 1 :] = 0.0
    return WinEffects(
        power=100.0 * power,
        covariance=1e4 * slope @ model.covariance @ slope.T,
        seat=100.0 * win_probabilities(nothing_denied, model.theta)[0],
        fit=model,
        blocks=rankings.counts.shape[0],
        games=games,
    )


def marginal_effects(features: Array, theta: Array, seats: int) -> tuple[Array, Array]:
    """Return the average marginal effect of having each action, (A,), and its derivative with respect to theta, (A, K).

    If a seat with win probability p is denied an action with coefficient t, p changes to p e^t / (1 - p + p e^t).
    """
    actions = len(theta) - (seats - 1)
    chance = win_probabilities(features, theta)
    # d log(p_s) / d theta = x_s - sum_r p_r x_r
    mean = np.einsum("gs,gsk->gk", chance, features)
    power, slope = np.zeros(actions), np.zeros((actions, len(theta)))
    for action in range(actions):
        k = seats - 1 + action
        denied = features[:, :, k] > 0
        # Log odds of the seat with the action, whether or not it was denied in the game.
        log_odds = np.log(chance) - np.log1p(-chance)
        with_it = log_odds - theta[k] * denied
        has, lacks = 1 / (1 + np.exp(-with_it)), 1 / (1 + np.exp(-(with_it + theta[k])))
        power[action] = (has - lacks).mean()
        spread_has, spread_lacks = has * (1 - has), lacks * (1 - lacks)
        # d log_odds / d theta = (x_s - mean) / (1 - p)
        weight = (spread_has - spread_lacks) / (1 - chance)
        inner = np.einsum("gs,gsk->k", weight, features) - np.einsum("gs,gk->k", weight, mean)
        inner[k] += (-spread_has * denied - spread_lacks * (1.0 - denied)).sum()
        slope[action] = inner / chance.size
    return power, slope


#: Number of draws for a quantile (its Monte Carlo error is about 0.006), and number of decimals to which it is rounded.
_DRAWS, _DECIMALS = 200_000, 2


def simultaneous_quantile(covariance: Array, level: float = 0.95) -> float:
    """Return the half-width, in standard errors, of intervals that cover all A estimates with probability `level`.

    The half-width is a quantile of the largest absolute standardized error in normal draws with the given covariance of
    the estimates, float64 (A, A).
    """
    error = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(error, error)
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    generator = np.random.default_rng(0)
    largest = np.concatenate(
        [np.abs(generator.standard_normal((10_000, len(root))) @ root.T).max(axis=1) for _ in range(_DRAWS // 10_000)]
    )
    # Rounding hides Monte Carlo error and differences between thread counts.
    return round(max(float(np.quantile(largest, level)), float(stats.norm.ppf(0.5 + level / 2))), _DECIMALS)


def deviations(power: Array, covariance: Array) -> tuple[Array, Array]:
    """Return the deviations of effects from their mean, float64 (A,), and their covariance, float64 (A, A)."""
    centering = np.eye(len(power)) - 1.0 / len(power)
    return centering @ power, centering @ covariance @ centering.T


def simultaneous_half_widths(covariance: Array) -> Array:
    """Return the half-widths of simultaneous 95% intervals, float64 (A,), given the covariance of the estimates."""
    half: Array = simultaneous_quantile(covariance) * np.sqrt(np.diag(covariance))
    return half


@dataclass(frozen=True)
class LeastSquares:
    """A fitted linear model."""

    theta: Array  # coefficients, float64 (K,)
    covariance: Array  # covariance of `theta`, cluster-robust over blocks, float64 (K, K)
    factor: float  # small-sample factor included in `covariance`
    blocks: int


def against_others(values: npt.NDArray[np.generic]) -> Array:
    """Return each seat's value minus the mean of the other seats in its game, float64, given values (G, S, ...)."""
    seats = values.shape[1]
    own = values.astype(np.float64)
    difference: Array = (own - own.mean(axis=1, keepdims=True)) * (seats / (seats - 1))
    return difference


def contrasts(denied: npt.NDArray[np.generic]) -> Array:
    """Return features that compare the seats of a game, float64 (G, S, S - 1 + N), given N restrictions per seat.

    The features are the sum-to-zero coding of the seat, then its restrictions minus the mean of the other seats.
    """
    games, seats, _ = denied.shape
    seat = np.concatenate([np.eye(seats - 1), np.full((1, seats - 1), -1.0)])
    return np.concatenate([np.broadcast_to(seat, (games, seats, seats - 1)), against_others(denied)], axis=2)


def least_squares(features: Array, outcome: Array, block: npt.NDArray[np.int64]) -> LeastSquares | None:
    """Fit a linear model by least squares; return None if the games do not identify all coefficients.

    The features, float64 (G, S, K), and the outcome, float64 (G, S), sum to zero over the seats of every game.
    """
    games, seats, k = features.shape
    _, unit = np.unique(block, return_inverse=True)
    blocks = int(unit.max()) + 1
    # All games of a block have the same sets, and the last seat of a game follows from the others.
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
    """Estimate the effects of actions on the margin, given final points (G, S).

    Raises RatingError if an effect is not identifiable.
    """
    games, seats, _ = denied.shape
    model = least_squares(contrasts(denied), against_others(scores), block)
    if model is None:
        sizes = np.unique(denied.sum(axis=2)).tolist()
        remedy = "loose, as sets of one size only compare actions with each other" if len(sizes) == 1 else "games"
        raise RatingError(
            f"found {games} games with sets of {sizes} denied actions, expected enough to separate all actions; raise "
            f"{remedy}"
        )
    own = slice(seats - 1, None)
    return MarginEffects(-model.theta[own], model.covariance[own, own], model.blocks, games)


#: Number of blocks whose sums of squares are held in memory together, about ten MB.
_CHUNK = 256


@dataclass(frozen=True)
class Interactions:
    """Effects of single actions and pairs, in percentage points of the win rate.

    P values are two-sided, for the null hypothesis of no effect, from Student's t distribution with D - 1 degrees of
    freedom.
    """

    single: Array  # effect of an action when all others are available, float64 (A,)
    single_error: Array
    single_p: Array
    pair: Array  # joint effect minus the separate effects, float64 (A, A), symmetric with zero diagonal
    pair_error: Array
    pair_p: Array  # p values, float64 (A, A), with unit diagonal
    shapley: Array  # average contribution over random orders, float64 (A,)
    shapley_low: Array  # lower endpoint of its interval, from resampled blocks
    shapley_high: Array
    blocks: int
    games: int

    @property
    def pair_adjusted(self) -> Array:
        """`pair_p` adjusted over all pairs with the Benjamini-Hochberg method, float64 (A, A)."""
        one, two = np.triu_indices(len(self.single), 1)
        return _symmetric(stats.false_discovery_control(self.pair_p[one, two]), len(self.single), 1.0)


def estimate_interactions(
    study: AblationGames, resamples: int = 1000, level: float = 0.95, seed: int = 0
) -> Interactions:
    """Fit the effects of single actions and all pairs.

    Raises RatingError if the games do not identify all pairs.

    The intervals of Shapley values come from the Bayesian bootstrap (Rubin 1981, Annals of Statistics 9). Each of the
    `resamples` assigns random exponential weights to the blocks, so every resample identifies all pairs. The intervals
    include the small-sample factor of the standard errors.
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
    # Shapley values are linear in the coefficients, which have the opposite sign because they are effects of denial.
    shapley = np.zeros((actions, features.shape[2]))
    shapley[:, alone] = -np.eye(actions)
    pairs = np.arange(len(one))
    shapley[:, both][one, pairs] = shapley[:, both][two, pairs] = -0.5
    weights = np.random.default_rng(seed).exponential(size=(resamples, model.blocks))
    resampled = weighted_least_squares(features, outcome, study.block, weights)
    drawn = (resampled - model.theta) @ shapley.T * np.sqrt(model.factor)
    ends = [0.5 - level / 2, 0.5 + level / 2]
    # With few resamples, other definitions of a percentile give intervals that are too narrow.
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
    """Return an error message about the design setting that prevents the identification of pairs."""
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
    """Return the weighted least-squares coefficients, float64 (R, K), for R sets of block weights, float64 (R, D).

    The weights are in ascending order of block numbers.
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
        # After an interrupted run, some blocks have fewer games: pad them with zeros.
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
    """Return the symmetric matrix (A, A) with the given values of all pairs, (P,)."""
    matrix = np.full((actions, actions), diagonal)
    one, two = np.triu_indices(actions, 1)
    matrix[one, two] = matrix[two, one] = values
    return matrix

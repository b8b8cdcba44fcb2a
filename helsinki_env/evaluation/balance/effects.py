"""Estimate the effect of being denied an action: on the win rate, by a logit of the winner, and on the score margin.

The design denies each seat of each game its own random set of actions. The probability that a seat wins is
proportional to ``exp(seat effect - effects of the actions denied)``: a multinomial logit of the winner (McFadden 1974,
"Conditional logit analysis of qualitative choice behavior"). Coefficients are logarithms. The result is the average
marginal effect: the change of a seat's win probability between having the action and being denied it, averaged over
all seats of all games.

Only the winner enters. The Plackett-Luce model of whole rankings has tighter intervals. It assumes, however, that lower
ranks depend on the actions as strongly as the first rank. In these games they depend on them less, so whole rankings
understate the effect on winning, by factors of about 1.15 with three players and 1.2 to 1.25 with four
(docs/notes/effect-sizes.md). With two players the models are identical.

Standard errors are the sandwich over blocks (games of one deal, all rotations of the seats; Huber 1967, White 1982),
converted to marginal effects by the delta method. Intervals are simultaneous over all actions: their width comes from
the distribution of the largest standardized error (Hothorn, Bretz and Westfall 2008, "Simultaneous inference in general
parametric models").

**Margin.** A second outcome has less noise: a seat's *margin*, its score minus the mean score of the others. It is
explained by the seat, and by the actions denied to the seat minus the mean of those denied to the others. Anything that
raises all scores of a game equally cancels, so this compares seats within games. If denying an action to a seat costs
it b points and gives every other seat c points, the estimate is b + c. Standard errors are the sandwich over blocks
(Liang and Zeger 1986, "Longitudinal data analysis using generalized linear models", Biometrika 73) with the usual
small-sample factor (Cameron and Miller 2015, "A practitioner's guide to cluster-robust inference", Journal of Human
Resources 50): D / (D - 1) * (N - 1) / (N - K).

Letters in shapes: G games, S seats, A actions, K parameters, D blocks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.plackett_luce import Fit, Rankings, VirtualDraws, fit, orders_of_finish
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import sparse, stats

__all__ = [
    "AblationGames",
    "LeastSquares",
    "MarginEffects",
    "WinEffects",
    "ablation_features",
    "against_others",
    "contrasts",
    "estimate_margin_effects",
    "estimate_win_effects",
    "least_squares",
    "marginal_effects",
    "simultaneous_quantile",
    "win_probabilities",
]

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class AblationGames:
    """Games in which seats were denied actions; games of different blocks are independent."""

    denied: npt.NDArray[np.bool_]  # actions denied to each seat, (G, S, A)
    places: npt.NDArray[np.integer]  # rank by seat, 0 is first, (G, S); ties as in `rating.plackett_luce`
    block: npt.NDArray[np.int64]  # block of each game, (G,)


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
class WinEffects(MarginEffects):
    """The same average marginal effects on winning, in percentage points of the win rate."""

    seat: Array  # win rate of each seat when nothing is denied, in %, float64 (S,)
    fit: Fit  # the first S - 1 parameters are seat effects, followed by A effects of denial


def ablation_features(study: AblationGames) -> Array:
    """Return seat effects that sum to zero, followed by the denied actions; float64 (G, S, K)."""
    games, seats, actions = study.denied.shape
    features = np.zeros((games, seats, seats - 1 + actions))
    features[:, : seats - 1, : seats - 1] = np.eye(seats - 1)
    features[:, seats - 1, : seats - 1] = -1.0
    features[:, :, seats - 1 :] = study.denied
    return features


def win_probabilities(features: Array, theta: Array) -> Array:
    """Return the probability of each seat to finish first, float64 (G, S), for features (G, S, K)."""
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
        depth: number of ranks in the likelihood: 1 is the winner, None the whole ranking. With more than two seats the
            whole ranking gives biased estimates if lower ranks depend on the actions less than the first one.

    Raises:
        RatingError: if there is only one block, or effects are not identifiable.
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
    """Return the average marginal effect of having each action, (A,), and its derivative by theta, (A, K).

    For a seat with win probability p, denying an action of effect t changes it to p e^t / (1 - p + p e^t).
    """
    actions = len(theta) - (seats - 1)
    chance = win_probabilities(features, theta)
    # d log(p_s) / d theta = x_s - sum_r p_r x_r
    mean = np.einsum("gs,gsk->gk", chance, features)
    power, slope = np.zeros(actions), np.zeros((actions, len(theta)))
    for action in range(actions):
        k = seats - 1 + action
        denied = features[:, :, k] > 0
        # odds of the seat with the action and without it, regardless of what it had in the game
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


#: Number of draws for a quantile, and its decimals: the draws give it to about 0.006.
_DRAWS, _DECIMALS = 200_000, 2


def simultaneous_quantile(covariance: Array, level: float = 0.95) -> float:
    """Return the half-width, in standard errors, of intervals that cover all estimates simultaneously.

    They do so with probability `level`. The half-width is a quantile of the largest of A errors, from normal draws with
    the covariance of the estimates, float64 (A, A).
    """
    error = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(error, error)
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.clip(values, 0.0, None))
    generator = np.random.default_rng(0)
    largest = np.concatenate(
        [np.abs(generator.standard_normal((10_000, len(root))) @ root.T).max(axis=1) for _ in range(_DRAWS // 10_000)]
    )
    # Round more coarsely than the Monte Carlo error and the rounding differences between thread counts.
    return round(max(float(np.quantile(largest, level)), float(stats.norm.ppf(0.5 + level / 2))), _DECIMALS)


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

"""Pairs of actions: which are worth more together than apart, which stand in for each other, and Shapley values.

The model is linear in the share of games won: a seat's outcome (1 for first place, else 0, minus 1 / S) is explained by
what the seat is denied minus what the others are denied on average, in single actions and in pairs of them, and by the
seat. It compares seats within games, as `agents.balance.margins` does, with the same standard errors over
blocks.

**The game of coalitions.** Let v(T) be the share of games won, in points of a hundred, by a seat that may use the set T
of actions, whatever the others may use. With N the set of all actions, the fit says

    v(T) = v(N) - sum of single[i] over i not in T + sum of pair[i, j] over pairs {i, j} not in T

`single[i]` = v(N) - v(N without i) is what action i adds to all others. `pair[i, j]` = v(T with i and j) - v(T with i)
- v(T with j) + v(T) is the same for every T (the game is 2-additive; Grabisch 1997, "k-order additive discrete fuzzy
measures and their representation", Fuzzy Sets and Systems 92): above zero the two are worth more together
(complements), below zero one stands in for the other (substitutes). The Shapley value of i (Shapley 1953, "A value for
n-person games") is what i adds on average to those that came before it when the actions are given to the seat one by
one in random order:

    shapley[i] = single[i] - sum of pair[i, j] over j / 2

All of them add up to v(N) - v(nothing).

Shares of wins bend where the model is straight, so two actions that are both very strong get a small pair effect from
that alone: with three seats and three points each about a tenth of a point.

Errors and intervals are for studies of thousands of blocks. With 800 blocks for 120 coefficients they cover single
actions and pairs as often as they say, but Shapley values in 93 to 94 % of cases instead of 95 %: absolute values rest
on the blocks with sets of random sizes alone.

Letters in shapes: G games, S seats, A actions, P pairs, K parameters, D blocks, R resamples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.balance.effects import Study
from agents.balance.margins import contrasts, least_squares
from agents.balance.multiplicity import benjamini_hochberg
from agents.rating.errors import RatingError
from agents.standing import win_shares
from helsinki_env.extras import needs

with needs("arena"):
    from scipy import stats

__all__ = ["Interactions", "estimate", "reweighted"]

Array = npt.NDArray[np.float64]

#: Blocks whose sums of squares are held at a time: bounds the memory, some ten MB.
_CHUNK = 256


@dataclass(frozen=True)
class Interactions:
    """What single actions and pairs of them are worth, in points of a hundred of the share of games won.

    Attributes:
        single: what an action adds if all others are there, float64 (A,).
        single_error: standard errors, float64 (A,).
        single_p: two-sided p values of "adds nothing", float64 (A,), Student's distribution with D - 1 degrees.
        pair: by how much two are worth more together than apart, float64 (A, A), symmetric with a diagonal of zeros.
        pair_error: standard errors, alike.
        pair_p: two-sided p values of "no more and no less than apart", alike, with a diagonal of ones.
        shapley: what an action adds on average over random orders, float64 (A,).
        shapley_low: lower end of its interval, from resampled blocks, float64 (A,).
        shapley_high: upper end, alike.
        blocks: independent blocks.
        games: games.
    """

    single: Array
    single_error: Array
    single_p: Array
    pair: Array
    pair_error: Array
    pair_p: Array
    shapley: Array
    shapley_low: Array
    shapley_high: Array
    blocks: int
    games: int

    @property
    def pair_adjusted(self) -> Array:
        """`pair_p` adjusted for all pairs by Benjamini and Hochberg (the part of false findings), float64 (A, A)."""
        one, two = np.triu_indices(len(self.single), 1)
        return _symmetric(benjamini_hochberg(self.pair_p[one, two]), len(self.single), 1.0)

    def value(self, available: npt.NDArray[np.bool_]) -> Array:
        """Return v(T) - v(N), float64 (...), for sets T of available actions, bool (..., A)."""
        lacks = (~available).astype(np.float64)
        value: Array = ((lacks @ self.pair) * lacks).sum(axis=-1) / 2 - lacks @ self.single
        return value


def estimate(study: Study, resamples: int = 1000, level: float = 0.95, seed: int = 0) -> Interactions:
    """Fit single actions and all pairs.

    Args:
        study: the games.
        resamples: for the intervals of Shapley values. Blocks get random weights (exponential: the Bayesian bootstrap
            of Rubin 1981, Annals of Statistics 9), so that no resample lacks the blocks that tell some pair.
            Percentiles move away from the estimate by the factor for few observations that standard errors have, too.
        level: of the intervals.
        seed: of the weights.

    Raises:
        RatingError: if the games do not tell all pairs apart; it says what the design of the study lacks.
    """
    games, seats, actions = study.denied.shape
    one, two = np.triu_indices(actions, 1)
    features = contrasts(np.concatenate([study.denied, study.denied[:, :, one] & study.denied[:, :, two]], axis=2))
    outcome = 100.0 * (win_shares(study.places) - 1.0 / seats)
    found = least_squares(features, outcome, study.block)
    if found is None:
        raise RatingError(_what_lacks(study))

    error = np.sqrt(np.diag(found.covariance))
    p = 2 * stats.t.sf(np.abs(found.theta / error), found.blocks - 1)
    alone, both = slice(seats - 1, seats - 1 + actions), slice(seats - 1 + actions, None)
    # Shapley values as a linear map of the coefficients, which are of being denied: hence the signs.
    shapley = np.zeros((actions, features.shape[2]))
    shapley[:, alone] = -np.eye(actions)
    pairs = np.arange(len(one))
    shapley[:, both][one, pairs] = shapley[:, both][two, pairs] = -0.5
    weights = np.random.default_rng(seed).exponential(size=(resamples, found.blocks))
    drawn = (reweighted(features, outcome, study.block, weights) - found.theta) @ shapley.T * np.sqrt(found.factor)
    ends = [0.5 - level / 2, 0.5 + level / 2]
    # the (R + 1) p-th smallest of R: other definitions of a percentile give intervals that are too narrow for small R
    low, high = np.quantile(drawn, ends, axis=0, method="weibull") + shapley @ found.theta
    return Interactions(
        single=-found.theta[alone],
        single_error=error[alone],
        single_p=p[alone],
        pair=_symmetric(found.theta[both], actions, 0.0),
        pair_error=_symmetric(error[both], actions, 0.0),
        pair_p=_symmetric(p[both], actions, 1.0),
        shapley=shapley @ found.theta,
        shapley_low=low,
        shapley_high=high,
        blocks=found.blocks,
        games=games,
    )


def _what_lacks(study: Study) -> str:
    """Say which value of the design of the study (`agents.arena.designs.Screen`) keeps pairs from being told apart."""
    games, seats, actions = study.denied.shape
    sizes = np.unique(study.denied.sum(axis=2)).tolist()
    expected = f"expected that all {actions * (actions - 1) // 2} pairs of actions can be told apart"
    blocks, parameters = len(np.unique(study.block)), seats - 1 + actions * (actions + 1) // 2
    if len(sizes) == 1:
        return (
            f"found no sets but of {sizes[0]} denied actions, {expected}: raise loose, the part of blocks with sets of "
            "random sizes (0.2 will do), and let sizes differ; in sets of one size single actions are sums of pairs"
        )
    if blocks * (seats - 1) <= parameters:
        return f"found {games} games in {blocks} blocks for {parameters} effects, {expected}: raise games"
    different = len(np.unique(study.denied.reshape(-1, actions), axis=0))
    return (
        f"found {different} different sets of denied actions, {expected}: raise copies, of the design, to at least 8, "
        "or loose, the part of blocks with sets of random sizes"
    )


def reweighted(features: Array, outcome: Array, block: npt.NDArray[np.int64], weights: Array) -> Array:
    """Return least-squares coefficients from blocks with weights, float64 (R, K).

    They need no more than each block's own sums of squares and products, which are added up with weights.

    Args:
        features: of every seat, float64 (G, S, K).
        outcome: what is explained, float64 (G, S).
        block: which block a game belongs to, int64 (G,).
        weights: of the blocks in ascending order of their numbers, float64 (R, D).
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
        place = np.arange(len(games)) + first[begin] - first[part][own]
        # Blocks with fewer games than others, as in a run that was stopped, are filled up with zeros.
        shape = (len(counts[part]), int(counts[part].max()), seats)
        x, y = np.zeros((*shape, k)), np.zeros(shape)
        x[own, place], y[own, place] = features[games], outcome[games]
        rows = x.reshape(shape[0], -1, k)
        turned = rows.transpose(0, 2, 1)
        squares += weights[:, part] @ (turned @ rows)[:, upper[0], upper[1]]
        products += weights[:, part] @ (turned @ y.reshape(shape[0], -1, 1))[:, :, 0]
    gram = np.zeros((resamples, k, k))
    gram[:, upper[0], upper[1]] = gram[:, upper[1], upper[0]] = squares
    return np.asarray(np.linalg.solve(gram, products[:, :, None])[:, :, 0], np.float64)


def _symmetric(values: Array, actions: int, diagonal: float) -> Array:
    """Return a matrix (A, A) of what is known of every pair, (P,)."""
    matrix = np.full((actions, actions), diagonal)
    one, two = np.triu_indices(actions, 1)
    matrix[one, two] = matrix[two, one] = values
    return matrix

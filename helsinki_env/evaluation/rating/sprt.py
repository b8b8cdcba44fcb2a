"""A sequential test of whether one player is better than another by a given amount, evaluated after every block.

This is the generalized sequential probability ratio test (Wald 1945; Li, Liu and Ying 2014, "Generalized Sequential
Probability Ratio Test for Separate Families of Hypotheses", Sequential Analysis 33) on the mean scores of blocks, as
used for chess engines (Van den Bergh, "A Practical Introduction to the GSPRT", 2020; fishtest's pentanomial model). A
block consists of the games of one deal. Its mean score is one observation, regardless of the number and correlation of
its games.

Let Q(s) be the sum of squared distances of the n block scores from s. For a normal distribution with unknown variance,
the ratio of the maximum likelihoods with mean ``high`` and with mean ``low`` is ``(Q(low) / Q(high)) ** (n / 2)``. The
test stops when its logarithm leaves (log(beta / (1 - alpha)), log((1 - beta) / alpha)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.rating import RatingError

__all__ = ["Hypotheses", "SequentialTest", "SprtDecision", "SprtState", "expected_blocks", "expected_score"]

Array = npt.NDArray[np.float64]
SprtDecision = Literal["better", "not better", "running", "undecided"]
"""The status of a sequential test."""

#: Minimum number of blocks for a conclusion. With fewer blocks, the variance estimate is too uncertain.
_MIN_BLOCKS = 16
#: Variance of one even game, added to both sums of squares so that the ratio is finite if all blocks are equal.
_PRIOR_VARIANCE = 0.25


def expected_score(difference: float) -> float:
    """Return the expected score (the probability of finishing ahead) for an Elo difference."""
    return 1 / (1 + 10 ** (-difference / 400))


@dataclass(frozen=True)
class Hypotheses:
    """The hypotheses of a sequential test.

    The probabilities of errors are approximate. In simulations, they hold if both means are between 0.25 and 0.75.
    Beyond (`is_extreme`), conclusions are wrong up to three times as often (docs/notes/rating-checks.md).

    Attributes:
        low: mean score (0 to 1) at or below which the conclusion should be "not better".
        high: mean score at or above which the conclusion should be "better".
        alpha: maximum probability of concluding "better" if the true mean is `low`.
        beta: maximum probability of concluding "not better" if the true mean is `high`.
        max_blocks: number of blocks after which the test stops as "undecided", or None for no limit.

    Raises:
        RatingError: if a value is invalid.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    max_blocks: int | None = None

    def __post_init__(self) -> None:
        """Validate the values."""
        if not 0 < self.low < self.high < 1:
            raise RatingError(
                f"hypotheses: found mean scores {self.low:.4g} and {self.high:.4g}, expected 0 < low < high < 1"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise RatingError(f"{name}: found {value}, expected a probability between 0 and 0.5")
        if self.max_blocks is not None and self.max_blocks < _MIN_BLOCKS:
            raise RatingError(f"max_blocks: found {self.max_blocks}, expected at least {_MIN_BLOCKS}")

    @property
    def is_extreme(self) -> bool:
        """Whether a mean is so far from 1/2 that errors are more frequent than `alpha` and `beta`."""
        return self.low < 0.25 or self.high > 0.75

    @property
    def bounds(self) -> tuple[float, float]:
        """The lower and upper log-likelihood ratios at which the test stops."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


@dataclass(frozen=True)
class SprtState:
    """The state of a sequential test.

    Attributes:
        decision: conclusion, or "running".
        blocks: number of evaluated blocks. Blocks after the conclusion do not count.
        log_ratio: logarithm of the likelihood ratio.
        mean: mean score of the evaluated blocks; NaN if there are none.
    """

    decision: SprtDecision
    blocks: int
    log_ratio: float
    mean: float


def log_likelihood_ratios(blocks: Array, hypotheses: Hypotheses) -> Array:
    """Return the log-likelihood ratio after each block, given mean scores (..., N); 0 if there are too few blocks."""
    number = np.arange(1, blocks.shape[-1] + 1)
    far = np.cumsum((blocks - hypotheses.low) ** 2, axis=-1) + _PRIOR_VARIANCE
    near = np.cumsum((blocks - hypotheses.high) ** 2, axis=-1) + _PRIOR_VARIANCE
    ratio: Array = number / 2 * np.log(far / near)
    ratio[..., : _MIN_BLOCKS - 1] = 0
    return ratio


class SequentialTest:
    """A sequential test that is updated with blocks as they are played.

    Example:
        >>> test = SequentialTest(Hypotheses(expected_score(0), expected_score(50)))
        >>> test.update(np.array([0.5, 1.0] * 10)).decision
        'running'
        >>> test.update(np.array([0.5, 1.0] * 10)).decision
        'better'
    """

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self._blocks = np.zeros(0)

    @property
    def state(self) -> SprtState:
        """The current state of the test."""
        return run_sprt(self._blocks, self.hypotheses)

    def update(self, blocks: npt.ArrayLike) -> SprtState:
        """Add the mean scores of new blocks, in order, and return the new state of the test.

        Raises:
            RatingError: if a score is not between 0 and 1.
        """
        new = np.asarray(blocks, np.float64).ravel()
        if not ((new >= 0) & (new <= 1)).all():
            raise RatingError(f"blocks: found a score of {new[~((new >= 0) & (new <= 1))][0]}, expected 0 to 1")
        self._blocks = np.concatenate([self._blocks, new])
        return self.state


def run_sprt(blocks: Array, hypotheses: Hypotheses) -> SprtState:
    """Return the state of a test, given the mean scores of its blocks in order, (N,)."""
    seen = blocks[: hypotheses.max_blocks]
    lower, upper = hypotheses.bounds
    ratios = log_likelihood_ratios(seen, hypotheses)
    outside = np.flatnonzero((ratios <= lower) | (ratios >= upper))
    if len(outside):
        stop = int(outside[0])
        decision: SprtDecision = "better" if ratios[stop] >= upper else "not better"
        return SprtState(decision, stop + 1, float(ratios[stop]), float(seen[: stop + 1].mean()))
    last = float(ratios[-1]) if len(seen) else 0.0
    mean = float(seen.mean()) if len(seen) else math.nan
    return SprtState("undecided" if len(seen) == hypotheses.max_blocks else "running", len(seen), last, mean)


def expected_blocks(hypotheses: Hypotheses, deviation: float) -> tuple[float, float, float]:
    """Return the expected numbers of blocks if the true mean is `low`, the midpoint, and `high`.

    `deviation` is the standard deviation of the block scores. The result is Wald's approximation, which neglects the
    overshoot of the last block.
    """
    lower, upper = hypotheses.bounds
    drift = (hypotheses.high - hypotheses.low) ** 2 / (2 * deviation**2)
    at_low = -(hypotheses.alpha * upper + (1 - hypotheses.alpha) * lower) / drift
    at_high = ((1 - hypotheses.beta) * upper + hypotheses.beta * lower) / drift
    return at_low, -upper * lower / (2 * drift), at_high

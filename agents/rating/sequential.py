"""A test that looks at every block and stops as soon as it knows: is one player better than another by so much?

The generalised sequential probability ratio test (Wald 1945; Li, Liu and Ying 2014, "Generalized Sequential Probability
Ratio Test for Separate Families of Hypotheses", Sequential Analysis 33) on the mean scores of blocks, as chess engines
are tested (Van den Bergh, "A Practical Introduction to the GSPRT", 2020; fishtest's pentanomial model). A block is a
deck: its mean score is one observation, however many games were played with it and however they depend on each other.

With n blocks, the ratio of the largest likelihoods under mean ``high`` and mean ``low``, for a normal distribution of
unknown variance, is ``(Q(low) / Q(high)) ** (n / 2)``, where Q(s) is the sum of squared distances from s. The test
stops when its logarithm leaves (log(beta / (1 - alpha)), log((1 - beta) / alpha)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from agents.rating.errors import RatingError

__all__ = ["Hypotheses", "SequentialTest", "State", "Verdict", "expected_blocks", "log_ratios", "share_of_elo"]

Array = npt.NDArray[np.float64]
Verdict = Literal["better", "not better", "running", "undecided"]
"""Where a test stands."""

#: Blocks before which nothing is decided: the variance of very few is hardly known.
_LEAST = 16
#: Added to both sums of squares, the variance of one game that is as likely won as lost. It keeps blocks that happen to
#: be alike from deciding, and the ratio finite.
_CUSHION = 0.25


def share_of_elo(difference: float) -> float:
    """Return the expected share of meetings in which one finishes ahead who is so many Elo points stronger."""
    return 1 / (1 + 10 ** (-difference / 400))


@dataclass(frozen=True)
class Hypotheses:
    """What is tested.

    Attributes:
        low: mean score, from 0 to 1, up to which the answer should be "not better".
        high: mean score from which on it should be "better".
        alpha: largest probability of "better" if the truth is `low`.
        beta: largest probability of "not better" if it is `high`.
        cap: blocks after which the test gives up ("undecided"); None: never.

    Raises:
        RatingError: for values that make no test.
    """

    low: float
    high: float
    alpha: float = 0.05
    beta: float = 0.05
    cap: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        if not 0 < self.low < self.high < 1:
            raise RatingError(
                f"found hypotheses of mean scores {self.low:.4g} and {self.high:.4g}, expected 0 < low < high < 1: "
                "swap or move them"
            )
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise RatingError(f"{name}: found {value}, expected a probability between 0 and 0.5")
        if self.cap is not None and self.cap < _LEAST:
            raise RatingError(f"cap: found {self.cap} blocks, expected at least {_LEAST}, before which none decides")

    @property
    def bounds(self) -> tuple[float, float]:
        """The log ratios at which the test stops."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)


@dataclass(frozen=True)
class State:
    """Where a test stands.

    Attributes:
        verdict: what it says.
        blocks: how many it has looked at; later ones do not count.
        log_ratio: logarithm of the likelihood ratio.
        mean: mean score of those blocks; NaN without any.
    """

    verdict: Verdict
    blocks: int
    log_ratio: float
    mean: float


def log_ratios(blocks: Array, hypotheses: Hypotheses) -> Array:
    """Return the log ratio after each block.

    Args:
        blocks: mean scores from 0 to 1 in the order in which they were played, float64 (..., N).
        hypotheses: what is tested.

    Returns:
        float64 (..., N); 0 while there are too few blocks to decide.
    """
    number = np.arange(1, blocks.shape[-1] + 1)
    far = np.cumsum((blocks - hypotheses.low) ** 2, axis=-1) + _CUSHION
    near = np.cumsum((blocks - hypotheses.high) ** 2, axis=-1) + _CUSHION
    ratio: Array = number / 2 * np.log(far / near)
    ratio[..., : _LEAST - 1] = 0
    return ratio


class SequentialTest:
    """A test that is fed with blocks as they are played.

    Args:
        hypotheses: what is tested.

    Example:
        >>> test = SequentialTest(Hypotheses(share_of_elo(0), share_of_elo(50)))
        >>> test.update(np.array([0.5, 1.0] * 10)).verdict
        'running'
        >>> test.update(np.array([0.5, 1.0] * 10)).verdict
        'better'
    """

    def __init__(self, hypotheses: Hypotheses) -> None:
        self.hypotheses = hypotheses
        self._blocks = np.zeros(0)

    @property
    def state(self) -> State:
        """Where the test stands."""
        return evaluate(self._blocks, self.hypotheses)

    def update(self, blocks: npt.ArrayLike) -> State:
        """Add the mean scores of new blocks, in order, and return where the test stands.

        Raises:
            RatingError: if a score is outside 0 to 1.
        """
        new = np.asarray(blocks, np.float64).ravel()
        if not ((new >= 0) & (new <= 1)).all():
            raise RatingError(f"blocks: found a score of {new[~((new >= 0) & (new <= 1))][0]}, expected 0 to 1")
        self._blocks = np.concatenate([self._blocks, new])
        return self.state


def evaluate(blocks: Array, hypotheses: Hypotheses) -> State:
    """Return what the test says of blocks (N,) that it looks at one after the other."""
    seen = blocks[: hypotheses.cap]
    lower, upper = hypotheses.bounds
    ratios = log_ratios(seen, hypotheses)
    outside = np.flatnonzero((ratios <= lower) | (ratios >= upper))
    if len(outside):
        stop = int(outside[0])
        verdict: Verdict = "better" if ratios[stop] >= upper else "not better"
        return State(verdict, stop + 1, float(ratios[stop]), float(seen[: stop + 1].mean()))
    last = float(ratios[-1]) if len(seen) else 0.0
    mean = float(seen.mean()) if len(seen) else math.nan
    return State("undecided" if len(seen) == hypotheses.cap else "running", len(seen), last, mean)


def expected_blocks(hypotheses: Hypotheses, deviation: float) -> tuple[float, float, float]:
    """Return how many blocks the test takes on average if the truth is `low`, in the middle, or `high`.

    Wald's approximation, which leaves out by how much the last block oversteps the bound.

    Args:
        hypotheses: what is tested.
        deviation: standard deviation of a block's mean score.
    """
    lower, upper = hypotheses.bounds
    drift = (hypotheses.high - hypotheses.low) ** 2 / (2 * deviation**2)
    at_low = -(hypotheses.alpha * upper + (1 - hypotheses.alpha) * lower) / drift
    at_high = ((1 - hypotheses.beta) * upper + hypotheses.beta * lower) / drift
    return at_low, -upper * lower / (2 * drift), at_high

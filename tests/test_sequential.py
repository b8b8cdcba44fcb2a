"""The sequential test: the formula, the stopping point, and the error rates."""

from __future__ import annotations

import doctest
import math

import numpy as np
import pytest

from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.sprt import (
    Hypotheses,
    SequentialTest,
    expected_blocks,
    expected_score,
    log_likelihood_ratios,
    run_sprt,
)

#: Scores of a block of two games, and how probable they are around a mean of one half: little, usual, most variance.
VALUES = np.array([0, 0.5, 1])
SHAPES = {"steady": (0.15, 0.7, 0.15), "usual": (0.25, 0.5, 0.25), "all or nothing": (0.5, 0, 0.5)}


def blocks(mean: float, shape: str, size: tuple[int, ...], seed: int) -> np.ndarray:
    probabilities = np.array(SHAPES[shape]) + (mean - 0.5) * np.array([-1, 0, 1])
    return np.random.default_rng(seed).choice(VALUES, p=probabilities, size=size)


def wrong_and_blocks(mean: float, hypotheses: Hypotheses, shape: str, tests: int, seed: int) -> tuple[float, float]:
    """Share of tests that say what is wrong if `mean`, one of the two hypotheses, is true, and the mean length."""
    lower, upper = hypotheses.bounds
    most = int(12 * max(expected_blocks(hypotheses, 0.5)))
    ratios = log_likelihood_ratios(blocks(mean, shape, (tests, most), seed), hypotheses)
    stop = ((ratios <= lower) | (ratios >= upper)).argmax(axis=1)
    last = ratios[np.arange(tests), stop]
    assert ((last <= lower) | (last >= upper)).all()
    wrong = last >= upper if mean == hypotheses.low else last <= lower
    return float(wrong.mean()), float(stop.mean()) + 1


def check_error_rates(low: float, high: float, tests: int) -> None:
    hypotheses = Hypotheses(low, high)
    margin = 2.6 * math.sqrt(0.05 * 0.95 / tests)  # one in two hundred
    for number, shape in enumerate(SHAPES):
        expected = expected_blocks(hypotheses, float(blocks(0.5, shape, (100_000,), 0).std()))
        for mean, by_wald in ((low, expected[0]), (high, expected[2])):
            wrong, length = wrong_and_blocks(mean, hypotheses, shape, tests, seed=number)
            print(f"{low:.3f} against {high:.3f}, {shape}, truth {mean:.3f}: {wrong:.2%} wrong, {length:.0f} blocks")
            assert wrong <= 0.05 + margin, (shape, mean)
            assert 0.8 * by_wald < length < 2.5 * by_wald + 20, (shape, mean)


def test_the_errors_are_as_rare_as_they_should_be() -> None:
    check_error_rates(0.5, 0.6, tests=1000)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("low", "high"), [(expected_score(0), expected_score(30)), (expected_score(-30), expected_score(30)), (0.5, 0.6)]
)
def test_the_errors_are_as_rare_as_they_should_be_for_many_hypotheses(low: float, high: float) -> None:
    check_error_rates(low, high, tests=4000)


def test_the_ratio_is_that_of_normal_distributions_of_unknown_variance() -> None:
    hypotheses = Hypotheses(0.5, 0.6)
    scores = blocks(0.6, "usual", (20,), 1)
    far, near = (((scores - mean) ** 2).sum() + 0.25 for mean in (0.5, 0.6))
    assert log_likelihood_ratios(scores, hypotheses)[-1] == pytest.approx(20 / 2 * math.log(far / near))
    assert log_likelihood_ratios(scores, hypotheses)[:15].tolist() == [0] * 15


def test_pieces_give_the_same_as_all_at_once() -> None:
    hypotheses = Hypotheses(0.5, 0.6)
    scores = blocks(0.65, "usual", (300,), 2)
    test = SequentialTest(hypotheses)
    for begin in range(0, 300, 7):
        state = test.update(scores[begin : begin + 7])
    assert state == run_sprt(scores, hypotheses) == test.state
    assert state.decision == "better"
    assert state.blocks < 300  # what came later did not count
    assert state.log_ratio >= hypotheses.bounds[1]


def test_decisions() -> None:
    def decision(mean: float, number: int, cap: int | None = None) -> str:
        return run_sprt(blocks(mean, "usual", (number,), 3), Hypotheses(0.45, 0.55, max_blocks=cap)).decision

    assert decision(0.6, 500) == "better"
    assert decision(0.4, 500) == "not better"
    assert decision(0.5, 20) == "running"
    assert decision(0.5, 20, cap=20) == "undecided"
    nothing = SequentialTest(Hypotheses(0.45, 0.55)).state
    assert (nothing.decision, nothing.blocks, nothing.log_ratio) == ("running", 0, 0)


def test_blocks_that_are_all_alike_decide_nothing_at_once() -> None:
    hypotheses = Hypotheses(0.5, 0.6)
    assert run_sprt(np.full(15, 1.0), hypotheses).decision == "running"
    assert np.isfinite(log_likelihood_ratios(np.full(1000, 0.6), hypotheses)).all()


def test_elo_and_shares() -> None:
    assert expected_score(0) == 0.5
    assert expected_score(400) == pytest.approx(10 / 11)


def test_wrong_values_are_named() -> None:
    with pytest.raises(RatingError, match=r"0\.6 and 0\.5"):
        Hypotheses(0.6, 0.5)
    with pytest.raises(RatingError, match=r"alpha: found 0\.6"):
        Hypotheses(0.5, 0.6, alpha=0.6)
    with pytest.raises(RatingError, match=r"max_blocks: found 3"):
        Hypotheses(0.5, 0.6, max_blocks=3)
    with pytest.raises(RatingError, match=r"found a score of 1\.5"):
        SequentialTest(Hypotheses(0.5, 0.6)).update([0.5, 1.5])


def test_the_example_runs() -> None:
    from helsinki_env.evaluation.rating import sprt

    result = doctest.testmod(sprt)
    assert result.attempted > 0
    assert result.failed == 0

"""Pairs of actions and Shapley values: known truths from simulated games, and many hypotheses."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, ScreeningDesign
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    Interactions,
    against_others,
    contrasts,
    estimate_interactions,
    weighted_least_squares,
)
from helsinki_env.evaluation.balance.helsinki.conclusions import holm
from helsinki_env.evaluation.rating import RatingError

pytestmark = pytest.mark.thorough

Array = npt.NDArray[np.float64]
ONE, TWO = np.triu_indices(MAX_DENIABLE_IDS, 1)


def screened(seats: int, blocks: int, screen: ScreeningDesign) -> AblationGames:
    """Return the denied actions of seats in all rotations of the line-up, without results."""
    sets = screen.action_sets(0, np.arange(blocks), seats)
    denied = np.concatenate([np.roll(sets, turn, axis=1) for turn in range(seats)])
    places = np.tile(np.arange(seats), (len(denied), 1))
    return AblationGames(denied, places, np.tile(np.arange(blocks), seats))


def played(study: AblationGames, single: Array, pair: Array, generator: np.random.Generator) -> AblationGames:
    """Winners by the model itself, in points of a hundred; the luck of a deck moves with the line-up."""
    games, seats, _ = study.denied.shape
    deck = against_others(generator.uniform(-2, 2, (games // seats, seats)))
    luck = np.concatenate([np.roll(deck, turn, axis=1) for turn in range(seats)])
    worth = ((study.denied @ pair) * study.denied).sum(axis=2) / 2 - study.denied @ single
    chance = (100 / seats + against_others(worth) + luck + np.linspace(-1, 1, seats)) / 100
    assert (chance > 0).all()
    winner = (generator.random((games, 1)) > chance.cumsum(axis=1)).sum(axis=1)
    # only the winner matters: the others follow in the order of their seats
    places = (np.arange(seats) - winner[:, None]) % seats
    return AblationGames(study.denied, places, study.block)


def truth(seats: int) -> tuple[Array, Array]:
    """Single actions worth up to 1.5 points, a pair of complements, a pair that stand in for each other."""
    single, pair = np.linspace(0, 1.5, MAX_DENIABLE_IDS) * 2 / seats, np.zeros((MAX_DENIABLE_IDS, MAX_DENIABLE_IDS))
    pair[1, 2] = pair[2, 1] = 8.0 * 2 / seats
    pair[4, 9] = pair[9, 4] = -8.0 * 2 / seats
    return single, pair


@pytest.fixture(scope="module", params=[2, 3])
def found(request: pytest.FixtureRequest) -> tuple[Interactions, int]:
    seats = request.param
    study = played(screened(seats, 8000, ScreeningDesign()), *truth(seats), np.random.default_rng(1))
    return estimate_interactions(study, resamples=50), seats


def test_pairs_are_found_in_points_of_the_share_of_wins(found: tuple[Interactions, int]) -> None:
    fitted, seats = found
    single, pair = truth(seats)
    assert (np.abs(fitted.single - single) < 4 * fitted.single_error).all()
    assert (np.abs(fitted.pair - pair)[ONE, TWO] < 4 * fitted.pair_error[ONE, TWO]).all()
    largest = np.unravel_index(fitted.pair.argmax(), fitted.pair.shape)
    least = np.unravel_index(fitted.pair.argmin(), fitted.pair.shape)
    assert set(largest) == {1, 2}
    assert set(least) == {4, 9}
    adjusted = fitted.pair_adjusted
    assert np.argwhere(np.triu(adjusted < 0.05)).tolist() == [[1, 2], [4, 9]]
    assert (fitted.blocks, fitted.games) == (8000, 8000 * seats)
    print(f"{seats} seats: errors of pairs up to {fitted.pair_error.max():.2f}")


def test_matrices_of_pairs_are_symmetric(found: tuple[Interactions, int]) -> None:
    for matrix, diagonal in ((found[0].pair, 0.0), (found[0].pair_error, 0.0), (found[0].pair_p, 1.0)):
        assert (matrix == matrix.T).all()
        assert (np.diag(matrix) == diagonal).all()
    fitted = found[0]
    assert fitted.pair_p[3, 7] == pytest.approx(
        2 * stats.norm.sf(abs(fitted.pair[3, 7]) / fitted.pair_error[3, 7]), rel=1e-2
    )
    assert fitted.single_p[3] == pytest.approx(
        2 * stats.norm.sf(abs(fitted.single[3]) / fitted.single_error[3]), rel=1e-2
    )


def value(fitted: Interactions, available: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
    """Return v(T) - v(N), float64 (...), given sets T of available actions, bool (..., A)."""
    lacks = (~available).astype(np.float64)
    found: npt.NDArray[np.float64] = ((lacks @ fitted.pair) * lacks).sum(axis=-1) / 2 - lacks @ fitted.single
    return found


def test_shapley_values_share_out_what_all_actions_are_worth(found: tuple[Interactions, int]) -> None:
    fitted, _ = found
    everything = value(fitted, np.ones(MAX_DENIABLE_IDS, np.bool_)) - value(
        fitted, np.zeros(MAX_DENIABLE_IDS, np.bool_)
    )
    assert fitted.shapley.sum() == pytest.approx(everything)
    assert value(fitted, np.ones(MAX_DENIABLE_IDS, np.bool_)) == 0


def test_shapley_values_equal_the_mean_over_all_orders(found: tuple[Interactions, int]) -> None:
    fitted, _ = found
    action = 4
    rest = [i for i in range(MAX_DENIABLE_IDS) if i != action]
    mean = 0.0
    for size in range(MAX_DENIABLE_IDS):
        before = np.zeros((comb(len(rest), size), MAX_DENIABLE_IDS), np.bool_)
        for row, others in enumerate(combinations(rest, size)):
            before[row, list(others)] = True
        after = before.copy()
        after[:, action] = True
        mean += float((value(fitted, after) - value(fitted, before)).mean()) / MAX_DENIABLE_IDS
    assert fitted.shapley[action] == pytest.approx(mean)


def test_shapley_intervals_lie_around_and_come_from_the_seed() -> None:
    study = played(screened(2, 800, ScreeningDesign()), *truth(2), np.random.default_rng(4))
    one, again, other = (estimate_interactions(study, resamples=300, seed=seed) for seed in (0, 0, 1))
    assert (one.shapley_low < one.shapley).all()
    assert (one.shapley < one.shapley_high).all()
    assert one.shapley_low.tolist() == again.shapley_low.tolist()
    assert one.shapley_low.tolist() != other.shapley_low.tolist()
    narrow = estimate_interactions(study, resamples=300, level=0.5)
    assert (narrow.shapley_high - narrow.shapley_low < one.shapley_high - one.shapley_low).all()


def test_blocks_may_have_different_numbers_of_games_in_any_order() -> None:
    study = played(screened(2, 700, ScreeningDesign()), *truth(2), np.random.default_rng(5))
    keep = np.random.default_rng(6).permutation(len(study.block))[:-90]
    shuffled = estimate_interactions(
        AblationGames(study.denied[keep], study.places[keep], study.block[keep]), resamples=100
    )
    keep.sort()
    sorted_ = estimate_interactions(
        AblationGames(study.denied[keep], study.places[keep], study.block[keep]), resamples=100
    )
    assert shuffled.pair == pytest.approx(sorted_.pair)
    assert shuffled.pair_error == pytest.approx(sorted_.pair_error)
    assert shuffled.shapley_low == pytest.approx(sorted_.shapley_low)


def test_weights_of_blocks_equal_weighted_least_squares() -> None:
    generator = np.random.default_rng(7)
    block = np.repeat([5, 2, 900, 3, *range(1000, 1600)], 3)
    block = generator.permutation(block)[:-300]  # of many blocks one game or two are missing
    features = contrasts(generator.random((len(block), 3, 4)))
    outcome = against_others(generator.normal(size=(len(block), 3)))
    numbers, unit = np.unique(block, return_inverse=True)
    weights = generator.exponential(size=(3, len(numbers)))
    found = weighted_least_squares(features, outcome, block, weights)
    for row, weight in zip(found, weights, strict=True):
        root = np.repeat(np.sqrt(weight[unit]), 3)
        expected = np.linalg.lstsq(root[:, None] * features.reshape(-1, 6), root * outcome.ravel(), rcond=None)[0]
        assert row == pytest.approx(expected)


def test_pairs_that_cannot_be_told_apart_are_refused() -> None:
    with pytest.raises(RatingError, match=r"only sets of 5 denied actions, expected that all 105 pairs.*raise loose"):
        estimate_interactions(screened(2, 700, ScreeningDesign(loose=0.0)))
    with pytest.raises(RatingError, match=r"different sets of denied actions.*raise copies, of the design, to at"):
        estimate_interactions(screened(2, 400, ScreeningDesign(copies=1, loose=0.03)))
    with pytest.raises(RatingError, match=r"found 200 games in 100 blocks for 121 effects.*raise games"):
        estimate_interactions(screened(2, 100, ScreeningDesign()))


@pytest.mark.nightly
@pytest.mark.parametrize("seats", [2, 3])
def test_without_pairs_few_are_found(seats: int) -> None:
    """Of nothing but nulls, every finding is false: Benjamini and Hochberg's rate is the chance of any."""
    design, nothing = screened(seats, 1000, ScreeningDesign()), np.zeros((MAX_DENIABLE_IDS, MAX_DENIABLE_IDS))
    single = np.full(MAX_DENIABLE_IDS, 0.6)
    generator = np.random.default_rng(seats)
    runs = [estimate_interactions(played(design, single, nothing, generator), resamples=1) for _ in range(60)]
    below = np.mean([run.pair_p[ONE, TWO] < 0.05 for run in runs])
    any_found = np.mean([run.pair_adjusted.min() < 0.05 for run in runs])
    print(f"{seats} seats: {below:.1%} of p values below 5 %, findings in {any_found:.1%} of studies")
    assert 0.03 < below < 0.07
    assert any_found < 0.05 + 3 * np.sqrt(0.05 * 0.95 / len(runs))


@pytest.mark.nightly
@pytest.mark.parametrize("seats", [2, 3])
def test_intervals_cover_the_truth_as_often_as_they_say(seats: int) -> None:
    single, pair = truth(seats)
    shapley = single - pair.sum(axis=1) / 2
    design, generator = screened(seats, 2000, ScreeningDesign()), np.random.default_rng(seats)
    runs = [
        estimate_interactions(played(design, single, pair, generator), resamples=200, seed=seed) for seed in range(120)
    ]
    covered = {
        "single": np.mean([np.abs(run.single - single) < 1.96 * run.single_error for run in runs]),
        "pair": np.mean([np.abs(run.pair - pair)[ONE, TWO] < 1.96 * run.pair_error[ONE, TWO] for run in runs]),
        "shapley": np.mean([(run.shapley_low < shapley) & (shapley < run.shapley_high) for run in runs]),
    }
    print(f"{seats} seats: intervals cover", {name: f"{part:.1%}" for name, part in covered.items()})
    for part in covered.values():
        assert 0.93 < part < 0.97


def test_holm_by_hand() -> None:
    # in order 0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1; never below the one before
    assert holm([0.03, 0.01, 0.04, 0.02]).tolist() == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.5, 0.9]).tolist() == [1.0, 1.0]
    assert holm([0.2]).tolist() == [0.2]
    assert holm([]).tolist() == []


def test_holm_keeps_the_chance_of_any_false_finding() -> None:
    generator = np.random.default_rng(1)
    # 45 tests that depend on each other: a share of noise in common
    noise = 0.6 * generator.standard_normal((4000, 1)) + 0.8 * generator.standard_normal((4000, 45))
    p = stats.norm.sf(noise)
    assert np.mean([holm(row).min() <= 0.05 for row in p]) < 0.05 + 3 * np.sqrt(0.05 * 0.95 / 4000)
    independent = generator.random((4000, 45))
    assert np.mean([holm(row).min() <= 0.05 for row in independent]) == pytest.approx(0.05, abs=0.0105)

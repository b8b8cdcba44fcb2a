"""The effect of an action on the score in points: known truths from simulated games."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, ScreeningDesign
from helsinki_env.evaluation.balance.effects import against_others, estimate_margin_effects
from helsinki_env.evaluation.rating import RatingError

Array = npt.NDArray[np.float64]


def screened(seats: int, blocks: int, screen: ScreeningDesign) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]:
    """What seats are denied in all rotations of the line-up, (G, S, 15), and the number of the block, (G,)."""
    sets = screen.action_sets(0, np.arange(blocks), seats)
    denied = np.concatenate([np.roll(sets, turn, axis=1) for turn in range(seats)])
    return denied, np.tile(np.arange(blocks), seats)


def played(
    denied: npt.NDArray[np.bool_], own: Array, others: Array, generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Scores: being denied an action costs a seat `own` and brings each other seat `others`; the deck brings luck."""
    games, seats, _ = denied.shape
    deck = generator.normal(0, 6, (games // seats, seats))
    luck = np.concatenate([np.roll(deck, turn, axis=1) for turn in range(seats)])
    help_of = denied @ others
    mean = 40 + 2 * np.arange(seats) - denied @ own + help_of.sum(axis=1, keepdims=True) - help_of
    scores: npt.NDArray[np.int64] = np.rint(mean + luck + generator.normal(0, 8, (games, seats))).astype(np.int64)
    return scores


def test_against_the_others() -> None:
    scores = np.array([[10, 20, 60]])
    assert against_others(scores).tolist() == pytest.approx(np.array([[-30.0, -15.0, 45.0]]))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_points_are_found_with_what_they_bring_the_others(seats: int) -> None:
    own, others = np.linspace(0, 2.8, MAX_DENIABLE_IDS), np.zeros(MAX_DENIABLE_IDS)
    others[3] = 1.5
    denied, block = screened(seats, 1500, ScreeningDesign())
    scores = played(denied, own, others, np.random.default_rng(1))
    found = estimate_margin_effects(denied, scores, block)
    assert (np.abs(found.power - own - others) < 4 * found.error).all()
    assert (found.error < 0.6).all()
    assert (found.blocks, found.games) == (1500, 1500 * seats)
    assert np.sqrt(np.diag(found.covariance)).tolist() == found.error.tolist()


def test_it_is_least_squares_over_seats() -> None:
    """Against NumPy on rows of seats, one parameter for every game instead of contrasts."""
    denied, block = screened(3, 60, ScreeningDesign(loose=0.5))
    scores = played(denied, np.full(MAX_DENIABLE_IDS, 1.0), np.zeros(MAX_DENIABLE_IDS), np.random.default_rng(2))
    games = len(block)
    seat = np.tile(np.eye(3)[:, :2], (games, 1))
    columns = np.concatenate([denied.reshape(-1, MAX_DENIABLE_IDS), seat, np.repeat(np.eye(games), 3, axis=0)], axis=1)
    expected = np.linalg.lstsq(columns, scores.ravel().astype(np.float64), rcond=None)[0][:MAX_DENIABLE_IDS]
    assert estimate_margin_effects(denied, scores, block).power == pytest.approx(-expected, abs=1e-9)


def test_games_of_a_block_that_are_repeated_tell_nothing_new() -> None:
    denied, block = screened(2, 200, ScreeningDesign())
    scores = played(denied, np.ones(MAX_DENIABLE_IDS), np.zeros(MAX_DENIABLE_IDS), np.random.default_rng(3))
    once = estimate_margin_effects(denied, scores, block)
    twice = estimate_margin_effects(np.tile(denied, (2, 1, 1)), np.tile(scores, (2, 1)), np.tile(block, 2))
    assert twice.power == pytest.approx(once.power)
    assert twice.error == pytest.approx(once.error)
    assert (twice.blocks, twice.games) == (200, 800)


def test_what_cannot_be_told_apart_is_refused() -> None:
    denied, block = screened(2, 300, ScreeningDesign(loose=0.0))
    with pytest.raises(RatingError, match=r"sets of \[5\] denied actions.*raise loose"):
        estimate_margin_effects(denied, np.zeros(denied.shape[:2], np.int64), block)
    denied, block = screened(2, 12, ScreeningDesign(loose=1.0))
    with pytest.raises(RatingError, match=r"found 24 games .* raise games"):
        estimate_margin_effects(denied, np.zeros(denied.shape[:2], np.int64), block)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_intervals_cover_the_truth_as_often_as_they_say(seats: int) -> None:
    own = np.linspace(-1, 2, MAX_DENIABLE_IDS)
    denied, block = screened(seats, 250, ScreeningDesign())
    generator = np.random.default_rng(seats)
    runs = [
        estimate_margin_effects(denied, played(denied, own, np.zeros(MAX_DENIABLE_IDS), generator), block)
        for _ in range(200)
    ]
    within = np.mean([np.abs(run.power - own) < 1.96 * run.error for run in runs])
    print(f"{seats} seats: intervals cover {within:.1%}")
    assert 0.93 < within < 0.97

"""A race for the best player: remaining candidates, their games, and the report."""

from __future__ import annotations

import numpy as np
import pytest

from helsinki_env.training.evaluate import best_contender


@pytest.mark.parametrize("contenders", range(1, 12))
def test_who_wins_most_is_left_wherever_it_stands(contenders: int) -> None:
    for best in range(contenders):
        assert best_contender(contenders, 100, lambda which, *_, best=best: float(which == best)) == best


def test_of_equals_the_later_one_is_left() -> None:
    assert best_contender(5, 100, lambda *_: 0.5) == 4


def test_a_round_has_games_of_its_own_in_equal_parts_and_the_better_half_goes_on() -> None:
    asked: list[tuple[int, int, int]] = []

    def won(which: int, games: int, number: int) -> float:
        asked.append((which, games, number))
        return which / 10

    assert best_contender(9, 900, won) == 8
    assert asked[:9] == [(which, 100, 0) for which in range(9)]
    rounds = [[one for one in asked if one[2] == number] for number in range(4)]
    assert [{which for which, *_ in played} for played in rounds] == [set(range(9)), {4, 5, 6, 7, 8}, {6, 7, 8}, {7, 8}]
    assert [{games for _, games, _ in played} for played in rounds] == [{100}, {180}, {300}, {450}]
    assert len(asked) == 9 + 5 + 3 + 2


def test_what_was_won_in_earlier_rounds_counts_too() -> None:
    # In the last round the later one has luck; over all games the earlier one has won more.
    shares = {(0, 0): 0.9, (1, 0): 0.5, (2, 0): 0.1, (0, 1): 0.50, (1, 1): 0.55}
    assert best_contender(3, 300, lambda which, _, number: shares[which, number]) == 0


def test_it_finds_the_best_of_many_who_are_nearly_equal() -> None:
    strengths = np.array([0.50, 0.53, 0.53, 0.53, 0.535, 0.55, 0.565, 0.57, 0.57])
    lost = []
    for seed in range(200):
        generator = np.random.default_rng(seed)

        def won(which: int, games: int, number: int, generator: np.random.Generator = generator) -> float:
            return float(generator.binomial(games, strengths[which])) / games

        lost.append(strengths.max() - strengths[best_contender(len(strengths), 8000, won)])
    assert np.mean(lost) < 0.005
    assert max(lost) <= 0.02


@pytest.mark.parametrize("contenders", [2, 3, 4, 5, 8, 9])
def test_progress_grows_to_its_end(contenders: int) -> None:
    told: list[float] = []
    best_contender(contenders, 100, lambda which, *_: float(which), told.append)
    assert told == sorted(set(told))
    assert told[0] > 0
    assert told[-1] == pytest.approx(1.0)

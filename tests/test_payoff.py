"""Rankings from a payoff table: cycles, chains and copies of a player."""

from __future__ import annotations

import numpy as np
import pytest

from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.shares import nash_average, payoff_ranking, soft_condorcet

CYCLE = np.array([[0.5, 0.8, 0.2], [0.2, 0.5, 0.8], [0.8, 0.2, 0.5]])


def chain(elo: list[float]) -> np.ndarray:
    ratings = np.array(elo)
    share: np.ndarray = 1 / (1 + 10 ** ((ratings - ratings[:, None]) / 400))
    return share


def games_of(share: np.ndarray, per_pair: int, skip: tuple[int, int] | None = None) -> RatableGames:
    """Games of two whose table has these shares, as far as whole games allow."""
    seating, places = [], []
    count = len(share)
    for i in range(count):
        for j in range(i + 1, count):
            if (i, j) != skip:
                won = round(share[i, j] * per_pair)
                seating += [[i, j]] * per_pair
                places += [[0, 1]] * won + [[1, 0]] * (per_pair - won)
    size = len(seating)
    zeros = np.zeros(size, np.int16)
    return RatableGames(
        name="a matchup",
        players=tuple("ABCDEFGH"[:count]),
        seating=np.array(seating),
        deal=np.arange(size),
        places=np.array(places, np.int8),
        scores=np.zeros((size, 2), np.int16),
        covered=zeros,
        denied=np.zeros((size, 2), np.int16),
    )


def test_a_cycle_has_equal_shares() -> None:
    np.testing.assert_allclose(nash_average(CYCLE - CYCLE.T), 1 / 3, atol=1e-4)
    assert np.ptp(soft_condorcet(CYCLE)) < 1


def test_a_chain_is_ordered_and_its_best_player_is_the_equilibrium() -> None:
    share = chain([0, 300, 100, 500])
    np.testing.assert_allclose(nash_average(share - share.T), [0, 0, 0, 1], atol=1e-4)
    assert np.argsort(soft_condorcet(share)).tolist() == [0, 2, 1, 3]


def test_a_copy_of_a_player_shares_its_part() -> None:
    copied = CYCLE[np.ix_([0, 1, 2, 2], [0, 1, 2, 2])]
    np.testing.assert_allclose(nash_average(copied - copied.T), [1 / 3, 1 / 3, 1 / 6, 1 / 6], atol=1e-3)


def test_a_ranking_has_the_table_of_the_games() -> None:
    pytest.importorskip("open_spiel")
    share = chain([0, 100, 400])
    ranking = payoff_ranking(games_of(share, 200))
    np.testing.assert_allclose(ranking.share, share, atol=0.01)
    assert (ranking.low <= ranking.share).all()
    assert ranking.alpha.argmax() == ranking.nash.argmax() == ranking.condorcet.argmax() == 2
    assert ranking.alpha.sum() == pytest.approx(1)
    assert ranking.against_nash.max() == pytest.approx(0.5, abs=1e-3)
    assert ranking.to_dict()["players"] == ["A", "B", "C"]
    np.testing.assert_allclose(ranking.mean_scores[0], share[0, 1:].mean(), atol=0.01)  # without itself


def test_a_pair_without_games_is_named() -> None:
    with pytest.raises(RatingError, match="a matchup: found no game of A against C, expected games of all pairs"):
        payoff_ranking(games_of(chain([0, 100, 400]), 10, skip=(0, 2)))

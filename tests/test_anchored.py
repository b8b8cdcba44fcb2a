"""Ratings on a fixed scale: closed forms, players of known strength, and the coverage of intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.anchored import AnchoredGames, AnchoredRating, anchored_ratings
from helsinki_env.evaluation.rating.ratings import ELO
from tests.support.rankings import simulate

#: The strengths of a gauntlet's opponents, in natural logarithms, and who meets the player (number 0).
OPPONENTS = (-6.0, 0.0, 1.5, 2.0, 2.2, 3.0, 3.6)
LINEUPS = {
    2: [[0, i] for i in range(1, 8)],
    3: [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 5, 6], [0, 6, 7]],
    4: [[0, 1, 1, 2], [0, 1, 2, 3], [0, 2, 3, 6], [0, 4, 5, 6], [0, 3, 6, 7]],
}


def duels(results: list[tuple[float, float, int]], repeat: int = 1) -> AnchoredGames:
    """Games of two, by (rating of the opponent, what the player gets of the win, how often), each deal so often."""
    rows = [(rating, got) for rating, got, times in results for _ in range(times)]
    rating, got = (np.repeat(column, repeat) for column in np.array(rows).T)
    places = np.stack([got < 0.5, got > 0.5], axis=1).astype(np.int64)
    own = np.tile([True, False], (len(rating), 1))
    known = np.stack([np.zeros(len(rating)), rating], axis=1)
    return AnchoredGames(known, own, places, np.arange(len(rating)) // repeat)


def planted(strength: float, seats: int, deals: int, rng: np.random.Generator) -> AnchoredGames:
    """Games of a player of this strength, in natural logarithms, of which those with one deal depend on each other."""
    effects = np.linspace(-0.15, 0.15, seats)
    games = simulate((strength, *OPPONENTS), effects, deals, rng, lineups=LINEUPS[seats])
    own = games.seating == 0
    known = ELO * (np.array([0.0, *OPPONENTS])[games.seating] + effects)
    return AnchoredGames(known, own, games.places, games.deal)


def one(games: AnchoredGames) -> AnchoredRating:
    return anchored_ratings([games])[1][0]


def test_against_one_opponent_it_is_the_log_odds_with_half_a_game_more() -> None:
    for wins, losses in ((7, 3), (10, 0), (0, 10), (50, 50)):
        found = one(duels([(200.0, 1.0, wins), (200.0, 0.0, losses)]))
        assert found.rating == pytest.approx(200 + ELO * math.log((wins + 0.5) / (losses + 0.5)), abs=1e-6)
        assert found.low < found.rating < found.high
        assert found.games == found.deals == wins + losses


def test_a_tie_is_half_a_win_and_half_a_loss() -> None:
    assert one(duels([(0.0, 0.5, 40)])).rating == pytest.approx(0, abs=1e-6)
    ties = one(duels([(0.0, 0.5, 10), (0.0, 1.0, 5), (0.0, 0.0, 5)]))
    assert ties.rating == pytest.approx(one(duels([(0.0, 1.0, 10), (0.0, 0.0, 10)])).rating, abs=1e-6)


def test_opponents_far_from_zero_are_possible() -> None:
    far, near = (one(duels([(rating, 1.0, 10), (rating, 0.0, 10)])) for rating in (-50_000.0, 0.0))
    assert far.rating + 50_000 == pytest.approx(near.rating, abs=1e-3)
    assert far.high + 50_000 == pytest.approx(near.high, abs=1e-3)


def test_who_won_always_has_a_finite_rating_and_no_upper_end() -> None:
    few, many = (one(duels([(0.0, 1.0, games)])) for games in (20, 200))
    assert 0 < few.low < few.rating < many.rating < 1100
    assert few.low < many.low < many.rating
    assert few.high == many.high == math.inf
    lost = one(duels([(0.0, 0.0, 20)]))
    assert lost.low == -math.inf
    assert lost.high == pytest.approx(-few.low, abs=1e-6), "as winning, seen from there"
    both, _ = anchored_ratings([duels([(0.0, 1.0, 20)]), duels([(0.0, 1.0, 10), (0.0, 0.0, 10)])])
    assert both.rating == pytest.approx(few.rating / 2, abs=1e-6)
    assert 0 < both.low < both.rating < both.high == math.inf
    nearly = one(duels([(0.0, 1.0, 19), (0.0, 0.0, 1)]))
    assert nearly.high - nearly.rating > nearly.rating - nearly.low
    assert nearly.high < 1500


def test_against_one_opponent_the_interval_is_wilsons() -> None:
    """But for the half game that the penalty counts for, and for Student's quantile."""
    from helsinki_env.evaluation.match_stats import student_quantile, wilson_interval

    found = one(duels([(0.0, 1.0, 300), (0.0, 0.0, 100)]))
    low, high = (float(end) for end in wilson_interval(0.75, 400, student_quantile(400)))
    for end, share in ((found.low, low), (found.high, high)):
        assert end == pytest.approx(ELO * math.log(share / (1 - share)), abs=1.0)


def test_games_of_one_deal_are_no_news() -> None:
    """Every game four times, with the same end: the interval hardly shortens."""
    results = [(0.0, 1.0, 60), (0.0, 0.0, 40)]
    once, copied = one(duels(results)), one(duels(results, repeat=4))
    assert copied.games == 4 * once.games
    assert copied.deals == once.deals
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.03)


def test_whole_rankings_count_and_not_only_the_winner() -> None:
    """The player is always first or always last behind the same winner: two different ratings."""
    own, known = np.tile([False, True, False], (12, 1)), np.zeros((12, 3))
    last, second = (np.tile(places, (12, 1)) for places in ([0, 2, 1], [0, 1, 2]))
    ratings = [one(AnchoredGames(known, own, places, np.arange(12))).rating for places in (last, second)]
    assert ratings[0] < 0 < ratings[1]


def test_the_rating_over_tables_is_their_mean_and_equal_deals_count_once() -> None:
    games = duels([(0.0, 1.0, 60), (0.0, 0.0, 40)])
    other = AnchoredGames(games.known, games.own, games.places, games.deal + 1000)
    alone, twice, two = one(games), anchored_ratings([games, games])[0], anchored_ratings([games, other])[0]
    assert twice.rating == pytest.approx(alone.rating)
    assert twice.high - twice.low == pytest.approx(alone.high - alone.low, rel=1e-6)
    assert two.high - two.low == pytest.approx((alone.high - alone.low) / math.sqrt(2), rel=0.02)
    assert (two.games, two.deals, twice.deals) == (200, 200, 100)


def test_one_deal_is_refused() -> None:
    games = duels([(0.0, 1.0, 4)], repeat=4)
    with pytest.raises(RatingError, match="games: found 1 deal, expected at least 2"):
        one(AnchoredGames(games.known, games.own, games.places, np.zeros(16, np.int64)))


#: Where players have been planted, in natural logarithms; `greedy` is 0: hopeless, weak, middling, strong, stronger
#: than everybody.
PLANTED = (-4.0, -1.0, 1.0, 2.5, 4.5)


def coverage(strength: float, deals: int, repetitions: int, seed: int) -> tuple[int, float]:
    """Return how often the interval held the strength, and the mean error, in Elo points."""
    rng = np.random.default_rng(seed)
    held, error = 0, 0.0
    for _ in range(repetitions):
        found, _ = anchored_ratings([planted(strength, seats, deals, rng) for seats in (2, 3, 4)])
        held += found.low <= strength * ELO <= found.high
        error += (found.rating - strength * ELO) / repetitions
    return held, error


@pytest.mark.parametrize("strength", PLANTED)
@pytest.mark.parametrize("deals", [6, pytest.param(40, marks=pytest.mark.thorough)])
def test_the_interval_of_a_planted_player_holds_its_strength(strength: float, deals: int) -> None:
    held, error = coverage(strength, deals, 100, 18)
    print(f"a player at {strength * ELO:.0f}, {deals} deals: held {held} of 100 times")
    assert 90 <= held <= 98, (held, error)
    assert abs(error) < 25

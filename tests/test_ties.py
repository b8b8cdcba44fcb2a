"""Shared ranks: fractional wins, mean ranks, cross-tables, ratings and sequential tests.

The expected figures are worked out by hand.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.balance.effects import AblationGames, estimate_win_effects
from helsinki_env.evaluation.balance.helsinki.estimates import seat_win_rates
from helsinki_env.evaluation.match_stats import fractional_wins, midranks, player_result
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.plackett_luce import (
    derivatives,
    fit,
    maximize_likelihood,
    orders_of_finish,
    unit_scores,
)
from helsinki_env.evaluation.rating.ratings import RatingModel, build_model, rate
from helsinki_env.evaluation.rating.shares import (
    cross_table,
    expected_cross_table,
    head_to_head_by_unit,
    player_statistics,
)
from helsinki_env.evaluation.rating.sprt import Hypotheses, SequentialTest, expected_score
from tests.support.rankings import check_resamples, simulate


def games_of(places: list[list[int]], seating: list[list[int]], deal: list[int] | None = None) -> RatableGames:
    """Games with these places and seatings, a deal of its own for each unless said otherwise."""
    count, nothing = len(places), np.zeros(np.shape(places), np.int16)
    deals = np.arange(count) if deal is None else np.array(deal)
    names = tuple("abcd"[: 1 + int(np.max(seating))])
    where = np.array(places, np.int8)
    return RatableGames(names, np.array(seating), where, nothing, "ties", deals, np.zeros(count, np.int16), nothing)


def with_ties(seats: int, deals: int, seed: int = 0) -> RatableGames:
    """Games of five players in which two or more that are near to each other share a place, in some of ten games."""
    rng = np.random.default_rng(seed)
    games = simulate((0.0, 0.3, 0.8, 1.5, 2.5), np.linspace(-0.3, 0.3, seats), deals, rng)
    same = rng.random(games.places.shape) < 0.3  # as good as who is just ahead
    order = np.argsort(games.places, axis=1)
    steps = np.where(np.take_along_axis(same, order, axis=1), 0, 1)
    level = np.empty_like(games.places)
    np.put_along_axis(level, order, np.cumsum(steps, axis=1).astype(np.int8), axis=1)
    places = (level[:, None, :] < level[:, :, None]).sum(axis=2).astype(np.int8)
    assert 0.1 < (places != games.places).any(axis=1).mean() < 0.9
    return replace(games, places=places)


def modelled(games: RatableGames, virtual_games: float = 1.0) -> RatingModel:
    return build_model(games.players, games.seating, games.places, games.deal, virtual_games=virtual_games)


# shares and places


def test_what_a_game_hands_out_stays_the_same() -> None:
    # Winners share one win. Who shares a place has the mean of the places that they fill: (0 + 1) / 2, (1 + 2) / 2, ...
    places = np.array([[0, 0, 2, 3], [3, 1, 1, 0], [0, 0, 0, 3], [0, 1, 1, 1], [0, 0, 0, 0], [2, 0, 2, 0]], np.int8)
    assert fractional_wins(places).tolist() == [
        [1 / 2, 1 / 2, 0, 0], [0, 0, 0, 1], [1 / 3, 1 / 3, 1 / 3, 0], [1, 0, 0, 0], [1 / 4] * 4, [0, 1 / 2, 0, 1 / 2]
    ]  # fmt: skip
    assert midranks(places).tolist() == [
        [0.5, 0.5, 2, 3], [3, 1.5, 1.5, 0], [1, 1, 1, 3], [0, 2, 2, 2], [1.5] * 4, [2.5, 0.5, 2.5, 0.5]
    ]  # fmt: skip
    assert fractional_wins(np.array([0, 0])).tolist() == [0.5, 0.5]
    assert midranks(np.array([0, 0])).tolist() == [0.5, 0.5]
    strict = np.random.default_rng(1).permuted(np.tile(np.arange(4), (50, 1)), axis=1)
    assert (fractional_wins(strict) == (strict == 0)).all()
    assert (midranks(strict) == strict).all()


def test_a_standing_counts_shared_wins_in_parts() -> None:
    # Seat 0 shares a win with another, wins alone, and is last. Won: (1/2 + 1 + 0) / 3 = 1/2. Place, from 1:
    # ((1 + 2) / 2 + 1 + 3) / 3 = 11/6.
    # The variance of the share over three deals: (0^2 + (1/2)^2 + (1/2)^2) / 3^2 * 3/2 = 1/12, so the games are worth
    # (1/2 * 1/2) / (1/12) = 3 independent ones. Student's quantile for 2 degrees of freedom is 4.302653, its square
    # through 3 is 6.170940; Wilson's half width sqrt(6.170940 * (1/4 + 6.170940 / 4)) / 7.170940 = 0.463829.
    places = np.array([[0, 0, 2], [0, 1, 2], [2, 0, 1]], np.int8)
    chosen = np.zeros((3, 3), np.bool_)
    chosen[:, 0] = True
    found = player_result("a", None, chosen, places, np.full((3, 3), 7, np.int16), np.arange(3))
    assert (found.share, found.games) == (0.5, 3)
    assert found.place == pytest.approx(11 / 6)
    assert (found.low, found.high) == pytest.approx((0.5 - 0.463829, 0.5 + 0.463829), abs=1e-6)


def test_equal_players_win_one_game_in_as_many_as_there_are_seats_also_with_ties() -> None:
    games = with_ties(3, 40)
    won = player_statistics(5, games.seating, games.places, games.scores, games.deal)
    assert (won.win_rate * won.games).sum() == pytest.approx(len(games.deal))
    assert (won.place * won.games).sum() == pytest.approx(len(games.deal) * (1 + 2 + 3))


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_match_an_arena_and_its_ratings_tell_one_interval(seats: int) -> None:
    games = with_ties(seats, 12)
    rated = player_statistics(5, games.seating, games.places, games.scores, games.deal)
    for player in range(5):
        told = player_result("x", None, games.seating == player, games.places, games.scores, games.deal)
        assert (told.share, told.low, told.high, told.place) == pytest.approx(
            (rated.win_rate[player], rated.low[player], rated.high[player], rated.place[player]), rel=1e-12
        )


def test_the_cross_table_counts_a_shared_place_as_half() -> None:
    # a against b: tied; ahead; and in the game in which a has two seats, tied and behind: (1/2 + 1 + 1/2 + 0) / 4.
    games = games_of([[0, 0, 2], [0, 1, 1], [0, 2, 0]], [[0, 1, 2], [0, 1, 2], [0, 0, 1]], [0, 1, 1])
    found = cross_table(3, games.seating, games.places, games.deal)
    assert found.share[0, 1] == pytest.approx((1 / 2 + 1 + 1 / 2 + 0) / 4)
    assert found.share[1, 0] == pytest.approx(1 - found.share[0, 1])
    assert found.share[1, 2] == pytest.approx((1 + 1 / 2) / 2)
    assert found.low[0, 1] == pytest.approx(1 - found.high[1, 0])
    # By deal: the tie; then ahead, tied and behind.
    assert head_to_head_by_unit(games.seating, games.places, games.deal, 0, 1).tolist() == [1 / 2, (1 + 1 / 2 + 0) / 3]


# the model


def test_orders_of_finish() -> None:
    game, order, part = orders_of_finish(np.array([[2, 0, 1], [0, 0, 2], [0, 0, 0], [0, 1, 1]], np.int8))
    assert game.tolist() == [0, 1, 1, *[2] * 6, 3, 3]
    assert order[:3].tolist() == [[1, 2, 0], [0, 1, 2], [1, 0, 2]]
    assert sorted(order[3:9].tolist()) == [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    assert order[9:].tolist() == [[0, 1, 2], [0, 2, 1]]
    assert part.tolist() == [1, *[1 / 2] * 2, *[1 / 6] * 6, 1 / 2, 1 / 2]


def test_games_without_ties_are_one_order_each() -> None:
    places = np.random.default_rng(2).permuted(np.tile(np.arange(4), (200, 1)), axis=1).astype(np.int8)
    game, order, part = orders_of_finish(places)
    assert (game == np.arange(200)).all()
    assert (order == np.argsort(places, axis=1)).all()
    assert (part == 1.0).all()


def test_the_likelihood_of_a_tie_is_the_mean_over_its_orders() -> None:
    theta = np.array([math.log(2), math.log(3), 0.0, 0.0])  # a, b and c are worth 1, 2 and 3, all seats the same

    def value(places: list[int]) -> float:
        games = games_of([places] * 3, [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
        model = modelled(games, virtual_games=0.0)
        return derivatives(theta, model.rankings, model.virtual).value

    # Seats 1 and 2 share the second place. The worths by seat in the three games: 1 2 3, 2 3 1, 3 1 2. The first is
    # drawn among all; then each of the two orders has half: the chances that one of two comes before the other.
    firsts = math.log(1 / 6) + math.log(2 / 6) + math.log(3 / 6)
    seconds = [math.log(2 / 5) + math.log(3 / 5), math.log(3 / 4) + math.log(1 / 4), math.log(1 / 3) + math.log(2 / 3)]
    assert value([0, 1, 1]) == pytest.approx(firsts + sum(seconds) / 2)
    # All three share the first place: six orders, the same in each game. Who is first gets each worth in two of them;
    # the pair that is left is (2, 3), (3, 1) or (1, 2), in both orders.
    one = (2 * (math.log(1 / 6) + math.log(2 / 6) + math.log(3 / 6)) + sum(seconds)) / 6
    assert value([0, 0, 0]) == pytest.approx(3 * one)


def test_a_tie_of_two_players_is_half_a_win_and_half_a_loss() -> None:
    # Over both seats a wins 12 games, loses 4 and ties 8; with the virtual draw (12 + 4 + 1/2) : (4 + 4 + 1/2).
    one = [[0, 1]] * 6 + [[1, 0]] * 2 + [[0, 0]] * 4
    other = [[1, 0]] * 6 + [[0, 1]] * 2 + [[0, 0]] * 4
    ratings = rate(games_of(one + other, [[0, 1]] * 12 + [[1, 0]] * 12), reference="b", resamples=100)
    assert ratings.elo == pytest.approx([400 * math.log10(16.5 / 8.5), 0])
    assert ratings.seat == pytest.approx([0, 0], abs=1e-9)
    assert ratings.cross_table.share[0, 1] == pytest.approx(16 / 24)


def test_players_who_always_tie_are_equal() -> None:
    games = games_of([[0, 0, 0]] * 6, [[0, 1, 2], [1, 2, 0], [2, 0, 1]] * 2)
    ratings = rate(games, reference="a", resamples=100)
    assert ratings.elo == pytest.approx([0, 0, 0], abs=1e-9)
    assert ratings.statistics.win_rate == pytest.approx([1 / 3] * 3)
    assert ratings.statistics.place == pytest.approx([2] * 3)
    assert ratings.cross_table.share[0, 1] == 0.5
    assert ratings.cross_table.low[0, 1] < 0.5 < ratings.cross_table.high[0, 1]


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_tied_game_is_its_orders_in_equal_parts(seats: int) -> None:
    """The fit to ties is the fit to 24 copies of every game, all orders of its ties as often as each other."""
    games = with_ties(seats, 6)
    rows: list[tuple[int, list[int]]] = []
    for g, order, part in zip(*orders_of_finish(games.places), strict=True):
        rows += [(int(g), np.argsort(order).tolist())] * round(24 * part)
    copied = [g for g, _ in rows]
    broken = replace(
        games, seating=games.seating[copied], deal=games.deal[copied], places=np.array([places for _, places in rows])
    )
    tied, many = modelled(games), modelled(broken, virtual_games=24.0)
    assert len(broken.deal) == 24 * len(games.deal)
    theta, _ = maximize_likelihood(tied.rankings, tied.virtual)
    np.testing.assert_allclose(theta, maximize_likelihood(many.rankings, many.virtual)[0], atol=1e-7)
    np.testing.assert_allclose(24 * unit_scores(theta, tied.rankings), unit_scores(theta, many.rankings), atol=1e-9)


def test_ratings_expect_what_happened_also_with_ties() -> None:
    """At the maximum of two players' likelihood as many meetings are expected to be won as were, ties as half."""
    games = with_ties(2, 60)
    model = modelled(games, virtual_games=0.0)
    theta, _ = maximize_likelihood(model.rankings, model.virtual)
    utility = (model.player_map @ theta)[games.seating] + model.seat_map @ theta
    met = cross_table(5, games.seating, games.places, games.deal)
    expected = expected_cross_table(5, games.seating, utility)
    np.testing.assert_allclose(np.nansum(expected * met.games, axis=1), np.nansum(met.share * met.games, axis=1))


def test_derivatives_and_resamples_of_tied_games() -> None:
    games = with_ties(4, 20)
    model = modelled(games)
    fitted = fit(model.rankings, model.virtual)
    theta, step = fitted.theta + 0.1, 1e-5
    for i, axis in enumerate(np.eye(len(theta))):
        ahead, behind = (derivatives(theta + s * step * axis, model.rankings, model.virtual) for s in (1, -1))
        gradient = derivatives(theta, model.rankings, model.virtual).gradient[i]
        assert gradient == pytest.approx((ahead.value - behind.value) / (2 * step), rel=1e-5, abs=1e-4)
    check_resamples(model, fitted, 5)


def test_the_bootstrap_and_the_sandwich_agree_on_tied_games() -> None:
    ratings = rate(with_ties(3, 200), reference="p0")
    half = (ratings.high - ratings.low) / 2
    np.testing.assert_allclose(half[1:], 1.97 * ratings.error[1:], rtol=0.12)
    assert [ratings.players[i] for i in ratings.order] == ["p4", "p3", "p2", "p1", "p0"]


@pytest.mark.parametrize("places", [[2, 2, 0], [0, 0, 1], [1, 1, 1], [0, 2, 2]])
def test_places_that_skip_none_or_too_many_are_refused(places: list[int]) -> None:
    games = games_of([[0, 1, 2], places, [0, 0, 2]], [[0, 1, 2], [1, 2, 0], [2, 0, 1]])
    with pytest.raises(RatingError, match=r"in game 1, expected .*, the number of seats that did better"):
        modelled(games)


def test_ties_decide_a_sequential_test_as_halves() -> None:
    """Who ties every game is as strong as the other: not 50 points better, but 50 better than 50 points weaker."""
    games = games_of([[0, 0]] * 80, [[0, 1], [1, 0]] * 40, [deal for deal in range(40) for _ in "ab"])
    blocks = head_to_head_by_unit(games.seating, games.places, games.deal, 0, 1)
    assert blocks.tolist() == [0.5] * 40
    better = SequentialTest(Hypotheses(expected_score(0), expected_score(100)))
    assert better.update(blocks).decision == "not better"
    weaker = SequentialTest(Hypotheses(expected_score(-100), expected_score(0)))
    assert weaker.update(blocks).decision == "better"


# studies


def test_studies_share_a_win_too() -> None:
    # Two seats, four games of which two are tied: seat 0 won (1/2 + 1/2 + 1 + 0) / 4.
    games = games_of([[0, 0], [0, 0], [0, 1], [1, 0]], [[0, 1]] * 4)
    table = _Deals(games.places, games.deal)
    assert seat_win_rates(table)["share"] == [50.0, 50.0]  # type: ignore[arg-type]  # all that it reads
    # An action of two: each seat is denied one of the two in turn, and all games are tied.
    denied = np.array([[[True, False], [False, True]], [[False, True], [True, False]]] * 8)
    denied[::4, 1] = False
    tied = estimate_win_effects(AblationGames(denied, np.zeros((16, 2), np.int8), np.arange(16) // 2))
    assert tied.power == pytest.approx([0, 0], abs=1e-9)


class _Deals:
    def __init__(self, places: np.ndarray, deal: np.ndarray) -> None:
        self.places, self.deal = places, deal

"""Matches between players: seats, deals, results and messages."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtrit

from helsinki_env import HelsinkiConfig, IllegalActionError
from helsinki_env.agents.random import RandomPlayer
from helsinki_env.agents.registry import PlayerError
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.match import Results, play_match
from helsinki_env.evaluation.match_stats import player_result, proportion_interval, student_quantile, wilson_interval
from helsinki_env.evaluation.rating.shares import player_statistics
from helsinki_env.records import Record, replay

GAMES = 60 if JIT else 6


def same(a: Results, b: Results) -> bool:
    return a.players == b.players and [r.to_json() for r in a.records()] == [r.to_json() for r in b.records()]


def test_results_do_not_depend_on_batches_and_threads() -> None:
    one = play_match(["random", "greedy"], games=GAMES, seed=4)
    assert same(one, play_match(["random", "greedy"], games=GAMES, seed=4, batch=7, threads=3))
    assert same(one, play_match(["random", "greedy"], games=GAMES, seed=4, threads=None))
    assert not same(one, play_match(["random", "greedy"], games=GAMES, seed=5))
    longer = play_match(["random", "greedy"], games=GAMES + 2, seed=4)
    np.testing.assert_array_equal(longer.scores[:GAMES], one.scores)


def test_a_player_does_the_same_whoever_else_is_random() -> None:
    """Random streams belong to a game and a player: those of one do not move when another draws more."""
    results = play_match(["greedy", "greedy"], games=4, seed=1)
    named = play_match(["greedy", "greedy"], HelsinkiConfig(), games=4, seed=1, batch=2)
    assert results.players == ("greedy", "greedy#2")
    assert same(results, named)


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_a_block_plays_one_deal_and_rotates_the_seats(seats: int) -> None:
    results = play_match(["random"] * seats, games=2 * seats)
    assert len(results) == 2 * seats
    for block in range(2):
        games = slice(block * seats, (block + 1) * seats)
        assert len(set(results.seeds[games].tolist())) == 1
        for seat in range(seats):
            assert sorted(results.seating[games, seat].tolist()) == list(range(seats))
    assert len(set(results.seeds.tolist())) == 2
    assert (results.seeds < 2**53).all()


def test_a_standing_is_one_line_of_text() -> None:
    results = play_match(["greedy", "random"], games=4, seed=3)
    s = results.result(0)
    numbers = (
        f"{s.share:.1%} of 4 games won ({s.low:.1%} to {s.high:.1%}), {s.score:.1f} points, mean rank {s.place:.2f}"
    )
    assert str(s) == f"greedy: {numbers}"
    assert str(results.result(1, seat=1)).startswith("random in seat 1: ")


def test_records_replay() -> None:
    config = HelsinkiConfig(num_players=3, dry_roads=True, covered="first_game")
    results = play_match(["random", "greedy", "random"], config, games=6, seed=2)
    assert results.players == ("random", "greedy", "random#2")
    for g, record in enumerate(results.records()):
        game = replay(Record.from_json(record.to_json()))
        assert game.round == results.rounds[g]
        assert record.players[0] == results.players[results.seating[g, 0]]
        assert record.ranking is not None
        assert results.places[g, record.ranking[0]] == 0


def test_games_are_made_up_to_whole_blocks() -> None:
    told: list[int] = []
    results = play_match(["random", "random"], games=5, on_games_end=lambda part: told.append(len(part)))
    assert len(results) == 6
    assert sum(told) == 6


# standings


def made_up(places: list[list[int]]) -> Results:
    """Results of two players who change seats from game to game."""
    n = len(places)
    seating = np.array([[0, 1], [1, 0]] * (n // 2))
    return Results(
        config=HelsinkiConfig(),
        players=("a", "b"),
        numbers=np.arange(n),
        seating=seating,
        seeds=np.arange(n, dtype=np.uint64),
        scores=np.full((n, 2), 3, np.int16),
        places=np.array(places, np.int8),
        rounds=np.ones(n, np.int16),
        decisions=tuple(np.zeros(5, np.int16) for _ in range(n)),
    )


def test_standings() -> None:
    results = made_up([[0, 1], [0, 1]] * 50)  # the first seat always wins
    a = results.result(0)
    assert (a.player, a.seat, a.games, a.share, a.place, a.score) == ("a", None, 100, 0.5, 1.5, 3)
    assert (a.low, a.high) == interval(0.5, 50, 50), "deals that do not differ count as one game each"
    first = results.result(0, seat=0)
    assert (first.games, first.share, first.high) == (50, 1.0, 1.0)
    assert [s.seat for s in results.player_results()] == [None, 0, 1] * 2
    assert [s.player for s in results.player_results()] == ["a"] * 3 + ["b"] * 3


def interval(share: float, games: float, deals: int) -> tuple[float, float]:
    """Wilson's interval for so many independent games, with Student's quantile for so many deals."""
    low, high = wilson_interval(share, games, student_quantile(deals))
    return float(low), float(high)


def test_games_of_a_deal_count_as_what_they_are_worth() -> None:
    """Where the deal decides who wins, two games of it are worth one."""
    deal_decides = made_up([[0, 1], [1, 0], [1, 0], [0, 1]] * 50)
    a = deal_decides.result(0)
    assert a.share == 0.5
    assert (a.low, a.high) == pytest.approx(interval(0.5, 99, 100), abs=1e-9)
    always = made_up([[0, 1], [1, 0]] * 50).result(0)
    assert (always.share, always.high) == (1.0, 1.0)
    assert always.low == interval(1.0, 50, 50)[0]


def test_a_match_an_arena_and_its_ratings_tell_one_interval() -> None:
    rng = np.random.default_rng(4)
    seating, deals = rng.integers(0, 3, (90, 4)), np.repeat(np.arange(15), 6)
    places, scores = rng.permuted(np.tile(np.arange(4), (90, 1)), axis=1), rng.integers(0, 30, (90, 4))
    rated = player_statistics(3, seating, places, scores, deals)
    for player in range(3):
        told = player_result("x", None, seating == player, places.astype(np.int8), scores.astype(np.int16), deals)
        assert told.games == rated.games[player]
        assert (told.share, told.low, told.high) == pytest.approx(
            (rated.win_rate[player], rated.low[player], rated.high[player]), rel=1e-12
        )


def test_wilson() -> None:
    # R: binom::binom.confint(7, 20, methods = "wilson")
    low, high = wilson_interval(7 / 20, 20, 1.959963984540054)
    assert low == pytest.approx(0.1811918, abs=1e-6)
    assert high == pytest.approx(0.5671457, abs=1e-6)
    assert wilson_interval(0.0, 10, 2)[0] == 0.0
    assert wilson_interval(1.0, 10, 2)[1] == 1.0


def test_a_share_of_nothing_has_no_interval() -> None:
    happened, possible = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 1.0], [0.0, 1.0]])
    share, low, high = proportion_interval(happened, possible)
    assert np.isnan([share[0], low[0], high[0]]).all()
    assert low[1] < share[1] == 0.5 < high[1]


@pytest.mark.parametrize("units", [1, 2, 3, 4, 5, 12, 31, 240, 999, 1000, 1001, 50_000])
def test_students_quantile(units: int) -> None:
    for level in (0.8, 0.95, 0.999):
        expected = stdtrit(max(1, units - 1), (1 + level) / 2)
        assert student_quantile(units, level) == pytest.approx(expected, rel=1e-12)


# errors


class Odd:
    """A player that returns fixed actions."""

    name = "odd"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        return self.answer(action_mask)  # type: ignore[operator,no-any-return]


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (lambda mask: np.full(len(mask), 13), IllegalActionError, "'odd': found the illegal action 13"),
        (lambda mask: np.full(len(mask), -1), IllegalActionError, "illegal action -1"),
        (lambda mask: np.full(len(mask), 554), IllegalActionError, "illegal action 554"),
        (lambda mask: mask, PlayerError, "player 'odd': act returned int8 of shape (1, 554), expected whole numbers"),
        (lambda mask: np.zeros(len(mask)), PlayerError, "act returned float64 of shape (1,)"),
        (lambda mask: None, PlayerError, "act returned object of shape ()"),
    ],
)  # fmt: skip
def test_players_that_go_wrong_are_named(answer: object, error: type[ValueError], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        play_match([Odd(answer), RandomPlayer()], games=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": ["random"]}, "players: found 1, expected 2, 3 or 4"),
        ({"players": ["random"] * 3, "config": HelsinkiConfig()}, "players: found 3, expected 2, one for each seat"),
        ({"games": 0}, "games: found 0, expected a whole number of at least 1"),
        ({"games": 2.0}, "games: found 2.0"),
        ({"seed": -1}, "seed: found -1, expected a whole number of at least 0"),
        ({"threads": 0}, "threads: found 0"),
        ({"batch": 0}, "batch: found 0"),
        ({"players": [len, "random"]}, "players: found <built-in function len>, expected names or objects with `name`"),
        ({"players": ["random", "nobody"]}, "player 'nobody': found an unknown name"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        play_match(**{"players": ["random", "random"], **arguments})  # type: ignore[arg-type]

"""What players think of decisions: in agreement with what they take, of every seat, and of each decision by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agents.base import seat_word
from agents.match import play_match
from agents.opinion import Opinion, opinions
from agents.registry import make_player
from helsinki_env import Game, GameConfig
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.hidden import redeal
from helsinki_env.engine.kernel import JIT
from helsinki_env.play.record import Record, positions
from tests.games import EACH_GAME, TestedGame

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")
JUDGES = ("net", "net+search:20")
EACH_JUDGE = pytest.mark.parametrize("judge", JUDGES)
EACH_NUMBER = pytest.mark.parametrize("players", [2, 3, 4])


def played(game: TestedGame, players: int, seed: int = 5) -> Record:
    config = game.spec.config(num_players=players)
    return next(iter(play_match(["heuristic"] * players, config, games=players, seed=seed).records()))


def questions_of(record: Record) -> tuple[Any, ...]:
    """Return observations, masks, words, what was decided, and the seats, of the decisions of a record."""
    before = [
        (game.observation(), game.legal_mask(), game.seat) for game, action in positions(record) if action is not None
    ]
    words = np.array([seat_word(record.seed, seat, i) for i, (_, _, seat) in enumerate(before)])
    observation, mask = np.array([one[0] for one in before]), np.array([one[1] for one in before])
    return observation, mask, words, np.array(record.decisions), [one[2] for one in before]


def some(arrays: tuple[Any, ...], step: int) -> tuple[Any, ...]:
    return tuple(array[::step] for array in arrays)


@EACH_GAME
@EACH_JUDGE
@EACH_NUMBER
def test_an_opinion_is_whole_and_its_best_decision_is_taken(game: TestedGame, judge: str, players: int) -> None:
    record = played(game, players)
    observation, mask, words, decided, seats = some(questions_of(record), 1 if judge == "net" else 9)
    player = make_player(judge, record.config)
    found = opinions(player, record.config, observation, mask, words, also=decided)
    taken = player.act(observation, mask, words)
    costly = 0
    for b, one in enumerate(found):
        assert one.seat == seats[b]
        np.testing.assert_array_equal(one.actions, np.flatnonzero(mask[b]))
        assert one.probabilities.sum() == pytest.approx(1)
        assert (one.probabilities >= 0).all()
        assert one.shares.shape == (len(one.actions), players)
        looked = ~np.isnan(one.shares).any(axis=1)
        assert (looked == ~np.isnan(one.shares).all(axis=1)).all()
        np.testing.assert_allclose(one.shares[looked].sum(axis=1), 1, atol=1e-5)
        assert one.best == taken[b]
        assert one.cost(one.best) == 0
        cost = one.cost(decided[b])
        assert cost is not None
        assert 0 <= cost <= 1
        costly += cost > 0
    assert costly > 0


def assert_same(one: Opinion, other: Opinion) -> None:
    assert (one.seat, one.best) == (other.seat, other.best)
    for name in ("actions", "probabilities", "shares"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@EACH_GAME
@EACH_JUDGE
def test_an_opinion_depends_on_no_other_decision(game: TestedGame, judge: str) -> None:
    record = played(game, 3)
    arrays = some(questions_of(record)[:4], 1 if judge == "net" else 12)
    player = make_player(judge, record.config)
    together = opinions(player, record.config, *arrays)
    for b in range(0, len(together), 5):
        assert_same(opinions(player, record.config, *(array[b : b + 1] for array in arrays))[0], together[b])


@EACH_GAME
def test_what_is_looked_at_besides_changes_nothing_else(game: TestedGame) -> None:
    record = played(game, 2)
    observation, mask, words, _, _ = questions_of(record)
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    for judge, step in (("net", 1), ("net+search:20", 9)):
        player = make_player(judge, record.config)
        arrays: tuple[Any, ...] = some((observation, mask, words), step)
        plain = opinions(player, record.config, *arrays)
        with_it = opinions(player, record.config, arrays[0], arrays[1], arrays[2], last[::step])
        more = 0
        for one, other, action in zip(plain, with_it, last[::step], strict=True):
            more += one.cost(action) is None
            assert other.cost(action) is not None
            there = ~np.isnan(one.shares[:, 0])
            np.testing.assert_array_equal(one.shares[there], other.shares[there])
            np.testing.assert_array_equal(one.probabilities, other.probabilities)
            assert one.best == other.best
        assert more > 0


@EACH_GAME
@EACH_JUDGE
@EACH_NUMBER
def test_who_ends_the_game_as_the_winner_sees_it(game: TestedGame, judge: str, players: int) -> None:
    """The last decision of a game is judged by its result, by the number of the seat, whoever is to move."""
    winners = set()
    for seed in range(10):
        record = played(game, players, seed)
        before, action = list(positions(record))[-2]
        assert action is not None
        if not all(ends(redeal(before, seed=deal), action) for deal in range(8)):
            continue  # a card that was hidden ended it
        observation, mask, words, decided, _ = (array[-1:] for array in questions_of(record))
        player = make_player(judge, record.config)
        one = opinions(player, record.config, observation, mask, words, also=decided)[0]
        assert record.places is not None
        first = np.array(record.places) == 0
        assert one.after(action).tolist() == pytest.approx((first / first.sum()).tolist(), abs=1e-6)
        winners.add(int(first.argmax()))
    assert len(winners) > 1


def ends(game: BoardGame, action: int) -> bool:
    game.step(action)
    return game.done


def test_what_cannot_be_judged_is_named() -> None:
    config = GameConfig()
    game = Game(config, seed=1)
    seen: tuple[Any, ...] = game.observation()[None], game.legal_mask()[None], np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="judge: found 'greedy', expected one that tells its opinion: net or net"):
        opinions(make_player("greedy"), config, *seen)
    net = make_player("net")
    with pytest.raises(ValueError, match=r"mask: found shape \(1, 3\), expected \(1, \d+\)"):
        opinions(net, config, seen[0], seen[1][:, :3], seen[2])
    assert opinions(net, config, seen[0][:0], seen[1][:0], seen[2][:0]) == []

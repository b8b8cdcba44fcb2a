"""Evaluations by players: they agree with the actions taken, for every seat and every action."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.agents.analysis import analysis_inputs, analyze, summarize_evaluations
from helsinki_env.agents.evaluation import Evaluation, evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.kernel import JIT
from helsinki_env.evaluation.match import play_match
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.records import Record, replay_steps
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.games import EACH_GAME, GAMES, TestedGame

pytestmark = pytest.mark.skipif(not JIT, reason="too slow")
EVALUATORS = ("net", "net+search:20", "mc:20")
EACH_EVALUATOR = pytest.mark.parametrize("evaluator", EVALUATORS)
EACH_NUMBER = pytest.mark.parametrize("players", [2, 3, 4])


@cache
def played(game: TestedGame, players: int, seed: int = 5) -> Record:
    config = game.spec.config(num_players=players)
    return next(iter(play_match(["heuristic"] * players, config, games=players, seed=seed).records()))


def questions_of(record: Record) -> tuple[Any, ...]:
    """Return observations, masks, words, what was decided, and the seats, of the decisions of a record."""
    seats = [game.seat for game, action in replay_steps(record) if action is not None]
    return *analysis_inputs(record), np.array(record.decisions), seats


def some(arrays: tuple[Any, ...], step: int) -> tuple[Any, ...]:
    return tuple(array[::step] for array in arrays)


@pytest.mark.thorough
@EACH_GAME
@EACH_EVALUATOR
@EACH_NUMBER
def test_an_opinion_is_whole_and_its_best_decision_is_taken(game: TestedGame, evaluator: str, players: int) -> None:
    record = played(game, players)
    observation, mask, words, decided, seats = some(questions_of(record), 1 if evaluator == "net" else 9)
    player = make_player(evaluator, record.config)
    found = evaluate_actions(player, record.config, observation, mask, words, also=decided)
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
        assert one.regret(one.best) == 0
        cost = one.regret(decided[b])
        assert cost is not None
        assert 0 <= cost <= 1
        costly += cost > 0
    assert costly > 0


@EACH_NUMBER
def test_an_action_that_ends_the_game_has_its_result(players: int) -> None:
    """In Helsinki, where the end does not depend on hidden cards."""
    for seed in range(5):
        record = played(GAMES[0], players, seed)
        observation, mask, words, decided = (array[-1:] for array in questions_of(record)[:4])
        player = make_player("mc:20", record.config)
        (one,) = evaluate_actions(player, record.config, observation, mask, words, also=decided)
        *_, (last, _) = replay_steps(record)
        np.testing.assert_allclose(one.shares[one.actions == decided][0], fractional_wins(last.ranks()))


def assert_same(one: Evaluation, other: Evaluation) -> None:
    assert (one.seat, one.best) == (other.seat, other.best)
    for name in ("actions", "probabilities", "shares"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


@pytest.mark.thorough
@EACH_GAME
@EACH_EVALUATOR
def test_an_opinion_depends_on_no_other_decision(game: TestedGame, evaluator: str) -> None:
    record = played(game, 3)
    arrays = some(questions_of(record)[:4], 1 if evaluator == "net" else 12)
    player = make_player(evaluator, record.config)
    together = evaluate_actions(player, record.config, *arrays)
    for b in range(0, len(together), 5):
        assert_same(evaluate_actions(player, record.config, *(array[b : b + 1] for array in arrays))[0], together[b])


@EACH_GAME
def test_what_is_looked_at_besides_changes_nothing_else(game: TestedGame) -> None:
    record = played(game, 2)
    observation, mask, words, _, _ = questions_of(record)
    last = mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)
    for evaluator, step in (("net", 1), ("net+search:20", 9), ("mc:20", 9)):
        player = make_player(evaluator, record.config)
        arrays: tuple[Any, ...] = some((observation, mask, words), step)
        plain = evaluate_actions(player, record.config, *arrays)
        with_it = evaluate_actions(player, record.config, arrays[0], arrays[1], arrays[2], last[::step])
        more = 0
        for one, other, action in zip(plain, with_it, last[::step], strict=True):
            more += one.regret(action) is None
            assert other.regret(action) is not None
            there = ~np.isnan(one.shares[:, 0])
            np.testing.assert_array_equal(one.shares[there], other.shares[there])
            np.testing.assert_array_equal(one.probabilities, other.probabilities)
            assert one.best == other.best
        assert more > 0


@pytest.mark.thorough
@EACH_GAME
@pytest.mark.parametrize("evaluator", ["net", pytest.param("net+search:20", marks=pytest.mark.nightly)])
@EACH_NUMBER
def test_who_ends_the_game_as_the_winner_sees_it(game: TestedGame, evaluator: str, players: int) -> None:
    """The result of the game is the evaluation of its last action, for each seat."""
    winners = set()
    for seed in range(10):
        record = played(game, players, seed)
        before, action = list(replay_steps(record))[-2]
        assert action is not None
        if not all(ends(determinize(before, seed=deal), action) for deal in range(8)):
            continue  # a card that was hidden ended it
        observation, mask, words, decided, _ = (array[-1:] for array in questions_of(record))
        player = make_player(evaluator, record.config)
        one = evaluate_actions(player, record.config, observation, mask, words, also=decided)[0]
        assert record.places is not None
        first = np.array(record.places) == 0
        assert one.after(action).tolist() == pytest.approx((first / first.sum()).tolist(), abs=1e-6)
        winners.add(int(first.argmax()))
        if len(winners) > 1:
            break
    assert len(winners) > 1


def ends(game: BoardGame, action: int) -> bool:
    game.step(action)
    return game.done


@pytest.mark.thorough
@EACH_GAME
def test_a_game_taken_apart(game: TestedGame) -> None:
    record, told = played(game, 2), list[tuple[int, int]]()
    analysis = analyze(record, progress=lambda done, total: told.append((done, total)))
    evaluation, decided = analysis.evaluation, len(record.decisions)
    assert evaluation.evaluator == "net"
    assert told[-1] == (decided, decided)
    assert [len(evaluation.shares), len(evaluation.costs), len(evaluation.better)] == [decided + 1, decided, decided]
    assert record.places is not None
    assert evaluation.shares[-1] == tuple(float(place == 0) for place in record.places)
    for (before, action), cost, better in zip(replay_steps(record), evaluation.costs, evaluation.better, strict=False):
        assert (cost is None) == (len(before.legal_actions()) == 1)
        assert (better is not None) == bool(cost)
        assert better != action
        assert better is None or before.action_mask()[better]
    assert any(evaluation.costs)
    assert "srcdoc" in analysis._repr_html_()


@EACH_GAME
def test_a_game_that_is_not_over_ends_as_it_is_thought_to_stand(game: TestedGame) -> None:
    whole = played(game, 2)
    record = Record(whole.config, whole.seed, players=whole.players, decisions=whole.decisions[:20])
    net = make_player("net", record.config)
    observation, mask, words, decided, _ = questions_of(record)
    found = evaluate_actions(net, record.config, observation, mask, words, decided)
    assert summarize_evaluations(record, found, "net").shares[-1] == tuple(found[-1].after(record.decisions[-1]))
    begun = Record(whole.config, whole.seed, players=whole.players, decisions=())
    assert analyze(begun).evaluation.shares == ((0.5, 0.5),)


@EACH_GAME
def test_the_words_are_those_of_a_table(game: TestedGame) -> None:
    record = played(game, 2)
    table = GameTable("t", "", record.config, record.seed, (SeatAssignment(HUMAN, "A"), SeatAssignment(HUMAN, "B")))
    for i, arrays in enumerate(zip(*analysis_inputs(record), strict=True)):
        for mine, theirs in zip(arrays, table.question(), strict=True):
            np.testing.assert_array_equal(mine, theirs[0])
        table.decide(i, record.decisions[i], "")


def test_what_cannot_be_judged_is_named() -> None:
    config = HelsinkiConfig()
    game = HelsinkiGame(config, seed=1)
    seen: tuple[Any, ...] = game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64)
    with pytest.raises(ValueError, match="evaluator: found 'greedy', expected one of net, net"):
        evaluate_actions(make_player("greedy"), config, *seen)
    net = make_player("net")
    with pytest.raises(
        ValueError,
        match=r"mask: found int8 of shape \(1, 3\), expected an action mask .* \(any, \d+\)",
    ):
        evaluate_actions(net, config, seen[0], seen[1][:, :3], seen[2])
    assert evaluate_actions(net, config, seen[0][:0], seen[1][:0], seen[2][:0]) == []

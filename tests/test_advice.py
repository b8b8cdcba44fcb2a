"""Evaluations at a table of `helsinki play`: permissions, contents, and outdated requests."""

from __future__ import annotations

import asyncio
import json
from functools import cache
from typing import Any

import pytest

from helsinki_env.agents.base import Player
from helsinki_env.agents.evaluation import evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.kernel import JIT
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.evaluation import EvaluationRequest, PageEvaluator, evaluation_message
from helsinki_env.web.player_workers import PlayerPool
from helsinki_env.web.sessions import PageConnection, evaluation_request
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.games import EACH_GAME, TestedGame
from tests.support.server import Line, Server, decide_first, seated, until
from tests.support.tables import sampled_tables

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(not JIT, reason="too slow")]


def ask(line: Line, number: int, deeper: int = 0) -> None:
    line.send(json.dumps({"type": "evaluate", "number": number, "deeper": deeper}))


def told(line: Line) -> dict[str, Any]:
    return until(line, lambda new: new["type"] != "table")


@EACH_GAME
def test_a_seat_is_told_what_the_network_thinks_of_its_decisions(game: TestedGame, server: Server) -> None:
    made = server.make("human", "greedy", "greedy", game=game.name, seed=3)
    with seated(server, made["table"]) as (line, view):
        for deeper in (0, 25):
            ask(line, view["number"], deeper)
            opinion = told(line)
            assert (opinion["type"], opinion["number"], opinion["deeper"]) == ("evaluation", view["number"], deeper)
            assert opinion["evaluator"] == ("net+search:25" if deeper else "net")
            assert opinion["seat"] == view["seat"]
            assert sum(opinion["shares"]) == pytest.approx(1, abs=1e-3)
            words = {one["id"]: one["words"] for one in view["decisions"]}
            choices = opinion["choices"]
            assert len(choices) == min(8, len(words))
            assert all(words[one["id"]] == one["words"] for one in choices)
            assert choices[0]["share"] == opinion["shares"][view["seat"]]
            if not deeper:
                likely = [one["probability"] for one in choices]
                assert likely == sorted(likely, reverse=True)


def test_who_watches_players_is_told_by_what_the_seat_to_move_sees(server: Server) -> None:
    made = server.make("greedy", "random", seed=4)
    with seated(server, made["table"]) as (line, view):
        line.send(json.dumps({"type": "stop"}))
        view = until(line, lambda new: new["type"] == "table" and new["paused"])
        ask(line, view["number"])
        opinion = told(line)
        assert (opinion["type"], opinion["seat"]) == ("evaluation", view["seat"])
        assert opinion["choices"][0]["words"]


def test_what_may_not_be_asked(server: Server) -> None:
    made = server.make("human", "human", seed=2)
    with seated(server, made["table"]) as (line, view):
        assert view["handover"] is not None
        ask(line, view["number"])
        assert "must take the device first" in told(line)["message"]
        line.send(json.dumps({"type": "look", "seat": view["handover"]}))
        view = until(line, lambda new: new["type"] == "table")
        ask(line, view["number"], 26)
        assert told(line)["message"] == "deeper: found 26, expected 0 or one of 25, 100, 400 simulations"
        ask(line, view["number"])
        assert told(line)["type"] == "evaluation"


def test_an_opinion_is_for_the_page_alone_that_asks_at_its_turn(server: Server) -> None:
    made = server.make("human", "human", sharing="links", seed=5)
    keys = [link["link"].partition("#key=")[2] for link in made["links"]]
    with (
        seated(server, made["table"], keys[0]) as (one, first),
        seated(server, made["table"], keys[1]) as (two, second),
    ):
        mover, line, waits = (first, one, two) if first["decisions"] else (second, two, one)
        ask(line, mover["number"])
        assert told(line)["type"] == "evaluation"
        ask(waits, mover["number"])
        refused = told(waits)
        assert refused["type"] == "error"
        assert "ask when it is yours" in refused["message"]


def test_who_asks_of_another_position_is_told_of_nothing(server: Server) -> None:
    made = server.make("human", "greedy", game="copenhagen", seed=5)
    with seated(server, made["table"]) as (line, view):
        view = decide_first(line, view)
        assert view["number"] > 0
        ask(line, 0)
        ask(line, view["number"] + 1)
        line.send(json.dumps({"type": "look", "seat": 1}))
        assert "expected one of yours" in told(line)["message"]


def test_a_game_that_is_over_is_not_judged(server: Server) -> None:
    made = server.make("random", "random", game="copenhagen", seed=1)
    with seated(server, made["table"]) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        while not view["done"]:
            view = until(line, lambda new: new["type"] == "table")
        ask(line, view["number"])
        assert "the game is over" in told(line)["message"]


def test_when_the_table_moves_on_nothing_is_told_of_what_was(server: Server) -> None:
    made = server.make("human", "greedy", seed=4)
    with seated(server, made["table"]) as (line, view):
        for deeper in (400, 0, 400):
            ask(line, view["number"], deeper)
            number, action = view["number"], view["decisions"][0]["id"]
            line.send(json.dumps({"type": "decide", "number": number, "action": action}))
            # an evaluation may be ready before the action arrives
            view = until(line, lambda new, number=number: new["type"] == "table" and new["number"] > number)
            while not view["decisions"]:
                view = until(line, lambda new: new["type"] == "table")
            ask(line, view["number"])
            opinion = told(line)
            assert (opinion["number"], opinion["deeper"]) == (view["number"], 0)
        ask(line, view["number"], 400)
        line.send(json.dumps({"type": "cancel"}))
        ask(line, view["number"])
        assert until(line, lambda new: new["type"] == "evaluation" and new["deeper"] == 0)["number"] == view["number"]


def _asked(table: GameTable, deeper: int = 0) -> EvaluationRequest:
    page = PageConnection(lambda _: None, (table.game.seat,))
    return evaluation_request(table, page, {"number": table.number, "deeper": deeper}, {})


@cache
def _evaluator(deeper: int, config: Any) -> Player:
    return make_player(f"net+search:{deeper}" if deeper else "net", config)


@EACH_GAME
def test_what_is_told_is_the_same_whatever_is_hidden_and_whatever_the_seed(game: TestedGame) -> None:
    """Another deal of everything hidden changes no byte of an evaluation."""
    looked = differed = 0
    for table, rng in sampled_tables(game):
        config, kept, seed, sent = table.game.config, table.game, table.seed, []
        evaluators = {deeper: _evaluator(deeper, config) for deeper in (0, 25)}
        for deal in (None, int(rng.integers(2**62))):
            table.game = kept if deal is None else determinize(kept, kept.seat, seed=deal)
            table.seed = seed if deal is None else deal
            differed += table.game != kept
            asked = [_asked(table, deeper) for deeper in evaluators]
            said = [
                evaluation_message(one, evaluate_actions(evaluators[one.deeper], config, *one.inputs)[0])
                for one in asked
            ]
            sent.append(json.dumps(said))
        assert sent[0] == sent[1]
        looked, table.game, table.seed = looked + 1, kept, seed
    assert looked > 30
    assert differed > 0.9 * looked


def test_without_a_network_that_fits_a_sentence_says_so() -> None:
    config = spec_by_name("helsinki").config(components="alternative")
    table = GameTable("t", "", config, 1, (SeatAssignment(HUMAN, "A"), SeatAssignment(HUMAN, "B")))
    said = asyncio.run(_said(_asked(table)))
    assert [one["type"] for one in said] == ["not_evaluated"]
    assert "card types" in said[0]["message"]


def test_of_two_questions_the_later_one_is_answered() -> None:
    table = GameTable(
        "t", "", spec_by_name("copenhagen").config(), 1, (SeatAssignment(HUMAN, "A"), SeatAssignment(HUMAN, "B"))
    )
    first = _asked(table)
    table.decide(0, int(table.game.legal_actions()[0]), "")
    said = asyncio.run(_said(first, _asked(table)))
    assert [one["number"] for one in said] == [1]


async def _said(*questions: EvaluationRequest) -> list[dict[str, Any]]:
    """Return the answers of an evaluator to requests without pauses."""
    thinkers, said, answered = PlayerPool(), list[dict[str, Any]](), asyncio.Event()

    def send(message: dict[str, Any]) -> None:
        said.append(message)
        answered.set()

    adviser = PageEvaluator(send, thinkers)
    try:
        for question in questions:
            adviser.ask(question)
            await asyncio.sleep(0)
        await answered.wait()
        return said
    finally:
        thinkers.close()

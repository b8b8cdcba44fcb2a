"""Clocks of tables with a real server: who pays for which time, what happens without time, and restarts."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.web.player_workers import PlayerPool
from helsinki_env.web.practice import mistakes, note_results
from helsinki_env.web.store import TableStore
from tests.games import EACH_GAME, TestedGame
from tests.support.server import PATIENCE, Line, Server, seated, serving, until

HOURS = {"minutes": 600, "increment": 600}


def next_clock(line: Line, wanted: Any = lambda _: True) -> dict[str, Any]:
    return until(line, lambda new: new["type"] == "clocks" and wanted(new))


def act(line: Line, view: dict[str, Any]) -> None:
    line.send(json.dumps({"type": "decide", "number": view["number"], "action": view["decisions"][0]["id"]}))


def test_tables_have_no_clock_by_default(server: Server) -> None:
    with seated(server, server.make("human", "human")["table"]) as (line, _):
        line.send(json.dumps({"type": "look", "seat": 0}))
        line.send(json.dumps({"type": "ping"}))
        assert until(line, lambda new: new["type"] != "table")["type"] == "pong"


@EACH_GAME
def test_players_spend_no_time_of_people_and_each_turn_adds_the_increment(game: TestedGame, server: Server) -> None:
    table = server.make("human", "greedy", game=game.name, seed=4, clock=HOURS)["table"]
    with seated(server, table) as (line, view):
        clock = next_clock(line)
        assert (clock["left"][1], clock["seconds"], clock["increment"]) == (None, 36_000, 600)
        turns, before, waits, acted = 0, clock["left"][0], None, -1
        while turns < 3:
            if view["decisions"] and view["number"] != acted:
                acted = view["number"]
                act(line, view)
            message = json.loads(line.recv(60))
            if message["type"] == "table":
                view = message
            elif message["running"] is None:  # the turn of the player
                waits = message["left"][0]
                assert waits <= before + 600
            elif waits is not None:
                assert message["left"][0] == waits, "the turn of a player costs nothing"
                turns, before, waits = turns + 1, waits, None
            else:
                assert message["running"] == 0
                assert message["left"][0] <= before
    assert 36_000 < before <= 36_000 + 3 * 600


@pytest.mark.thorough
@EACH_GAME
def test_without_time_greedy_takes_the_rest_of_the_turn(game: TestedGame, server: Server, data: Path) -> None:
    table = server.make("human", "random", game=game.name, seed=2, clock={"minutes": 0.01})["table"]
    with seated(server, table) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 300}))
        up = until(line, lambda new: new["type"] == "table" and not new["decisions"])
        assert up["thinking"]["player"] == "greedy"
        assert (up["seat"], up["undo"], up["selection"]) == (0, None, None)
        act(line, {**view, "number": up["number"]})
        assert "clock: the time of Player 1 has run out" in until(line, lambda new: new["type"] == "error")["message"]
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        over = until(line, lambda new: new["type"] == "table" and new["done"])
        own = [one["words"] for one in over["log"] if one["seat"] == 0]
        assert all(words.endswith(" (time ran out)") for words in own), "the increment is 0"
        assert over["takeback"] == []
    store = TableStore(data)
    saved = store.load(table)
    assert saved.clock is not None
    assert saved.clock.left[0] == 0
    assert saved.clock.expired == [one.number for one in saved.decisions if one.seat == 0]
    assert asyncio.run(mistakes(PlayerPool(), saved)) == [], "they are not the person's"
    asyncio.run(note_results(store))
    rated = store.rows.execute("SELECT players FROM examined WHERE name = ?", (table,)).fetchone()
    assert rated == ("[]",)
    store.close()


def test_undo_gives_no_time_back_and_nothing_is_taken_back(server: Server) -> None:
    table = server.make("human", "greedy", seed=4, clock=HOURS)["table"]
    with seated(server, table) as (line, view):
        while view["undo"] is None:
            act(line, view)
            number = view["number"]
            view = until(line, lambda new, number=number: new["type"] == "table" and new["number"] > number)
            if not view["decisions"]:
                view = until(line, lambda new: new["type"] == "table" and new["decisions"])
        assert view["takeback"] == []
        before = next_clock(line)["left"][0]
        line.send(json.dumps({"type": "undo", "number": view["number"], "to": view["undo"]}))
        assert next_clock(line)["left"][0] <= before
        line.send(json.dumps({"type": "takeback", "number": view["undo"], "to": 0}))
        assert "no clock" in until(line, lambda new: new["type"] == "error")["message"]


@pytest.mark.thorough
def test_clocks_continue_after_a_restart_and_stand_still_meanwhile(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        table = server.make("human", "human", sharing="links", seed=3, clock=HOURS)
        keys = [link["link"].partition("#key=")[2] for link in table["links"]]
        name = table["table"]
        with seated(server, name, keys[0]) as (one, first), seated(server, name, keys[1]) as (two, second):
            mover = 0 if first["decisions"] else 1
            assert next_clock(one)["running"] == mover
            assert [bool(view["decisions"]) for view in (first, second)].count(True) == 1
            act(*((two, second) if mover else (one, first)))
            until(one, lambda new: new["type"] == "table" and new["number"] == 1)
            left = next_clock(one)["left"]
            server.process.send_signal(signal.SIGKILL)
            server.process.wait(PATIENCE)
    with serving(tmp_path) as server, seated(server, name, keys[0]) as (line, view):
        again = next_clock(line)
        assert again["running"] == view["seat"], "an absent person has a running clock"
        assert all(now <= before for now, before in zip(again["left"], left, strict=True))
        assert all(now > before - 60 for now, before in zip(again["left"], left, strict=True))
        assert (again["seconds"], again["increment"]) == (36_000, 600)
        left = again["left"]
        server.end()
    with serving(tmp_path) as server, seated(server, name, keys[0]) as (line, _):
        assert all(now <= before for now, before in zip(next_clock(line)["left"], left, strict=True))


def test_a_clock_waits_until_its_person_has_opened_the_link(server: Server) -> None:
    def made() -> tuple[str, list[str]]:
        table = server.make("human", "human", sharing="links", seed=3, clock=HOURS)
        return table["table"], [link["link"].partition("#key=")[2] for link in table["links"]]

    table, keys = made()
    with seated(server, table, keys[0]) as (_, view):
        mover = 0 if view["decisions"] else 1
    table, keys = made()
    with seated(server, table, keys[1 - mover]) as (line, _):
        assert next_clock(line)["running"] is None, "the person to move has never been here"
        with seated(server, table, keys[mover]):
            assert next_clock(line)["running"] == mover


def test_a_clock_waits_until_its_person_has_the_device(server: Server) -> None:
    table = server.make("human", "human", seed=3, clock=HOURS)["table"]
    with seated(server, table) as (line, view):
        assert view["handover"] is not None
        waiting = next_clock(line)
        assert (waiting["running"], waiting["left"]) == (None, [36_000, 36_000])
        line.send(json.dumps({"type": "look", "seat": view["handover"]}))
        assert next_clock(line)["running"] == view["handover"]


@pytest.mark.parametrize(
    ("players", "clock", "message"),
    [
        (("greedy", "random"), {"minutes": 5}, "clock: found a table without people"),
        (("human", "random"), {"minutes": 0}, "clock.minutes: found 0"),
        (("human", "random"), {"minutes": 5, "increment": -1}, "clock.increment: found -1"),
        (("human", "random"), {"minutes": 1e9}, "clock.minutes: found 1000000000"),
    ],
)
def test_clocks_that_do_not_exist(players: tuple[str, ...], clock: Any, message: str, server: Server) -> None:
    chairs = [{"player": player} for player in players]
    status, answer, _ = server.ask("POST", "/api/tables", {"chairs": chairs, "clock": clock})
    assert status in (400, 422)
    assert message in answer["error"]


def test_a_rematch_has_a_full_clock(server: Server) -> None:
    table = server.make("human", "greedy", seed=4, clock={"minutes": 1, "increment": 2})["table"]
    status, again, _ = server.ask("POST", f"/api/tables/{table}/again", {"swap": True})
    assert status == 201
    with seated(server, again["table"]) as (line, _):
        clock = next_clock(line)
        assert (clock["seconds"], clock["increment"], clock["left"][0]) == (60, 2, None)
        assert clock["left"][1] <= 60

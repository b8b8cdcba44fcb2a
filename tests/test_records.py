"""Analysis of games and positions in `helsinki play`, with requests like those of its pages."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from helsinki_env.agents.analysis import analyze
from helsinki_env.data.source_span import span_in_json
from helsinki_env.evaluation.arena.load import load_records
from helsinki_env.evaluation.match import play_match
from helsinki_env.records import Record, initial_game, replay, replay_steps
from helsinki_env.records.animation import make_animation, page
from helsinki_env.web.store import TableStore
from tests.games import EACH_GAME, GAMES, ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.server import ROOT, Server, decide_first, seated, serving, until

pytestmark = pytest.mark.thorough


def played(game: TestedGame, players: int = 2, seed: int = 5) -> Record:
    """A game between fast players."""
    names = ["greedy", *["random"] * (players - 1)]
    return next(play_match(names, game.spec.config(num_players=players), games=players, seed=seed).records())


def position_at(record: Record, number: int) -> dict[str, Any]:
    """The position after a number of actions as plain data."""
    game = next(game for i, (game, _) in enumerate(replay_steps(record)) if i == number)
    return dict(game.spec.to_dict(game))


def bring(server: Server, text: str, game: int = 1) -> str:
    """Save a game or a position and return its name."""
    status, answer, _ = server.ask("POST", f"/api/records?game={game}", text.encode())
    assert status == 201, answer
    return str(answer["record"])


def kept(server: Server) -> list[str]:
    return [one["record"] for one in server.ask("GET", "/api/records")[1]]


def record_of(server: Server, name: str) -> Record:
    """The downloaded record of a name."""
    return Record.from_dict(server.ask("GET", f"/api/records/{name}/file")[1])


# -- uploads -------------------------------------------------------------------------------------------------


@EACH_GAME
def test_whatever_form_a_game_has_it_is_the_same_game(game: TestedGame, server: Server) -> None:
    one, other = played(game), played(game, 3)
    line = one.to_json()
    two = f"\n{line}\r\n\r\n{other.to_json()}\r\n"
    spread = json.dumps(one.to_dict(), indent=2)
    for text, count in ((line, 1), (line + "\n", 1), ("\ufeff" + line, 1), (spread, 1), (two, 2)):
        status, found, _ = server.ask("POST", "/api/records/look", text.encode())
        assert (status, found["kind"], found["count"]) == (200, "records", count), found
        assert found["games"][0] == {
            "number": 1,
            "game": game.name,
            "players": list(one.players),
            "scores": list(one.scores or ()),
            "decisions": len(one.decisions),
        }
        assert record_of(server, bring(server, text)) == one
    assert record_of(server, bring(server, two, game=2)) == other


def test_a_record_is_kept_as_a_film(server: Server) -> None:
    game = next(game for game in GAMES if game.name == "helsinki")
    record = played(game)
    name = bring(server, record.to_json())
    status, study, _ = server.ask("GET", f"/api/records/{name}")
    assert (status, study["kind"], study["record"]) == (200, "record", name)
    shown = {"greedy": "Easy"}  # levels have the names of the start page
    animation = make_animation(record) | {"players": [shown.get(player, player) for player in record.players]}
    assert study["animation"] == json.loads(json.dumps(animation))
    assert all(player in study["title"] for player in record.players)
    listed = server.ask("GET", "/api/records")[1][0]
    assert (listed["record"], listed["title"], listed["decisions"]) == (name, study["title"], len(record.decisions))
    status, text, headers = server.ask("GET", f"/api/records/{name}/page")
    assert (status, text[:15]) == (200, "<!doctype html>")
    assert "attachment" in headers["content-disposition"]


def test_an_arena_is_taken_apart_by_its_parquet_file_alone(tmp_path: Path, server: Server) -> None:
    command = [sys.executable, "-m", "helsinki_env.cli.main", "arena", "--players", "greedy,random", "--games", "4"]
    more = ["--dry-roads", "--covered", "first_game", "--out", str(tmp_path / "run")]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*command, *more], check=True, capture_output=True, env=environment)
    content, expected = (tmp_path / "run" / "games.parquet").read_bytes(), list(load_records(tmp_path / "run"))
    status, found, _ = server.ask("POST", "/api/records/look", content)
    assert (status, found["count"]) == (200, len(expected)), found
    assert [one["players"] for one in found["games"]] == [list(record.players) for record in expected]
    status, answer, _ = server.ask("POST", "/api/records?game=3", content)
    assert status == 201, answer
    assert record_of(server, answer["record"]) == expected[2]


def test_of_many_games_the_first_are_listed_and_any_can_be_had(server: Server) -> None:
    record = played(GAMES[0])
    text = (record.to_json() + "\n") * 400
    found = server.ask("POST", "/api/records/look", text.encode())[1]
    assert (found["count"], len(found["games"])) == (400, 300)
    assert record_of(server, bring(server, text, game=400)) == record


_SPOILT: list[tuple[Any, str]] = [
    ("", "found nothing"),
    (" \n ", "found nothing"),
    ("{", "cannot be read as JSON"),
    ("{}", "no keys"),
    ("[]", "expected a mapping"),
    ("7", "expected a mapping"),
    ("null", "expected a mapping"),
    ('"table"', "expected a mapping"),
    ("[" * 5000, "found more than 40 nested lists"),
    ('{"table": 7}', "table: found 7"),
    ('{"table": "none"}', "does not exist"),
    (b"\xff\xfe\x00", "neither text nor Parquet"),
    (b"PAR1", "cannot be read as Parquet"),
    (b"PAR1" + bytes(200) + b"PAR1", "cannot be read as Parquet"),
    ('{"game": "chess"}', "game: found 'chess'"),
    ('{"game": ["a"]}', "game: found ['a']"),
    ('{"seats": []}', "game: found nothing"),
    ('{"game": "helsinki", "components": "/etc/passwd"}', "components: found '/etc/passwd'"),
    ('{"game": "helsinki", "components": "../../x.yaml"}', "components: found"),
]


@pytest.mark.parametrize("number", range(len(_SPOILT)))
def test_what_cannot_be_taken_apart(number: int, server: Server) -> None:
    content, message = _SPOILT[number]
    before = kept(server)
    for path in ("/api/records", "/api/records/look"):
        if "table" in str(content) and path.endswith("look"):
            continue
        status, answer, _ = server.ask("POST", path, content if isinstance(content, bytes) else content.encode())
        assert 400 <= status < 500, answer
        assert message in answer["error"]
        assert len(answer["error"]) < 1500
    assert kept(server) == before


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/records?game=0", 400),
        ("/api/records?game=2", 400),
        ("/api/records?game=-1", 400),
        ("/api/records?game=one", 422),
        ("/api/records?game=99999999999999999999", 400),
    ],
)
def test_games_that_are_not_there(path: str, status: int, server: Server) -> None:
    before, text = kept(server), played(GAMES[0]).to_json()
    found, answer, _ = server.ask("POST", path, text.encode())
    assert (found, "game" in answer["error"]) == (status, True), answer
    assert kept(server) == before


def test_games_that_were_changed(server: Server) -> None:
    record, before = played(GAMES[0]), kept(server)
    for change, message in (
        ({"seed": record.seed + 1}, r"decisions\[\d+\]|scores"),
        ({"decisions": (*record.decisions[:9], 0, *record.decisions[10:])}, r"decisions\[\d+\]: .* not legal"),
        ({"scores": (99, 98), "ranking": (0, 1), "places": None}, "scores: found"),
    ):
        text = replace(record, **change).to_json()
        status, answer, _ = server.ask("POST", "/api/records", text.encode())
        assert status == 400
        assert re.search(message, answer["error"]), answer
        start, end = answer["place"]["start"], answer["place"]["end"]
        assert 0 <= start < end <= len(text)
    unsealed = record.to_json().replace("greedy", "somebody")
    broken = f"{record.to_json()}\n{unsealed}\n"
    status, answer, _ = server.ask("POST", "/api/records/look", broken.encode())
    assert (status, answer["error"][:16]) == (400, "line 2: digest: ")
    place = answer["place"]
    assert broken[place["start"] : place["end"]].startswith('"digest":')
    assert place["line"] == 2
    assert kept(server) == before


def test_files_may_be_large_but_not_endless_and_nothing_else_may(server: Server) -> None:
    line = played(GAMES[0]).to_json() + "\n"
    large = (line * (2_000_000 // len(line))).encode()
    status, found, _ = server.ask("POST", "/api/records/look", large)
    assert (status, found["count"]) == (200, large.count(b"\n"))
    for path, size in (("/api/records", 2**24 + 1), ("/api/records/look", 2**40), ("/api/tables", 70_000)):
        status, answer, _ = server.ask("POST", path, b"x", {"content-length": str(size)})
        assert (status, "expected at most" in answer["error"]) == (413, True)


def test_there_is_an_end_to_what_is_kept(tmp_path: Path) -> None:
    line = played(GAMES[0]).to_json()
    with serving(tmp_path) as running:
        names = [bring(running, line) for _ in range(2)]
        with sqlite3.connect(tmp_path / "tables.sqlite") as rows:
            rows.executemany("INSERT INTO records VALUES (?, '', 0, ?)", [(f"r{i}", line) for i in range(998)])
        status, answer, _ = running.ask("POST", "/api/records", line.encode())
        assert (status, "delete some first" in answer["error"]) == (400, True)
        assert len(kept(running)) == 1000
        assert running.ask("DELETE", f"/api/records/{names[0]}")[0] == 200
        assert running.ask("DELETE", f"/api/records/{names[0]}")[0] == 404
        assert bring(running, line) in kept(running)


# -- positions -----------------------------------------------------------------------------------------------


@EACH_GAME
def test_what_is_wrong_with_a_position_is_said_at_its_key(game: TestedGame, server: Server) -> None:
    before, good = kept(server), position_at(played(game), 40)

    def refused(text: str) -> tuple[str, str]:
        status, answer, _ = server.ask("POST", "/api/records", text.encode())
        assert status == 400, answer
        place = answer["place"]
        marked = text[place["start"] : place["end"]]
        line = text.split("\n")[place["line"] - 1]
        assert line[place["column"] - 1 :].startswith(marked.split("\n")[0])
        return answer["error"], marked

    for indent in (None, 1):
        for path, value, marked in (
            (("phase",), "NOON", '"phase": "NOON"'),
            (("round",), -1, '"round": -1'),
            (("to_move",), "zero", '"to_move": "zero"'),
            (("display", 1), 1000, "1000"),
            (("seats", 1, "hand", 2), -7, "-7"),
            (("seats", 0, "surprise"), 1, '"surprise": 1'),
        ):
            spoilt = json.loads(json.dumps(good))
            target = spoilt
            for key in path[:-1]:
                target = target[key]
            target[path[-1]] = value
            message, found = refused(json.dumps(spoilt, indent=indent))
            assert str(path[-1]) in message
            assert found == marked
    missing = {key: value for key, value in good.items() if key != "phase"}
    assert refused(json.dumps(missing)) == (
        "position: phase: found nothing, expected a value for this required key",
        "{",
    )
    short = {**good, "draw_pile": good["draw_pile"][1:]}
    message, found = refused(json.dumps(short))
    assert "draw_pile, discard_pile, display" in message
    assert found.startswith('"draw_pile"')
    message, _ = refused(json.dumps(good)[:-1])
    assert "cannot be read as JSON" in message
    seen = played(game)
    half = next(one for i, (one, _) in enumerate(replay_steps(seen)) if i == 40).spec
    one_seat = half.to_dict(next(one for i, (one, _) in enumerate(replay_steps(seen)) if i == 40), 0)
    assert "a copy for one seat cannot be continued" in refused(json.dumps(one_seat))[0]
    assert kept(server) == before


@EACH_GAME
def test_a_position_is_shown_and_judged(game: TestedGame, server: Server) -> None:
    position = position_at(played(game), 30)
    name = bring(server, json.dumps(position))
    study = server.ask("GET", f"/api/records/{name}")[1]
    shown = study["position"]
    assert (study["kind"], shown["seat"], shown["svg"][:4]) == ("position", position["to_move"], "<svg")
    assert server.ask("GET", f"/api/records/{name}/file")[1] == position
    assert server.ask("GET", f"/api/records/{name}/page")[0] == 400
    advice = evaluate(server, name, "net")["evaluation"]
    assert sum(advice["shares"]) == pytest.approx(1, abs=1e-3)
    chances = [choice["probability"] for choice in advice["choices"]]
    assert chances[1:] == sorted(chances[1:], reverse=True)
    assert all(choice["words"] for choice in advice["choices"])


# -- evaluation ----------------------------------------------------------------------------------------------------


def evaluate(server: Server, name: str, who: str) -> dict[str, Any]:
    """Evaluate a game completely."""
    path = f"/api/records/{name}/evaluation?evaluator={quote(who)}"
    status, found, _ = server.ask("POST", path)
    assert status == 202, found
    for _ in range(1200):
        if found["state"] != "running":
            return dict(found)
        time.sleep(0.05)
        found = server.ask("GET", path)[1]
    raise AssertionError(f"not judged within a minute: {found}")


@pytest.mark.nightly
def test_a_game_is_judged_as_the_analysis_does_it(server: Server) -> None:
    record = played(GAMES[0])
    name = bring(server, record.to_json())
    found = evaluate(server, name, "net")
    assert (found["state"], found["done"], found["total"]) == ("done", len(record.decisions), len(record.decisions))
    evaluation, title = analyze(record, "net").evaluation, server.ask("GET", f"/api/records/{name}")[1]["title"]
    reasons = found["evaluation"].pop("why")
    assert len(reasons) == len(record.decisions)
    assert found["evaluation"] == evaluation.to_dict(record)
    assert server.ask("GET", f"/api/records/{name}/page?evaluator=net")[1] == page(record, evaluation, title=title)
    assert server.ask("GET", f"/api/records/{name}/page")[1] == page(record, title=title)


def test_judging_is_stopped_and_gone_on_with(server: Server) -> None:
    name = bring(server, played(GAMES[0], seed=8).to_json())
    path = f"/api/records/{name}/evaluation?evaluator={quote('net+search:400')}"
    assert server.ask("GET", path)[1]["state"] == "stopped"
    server.ask("POST", path)
    while (running := server.ask("GET", path)[1])["done"] == 0:
        assert running["state"] == "running"
        time.sleep(0.02)
    stopped = server.ask("DELETE", path)[1]
    assert stopped["state"] == "stopped"
    assert 0 < stopped["done"] < stopped["total"]
    again = server.ask("POST", path)[1]
    assert (again["state"], again["done"]) == ("running", stopped["done"])
    server.ask("DELETE", path)
    assert server.ask("DELETE", f"/api/records/{name}")[0] == 200
    assert server.ask("GET", path)[0] == 404


@pytest.mark.parametrize("who", ["", "nobody", "greedy", "net:/etc/passwd", "net+search:100000"])
def test_judges_that_are_none(who: str, server: Server) -> None:
    name = bring(server, played(GAMES[0]).to_json())
    for method in ("GET", "POST", "DELETE"):
        status, answer, _ = server.ask(method, f"/api/records/{name}/evaluation?evaluator={quote(who)}")
        assert (status, "evaluator: found" in answer["error"]) == (400, True)


# -- continue -----------------------------------------------------------------------------------------------


def play_on(server: Server, name: str, decisions: int, *players: str) -> str:
    chairs = [{"player": player} for player in players]
    body = {"chairs": chairs, "from": {"record": name, "decisions": decisions}}
    status, made, _ = server.ask("POST", "/api/tables", body)
    assert status == 201, made
    return str(made["table"])


def table_of(data: Path, name: str) -> Any:
    """The saved table."""
    store = TableStore(data)
    try:
        return store.load(name)
    finally:
        store.close()


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_game_is_played_on_from_any_decision_and_survives_being_killed(game: TestedGame, tmp_path: Path) -> None:
    record = played(game)
    expected = [one for one, _ in replay_steps(record)]
    with serving(tmp_path) as running:
        name = bring(running, record.to_json())
        tables = {number: play_on(running, name, number, "human", "human") for number in (0, 1, 33, len(expected) - 2)}
        with seated(running, tables[33]) as (line, view):
            assert (view["number"], len(view["log"]), view["handover"]) == (33, 33, expected[33].seat)
            assert all(entry["words"] for entry in view["log"])
            line.send(json.dumps({"type": "look", "seat": view["handover"]}))
            view = until(line, lambda new: new["type"] == "table")
            assert {one["id"] for one in view["decisions"]} == set(expected[33].legal_actions().tolist())
            decide_first(line, view)
        running.end(signal.SIGKILL)
    for number, table in tables.items():
        again = table_of(tmp_path, table)
        if number == 33:
            assert again.number == 34
            again.forget_last()
        assert again.game == expected[number]
    with serving(tmp_path) as running, seated(running, tables[33]) as (_, view):
        assert view["number"] == 34


@EACH_GAME
def test_a_position_is_played_on_undone_and_survives_being_killed(game: TestedGame, tmp_path: Path) -> None:
    expected = next(one for i, (one, _) in enumerate(replay_steps(played(game, 3))) if i == 50)
    players = ["greedy"] * 3
    players[expected.seat] = "human"
    with serving(tmp_path) as running:
        name = bring(running, json.dumps(expected.spec.to_dict(expected)))
        table = play_on(running, name, 0, *players)
        assert table_of(tmp_path, table).game == expected
        with seated(running, table) as (line, view):
            line.send(json.dumps({"type": "pace", "milliseconds": 0}))
            assert (view["number"], view["seat"]) == (0, expected.seat)
            view = decide_first(line, view)
            line.send(json.dumps({"type": "takeback", "number": view["number"], "to": 0}))
            view = until(line, lambda new: new["type"] == "table" and new["number"] == 0)
            assert {one["id"] for one in view["decisions"]} == set(expected.legal_actions().tolist())
            view = decide_first(line, view)
            said = view["log"][0]
            running.end(signal.SIGKILL)
    again = table_of(tmp_path, table)
    action = again.decisions[0].action
    expected.step(action)
    while again.number > 1:
        again.forget_last()
    assert again.game == expected
    with serving(tmp_path) as running, seated(running, table) as (_, view):
        assert view["log"][0] == said
        status, answer, _ = running.ask("POST", "/api/records", {"table": table})
        assert (status, "not over" in answer["error"]) == (400, True)


def test_games_that_cannot_be_played_on(server: Server) -> None:
    record = played(GAMES[0])
    name, count = bring(server, record.to_json()), len(record.decisions)
    two = [{"player": "human"}, {"player": "greedy"}]
    for body, message in (
        ({"chairs": two, "from": {"record": "none"}}, "does not exist"),
        ({"chairs": two, "from": {"record": name, "decisions": count}}, "the game is over"),
        ({"chairs": two, "from": {"record": name, "decisions": count + 1}}, f"expected 0 to {count}"),
        ({"chairs": two, "from": {"record": name, "decisions": -1}}, "decisions"),
        ({"chairs": two, "from": {"record": name, "more": 1}}, "more"),
        ({"chairs": two, "from": {}}, "record"),
        ({"chairs": two, "from": name}, "from"),
        ({"chairs": [*two, *two], "from": {"record": name}}, "chairs: found 4, expected 2"),
        ({"chairs": two, "from": {"record": name}, "seed": 1}, "seed: found 1"),
        ({"chairs": two, "from": {"record": name}, "game": "helsinki"}, "game: found"),
        ({"chairs": two, "from": {"record": name}, "options": {}}, "options: found"),
        ({"chairs": [{"player": "nobody"}, {}], "from": {"record": name}}, "chairs.0.player"),
    ):
        before = server.ask("GET", "/api/tables")[1]
        status, answer, _ = server.ask("POST", "/api/tables", body)
        assert 400 <= status < 500, answer
        assert message in answer["error"], answer
        assert server.ask("GET", "/api/tables")[1] == before


# -- played games ------------------------------------------------------------------------------------------------


def test_an_own_game_is_taken_apart_once_it_is_over(server: Server) -> None:
    record = played(GAMES[0])
    name, near = bring(server, record.to_json()), len(record.decisions) - 1
    while deal_at(record, near - 1).seat != 0 or len(deal_at(record, near - 1).legal_actions()) < 2:
        near -= 1
    table = play_on(server, name, near - 1, "human", "greedy")
    status, answer, _ = server.ask("POST", "/api/records", {"table": table})
    assert (status, "the game is not over" in answer["error"]) == (400, True)
    with seated(server, table) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        view = decide_first(line, view)
        line.send(json.dumps({"type": "takeback", "number": view["number"], "to": near - 1}))
        view = until(line, lambda new: new["type"] == "table" and new["number"] == near - 1)
        while not view["done"]:
            if view["decisions"]:
                view = decide_first(line, view)
            else:
                view = until(line, lambda new: new["type"] == "table")
    own = record_of(server, server.ask("POST", "/api/records", {"table": table})[1]["record"])
    assert replay(own).scores().tolist() == [seat["score"] for seat in view["seats"]]
    assert re.fullmatch(r"Player 1 \(took back \d+ actions?\)", own.players[0])
    assert own.players[1] == "greedy"
    assert table in {one["table"] for one in server.ask("GET", "/api/tables")[1] if one["over"]}


def deal_at(record: Record, number: int) -> Any:
    return next(game for i, (game, _) in enumerate(replay_steps(record)) if i == number)


def test_a_game_of_players_alone_can_be_taken_apart_at_any_time(server: Server) -> None:
    table = server.make("greedy", "random", seed=4)["table"]
    with seated(server, table) as (line, _):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        until(line, lambda new: new["type"] == "table" and new["number"] > 5)
        line.send(json.dumps({"type": "stop"}))
        number = until(line, lambda new: new["type"] == "table" and new["paused"])["number"]
    own = record_of(server, server.ask("POST", "/api/records", {"table": table})[1]["record"])
    assert (len(own.decisions), own.finished, own.seed) == (number, False, 4)
    on = play_on(server, bring(server, own.to_json()), number, "human", "human")
    with seated(server, on) as (_, view):
        assert view["number"] == number


def test_a_record_is_of_its_deal_and_an_episode_is_dealt_again(tmp_path: Path) -> None:
    game = GAMES[0].spec.game(None, seed=3, stream=2)
    action = int(game.legal_actions()[0])
    game.step(action)
    record = Record.of(game, 3, ["a", "b"], [action], stream=2)
    with serving(tmp_path) as running:
        name = bring(running, record.to_json())
        table = play_on(running, name, 1, "human", "human")
        assert table_of(tmp_path, table).game == game
        assert table_of(tmp_path, play_on(running, name, 0, "human", "human")).game == initial_game(record)


# -- access --------------------------------------------------------------------------------------------------


def test_the_token_is_demanded(tmp_path: Path) -> None:
    with serving(tmp_path, "--host", "0.0.0.0") as running:
        token = running.page.partition("#token=")[2]
        running.address = running.address.replace("0.0.0.0", "127.0.0.1")
        known = {"authorization": f"Bearer {token}"}
        text = played(GAMES[0]).to_json().encode()
        assert running.ask("POST", "/api/records", text)[0] == 401
        name = running.ask("POST", "/api/records", text, known)[1]["record"]
        for method, path in (
            ("POST", "/api/records/look"),
            ("GET", "/api/records"),
            ("GET", f"/api/records/{name}"),
            ("GET", f"/api/records/{name}/file"),
            ("GET", f"/api/records/{name}/page"),
            ("GET", f"/api/records/{name}/evaluation?evaluator=net"),
            ("POST", f"/api/records/{name}/evaluation?evaluator=net"),
            ("DELETE", f"/api/records/{name}"),
        ):
            assert running.ask(method, path)[0] == 401, path
        assert running.ask("GET", f"/api/records/{name}/file", headers=known)[0] == 200


def test_records_that_are_not_there(server: Server) -> None:
    for path in ("/api/records/none", "/api/records/none/file", "/api/records/..%2f..", "/viewer/../animation.py"):
        assert server.ask("GET", path)[0] == 404, path


# -- locations in texts -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "marked"),
    [
        ("a", '"a": 1'),
        ("seats[0].hand[2]", "3"),
        ("seats[0].hand[9]", '"hand": [1,2, 3]'),
        ("seats[1].token", "{}"),
        ("e[0]", '"e":[]'),
        ("missing", "{"),
        ("long", '"long"'),
        ("long[150]", "7"),
    ],
)
def test_a_key_is_found_in_the_text(path: str, marked: str) -> None:
    text = '{"a": 1,\n "seats": [ {"hand": [1,2, 3] , "x": {"z":2}},\n  {}],"e":[], "long": [' + "7," * 300 + "7]}"
    place = span_in_json(text, path)
    assert place is not None
    assert text[place.start : place.end] == marked
    assert text.split("\n")[place.line - 1][place.column - 1 :].startswith(marked)

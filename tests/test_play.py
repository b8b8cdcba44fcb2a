"""The `helsinki play` command with requests like those of browsers; tests/test_page.py tests the pages."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.exceptions import ConnectionClosed, InvalidStatus

from helsinki_env.cli.commands import play
from helsinki_env.cli.main import main
from helsinki_env.engine.determinization import determinize
from helsinki_env.engine.spec import spec_of
from helsinki_env.evaluation.match import play_match
from helsinki_env.web.names import verbatim
from helsinki_env.web.security import REQUEST_TIMEOUT
from helsinki_env.web.sessions import MAX_PAGES
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import GameTable
from helsinki_env.web.views import applied, change_between, choices, encode_message, picture, table_view
from helsinki_env.web.websocket import MAX_UNSENT
from tests.games import EACH_GAME, ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.server import PATIENCE, Server, decide_first, seated, serving, until
from tests.support.tables import sampled_tables


def test_nothing_of_it_is_loaded_with_the_package() -> None:
    loaded = "import sys, helsinki_env; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert "helsinki_env" in found
    assert not {"fastapi", "pydantic", "starlette", "uvicorn", "websockets", "helsinki_env.web"} & set(found)


# -- whole games ---------------------------------------------------------------------------------------------


@ONE_GAME_OR_EACH_NIGHTLY
def test_a_whole_game_against_a_player(game: TestedGame, server: Server) -> None:
    made = server.make("human", "heuristic", game=game.name, seed=11)
    rng = np.random.default_rng(2)
    with seated(server, made["table"]) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        numbers = [view["number"]]
        while not view["done"]:
            if view["decisions"]:
                view = decide_first(line, view, int(rng.integers(len(view["decisions"]))))
            else:
                view = until(line, lambda new: new["type"] == "table")
            numbers.append(view["number"])
        assert view["mine"] == [0]
        assert sorted(seat["place"] for seat in view["seats"])[0] == 0
        assert not view["decisions"]
        assert sorted(set(numbers)) == list(range(view["number"] + 1)), "every decision was shown"
        spoken = [entry for entry in view["log"] if not entry["words"]]
        assert not spoken


@EACH_GAME
def test_one_device_with_a_curtain_between_turns(game: TestedGame, server: Server) -> None:
    made = server.make("human", "human", "human", game=game.name, seed=1)
    with seated(server, made["table"]) as (line, view):
        shown = set()
        for _ in range(60):
            if view["done"]:
                break
            if view["handover"] is not None:
                assert (view["svg"], view["spots"], view["decisions"]) == ("", {}, [])
                line.send(json.dumps({"type": "look", "seat": view["handover"]}))
                view = until(line, lambda new: new["type"] == "table")
                assert view["handover"] is None
            assert view["viewer"] == view["seat"]
            shown.add(view["viewer"])
            view = decide_first(line, view)
        assert shown == {0, 1, 2}
    with seated(server, made["table"]) as (_, again):
        assert again["handover"] is not None, "a reloaded page hands over the device again"
        assert again["number"] == view["number"]


def test_several_browsers_by_links(server: Server) -> None:
    made = server.make("human", "human", sharing="links", seed=5)
    keys = [link["link"].partition("#key=")[2] for link in made["links"]]
    assert len(set(keys)) == 2
    with (
        seated(server, made["table"], keys[0]) as (one, first),
        seated(server, made["table"], keys[1]) as (two, second),
    ):
        assert (first["mine"], second["mine"]) == ([0], [1])
        mover, line, waits = (first, one, two) if first["decisions"] else (second, two, one)
        number = mover["number"]
        decide_first(line, mover)
        seen = until(waits, lambda new: new["type"] == "table" and new["number"] == number + 1)
        waits.send(json.dumps({"type": "decide", "number": number + 1, "action": 0}))
        if not seen["decisions"]:
            refused = until(waits, lambda new: new["type"] == "error")
            assert "not yours" in refused["message"]
    for key in ("", "wrong"):
        with seated(server, made["table"], key) as (_, refused):
            assert refused == {"type": "refused", "message": refused["message"]}
            assert "open the link" in refused["message"]


@EACH_GAME
def test_undo_and_take_back(game: TestedGame, server: Server) -> None:
    made = server.make("human", "greedy", game=game.name, seed=4)
    with seated(server, made["table"]) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        undone = took_back = 0
        while undone < 3 or took_back < 2:
            assert not view["done"]
            if view["undo"] is not None and undone < 3:
                to = view["undo"]
                line.send(json.dumps({"type": "undo", "number": view["number"], "to": to}))
                view = until(line, lambda new, to=to: new["type"] == "table" and new["number"] == to)
                undone += 1
                view = decide_first(line, view)
            elif view["number"] > 40 and view["decisions"] and took_back < 2:
                to = view["takeback"][1]
                line.send(json.dumps({"type": "takeback", "number": view["number"], "to": to}))
                view = until(line, lambda new, to=to: new["type"] == "table" and new["number"] == to)
                assert view["decisions"]
                took_back += 1
            elif view["decisions"]:
                view = decide_first(line, view, len(view["decisions"]) - 1)
            else:
                view = until(line, lambda new: new["type"] == "table")


def test_what_a_page_offers_is_what_is_played(server: Server) -> None:
    games = server.ask("GET", "/api/games")[1]
    assert [game["name"] for game in games] == ["helsinki", "copenhagen"]
    assert [level["label"] for level in games[0]["levels"]] == ["Easy", "Medium", "Hard", "Hardest"]
    names = {option["name"] for option in games[0]["options"]}
    assert names == {"first_game", "dry_roads", "covered", "components"}
    (files,) = (option["choices"] for option in games[0]["options"] if option["type"] == "one")
    assert (files[0], "alternative" in files, "copenhagen" in files) == ("default", True, False)
    plain = server.make("human", "greedy", seed=1)
    made = server.make("human", "greedy", seed=1, options={"first_game": True, "dry_roads": True})
    with seated(server, plain["table"]) as (_, one), seated(server, made["table"]) as (_, other):
        assert one["svg"].count("(covered)") == 0
        assert other["svg"].count("(covered)") == 5
        assert "Dry roads bonus" in other["svg"]
    file = server.make("human", "greedy", seed=1, options={"components": "more_small_tiles"})
    with seated(server, file["table"]) as (_, view):
        assert view["svg"] != one["svg"]
    some = server.make("human", "greedy", seed=1, options={"covered": ["two_points", "any_side"]})
    with seated(server, some["table"]) as (_, view):
        assert view["svg"].count("(covered)") == 2


def test_players_alone_are_watched(server: Server) -> None:
    made = server.make("greedy", "random", seed=4)
    with seated(server, made["table"]) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        assert (view["mine"], view["viewer"]) == ([], None)
        number = until(line, lambda new: new["type"] == "table" and new["number"] > 5)["number"]
        line.send(json.dumps({"type": "stop"}))
        stopped = until(line, lambda new: new["type"] == "table" and new["paused"])
        assert stopped["thinking"] is None
    with seated(server, made["table"]) as (line, view):
        assert (view["paused"], view["number"]) == (True, stopped["number"]), "it is still paused after a reload"
        line.send(json.dumps({"type": "go"}))
        assert until(line, lambda new: new["type"] == "table" and new["number"] > number)


PIECES = st.lists(st.sampled_from(["<g>", "</g>", "<path d='M0 0h12v12h-12z'/>", "<", "a", "", "\u00d7", "{", "[1]"]))


@given(PIECES, PIECES, PIECES, st.integers(0, 3))
def test_applying_a_change_gives_the_next_view(common: list[str], old: list[str], new: list[str], times: int) -> None:
    before = encode_message({"svg": "".join(old + common * 3)})
    after = encode_message({"svg": "".join(new + common * times + old)})
    change = change_between(before, after)
    assert len(change) <= len(after)
    message = json.loads(change)
    assert (applied(before, message["parts"]) if "parts" in message else change) == after


@pytest.mark.thorough
def test_a_page_that_takes_nothing_holds_nobody_up_and_loses_its_line(server: Server) -> None:
    made, changes = server.make("human", "greedy", seed=4), 2 * MAX_UNSENT
    with socket.create_connection((urlsplit(server.address).hostname, urlsplit(server.address).port)) as narrow:
        narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**16)
        with (
            seated(server, made["table"], sock=narrow, max_queue=1, ping_interval=None) as (deaf, _),
            seated(server, made["table"]) as (line, view),
        ):
            while view["undo"] is None:
                if view["decisions"]:
                    decide = {"type": "decide", "number": view["number"], "action": view["decisions"][0]["id"]}
                    line.send(json.dumps(decide))
                view = until(line, lambda new: new["type"] == "table", 30)
            number = view["number"]
            for _ in range(changes // 2):
                line.send(json.dumps({"type": "undo", "number": number, "to": number - 1}))
                line.send(json.dumps(decide))
                view = until(line, lambda new: new["type"] == "table" and new["number"] == number, 30)
            taken = []
            narrow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**20)
            with suppress(ConnectionClosed):
                while True:
                    taken.append(deaf.recv(60))
            assert len(taken) < changes, "its line is closed before all was sent"
        with seated(server, made["table"]) as (_, again):
            assert again["number"] == view["number"]


def test_a_player_that_thinks_long_is_stopped_at_once_and_keeps_nobody_waiting(server: Server) -> None:
    slow = server.make("ismcts:400", "ismcts:400", seed=3, options={})
    quick = server.make("human", "greedy", seed=3)
    with seated(server, slow["table"]) as (waits, view), seated(server, quick["table"]) as (line, other):
        view = until(waits, lambda new: new["type"] == "table" and new["thinking"]) if not view["thinking"] else view
        assert view["thinking"]["player"] == "ismcts:400"
        assert decide_first(line, other)["number"] == other["number"] + 1
        waits.send(json.dumps({"type": "stop"}))
        assert until(waits, lambda new: new["type"] == "table" and new["paused"])["thinking"] is None


# -- database -----------------------------------------------------------------------------------------------


@pytest.mark.thorough
@ONE_GAME_OR_EACH_NIGHTLY
def test_whatever_kills_the_server_every_decision_that_was_shown_is_there(game: TestedGame, tmp_path: Path) -> None:
    for how in (signal.SIGKILL, signal.SIGINT if game.name == "helsinki" else signal.SIGTERM):
        with serving(tmp_path) as running:
            made = running.make("human", "human", game=game.name, seed=8)
            with seated(running, made["table"]) as (line, view):
                for _ in range(12):
                    if view["handover"] is not None:
                        line.send(json.dumps({"type": "look", "seat": view["handover"]}))
                        view = until(line, lambda new: new["type"] == "table")
                    view = decide_first(line, view)
                running.end(how)
        with serving(tmp_path) as running:
            with seated(running, made["table"]) as (_, again):
                assert (again["number"], again["seat"], again["log"]) == (12, view["seat"], view["log"])
            listed = running.ask("GET", "/api/tables")[1]
            assert listed[0]["table"] == made["table"]


@pytest.mark.thorough
def test_ctrl_c_says_how_to_go_on_and_a_taken_port_is_one_line(tmp_path: Path) -> None:
    with serving(tmp_path) as running:
        port = running.address.rpartition(":")[2]
        with pytest.raises(AssertionError, match=f"--port {port}: cannot listen") as caught:
            Server("--port", port, data=tmp_path / "other")
        assert "Traceback" not in str(caught.value)
        assert running.end() == 130
        assert running.process.stderr is not None
        assert "tables saved in" in running.process.stderr.read()


@pytest.mark.parametrize("players", ["human", "human,human,human,human,human"])
def test_there_are_two_to_four_seats(players: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", "--players", players, "--data", str(tmp_path / "tables")]) == 2
    assert f"number of --players: found {players.count(',') + 1}, expected 2, 3 or 4" in capsys.readouterr().err
    assert not (tmp_path / "tables").exists()


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--port", "70000"], "--port: found 70000, expected 0 to 65535"),
        (["--players", "humn,greedy"], "found an unknown name, expected one of human, random, "),
        (["--players", "humn,greedy"], "; did you mean 'human'?"),
    ],
)
def test_arguments_are_checked_before_the_rules_are_compiled(
    words: list[str], error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(play, "precompile_groups", lambda groups: pytest.fail("compiles first"))
    assert main(["play", *words, "--data", str(tmp_path / "tables")]) == 2
    assert error in capsys.readouterr().err


def test_an_option_of_the_game_starts_a_game(tmp_path: Path) -> None:
    with serving(tmp_path, "--game", "copenhagen", "--seed", "5") as running:
        name = running.page.rpartition("/")[2]
        store = TableStore(tmp_path)
        table = store.load(name)
        store.close()
    assert spec_of(table.config).name == "copenhagen"
    assert table.seed == 5
    assert [(chair.player, chair.name) for chair in table.chairs] == [
        ("human", "Player 1"),
        ("heuristic", "heuristic"),
    ]


# -- hidden information ---------------------------------------------------------------------------------------


def _sent(table: GameTable, viewer: int) -> str:
    """Return everything sent to the page of a seat, as text."""
    view = table_view(
        table, (viewer,), viewer, None, None, None, lambda v: picture(table, v), lambda: choices(table.game)
    )
    return json.dumps(view)


@EACH_GAME
def test_what_is_sent_is_the_same_whatever_is_hidden(game: TestedGame) -> None:
    """Another deal of everything hidden changes no byte sent to a seat."""
    looked = differed = 0
    for table, rng in sampled_tables(game):
        kept, viewer = table.game, int(rng.integers(table.game.num_players))
        sent = _sent(table, viewer)
        table.game = determinize(kept, viewer, seed=int(rng.integers(2**62)))
        differed += table.game != kept
        assert _sent(table, viewer) == sent
        looked, table.game = looked + 1, kept
    assert looked > 30
    assert differed > 0.9 * looked


# -- invalid requests ----------------------------------------------------------------------------------------

_CHAIRS = [{"player": "human"}, {"player": "greedy"}]
_WRONG_TABLES: list[tuple[Any, str]] = [
    (b"", "body"),
    (b"{", "JSON"),
    (b"[]", "found"),
    (b"\xff\xfe", "found"),
    ({}, "chairs"),
    ({"chairs": []}, "chairs"),
    ({"chairs": _CHAIRS[:1]}, "chairs"),
    ({"chairs": _CHAIRS * 3}, "chairs"),
    ({"chairs": "human,greedy"}, "chairs"),
    ({"chairs": [1, 2]}, "chairs.0"),
    ({"chairs": [{"player": "nobody"}, {}]}, "chairs.0.player: found 'nobody'"),
    ({"chairs": [{"player": "net:/etc/passwd"}, {}]}, "chairs.0.player"),
    ({"chairs": [{"player": "net:../../x"}, {}]}, "chairs.0.player"),
    ({"chairs": [{"player": ""}, {}]}, "chairs.0.player"),
    ({"chairs": [{"player": "x" * 100}, {}]}, "chairs.0.player"),
    ({"chairs": [{"player": "human", "name": "n" * 41}, {}]}, "chairs.0.name"),
    ({"chairs": [{"player": "human", "more": 1}, {}]}, "chairs.0.more"),
    ({"chairs": _CHAIRS, "game": "chess"}, "game"),
    ({"chairs": _CHAIRS, "game": "../copenhagen"}, "game"),
    ({"chairs": _CHAIRS, "game": 7}, "game"),
    ({"chairs": _CHAIRS, "seed": -1}, "seed"),
    ({"chairs": _CHAIRS, "seed": 2**64}, "seed"),
    ({"chairs": _CHAIRS, "seed": "one"}, "seed"),
    ({"chairs": _CHAIRS, "seed": 1.5}, "seed"),
    ({"chairs": _CHAIRS, "sharing": "all"}, "sharing"),
    ({"chairs": _CHAIRS, "title": "t" * 61}, "title"),
    ({"chairs": _CHAIRS, "title": None}, "title"),
    ({"chairs": _CHAIRS, "options": {"components": "/etc/passwd"}}, "components: found '/etc/passwd'"),
    ({"chairs": _CHAIRS, "options": {"num_players": 4}}, "options: found 'num_players'"),
    ({"chairs": _CHAIRS, "options": {"covered": "all"}}, "covered"),
    ({"chairs": _CHAIRS, "options": {"covered": ["none"]}}, "covered"),
    ({"chairs": _CHAIRS, "options": {"dry_roads": "yes"}}, "dry_roads"),
    ({"chairs": _CHAIRS, "options": []}, "options"),
    ({"chairs": _CHAIRS, "more": 1}, "more"),
]


@pytest.mark.parametrize("number", range(len(_WRONG_TABLES)))
def test_tables_that_cannot_be_made(number: int, server: Server) -> None:
    body, message = _WRONG_TABLES[number]
    before = server.ask("GET", "/api/tables")[1]
    status, answer, _ = server.ask("POST", "/api/tables", body)
    assert 400 <= status < 500, answer
    assert message in answer["error"]
    assert server.ask("GET", "/api/tables")[1] == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/nothing", 404),
        ("GET", "/tables/../../etc/passwd", 404),
        ("GET", "/static/../server.py", 404),
        ("GET", "/static/%2e%2e/server.py", 404),
        ("GET", "/static/..%2f..%2fcli.py", 404),
        ("GET", "/static//etc/passwd", 404),
        ("GET", "/static/%00", 404),
        ("POST", "/", 405),
        ("PUT", "/api/tables", 405),
        ("DELETE", "/api/tables/none", 404),
        ("DELETE", "/api/tables/..%2f..", 404),
        ("GET", "/docs", 404),
        ("TRACE", "/api/tables", 405),
        ("GET", "/api/tournaments/none", 404),
        ("GET", "/api/tournaments/..%2f..", 404),
        ("GET", "/api/tournaments/none/games/0", 404),
        ("GET", "/api/tournaments/none/games/-1", 422),
        ("GET", "/api/tournaments/none/games/one", 422),
        ("GET", "/api/tournaments/none/games/" + "9" * 30, 422),
        ("POST", "/api/tournaments/none/pause", 404),
        ("PUT", "/api/tournaments/none", 405),
        ("DELETE", "/api/tournaments", 405),
    ],
)
def test_addresses_that_lead_nowhere(method: str, path: str, status: int, server: Server) -> None:
    found, answer, _ = server.ask(method, path)
    assert found == status, answer
    assert answer


@pytest.mark.parametrize("path", ["/tables/none", "/analysis/none", "/tournaments/none", "/nothing", "/tables/a/b"])
def test_a_page_that_is_not_there_says_where_to_go(path: str, server: Server) -> None:
    status, page, headers = server.ask("GET", path, headers={"accept": "text/html,*/*"})
    assert (status, headers["content-type"].partition(";")[0]) == (404, "text/html")
    assert 'href="/"' in page
    status, answer, _ = server.ask("GET", f"/api{path}/none", headers={"accept": "text/html,*/*"})
    assert (status, [*answer]) == (404, ["error"])


def test_the_page_of_a_table_is_there_as_long_as_the_table(server: Server) -> None:
    name = server.make("human", "human")["table"]
    status, page, _ = server.ask("GET", f"/tables/{name}")
    assert (status, "table.js" in page) == (200, True)
    assert server.ask("DELETE", f"/api/tables/{name}")[0] == 200
    assert server.ask("GET", f"/tables/{name}")[0] == 404


def test_lists_are_sent_in_parts(tmp_path: Path) -> None:
    def listed(what: str, query: str = "") -> tuple[list[Any], int]:
        status, found, headers = running.ask("GET", f"/api/{what}{query}")
        assert status == 200, found
        return [one[what[:-1]] for one in found], int(headers["x-total-count"])

    with serving(tmp_path) as running:
        record = next(play_match(["random", "random"], games=2, seed=5).records()).to_json()
        for _ in range(7):
            running.make("human", "human")
            assert running.ask("POST", "/api/records", record.encode())[0] == 201
            made = running.ask("POST", "/api/tournaments", {"players": ["random", "greedy"], "games": 10})
            assert made[0] == 201, made
        for what in ("tables", "records", "tournaments"):
            names, total = listed(what)
            assert (len(names), total) == (7, 7)
            assert listed(what, "?limit=3") == (names[:3], 7)
            assert listed(what, "?offset=3&limit=3") == (names[3:6], 7)
            assert listed(what, "?offset=6") == (names[6:], 7)
            assert listed(what, "?offset=100") == ([], 7)
            for query in ("limit=0", "limit=10001", "offset=-1", f"offset={2**31}", "offset=a", f"limit={'9' * 500}"):
                assert running.ask("GET", f"/api/{what}?{query}")[0] == 422


def test_foreign_hosts_pages_and_huge_bodies_are_turned_away(server: Server) -> None:
    for headers, status, message in (
        ({"host": "evil.example"}, 400, "host: found 'evil.example'"),
        ({"host": "evil.example:80@localhost"}, 400, "host: found"),
        ({"origin": "http://evil.example"}, 403, "origin: found 'http://evil.example'"),
        ({"origin": "null"}, 403, "origin: found 'null'"),
        ({"content-length": "70000"}, 413, "body: found 70000 bytes"),
    ):
        body = b"x" * 70000 if "content-length" in headers else {"chairs": _CHAIRS}
        found, answer, _ = server.ask("POST", "/api/tables", body, headers)
        assert (found, message in answer["error"]) == (status, True), answer
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}):
        with pytest.raises(InvalidStatus), seated(server, "t", additional_headers=headers):
            pass


def test_every_answer_forbids_what_pages_need_not(server: Server) -> None:
    for path in ("/", "/api/games", "/api/nothing", "/tables/x", "/static/nothing.js"):
        _, _, headers = server.ask("GET", path)
        said = {name.lower(): value for name, value in headers.items()}
        assert "default-src 'self'" in said["content-security-policy"]
        assert "unsafe" not in said["content-security-policy"]
        assert (said["x-content-type-options"], said["referrer-policy"]) == ("nosniff", "no-referrer")
        assert "set-cookie" not in said


_WRONG_MESSAGES: list[tuple[Any, str]] = [
    ("", "JSON"),
    ("{", "JSON"),
    ("[]", "found"),
    ("7", "found"),
    ('"decide"', "found"),
    ("null", "found"),
    ("[" * 5000, "more than 40 nested lists"),
    ("9" * 5000, "found"),
    ("{}", "type"),
    ({"type": None}, "type"),
    ({"type": "cheat"}, "type: found 'cheat'"),
    ({"type": ["decide"]}, "type"),
    ({"type": "__init__"}, "type"),
    ({"type": "decide"}, "number"),
    ({"type": "decide", "number": 0}, "action"),
    ({"type": "decide", "number": -1, "action": 0}, "number"),
    ({"type": "decide", "number": "0", "action": 0}, "number"),
    ({"type": "decide", "number": True, "action": 0}, "number"),
    ({"type": "decide", "number": 0.5, "action": 0}, "number"),
    ({"type": "decide", "number": 10**9, "action": 0}, "number"),
    ({"type": "decide", "number": 1, "action": 0}, "number: found 1, expected 0"),
    ({"type": "decide", "number": 0, "action": 500}, "legal"),
    ({"type": "decide", "number": 0, "action": 10**5}, "does not exist"),
    ({"type": "decide", "number": 0, "action": None}, "action"),
    ({"type": "decide", "number": 0, "action": 0, "seat": 1}, "seat"),
    ({"type": "undo", "number": 0, "to": 0}, "cannot be undone"),
    ({"type": "undo", "number": 3, "to": 0}, "number"),
    ({"type": "undo", "number": 0}, "to"),
    ({"type": "takeback", "number": 0, "to": 0}, "cannot be taken back"),
    ({"type": "takeback", "number": 0, "to": 99}, "cannot be taken back"),
    ({"type": "look", "seat": 1}, "expected one of yours"),
    ({"type": "look", "seat": 9}, "expected one of yours"),
    ({"type": "look"}, "seat"),
    ({"type": "evaluate", "number": 0}, "deeper"),
    ({"type": "evaluate", "number": 0, "deeper": 10**9}, "deeper"),
    ({"type": "evaluate", "number": 0, "deeper": -1}, "deeper"),
    ({"type": "evaluate", "number": 0, "deeper": 99}, "deeper: found 99, expected 0 or one of 25"),
    ({"type": "cancel", "number": 0}, "number"),
    ({"type": "sit", "key": "x"}, "sit"),
    ({"type": "pace", "milliseconds": -1}, "milliseconds"),
    ({"type": "pace"}, "milliseconds"),
    ({"type": "explain"}, "number"),
    ({"type": "explain", "number": 0}, "spot: found ''"),
    ({"type": "explain", "number": 0, "spot": "cell 9 9"}, "spot: found 'cell 9 9'"),
    ({"type": "stop", "number": 1, "x": "<script>"}, "x"),
    (b"\x00\x01", "binary"),
    (b"", "binary"),
    (json.dumps({"type": "sit", "key": "k" * 2000}), "key"),
]


def test_wrong_messages_are_answered_with_a_sentence_and_change_nothing(server: Server) -> None:
    made = server.make("human", "greedy", seed=2)
    with seated(server, made["table"]) as (line, view):
        assert view["seat"] == 0
        for message, expected in _WRONG_MESSAGES:
            line.send(message if isinstance(message, str | bytes) else json.dumps(message))
            answer = until(line, lambda _: True)
            assert answer["type"] == "error", (message, answer)
            assert expected in answer["message"], (message, answer)
            assert len(answer["message"]) < 2000
    with seated(server, made["table"]) as (_, again):
        assert again == view


@pytest.mark.parametrize(
    "first",
    [{"type": "decide", "number": 0, "action": 0}, {"type": "sit", "key": "wrong"}, "", "{", b"\x00"],
    ids=["decides", "key", "empty", "JSON", "binary"],
)
def test_who_does_not_say_who_it_is_gets_nothing(first: Any, server: Server) -> None:
    from websockets.sync.client import connect

    made = server.make("human", "greedy", sharing="links")
    url = server.address.replace("http", "ws") + f"/ws/tables/{made['table']}"
    with connect(url, proxy=None) as line:
        line.send(first if isinstance(first, str | bytes) else json.dumps(first))
        assert json.loads(line.recv(10))["type"] == "refused"
        with pytest.raises(ConnectionClosed):
            line.recv(10)


def test_a_huge_message_ends_its_page_alone(server: Server) -> None:
    made = server.make("human", "greedy")
    with seated(server, made["table"]) as (line, _):
        line.send("x" * 100_000)
        with pytest.raises(ConnectionClosed):
            until(line, lambda _: False)
    with seated(server, made["table"]) as (_, view):
        assert view["number"] == 0


def test_names_are_text_and_nothing_else(server: Server) -> None:
    evil = '<img src=x onerror="alert(1)">'
    status, made, _ = server.ask(
        "POST", "/api/tables", {"title": evil, "chairs": [{"player": "human", "name": evil}, {"player": "greedy"}]}
    )
    assert status == 201
    with seated(server, made["table"]) as (_, view):
        assert (view["name"], view["seats"][0]["name"]) == (verbatim(evil), verbatim(evil))
        assert "onerror" not in view["svg"]


# -- other machines ------------------------------------------------------------------------------------------


def check_token(running: Server) -> None:
    assert "#token=" in running.page
    token = running.page.partition("#token=")[2]
    for headers in ({}, {"authorization": "Bearer wrong"}, {"authorization": token}):
        status, answer, _ = running.ask("GET", "/api/tables", headers=headers)
        assert (status, "token" in answer["error"]) == (401, True)
    known = {"authorization": f"Bearer {token}"}
    assert running.ask("GET", "/api/tables", headers=known)[0] == 200
    made = running.ask("POST", "/api/tables", {"chairs": _CHAIRS}, known)[1]
    with seated(running, made["table"]) as (_, refused):
        assert refused["type"] == "refused"
    assert token not in "".join(map(str, made.values()))


@pytest.mark.parametrize("host", ["0.0.0.0", pytest.param("::", marks=pytest.mark.thorough)])
def test_another_address_is_printed_and_demands_the_token(host: str, tmp_path: Path) -> None:
    if host == "::" and not socket.has_dualstack_ipv6():
        pytest.skip("this machine has no IPv6")
    with serving(tmp_path, "--host", host) as running:
        assert urlsplit(running.page).hostname == {"0.0.0.0": "127.0.0.1", "::": "::1"}[host]
        assert running.ask("GET", "/")[0] == 200
        assert running.process.stdout is not None
        others = running.process.stdout.readline()
        assert others.startswith("From other machines: http://")
        assert urlsplit(others.split()[-1]).hostname not in (host, None)
        assert running.page.rpartition("#")[2] == others.strip().rpartition("#")[2]
        check_token(running)


# -- limits -------------------------------------------------------------------------------------------------


def opened(server: Server) -> socket.socket:
    return socket.create_connection((urlsplit(server.address).hostname, urlsplit(server.address).port))


@pytest.mark.thorough
def test_connections_that_ask_for_nothing_are_closed(server: Server) -> None:
    begun = b"POST /api/tables HTTP/1.1\r\nHost: localhost\r\n"
    whole = b"GET /api/games HTTP/1.1\r\nHost: localhost\r\n\r\n"
    waiting = [opened(server) for _ in range(30)]
    for number, one in enumerate(waiting):
        one.settimeout(4 * REQUEST_TIMEOUT)
        one.sendall((b"", begun, whole + begun)[number % 3])
    for one in waiting:
        with one, suppress(ConnectionResetError):
            while one.recv(2**16):
                pass
    assert server.ask("GET", "/api/games")[0] == 200


def is_closed(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_there_is_an_end_to_connections(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, before[1]))
    try:
        running = Server(data=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    try:
        many = [opened(running) for _ in range(150)]
        deadline = time.monotonic() + PATIENCE
        while (closed := sum(map(is_closed, many))) < 50 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert closed == 50
        for one in many:
            one.close()
        assert running.ask("GET", "/api/games")[0] == 200
        running.end()
        assert running.process.stderr is not None
        assert "Traceback" not in running.process.stderr.read()
    finally:
        running.process.kill()
        running.process.communicate()


def test_pages_of_a_table_have_an_end(server: Server) -> None:
    made = server.make("human", "human", seed=1)
    with ExitStack() as pages:
        for _ in range(MAX_PAGES):
            assert pages.enter_context(seated(server, made["table"]))[1]["type"] == "table"
        with seated(server, made["table"]) as (_, refused):
            assert refused["type"] == "refused"
            assert f"found {MAX_PAGES} of this table" in refused["message"]
    with seated(server, made["table"]) as (_, view):
        assert view["type"] == "table"


# -- message sizes -------------------------------------------------------------------------------------------


@pytest.mark.thorough
@EACH_GAME
def test_a_decision_takes_a_tenth_of_the_table(game: TestedGame, server: Server) -> None:
    made = server.make("human", "greedy", game=game.name, seed=11)
    with seated(server, made["table"]) as (line, view):
        whole = line.bytes
        line.send(json.dumps({"type": "pace", "milliseconds": 0}))
        while not view["done"]:
            if view["decisions"]:
                view = decide_first(line, view)
            else:
                view = until(line, lambda new: new["type"] == "table")
        assert (line.bytes - whole) / view["number"] < whole / 10


def test_a_page_that_joins_costs_the_others_nothing(server: Server) -> None:
    made = server.make("human", "greedy", seed=3)
    with seated(server, made["table"]) as (line, view), ExitStack() as others:
        whole = line.bytes
        for _ in range(40):
            _, same = others.enter_context(seated(server, made["table"]))
            assert same == view
        line.send('{"type": "go"}')
        line.send('{"type": "none"}')
        assert until(line, lambda _: True)["type"] == "error", "nothing was sent before that"
        assert line.bytes - whole < 300


def test_a_page_that_joins_later_knows_how_long_a_player_has_been_thinking(server: Server) -> None:
    made = server.make("ismcts:400", "ismcts:400", seed=3)
    with seated(server, made["table"]) as (line, view):
        line.send(json.dumps({"type": "pace", "milliseconds": 10_000}))
        if not view["thinking"]:
            view = until(line, lambda new: new["type"] == "table" and new["thinking"])
        time.sleep(1.0)
        with seated(server, made["table"]) as (other, _):
            assert until(other, lambda new: new["type"] == "clock")["seconds"] > 0.4

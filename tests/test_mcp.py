"""`helsinki mcp` with the SDK's own client: over standard input and output, over HTTP, and in this process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from helsinki_env import HelsinkiConfig, HelsinkiGame
from helsinki_env.cli.main import main
from helsinki_env.engine.determinization import determinize
from helsinki_env.mcp.seats import MAX_CONNECTED, seat_code
from helsinki_env.mcp.server import protocol_server
from helsinki_env.mcp.tools import MAX_ANALYSES, MAX_EVALUATIONS, TOOLS, TableTools
from helsinki_env.notation import to_dict
from helsinki_env.records import Record, replay
from helsinki_env.text import rules
from helsinki_env.web.player_workers import PlayerPool
from helsinki_env.web.sessions import PageConnection, TableSession, TableSessions
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError
from tests.games import EACH_GAME, GAMES, ONE_GAME_OR_EACH_NIGHTLY, TestedGame
from tests.support.mutated_text import mutated_text
from tests.support.server import ROOT, Server, decide_first, killed_at_the_end, seated
from tests.test_text import some_positions

TOKEN = "a-token-for-tests-0123456789"
KEYS = tuple(letter * 22 for letter in "ABCD")
#: An error is one sentence or several on what was found, without a trace of the program.
ERROR = re.compile(r"[^\n]{1,120}?: \S.*", re.DOTALL)


def command(*options: str) -> list[str]:
    return [sys.executable, "-m", "helsinki_env.cli.main", "mcp", *options]


def environment(**more: str) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)} | more


def stdio(data: Path) -> StdioServerParameters:
    executable, *arguments = command("--data", str(data))
    return StdioServerParameters(command=executable, args=arguments, env=environment())


class Http(Server):
    """A server over HTTP: `address` of its pages and of the protocol, `/mcp`."""

    def __init__(self, data: Path) -> None:
        self.process = subprocess.Popen(
            command("--http", "--data", str(data)),
            stderr=subprocess.PIPE,
            text=True,
            env=environment(HELSINKI_MCP_TOKEN=TOKEN),
            start_new_session=True,
        )
        assert self.process.stderr is not None
        self.printed = ""
        while "protocol at" not in self.printed:
            line = self.process.stderr.readline()
            assert line, self.printed
            self.printed += line
        found = re.search(r"pages at (http://\S+)", self.printed)
        assert found
        self.address = found[1]

    @asynccontextmanager
    async def client(self, token: str = TOKEN) -> AsyncIterator[Client]:
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(f"{self.address}/mcp", http_client=http)) as client,
        ):
            yield client


@contextmanager
def over_http(data: Path) -> Iterator[Http]:
    server = Http(data)
    with killed_at_the_end(server.process):
        yield server


class InProcess:
    """The tools of a server in this process, with its tables."""

    def __init__(self, folder: Path) -> None:
        self.store, self.pool = TableStore(folder), PlayerPool()
        self.sessions = TableSessions(self.store, self.pool)
        self.tools = TableTools(self.sessions, self.pool, "http://localhost:1")

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        try:
            async with Client(protocol_server(lambda: self.tools)) as client:
                yield client
        finally:
            await self.sessions.close()
            self.pool.close()
            self.store.close()


async def call(client: Client, tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    """Text and data of an answer, which must not be an error."""
    found = await client.call_tool(tool, arguments)
    assert not found.is_error, found.content
    return found.content[0].text, found.structured_content


async def error(client: Client, tool: str, **arguments: Any) -> str:
    found = await client.call_tool(tool, arguments)
    assert found.is_error, found.content
    assert len(found.content) == 1
    return str(found.content[0].text)


async def new_table(client: Client, *players: str, **more: Any) -> list[dict[str, Any]]:
    """The seats of a new table."""
    seats: list[dict[str, Any]] = (await call(client, "new_table", players=list(players), **more))[1]["seats"]
    return seats


async def play(
    client: Client, seats: list[str], rng: random.Random, most: int = 10_000, read: list[str] | None = None
) -> int:
    """Play seats by random actions, given as id, words or notation; return their number and collect the events."""
    taken = 0
    state: dict[str, Any] = {"done": False}
    while not state["done"] and taken < most:
        for seat in seats:
            _, state = await call(client, "legal_actions", seat=seat)
            if not state["your_turn"]:
                _, state = await call(client, "observe", seat=seat, wait=0 if len(seats) > 1 else 30)
                continue
            one = rng.choice(state["actions"])
            action = one[rng.choice(("id", "words", "notation"))]
            wait = 0 if len(seats) > 1 else 30
            _, state = await call(client, "act", seat=seat, action=action, number=state["number"], wait=wait)
            taken += 1
            if read is not None:
                read += state["events"]
    return taken


async def end_turn(client: Client, seat: str, rng: random.Random) -> int:
    """Take random actions until the turn ends; return the number of actions of the table."""
    _, state = await call(client, "legal_actions", seat=seat)
    while state["your_turn"]:
        action = rng.choice(state["actions"])["id"]
        await call(client, "act", seat=seat, action=action, wait=0)
        _, state = await call(client, "legal_actions", seat=seat)
    return int(state["number"])


def test_nothing_of_it_is_loaded_with_the_package() -> None:
    loaded = "import sys, helsinki_env; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True).stdout.split()
    assert not {"mcp", "mcp_types", "fastapi", "helsinki_env.mcp"} & set(found)


# whole games


@pytest.mark.thorough
@ONE_GAME_OR_EACH_NIGHTLY
def test_a_whole_game_over_standard_input_and_output(game: TestedGame, tmp_path: Path) -> None:
    async def played() -> None:
        async with Client(stdio(tmp_path)) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*TOOLS]
            assert f"{game.name}: 2 to 4 players." in (await call(client, "games"))[0]
            players = [
                entry["seat"]
                for entry in await new_table(client, "you", "greedy", game=game.name, title="")
                if "seat" in entry
            ]
            text, data = await call(client, "rules", seat=players[0])
            assert text == data["rules"] == (await call(client, "rules", seat=players[0], game=""))[0]
            assert text == (await call(client, "rules", seat="", game=game.name))[0]
            assert text == rules(game.spec.config()) == (await call(client, "rules", game=game.name))[0]
            text, data = await call(client, "observe", seat=players[0])
            assert text == f"{data['position']}\nIt is your turn."
            begin = (await call(client, "history", seat=players[0]))[1]["events"]
            read: list[str] = []  # from the answers of act alone
            taken = await play(client, players, random.Random(1), read=read)
            text, result = await call(client, "result", seat=players[0])
            record = Record.from_json(result["record"])
            assert replay(record).done
            assert record.players[1] == "greedy"
            assert taken == len(record.decisions) - sum(one.seat == 1 for one in steps(record))
            assert sorted(result["ranks"])[0] == 0
            assert f"{result['scores'][0]} points" in text
            assert [*begin, *read] == (await call(client, "history", seat=players[0]))[1]["events"]
            _, seen = await call(client, "history", seat=players[0])
            _, rest = await call(client, "history", seat=players[0], since=5)
            assert seen["events"][-len(rest["events"]) :] == rest["events"]
            assert "Evaluator: net" in (await call(client, "analyze", record=result["record"]))[0]
            assert "game is over" in await error(client, "act", seat=players[0], action=0)

    asyncio.run(played())


def steps(record: Record) -> list[Any]:
    from helsinki_env.records import replay_steps

    return [game for game, action in replay_steps(record) if action is not None]


@pytest.mark.thorough
def test_two_clients_at_one_table_over_http_and_a_person_who_watches(tmp_path: Path) -> None:
    async def played(server: Http, game: str) -> None:
        async with server.client() as one, server.client() as other:
            first, second = await new_table(one, "you", "you", game=game, seed=3)
            table, key = first["seat"].split(".")
            assert first["page"] == f"{server.address}/tables/{table}#key={key}"
            rng = random.Random(2)
            waiting = asyncio.create_task(call(other, "observe", seat=second["seat"], wait=30))
            await end_turn(one, first["seat"], rng)
            text, state = await waiting
            assert state["your_turn"]
            assert text.endswith("It is your turn.")
            clients = {first["seat"]: one, second["seat"]: other}
            while not state["done"]:
                for seat, client in clients.items():
                    _, state = await call(client, "legal_actions", seat=seat)
                    if state["actions"]:
                        action = rng.choice(state["actions"])["id"]
                        _, state = await call(client, "act", seat=seat, action=action, wait=0)
            results = [(await call(client, "result", seat=seat))[1] for seat, client in clients.items()]
            assert results[0]["record"] == results[1]["record"]
            with seated(server, table, key) as (_, view):
                assert view["number"] == state["number"]
                assert (view["mine"], view["done"]) == ([0], True)

    with over_http(tmp_path) as server:
        for game in GAMES:
            asyncio.run(played(server, game.name))
        assert server.end() == 130
        assert TOKEN not in server.printed


@pytest.mark.thorough
def test_a_person_plays_in_the_browser_with_a_client(tmp_path: Path) -> None:
    async def played(server: Http) -> None:
        async with server.client() as client:
            mine, person = await new_table(client, "you", "human", seed=5)
            assert "seat" not in person
            table, key = re.findall(r"tables/(\w+)#key=(\S+)", person["page"])[0]
            number = await end_turn(client, mine["seat"], random.Random(1))
            waiting = asyncio.create_task(call(client, "observe", seat=mine["seat"], wait=30))
            number = await asyncio.to_thread(person_ends_turn, server, table, key, number)
            _, state = await waiting
            assert (state["number"], state["your_turn"]) == (number, True)

    def person_ends_turn(server: Http, table: str, key: str, number: int) -> int:
        with seated(server, table, key) as (line, view):
            assert view["number"] == number
            while view["decisions"]:
                view = decide_first(line, view)
            return int(view["number"])

    with over_http(tmp_path) as server:
        asyncio.run(played(server))


@pytest.mark.nightly
def test_tables_are_those_of_the_browser_and_go_on_in_another_process(tmp_path: Path) -> None:
    async def begun() -> str:
        async with Client(stdio(tmp_path)) as client:
            seat = (await new_table(client, "you", "random", title="Tuesday", seed=1))[0]["seat"]
            await play(client, [seat], random.Random(1), most=3)
            return str(seat)

    async def resumed(seat: str) -> None:
        async with Client(stdio(tmp_path)) as one, Client(stdio(tmp_path)) as other:
            before = (await call(one, "observe", seat=seat, wait=30))[0]
            assert (await call(other, "observe", seat=seat, wait=30))[0] == before
            await play(one, [seat], random.Random(1), most=2)
            assert (await call(one, "observe", seat=seat))[0] == (await call(other, "observe", seat=seat))[0]
            await play(other, [seat], random.Random(3))
            assert "The game is over." in (await call(one, "observe", seat=seat))[0]

    seat = asyncio.run(begun())
    store = TableStore(tmp_path)
    (entry,) = store.all()
    assert (entry.name, entry.title) == (seat.partition(".")[0], "Tuesday")
    store.close()
    asyncio.run(resumed(seat))


# what is rejected


@pytest.mark.thorough
def test_the_protocol_needs_the_token_over_http(tmp_path: Path) -> None:
    with over_http(tmp_path) as server:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
        accept = {"accept": "application/json, text/event-stream"}
        for sent in (
            {},
            {"authorization": "Bearer wrong"},
            {"authorization": TOKEN},
            {"authorization": f"Basic {TOKEN}"},
        ):
            for path in ("/mcp", "/mcp/"):
                status, answer, _ = server.ask("POST", path, body, accept | sent)
                assert status == 401
                assert "token: missing or wrong" in answer["error"]
        right = accept | {"authorization": f"Bearer {TOKEN}"}
        assert server.ask("POST", "/mcp", body, right | {"host": "evil.example"})[0] == 400
        assert server.ask("POST", "/mcp", body, right | {"origin": "http://evil.example"})[0] == 403
        assert server.ask("POST", "/mcp", b"x" * 70_000, right)[0] == 413
        for garbage in (b"", b"{", b"[]", b"\xff\xfe", b'{"jsonrpc": "2.0"}', b"[" * 30_000, b'{"a": 1e999}'):
            assert 400 <= server.ask("POST", "/mcp", garbage, right)[0] < 500
        assert server.ask("GET", "/api/tables")[:2] == (200, [])


@pytest.mark.thorough
def test_garbage_on_standard_input_ends_nothing(tmp_path: Path) -> None:
    lines = [b"", b"{", b"[]", b"\xff\xfe", b"null", b'{"jsonrpc": "2.0"}', b"[" * 30_000]
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"},
        },
    }
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    asked = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "rules", "arguments": {}}}
    with subprocess.Popen(
        command("--data", str(tmp_path)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(json.dumps(hello).encode() + b"\n" + json.dumps(ready).encode() + b"\n")
        process.stdin.write(b"\n".join(lines) + b"\n" + json.dumps(asked).encode() + b"\n")
        process.stdin.flush()
        answers: dict[Any, Any] = {}
        while 2 not in answers:
            answer = json.loads(process.stdout.readline())  # every line is a message of the protocol
            answers[answer.get("id")] = answer
        assert answers[2]["result"]["content"][0]["text"].startswith("Rules of ")
        process.stdin.close()
        assert process.wait(60) == 0
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()


@pytest.mark.parametrize(
    ("tool", "arguments", "expected"),
    [
        ("nothing", {}, "tool: found 'nothing'"),
        ("observe", {}, "seat: found nothing"),
        ("observe", {"seat": 5}, "seat: found 5"),
        ("observe", {"seat": f"0123456789ab.{KEYS[0]}"}, "seat: found the code of no seat"),
        ("observe", {"seat": "SEAT", "wait": 61}, "wait: found 61"),
        ("observe", {"seat": "SEAT", "card": 1}, "card: no such key (found 1)"),
        ("act", {"seat": "SEAT"}, "action: found nothing"),
        ("act", {"seat": "SEAT", "action": True}, "action: found True"),
        ("act", {"seat": "SEAT", "action": -4}, "action: found -4"),
        ("act", {"seat": "SEAT", "action": "-4"}, "action: found '-4'"),
        ("act", {"seat": "SEAT", "action": "fly"}, "action: found 'fly', which is not a legal action now"),
        ("act", {"seat": "SEAT", "action": 10**5000}, "action: found 'a number of 16,610 bits'"),
        ("act", {"seat": "SEAT", "action": 0, "number": 7}, "number: found 7"),
        ("act", {"seat": "OTHER", "action": 0}, "seat: It is the turn of player 0"),
        ("history", {"seat": "SEAT", "since": 1}, "since: found 1"),
        ("evaluate_position", {"seat": "OTHER"}, "evaluate: it is the turn of"),
        ("evaluate_position", {"seat": "SEAT", "simulations": 3}, "simulations: found 3"),
        ("analyze", {"record": "{"}, "record"),
        ("new_table", {"players": ["greedy", "random"]}, "players: found ['greedy', 'random']"),
        ("new_table", {"players": ["you"]}, "players: found ['you']"),
        ("new_table", {"players": ["you", "program:rm"]}, "players[1]: found 'program:rm'"),
        ("new_table", {"game": "chess"}, "game: found 'chess'"),
        ("new_table", {"options": {"dice": 1}}, "options: found 'dice'"),
        ("new_table", {"seed": -1}, "seed: found -1"),
        ("new_table", {"seed": 1, "rated": True}, "seed: found 1"),
    ],
)
def test_errors_say_what_was_found_and_what_is_expected(
    tool: str, arguments: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    async def rejected() -> None:
        server = InProcess(tmp_path)
        async with server.client() as client:
            seats = {"SEAT": (entries := await new_table(client, "you", "you"))[0]["seat"], "OTHER": entries[1]["seat"]}
            sent = {
                key: seats.get(value, value) if isinstance(value, str) else value for key, value in arguments.items()
            }
            assert (await error(client, tool, **sent)).startswith(expected)
            assert len(server.store) == 1

    asyncio.run(rejected())


def test_a_record_names_no_file_of_the_server(tmp_path: Path) -> None:
    """Else its error would show what is in the file."""
    secret = tmp_path / "secret.yaml"
    secret.write_text("password: xyzzy\n")
    record = json.loads(Record(HelsinkiConfig(), 1, ("a", "b"), (3,)).to_json())
    record["config"]["components"] = str(secret)

    async def rejected() -> None:
        async with InProcess(tmp_path).client() as client:
            found = await error(client, "analyze", record=json.dumps(record))
            assert found.startswith("config.components: found ")
            assert "xyzzy" not in found

    asyncio.run(rejected())


def test_the_seat_of_a_person_is_not_for_clients(tmp_path: Path) -> None:
    async def rejected() -> None:
        server = InProcess(tmp_path)
        async with server.client() as client:
            _, person = await new_table(client, "you", "human")
            table, key = re.fullmatch(r".*/tables/(\w+)#key=(\S+)", person["page"]).groups()  # type: ignore[union-attr]
            assert (await error(client, "observe", seat=f"{table}.{key}")).startswith("seat: found the code of no seat")
            assert [chair.is_person for chair in server.store.load(table).chairs] == [False, True]
            assert server.sessions._open == {}

    asyncio.run(rejected())


def test_a_table_with_the_seat_of_a_client_can_be_deleted(tmp_path: Path) -> None:
    async def deleted() -> None:
        server = InProcess(tmp_path)
        async with server.client() as client:
            seat = (await new_table(client, "you", "greedy"))[0]["seat"]
            await call(client, "observe", seat=seat)
            name = seat.partition(".")[0]
            page = PageConnection(lambda _: None, ())
            server.sessions.open(name).join(page)
            with pytest.raises(TableError, match="is open in a browser"):
                await server.sessions.remove(name)
            await server.sessions.leave(server.sessions.open(name), page)
            await server.sessions.remove(name)
            assert not server.store.has(name)
            assert "does not exist" in await error(client, "observe", seat=seat)
            with pytest.raises(TableError, match="does not exist"):
                await server.sessions.remove(name)

    asyncio.run(deleted())


def test_a_late_disconnect_leaves_a_new_session_registered(tmp_path: Path) -> None:
    async def left() -> None:
        server = InProcess(tmp_path)
        async with server.client() as client:
            name = (await new_table(client, "you", "greedy"))[0]["seat"].partition(".")[0]
            earlier = server.sessions.open(name)
            await server.sessions.leave(earlier, None)
            later = server.sessions.open(name)
            later.join(PageConnection(lambda _: None, ()))
            await server.sessions.leave(earlier, None)
            assert server.sessions.open(name) is later

    asyncio.run(left())


def test_a_player_of_the_other_game_only_is_rejected_by_new_table(tmp_path: Path) -> None:
    async def rejected() -> None:
        server = InProcess(tmp_path)
        server.tools = TableTools(server.sessions, server.pool, "http://localhost:1", players=("net:two_players",))
        async with server.client() as client:
            await new_table(client, "you", "net:two_players", game="helsinki")
            message = await error(client, "new_table", players=["you", "net:two_players"], game="copenhagen")
            assert message.startswith("players: net:two_players cannot be created: net:two_players: ")
            assert len(list(server.store.all())) == 1

    asyncio.run(rejected())


def test_a_player_must_exist_in_one_of_the_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["mcp", "--data", str(tmp_path), "--host", "192.0.2.1", "--players"]
    assert main([*words, "unknown"]) == 2
    assert "unknown" in capsys.readouterr().err
    assert main([*words, "forced:two_points:greedy"]) == 2
    assert "cannot listen" in capsys.readouterr().err  # the player was accepted


@pytest.mark.thorough
def test_a_rated_table_has_no_evaluations(tmp_path: Path) -> None:
    async def asked() -> None:
        server = InProcess(tmp_path)
        async with server.client() as client:
            seat = (await new_table(client, "you", "you"))[0]["seat"]
            text, found = await call(client, "evaluate_position", seat=seat)
            assert found["evaluator"] == "net"
            assert text.startswith("Win probability of player 0: ")
            rated = (await new_table(client, "you", "you", rated=True))[0]["seat"]
            assert "the table is rated" in await error(client, "evaluate_position", seat=rated)
            session = server.sessions.open(rated.partition(".")[0])
            with pytest.raises(TableError, match="teach: the table is rated"):
                session._on_teach(next(iter(session.pages)), {"number": 0, "action": 0})

    asyncio.run(asked())


@pytest.mark.thorough
def test_a_table_has_a_budget_of_evaluations(tmp_path: Path) -> None:
    """All seats of a table share it; another table has its own."""

    async def asked() -> None:
        server = InProcess(tmp_path)
        async with server.client() as client:
            one, two = (entry["seat"] for entry in await new_table(client, "you", "you"))
            server.tools._evaluations[one.partition(".")[0]] = MAX_EVALUATIONS - 2
            for left in (1, 0):
                assert (await call(client, "evaluate_position", seat=one))[1]["evaluations_left"] == left
            expected = f"evaluate_position: found {MAX_EVALUATIONS} evaluations of this table, expected fewer"
            assert await error(client, "evaluate_position", seat=one) == expected
            await end_turn(client, one, random.Random(1))
            assert await error(client, "evaluate_position", seat=two) == expected
            other = (await new_table(client, "you", "you"))[0]["seat"]
            await call(client, "evaluate_position", seat=other)

    asyncio.run(asked())


@pytest.mark.thorough
def test_few_games_are_analyzed_in_parallel(tmp_path: Path) -> None:
    game = HelsinkiGame(seed=1)
    decisions = []
    for _ in range(10):  # no answer comes before the first process has started
        decisions.append(int(game.legal_actions()[0]))
        game.step(decisions[-1])
    record = Record.of(game, 1, ("a", "b"), decisions).to_json()

    async def asked() -> None:
        async with InProcess(tmp_path).client() as client:
            calls = (client.call_tool("analyze", {"record": record}) for _ in range(MAX_ANALYSES + 1))
            answers = await asyncio.gather(*calls)
            (rejected,) = (one for one in answers if one.is_error)
            assert rejected.content[0].text.startswith(f"analyze: found {MAX_ANALYSES} analyses in progress")
            await call(client, "analyze", record=record)

    asyncio.run(asked())


def test_a_full_server_rejects_new_seats_and_keeps_those_in_use(tmp_path: Path) -> None:
    async def played() -> None:
        async with InProcess(tmp_path).client() as client:
            first, second = (entry["seat"] for entry in await new_table(client, "you", "you", seed=1))
            waiting = asyncio.create_task(call(client, "observe", seat=second, wait=60))
            tables = [await new_table(client, "you", "you", "you", "you") for _ in range(MAX_CONNECTED // 4)]
            seats = [first, *(entry["seat"] for table in tables for entry in table)]
            for seat in seats[: MAX_CONNECTED - 1]:
                await call(client, "observe", seat=seat)
            expected = f"seat: found {MAX_CONNECTED} connected seats of unfinished games"
            assert (await error(client, "observe", seat=seats[-1])).startswith(expected)
            await end_turn(client, first, random.Random(1))
            assert (await waiting)[1]["your_turn"], "the second seat is still connected"
            await play(client, [first, second], random.Random(1))
            await call(client, "observe", seat=seats[-1])

    asyncio.run(played())


def test_an_idle_seat_gives_way_and_connects_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helsinki_env.mcp.seats.MAX_CONNECTED", 1)

    async def played() -> None:
        async with InProcess(tmp_path).client() as client:
            first, second = [(await new_table(client, "you", "greedy"))[0]["seat"] for _ in range(2)]
            await call(client, "observe", seat=first)
            assert "idle for ten minutes" in await error(client, "observe", seat=second)
            monkeypatch.setattr("helsinki_env.mcp.seats.MAX_IDLE", 0.0)
            for seat in (second, first, second):
                await call(client, "observe", seat=seat, wait=60)
                await end_turn(client, seat, random.Random(1))

    asyncio.run(played())


def test_concurrent_calls_for_a_seat_connect_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("helsinki_env.mcp.seats.MAX_CONNECTED", 1)
    monkeypatch.setattr("helsinki_env.mcp.seats.MAX_IDLE", 0.0)

    async def played() -> None:
        server = InProcess(tmp_path)
        leave = server.sessions.leave

        async def slow_leave(session: TableSession, page: Any) -> None:
            await asyncio.sleep(0)  # as if a player of the table had to be stopped
            await leave(session, page)

        monkeypatch.setattr(server.sessions, "leave", slow_leave)
        async with server.client() as client:
            first, second = [(await new_table(client, "you", "greedy"))[0]["seat"] for _ in range(2)]
            await call(client, "observe", seat=first)
            await asyncio.gather(*(call(client, "observe", seat=second) for _ in range(3)))
            assert len(server.sessions.open(second.partition(".")[0]).pages) == 1

    asyncio.run(played())


def test_the_command_rejects_what_it_cannot_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for options, token, expected in (
        (["--port", "70000"], "", "--port: found 70000"),
        (["--players", "nobody"], "", "nobody"),
        (["--http"], "short", "HELSINKI_MCP_TOKEN: found an unsuitable token"),
    ):
        monkeypatch.setenv("HELSINKI_MCP_TOKEN", token)
        assert main(["mcp", "--data", str(tmp_path), *options]) == 2
        assert expected in capsys.readouterr().err


# leaks and mutations


def planted(folder: Path, game: Any) -> tuple[InProcess, list[str]]:
    """A table that begins with a position, with known codes of its seats."""
    server = InProcess(folder)
    chairs = tuple(SeatAssignment(HUMAN, f"Assistant {i}", KEYS[i]) for i in range(game.num_players))
    table = GameTable("0123456789ab", "", game.config, 1, chairs, start=json.dumps(to_dict(game)))
    server.store.add(table)
    return server, [seat_code(table, seat) for seat in range(game.num_players)]


@pytest.mark.thorough
@EACH_GAME
def test_hidden_cards_change_no_byte_of_an_answer(game: TestedGame, tmp_path: Path) -> None:
    async def answers(folder: Path, position: Any, viewer: int) -> list[str]:
        server, codes = planted(folder, position)
        asked: list[tuple[str, dict[str, Any]]] = [
            (tool, {"seat": codes[viewer]}) for tool in ("rules", "observe", "legal_actions", "history", "result")
        ]
        asked += [("act", {"seat": codes[viewer], "action": "nonsense"})]
        if number % 20 == 0:
            asked += [("evaluate_position", {"seat": codes[viewer]})]
        async with server.client() as client:
            return [(await client.call_tool(*one)).model_dump_json() for one in asked]

    hidden = 0
    for number, one in enumerate(some_positions(game.name, 40)):
        viewer = number % one.num_players
        other = determinize(one, viewer, seed=number)
        first, second = (
            asyncio.run(answers(tmp_path / f"{number}-{i}", position, viewer))
            for i, position in enumerate((one, other))
        )
        assert first == second
        hidden += other.state.hand.tobytes() != one.state.hand.tobytes()
    assert hidden > 10


@pytest.mark.thorough
def test_mutated_calls_are_errors_and_leave_the_table_unchanged(tmp_path: Path) -> None:
    """2,000 calls with random changes of their text: an answer, or one clear error and nothing else."""
    rng = random.Random(6)

    async def mutated() -> tuple[int, int]:
        server = InProcess(tmp_path)
        rejected = accepted = 0
        async with server.client() as client:
            seat = (await new_table(client, "you", "you", seed=1))[0]["seat"]
            table = server.sessions.open(seat.partition(".")[0]).table
            calls = [
                {"name": "games", "arguments": {}},
                {"name": "rules", "arguments": {"game": "copenhagen"}},
                {"name": "observe", "arguments": {"seat": seat, "wait": 0}},
                {"name": "legal_actions", "arguments": {"seat": seat}},
                {"name": "history", "arguments": {"seat": seat, "since": 0}},
                {"name": "result", "arguments": {"seat": seat}},
                {"name": "act", "arguments": {"seat": seat, "action": "Start on space 99", "wait": 0}},
                {"name": "act", "arguments": {"seat": seat, "action": 3, "number": 12345, "wait": 0}},
                {"name": "evaluate_position", "arguments": {"seat": seat, "simulations": 7}},
                {"name": "analyze", "arguments": {"record": '{"helsinki": 0, "seed": 5, "decisions": [7, 10]}'}},
                {
                    "name": "new_table",
                    "arguments": {"players": ["you", "greedy"], "options": {"covered": ["move_back"]}},
                },
            ]
            while rejected + accepted < 2000:
                try:
                    one = json.loads(mutated_text(rng, json.dumps(rng.choice(calls))))
                    name, arguments = one["name"], one["arguments"]
                except (ValueError, KeyError, TypeError, RecursionError):
                    continue  # not a call
                if not isinstance(name, str) or not isinstance(arguments, dict):
                    continue
                before, tables = to_dict(table.game), len(server.store)
                found = await client.call_tool(name, arguments)
                if not found.is_error:
                    accepted += 1
                    if table.number:
                        table.game = table._initial_game()
                        table.decisions.clear()
                        server.store.go_back(table.name, 0)
                    continue
                rejected += 1
                (content,) = found.content
                text = content.text
                assert ERROR.fullmatch(text), text
                assert "Traceback" not in text
                assert to_dict(table.game) == before
                assert len(server.store) == tables
                assert server.store.number(table.name) == table.number
        return rejected, accepted

    rejected, accepted = asyncio.run(mutated())
    assert rejected > 1000
    assert accepted > 10

"""Load tests: 50 tables in parallel, and the start page with 1,000 saved games.

The tests print the waiting times, which docs/notes/performance-log.md lists. The assertions do not depend on the
machine.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import connect

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.help import log_text
from helsinki_env.web.store import TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.support.server import Reader, Server, serving

TABLES = 50
SECONDS = 120
#: Thinking time of a hurried player, seconds.
THINKS = (0.5, 1.5)


class Person:
    """Somebody who plays at one table until the time is over, and one new game after the other.

    Attributes:
        waited: seconds from each decision to the table as it is after it.
        seen: of each table, how many decisions were shown to have been taken.
    """

    def __init__(self, server: Server, number: int) -> None:
        self.server, self.rng = server, random.Random(number)
        self.waited: list[float] = []
        self.seen: dict[str, int] = {}
        self.wrong: list[str] = []

    async def play(self, until: float) -> None:
        while time.monotonic() < until:
            game = self.rng.choice(("helsinki", "copenhagen"))
            made = await asyncio.to_thread(self.server.make, "human", "mc:25", game=game)
            await self._game(made["table"], until)

    async def _game(self, table: str, until: float) -> None:
        address = self.server.address.replace("http", "ws") + f"/ws/tables/{table}"
        async with connect(address, max_size=2**24, proxy=None) as line:
            await line.send(json.dumps({"type": "sit"}))
            reader = Reader()
            view = await self._view(line, table, reader)
            while not view["done"] and time.monotonic() < until:
                if not view["decisions"]:
                    view = await self._view(line, table, reader)
                    continue
                await asyncio.sleep(self.rng.uniform(*THINKS))
                number, action = view["number"], self.rng.choice(view["decisions"])["id"]
                sent = time.monotonic()
                await line.send(json.dumps({"type": "decide", "number": number, "action": action}))
                while view["number"] == number:
                    view = await self._view(line, table, reader)
                self.waited.append(time.monotonic() - sent)

    async def _view(self, line: Any, table: str, reader: Reader) -> dict[str, Any]:
        while True:
            message: dict[str, Any] = json.loads(reader.read(await line.recv()))
            if message["type"] == "table":
                self.seen[table] = message["number"]
                return message
            if message["type"] == "clock":
                continue
            self.wrong.append(message["message"])


async def empty_requests(server: Server, until: float) -> list[float]:
    """Seconds that requests take which ask for nothing, over the same time: what the machine itself takes."""
    took = []
    while time.monotonic() < until:
        sent = time.monotonic()
        status, _, _ = await asyncio.to_thread(server.ask, "GET", "/static/icon.svg")
        assert status == 200
        took.append(time.monotonic() - sent)
        await asyncio.sleep(0.2)
    return took


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_fifty_tables_for_two_minutes(tmp_path: Path) -> None:
    with serving(tmp_path, "--players", "human,mc:25") as server:  # so that mc:25 may sit at tables
        people = [Person(server, number) for number in range(TABLES)]

        async def all_of_it() -> list[float]:
            until = time.monotonic() + SECONDS
            playing = [asyncio.create_task(person.play(until)) for person in people]
            took = await empty_requests(server, until)
            await asyncio.gather(*playing)
            return took

        took = asyncio.run(all_of_it())
        server.end()
    assert [person.wrong for person in people if person.wrong] == []
    rows = sqlite3.connect(tmp_path / "tables.sqlite")
    kept = dict(rows.execute("SELECT name, count(*) FROM decisions GROUP BY name").fetchall())
    rows.close()
    lost = [table for person in people for table, number in person.seen.items() if kept.get(table, 0) < number]
    assert lost == []
    waited = [seconds for person in people for seconds in person.waited]
    assert len(waited) >= TABLES, "everybody decided something"
    print_times("a decision", waited)
    print_times("an empty request", took)


def print_times(name: str, seconds: list[float]) -> None:
    middle, late, last = (1000 * float(np.percentile(seconds, part)) for part in (50, 95, 100))
    print(f"\n{name}: {len(seconds):,} times, median {middle:.0f} ms, p95 {late:.0f} ms, longest {last:.0f} ms")


SAVED = 1000
#: What the start page asks for.
ADDRESSES = ("/", "/api/games", "/api/tables?over=false&limit=50", "/api/tables?over=true&limit=50", "/api/ratings")


def finished_table(seed: int) -> GameTable:
    """A game of a person against `mc:25`, with random actions."""
    spec, rng = spec_by_name(("helsinki", "copenhagen")[seed % 2]), random.Random(seed)
    chairs = SeatAssignment(HUMAN, "Player 1"), SeatAssignment("mc:25", "mc:25")
    table = GameTable(f"{seed:012x}", "", spec.config(num_players=2), seed, chairs)
    while not table.game.done:
        action = int(rng.choice(table.game.legal_actions()))
        table.decide(table.number, action, log_text(table.game, action))
    return table


def memory_of(server: Server) -> float:
    """The memory of a server in MiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024


@pytest.mark.nightly
@pytest.mark.timeout(600)
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is listed by Linux")
def test_the_start_page_after_a_thousand_games(tmp_path: Path) -> None:
    store = TableStore(tmp_path)
    for seed in range(SAVED):
        store.add(finished_table(seed))
    store.close()
    with serving(tmp_path) as server:
        memory = []
        for _ in range(3):
            for address in ADDRESSES:
                took = []
                for _ in range(100):
                    sent = time.monotonic()
                    status, answer, headers = server.ask("GET", address)
                    took.append(time.monotonic() - sent)
                    assert status == 200
                    if "over=true" in address:
                        assert (len(answer), headers["x-total-count"]) == (50, str(SAVED))
                print_times(address, took)
            memory.append(memory_of(server))
        print(f"memory: {memory[0]:.0f} MiB, at the end {memory[-1]:.0f} MiB")
        server.end()
    assert memory[-1] < memory[0] + 20, "memory grows with the requests"

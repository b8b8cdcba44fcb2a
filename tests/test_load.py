"""Many tables at once: no errors, no lost actions, and no long waits.

How long people wait is printed and stands in docs/notes/performance-log.md; what is asserted does not depend on
the machine.
"""

from __future__ import annotations

import asyncio
import json
import random
import sqlite3
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.client import connect

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
    for name, all_times in (("a decision", waited), ("an empty request", took)):
        middle, late, last = (1000 * float(np.percentile(all_times, part)) for part in (50, 95, 100))
        print(f"\n{name}: {len(all_times):,} times, median {middle:.0f} ms, p95 {late:.0f} ms, longest {last:.0f} ms")

"""Player processes: their number, and their end together with the server."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import threading
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from helsinki_env.agents.replaced_actions import CountedPlayer
from helsinki_env.data import UserError
from helsinki_env.engine.spec import config_to_dict, spec_by_name
from helsinki_env.web import player_workers
from helsinki_env.web.evaluation import SIMULATIONS
from helsinki_env.web.player_workers import MAX_WORKERS, PlayerFailedError, PlayerPool
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.support.server import PATIENCE, Server, seated, serving

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


class Count:
    """The largest number of child processes of this process while the block runs."""

    def __init__(self) -> None:
        self.most, self._before = 0, set(multiprocessing.active_children())
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def now(self) -> int:
        return len(set(multiprocessing.active_children()) - self._before)

    def _watch(self) -> None:
        while not self._over.wait(0.005):
            self.most = max(self.most, self.now())

    def __enter__(self) -> Count:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def table() -> GameTable:
    return GameTable(
        "t", "", spec_by_name("copenhagen").config(), 1, (SeatAssignment(HUMAN, "A"), SeatAssignment(HUMAN, "B"))
    )


@pytest.mark.thorough
@pytest.mark.parametrize("wait", [0.0, 0.01, 0.2])
def test_questions_that_are_cancelled_leave_no_process_behind(wait: float) -> None:
    one = table()

    async def ask() -> int:
        thinkers = PlayerPool()
        try:
            for _ in range(6):
                asked = [
                    asyncio.create_task(thinkers.evaluate(one.config, "net+search:400", *one.question()))
                    for _ in range(MAX_WORKERS)
                ]
                await asyncio.sleep(wait)
                for task in asked:
                    task.cancel()
                    task.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
            return (await asyncio.wait_for(thinkers.decide(one.config, "random", one.question()), 120))[0]
        finally:
            thinkers.close()

    with Count() as count:
        assert one.game.action_mask()[asyncio.run(ask())]
        until = time.monotonic() + 60
        while count.now():
            assert time.monotonic() < until, "processes are left"
            time.sleep(0.01)
    assert 0 < count.most <= MAX_WORKERS


def test_a_server_that_ends_starts_no_process() -> None:
    one = table()

    async def ask() -> None:
        thinkers = PlayerPool()
        thinkers.close()
        await thinkers.decide(one.config, "random", one.question())

    with Count() as count, pytest.raises(PlayerFailedError, match="shutting down"):
        asyncio.run(ask())
    assert count.most == 0


class Wrong:
    """A player whose actions are illegal."""

    name = "wrong"

    def act(self, observation: Any, action_mask: Any, keys: Any) -> Any:
        action_mask[:] = 1 - action_mask
        return action_mask.argmax(axis=1)


def test_an_error_about_an_illegal_action_names_no_legal_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """All pages of the table show the error, and a list of legal actions would reveal the player's hand."""
    one, player = table(), Wrong()
    monkeypatch.setattr(player_workers, "_player", lambda config, name: player)
    with pytest.raises(UserError, match=r"^found action \d+, expected a legal one$"):
        player_workers._act("", "wrong", *one.question())
    monkeypatch.setattr(player_workers, "_player", lambda config, name: CountedPlayer(player))
    action, replaced = player_workers._act("", "counted:wrong", *one.question())
    assert (one.game.action_mask()[action], replaced) == (1, True)
    monkeypatch.undo()
    config = json.dumps(config_to_dict(one.config))
    assert player_workers._act(config, "counted:random", *one.question())[1] is False


@pytest.mark.parametrize(("patience", "processes"), [(60.0, 1), (0.0, 2)])
def test_a_request_waits_a_moment_for_a_busy_process(
    patience: float, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("helsinki_env.web.player_workers._PATIENCE", patience)
    one = table()

    async def ask() -> list[int]:
        thinkers = PlayerPool()
        try:
            calls = (thinkers.decide(one.config, "random", one.question()) for _ in range(2))
            return [action for action, _ in await asyncio.gather(*calls)]
        finally:
            thinkers.close()

    with Count() as count:
        assert one.game.action_mask()[asyncio.run(ask())].all()
    assert count.most == processes


def children(server: Server) -> list[int]:
    """Return the processes of a server that run Python."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
            command = (folder / "cmdline").read_text()
        except (OSError, ValueError):
            continue
        if int(parent) == server.process.pid and state != "Z" and "resource_tracker" not in command:
            found.append(int(folder.name))
    return found


@pytest.mark.thorough
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed by Linux")
def test_a_flood_of_questions_starts_few_processes_and_ctrl_c_ends_the_server(tmp_path: Path) -> None:
    with serving(tmp_path) as server, ExitStack() as stack:
        lines = []
        for seed in range(MAX_WORKERS + 4):
            made = server.make("human", "greedy", seed=seed)
            lines.append(stack.enter_context(seated(server, made["table"])))
        most = 0
        for number in range(24):
            for line, view in lines:
                deeper = SIMULATIONS[number % len(SIMULATIONS)]
                line.send(json.dumps({"type": "evaluate", "number": view["number"], "deeper": deeper}))
            most = max(most, len(children(server)))
            time.sleep(0.25 if number % 8 == 0 else 0)
        assert 0 < most <= MAX_WORKERS
        assert_ends(server)


@pytest.mark.thorough
@pytest.mark.parametrize("delay", [0.2, 1.2, *(pytest.param(delay, marks=pytest.mark.nightly) for delay in (0.0, 0.6))])
def test_ctrl_c_while_players_start_shows_no_traceback(delay: float, tmp_path: Path) -> None:
    with serving(tmp_path) as server, ExitStack() as stack:
        for seed in range(4):
            made = server.make("ismcts:400", "ismcts:400", seed=seed)
            stack.enter_context(seated(server, made["table"]))
        time.sleep(delay)
        assert_ends(server)


def assert_ends(server: Server) -> None:
    """Send SIGINT to all processes of the server and check that all end with one line of output."""
    os.killpg(server.process.pid, signal.SIGINT)
    assert server.process.wait(PATIENCE) == 130
    assert server.process.stderr is not None
    lines = server.process.stderr.read().splitlines()
    assert [line for line in lines if "ompiling" not in line] == [lines[-1]], lines
    assert "tables saved in" in lines[-1]

"""A server for tests: the `helsinki play` command in its own process, with HTTP and WebSocket clients."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from helsinki_env.utils.yaml_files import configs_folder
from helsinki_env.web.views import applied

__all__ = [
    "PATIENCE",
    "Line",
    "Reader",
    "Server",
    "decide_first",
    "in_thread",
    "killed_at_the_end",
    "seated",
    "serving",
]

#: Seconds within which a server on a busy machine answers or ends.
PATIENCE = 240.0
#: The folder of the repository, which the processes import.
ROOT = configs_folder().parent


class Server:
    """A running server: `address`, such as http://127.0.0.1:34567, and `page`, the printed address."""

    def __init__(self, *options: str, data: Path) -> None:
        command = [
            sys.executable,
            "-m",
            "helsinki_env.cli.main",
            "play",
            "--no-open",
            "--port",
            "0",
            "--data",
            str(data),
        ]
        self.process = subprocess.Popen(
            [*command, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(ROOT)},
            start_new_session=True,
        )
        assert self.process.stdout is not None
        self.page = ""
        for line in self.process.stdout:
            if found := re.match(r"helsinki play: (http://\S+)", line):
                self.page = found[1]
                break
        if not self.page:
            raise AssertionError(self.process.communicate()[1])
        self.address = re.sub(r"(//[^/#]+).*", r"\1", self.page)

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any, dict[str, str]]:
        """Return status, answer (parsed if it is JSON) and headers of a request."""
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"content-type": "application/json"} | (headers or {})
        request = urllib.request.Request(self.address + path, content, sent, method=method)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                status, text, said = answer.status, answer.read().decode(), dict(answer.headers)
        except urllib.error.HTTPError as problem:
            status, text, said = problem.code, problem.read().decode(), dict(problem.headers)
        try:
            return status, json.loads(text), said
        except ValueError:
            return status, text, said

    def make(self, *players: str, **more: Any) -> dict[str, Any]:
        """Create a table and return the answer of the server."""
        chairs = [{"player": player, "name": ""} for player in players]
        status, made, _ = self.ask("POST", "/api/tables", {"chairs": chairs} | more)
        assert status == 201, made
        assert isinstance(made, dict)
        return made

    def make_over(self, *players: str, **more: Any) -> str:
        """Create a table without humans and return its name once its game is over."""
        table = str(self.make(*players, **more)["table"])
        with seated(self, table) as (line, view):
            line.send(json.dumps({"type": "pace", "milliseconds": 0}))
            if not view["done"]:
                until(line, lambda new: new["type"] == "table" and new["done"])
        return table

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal and return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


@contextmanager
def killed_at_the_end(process: subprocess.Popen[str]) -> Iterator[None]:
    """Kill a process after the block unless it has ended."""
    try:
        yield
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextmanager
def serving(data: Path, *options: str) -> Iterator[Server]:
    """Run a server while the block runs."""
    server = Server(*options, data=data)
    with killed_at_the_end(server.process):
        yield server


class Reader:
    """Applies changes to views, as pages do."""

    def __init__(self) -> None:
        self._view = ""

    def read(self, text: str) -> str:
        """Return a message; for a change, the view that it produces."""
        message = json.loads(text)
        if message["type"] == "change":
            text = applied(self._view, message["parts"])
            message = json.loads(text)
        if message["type"] == "table":
            self._view = text
        return text


class Line:
    """A connection to a table; `bytes` counts the received bytes."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection, self._reader, self.bytes = connection, Reader(), 0

    def send(self, message: str | bytes) -> None:
        self._connection.send(message)

    def recv(self, seconds: float) -> str:
        """Return the next message; for a change, the view."""
        text = str(self._connection.recv(seconds))
        self.bytes += len(text.encode())
        return self._reader.read(text)


@contextmanager
def seated(server: Server, table: str, key: str = "", **more: Any) -> Iterator[tuple[Line, dict[str, Any]]]:
    """Connect to a table while the block runs; yields the connection and the first view."""
    url = server.address.replace("http", "ws") + f"/ws/tables/{table}"
    with connect(url, max_size=2**24, proxy=None, **more) as connection:
        line = Line(connection)
        line.send(json.dumps({"type": "sit", "key": key}))
        yield line, json.loads(line.recv(120))


def decide_first(line: Line, view: dict[str, Any], which: int = 0) -> dict[str, Any]:
    """Take a legal action and return the next view with another number of actions."""
    action = view["decisions"][which]["id"]
    line.send(json.dumps({"type": "decide", "number": view["number"], "action": action}))
    return until(
        line, lambda new: new["type"] == "error" or (new["type"] == "table" and new["number"] > view["number"])
    )


def until(line: Line, wanted: Any, seconds: float = 120) -> dict[str, Any]:
    """Return the first message that satisfies a condition."""
    while True:
        message: dict[str, Any] = json.loads(line.recv(seconds))
        if wanted(message):
            return message


def in_thread(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine, run in its own thread: the browser of other tests runs its loop in this one."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(asyncio.run, work).result()

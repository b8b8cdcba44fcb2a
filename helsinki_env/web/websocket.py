"""WebSocket connections to pages, and validation of their messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from helsinki_env.data import parse_json
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.security import MAX_BYTES
from helsinki_env.web.store import StoreError
from helsinki_env.web.tables import TableError
from helsinki_env.web.views import encode_message

with requires_extra("play"):
    from fastapi import WebSocket, WebSocketDisconnect

MAX_UNSENT = 256
"""Maximum number of unsent messages for a page, about as many as there are in a game."""
_MAX_UNSENT_CHARACTERS = 8 * 2**20
"""Maximum number of characters in unsent messages; enough for all changes in a game, or about fifty full views."""
_SEND_TIMEOUT = 30.0
"""Seconds within which a page must accept a message."""


#: Message types that a page may send, with the integer fields of each type.
MESSAGES: dict[str, tuple[str, ...]] = {
    "sit": (),
    "decide": ("number", "action"),
    "undo": ("number", "to"),
    "takeback": ("number", "to"),
    "look": ("seat",),
    "evaluate": ("number", "deeper"),
    "cancel": (),
    "ping": (),
    "stop": (),
    "go": (),
    "pace": ("milliseconds",),
    "explain": ("number",),
    "rules": (),
    "lesson": (),
    "teach": ("number", "action"),
    "next": (),
}
_MAX_INTEGER = 10**6
_MAX_ACTIONS = 100
_TEXTS_OF = {"sit": ("key", "token"), "explain": ("spot",)}
_TEXTS = ("key", "token", "spot", "once")
_NUMBERS = tuple(dict.fromkeys(name for names in MESSAGES.values() for name in names))


def parse_message(text: str) -> dict[str, Any]:
    """Parse a message (type, integers and texts); raise TableError if it is invalid.

    Any message may have `once`, a text chosen by the page that identifies the message if it is resent. A `decide`
    message may have `more`, the ids of actions to take immediately afterwards.
    """
    data = parse_json(text, TableError, "message")
    kind = data.mapping(("type", *_NUMBERS, *_TEXTS, "more"))["type"].choice(tuple(MESSAGES))
    numbers, texts = MESSAGES[kind], (*_TEXTS_OF.get(kind, ()), "once")
    data.mapping(("type", *numbers, *texts, *(["more"] if kind == "decide" else [])))
    message: dict[str, Any] = {"type": kind}
    message |= {name: data[name].integer(0, _MAX_INTEGER) for name in numbers}
    if kind == "decide":
        more = data.get("more", []).entries("actions", most=_MAX_ACTIONS)
        message["more"] = [one.integer(0, _MAX_INTEGER) for one in more]
    message |= {name: "" if data.get(name, "").value == "" else data[name].text() for name in texts}
    return message


class PageSocket:
    """The WebSocket connection to a page.

    Sending never waits for the page, so a disconnected client does not block the other players at its table. A page
    that accepts no data for too long, or falls too far behind, is disconnected. It reconnects automatically and
    receives the current table.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._unsent: asyncio.Queue[str] = asyncio.Queue(MAX_UNSENT)
        self._characters = 0
        self._sending: asyncio.Task[None] | None = None

    def send(self, text: str) -> None:
        """Queue a message; disconnect the page if it is too far behind."""
        if not self._unsent.full() and self._characters + len(text) <= _MAX_UNSENT_CHARACTERS:
            self._characters += len(text)
            self._unsent.put_nowait(text)
        elif self._sending is not None:
            self._sending.cancel()

    async def receive(self) -> dict[str, Any]:
        """Return the next message; raise TableError if it is invalid, or WebSocketDisconnect at the end."""
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", 1000))
        text = received.get("text")
        if text is None:
            raise TableError("message: found binary data, expected text")
        if len(text) > MAX_BYTES:
            raise TableError(f"message: found {len(text):,} characters, expected at most {MAX_BYTES:,}")
        return parse_message(text)

    async def serve(self, handle: Callable[[dict[str, Any]], None]) -> None:
        """Handle messages from the page and send queued messages, until it disconnects or stops accepting data.

        A TableError or StoreError raised by the handler is sent to the page. WebSocketDisconnect ends the call.
        """
        self._sending = asyncio.create_task(self._send())
        tasks = self._sending, asyncio.create_task(self._receive(handle))
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
        for end in ends:
            if isinstance(end, Exception):
                raise end

    async def _send(self) -> None:
        with suppress(TimeoutError):
            while True:
                text = await self._unsent.get()
                async with asyncio.timeout(_SEND_TIMEOUT):
                    await self._socket.send_text(text)
                self._characters -= len(text)

    async def _receive(self, handle: Callable[[dict[str, Any]], None]) -> None:
        while True:
            try:
                handle(await self.receive())
            except (TableError, StoreError) as problem:
                self.send(encode_message({"type": "error", "message": str(problem)}))
            await asyncio.sleep(0)  # let other tasks run between two messages

"""The line to a page: what it says, and what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from helsinki_env.extras import needs
from helsinki_env.web.guard import MOST_BYTES
from helsinki_env.web.messages import packed
from helsinki_env.web.requests import message_of
from helsinki_env.web.store import StoreError
from helsinki_env.web.tables import TableError

with needs("play"):
    from fastapi import WebSocket, WebSocketDisconnect

__all__ = ["MOST_UNSENT", "Line"]

MOST_UNSENT = 256
"""Messages that may wait for a page to take them: as many as a game has."""
_MOST_UNSENT_CHARACTERS = 8 * 2**20
"""Characters of these messages: all changes of a game, or some fifty whole views."""
_TAKES_WITHIN = 30.0
"""Seconds that a page may need to take one."""


class Line:
    """The line to a page.

    Whoever tells a page something does not wait until the page has taken it: a device that has lost its network would
    hold up everybody at its table. A page that takes nothing for long, or falls far behind, loses its line; once it
    can, it comes back by itself and is shown the table as it is then.

    Args:
        socket: the connection, accepted.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._unsent: asyncio.Queue[str] = asyncio.Queue(MOST_UNSENT)
        self._characters = 0
        self._sending: asyncio.Task[None] | None = None

    def send(self, text: str) -> None:
        """Send a message after all earlier ones; a page that is too far behind loses its line."""
        if not self._unsent.full() and self._characters + len(text) <= _MOST_UNSENT_CHARACTERS:
            self._characters += len(text)
            self._unsent.put_nowait(text)
        elif self._sending is not None:
            self._sending.cancel()

    async def heard(self) -> dict[str, Any]:
        """Return the next message of the page.

        Raises:
            TableError: if it is none that a page may send.
            WebSocketDisconnect: if the page has gone.
        """
        received = await self._socket.receive()
        if received["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(received.get("code", 1000))
        text = received.get("text")
        if text is None:
            raise TableError("message: found binary data, expected text")
        if len(text) > MOST_BYTES:
            raise TableError(f"message: found {len(text):,} letters, expected at most {MOST_BYTES:,}")
        return message_of(text)

    async def serve(self, asked: Callable[[dict[str, Any]], None]) -> None:
        """Do what the page asks and send what it is told, until it has gone or takes nothing any more.

        Args:
            asked: does what a message asks; why that cannot be done (TableError, StoreError) is told the page.

        Raises:
            WebSocketDisconnect: if the page has gone.
        """
        self._sending = asyncio.create_task(self._send())
        tasks = self._sending, asyncio.create_task(self._hear(asked))
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
                async with asyncio.timeout(_TAKES_WITHIN):
                    await self._socket.send_text(text)
                self._characters -= len(text)

    async def _hear(self, asked: Callable[[dict[str, Any]], None]) -> None:
        while True:
            try:
                asked(await self.heard())
            except (TableError, StoreError) as problem:
                self.send(packed({"type": "error", "message": str(problem)}))
            await asyncio.sleep(0)  # others have their turn between two messages

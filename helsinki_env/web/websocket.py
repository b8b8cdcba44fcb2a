"""WebSocket connection to a page: outgoing and incoming messages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.messages import encode_message
from helsinki_env.web.requests import message_of
from helsinki_env.web.security import MOST_BYTES
from helsinki_env.web.store import StoreError
from helsinki_env.web.tables import TableError

with requires_extra("play"):
    from fastapi import WebSocket, WebSocketDisconnect

__all__ = ["MOST_UNSENT", "PageSocket"]

MOST_UNSENT = 256
"""Maximum number of unsent messages for a page: as many as a game has."""
_MOST_UNSENT_CHARACTERS = 8 * 2**20
"""Maximum number of characters in unsent messages: all changes of a game, or about fifty full views."""
_TAKES_WITHIN = 30.0
"""Seconds within which a page must accept a message."""


class PageSocket:
    """The WebSocket connection to a page.

    Sending never waits for the page, so a disconnected client does not block the other players at its table. A page
    that accepts nothing for long, or falls far behind, is disconnected. It reconnects automatically and receives the
    current table.

    Args:
        socket: the accepted connection.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._unsent: asyncio.Queue[str] = asyncio.Queue(MOST_UNSENT)
        self._characters = 0
        self._sending: asyncio.Task[None] | None = None

    def send(self, text: str) -> None:
        """Queue a message; disconnect the page if it is too far behind."""
        if not self._unsent.full() and self._characters + len(text) <= _MOST_UNSENT_CHARACTERS:
            self._characters += len(text)
            self._unsent.put_nowait(text)
        elif self._sending is not None:
            self._sending.cancel()

    async def heard(self) -> dict[str, Any]:
        """Return the next message of the page.

        Raises:
            TableError: if the message is invalid.
            WebSocketDisconnect: if the page has disconnected.
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
        """Handle the page's messages and send queued ones until it disconnects or stops accepting data.

        Args:
            asked: handles a message; its TableError or StoreError is sent to the page.

        Raises:
            WebSocketDisconnect: if the page has disconnected.
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
                self.send(encode_message({"type": "error", "message": str(problem)}))
            await asyncio.sleep(0)  # let other tasks run between two messages

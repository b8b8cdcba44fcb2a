"""Access control: reject cross-site requests, foreign host names and oversized bodies before any processing.

On loopback, only the local browser is a legitimate client. The server accepts only requests whose `Host` names this
machine. A page of another site can make a browser send requests here, but under its own `Origin`. If that site's name
resolves to this machine, the request has a foreign `Host`. On any other address, every client must present the token
that is printed when the server starts.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.errors import error_response

with requires_extra("play"):
    from fastapi import HTTPException

__all__ = ["HEADERS", "MOST_BYTES", "MOST_RECORD_BYTES", "AccessMiddleware", "is_loopback"]

MOST_BYTES = 64 * 1024
"""Maximum size of a request body or of a message, in bytes."""
MOST_RECORD_BYTES = 16 * 1024 * 1024
"""Maximum size of a request body with game records, in bytes: enough for several thousand games."""

_BODY_WITHIN = 120.0
"""Seconds within which the body of a request must arrive."""

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}
"""Headers of every response: no external resources, no inline code, no caching."""

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::[0-9]{1,5})?")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Return whether an address is reachable only from this machine."""
    return host in _LOOPBACK


class AccessMiddleware:
    """ASGI middleware that checks access before it calls an application.

    Args:
        app: the application.
        token: the token required (`Authorization: Bearer TOKEN`) for all requests except those for the pages
            themselves. Empty: the server listens on loopback, and requests must name it so. A WebSocket sends the token
            in its first message.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], token: str = "") -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or answer it with an error."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        status, problem = self._problem(scope, headers)
        if problem:
            await _refuse(scope, receive, send, status, problem)
            return
        await self.app(scope, _measured(receive, scope), _with_headers(send))

    def _problem(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str]:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.token and _name_of(host) not in _LOOPBACK:
            return 400, f"host: found {host!r:.60}, expected localhost: this server answers this machine alone"
        if origin is not None and _authority(origin) != host.lower():
            return 403, f"origin: found {origin!r:.60}, expected pages of this server alone"
        if scope["type"] == "http":
            length, most = headers.get("content-length", "0"), _most_bytes(scope["path"])
            if not (length.isascii() and length.isdigit()) or int(length[:12]) > most:
                return 413, f"body: found {length:.20} bytes, expected at most {most:,}"
            if self.token and scope["path"].startswith("/api/"):
                kind, _, token = headers.get("authorization", "").partition(" ")
                if kind.lower() != "bearer" or not hmac.compare_digest(token.encode(), self.token.encode()):
                    return 401, "token: none or a wrong one; open the address that was printed when the server began"
        return 0, ""


def _name_of(host: str) -> str:
    """Return the host name or address in a `Host` header, without port and brackets; empty if it is invalid."""
    found = _HOST.fullmatch(host.lower())
    return (found[1] or found[2]) if found else ""


def _authority(origin: str) -> str:
    """Return the host and port in an `Origin` header; empty if it has none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # such as an open bracket
        return ""


def _most_bytes(path: str) -> int:
    return MOST_RECORD_BYTES if path in ("/api/records", "/api/records/look") else MOST_BYTES


def _measured(receive: Receive, scope: Scope) -> Receive:
    """Return a `receive` that ends the request if its body is too long or takes too much time."""
    if scope["type"] != "http":
        return receive
    taken, most, whole = 0, _most_bytes(scope["path"]), False
    until = asyncio.get_running_loop().time() + _BODY_WITHIN

    async def measured() -> MutableMapping[str, Any]:
        nonlocal taken, whole
        try:
            async with asyncio.timeout_at(None if whole else until):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"body: did not come within {_BODY_WITHIN:.0f} seconds") from None
        if message["type"] == "http.request":
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > most:
                raise HTTPException(413, f"body: found more than {most:,} bytes, expected at most so many")
        return message

    return measured


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            ours = {name.encode(): value.encode() for name, value in HEADERS.items()}
            others = [(name, value) for name, value in message.get("headers", []) if name.lower() not in ours]
            message["headers"] = [*others, *ours.items()]
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, problem: str) -> None:
    if scope["type"] == "websocket":
        await receive()  # the connect event
        await send({"type": "websocket.close", "code": 4000 + status, "reason": problem})
        return
    await error_response(problem, status)(scope, receive, _with_headers(send))

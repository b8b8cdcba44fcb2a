"""Access control: reject cross-site requests, foreign host names and oversized bodies, and limit connections.

On loopback, only the local browser is a legitimate client, and the server accepts only requests whose `Host` is this
machine. A page from another site can make a browser send requests to this server, but they carry the `Origin` of that
site. If the host name of that site resolves to this machine, the request has a foreign `Host`. On any other address,
every client must present the token that the server prints when it starts.
"""

from __future__ import annotations

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.requests import error_response

with requires_extra("play"):
    import uvicorn
    from fastapi import HTTPException
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

MAX_BYTES = 64 * 1024
"""Maximum size of a request body or message, in bytes."""
MAX_RECORD_BYTES = 16 * 1024 * 1024
"""Maximum size of a request body with game records, in bytes; sufficient for several thousand games."""

_BODY_TIMEOUT = 120.0
"""Seconds within which a request body must arrive."""
REQUEST_TIMEOUT = 15.0
"""Seconds within which a connection must send its request; it is closed after at most twice this time."""
_MAX_CONNECTIONS = 1000
_MAX_BLOCKED_CHECKS = 8
"""Maximum number of consecutive checks, one every `REQUEST_TIMEOUT` seconds, in which a connection accepts no data."""

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

TOKEN_REMEDY = "open the address that the server printed when it started"
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::[0-9]{1,5})?")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Return whether an address can be reached only from this machine."""
    return host in _LOOPBACK


class AccessMiddleware:
    """ASGI middleware that checks access before calling the application.

    With a token, all requests except page requests require `Authorization: Bearer TOKEN`; a WebSocket client sends the
    token in its first message. Without a token, the server listens on loopback, and `Host` must be a loopback name.
    """

    def __init__(self, app: Callable[[Scope, Receive, Send], Awaitable[None]], token: str = "") -> None:
        self.app, self.token = app, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request, or respond with an error."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        status, problem = self._problem(scope, headers)
        if problem:
            await _reject(scope, receive, send, status, problem)
            return
        await self.app(scope, _limited(receive, scope), _with_headers(send))

    def _problem(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str]:
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.token and _name_of(host) not in _LOOPBACK:
            return 400, f"host: found {host!r:.60}, expected localhost; only this machine can reach this server"
        if origin is not None and _authority(origin) != host.lower():
            return 403, f"origin: found {origin!r:.60}, expected a page of this server"
        if scope["type"] == "http":
            length, limit = headers.get("content-length", "0"), _max_bytes(scope["path"])
            if not (length.isascii() and length.isdigit()) or int(length[:12]) > limit:
                return 413, f"body: found {length:.20} bytes, expected at most {limit:,}"
            if self.token and scope["path"].startswith("/api/"):
                kind, _, token = headers.get("authorization", "").partition(" ")
                if kind.lower() != "bearer" or not hmac.compare_digest(token.encode(), self.token.encode()):
                    return 401, f"token: missing or wrong; {TOKEN_REMEDY}"
        return 0, ""


def _name_of(host: str) -> str:
    """Return the host name or address in a `Host` header, without the port and brackets; empty if it is invalid."""
    match = _HOST.fullmatch(host.lower())
    return (match[1] or match[2]) if match else ""


def _authority(origin: str) -> str:
    """Return the host and port in an `Origin` header; empty if there are none."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:  # such as an unclosed bracket
        return ""


def _max_bytes(path: str) -> int:
    return MAX_RECORD_BYTES if path in ("/api/records", "/api/records/look") else MAX_BYTES


def _limited(receive: Receive, scope: Scope) -> Receive:
    """Wrap `receive` so that the request ends if its body is too long or takes too long to arrive."""
    if scope["type"] != "http":
        return receive
    received, limit, complete = 0, _max_bytes(scope["path"]), False
    deadline = asyncio.get_running_loop().time() + _BODY_TIMEOUT

    async def limited() -> MutableMapping[str, Any]:
        nonlocal received, complete
        try:
            async with asyncio.timeout_at(None if complete else deadline):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408, f"body: did not arrive within {_BODY_TIMEOUT:.0f} seconds") from None
        if message["type"] == "http.request":
            complete = not message.get("more_body", False)
            received += len(message.get("body", b""))
            if received > limit:
                raise HTTPException(413, f"body: found more bytes, expected at most {limit:,}")
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            ours = {name.encode(): value.encode() for name, value in HEADERS.items()}
            others = [(name, value) for name, value in message.get("headers", []) if name.lower() not in ours]
            message["headers"] = [*others, *ours.items()]
        await send(message)

    return sending


async def _reject(scope: Scope, receive: Receive, send: Send, status: int, problem: str) -> None:
    if scope["type"] == "websocket":
        await receive()  # the connect event
        await send({"type": "websocket.close", "code": 4000 + status, "reason": problem})
        return
    await error_response(problem, status)(scope, receive, _with_headers(send))


def max_connections() -> int:
    """Return the maximum number of connections: half the number of files that this process may open."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource is not None else 2 * _MAX_CONNECTIONS
    return _MAX_CONNECTIONS if files < 0 else min(_MAX_CONNECTIONS, files // 2)


def bounded_server(app: Any, *, compresses: bool = False) -> uvicorn.Server:
    """Create a server for the application, with limits on connections and messages."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedConnection,
            log_level="warning",
            access_log=False,
            ws_max_size=MAX_BYTES,
            ws_per_message_deflate=compresses,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
    )


class BoundedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # depends on the installation
    """A connection that is closed if it sends no request, or accepts no data, for too long."""

    def connection_made(self, transport: Any) -> None:
        """Register the connection, or close it immediately if there are too many connections."""
        super().connection_made(transport)
        self._last_cycle, self._blocked_checks = None, 0
        if len(self.connections) > max_connections():
            transport.abort()
        else:
            self.loop.call_later(REQUEST_TIMEOUT, self._check_progress)

    def _check_progress(self) -> None:
        """Close the connection if it has sent no request since the last check, or has accepted no data for too long."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # a WebSocket has its own limits
        answered = self.cycle is None or self.cycle.response_complete
        self._blocked_checks = self._blocked_checks + 1 if self.flow.write_paused else 0
        if (answered and self.cycle is self._last_cycle) or self._blocked_checks >= _MAX_BLOCKED_CHECKS:
            self.transport.abort()
            return
        self._last_cycle = self.cycle if answered else self
        self.loop.call_later(REQUEST_TIMEOUT, self._check_progress)

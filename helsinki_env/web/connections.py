"""Limits on connections to the server: their number, and how long each may take to send a request."""

from __future__ import annotations

from typing import Any

from helsinki_env.utils.extras import requires_extra

with requires_extra("play"):
    from uvicorn.protocols.http.auto import AutoHTTPProtocol

try:
    import resource
except ModuleNotFoundError:  # Windows
    resource = None  # type: ignore[assignment]

__all__ = ["REQUEST_WITHIN", "BoundedConnection", "most_connections"]

REQUEST_WITHIN = 15.0
"""Seconds within which a connection must send its request; it is closed after at most twice that."""
_MOST = 1000
_MOST_STUCK = 8
"""Consecutive checks, one every `REQUEST_WITHIN` seconds, at which a connection may accept no data."""


def most_connections() -> int:
    """Return the maximum number of connections: half of the files that this process may open."""
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource is not None else 2 * _MOST
    return _MOST if files < 0 else min(_MOST, files // 2)


class BoundedConnection(AutoHTTPProtocol):  # type: ignore[misc, valid-type]  # depends on the installation
    """A connection that closes after a long time without a request or without accepting data."""

    def connection_made(self, transport: Any) -> None:
        """Register the connection; close it immediately if it exceeds the limit."""
        super().connection_made(transport)
        self._former, self._stuck = None, 0
        if len(self.connections) > most_connections():
            transport.abort()
        else:
            self.loop.call_later(REQUEST_WITHIN, self._look)

    def _look(self) -> None:
        """Close the connection if it has sent no request since the last check, or accepts no data for too long."""
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # a WebSocket has its own limits
        answered = self.cycle is None or self.cycle.response_complete
        self._stuck = self._stuck + 1 if self.flow.write_paused else 0
        if (answered and self.cycle is self._former) or self._stuck >= _MOST_STUCK:
            self.transport.abort()
            return
        self._former = self.cycle if answered else self
        self.loop.call_later(REQUEST_WITHIN, self._look)

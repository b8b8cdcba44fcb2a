"""The protocol server, over standard input and output or HTTP; the browser pages run in the same process."""

from __future__ import annotations

import asyncio
import hmac
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import helsinki_env
from helsinki_env.mcp.tools import TOOLS, TableTools
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.requests import error_response
from helsinki_env.web.security import MAX_BYTES, bounded_server
from helsinki_env.web.server import ServerSettings, create_app

with requires_extra("mcp"):
    from fastapi import FastAPI, HTTPException
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

PATH = "/mcp"
"""URL path of the protocol."""
_INSTRUCTIONS = (
    "Board games against players and people. Call games, rules and new_table; then, on your turn, observe, "
    "legal_actions and act with the code of your seat. Keep the code secret: it shows your cards."
)


def protocol_server(tools: Callable[[], TableTools]) -> Server[Any]:
    """Return the protocol server; `tools` is called to get the tools, which exist once the pages have started."""

    async def list_tools(_: Any, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=name,
                    description=tool.text,
                    input_schema=tool.schema,
                    annotations=types.ToolAnnotations(
                        read_only_hint=tool.reads_only, destructive_hint=False, open_world_hint=False
                    ),
                )
                for name, tool in TOOLS.items()
            ]
        )

    async def call_tool(_: Any, call: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answer = await tools().call(call.name, call.arguments)
        except (ValueError, RuntimeError) as problem:
            return types.CallToolResult(content=[types.TextContent(text=str(problem))], is_error=True)
        return types.CallToolResult(content=[types.TextContent(text=answer.text)], structured_content=answer.data)

    return Server(
        "helsinki-env",
        version=helsinki_env.__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def create_protocol_app(
    data: Path, address: str, token: str, *, page_token: str = "", players: tuple[str, ...] = ()
) -> tuple[Any, Server[Any]]:
    """Create the ASGI application (the pages and, at `PATH`, the protocol) and the protocol server.

    Clients must send `token`; if it is empty, the protocol is not served over HTTP. Pages must send `page_token`, which
    is empty on loopback. Raises StoreError if the database in `data` cannot be used.
    """
    guarded = create_app(ServerSettings(data, page_token, players, address if page_token else ""))
    pages: FastAPI = guarded.app
    tools = TableTools(pages.state.sessions, pages.state.pool, address, page_token, players)
    server = protocol_server(lambda: tools)
    if token:
        manager = StreamableHTTPSessionManager(
            server, stateless=True, json_response=True, max_request_body_size=MAX_BYTES
        )
        pages.router.lifespan_context = _combined_lifespan(pages.router.lifespan_context, manager)
        guarded.app = _Route(pages, manager, token)
    return guarded, server


def _combined_lifespan(pages: Any, manager: StreamableHTTPSessionManager) -> Any:
    """Return a lifespan for the application that also runs the session manager."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Any]:
        async with pages(app) as state, manager.run():
            yield state

    return lifespan


class _Route:
    """ASGI application that forwards authorized requests at `PATH` to the protocol and all others to the pages."""

    def __init__(self, pages: FastAPI, manager: StreamableHTTPSessionManager, token: str) -> None:
        self._pages, self._manager, self._expected = pages, manager, f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Forward or reject a request."""
        if scope["type"] != "http" or scope["path"].rstrip("/") != PATH:
            await self._pages(scope, receive, send)
            return
        sent = next((value for name, value in scope["headers"] if name.lower() == b"authorization"), b"")
        if not hmac.compare_digest(sent, self._expected):
            answer = error_response(
                "token: missing or wrong; send the server's token as Authorization: Bearer TOKEN", 401
            )
            await answer(scope, receive, send)
            return
        try:
            await self._manager.handle_request(scope, receive, send)
        except HTTPException as problem:  # the body is too long, or takes too long to arrive
            await error_response(str(problem.detail), problem.status_code)(scope, receive, send)


async def serve(app: Any, listening: socket.socket, server: Server[Any] | None) -> None:
    """Serve the application until a signal stops it.

    If a protocol server is given, also serve the protocol over standard input and output until the input ends.
    """
    web = bounded_server(app, compresses=True)
    if server is None:
        await web.serve(sockets=[listening])
        return
    async with stdio_server() as (read, write):
        serving = asyncio.create_task(web.serve(sockets=[listening]))
        while not web.started and not serving.done():
            await asyncio.sleep(0.01)
        protocol = asyncio.create_task(server.run(read, write, server.create_initialization_options()))
        await asyncio.wait({serving, protocol}, return_when=asyncio.FIRST_COMPLETED)
        web.should_exit = True
        await serving
        protocol.cancel()
        await asyncio.wait({protocol})

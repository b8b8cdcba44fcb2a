"""The ``helsinki mcp`` command: let assistants play over the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
import secrets
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from helsinki_env.cli.commands.play import check_tables, listen, network_address
from helsinki_env.cli.options import read_list
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.data import UserError
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.stopping import save_on_interrupt
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.engine.spec import GameSpec

_TOKEN = "HELSINKI_MCP_TOKEN"
_LEAST_TOKEN = 16


def main(
    http: bool = False,
    players: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    data: Path | None = None,
    trust: bool = False,
) -> None:
    """Let assistants play over the Model Context Protocol, against players and people.

    The protocol uses standard input and output or, with --http, the address that the command prints. People watch and
    play in a browser through the links from new_table. The command helsinki play shows the same tables; do not use both
    for the same table. Ctrl-C stops the server.

    Example: helsinki mcp --http --port 8001

    Args:
        http: serve the protocol over HTTP; clients must send a bearer token, which HELSINKI_MCP_TOKEN sets. By default,
            a random token is generated and printed.
        players: comma-separated players to offer as additional opponents.
        host: address to listen on. The default is reachable only from this machine. At any other address, pages require
            the token.
        port: port to listen on; 0 selects a free port.
        data: database folder; default: the user's data folder.
        trust: allow code named by tables or tournaments in the --data folder to run: program:COMMAND and
            MODULE:ATTRIBUTE. Read it first.
    """
    with requires_extra("mcp"):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.mcp.server import PATH, create_protocol_app, serve
        from helsinki_env.web.security import is_loopback
        from helsinki_env.web.setups import browser_games
        from helsinki_env.web.store import data_folder

    console, folder = plain_console(stderr=True), data or data_folder()
    own = tuple(read_list(players or ""))
    specs = browser_games()
    for name in own:
        _check_player(name, specs)
    token = _token() if http or not is_loopback(host) else ""
    stored = check_tables(folder, own, trust or data is None)
    precompile_groups([part for spec in specs for part in groups_for([*own, "heuristic"], spec.config())])
    listening = listen(host, port)
    address = network_address(host, listening)
    page_token = "" if is_loopback(host) else token
    app, server = create_protocol_app(folder, address, token if http else "", page_token=page_token, players=own)
    console.print(f"helsinki mcp: pages at {address}" + (f"/#token={page_token}" if page_token else ""))
    if http:
        hidden = f"the value of {_TOKEN}" if os.environ.get(_TOKEN) else token
        console.print(f"helsinki mcp: protocol at {address}{PATH}, token: {hidden}")
    warnings.filterwarnings("ignore", "coroutine '.*' was never awaited", RuntimeWarning)  # if the command stops early
    with shared_budget([*own, *stored]), save_on_interrupt(lambda: f"tables saved in {folder}"):
        asyncio.run(serve(app, listening, None if http else server))


def _check_player(name: str, specs: Sequence[GameSpec]) -> None:
    """Raise the error of the default game if no game can create a player."""
    from helsinki_env.agents.registry import make_player

    problems = []
    for spec in specs:
        try:
            make_player(name, spec.config())
        except UserError as problem:
            problems.append(problem)
    if len(problems) == len(specs):
        raise problems[0]


def _token() -> str:
    """Return the token from the environment variable, or a random one."""
    token = os.environ.get(_TOKEN, "")
    if token and (len(token) < _LEAST_TOKEN or not token.isascii() or not token.isprintable() or " " in token):
        raise UserError(f"{_TOKEN}: found an unsuitable token, expected at least {_LEAST_TOKEN} printable characters")
    return token or secrets.token_urlsafe(24)

"""The ``helsinki play`` command: a local web page for games with computer players and other people."""

from __future__ import annotations

import json
import secrets
import socket
import warnings
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from helsinki_env.cli.options import AS_PUBLISHED, GameVariant, read_list
from helsinki_env.cli.precompile import groups_for, precompile_groups
from helsinki_env.data import UserError
from helsinki_env.engine.spec import game_names, spec_by_name, spec_of
from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.stopping import save_on_interrupt
from helsinki_env.utils.terminal import plain_console

if TYPE_CHECKING:
    from helsinki_env.web.tables import GameTable

_ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Wildcard addresses, each mapped to an address that a browser can open."""
_SEND_BUFFER = 2**18
"""Size of the socket send buffer for each connection, in bytes."""


def main(
    players: str | None = None,
    variant: GameVariant = AS_PUBLISHED,
    seed: int | None = None,
    host: str = "127.0.0.1",
    port: int = 8000,
    data: Path | None = None,
    open: bool = True,  # noqa: A002  # the name gives the option --no-open
    trust: bool = False,
) -> None:
    """Play in a browser, against computer players or other people, or watch players compete.

    The command opens a page on this machine. With --players or an option for the game, a game starts immediately;
    otherwise, you choose the game and its players on the page. The server saves every action before showing it, so
    running the same command again resumes all games after an interruption. Ctrl-C stops the server.

    Example: helsinki play --players human,heuristic

    Args:
        players: comma-separated players, one per seat: human, or a player as in helsinki simulate; default with an
            option for the game: human, and heuristic in the other seats.
        variant: game configuration.
        seed: random seed for the deal and the players; default: a new one.
        host: address to listen on. The default is reachable only from this machine. At any other address, everyone with
            the printed token can play.
        port: port to listen on; 0 selects a free port.
        data: database folder; default: the user's data folder.
        open: open the page in a browser.
        trust: allow code named by tables or tournaments in the --data folder to run: program:COMMAND and
            MODULE:ATTRIBUTE. Read it first.
    """
    with requires_extra("play"):
        from helsinki_env.agents.llm.usage import shared_budget
        from helsinki_env.web.security import bounded_server, is_loopback
        from helsinki_env.web.server import ServerSettings, create_app
        from helsinki_env.web.store import TableStore, data_folder
        from helsinki_env.web.tables import HUMAN

    console, folder = plain_console(), data or data_folder()
    names = read_list(players or "")
    chosen = variant.config(len(names) or None, 2, "number of --players")
    if not names and (variant != AS_PUBLISHED or seed is not None):
        names = [HUMAN, *["heuristic"] * (chosen.num_players - 1)]
    own = tuple(name for name in names if name != HUMAN)
    stored = check_tables(folder, own, trust or data is None)
    page = ""
    if names:
        table = _table(names, chosen, seed)
        page = f"/tables/{table.name}"
    others = [
        spec.config()
        for spec in map(spec_by_name, game_names())
        if spec.list_ui_actions and spec is not spec_of(chosen)
    ]
    listening = listen(host, port)
    precompile_groups(
        [*groups_for(own or ["heuristic"], chosen), *(part for other in others for part in groups_for((), other))]
    )
    token = "" if is_loopback(host) else secrets.token_urlsafe(16)
    reachable = network_address(host, listening)
    app = create_app(ServerSettings(folder, token, own, reachable if token else ""))
    if names:
        store = TableStore(folder)
        store.add(table)
        store.close()
    rest = page + (f"#token={token}" if token else "")
    address = f"{_url(_ANY.get(host, host), listening)}{rest}"
    # On a single machine, compression costs more time than it saves.
    server = bounded_server(app, compresses=bool(token))
    console.print(f"helsinki play: {address}")
    if host in _ANY:
        console.print(f"From other machines: {reachable}{rest}")
    if token:
        where = "this machine" if host in _ANY else host
        console.print(
            f"Anyone who can reach {where} and knows this address can play, watch and remove tables. The connection "
            "is not encrypted: use it only in a network that you trust."
        )
    console.print("Press Ctrl-C to stop; all tables are saved.")
    if open:
        webbrowser.open(address)
    # If Ctrl-C arrives before the server runs, a coroutine is never awaited, which is harmless.
    warnings.filterwarnings("ignore", "coroutine 'Server.serve' was never awaited", RuntimeWarning)
    with shared_budget([*own, *stored]), save_on_interrupt(lambda: f"tables saved in {folder}"):
        server.run(sockets=[listening])


def check_tables(folder: Path, typed: tuple[str, ...], trust: bool) -> list[str]:
    """Return the players of the tables and tournaments in a folder.

    Raise PlayerError if they name code that is neither typed nor trusted.
    """
    from helsinki_env.agents.registry import check_code
    from helsinki_env.web.levels import LEVEL
    from helsinki_env.web.own_players import CHECKPOINT
    from helsinki_env.web.store import TableStore

    store = TableStore(folder)
    try:
        seated = {chair.player for table in store.all() for chair in table.chairs}
        entered = {
            player
            for (settings,) in store.rows.execute("SELECT settings FROM tournaments")
            for player in json.loads(settings)["players"]
        }
    finally:
        store.close()
    # Only tables replace these names; in a tournament, they could be modules.
    code = {player for player in seated if not player.startswith((LEVEL, CHECKPOINT))} | entered
    check_code(sorted(code - set(typed)), store.path, trust=trust)
    return sorted(seated | entered)


def _table(names: list[str], config: Any, seed: int | None) -> GameTable:
    """Return the table given on the command line, after creating its players once to detect errors early."""
    from helsinki_env.agents.registry import make_player, player_names, unknown_player
    from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment

    known = [HUMAN, *player_names()]
    for name in names:
        if ":" not in name and name not in known:
            raise unknown_player(name, known)
        if name != HUMAN:
            make_player(name, config)
    chairs = [SeatAssignment(name, f"Player {seat + 1}" if name == HUMAN else name) for seat, name in enumerate(names)]
    return GameTable(secrets.token_hex(6), "", config, secrets.randbits(63) if seed is None else seed, tuple(chairs))


def network_address(host: str, listening: socket.socket) -> str:
    """Return the URL of a server for other machines, given its host and socket."""
    return _url(_own_address(listening.family) if host in _ANY else host, listening)


def _url(host: str, listening: socket.socket) -> str:
    port = listening.getsockname()[1]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _own_address(family: int) -> str:
    """Return the network address of this machine, or its host name if it has none."""
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as asking:
        asking.connect(("192.0.2.1" if family == socket.AF_INET else "2001:db8::1", 9))  # does not send any data
        return str(asking.getsockname()[0])
    return socket.gethostname()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; raise UserError if the address cannot be bound."""
    if not 0 <= port <= 65535:
        raise UserError(f"--port: found {port}, expected 0 to 65535; 0 selects a free port")
    listening = socket.socket()
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        if family != listening.family:
            listening.close()
            listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER)  # of each connection
        listening.bind((host, port))
    except (OSError, UnicodeError) as problem:  # the latter for names such as a..b
        listening.close()
        raise UserError(
            f"--host {host} --port {port}: cannot listen: {getattr(problem, 'strerror', None) or problem} "
            "(another server may use the port: choose another --port, or 0 for any free port)"
        ) from None
    listening.listen(100)
    return listening

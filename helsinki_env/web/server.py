"""Web server: pages, HTTP routes, and a WebSocket for the events at a table."""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from helsinki_env.data import choices_text, short_repr
from helsinki_env.engine.spec import GameSpec, config_from_dict, default_spec, game_names, spec_by_name, spec_of
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.analysis import add_analysis
from helsinki_env.web.errors import STATIC, error_response, not_found_response
from helsinki_env.web.evaluation import EvaluationJobs
from helsinki_env.web.finished import FinishedTables
from helsinki_env.web.game_starts import GameStart, start_from_saved
from helsinki_env.web.levels import levels_of, offered_players
from helsinki_env.web.player_workers import PlayerPool
from helsinki_env.web.records import Records
from helsinki_env.web.requests import MAX_LIST_ENTRIES, TOTAL, Beginning, Limit, NewTable, Offset
from helsinki_env.web.security import AccessMiddleware
from helsinki_env.web.sessions import PageConnection, TableSessions
from helsinki_env.web.setups import chosen_options, offered_options
from helsinki_env.web.store import StoreError, TableEntry, TableStore
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError
from helsinki_env.web.tournaments import TournamentManager, add_tournaments
from helsinki_env.web.views import choices, picture
from helsinki_env.web.websocket import PageSocket

with requires_extra("play"):
    from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import FileResponse, JSONResponse, Response
    from fastapi.staticfiles import StaticFiles

__all__ = ["STATIC", "ServerSettings", "create_app"]

_SIT_WITHIN = 10.0
"""Seconds within which a page must identify itself."""
_MOST_TABLES = 10_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerSettings:
    """Server settings.

    Attributes:
        data: folder of the database.
        token: the token that requests must present; empty if the server listens on loopback.
        players: names of additional players that may sit at tables.
    """

    data: Path
    token: str = ""
    players: tuple[str, ...] = ()


def create_app(settings: ServerSettings) -> Any:
    """Return the ASGI application.

    Raises:
        StoreError: if the database cannot be used.
    """
    store = TableStore(settings.data)
    thinkers = PlayerPool()
    rooms, records, judges = TableSessions(store, thinkers), Records(store), EvaluationJobs(thinkers)
    tournaments = TournamentManager(store)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        thinkers.begin()
        await asyncio.to_thread(_play_once)
        yield
        await rooms.close()
        await judges.close()
        await tournaments.close()
        thinkers.close()
        store.close()

    # FastAPI's documentation pages load scripts from a network, so they are disabled.
    app = FastAPI(title="helsinki play", docs_url=None, redoc_url=None, lifespan=lifespan)
    _answer_errors(app)
    _add_pages(app, store)
    _add_requests(app, settings, rooms, records)
    _add_socket(app, settings, rooms)
    add_analysis(app, rooms, records, judges)
    add_tournaments(app, tournaments, settings.players)
    return AccessMiddleware(app, settings.token)


def _play_once() -> None:
    """Take one action in every game and list its component files, so that first requests do not wait for loading."""
    for spec in map(spec_by_name, game_names()):
        if spec.list_ui_actions is not None:
            offered_options(spec)
            table = GameTable("", "", spec.config(), 0, (SeatAssignment(HUMAN, ""),) * spec.config().num_players)
            table.question()
            picture(table, 0)
            table.decide(0, choices(table.game)[0]["id"], "")


def _answer_errors(app: FastAPI) -> None:
    """Answer every error with one sentence."""

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, problem: RequestValidationError) -> JSONResponse:
        said = []
        for one in problem.errors()[:5]:
            broken = one["type"] == "json_invalid"  # then the location is a character offset
            where = "body" if broken else ".".join(str(part) for part in one["loc"] if part != "body") or "body"
            said.append(f"{where}: found {short_repr(one.get('input'))}: {one['msg']}")
        return error_response("; ".join(said), 422)

    @app.exception_handler(TableError)
    @app.exception_handler(ValueError)
    async def refused(_: Request, problem: ValueError) -> JSONResponse:
        return error_response(str(problem), 404 if isinstance(problem, TableError) else 400)

    async def other(request: Request, problem: Any) -> Response:
        looks = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if problem.status_code == 404 and looks and not request.url.path.startswith("/api/"):
            return not_found_response()
        return error_response(str(problem.detail), problem.status_code)

    for status in (400, 404, 405, 408, 413):
        app.add_exception_handler(status, other)

    @app.exception_handler(StoreError)
    async def unkept(_: Request, problem: StoreError) -> JSONResponse:
        return error_response(str(problem), 503)


def _add_pages(app: FastAPI, store: TableStore) -> None:
    @app.get("/", include_in_schema=False)
    async def start() -> FileResponse:
        return FileResponse(STATIC / "index.html")

    @app.get("/tables/{name}", include_in_schema=False)
    async def at_table(name: str) -> Response:
        return FileResponse(STATIC / "table.html") if store.has(name) else not_found_response()

    app.mount("/static", StaticFiles(directory=STATIC), name="static")


def _add_requests(app: FastAPI, settings: ServerSettings, rooms: TableSessions, records: Records) -> None:
    finished = FinishedTables(rooms.store)

    @app.get("/api/games")
    async def games() -> list[dict[str, Any]]:
        """Return the games and the options of their tables."""
        specs = sorted(map(spec_by_name, game_names()), key=lambda spec: not spec.is_default)  # the default game first
        return [_described(spec, settings) for spec in specs if spec.list_ui_actions]

    @app.get("/api/tables")
    async def tables(answer: Response, offset: Offset = 0, limit: Limit = MAX_LIST_ENTRIES) -> list[dict[str, Any]]:
        """Return the saved tables, newest first; the header X-Total-Count gives their total number."""
        kept = rooms.store.all(offset, limit)
        answer.headers[TOTAL] = str(len(rooms.store))
        over = await finished.among(kept)
        return [_listed(one, one.name in over) for one in kept]

    @app.post("/api/tables", status_code=201)
    async def make(wanted: NewTable) -> dict[str, Any]:
        """Create a table; `links` has the address of each human's seat if every human gets one."""
        if len(rooms.store) >= _MOST_TABLES:
            raise ValueError(f"tables: found {_MOST_TABLES:,}, which is enough; remove some first")
        table = _new_table(wanted, settings, records)
        rooms.store.add(table)
        links = [
            {"seat": seat, "name": table.chairs[seat].name, "link": _link(table, seat)}
            for seat in table.humans
            if table.chairs[seat].key
        ]
        return {"table": table.name, "links": links}

    @app.delete("/api/tables/{name}")
    async def remove(name: str) -> dict[str, Any]:
        """Delete a table."""
        await rooms.remove(name)
        return {"table": name}


def _described(spec: GameSpec, settings: ServerSettings) -> dict[str, Any]:
    return {
        "name": spec.name,
        "title": spec.name.capitalize(),
        "players": [2, 3, 4],
        "levels": [level._asdict() for level in levels_of(spec)],
        "others": list(offered_players(spec, settings.players)),
        "options": offered_options(spec),
    }


def _listed(kept: TableEntry, over: bool) -> dict[str, Any]:
    return {
        "table": kept.name,
        "title": kept.title,
        "made": kept.made,
        "game": kept.game or default_spec().name,
        "seats": [{"name": chair.name, "player": chair.player} for chair in kept.chairs],
        "decisions": kept.decisions,
        "links": any(chair.key for chair in kept.chairs),
        "over": over,
    }


def _link(table: GameTable, seat: int) -> str:
    """Return the address of a seat. The fragment after the # is never sent to a server or written to its log."""
    return f"/tables/{table.name}#key={table.chairs[seat].key}"


def _new_table(wanted: NewTable, settings: ServerSettings, records: Records) -> GameTable:
    begun = _dealt(wanted) if wanted.begin is None else _begun(wanted, wanted.begin, records)
    chairs = _chairs(wanted, spec_of(begun.config), settings)
    return GameTable(
        secrets.token_hex(6), wanted.title, begun.config, begun.seed, chairs, begun.past_actions, begun.start
    )


def _dealt(wanted: NewTable) -> GameStart:
    spec = spec_by_name(wanted.game or default_spec().name)
    if spec.list_ui_actions is None:
        raise ValueError(f"game: {spec.name} cannot be played in a browser")
    config = config_from_dict(
        chosen_options(spec, wanted.options) | {"game": spec.name, "num_players": len(wanted.chairs)}
    )
    return GameStart(config, secrets.randbits(63) if wanted.seed is None else wanted.seed)


def _begun(wanted: NewTable, begin: Beginning, records: Records) -> GameStart:
    for key in ("game", "options", "seed"):
        if key in wanted.model_fields_set:
            raise ValueError(f"{key}: found {short_repr(getattr(wanted, key))}, expected no such key beside from")
    begun = start_from_saved(records.load(begin.record), begin.decisions)
    if len(wanted.chairs) != begun.config.num_players:
        raise ValueError(f"chairs: found {len(wanted.chairs)}, expected {begun.config.num_players}, as in the record")
    return begun


def _chairs(wanted: NewTable, spec: GameSpec, settings: ServerSettings) -> tuple[SeatAssignment, ...]:
    allowed = (HUMAN, *(level.player for level in levels_of(spec)), *offered_players(spec, settings.players))
    chairs, own_links = [], wanted.sharing == "links"
    for seat, chair in enumerate(wanted.chairs):
        if chair.player not in allowed:
            raise ValueError(
                f"chairs.{seat}.player: found {short_repr(chair.player)}, "
                f"expected {choices_text(allowed, chair.player)}"
            )
        human = chair.player == HUMAN
        key = secrets.token_urlsafe(16) if human and own_links else ""
        chairs.append(SeatAssignment(chair.player, chair.name or (f"Player {seat}" if human else chair.player), key))
    return tuple(chairs)


def _add_socket(app: FastAPI, settings: ServerSettings, rooms: TableSessions) -> None:
    @app.websocket("/ws/tables/{name}")
    async def at_table(socket: WebSocket, name: str) -> None:
        await socket.accept()
        line = PageSocket(socket)
        page, room = None, None
        try:
            first = await asyncio.wait_for(line.heard(), _SIT_WITHIN)
            if first["type"] != "sit":
                raise TableError("sit: a page must first say who it is")
            if settings.token and not hmac.compare_digest(first["token"].encode(), settings.token.encode()):
                raise TableError("token: none or a wrong one; open the address that was printed when the server began")
            room = rooms.open(name)
            page = PageConnection(line.send, room.seats_of(first["key"]))
            room.join(page)
            await line.serve(partial(room.asked, page))
        except TableError as problem:
            with suppress(WebSocketDisconnect, RuntimeError):  # the page may have disconnected
                await socket.send_json({"type": "refused", "message": str(problem)})
                await socket.close(4400, "refused")
        except TimeoutError:
            await socket.close(4408, "a page must first say who it is")
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page has disconnected
        finally:
            if room is not None:
                await rooms.leave(room, page)

"""Web server: pages, HTTP routes, and a WebSocket for table events."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import random
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from helsinki_env.data import choices_text, short_repr
from helsinki_env.engine.spec import GameSpec, config_from_dict, default_spec, spec_by_name, spec_of
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.analysis import add_analysis
from helsinki_env.web.boards import Boards
from helsinki_env.web.clocks import TableClock, substitute
from helsinki_env.web.evaluation import EvaluationJobs
from helsinki_env.web.help import has_lesson, lesson_table, rules_text
from helsinki_env.web.levels import level_data
from helsinki_env.web.names import default_names, is_lesson, seat_name, shown_names
from helsinki_env.web.own_players import OwnPlayers
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.practice import Exercises, puzzles
from helsinki_env.web.practice_session import PRACTICE, PUZZLES, PracticeSession
from helsinki_env.web.qr import qr_path
from helsinki_env.web.records import GameStart, SavedGames, start_from_saved
from helsinki_env.web.requests import (
    MAX_LIST_ENTRIES,
    STATIC,
    TOTAL,
    Limit,
    NewBoard,
    NewLesson,
    NewTable,
    Offset,
    QrText,
    Rematch,
    add_page,
    error_response,
    not_found_response,
)
from helsinki_env.web.security import TOKEN_REMEDY, AccessMiddleware
from helsinki_env.web.sessions import PageConnection, TableSessions
from helsinki_env.web.setups import (
    browser_game,
    browser_games,
    chosen_options,
    levels_of,
    offered_options,
    offered_players,
)
from helsinki_env.web.store import StoreError, TableEntry, TableStore, finished_tables
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment, TableError
from helsinki_env.web.tournament_routes import add_tournaments
from helsinki_env.web.tournaments import TournamentManager
from helsinki_env.web.views import choices, picture
from helsinki_env.web.websocket import PageSocket

with requires_extra("play"):
    from fastapi import FastAPI, Request, WebSocket, WebSocketDisconnect
    from fastapi.exceptions import RequestValidationError
    from fastapi.responses import JSONResponse, Response
    from fastapi.staticfiles import StaticFiles

_SIT_TIMEOUT = 10.0
"""Seconds within which a connecting page must identify itself."""
_MAX_TABLES = 10_000
_SAMPLE_SEED, _SAMPLE_ACTIONS = 7, 90
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ServerSettings:
    """Server settings."""

    data: Path  # database folder
    token: str = ""  # token that requests must present; empty if the server listens on loopback
    players: tuple[str, ...] = ()  # names of additional players offered
    address: str = ""  # URL for other machines, such as http://192.168.1.5:8000; empty if there is none


def create_app(settings: ServerSettings) -> Any:
    """Create the ASGI application; raise StoreError if the database cannot be used."""
    own = OwnPlayers(settings.data)
    store, pool = TableStore(settings.data), PlayerPool(own)
    sessions, records, jobs = TableSessions(store, pool), SavedGames(store), EvaluationJobs(pool)
    tournaments, exercises = TournamentManager(store), Exercises(store, pool)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        pool.begin()
        await asyncio.to_thread(_warm_up)
        examining = asyncio.create_task(finished_tables(store, store.unknown()))
        yield
        examining.cancel()
        await asyncio.wait({examining})
        await sessions.close()
        await exercises.close()
        await jobs.close()
        await tournaments.close()
        pool.close()
        store.close()

    # FastAPI's documentation pages are disabled, because they load scripts from the internet.
    app = FastAPI(title="helsinki play", docs_url=None, redoc_url=None, lifespan=lifespan)
    app.state.sessions, app.state.pool = sessions, pool
    _add_error_handlers(app)
    add_page(app, "/", "index.html")
    add_page(app, "/tables/{name}", "table.html", store.has)
    for kind in (PRACTICE, PUZZLES):
        add_page(app, f"/{kind}", "table.html")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    _add_tables(app, settings, sessions, records, own)
    _add_practice(app, exercises)
    _add_socket(app, settings, sessions, exercises, pool)
    add_analysis(app, sessions, records, jobs)
    add_tournaments(app, tournaments, settings.players)
    return AccessMiddleware(app, settings.token)


def _warm_up() -> None:
    """Load every game (take one action and list its component files), so that the first requests are fast."""
    for spec in browser_games():
        offered_options(spec)
        table = _example_table(spec, 0)
        table.question()
        picture(table, 0)
        table.decide(0, choices(table.game)[0]["id"], "")


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(RequestValidationError)
    async def invalid_request(_: Request, problem: RequestValidationError) -> JSONResponse:
        messages = []
        for error in problem.errors()[:5]:
            not_json = error["type"] == "json_invalid"  # in this case, the location is a character offset
            where = "body" if not_json else ".".join(str(part) for part in error["loc"] if part != "body") or "body"
            messages.append(f"{where}: found {short_repr(error.get('input'))}: {error['msg']}")
        return error_response("; ".join(messages), 422)

    @app.exception_handler(TableError)
    @app.exception_handler(ValueError)
    async def rejected(_: Request, problem: ValueError) -> JSONResponse:
        return error_response(str(problem), 404 if isinstance(problem, TableError) else 400)

    async def http_error(request: Request, problem: Any) -> Response:
        browser = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if problem.status_code == 404 and browser and not request.url.path.startswith("/api/"):
            return not_found_response()
        return error_response(str(problem.detail), problem.status_code)

    for status in (400, 404, 405, 408, 413):
        app.add_exception_handler(status, http_error)

    @app.exception_handler(StoreError)
    async def not_saved(_: Request, problem: StoreError) -> JSONResponse:
        return error_response(str(problem), 503)


def _add_tables(
    app: FastAPI, settings: ServerSettings, sessions: TableSessions, records: SavedGames, own: OwnPlayers
) -> None:
    store, boards = sessions.store, sessions.store.boards

    @app.get("/api/games/{name}/board")
    async def board(name: str) -> dict[str, Any]:
        """Return the component values that can be changed, the abilities that can be disabled, and saved boards."""
        spec = browser_game(name)
        return {"groups": boards.fields(spec), "abilities": boards.abilities(spec), "saved": boards.saved(spec)}

    @app.get("/api/host")
    async def host() -> dict[str, str]:
        """Return the URL of the server for other machines; empty if only this machine can reach it."""
        return {"address": settings.address}

    @app.post("/api/qr")
    async def qr(wanted: QrText) -> dict[str, Any]:
        """Return a QR code: its size including the border, and the SVG path of its dark modules."""
        size, path = await asyncio.to_thread(qr_path, wanted.text)
        return {"size": size, "path": path}

    @app.post("/api/boards", status_code=201)
    async def make_board(wanted: NewBoard) -> dict[str, str]:
        """Save a custom board; its name is a value for the `components` option."""
        return {"components": boards.save(browser_game(wanted.game), wanted.values)}

    @app.delete("/api/boards/{name}")
    async def remove_board(name: str) -> dict[str, str]:
        """Delete a custom board that no saved game uses."""
        boards.remove(name)
        return {"components": name}

    @app.get("/api/games")
    async def games() -> list[dict[str, Any]]:
        """Return the games and their table options."""
        return await asyncio.to_thread(lambda: [_game_data(spec, settings, own) for spec in browser_games()])

    @app.get("/api/games/{name}/rules")
    async def rules(name: str) -> list[dict[str, str]]:
        """Return the rules of a game for two players and the published components."""
        return rules_text(browser_game(name).config())

    @app.get("/api/games/{name}/picture")
    async def game_picture(name: str) -> dict[str, Any]:
        """Return a picture of a game in progress."""
        return await asyncio.to_thread(_sample_picture, browser_game(name).name)

    @app.get("/api/tables")
    async def tables(offset: Offset = 0, limit: Limit = MAX_LIST_ENTRIES, over: bool | None = None) -> Response:
        """Return the saved tables, newest first; the header X-Total-Count contains the total number.

        `over` selects either the tables whose game is over or the others.
        """
        entries = store.all(offset, limit, over)
        finished = await finished_tables(store, entries)
        shown = [entry for entry in entries if over is None or (entry.name in finished) == over]
        content = await asyncio.to_thread(_list_content, shown, finished)
        return Response(content, media_type="application/json", headers={TOTAL: str(store.count(over))})

    @app.post("/api/tables", status_code=201)
    async def make(wanted: NewTable) -> dict[str, Any]:
        """Create a table; `links` contains the URL for each human's seat if humans have separate links."""
        check_room(store)
        start = _game_start(wanted, records, boards)
        offered = await asyncio.to_thread(own.offered, spec_of(start.config))
        table = _new_table(wanted, start, settings, {one.player: one.label for one in offered})
        for seat, chair in enumerate(table.chairs):
            if chair.player in {one.player for one in offered}:
                await _check_player(sessions, table, seat)
        begin = wanted.begin
        store.add(table, *(("", 0) if begin is None else (begin.record, begin.decisions)))
        links = [
            # The URL fragment after the # is never sent to a server or written to its log.
            {"seat": seat, "name": seat_name(table, seat), "link": f"/tables/{table.name}#key={chair.key}"}
            for seat, chair in enumerate(table.chairs)
            if chair.key
        ]
        return {"table": table.name, "links": links}

    @app.post("/api/tables/{name}/again", status_code=201)
    async def make_again(name: str, wanted: Rematch) -> dict[str, Any]:
        """Create a table with another table's settings and a new deal; `swap` moves each player to the next seat."""
        check_room(store)
        old = store.load(name)
        if any(chair.key for chair in old.chairs):
            raise ValueError(f"table {name}: its seats have links of their own; create a new table instead")
        chairs = old.chairs[-1:] + old.chairs[:-1] if wanted.swap else old.chairs
        title = "" if is_lesson(old.title, old.chairs) else old.title
        clock = old.clock and TableClock.of(old.clock.seconds, old.clock.increment, len(chairs))
        table = GameTable(secrets.token_hex(6), title, old.config, secrets.randbits(63), chairs, clock=clock)
        store.add(table)
        return {"table": table.name}

    @app.post("/api/lessons", status_code=201)
    async def make_lesson(wanted: NewLesson) -> dict[str, Any]:
        """Create a table for a guided game."""
        check_room(store)
        spec = browser_game(wanted.game)
        table = lesson_table(spec, levels_of(spec)[0].label)
        store.add(table)
        return {"table": table.name}

    @app.delete("/api/tables/{name}")
    async def remove(name: str) -> dict[str, Any]:
        """Delete a table."""
        await sessions.remove(name)
        return {"table": name}


@lru_cache(maxsize=8)
def _sample_picture(name: str) -> dict[str, Any]:
    """Return the `svg` of a game in progress for the start page; every call returns the same picture."""
    rng = random.Random(_SAMPLE_SEED)
    table = _example_table(spec_by_name(name), _SAMPLE_SEED)
    for _ in range(_SAMPLE_ACTIONS):
        if table.game.done:
            break
        found = choices(table.game)
        best = max(found, key=lambda one: (len(one["wins"]), one["kind"] == "BUILD", rng.random()))
        table.decide(table.number, best["id"], "")
    return {"svg": picture(table, 0)["svg"]}


def _example_table(spec: GameSpec, seed: int) -> GameTable:
    """Return an example table of a game, with humans in all seats."""
    config = spec.config()
    return GameTable("", "", config, seed, (SeatAssignment(HUMAN, ""),) * config.num_players)


def check_room(store: TableStore) -> None:
    """Raise ValueError if there is no room for another table."""
    if len(store) >= _MAX_TABLES:
        raise ValueError(f"tables: found {_MAX_TABLES:,}, expected fewer; delete some first")


async def _check_player(sessions: TableSessions, table: GameTable, seat: int) -> None:
    """Raise ValueError if the player of a seat cannot be created."""
    try:
        await sessions.pool.check(table.config, table.chairs[seat].player)
    except PlayerFailedError as problem:
        raise ValueError(f"chairs.{seat}.player: cannot be created: {problem}") from None


def _game_data(spec: GameSpec, settings: ServerSettings, own: OwnPlayers) -> dict[str, Any]:
    levels = levels_of(spec)
    offered = offered_players(spec, settings.players)
    return {
        "name": spec.name,
        "title": spec.name.capitalize(),
        "players": [2, 3, 4],
        "levels": [level._asdict() for level in levels],
        "others": [player for player in offered if player not in {level.player for level in levels}],
        "own": [one._asdict() for one in own.offered(spec) if one.player not in offered],
        "options": offered_options(spec),
        "lesson": has_lesson(spec),
        "scale": level_data(spec.name),
        "substitute": substitute(spec),
    }


def _list_content(entries: list[TableEntry], finished: set[str]) -> bytes:
    """Return a list of tables as JSON."""
    return json.dumps([_entry_data(entry, entry.name in finished) for entry in entries]).encode()


def _entry_data(entry: TableEntry, over: bool) -> dict[str, Any]:
    game = entry.game or default_spec().name
    title, names = shown_names(entry.title, entry.chairs, game)
    return {
        "table": entry.name,
        "title": title,
        "made": entry.made,
        "game": game,
        "seats": [{"name": name, "player": chair.player} for name, chair in zip(names, entry.chairs, strict=True)],
        "decisions": entry.decisions,
        "links": any(chair.key for chair in entry.chairs),
        "over": over,
        "from_position": entry.from_position,
    }


def _new_table(wanted: NewTable, start: GameStart, settings: ServerSettings, own: dict[str, str]) -> GameTable:
    """Return a new table; `own` maps the names of the user's own players to their labels."""
    chairs = _chairs(wanted, spec_of(start.config), settings, own)
    clock = None
    if wanted.clock is not None:
        if all(chair.player != HUMAN for chair in chairs):
            raise ValueError("clock: found a table without people, expected a person or no clock")
        clock = TableClock.of(60 * wanted.clock.minutes, wanted.clock.increment, len(chairs))
    return GameTable(
        secrets.token_hex(6), wanted.title, start.config, start.seed, chairs, start.past_actions, start.start, clock
    )


def _game_start(wanted: NewTable, records: SavedGames, boards: Boards) -> GameStart:
    if wanted.begin is None:
        spec = browser_game(wanted.game)
        options, own = boards.config_values(wanted.options, len(wanted.chairs))
        config = config_from_dict(
            chosen_options(spec, options) | own | {"game": spec.name, "num_players": len(wanted.chairs)}
        )
        return GameStart(config, secrets.randbits(63) if wanted.seed is None else wanted.seed)
    for key in ("game", "options", "seed"):
        if key in wanted.model_fields_set:
            raise ValueError(
                f"{key}: found {short_repr(getattr(wanted, key))}, expected no such key together with from"
            )
    start = start_from_saved(records.load(wanted.begin.record), wanted.begin.decisions)
    if len(wanted.chairs) != start.config.num_players:
        raise ValueError(f"chairs: found {len(wanted.chairs)}, expected {start.config.num_players}, as in the record")
    return start


def _chairs(
    wanted: NewTable, spec: GameSpec, settings: ServerSettings, own: dict[str, str]
) -> tuple[SeatAssignment, ...]:
    labels = own | default_names(spec.name)
    allowed = (HUMAN, *offered_players(spec, settings.players), *labels)
    chairs = []
    for seat, chair in enumerate(wanted.chairs):
        if chair.player not in allowed:
            raise ValueError(
                f"chairs.{seat}.player: found {short_repr(chair.player)}, "
                f"expected {choices_text(allowed, chair.player)}"
            )
        human = chair.player == HUMAN
        key = secrets.token_urlsafe(16) if human and wanted.sharing == "links" else ""
        chairs.append(
            SeatAssignment(
                chair.player,
                chair.name or (f"Player {seat + 1}" if human else labels.get(chair.player, chair.player)),
                key,
            )
        )
    return tuple(chairs)


def _add_practice(app: FastAPI, exercises: Exercises) -> None:
    @app.get("/api/ratings")
    async def ratings() -> dict[str, Any]:
        """Return the user's estimated rating in each game, with its 95% credible interval."""
        return {game: estimate._asdict() for game, estimate in exercises.own_ratings().items()}

    @app.get("/api/practice")
    async def practice() -> dict[str, Any]:
        """Return the number of exercises and puzzles, and examine the games finished since the last call."""
        exercises.examine()
        return exercises.counts() | {"puzzles": len(puzzles())}


def _add_socket(
    app: FastAPI, settings: ServerSettings, sessions: TableSessions, exercises: Exercises, pool: PlayerPool
) -> None:
    async def _practice(name: str, page_socket: PageSocket, first: int) -> None:
        practice = PracticeSession(name, exercises, pool, page_socket.send, first)
        try:
            practice.begin()
            await page_socket.serve(practice.handle)
        finally:
            practice.close()

    @app.websocket("/ws/tables/{name}")
    async def table_socket(socket: WebSocket, name: str, puzzle: int = 0) -> None:
        await socket.accept()
        page_socket = PageSocket(socket)
        page, session = None, None
        try:
            first = await asyncio.wait_for(page_socket.receive(), _SIT_TIMEOUT)
            if first["type"] != "sit":
                raise TableError(f"type: found {first['type']!r}, expected 'sit' as the first message")
            if settings.token and not hmac.compare_digest(first["token"].encode(), settings.token.encode()):
                raise TableError(f"token: missing or wrong; {TOKEN_REMEDY}")
            if name in (PRACTICE, PUZZLES):
                await _practice(name, page_socket, puzzle)
                return
            session = sessions.open(name)
            page = PageConnection(page_socket.send, session.seats_of(first["key"]))
            session.join(page)
            await page_socket.serve(partial(session.handle, page))
        except TableError as problem:
            with suppress(WebSocketDisconnect, RuntimeError):  # the page may have disconnected
                await socket.send_json({"type": "refused", "message": str(problem)})
                await socket.close(4400, "refused")
        except TimeoutError:
            await socket.close(4408, "the first message did not arrive in time")
        except (WebSocketDisconnect, RuntimeError):
            pass  # the page has disconnected
        finally:
            if session is not None:
                await sessions.leave(session, page)

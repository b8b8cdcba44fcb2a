"""Routes for game analysis: uploads, saved games and positions, pictures, and evaluations."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from helsinki_env.data import Node, parse_json
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import GameSpec
from helsinki_env.notation import to_dict
from helsinki_env.records.animation import VIEWER, make_animation, page
from helsinki_env.utils.extras import MissingExtraError, requires_extra
from helsinki_env.web.evaluation import EVALUATORS, EvaluationJobs
from helsinki_env.web.levels import level_number
from helsinki_env.web.records import SavedGame, SavedGames, record_of
from helsinki_env.web.requests import MAX_LIST_ENTRIES, TOTAL, Limit, Offset, add_page, error_response
from helsinki_env.web.sessions import TableSessions
from helsinki_env.web.setups import levels_of
from helsinki_env.web.uploads import UploadError, parse_upload, select_upload, upload_summary

with requires_extra("play"):
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, Response
    from fastapi.staticfiles import StaticFiles

_MAX_LISTED_GAMES = 300
_MAX_ANIMATIONS = 8
_PARALLEL_UPLOADS = 4
"""Maximum number of uploads processed in parallel; others wait."""


def add_analysis(app: FastAPI, sessions: TableSessions, records: SavedGames, jobs: EvaluationJobs) -> None:
    """Add the analysis pages and routes to the application."""
    add_page(app, "/analysis", "analysis.html")
    add_page(app, "/analysis/{name}", "study.html", records.has)
    app.mount("/viewer", StaticFiles(directory=VIEWER), name="viewer")
    _add_uploads(app, sessions, records)
    _add_records(app, records, jobs)
    _add_evaluations(app, records, jobs)


def _add_uploads(app: FastAPI, sessions: TableSessions, records: SavedGames) -> None:
    parallel = asyncio.Semaphore(_PARALLEL_UPLOADS)  # each upload holds an entire file in memory

    @app.exception_handler(UploadError)
    async def upload_error(_: Request, problem: UploadError) -> JSONResponse:
        return error_response(str(problem), 400, {"place": problem.span and problem.span._asdict()})

    @app.post("/api/records/look")
    async def look(request: Request) -> dict[str, Any]:
        """Parse a file or text without saving it; return a position, or a list of the first game records."""
        async with parallel:
            content = await request.body()
            return await asyncio.to_thread(_read, content, lambda upload: upload_summary(upload, _MAX_LISTED_GAMES))

    @app.post("/api/records", status_code=201)
    async def save(request: Request, game: int = 1) -> dict[str, str]:
        """Save a position or a game from a file, from a text, or from a table given as `{"table": name}`."""
        async with parallel:
            content = await request.body()
            if (table := _table_in(content)) is None:
                upload = await asyncio.to_thread(_read, content, lambda upload: select_upload(upload, game))
                return {"record": records.add(upload)}
        return {"record": records.add(record_of(sessions.store.load(table), sessions.store.taken_back(table)))}


def _read(content: bytes, apply: Callable[[Any], Any]) -> Any:
    """Parse an upload and apply a function; raise UploadError if this requires a package that is not installed."""
    try:
        return apply(parse_upload(content))
    except MissingExtraError as problem:
        raise UploadError(f"file: cannot be read: {problem}") from None


def _table_in(content: bytes) -> str | None:
    """Return the name of the table to save, or None for any other content."""
    if len(content) > 1000:
        return None
    try:
        data = parse_json(content.decode(), UploadError).value
    except ValueError:
        return None
    if not isinstance(data, dict) or [*data] != ["table"]:
        return None
    return Node(data["table"], UploadError, "table").text()


def _add_records(app: FastAPI, records: SavedGames, jobs: EvaluationJobs) -> None:
    animations = _Animations()

    @app.get("/api/records")
    async def entries(answer: Response, offset: Offset = 0, limit: Limit = MAX_LIST_ENTRIES) -> list[dict[str, Any]]:
        """Return the saved games and positions, newest first; the header X-Total-Count contains the total number."""
        answer.headers[TOTAL] = str(len(records))
        return [{"record": entry.name, **entry._asdict()} for entry in records.all(offset, limit)]

    @app.get("/api/records/{name}")
    async def one(name: str) -> Response:
        """Return a game as an animation, or a position as a picture."""
        return Response(await animations.of(records.load(name)), media_type="application/json")

    @app.get("/api/records/{name}/branches")
    async def branches(name: str) -> list[dict[str, Any]]:
        """Return the tables that continue from a game or position."""
        return records.branches(name)

    @app.delete("/api/records/{name}")
    async def remove(name: str) -> dict[str, str]:
        """Delete a game or position."""
        records.remove(name)
        await jobs.remove(name)
        return {"record": name}

    @app.get("/api/records/{name}/file")
    async def file(name: str) -> Response:
        """Return a game record as one line of JSON, or a position as JSON."""
        saved = records.load(name)
        text = json.dumps(to_dict(saved.begin)) if saved.record is None else saved.record.to_json()
        return _download(text + "\n", "application/json", f"{name}.json{'l' if saved.record else ''}")

    @app.get("/api/records/{name}/page")
    async def standalone_page(name: str, evaluator: str = "") -> Response:
        """Return a game as a standalone page, including an evaluator's results if available."""
        saved = records.load(name)
        if saved.record is None:
            raise ValueError(f"record {name}: found a position, expected a game")
        evaluation = jobs.of(saved, evaluator).game_evaluation if evaluator else None
        text = await asyncio.to_thread(page, saved.record, evaluation, title=saved.title)
        return _download(text, "text/html", f"{name}.html")


def _download(text: str, kind: str, name: str) -> Response:
    """Return a file download; the file names generated here need no quoting."""
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


class _Animations:
    """Cache of recent animations, because drawing all pictures of a game takes a few seconds."""

    def __init__(self) -> None:
        self._cache: OrderedDict[str, bytes] = OrderedDict()
        self._drawing = asyncio.Lock()

    async def of(self, saved: SavedGame) -> bytes:
        """Return the data of a game or position as JSON."""
        if saved.name not in self._cache:
            async with self._drawing:
                if saved.name not in self._cache:
                    self._cache[saved.name] = await asyncio.to_thread(_page_data, saved)
                while len(self._cache) > _MAX_ANIMATIONS:
                    self._cache.popitem(last=False)
        data = self._cache[saved.name]
        self._cache.move_to_end(saved.name)
        return data


def _page_data(saved: SavedGame) -> bytes:
    data: dict[str, Any] = {
        "record": saved.name,
        "title": saved.title,
        "game": saved.begin.spec.name,
        "evaluators": EVALUATORS,
    }
    if saved.record is None:
        data |= {"kind": "position", "position": _position(saved.begin)}
    else:
        end = saved.after(len(saved.decisions))
        animation = make_animation(saved.record)
        data |= {
            "kind": "record",
            "animation": animation,
            "players": animation["players"],
            "to_move": None if end.done else end.seat,
        }
        animation["players"] = [_label(saved.begin.spec, player) for player in animation["players"]]
    return json.dumps(data, separators=(",", ":")).encode()


def _label(spec: GameSpec, player: str) -> str:
    """Return the display name of a player."""
    number = level_number(player)
    labels = {level.player: level.label for level in levels_of(spec)}
    return f"Level {number}" if number is not None else labels.get(player, player)


def _position(game: BoardGame) -> dict[str, Any]:
    return {
        "svg": game.spec.draw(game, "svg"),
        "scores": game.scores().tolist(),
        "seat": game.seat,
        "phase": str(game.phase),
        "round": game.round,
        "done": game.done,
    }


def _add_evaluations(app: FastAPI, records: SavedGames, jobs: EvaluationJobs) -> None:
    @app.get("/api/records/{name}/evaluation")
    async def progress(name: str, evaluator: str) -> dict[str, Any]:
        """Return the progress of an evaluation and, once it is complete, its results."""
        return jobs.of(records.load(name), evaluator).to_dict()

    @app.post("/api/records/{name}/evaluation", status_code=202)
    async def start(name: str, evaluator: str) -> dict[str, Any]:
        """Start evaluating a game."""
        return jobs.start(records.load(name), evaluator).to_dict()

    @app.delete("/api/records/{name}/evaluation")
    async def stop(name: str, evaluator: str) -> dict[str, Any]:
        """Stop evaluating a game."""
        return (await jobs.stop(records.load(name), evaluator)).to_dict()

"""Routes for game analysis: uploads, saved games and positions, their pictures, and evaluations."""

from __future__ import annotations

import asyncio
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from helsinki_env.data import Node, parse_json
from helsinki_env.engine.game import BoardGame
from helsinki_env.notation import to_dict
from helsinki_env.records.animation import VIEWER, make_animation, page
from helsinki_env.utils.extras import MissingExtraError, requires_extra
from helsinki_env.web.errors import STATIC, error_response, not_found_response
from helsinki_env.web.evaluation import EVALUATORS, EvaluationJobs
from helsinki_env.web.records import Records, SavedGame, record_of
from helsinki_env.web.requests import MAX_LIST_ENTRIES, TOTAL, Limit, Offset
from helsinki_env.web.sessions import TableSessions
from helsinki_env.web.uploads import UploadError, parse_upload, select_upload, upload_summary

with requires_extra("play"):
    from fastapi import FastAPI, Request
    from fastapi.responses import FileResponse, JSONResponse, Response
    from fastapi.staticfiles import StaticFiles

__all__ = ["add_analysis"]

_MOST_LISTED = 300
_FILMS = 8
_UPLOADS = 4
"""Maximum number of uploads read in parallel; others wait."""


def add_analysis(app: FastAPI, rooms: TableSessions, records: Records, judges: EvaluationJobs) -> None:
    """Add the pages and routes for analysis to the application.

    Args:
        app: the application.
        rooms: the tables, for games played on this server.
        records: the saved games and positions.
        judges: the evaluators.
    """
    _add_pages(app, records)
    _add_uploads(app, rooms, records)
    _add_records(app, records, judges)
    _add_judgements(app, records, judges)

    @app.exception_handler(UploadError)
    async def unusable(_: Request, problem: UploadError) -> JSONResponse:
        return error_response(str(problem), 400, {"place": problem.place and problem.place._asdict()})


def _add_pages(app: FastAPI, records: Records) -> None:
    @app.get("/analysis", include_in_schema=False)
    async def analysis() -> FileResponse:
        return FileResponse(STATIC / "analysis.html")

    @app.get("/analysis/{name}", include_in_schema=False)
    async def study(name: str) -> Response:
        return FileResponse(STATIC / "study.html") if records.has(name) else not_found_response()

    app.mount("/viewer", StaticFiles(directory=VIEWER), name="viewer")


def _add_uploads(app: FastAPI, rooms: TableSessions, records: Records) -> None:
    reading = asyncio.Semaphore(_UPLOADS)  # each upload holds a whole file

    @app.post("/api/records/look")
    async def look(request: Request) -> dict[str, Any]:
        """Return the contents of a file or text without saving it: a position, or a list of the first game records."""
        async with reading:
            content = await request.body()
            return await asyncio.to_thread(_opened, content, lambda found: upload_summary(found, _MOST_LISTED))

    @app.post("/api/records", status_code=201)
    async def bring(request: Request, game: int = 1) -> dict[str, str]:
        """Save a position or a game from a file, a text, or a table given as `{"table": name}`."""
        async with reading:
            content = await request.body()
            if (table := _table_in(content)) is None:
                found = await asyncio.to_thread(_opened, content, lambda found: select_upload(found, game))
                return {"record": records.add(found)}
        return {"record": records.add(record_of(rooms.store.load(table), rooms.store.taken_back(table)))}


def _opened(content: bytes, what: Callable[[Any], Any]) -> Any:
    """Apply a reader to an upload; UploadError if the reader needs a package that is not installed."""
    try:
        return what(parse_upload(content))
    except MissingExtraError as problem:
        raise UploadError(f"file: cannot be read here: {problem}") from None


def _table_in(content: bytes) -> str | None:
    """Return the name of the table to save, or None if the content is something else."""
    if len(content) > 1000:
        return None
    try:
        data = parse_json(content.decode(), UploadError).value
    except ValueError:
        return None
    if not isinstance(data, dict) or [*data] != ["table"]:
        return None
    return Node(data["table"], UploadError, "table").text()


def _add_records(app: FastAPI, records: Records, judges: EvaluationJobs) -> None:
    films = _Films()

    @app.get("/api/records")
    async def kept(answer: Response, offset: Offset = 0, limit: Limit = MAX_LIST_ENTRIES) -> list[dict[str, Any]]:
        """Return the saved games and positions, newest first; the header X-Total-Count gives their total number."""
        answer.headers[TOTAL] = str(len(records))
        return [{"record": one.name, **one._asdict()} for one in records.all(offset, limit)]

    @app.get("/api/records/{name}")
    async def one(name: str) -> Response:
        """Return a game as an animation or a position as a picture."""
        return Response(await films.of(records.load(name)), media_type="application/json")

    @app.delete("/api/records/{name}")
    async def remove(name: str) -> dict[str, str]:
        """Delete a game or a position."""
        records.remove(name)
        await judges.remove(name)
        return {"record": name}

    @app.get("/api/records/{name}/file")
    async def file(name: str) -> Response:
        """Return a game record as one line, or a position as JSON."""
        study = records.load(name)
        text = json.dumps(to_dict(study.begin)) if study.record is None else study.record.to_json()
        return _download(text + "\n", "application/json", f"{name}.json{'l' if study.record else ''}")

    @app.get("/api/records/{name}/page")
    async def whole_page(name: str, judge: str = "") -> Response:
        """Return a game as a standalone page, with an evaluator's results if available."""
        study = records.load(name)
        if study.record is None:
            raise ValueError(f"record {name}: is a position, and pages are made of games")
        judgement = judges.of(study, judge).judgement if judge else None
        text = await asyncio.to_thread(page, study.record, judgement, title=study.title)
        return _download(text, "text/html", f"{name}.html")


def _download(text: str, kind: str, name: str) -> Response:
    """Return a file to download; names generated here need no quoting."""
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


class _Films:
    """Cache of the animations shown most recently, because drawing all pictures of a game takes seconds."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._drawing = asyncio.Lock()

    async def of(self, study: SavedGame) -> bytes:
        """Return the JSON of a game or position."""
        async with self._drawing:
            if study.name not in self._kept:
                self._kept[study.name] = await asyncio.to_thread(_shown, study)
            self._kept.move_to_end(study.name)
            while len(self._kept) > _FILMS:
                self._kept.popitem(last=False)
            return self._kept[study.name]


def _shown(study: SavedGame) -> bytes:
    about: dict[str, Any] = {
        "record": study.name,
        "title": study.title,
        "game": study.begin.spec.name,
        "judges": EVALUATORS,
    }
    if study.record is None:
        about |= {"kind": "position", "position": _position(study.begin)}
    else:
        end = study.after(len(study.decisions))
        about |= {"kind": "record", "film": make_animation(study.record), "to_move": None if end.done else end.seat}
    return json.dumps(about, separators=(",", ":")).encode()


def _position(game: BoardGame) -> dict[str, Any]:
    """Return the display data of a position: its picture, the points by seat, and the seat to move."""
    return {
        "svg": game.spec.draw(game, "svg"),
        "scores": game.scores().tolist(),
        "seat": game.seat,
        "phase": str(game.phase),
        "round": game.round,
        "done": game.done,
    }


def _add_judgements(app: FastAPI, records: Records, judges: EvaluationJobs) -> None:
    @app.get("/api/records/{name}/judgement")
    async def judgement(name: str, judge: str) -> dict[str, Any]:
        """Return the progress of an evaluation, and its results once it is complete."""
        return judges.of(records.load(name), judge).to_dict()

    @app.post("/api/records/{name}/judgement", status_code=202)
    async def start(name: str, judge: str) -> dict[str, Any]:
        """Start the evaluation of a game."""
        return judges.start(records.load(name), judge).to_dict()

    @app.delete("/api/records/{name}/judgement")
    async def stop(name: str, judge: str) -> dict[str, Any]:
        """Stop an evaluation."""
        return (await judges.stop(records.load(name), judge)).to_dict()

"""Schemas of HTTP requests, and HTML and error responses."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Annotated, Any, Literal, NamedTuple

from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.markdown import printable
from helsinki_env.web.qr import MAX_BYTES
from helsinki_env.web.tables import HUMAN

with requires_extra("play"):
    from fastapi import FastAPI, Query, Request
    from fastapi.responses import HTMLResponse, JSONResponse, Response
    from pydantic import AfterValidator, BaseModel, ConfigDict, Field

STATIC = Path(str(files("helsinki_env.web") / "static"))
"""Folder that contains the scripts and styles of the pages."""
TOTAL = "x-total-count"
"""Header with the total length of a partially returned list."""
MAX_LIST_ENTRIES = 10_000
"""Default and maximum number of list entries in a response."""
_JOINERS = "\u200c\u200d"
"""Invisible characters that some writing systems and emoji need."""


def error_response(text: str, status: int, more: Mapping[str, Any] | None = None) -> JSONResponse:
    """Return an error response; nonprintable characters from the request are replaced."""
    return JSONResponse({"error": printable(text), **(more or {})}, status)


class _Page(NamedTuple):
    title: str
    styles: tuple[str, ...]  # in addition to style.css
    script: str
    link: str = ""  # path of the navigation entry for this page


_PAGES = {
    "index.html": _Page("Play", ("/static/start.css",), "start.js", "/"),
    "table.html": _Page("Table", ("/static/advice.css",), "table.js"),
    "analysis.html": _Page("Analysis", ("/static/analysis.css",), "analysis.js", "/analysis"),
    "study.html": _Page("Analysis", ("/viewer/viewer.css", "/static/analysis.css"), "study.js", "/analysis"),
    "tournaments.html": _Page("Tournaments", ("/static/tournaments.css",), "tournaments.js", "/tournaments"),
    "tournament.html": _Page("Tournament", ("/static/tournaments.css",), "tournament.js"),
    "missing.html": _Page("Page not found", (), "access.js"),
}
_LANGUAGE = '      <select id="language" class="language" aria-label="Language"></select>'
_NOSCRIPT = (
    '    <noscript><p class="error">This page needs JavaScript, which is disabled in this browser.</p></noscript>'
)


@cache
def page_html(file: str) -> str:
    """Return a complete page, with its content inside the layout that all pages share."""
    page, folder = _PAGES[file], STATIC.parent / "pages"
    frame, seats, content = (
        Template((folder / name).read_text(encoding="utf-8")) for name in ("page.html", "seats.html", file)
    )
    styles = [f'    <link rel="stylesheet" href="{path}">' for path in ("/static/style.css", *page.styles)]
    navigation = _navigation(page.link)
    header = f'    <header class="bar">\n      <h1>{page.title}</h1>\n{navigation}\n{_LANGUAGE}\n    </header>'
    content_html = content.substitute(
        noscript=_NOSCRIPT,
        navigation=navigation,
        header=f"{_NOSCRIPT}\n{header}",
        seats=seats.template.rstrip(),
    )
    return frame.substitute(title=page.title, styles="\n".join(styles), script=page.script, content=content_html)


def _navigation(current: str) -> str:
    """Return the navigation bar, with the current page highlighted."""
    links = {"/": "Play" if current == "/" else "Tables", "/analysis": "Analysis", "/tournaments": "Tournaments"}
    here = ' aria-current="page"'
    lines = [f'        <a href="{path}"{here if path == current else ""}>{text}</a>' for path, text in links.items()]
    return "\n".join(['      <nav class="pages" aria-label="Pages">', *lines, "      </nav>"])


def not_found_response() -> Response:
    """Return the page for an unknown URL, with links to existing pages."""
    return HTMLResponse(page_html("missing.html"), 404)


def add_page(app: FastAPI, path: str, file: str, exists: Callable[[str], bool] = lambda _: True) -> None:
    """Serve a page at a path. If the path contains `{name}`, an item with that name must exist."""

    @app.get(path, include_in_schema=False)
    async def page(request: Request) -> Response:
        if not exists(request.path_params.get("name", "")):
            return not_found_response()
        return HTMLResponse(page_html(file))


def _plain(text: str) -> str:
    """Return the text unchanged; raise ValueError if it contains invisible characters that alter its display."""
    for letter in text:
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in _JOINERS:
            raise ValueError("expected a name without control characters")
    return text


Offset = Annotated[int, Query(ge=0, lt=2**31, description="Number of list entries to skip.")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIST_ENTRIES, description="Maximum number of list entries.")]
Name = Annotated[str, AfterValidator(_plain)]
"""Text that pages show on one line."""


class RequestBody(BaseModel):
    """Base class for request bodies."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class NewChair(RequestBody):
    """The requested occupant of a seat."""

    player: str = Field(HUMAN, min_length=1, max_length=80, description="human, or the name of a player.")
    name: Name = Field("", max_length=40, description="Displayed name.")


class SavedStart(RequestBody):
    """The starting point of a new game in a saved game."""

    record: str = Field(min_length=1, max_length=40, description="Name of a saved game or position.")
    decisions: int = Field(
        0, ge=0, le=10**6, description="Number of actions of the saved game that are taken at the start."
    )


class NewLesson(RequestBody):
    """A guided game to start."""

    game: str = Field("", max_length=40, description="Name of the game; empty: the default game.")


class NewBoard(RequestBody):
    """A custom component file with changed values."""

    game: str = Field("", max_length=40, description="Name of the game; empty: the default game.")
    values: dict[str, Annotated[float, Field(allow_inf_nan=False)] | None] = Field(
        max_length=80, description="Numbers by key, such as actions.two_points.cost; null: an empty field."
    )


class NewClock(RequestBody):
    """The clock of a table."""

    minutes: float = Field(gt=0, le=600, allow_inf_nan=False, description="Time of each person for the whole game.")
    increment: float = Field(0, ge=0, le=600, allow_inf_nan=False, description="Seconds added after each turn.")


class QrText(RequestBody):
    """The text to encode in a QR code."""

    text: str = Field(min_length=1, max_length=MAX_BYTES, description="Text, such as an address.")


class Rematch(RequestBody):
    """A new game with the same settings as another table."""

    swap: bool = Field(False, description="Whether each player moves to the next seat.")


class NewTable(RequestBody):
    """A table to create."""

    game: str = Field("", max_length=40, description="Name of the game; empty: the default game.")
    title: Name = Field("", max_length=60, description="Displayed title.")
    chairs: list[NewChair] = Field(min_length=2, max_length=4)
    options: dict[str, Any] = Field(default_factory=dict, max_length=20, description="Options of the game.")
    seed: int | None = Field(None, ge=0, lt=2**64, description="Seed of the deal; null: a random one.")
    sharing: Literal["device", "links"] = Field(
        "device", description="Whether humans share one device, or each gets a link."
    )
    clock: NewClock | None = Field(None, description="Clock of the people; null: no clock.")
    begin: SavedStart | None = Field(
        None, alias="from", description="Start from a saved game, instead of game, options and seed."
    )

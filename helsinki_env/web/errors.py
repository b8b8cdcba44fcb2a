"""What the server answers where something is wrong: one sentence in JSON, or a page for people who followed a link."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from helsinki_env.extras import needs
from helsinki_env.markdown import printable

with needs("play"):
    from fastapi.responses import FileResponse, JSONResponse, Response

__all__ = ["STATIC", "error", "missing"]

STATIC = Path(str(files("helsinki_env.web") / "static"))
"""The folder of the pages."""


def error(text: str, status: int, more: Mapping[str, Any] | None = None) -> JSONResponse:
    """Return the answer that says what is wrong; half characters and the like of a request are not sent back."""
    return JSONResponse({"error": printable(text), **(more or {})}, status)


def missing() -> Response:
    """Return the page that says that there is nothing at an address, and where to go instead."""
    return FileResponse(STATIC / "missing.html", 404)

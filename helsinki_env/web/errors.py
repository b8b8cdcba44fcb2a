"""Error responses: one sentence in JSON, or a page for users who followed a link."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from helsinki_env.utils.extras import requires_extra
from helsinki_env.utils.markdown import printable

with requires_extra("play"):
    from fastapi.responses import FileResponse, JSONResponse, Response

__all__ = ["STATIC", "error_response", "not_found_response"]

STATIC = Path(str(files("helsinki_env.web") / "static"))
"""Folder of the static pages."""


def error_response(text: str, status: int, more: Mapping[str, Any] | None = None) -> JSONResponse:
    """Return an error response; lone surrogates and similar characters of a request are not echoed."""
    return JSONResponse({"error": printable(text), **(more or {})}, status)


def not_found_response() -> Response:
    """Return the page for an unknown address, with links to existing pages."""
    return FileResponse(STATIC / "missing.html", 404)

"""Notices on standard error, and color support of streams."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def notice(text: str) -> None:
    """Print one line to standard error; ignore errors if the stream is closed or full."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"helsinki-env: {' '.join(text.split())}", file=sys.stderr, flush=True)


def supports_color(stream: TextIO | None) -> bool:
    """Return whether text written to a stream, such as `sys.stdout`, should have colors.

    By default, terminals have colors. ``NO_COLOR`` (https://no-color.org) or ``TERM=dumb`` disables them, and
    ``FORCE_COLOR`` also enables them in pipes and files.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # the stream is closed
        return False

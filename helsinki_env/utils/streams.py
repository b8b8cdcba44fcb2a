"""Text on the standard streams: notices for the user, and colors."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import TextIO


def notice(text: str) -> None:
    """Print one line on the error stream; ignore a closed or full stream."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):
            print(f"helsinki-env: {' '.join(text.split())}", file=sys.stderr, flush=True)


def supports_color(stream: TextIO | None) -> bool:
    """Return whether text written to a stream, such as `sys.stdout`, should have colors.

    Colors are on by default in terminals. ``NO_COLOR`` (https://no-color.org) or ``TERM=dumb`` disables them, and
    ``FORCE_COLOR`` enables them in pipes and files too.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # the stream is closed
        return False

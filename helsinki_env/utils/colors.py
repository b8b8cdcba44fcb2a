"""Decide whether to write text with colors."""

from __future__ import annotations

import os
from typing import TextIO

__all__ = ["supports_color"]


def supports_color(stream: TextIO | None) -> bool:
    """Return whether text written to a stream should have colors.

    It should on a terminal, unless the environment variable ``NO_COLOR`` is set (https://no-color.org) or ``TERM`` is
    ``dumb``. ``FORCE_COLOR`` enables colors in pipes and files too.

    Args:
        stream: a stream such as `sys.stdout`; None if the program has none.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # the stream is closed
        return False

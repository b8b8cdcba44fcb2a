"""Whether text is written with colors."""

from __future__ import annotations

import os
from typing import TextIO

__all__ = ["shows_color"]


def shows_color(stream: TextIO | None) -> bool:
    """Return whether text that is written to a stream should have colors.

    It should on a terminal, unless the environment variable ``NO_COLOR`` is set (https://no-color.org) or ``TERM`` is
    ``dumb``. ``FORCE_COLOR`` asks for colors in pipes and files too.

    Args:
        stream: such as `sys.stdout`; None where a program has none.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # it is closed
        return False

"""What text goes to: streams with or without colors, and consoles that show names of players and files as they are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["plain_console", "shows_color"]


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


def plain_console(**options: Any) -> Console:
    """Return a console that shows text and cells of tables as they are.

    Rich takes ``[name]`` for a style and ``:name:`` for a picture unless it is told otherwise.

    Args:
        options: of Rich's `Console`.
    """
    from rich.console import Console

    return Console(markup=False, emoji=False, **options)

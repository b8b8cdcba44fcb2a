"""What commands print on: any encoding, any width, and names that stay what they are."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["plain_console", "prepare_output", "written_in"]

#: Columns that every help text has: what wraps text into fewer may never end.
_LEAST, _MOST = 40, 10_000
#: Columns that every table has: in fewer it would lose some of its own.
_TABLE = 80
#: Letters of drawings and what takes their place, one for one, where an encoding lacks them.
_PLAIN = str.maketrans("─━═╌╴╶╸╺│┃║·•–—…×→▲▼►◄●◆◇□█▓▒░“”‘’", "--------|||.*--.x>^v><o#*_####\"\"''") | {ord("±"): "+-"}
_ERRORS = "plain-letters"


class _PlainConsole(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        """Print, and let the terminal wrap the lines of a table that is wider than it."""
        before = self._width
        if self.width < _TABLE and any(isinstance(one, Table) for one in objects):
            self._width = _TABLE
        try:
            super().print(*objects, **options)
        finally:
            self._width = before


def plain_console(**options: Any) -> Console:
    """Return a console that shows text and cells of tables as they are.

    Rich takes ``[name]`` for a style and ``:name:`` for a picture unless it is told otherwise.

    Args:
        options: of Rich's `Console`.
    """
    return _PlainConsole(markup=False, emoji=False, **options)


def prepare_output() -> None:
    """Let the standard streams take any text, and text be as wide as a table needs at least."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)
    width = shutil.get_terminal_size().columns
    given = os.environ.get("COLUMNS", str(width))
    if not _LEAST <= width <= _MOST or given != str(width):
        os.environ["COLUMNS"] = str(min(max(width, _LEAST), _MOST))


def written_in(text: str, encoding: str) -> str:
    """Return a text as it is written in an encoding that may lack some of its letters."""
    return text.encode(encoding, _ERRORS).decode(encoding)


def _plain(problem: UnicodeError) -> tuple[str | bytes, int]:
    """Replace letters that an encoding lacks: those of drawings by similar ones, others by their numbers."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    letters = problem.object[problem.start : problem.end]
    return "".join(_replaced(letter) for letter in letters), problem.end


def _replaced(letter: str) -> str:
    plain = letter.translate(_PLAIN)
    if plain.isascii():
        return plain
    if "\u2500" <= letter <= "\u257f":  # corners and crossings of boxes
        return "+"
    return letter.encode("ascii", "backslashreplace").decode()


codecs.register_error(_ERRORS, _plain)

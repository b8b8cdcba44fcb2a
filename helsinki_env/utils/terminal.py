"""Console output for any encoding and width, with text shown literally."""

from __future__ import annotations

import codecs
import io
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

#: Minimum width of help texts, because wrapping to fewer columns may never terminate.
_LEAST, _MOST = 40, 10_000
#: Minimum width of tables, because Rich drops table columns if the terminal is narrower.
_TABLE = 80
#: Drawing characters, each with a one-character replacement for encodings that lack it.
_PLAIN = str.maketrans("─━═╌╴╶╸╺│┃║·•–—…×→▲▼►◄●◆◇□█▓▒░“”‘’", "--------|||.*--.x>^v><o#*_####\"\"''") | {ord("±"): "+-"}
_ERRORS = "plain-letters"


class _PlainConsole(Console):
    def on_broken_pipe(self) -> None:
        """Discard further output and continue, because the command may still have to write files."""
        self.quiet = True
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def print(self, *objects: Any, **options: Any) -> None:
        """Print text without wrapping or highlighting, and complete tables; the terminal wraps wide ones."""
        if all(isinstance(one, str) for one in objects):
            options = {"highlight": False, "soft_wrap": True} | options
        before = self._width
        wide = self.options.update(width=_MOST)
        widths = [Measurement.get(self, wide, one).minimum for one in objects if isinstance(one, Table)]
        if widths:
            self._width = max(self.width, _TABLE, *widths)
        try:
            super().print(*objects, **options)
        finally:
            self._width = before


def plain_console(**options: Any) -> Console:
    """Return a Rich console that shows text literally: ``[name]`` is not a style, and ``:name:`` is not an emoji."""
    return _PlainConsole(markup=False, emoji=False, **options)


def results_table(columns: Sequence[str], left: str, title: str, caption: str = "") -> Table:
    """Return an empty results table. All columns are right-aligned except the `left` column, whose cells wrap."""
    table = Table(title=title, caption=caption)
    for name in columns:
        if name == left:
            table.add_column(name, min_width=11, overflow="fold")
        else:
            table.add_column(name, justify="right", no_wrap=True)
    return table


def prepare_output() -> None:
    """Make the standard streams accept any text, and set the minimum widths."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_ERRORS)
    width = shutil.get_terminal_size().columns
    given = os.environ.get("COLUMNS", str(width))
    if not _LEAST <= width <= _MOST or given != str(width):
        os.environ["COLUMNS"] = str(min(max(width, _LEAST), _MOST))


def make_encodable(text: str, encoding: str) -> str:
    """Replace the characters of a text that an encoding lacks."""
    return text.encode(encoding, _ERRORS).decode(encoding)


def _plain(problem: UnicodeError) -> tuple[str | bytes, int]:
    """Replace unsupported drawing characters with similar ones, and other characters with their code points."""
    if not isinstance(problem, UnicodeEncodeError):
        raise problem
    letters = problem.object[problem.start : problem.end]
    return "".join(_replaced(letter) for letter in letters), problem.end


def _replaced(letter: str) -> str:
    plain = letter.translate(_PLAIN)
    if plain.isascii():
        return plain
    if "\u2500" <= letter <= "\u257f":  # box-drawing characters
        return "+"
    return letter.encode("ascii", "backslashreplace").decode()


codecs.register_error(_ERRORS, _plain)

r"""Text from outside as part of a page or of a terminal: names stay names, whatever is in them.

>>> print(row([text("a | b"), code("x`y"), text("<b>*now*</b>")]))
| a \| b | ``x`y`` | \<b\>\*now\*\</b\> |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from helsinki_env.data import UserError

__all__ = ["all_printable", "code", "link", "marked", "printable", "row", "section", "table", "text"]

#: What means something in running text; an underscore only at the edge of a word, a hash only at the end of a heading.
_SPECIAL = re.compile(r"[\\`*\[\]<>~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|#(?=\s*$)")
_CODE = re.compile(r"`([^`]*)`")


def printable(words: str) -> str:
    """Return text with a mark in place of each control character: escape sequences, ends of lines, half characters."""
    if words.isprintable():
        return words
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in words)


def all_printable(data: Any) -> Any:
    """Return plain data with every text in it printable, keys too."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, Mapping):
        return {all_printable(key): all_printable(value) for key, value in data.items()}
    return [all_printable(value) for value in data] if isinstance(data, list | tuple) else data


def text(words: str) -> str:
    """Return text as Markdown that shows just that, on one line."""
    return _SPECIAL.sub(r"\\\g<0>", _one_line(words))


def code(words: str) -> str:
    """Return text as a span of code."""
    shown = _one_line(words)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    edge = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def _one_line(words: str) -> str:
    return printable(re.sub(r"\s+", " ", words))


def marked(words: str) -> str:
    """Return text in which `...` stands for code, and nothing else for anything, as Markdown."""
    parts = _CODE.split(words)
    return "".join(code(part) if i % 2 else text(part) for i, part in enumerate(parts))


def link(words: str, target: str) -> str:
    """Return a link to a file."""
    return f"[{text(words)}]({quote(target)})"


def row(cells: Sequence[str]) -> str:
    """Return a row of a table; cells are Markdown."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def table(head: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    """Return a table; cells are Markdown.

    Args:
        head: the names of the columns.
        rows: of cells.
        left: how many columns are of text; the others are of numbers.
    """
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join(row(cells) for cells in (head, rule, *rows))


def section(page: str, name: str, content: str | None = None) -> str:
    """Return the part of a page that a program writes, or the page with another one.

    It stands between the lines ``<!-- written: NAME -->`` and ``<!-- end: NAME -->``.

    Args:
        page: its text.
        name: of the part.
        content: what shall stand there; None: the part is returned as it is.

    Raises:
        ValueError: if the page has no such part, or more than one.
    """
    page = page if page.endswith("\n") else page + "\n"
    begin, end = f"<!-- written: {name} -->\n", f"<!-- end: {name} -->\n"
    before, found, rest = page.partition(begin)
    inside, closed, after = rest.partition(end)
    if not found or not closed or begin in rest or end in after:
        raise UserError(f"expected the lines {begin.strip()!r} and {end.strip()!r}, each once and in this order")
    return inside if content is None else f"{before}{begin}{content}{end}{after}"

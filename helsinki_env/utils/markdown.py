r"""Escape external text so that pages and terminals show it literally.

>>> print(table_row([escape_markdown("a | b"), code_span("x`y"), escape_markdown("<b>*now*</b>")]))
| a \| b | ``x`y`` | \<b\>\*now\*\</b\> |
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from helsinki_env.data import UserError

#: Characters with a special meaning in Markdown: underscores only at word boundaries, hashes only at the end of a line.
_SPECIAL = re.compile(r"[\\`*\[\]<>~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|#(?=\s*$)")
_CODE = re.compile(r"`([^`]*)`")


def printable(words: str) -> str:
    """Replace control characters in a text (escape sequences, newlines, lone surrogates) with a placeholder."""
    if words.isprintable():
        return words
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in words)


def all_printable(data: Any) -> Any:
    """Make all strings in JSON-like data printable, including keys."""
    if isinstance(data, str):
        return printable(data)
    if isinstance(data, Mapping):
        return {all_printable(key): all_printable(value) for key, value in data.items()}
    return [all_printable(value) for value in data] if isinstance(data, list | tuple) else data


def escape_markdown(words: str) -> str:
    """Escape text as Markdown that shows it literally, on one line."""
    return _SPECIAL.sub(r"\\\g<0>", _one_line(words))


def code_span(words: str) -> str:
    """Return text as a Markdown code span."""
    shown = _one_line(words)
    fence = "`" * (1 + max(map(len, re.findall("`+", shown)), default=0))
    edge = " " if shown.startswith("`") or shown.endswith("`") or not shown else ""
    return f"{fence}{edge}{shown}{edge}{fence}"


def _one_line(words: str) -> str:
    return printable(re.sub(r"\s+", " ", words))


def escape_outside_code(words: str) -> str:
    """Convert text to Markdown in which `...` marks code and everything else is shown literally."""
    parts = _CODE.split(words)
    return "".join(code_span(part) if i % 2 else escape_markdown(part) for i, part in enumerate(parts))


def link(words: str, target: str) -> str:
    """Return a Markdown link to a file."""
    return f"[{escape_markdown(words)}]({quote(target)})"


def table_row(cells: Sequence[object]) -> str:
    """Return a table row; cells are Markdown or numbers."""
    return f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in cells)} |"


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[object]], left: int = 1) -> str:
    """Return a Markdown table; all columns except the first `left` ones are right-aligned, for numbers."""
    rule = ["---" if i < left else "---:" for i in range(len(head))]
    return "\n".join(table_row(cells) for cells in (head, rule, *rows))


def replace_section(page: str, name: str, content: str | None = None) -> str:
    """Replace the content of a section and return the page; without `content`, return the section's current content.

    The section lies between the lines ``<!-- written: NAME -->`` and ``<!-- end: NAME -->``. Raises UserError unless
    the page has exactly one section with this name.
    """
    page = page if page.endswith("\n") else page + "\n"
    begin, end = f"<!-- written: {name} -->\n", f"<!-- end: {name} -->\n"
    before, found, rest = page.partition(begin)
    inside, closed, after = rest.partition(end)
    if not found or not closed or begin in rest or end in after:
        lines = f"{begin.strip()!r} and {end.strip()!r}"
        raise UserError(f"found no section {name!r}, expected the lines {lines}, each once and in this order")
    return inside if content is None else f"{before}{begin}{content}{end}{after}"

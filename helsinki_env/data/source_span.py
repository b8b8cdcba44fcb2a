"""Locate a value in a JSON text, to highlight it in error messages."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_SPACE = re.compile(r"[ \t\r\n]*")
_STEP = re.compile(r"\[(\d+)\]|([^.\[\]]+)")
_DECODER = json.JSONDecoder()
#: Maximum length of a highlighted key and value; beyond it, only the key is highlighted.
_MAX_MARKED = 120


class SourceSpan(NamedTuple):
    """A span of a text: `start` and `end` of the slice, and 1-based line and column of its first character."""

    start: int
    end: int
    line: int
    column: int


def span_at(text: str, start: int, end: int) -> SourceSpan:
    """Return the span from `start` to `end`, with the line and column of its start."""
    return SourceSpan(start, end, text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start))


def span_in_json(text: str, path: str) -> SourceSpan | None:
    """Return the span of the key and value at a path (`Node.path`) in valid JSON, or None if the path is empty.

    If the value is missing, the span of the nearest existing parent is returned.
    """
    at, found = _after_space(text, 0), None
    for index, key in _STEP.findall(path):
        below = _element(text, at, int(index)) if index else _value(text, at, key)
        if below is None:
            found = found or (at, at)
            break
        found = below
        at = found[1]
    if found is None:
        return None
    start, value = found
    end = _end(text, value)
    if end - start > _MAX_MARKED:
        end = value if start < value else value + 1
    return span_at(text, start, len(text[:end].rstrip(": \t\r\n")))


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _end(text: str, at: int) -> int:
    return _DECODER.raw_decode(text, at)[1]


def _value(text: str, at: int, wanted: str) -> tuple[int, int] | None:
    """Return the offsets of a key and its value in the mapping that starts at offset `at`."""
    if text[at] != "{":
        return None
    while text[at] in "{,":
        start = _after_space(text, at + 1)
        if text[start] != '"':
            return None
        key, end = _DECODER.raw_decode(text, start)
        value = _after_space(text, _after_space(text, end) + 1)
        if key == wanted:
            return start, value
        at = _after_space(text, _end(text, value))
    return None


def _element(text: str, at: int, number: int) -> tuple[int, int] | None:
    """Return the offset of an element of the list that starts at `at`, twice, in the format of `_value`."""
    if text[at] != "[":
        return None
    while text[at] in "[,":
        start = _after_space(text, at + 1)
        if text[start] == "]":
            return None
        if number == 0:
            return start, start
        number -= 1
        at = _after_space(text, _end(text, start))
    return None

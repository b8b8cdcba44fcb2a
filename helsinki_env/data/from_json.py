"""Parse JSON with Python's parser, but reject ambiguous input and input that could exhaust the parser."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from helsinki_env.data.entry import Node
from helsinki_env.data.messages import short_repr, shorten
from helsinki_env.data.text import MOST_DEPTH, text_of

#: Maximum file size in bytes. Run files grow with their plans.
_MOST_JSON = 2**26
#: Maximum number of values in a text: each takes about 80 bytes in Python.
_MOST_VALUES = 2**21


def read_json(path: Path, error: type[ValueError]) -> Node:
    """Return the content of a JSON file; see `parse_json`. Raises `error` if it cannot be read."""
    return parse_json(text_of(path, _MOST_JSON, error), error, str(path))


def parse_json(text: str, error: type[ValueError], file: str = "", what: str = "the data") -> Node:
    """Parse a JSON text.

    Args:
        text: the text. Duplicate keys, NaN, infinities, lone surrogates, deep nesting and millions of values are
            rejected.
        error: exception class to raise, here and when values are extracted later.
        file: name of the source file, for messages.
        what: description of the text, if there is no file.

    Raises:
        error: if the text is invalid.
    """
    text = text.removeprefix("\ufeff")  # a byte-order mark
    try:
        _check_values(text)
        _check_depth(text)
        data = json.loads(text, object_pairs_hook=_mapping, parse_constant=_finite, parse_float=_finite)
        if _HALF.search(text):
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno}"
        raise error(f"{shorten(file) or what}: cannot be read as JSON: {problem.msg} ({place})") from None
    except UnicodeEncodeError:
        raise error(f"{shorten(file) or what}: cannot be read as JSON: found half of a character in a text") from None
    except ValueError as problem:
        reason = "found a number of thousands of digits" if "integer string conversion" in str(problem) else problem
        raise error(f"{shorten(file) or what}: cannot be read as JSON: {reason}") from None
    return Node(data, error, file=file, what=what)


#: Possible lone surrogates.
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def _check_values(text: str) -> None:
    """Reject a text with many values before parsing; commas within strings count as well."""
    if text.count(",") + text.count("[") + text.count("{") > _MOST_VALUES:
        raise ValueError(f"found more than {_MOST_VALUES:,} values, expected fewer")


def _check_depth(text: str) -> None:
    """Reject deep nesting before parsing: the parser's own limit depends on the depth of the call stack."""
    if text.count("[") + text.count("{") <= MOST_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        mark = bracket[0]
        if mark in ("[", "{"):
            depth += 1
            if depth > MOST_DEPTH:
                raise ValueError(f"found more than {MOST_DEPTH} lists and mappings within each other")
        elif mark in ("]", "}"):
            depth -= 1


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {short_repr(twice)} is written twice")
    return data


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found {shorten(text)}, expected a finite number")
    return value

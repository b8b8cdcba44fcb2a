"""Parse JSON and YAML files into plain data, without executing code and within bounded time and memory."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any, NoReturn

import yaml

from helsinki_env.data.node import Node, short_repr, shorten

#: Maximum nesting depth of lists and mappings. The project's own files use at most six levels.
_MAX_DEPTH = 40


def _read_text(path: Path, max_bytes: int, error: type[ValueError]) -> str:
    """Return the text of a file that is not larger than `max_bytes` bytes."""
    try:
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise error(f"{shorten(path)}: cannot be read as UTF-8: {problem.reason}") from None
    except (OSError, ValueError) as problem:  # ValueError is raised for an invalid file name
        raise error(f"{shorten(path)}: cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > max_bytes:
        raise error(f"{shorten(path)}: found more than {max_bytes:,} bytes, expected a smaller file")
    return text


# JSON

#: Maximum file size in bytes. The files of a run grow with its plan.
_MAX_JSON = 2**26
#: Maximum number of values in a text; each takes about 80 bytes in Python.
_MAX_JSON_VALUES = 2**21


def read_json(path: Path, error: type[ValueError]) -> Node:
    """Parse a JSON file with `parse_json`. Raise `error` if it cannot be read."""
    return parse_json(_read_text(path, _MAX_JSON, error), error, str(path))


def read_stored_settings(path: Path, error: type[ValueError]) -> Node:
    """Read the settings in the output folder of an earlier run with `read_json`."""
    try:
        return read_json(path, error).mapping()
    except error as problem:
        raise error(f"{problem}; restore the file, or choose another folder") from None


def parse_json(text: str, error: type[ValueError], file: str = "", what: str = "the data") -> Node:
    """Parse a JSON text; `error` is the exception class for parsing and for extracting values later.

    Duplicate keys, NaN, infinities, lone surrogates, deep nesting and millions of values are rejected.
    """
    text = text.removeprefix("\ufeff")  # a byte-order mark
    try:
        _check_values(text)
        _check_depth(text)
        data = json.loads(text, object_pairs_hook=_mapping, parse_constant=_finite, parse_float=_finite)
        if _HALF.search(text):
            json.dumps(data, ensure_ascii=False).encode()
    except json.JSONDecodeError as problem:
        position = f"line {problem.lineno}, column {problem.colno}"
        raise error(f"{shorten(file) or what}: cannot be read as JSON: {problem.msg} ({position})") from None
    except UnicodeEncodeError:
        raise error(f"{shorten(file) or what}: cannot be read as JSON: found a lone surrogate") from None
    except ValueError as problem:
        reason = "found a number with thousands of digits" if "integer string conversion" in str(problem) else problem
        raise error(f"{shorten(file) or what}: cannot be read as JSON: {reason}") from None
    return Node(data, error, file=file, what=what)


#: Matches possible lone surrogates.
_HALF = re.compile(r"\\u[dD][89a-fA-F]|[\ud800-\udfff]")
_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def _check_values(text: str) -> None:
    """Reject a text with too many values before parsing it; commas inside strings are also counted."""
    if text.count(",") + text.count("[") + text.count("{") > _MAX_JSON_VALUES:
        raise ValueError(f"found more than {_MAX_JSON_VALUES:,} values, expected fewer")


def _check_depth(text: str) -> None:
    """Reject deep nesting before parsing, because the parser's own limit depends on the call stack."""
    if text.count("[") + text.count("{") <= _MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        mark = bracket[0]
        if mark in ("[", "{"):
            depth += 1
            if depth > _MAX_DEPTH:
                raise ValueError(f"found more than {_MAX_DEPTH} nested lists and mappings")
        elif mark in ("]", "}"):
            depth -= 1


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        duplicate = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"found the key {short_repr(duplicate)} twice, expected it once")
    return data


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found {shorten(text)}, expected a finite number")
    return value


# YAML

#: Maximum file size in bytes. Configurations are written by hand.
_MAX_YAML = 2**20
#: Maximum number of values in a file; aliased values are counted each time they are used.
_MAX_YAML_VALUES = 1_000_000


def read_yaml(path: Path, error: type[ValueError]) -> Node:
    """Parse a YAML file with `parse_yaml`. Raise `error` if it cannot be read."""
    return parse_yaml(_read_text(path, _MAX_YAML, error), error, str(path))


def parse_yaml(text: str, error: type[ValueError], file: str = "", what: str = "the data") -> Node:
    """Parse a YAML text; an empty text yields an empty mapping. The arguments are those of `parse_json`.

    Duplicate keys, deep nesting, aliases that expand too far, and types other than text, numbers, booleans, null, lists
    and mappings are rejected.
    """
    try:
        data = _Yaml(text).document()
    except (yaml.YAMLError, ValueError) as problem:
        reason = shorten(" ".join(str(problem).replace('in "<unicode string>", ', "at ").split()), 400)
        raise error(f"{shorten(file) or what}: cannot be read as YAML: {reason}") from None
    return Node({} if data is None else data, error, file=file, what=what)


class _Yaml:
    """Build plain data from PyYAML parser events; PyYAML's own constructor has more types and no size limits."""

    _LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def __init__(self, text: str) -> None:
        self.loader = self._LOADER(text)
        self.values = 0
        self.anchors: dict[str, tuple[Any, int]] = {}  # value of each anchor, and the number of values in it
        self.scalars = {
            f"tag:yaml.org,2002:{name}": (getattr(self.loader, f"construct_yaml_{name}"), what)
            for name, what in (
                ("null", "nothing"),
                ("bool", "true or false"),
                ("int", "a whole number"),
                ("float", "a number"),
                ("str", "text"),
            )
        }

    def document(self) -> Any:
        """Return the single document of the text, or None if the text is empty."""
        events, data = self.loader, None
        events.get_event()
        if events.check_event(yaml.DocumentStartEvent):
            events.get_event()
            data = self._node(events.get_event(), 0)
            events.get_event()
        if not events.check_event(yaml.StreamEndEvent):
            self._fail(events.peek_event(), "found a second document, expected one")
        return data

    def _node(self, event: Any, depth: int) -> Any:
        before = self.values
        self.values += 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self._fail(event, f"found the alias {short_repr(event.anchor)}, expected an anchor before it")
            data, size = self.anchors[event.anchor]
            self.values += size
        elif isinstance(event, yaml.ScalarEvent):
            data = self._scalar(event)
        else:
            if depth >= _MAX_DEPTH:
                self._fail(event, f"found more than {_MAX_DEPTH} nested lists and mappings")
            if event.tag not in (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
                self._fail(event, f"found the type {short_repr(event.tag)}, expected a plain list or mapping")
            whole = self._list if isinstance(event, yaml.SequenceStartEvent) else self._dict
            data = whole(depth + 1)
        if self.values > _MAX_YAML_VALUES:
            self._fail(event, f"found more than {_MAX_YAML_VALUES:,} values (aliased values count once per use)")
        anchor = getattr(event, "anchor", None)
        if anchor is not None:
            self.anchors[anchor] = (data, self.values - before)
        return data

    def _list(self, depth: int) -> list[Any]:
        data = []
        while not self.loader.check_event(yaml.SequenceEndEvent):
            data.append(self._node(self.loader.get_event(), depth))
        self.loader.get_event()
        return data

    def _dict(self, depth: int) -> dict[str | int, Any]:
        data: dict[str | int, Any] = {}
        while not self.loader.check_event(yaml.MappingEndEvent):
            event = self.loader.get_event()
            key = self._scalar(event) if isinstance(event, yaml.ScalarEvent) else None
            if not isinstance(key, str | int) or isinstance(key, bool):
                self._fail(event, "found an invalid key, expected text or a whole number")
            if key in data:
                self._fail(event, f"found the key {short_repr(key)} twice, expected it once")
            data[key] = self._node(self.loader.get_event(), depth)
        self.loader.get_event()
        return data

    def _scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag in (None, "!"):
            tag = self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag not in self.scalars:
            kind = str(tag).removeprefix("tag:yaml.org,2002:")
            self._fail(
                event,
                f"found {short_repr(event.value)} of the type {short_repr(kind)}, expected text (put it in quotes)",
            )
        construct, what = self.scalars[tag]
        try:
            return construct(yaml.ScalarNode(tag, event.value))
        except (ValueError, KeyError, IndexError, OverflowError):
            self._fail(event, f"found {short_repr(event.value)}, expected {what}")

    @staticmethod
    def _fail(event: Any, text: str) -> NoReturn:
        raise ValueError(f"line {event.start_mark.line + 1}: {text}")

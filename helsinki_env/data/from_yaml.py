"""Parse YAML into plain data: text, numbers, booleans, null, lists and mappings, of bounded size."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn

import yaml

from helsinki_env.data.entry import Node
from helsinki_env.data.messages import short_repr, shorten
from helsinki_env.data.text import MOST_DEPTH, text_of

#: Maximum file size in bytes. Configurations are written by hand.
_MOST_YAML = 2**20
#: Maximum number of values in a file; aliased values count once per use.
_MOST_VALUES = 1_000_000


def read_yaml(path: Path, error: type[ValueError]) -> Node:
    """Return the content of a YAML file; see `parse_yaml`. Raises `error` if it cannot be read."""
    return parse_yaml(text_of(path, _MOST_YAML, error), error, str(path))


def parse_yaml(text: str, error: type[ValueError], file: str = "", what: str = "the data") -> Node:
    """Parse a YAML text; an empty text gives an empty mapping.

    Args:
        text: the text. Duplicate keys, deep nesting, aliases that expand too far, and types other than text, numbers,
            booleans, null, lists and mappings are rejected.
        error: exception class to raise, here and when values are extracted later.
        file: name of the source file, for messages.
        what: description of the text, if there is no file.

    Raises:
        error: if the text is invalid.
    """
    try:
        data = _Yaml(text).document()
    except (yaml.YAMLError, ValueError) as problem:
        reason = shorten(" ".join(str(problem).replace('in "<unicode string>", ', "at ").split()), 400)
        raise error(f"{shorten(file) or what}: cannot be read as YAML: {reason}") from None
    return Node({} if data is None else data, error, file=file, what=what)


class _Yaml:
    """Builds plain data from PyYAML's parser events; PyYAML's constructor has no size limits and more types."""

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
        """Return the single document of the text, None if there is none."""
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
                self._fail(event, f"the alias {short_repr(event.anchor)} stands for nothing that is written before it")
            data, size = self.anchors[event.anchor]
            self.values += size
        elif isinstance(event, yaml.ScalarEvent):
            data = self._scalar(event)
        else:
            if depth >= MOST_DEPTH:
                self._fail(event, f"found more than {MOST_DEPTH} lists and mappings within each other")
            if event.tag not in (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
                self._fail(event, f"found the type {short_repr(event.tag)}, expected a plain list or mapping")
            whole = self._list if isinstance(event, yaml.SequenceStartEvent) else self._dict
            data = whole(depth + 1)
        if self.values > _MOST_VALUES:
            self._fail(event, f"found more than {_MOST_VALUES:,} values, those behind aliases counted every time")
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
                self._fail(event, "found a key that is no name, expected text or a whole number")
            if key in data:
                self._fail(event, f"the key {short_repr(key)} is written twice")
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

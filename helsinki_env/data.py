"""Data from outside: how text becomes plain values, and how these are checked.

Everything that is read from a file or from a line goes this way, in two steps. First text becomes plain data: nothing
is executed, and whatever somebody wrote into the text, it takes neither long nor much memory to find out. Then values
are taken out of it by `Entry`, which knows where each of them stands and complains in one form:

    >>> game = parse_json('{"seats": [2, 2.5]}', ValueError, "game.json")
    >>> game["seats"].entries("numbers of players")[1].integer(2, 4)
    Traceback (most recent call last):
    ...
    ValueError: game.json: seats[1]: found 2.5, expected a whole number from 2 to 4

Configurations that are made in Python check their values with the same words: ``Entry(value, ConfigError, "games")``.
"""

from __future__ import annotations

import hashlib
import json
import math
import operator
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from difflib import get_close_matches
from pathlib import Path
from reprlib import Repr
from typing import Any, NoReturn, TypeVar

import numpy as np
import yaml

__all__ = [
    "Entry",
    "brief",
    "digest_of",
    "one_of",
    "parse_json",
    "parse_yaml",
    "read_json",
    "read_yaml",
    "sealed",
    "shown",
]

T = TypeVar("T")

#: Configurations are written by hand; runs have files of their own, as large as their plans.
_MOST_YAML, _MOST_JSON = 2**20, 2**26
#: Values of a YAML file, those behind an alias counted again wherever it stands.
_MOST_VALUES = 1_000_000
#: Lists and mappings within each other. What the project writes is nested six deep.
_MOST_DEPTH = 40
_MOST_WHOLE, _MOST_NUMBER = 2**63 - 1, sys.float_info.max
#: Texts longer than that are no names.
_MOST_TEXT = 1000


# Messages: whatever was found, they stay short and cost nothing.


class _Shown(Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 4, 100, 100, 60
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 8

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write out numbers of thousands of digits.
        return f"a number of {x.bit_length():,} bits" if x.bit_length() > 1000 else super().repr_int(x, level)


_REPR = _Shown()


def shown(value: object) -> str:
    """Return a value as a message shows it: what `repr` gives, cut to a readable length."""
    return brief(_REPR.repr(value))


def brief(text: object, most: int = 160) -> str:
    """Return a text, without its middle if it is longer than `most`."""
    whole = str(text)
    return whole if len(whole) <= most else f"{whole[: most - 43]}...{whole[-40:]}"


def one_of(known: Iterable[object], word: object) -> str:
    """Return the end of a message, ``"one of a, b, c"``, and which of them the word may stand for."""
    names = [str(name) for name in known]
    near = get_close_matches(word, names, n=2) if isinstance(word, str) and len(word) <= 100 else []
    listed = ", ".join(names) if len(names) <= 100 else f"{', '.join(names[:20])} and {len(names) - 20} more"
    return f"one of {brief(listed, 1000)}" + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")


# From text to plain data


def read_json(path: Path, error: type[ValueError]) -> Entry:
    """Return what a JSON file holds; see `parse_json`. Raises `error` if it cannot be read."""
    return parse_json(_text(path, _MOST_JSON, error), error, str(path))


def read_yaml(path: Path, error: type[ValueError]) -> Entry:
    """Return what a YAML file holds; see `parse_yaml`. Raises `error` if it cannot be read."""
    return parse_yaml(_text(path, _MOST_YAML, error), error, str(path))


def _text(path: Path, most: int, error: type[ValueError]) -> str:
    """Return the text of a file of at most so many bytes."""
    try:
        with path.open("rb") as file:
            content = file.read(most + 1)
        text = content.decode()
    except UnicodeDecodeError as problem:
        raise error(f"{brief(path)}: cannot be read: no text in UTF-8 ({problem.reason})") from None
    except (OSError, ValueError) as problem:  # of the latter kind: a name that no file can have
        raise error(f"{brief(path)}: cannot be read: {getattr(problem, 'strerror', None) or problem}") from None
    if len(content) > most:
        raise error(f"{brief(path)}: found more than {most:,} bytes, expected a smaller file")
    return text


def parse_json(text: str, error: type[ValueError], file: str = "", what: str = "the data") -> Entry:
    """Return what a text in JSON holds.

    Args:
        text: the text. Keys that are written twice, NaN, infinite numbers and deep nesting are refused.
        error: the class to raise, now and for what is taken out later.
        file: where the text comes from, for messages.
        what: what the text is, where there is no file.

    Raises:
        error: if the text is no such JSON.
    """
    try:
        _check_depth(text)
        data = json.loads(text, object_pairs_hook=_mapping, parse_constant=_finite, parse_float=_finite)
    except json.JSONDecodeError as problem:
        place = f"line {problem.lineno}, column {problem.colno}"
        raise error(f"{brief(file) or what}: cannot be read as JSON: {problem.msg} ({place})") from None
    except ValueError as problem:
        reason = "found a number of thousands of digits" if "integer string conversion" in str(problem) else problem
        raise error(f"{brief(file) or what}: cannot be read as JSON: {reason}") from None
    return Entry(data, error, file=file, what=what)


_BRACKETS = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[{]|[\]}]', re.DOTALL)


def _check_depth(text: str) -> None:
    """Refuse deep nesting before the parser sees it: how deep that gets depends on who has called it."""
    if text.count("[") + text.count("{") <= _MOST_DEPTH:
        return
    depth = 0
    for bracket in _BRACKETS.finditer(text):
        mark = bracket[0]
        if mark in ("[", "{"):
            depth += 1
            if depth > _MOST_DEPTH:
                raise ValueError(f"found more than {_MOST_DEPTH} lists and mappings within each other")
        elif mark in ("]", "}"):
            depth -= 1


def _mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {shown(twice)} is written twice")
    return data


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"found {brief(text)}, expected a finite number")
    return value


def parse_yaml(text: str, error: type[ValueError], file: str = "", what: str = "the data") -> Entry:
    """Return what a text in YAML holds; an empty one holds an empty mapping.

    Args:
        text: the text. Keys that are written twice, values beyond text, numbers, truth values, null, lists and
            mappings, deep nesting and aliases that stand for too much are refused.
        error: the class to raise, now and for what is taken out later.
        file: where the text comes from, for messages.
        what: what the text is, where there is no file.

    Raises:
        error: if the text is no such YAML.
    """
    try:
        data = _Yaml(text).document()
    except (yaml.YAMLError, ValueError) as problem:
        reason = brief(" ".join(str(problem).replace('in "<unicode string>", ', "at ").split()), 400)
        raise error(f"{brief(file) or what}: cannot be read as YAML: {reason}") from None
    return Entry({} if data is None else data, error, file=file, what=what)


class _Yaml:
    """Plain data from the events of PyYAML's parser: its own constructor knows no bounds, and more types than these."""

    _LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    def __init__(self, text: str) -> None:
        self.loader = self._LOADER(text)
        self.values = 0
        self.anchors: dict[str, tuple[Any, int]] = {}  # what an alias stands for, and how many values that are
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
        """Return the only document of the text, None if there is none."""
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
                self._fail(event, f"the alias {shown(event.anchor)} stands for nothing that is written before it")
            data, size = self.anchors[event.anchor]
            self.values += size
        elif isinstance(event, yaml.ScalarEvent):
            data = self._scalar(event)
        else:
            if depth >= _MOST_DEPTH:
                self._fail(event, f"found more than {_MOST_DEPTH} lists and mappings within each other")
            if event.tag not in (None, "!", "tag:yaml.org,2002:map", "tag:yaml.org,2002:seq"):
                self._fail(event, f"found the type {shown(event.tag)}, expected a plain list or mapping")
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
                self._fail(event, f"the key {shown(key)} is written twice")
            data[key] = self._node(self.loader.get_event(), depth)
        self.loader.get_event()
        return data

    def _scalar(self, event: Any) -> Any:
        tag = event.tag
        if tag in (None, "!"):
            tag = self.loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        if tag not in self.scalars:
            kind = str(tag).removeprefix("tag:yaml.org,2002:")
            self._fail(event, f"found {shown(event.value)} of the type {shown(kind)}, expected text (put it in quotes)")
        construct, what = self.scalars[tag]
        try:
            return construct(yaml.ScalarNode(tag, event.value))
        except (ValueError, KeyError, IndexError, OverflowError):
            self._fail(event, f"found {shown(event.value)}, expected {what}")

    @staticmethod
    def _fail(event: Any, text: str) -> NoReturn:
        raise ValueError(f"line {event.start_mark.line + 1}: {text}")


# Data that the project wrote and nobody should have changed


def digest_of(data: object) -> str:
    """Return 16 hexadecimal digits that identify plain data."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return plain data with its digest; `Entry.intact` finds out whether it was changed."""
    return {**data, "digest": digest_of(dict(data))}


# From plain data to checked values


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


_NOTHING = _Nothing()


class Entry:
    """A value from outside, and where it stands. What is wrong with it is said in the form ``WHERE: found, expected``.

    A key that is not there gives an entry too: whatever is asked of it, it says that nothing was found.

    Args:
        value: plain data.
        error: the class to raise.
        key: how the value is called; empty: it is a whole file or the like.
        file: where it comes from.
        what: what the whole is, for messages about it where there is no file.
        above: the list or mapping that it stands in.
    """

    __slots__ = ("_above", "_file", "_key", "_what", "error", "value")

    def __init__(
        self,
        value: Any,
        error: type[ValueError],
        key: str | int = "",
        *,
        file: str = "",
        what: str = "the data",
        above: Entry | None = None,
    ) -> None:
        self.value, self.error = value, error
        self._key, self._file, self._what, self._above = key, file, what, above

    @classmethod
    def of(cls, data: Any, error: type[ValueError], what: str) -> Entry:
        """Return data as an entry: itself if it is one already, so that it keeps its place."""
        return data if isinstance(data, Entry) else cls(data, error, what=what)

    # where it stands

    @property
    def path(self) -> str:
        """The keys on the way to the value, such as ``tables[3].name``."""
        above = "" if self._above is None else self._above.path
        if isinstance(self._key, int) and isinstance(self._above and self._above.value, list | tuple):
            return f"{above}[{self._key}]"
        key = self._key
        key = key if isinstance(key, str) and key.isprintable() and len(key) <= 100 else shown(key)
        return f"{above}.{key}" if above and key else above + key

    @property
    def file(self) -> str:
        """Where the value comes from; empty if that is not known."""
        return self._file if self._above is None else self._above.file

    def _place(self, inside: str = "") -> str:
        """Return the place for a message; `inside` goes on with the path."""
        path = ".".join(part for part in (self.path, inside) if part)
        file = brief(self.file)
        if not path and not file:
            return self._what
        return f"{file}: {path}" if path and file else path or file

    def fail(self, expected: str, remedy: str = "", found: str | None = None) -> NoReturn:
        """Raise the error.

        Args:
            expected: what should stand there.
            remedy: what to do about it.
            found: what stands there; default: the value.
        """
        found = shown(self.value) if found is None else found
        raise self.error(f"{self._place()}: found {found}, expected {expected}" + (f" ({remedy})" if remedy else ""))

    # what is in it

    @property
    def given(self) -> bool:
        """Whether anything stands there."""
        return self.value is not _NOTHING

    def _below(self, key: str | int, value: Any) -> Entry:
        return Entry(value, self.error, key, above=self)

    def __getitem__(self, key: str) -> Entry:
        """Return what stands under a key of a mapping."""
        return self.get(key, _NOTHING)

    def get(self, key: str, default: Any) -> Entry:
        """Return what stands under a key of a mapping, or an entry with the default."""
        return self._below(key, self.mapping().value.get(key, default))

    def mapping(self, keys: Sequence[str] | None = None) -> Entry:
        """Return the entry itself if it is a mapping with no other keys than these.

        Args:
            keys: that there are, in the order in which messages name them; None: any text.
        """
        if not isinstance(self.value, Mapping):
            self.fail("a mapping" + ("" if keys is None else f" of some of {', '.join(keys)}"))
        for key, value in self.value.items():
            if keys is not None and key not in keys:
                place = self._below(key, value)._place()
                raise self.error(f"{place}: no such key (found {shown(value)}), expected {one_of(keys, key)}")
        return self

    def items(self) -> list[tuple[Any, Entry]]:
        """Return the keys of a mapping, each with what stands under it."""
        return [(key, self._below(key, value)) for key, value in self.mapping().value.items()]

    def entries(self, what: str, least: int = 0, length: int | None = None, most: int | None = None) -> list[Entry]:
        """Return the elements of a list.

        Args:
            what: they are, for the message.
            least: how many there have to be, 0 or 1.
            length: how many there have to be exactly.
            most: how many there may be.
        """
        count = len(self.value) if isinstance(self.value, list | tuple) else -1
        if count < least or length not in (None, count):
            self.fail(f"a list of {what}" if length is None else f"a list of {length} {what}")
        if most is not None and count > most:
            self.fail(f"a list of at most {most:,}", found=f"a list of {count:,}")
        return [self._below(i, value) for i, value in enumerate(self.value)]

    def intact(self, what: str) -> Entry:
        """Return the entry itself if it is a mapping that `sealed` made, as it was made; `what` says what it is."""
        if not self.mapping()["digest"].given:
            self.fail(f"{what}, with its digest")
        digest = digest_of({key: value for key, value in self.value.items() if key != "digest"})
        if self["digest"].value != digest:
            remedy = "it was changed after it was written: bring the former file back, or have it written anew"
            self["digest"].fail(f"{digest!r} for what is written there", remedy)
        return self

    # what it is

    def integer(self, low: int, high: int | None = None, expected: str = "") -> int:
        """Return a whole number, from `low` to `high` (default: what 64 bits hold); truth values are none."""
        try:
            number = None if isinstance(self.value, bool) else operator.index(self.value)
        except TypeError:
            number = None
        most = _MOST_WHOLE if high is None else high
        if number is None or not low <= number <= most:
            at_least = high is None and (number is None or number < low)
            limits = f"of at least {low}" if at_least else f"from {low} to {most}"
            self.fail(expected or f"a whole number {limits}")
        return number

    def number(self, low: float, high: float | None = None, *, inside: bool = False, expected: str = "") -> float:
        """Return a finite number.

        Args:
            low: the least that it may be.
            high: the most that it may be.
            inside: whether these two are already too little and too much.
            expected: the message, if it shall not say just that.
        """
        number, most = self.value, _MOST_NUMBER if high is None else high
        if not isinstance(number, bool) and isinstance(number, int | float | np.floating):
            fits = low < number < most if inside else low <= number <= most  # nothing that is not finite does
            if fits:
                return number if type(number) is int else float(number)
        if high is None:
            limits = f"above {low:g}" if inside else f"of at least {low:g}"
        else:
            limits = f"between {low:g} and {high:g}" if inside else f"from {low:g} to {high:g}"
        self.fail(expected or f"a number {limits}")

    def flag(self) -> bool:
        """Return True or False."""
        if not isinstance(self.value, bool):
            self.fail("True or False")
        return self.value

    def text(self, expected: str = "text") -> str:
        """Return text that is not empty and no longer than a name or a path may be."""
        if not isinstance(self.value, str) or not self.value.strip() or len(self.value) > _MOST_TEXT:
            long = isinstance(self.value, str) and len(self.value) > _MOST_TEXT
            self.fail(f"{expected} of at most {_MOST_TEXT:,} characters" if long else expected)
        return self.value

    def choice(self, known: Sequence[str], what: str = "") -> str:
        """Return one of some words; `what` says what they are."""
        if not isinstance(self.value, str) or self.value not in known:
            self.fail(what + one_of(known, self.value))
        return self.value

    def build(self, kind: type[T]) -> T:
        """Return a dataclass whose fields stand in a mapping.

        It checks its values itself, by ValueErrors whose messages begin with the field; what has no default must be
        there. Fields that begin with an underscore are its own affair.
        """
        known = [item for item in fields(kind) if not item.name.startswith("_")]  # type: ignore[arg-type]  # a dataclass
        self.mapping([item.name for item in known])
        values = {
            item.name: self.value.get(item.name, _NOTHING)
            for item in known
            if item.name in self.value or (item.default is MISSING and item.default_factory is MISSING)
        }
        try:
            return kind(**values)
        except ValueError as problem:
            own = re.match(r"\w+", str(problem))
            if own and own[0] in values:
                raise self.error(self._place(str(problem))) from None
            raise self.error(f"{self._place()}: {problem}") from None

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Say of what goes wrong in the block that it is about this entry."""
        try:
            yield
        except ValueError as problem:
            where = self._place() if self.path or self.file else ""
            raise self.error(f"{where}: {problem}" if where else str(problem)) from None

"""Validate plain data, integers, actions and seeds, with error messages that name the location of the value."""

from __future__ import annotations

import hashlib
import json
import operator
import re
import secrets
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields
from difflib import get_close_matches
from reprlib import Repr
from typing import Any, NoReturn, TypeVar

import numpy as np


class UserError(ValueError):
    """Error for invalid user input; the message names the input, the expected value and a remedy.

    Commands print these errors as one line. Any other error is a bug.
    """


class _ShortRepr(Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 4, 100, 100, 60
        self.maxdict = self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = 8

    def repr_int(self, x: int, level: int) -> str:
        # Python raises ValueError when converting integers with thousands of digits to text.
        return f"a number of {x.bit_length():,} bits" if x.bit_length() > 1000 else super().repr_int(x, level)


_REPR = _ShortRepr()


def short_repr(value: object) -> str:
    """Return the `repr` of a value, shortened to a readable length."""
    try:
        return shorten(_REPR.repr(value))
    except ValueError:  # Python does not convert integers of more than 4,300 digits
        return "a number with too many digits"


def shorten(text: object, max_length: int = 160) -> str:
    """Shorten a text that is longer than `max_length` characters by removing its middle."""
    whole = str(text)
    return whole if len(whole) <= max_length else f"{whole[: max_length - 43]}...{whole[-40:]}"


def check_same_settings(place: object, settings: object, stored: object, error: type[ValueError]) -> None:
    """Raise `error` if settings differ from the stored ones with which the results in a file or folder were made."""
    different = list(_differences(settings, stored))
    if different:
        more = f" (and {len(different) - 3} more)" if len(different) > 3 else ""
        raise error(
            f"{place}: {'; '.join(different[:3])}{more} as for the earlier results; use the same settings, or choose "
            "another --out"
        )


def _differences(found: object, expected: object, where: str = "") -> Iterator[str]:
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in {**found, **expected}:
            pair = (found.get(key, _MISSING), expected.get(key, _MISSING))
            yield from _differences(*pair, f"{where}.{key}" if where else str(key))
    elif isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        for i, pair in enumerate(zip(found, expected, strict=True)):
            yield from _differences(*pair, f"{where}[{i}]")
    elif found != expected:
        yield f"{where}: found {short_repr(found)}, expected {short_repr(expected)}"


def choices_text(known: Iterable[object], word: object) -> str:
    """Return the end of an error message, ``"one of a, b, c"``, with suggestions for a misspelled word."""
    names = [str(name) for name in known]
    near = get_close_matches(word, names, n=2) if isinstance(word, str) and len(word) <= 100 else []
    listed = ", ".join(names) if len(names) <= 100 else f"{', '.join(names[:20])} and {len(names) - 20} more"
    return f"one of {shorten(listed, 800)}" + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "")


#: Types that are accepted without the full check, which takes longer than a game step.
_INTEGERS = frozenset((int, *(np.dtype(code).type for code in np.typecodes["AllInteger"])))

FAST_INTEGER_TYPES = frozenset((int, np.int64))
"""Types of almost all actions; compiled code accepts them without conversion."""


def is_boolean(value: object) -> bool:
    """Return whether a value is a boolean: a Python bool, or a boolean scalar, array or tensor of any library."""
    return isinstance(value, bool) or "bool" in str(getattr(value, "dtype", ""))


def as_integer(value: Any) -> int | None:
    """Convert an integer of any type to an int. Return None for any other value, including booleans."""
    if type(value) not in _INTEGERS and is_boolean(value):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def has_boolean(values: Collection[object]) -> bool:
    """Return whether any value is a boolean, which an integer array would store as 0 or 1."""
    return not _INTEGERS.issuperset(map(type, values)) and any(map(is_boolean, values))


def as_action(value: object) -> int:
    """Convert an action of any integer type to an int. Return -1, an illegal action, for any other value."""
    number = as_integer(value)
    return -1 if number is None else number


def seed_to_uint64(value: int | None, name: str = "seed") -> np.uint64:
    """Convert a seed to a uint64; None draws fresh entropy. Raise ValueError if it is not an integer >= 0."""
    if value is None:
        return np.uint64(secrets.randbits(64))
    number = as_integer(value)
    if number is None or number < 0:
        raise ValueError(f"{name}: found {short_repr(value)}, expected a whole number of at least 0, or None")
    return np.uint64(number % 2**64)


T = TypeVar("T")

_MAX_WHOLE, _MAX_NUMBER = 2**63 - 1, sys.float_info.max
#: Maximum length of a text, in characters.
_MAX_TEXT = 1000


def digest_of(data: object) -> str:
    """Return a digest of plain data: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


def with_digest(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of plain data with its digest added; `Node.verify_digest` checks it."""
    return {**data, "digest": digest_of(dict(data))}


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


_MISSING = _Missing()


class Node:
    """An external value with its location. Error messages have the form ``WHERE: found X, expected Y``.

    Looking up a missing key also returns a node. Extracting its value raises an error that reports "found nothing".

    Args:
        value: the plain data.
        error: exception class that is raised for invalid values.
        key: key or index of the value; empty for a whole file or document.
        file: name of the source file.
        what: description of the data as a whole, for error messages if there is no file.
        parent: the list or mapping that contains the value.
    """

    __slots__ = ("_file", "_key", "_parent", "_what", "error", "value")

    def __init__(
        self,
        value: Any,
        error: type[ValueError],
        key: str | int = "",
        *,
        file: str = "",
        what: str = "the data",
        parent: Node | None = None,
    ) -> None:
        self.value, self.error = value, error
        self._key, self._file, self._what, self._parent = key, file, what, parent

    @classmethod
    def of(cls, data: Any, error: type[ValueError], what: str) -> Node:
        """Wrap data in a node; an existing node is returned unchanged."""
        return data if isinstance(data, Node) else cls(data, error, what=what)

    # location

    @property
    def path(self) -> str:
        """The keys that lead to the value, such as ``tables[3].name``."""
        above = "" if self._parent is None else self._parent.path
        if isinstance(self._key, int) and isinstance(self._parent and self._parent.value, list | tuple):
            return f"{above}[{self._key}]"
        key = self._key
        key = key if isinstance(key, str) and key.isprintable() and len(key) <= 100 else short_repr(key)
        return f"{above}.{key}" if above and key else above + key

    @property
    def file(self) -> str:
        """Source of the value; empty if unknown."""
        return self._file if self._parent is None else self._parent.file

    def _location(self, inside: str = "") -> str:
        """Return the location for an error message; `inside` is appended to the path."""
        path = ".".join(part for part in (self.path, inside) if part)
        file = shorten(self.file)
        if not path and not file:
            return self._what
        return f"{file}: {path}" if path and file else path or file

    def fail(self, expected: str, remedy: str = "", found: str | None = None) -> NoReturn:
        """Raise the error; `found` defaults to the value."""
        found = short_repr(self.value) if found is None else found
        raise self.error(f"{self._location()}: found {found}, expected {expected}" + (f" ({remedy})" if remedy else ""))

    # contents

    @property
    def is_present(self) -> bool:
        """Whether the value is present."""
        return self.value is not _MISSING

    def _child(self, key: str | int, value: Any) -> Node:
        return Node(value, self.error, key, parent=self)

    def __getitem__(self, key: str) -> Node:
        """Return the node for a key of a mapping."""
        return self.get(key, _MISSING)

    def get(self, key: str, default: Any) -> Node:
        """Return the node for a key of a mapping, or a node with the default if the key is missing."""
        return self._child(key, self.mapping().value.get(key, default))

    def mapping(self, keys: Sequence[str] | None = None) -> Node:
        """Check that the value is a mapping without unknown keys, and return the node. None allows any keys."""
        if not isinstance(self.value, Mapping):
            self.fail("a mapping" + ("" if keys is None else f" of some of {', '.join(keys)}"))
        for key, value in self.value.items():
            if keys is not None and key not in keys:
                location = self._child(key, value)._location()
                raise self.error(
                    f"{location}: no such key (found {short_repr(value)}), expected {choices_text(keys, key)}"
                )
        return self

    def items(self) -> list[tuple[Any, Node]]:
        """Return the keys of a mapping with the nodes of their values."""
        return [(key, self._child(key, value)) for key, value in self.mapping().value.items()]

    def entries(self, what: str, least: int = 0, length: int | None = None, most: int | None = None) -> list[Node]:
        """Return the elements of a list with a given or bounded length; `what` names them in error messages."""
        count = len(self.value) if isinstance(self.value, list | tuple) else -1
        if count < least or length not in (None, count):
            self.fail(f"a list of {what}" if length is None else f"a list of {length} {what}")
        if most is not None and count > most:
            self.fail(f"a list of at most {most:,}", found=f"a list of {count:,}")
        return [self._child(i, value) for i, value in enumerate(self.value)]

    @contextmanager
    def usable_for(self, what: str) -> Iterator[None]:
        """Raise the error of this node if the block fails to convert the data to `what`."""
        try:
            yield
        except UserError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
            reason = f"{type(problem).__name__}: {shorten(str(problem))}"
            self.fail(f"data for {what}", "the program that wrote the file has changed: write it again", reason)

    def verify_digest(self, what: str) -> Node:
        """Check the digest added by `with_digest`, and return the node; `what` names the data in error messages."""
        if not self.mapping()["digest"].is_present:
            self.fail(f"{what}, with its digest")
        digest = digest_of({key: value for key, value in self.value.items() if key != "digest"})
        if self["digest"].value != digest:
            remedy = "the file was changed after it was written: restore it, or write it again"
            self["digest"].fail(f"{digest!r} for its content", remedy)
        return self

    # types

    def integer(self, low: int, high: int | None = None, expected: str = "") -> int:
        """Return an integer from `low` to `high` (default: the int64 maximum); booleans are rejected."""
        number = as_integer(self.value)
        most = _MAX_WHOLE if high is None else high
        if number is None or not low <= number <= most:
            at_least = high is None and (number is None or number < low)
            limits = f"of at least {low:,}" if at_least else f"from {low:,} to {most:,}"
            self.fail(expected or f"a whole number {limits}")
        return number

    def number(self, low: float, high: float | None = None, *, inside: bool = False, expected: str = "") -> float:
        """Return a finite number from `low` to `high`; if `inside` is true, both limits are excluded."""
        number, most = self.value, _MAX_NUMBER if high is None else high
        if not isinstance(number, bool) and isinstance(number, int | float | np.floating):
            fits = low < number < most if inside else low <= number <= most  # false for NaN and infinity
            if fits:
                return number if type(number) is int else float(number)
        if high is None:
            limits = f"above {low:g}" if inside else f"of at least {low:g}"
        else:
            limits = f"between {low:g} and {high:g}" if inside else f"from {low:g} to {high:g}"
        self.fail(expected or f"a number {limits}")

    def boolean(self) -> bool:
        """Return the value, which must be a boolean."""
        if not isinstance(self.value, bool):
            self.fail("True or False")
        return self.value

    def text(self, expected: str = "text") -> str:
        """Return non-empty text of at most 1,000 characters."""
        if not isinstance(self.value, str) or not self.value.strip() or len(self.value) > _MAX_TEXT:
            long = isinstance(self.value, str) and len(self.value) > _MAX_TEXT
            self.fail(f"{expected} of at most {_MAX_TEXT:,} characters" if long else expected)
        return self.value

    def choice(self, known: Sequence[str], what: str = "") -> str:
        """Return a text that is one of `known`; `what` precedes the choices in error messages."""
        if not isinstance(self.value, str) or self.value not in known:
            self.fail(what + choices_text(known, self.value))
        return self.value

    def build(self, kind: type[T]) -> T:
        """Return a dataclass instance built from a mapping of its fields.

        The dataclass validates its values; its ValueErrors begin with the name of the field. Fields without a default
        are required. Fields whose names begin with an underscore cannot be set.
        """
        known = [item for item in fields(kind) if not item.name.startswith("_")]  # type: ignore[arg-type]  # a dataclass
        self.mapping([item.name for item in known])
        values = {
            item.name: self.value.get(item.name, _MISSING)
            for item in known
            if item.name in self.value or (item.default is MISSING and item.default_factory is MISSING)
        }
        try:
            return kind(**values)
        except ValueError as problem:
            own = re.match(r"\w+", str(problem))
            if own and own[0] in values:
                raise self.error(self._location(str(problem))) from None
            raise self.error(f"{self._location()}: {problem}") from None

    @contextmanager
    def prefix_errors(self) -> Iterator[None]:
        """Prefix ValueErrors raised in the block with the location of this node."""
        try:
            yield
        except ValueError as problem:
            location = self._location() if self.path or self.file else ""
            raise self.error(f"{location}: {problem}" if location else str(problem)) from None

"""Schemas of plain data: validate a JSON file once, so that reports can use it without further checks.

A schema is plain data itself: a mapping of the required keys, a list with the schema of its elements, or a function
that takes the node and raises an error for an invalid value. Additional keys are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helsinki_env.data.node import Node

__all__ = [
    "Schema",
    "any_text",
    "check_schema",
    "enum_of",
    "finite_number",
    "fraction",
    "mapping_of",
    "nonempty_list_of",
    "nonempty_text",
    "nonnegative_integer",
    "nonnegative_number",
    "nullable",
    "optional",
    "pair_of",
    "player_count",
]  # fmt: skip

Schema = Mapping[str, "Schema"] | list["Schema"] | Callable[[Node], object]

#: Far above any measured value; keeps plots finite.
_MOST = 1e9


def check_schema(entry: Node, form: Schema) -> None:
    """Check that data match a schema; raise the node's error class otherwise."""
    if isinstance(form, Mapping):
        for key, inner in form.items():
            check_schema(entry[key], inner)
    elif isinstance(form, list):
        for item in entry.entries("values"):
            check_schema(item, form[0])
    else:
        form(entry)


# values


def finite_number(entry: Node) -> object:
    """Check for a finite number."""
    return entry.number(-_MOST, _MOST)


def nonnegative_number(entry: Node) -> object:
    """Check for a number of at least 0, such as a standard error."""
    return entry.number(0.0, _MOST)


def nullable(form: Schema) -> Schema:
    """Return a schema that also accepts None, for values that could not be measured."""

    def check(entry: Node) -> None:
        if entry.value is not None:
            check_schema(entry, form)

    return check


def fraction(entry: Node) -> object:
    """Check for a fraction from 0 to 1."""
    return entry.number(0.0, 1.0)


def nonnegative_integer(entry: Node) -> object:
    """Check for an integer of at least 0."""
    return entry.integer(0)


def player_count(entry: Node) -> object:
    """Check for a number of players."""
    return entry.integer(2, 4, "2, 3 or 4")


def nonempty_text(entry: Node) -> object:
    """Check for non-empty text."""
    return entry.text()


def any_text(entry: Node) -> object:
    """Check for text of any length, including empty text."""
    if not isinstance(entry.value, str):
        entry.fail("text")
    return entry.value


def optional(form: Schema) -> Schema:
    """Return the schema of an optional value."""

    def check(entry: Node) -> None:
        if entry.is_present:
            check_schema(entry, form)

    return check


def enum_of(*words: str) -> Schema:
    """Return the schema of a choice among these words."""
    return lambda entry: entry.choice(words)


def mapping_of(form: Schema) -> Schema:
    """Return the schema of a mapping with arbitrary keys."""

    def check(entry: Node) -> None:
        for _, inner in entry.items():
            check_schema(inner, form)

    return check


# lists


def nonempty_list_of(form: Schema) -> Schema:
    """Return the schema of a non-empty list."""

    def check(entry: Node) -> None:
        for item in entry.entries("at least one value", least=1):
            check_schema(item, form)

    return check


def pair_of(form: Schema) -> Schema:
    """Return the schema of a pair."""

    def check(entry: Node) -> None:
        for item in entry.entries("values", length=2):
            check_schema(item, form)

    return check

"""Schemas of plain data: validate a JSON file once, so that reports can use it without further checks.

A schema is plain data itself: a mapping of the required keys, a list with the schema of its elements, or a function
that takes the entry and raises an error for a bad value. Additional keys are allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helsinki_env.data.entry import Entry

__all__ = ["Form", "check_form", "count", "each", "error", "if_given", "number", "one_of", "or_none", "players",
           "share", "some", "text", "two", "words"]  # fmt: skip

Form = Mapping[str, "Form"] | list["Form"] | Callable[[Entry], object]

#: Far above any measured value; keeps plots finite.
_MOST = 1e9


def check_form(entry: Entry, form: Form) -> None:
    """Check that data match a schema.

    Raises:
        ValueError: of the entry's error class; names the key, the value found and the expected value.
    """
    if isinstance(form, Mapping):
        for key, inner in form.items():
            check_form(entry[key], inner)
    elif isinstance(form, list):
        for item in entry.entries("what was found"):
            check_form(item, form[0])
    else:
        form(entry)


# values


def number(entry: Entry) -> object:
    """Check for a finite number."""
    return entry.number(-_MOST, _MOST)


def error(entry: Entry) -> object:
    """Check for a standard error or a distance (not negative)."""
    return entry.number(0.0, _MOST)


def or_none(form: Form) -> Form:
    """Return a schema that also accepts None, for values that could not be measured."""

    def check(entry: Entry) -> None:
        if entry.value is not None:
            check_form(entry, form)

    return check


def share(entry: Entry) -> object:
    """Check for a fraction from 0 to 1."""
    return entry.number(0.0, 1.0)


def count(entry: Entry) -> object:
    """Check for an integer of at least 0."""
    return entry.integer(0)


def players(entry: Entry) -> object:
    """Check for a number of players."""
    return entry.integer(2, 4, "2, 3 or 4")


def text(entry: Entry) -> object:
    """Check for non-empty text."""
    return entry.text()


def words(entry: Entry) -> object:
    """Check for text of any length, including empty text."""
    if not isinstance(entry.value, str):
        entry.fail("text")
    return entry.value


def if_given(form: Form) -> Form:
    """Return the schema of an optional value."""

    def check(entry: Entry) -> None:
        if entry.given:
            check_form(entry, form)

    return check


def one_of(*words: str) -> Form:
    """Return the schema of a choice among these words."""
    return lambda entry: entry.choice(words)


def each(form: Form) -> Form:
    """Return the schema of a mapping with arbitrary keys."""

    def check(entry: Entry) -> None:
        for _, inner in entry.items():
            check_form(inner, form)

    return check


# lists


def some(form: Form) -> Form:
    """Return the schema of a non-empty list."""

    def check(entry: Entry) -> None:
        for item in entry.entries("at least one of what was found", least=1):
            check_form(item, form)

    return check


def two(form: Form) -> Form:
    """Return the schema of a pair."""

    def check(entry: Entry) -> None:
        for item in entry.entries("values", length=2):
            check_form(item, form)

    return check

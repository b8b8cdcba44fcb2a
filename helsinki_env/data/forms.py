"""Forms of plain data: what a JSON file has to hold, so that reports can be made of it without looking again.

A form is written down as plain data itself: a mapping of the keys that are needed, a list with the form of each of its
elements, or a function that takes the value and complains about a wrong one. Keys beyond those are let through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helsinki_env.data.entry import Entry

__all__ = ["Form", "check_form", "count", "each", "error", "if_given", "number", "one_of", "or_none", "players",
           "share", "some", "text", "two", "words"]  # fmt: skip

Form = Mapping[str, "Form"] | list["Form"] | Callable[[Entry], object]

#: Far beyond what anything is measured to be: pictures stay finite.
_MOST = 1e9


def check_form(entry: Entry, form: Form) -> None:
    """Make sure that data have a form.

    Raises:
        ValueError: of the kind that `entry` raises; it names the key, what stands there and what is expected.
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
    """A number."""
    return entry.number(-_MOST, _MOST)


def error(entry: Entry) -> object:
    """A standard error, or a distance."""
    return entry.number(0.0, _MOST)


def or_none(form: Form) -> Form:
    """Return a form that lets nothing stand for what could not be measured."""

    def check(entry: Entry) -> None:
        if entry.value is not None:
            check_form(entry, form)

    return check


def share(entry: Entry) -> object:
    """A part of one."""
    return entry.number(0.0, 1.0)


def count(entry: Entry) -> object:
    """A whole number from 0 on."""
    return entry.integer(0)


def players(entry: Entry) -> object:
    """A number of players."""
    return entry.integer(2, 4, "2, 3 or 4")


def text(entry: Entry) -> object:
    """Any text but none."""
    return entry.text()


def words(entry: Entry) -> object:
    """Any text, of any length."""
    if not isinstance(entry.value, str):
        entry.fail("text")
    return entry.value


def if_given(form: Form) -> Form:
    """Return the form of a value that may be missing."""

    def check(entry: Entry) -> None:
        if entry.given:
            check_form(entry, form)

    return check


def one_of(*words: str) -> Form:
    """Return the form of one of these words."""
    return lambda entry: entry.choice(words)


def each(form: Form) -> Form:
    """Return the form of a mapping of any keys."""

    def check(entry: Entry) -> None:
        for _, inner in entry.items():
            check_form(inner, form)

    return check


# lists


def some(form: Form) -> Form:
    """Return the form of a list that is not empty."""

    def check(entry: Entry) -> None:
        for item in entry.entries("at least one of what was found", least=1):
            check_form(item, form)

    return check


def two(form: Form) -> Form:
    """Return the form of a pair."""

    def check(entry: Entry) -> None:
        for item in entry.entries("values", length=2):
            check_form(item, form)

    return check

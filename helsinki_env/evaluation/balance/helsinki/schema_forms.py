"""Schemas shared by the outputs of balance studies, on top of `helsinki_env.data.forms`."""

from __future__ import annotations

from helsinki_env.data import Entry
from helsinki_env.data.forms import (
    Form,
    check_form,
    count,
    each,
    error,
    if_given,
    number,
    one_of,
    or_none,
    players,
    share,
    some,
    text,
    two,
)
from helsinki_env.games.helsinki.components import ACTIONS

__all__ = [
    "MEASURED",
    "Form",
    "action",
    "all_actions",
    "by_action",
    "check_form",
    "count",
    "each",
    "error",
    "if_given",
    "number",
    "of_actions",
    "one_of",
    "or_none",
    "players",
    "share",
    "some",
    "text",
    "two",
]

_ACTIONS = len(ACTIONS)


def action(entry: Entry) -> object:
    """Check the name of an action."""
    return entry.choice(ACTIONS, "an action: ")


def by_action(form: Form) -> Form:
    """Return the schema of a list with one item for each action."""

    def check(entry: Entry) -> None:
        for item in entry.entries("values, one for each action", length=_ACTIONS):
            check_form(item, form)

    return check


def all_actions(entry: Entry) -> None:
    """Check the list of actions; other lists use its order."""
    for item, name in zip(entry.entries("actions", length=_ACTIONS), ACTIONS, strict=True):
        item.choice([name])


def of_actions(form: Form) -> Form:
    """Return the schema of one result for each action, in their order, with its name as ``action``."""

    def check(entry: Entry) -> None:
        for item, name in zip(entry.entries("findings, one for each action", length=_ACTIONS), ACTIONS, strict=True):
            item["action"].choice([name])
            check_form(item, form)

    return check


MEASURED: Form = {"mean": or_none(number), "error": or_none(error)}
"""A mean with its standard error."""

"""Schemas shared by the outputs of balance studies, on top of `helsinki_env.data.schemas`."""

from __future__ import annotations

from helsinki_env.data import Node
from helsinki_env.data.schemas import (
    Schema,
    check_schema,
    enum_of,
    finite_number,
    fraction,
    mapping_of,
    nonempty_list_of,
    nonempty_text,
    nonnegative_integer,
    nonnegative_number,
    nullable,
    optional,
    pair_of,
    player_count,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = [
    "MEASURED",
    "Schema",
    "action",
    "all_actions",
    "by_action",
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
    "of_actions",
    "optional",
    "pair_of",
    "player_count",
]

_ACTIONS = len(BOARD_ACTIONS)


def action(entry: Node) -> object:
    """Check the name of an action."""
    return entry.choice(BOARD_ACTIONS, "an action: ")


def by_action(form: Schema) -> Schema:
    """Return the schema of a list with one item for each action."""

    def check(entry: Node) -> None:
        for item in entry.entries("values, one for each action", length=_ACTIONS):
            check_schema(item, form)

    return check


def all_actions(entry: Node) -> None:
    """Check the list of actions; other lists use its order."""
    for item, name in zip(entry.entries("actions", length=_ACTIONS), BOARD_ACTIONS, strict=True):
        item.choice([name])


def of_actions(form: Schema) -> Schema:
    """Return the schema of one result for each action, in their order, with its name as ``action``."""

    def check(entry: Node) -> None:
        for item, name in zip(
            entry.entries("findings, one for each action", length=_ACTIONS), BOARD_ACTIONS, strict=True
        ):
            item["action"].choice([name])
            check_schema(item, form)

    return check


MEASURED: Schema = {"mean": nullable(finite_number), "error": nullable(nonnegative_number)}
"""A mean with its standard error."""

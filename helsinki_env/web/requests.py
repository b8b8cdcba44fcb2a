"""Validation of requests to the server and of messages from pages."""

from __future__ import annotations

import unicodedata
from typing import Annotated, Any, Literal

from helsinki_env.data import parse_json
from helsinki_env.utils.extras import requires_extra
from helsinki_env.web.tables import HUMAN, TableError

with requires_extra("play"):
    from fastapi import Query
    from pydantic import AfterValidator, BaseModel, ConfigDict, Field

__all__ = [
    "MAX_LIST_ENTRIES",
    "MESSAGES",
    "TOTAL",
    "Beginning",
    "Limit",
    "Name",
    "NewChair",
    "NewTable",
    "Offset",
    "message_of",
]

_JOINERS = "\u200c\u200d"
"""Invisible characters that scripts and emoji need."""


def _plain(text: str) -> str:
    """Return the text; ValueError if it has invisible characters that change how the text around them is displayed."""
    for letter in text:
        if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Zl", "Zp") and letter not in _JOINERS:
            raise ValueError("expected a name without control characters")
    return text


TOTAL = "x-total-count"
"""Header with the total length of a list that is sent in part."""
MAX_LIST_ENTRIES = 10_000
"""Default and maximum number of list entries in a response."""
Offset = Annotated[int, Query(ge=0, lt=2**31, description="entries of the list that are left out before")]
Limit = Annotated[int, Query(ge=1, le=MAX_LIST_ENTRIES, description="entries that are sent at most")]
Name = Annotated[str, AfterValidator(_plain)]
"""Text that pages show in one line."""


class NewChair(BaseModel):
    """The occupant of a seat."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    player: str = Field(HUMAN, min_length=1, max_length=80, description="human, or the name of a player")
    name: Name = Field("", max_length=40, description="what the pages call them")


class Beginning(BaseModel):
    """The starting point in a saved game."""

    model_config = ConfigDict(extra="forbid")

    record: str = Field(min_length=1, max_length=40, description="name of a game or position that is taken apart")
    decisions: int = Field(0, ge=0, le=10**6, description="how many decisions of it were taken before")


class NewTable(BaseModel):
    """A table to create."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    game: str = Field("", max_length=40, description="which game; empty: the usual one")
    title: Name = Field("", max_length=60, description="what the pages call the table")
    chairs: list[NewChair] = Field(min_length=2, max_length=4)
    options: dict[str, Any] = Field(default_factory=dict, max_length=20, description="of the game's configuration")
    seed: int | None = Field(None, ge=0, lt=2**64, description="of the deck; none: a new one")
    sharing: Literal["device", "links"] = Field(
        "device", description="whether humans share this device or each has a link"
    )
    begin: Beginning | None = Field(
        None, alias="from", description="where the game begins, in place of game, options and seed"
    )


#: The message types that a page may send, with the integer fields of each.
MESSAGES: dict[str, tuple[str, ...]] = {
    "sit": (),
    "decide": ("number", "action"),
    "undo": ("number", "to"),
    "takeback": ("number", "to"),
    "look": ("seat",),
    "judge": ("number", "deeper"),
    "cancel": (),
    "ping": (),
    "stop": (),
    "go": (),
    "pace": ("milliseconds",),
}
_MOST = 10**6
_TEXTS_OF = {"sit": ("key", "token")}
_TEXTS = ("key", "token", "once")
_MOST_AT_ONCE = 100
_NUMBERS = tuple(dict.fromkeys(name for names in MESSAGES.values() for name in names))


def message_of(text: str) -> dict[str, Any]:
    """Return the message in a text: its type, integers and texts.

    Any message may have `once`, a text chosen by the page that identifies the message if it is resent. A `decide`
    message may have `more`, the ids of the actions that follow it immediately.

    Raises:
        TableError: if the message is invalid; it names the value found and the value expected.
    """
    found = parse_json(text, TableError, "message")
    kind = found.mapping(("type", *_NUMBERS, *_TEXTS, "more"))["type"].choice(tuple(MESSAGES))
    numbers, texts = MESSAGES[kind], (*_TEXTS_OF.get(kind, ()), "once")
    found.mapping(("type", *numbers, *texts, *(["more"] if kind == "decide" else [])))
    message: dict[str, Any] = {"type": kind}
    message |= {name: found[name].integer(0, _MOST) for name in numbers}
    if kind == "decide":
        more = found.get("more", []).entries("decisions", most=_MOST_AT_ONCE)
        message["more"] = [one.integer(0, _MOST) for one in more]
    message |= {name: "" if found.get(name, "").value == "" else found[name].text() for name in texts}
    return message

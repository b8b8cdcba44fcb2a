"""What the JSON of a study has to hold, so that verdicts, report and figures can be made of it without looking again.

The form is written down as plain data: a mapping of the keys that are needed, a list with the form of each of its
elements, or a function that takes the value and complains about a wrong one. Keys beyond those are let through.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from agents.helsinki.balance.confirm import WAYS
from agents.helsinki.balance.covers import MEASURES
from agents.helsinki.balance.study import GAMES_AS_THEY_ARE
from agents.helsinki.balance.verdicts import Reason, Word
from helsinki_env.data import Entry
from helsinki_env.games.helsinki.components import ACTIONS

__all__ = ["check_written"]

Form = Mapping[str, "Form"] | list["Form"] | Callable[[Entry], object]

#: Far beyond what anything is measured to be: pictures stay finite.
_MOST = 1e9
_ACTIONS = len(ACTIONS)


def check_written(data: Entry) -> None:
    """Make sure that everything is there that reports are made of, and of the right kind.

    Args:
        data: what was found, as `agents.helsinki.balance.results.results` returns it.

    Raises:
        ValueError: of the kind that `data` raises; it names the key, what stands there and what is expected.
    """
    _check(data, _STUDY)
    if data["former"].given:
        _check(data["former"], _FORMER)
    for entry in data["screen"].entries("classes"):
        _length(entry["seat_win_share"], "shares", entry["players"].value)
    for entry in data["quality"].entries("games as they are"):
        for key in ("share", "error"):
            _length(entry["seats"][key], "numbers", entry["players"].value)
    for entry in data["confirm"].entries("suspects"):
        if entry["verdict"].value is not None:
            entry["stopped_after"].integer(0)


def _check(entry: Entry, form: Form) -> None:
    if isinstance(form, Mapping):
        for key, inner in form.items():
            _check(entry[key], inner)
    elif isinstance(form, list):
        for item in entry.entries("what was found"):
            _check(item, form[0])
    else:
        form(entry)


# values


def _number(entry: Entry) -> object:
    return entry.number(-_MOST, _MOST)


def _error(entry: Entry) -> object:
    return entry.number(0.0, _MOST)


def _or_none(form: Form) -> Form:
    """Nothing stands for what could not be measured."""

    def check(entry: Entry) -> None:
        if entry.value is not None:
            _check(entry, form)

    return check


def _share(entry: Entry) -> object:
    return entry.number(0.0, 1.0)


def _count(entry: Entry) -> object:
    return entry.integer(0)


def _players(entry: Entry) -> object:
    return entry.integer(2, 4, "2, 3 or 4")


def _text(entry: Entry) -> object:
    return entry.text()


def _action(entry: Entry) -> object:
    return entry.choice(ACTIONS, "an action: ")


def _one_of(*words: str) -> Form:
    return lambda entry: entry.choice(words)


def _each(form: Form) -> Form:
    """Return the form of a mapping of any keys."""

    def check(entry: Entry) -> None:
        for _, inner in entry.items():
            _check(inner, form)

    return check


# lists


def _length(entry: Entry, what: str, length: int) -> list[Entry]:
    return entry.entries(what, length=length)


def _by_action(form: Form) -> Form:
    """Return the form of a list with something for each action."""

    def check(entry: Entry) -> None:
        for item in _length(entry, "values, one for each action", _ACTIONS):
            _check(item, form)

    return check


def _some(form: Form) -> Form:
    """Return the form of a list that is not empty."""

    def check(entry: Entry) -> None:
        for item in entry.entries("at least one of what was found", least=1):
            _check(item, form)

    return check


def _two(form: Form) -> Form:
    def check(entry: Entry) -> None:
        for item in _length(entry, "values", 2):
            _check(item, form)

    return check


def _all_actions(entry: Entry) -> None:
    """The actions in their order: other lists go by it."""
    for item, name in zip(_length(entry, "actions", _ACTIONS), ACTIONS, strict=True):
        item.choice([name])


def _actions(entry: Entry) -> None:
    """What was found of each action, in their order."""
    for item, name in zip(_length(entry, "findings, one for each action", _ACTIONS), ACTIONS, strict=True):
        item["action"].choice([name])
        _check(item, _OF_AN_ACTION)


def _pairs(entry: Entry) -> None:
    """The pairs of actions, or why nothing is known of them."""
    _check(entry, {"player": _text, "players": _players})
    _check(entry, {"left_out": _text} if entry["left_out"].given else _OF_PAIRS)


_OF_AN_ACTION: Form = {
    **dict.fromkeys(("power", "deviation", "deviation_low", "deviation_high"), _number),
    "deviation_error": _error,
    **dict.fromkeys(("naive", "usage", "first_use"), _or_none(_number)),
}
_OF_PAIRS: Form = {
    **dict.fromkeys(("shapley", "shapley_low", "shapley_high"), _by_action(_number)),
    "pair": _by_action(_by_action(_number)),
    "found": [{"actions": _two(_action), "together": _number}],
}
_MEASURED: Form = {"mean": _or_none(_number), "error": _or_none(_error)}
_AGAIN = ("skill", "rounds", "points", "spread")
_GAMES = ("rounds", "points", "spread", "choices", "lead_changes", "behind")

_STUDY: Form = {
    "study": {
        "name": _text,
        "seed": _count,
        "band": lambda entry: entry.number(0.0, 100.0, inside=True),
        "level": lambda entry: entry.number(0.5, 1.0, inside=True),
        "classes": [{"player": _text}],
        "screen": {"copies": _count, "loose": _share},
    },
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy", "command"), _text),
        "networks": _each(_text),
        "parts": _each({"seed": _count, "plan": _text, "games": _count, "missing_games": _count}),
    },
    "actions": _all_actions,
    "gate": [
        {
            **dict.fromkeys(("full_board", "five_denied", "lost", "lost_low", "lost_high"), _number),
            "player": _text,
            "players": _players,
            "games": _count,
            "admitted": Entry.flag,
        }
    ],
    "screen": [
        {
            "player": _text,
            "strength": _count,
            "players": _players,
            "games": _count,
            "blocks": _count,
            "worth_of_games": _error,
            "mean_power": _number,
            "seat_win_share": [_number],
            "actions": _actions,
        }
    ],
    "pairs": [_pairs],
    "variants": [
        {
            "components": _text,
            "player": _text,
            "players": _players,
            **dict.fromkeys(("deviation", "low", "high"), _by_action(_number)),
        }
    ],
    "quality": [
        {
            "game": _one_of(*GAMES_AS_THEY_ARE),
            "player": _text,
            "players": _players,
            "games": _count,
            "measures": dict.fromkeys(_GAMES, _MEASURED),
            "usage_entropy": _or_none(_number),
            "seats": {"share": [_number], "error": [_or_none(_error)]},
            "scores": _some(_count),
        }
    ],
    "skill": [
        {
            "game": _one_of(*GAMES_AS_THEY_ARE),
            "players": _players,
            "weaker": _text,
            "stronger": _text,
            "games": _count,
            "win_share": _share,
            "error": _error,
            **dict.fromkeys(("rating", "low", "high"), _number),
        }
    ],
    "covers": [
        {
            "players": _players,
            "distribution": dict.fromkeys(MEASURES, _some(_number)),
            "first_game": _or_none({key: {"mean": _number} for key in MEASURES}),
            "again": [
                {
                    "covered": [_action],
                    "first_game": Entry.flag,
                    "measures": dict.fromkeys(_AGAIN, _MEASURED),
                }
            ],
        }
    ],
    "confirm": [
        {
            "players": _players,
            "action": _action,
            "way": _one_of(*WAYS),
            "worth": _number,
            "error": _error,
            "decks": _count,
            "verdict": _or_none(_one_of("better", "not better", "undecided", "running")),
            "path": _some(_two(_number)),
            "bounds": _two(_number),
        }
    ],
}

_FORMER: Form = {
    "study": _text,
    "seed": _count,
    "data": _text,
    "networks": _each(_text),
    "joined": [_text],
    "verdicts": _count,
    "differences": [
        {
            "players": _players,
            "action": _action,
            **dict.fromkeys(("former_verdict", "verdict"), _one_of(*get_args(Word))),
            "why": _or_none(_one_of(*get_args(Reason))),
            **dict.fromkeys(("former_player", "player"), _text),
            **dict.fromkeys(("former_deviation", "former_low", "former_high", "deviation", "low", "high"), _number),
            **dict.fromkeys(("difference", "difference_low", "difference_high"), _number),
        }
    ],
}

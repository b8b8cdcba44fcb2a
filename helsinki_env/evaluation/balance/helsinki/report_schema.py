"""Schema of the JSON file of a study, from which conclusions, report and figures are derived, and its action fields."""

from __future__ import annotations

from typing import get_args

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
from helsinki_env.evaluation.balance.helsinki.conclusions import ChangeReason, ConclusionLabel
from helsinki_env.evaluation.balance.helsinki.covers import GAME_MEASURES
from helsinki_env.evaluation.balance.helsinki.screening import HANDICAP_KINDS
from helsinki_env.evaluation.balance.helsinki.study import PUBLISHED_GAMES
from helsinki_env.games.helsinki.components import BOARD_ACTIONS


def check_study_report(data: Node) -> None:
    """Check that all data for the report is present and of the right type; raises the error type of `data`."""
    check_schema(data, _STUDY)
    if data["former"].is_present:
        check_schema(data["former"], _FORMER)
    for entry in data["screen"].entries("classes"):
        entry["seat_win_share"].entries("shares", length=entry["players"].value)
    for entry in data["quality"].entries("games as they are"):
        check_seats(entry)
    for entry in data["confirm"].entries("candidates"):
        if entry["verdict"].value is not None:
            entry["stopped_after"].integer(0)


def check_seats(entry: Node) -> None:
    """Check that the win rates of some games have one value for each seat."""
    for key in ("share", "error"):
        entry["seats"][key].entries("numbers, one for each seat", length=entry["players"].value)


def action(entry: Node) -> object:
    """Check the name of an action."""
    return entry.choice(BOARD_ACTIONS, "an action: ")


def all_actions(entry: Node) -> None:
    """Check the list of actions; other lists use its order."""
    for item, name in zip(entry.entries("actions", length=len(BOARD_ACTIONS)), BOARD_ACTIONS, strict=True):
        item.choice([name])


def _by_action(form: Schema) -> Schema:
    """Return the schema of a list with one item for each action."""

    def check(entry: Node) -> None:
        for item in entry.entries("values, one for each action", length=len(BOARD_ACTIONS)):
            check_schema(item, form)

    return check


def of_actions(form: Schema) -> Schema:
    """Return the schema of one result for each action, in their order, with its name as ``action``."""

    def check(entry: Node) -> None:
        items = entry.entries("findings, one for each action", length=len(BOARD_ACTIONS))
        for item, name in zip(items, BOARD_ACTIONS, strict=True):
            item["action"].choice([name])
            check_schema(item, form)

    return check


def _pairs(entry: Node) -> None:
    """Check the pairs of actions, or the reason why they could not be estimated."""
    check_schema(entry, {"player": nonempty_text, "players": player_count})
    check_schema(entry, {"left_out": nonempty_text} if entry["left_out"].is_present else _OF_PAIRS)


def _all(form: Schema, *keys: str) -> dict[str, Schema]:
    return dict.fromkeys(keys, form)


MEASURED: Schema = {"mean": nullable(finite_number), "error": nullable(nonnegative_number)}
"""A mean with its standard error."""
SEATS: Schema = {"share": [finite_number], "error": [nullable(nonnegative_number)]}
"""Win rates by seat."""
_BETWEEN = ("deviation", "low", "high")
_DIFFERENCE = ("difference", "difference_low", "difference_high")
_AGAIN: Schema = _all(MEASURED, "skill", "rounds", "points", "spread")
_OF_AN_ACTION: Schema = {
    **_all(finite_number, "power", "deviation", "deviation_low", "deviation_high"),
    **_all(nonnegative_number, "power_error", "deviation_error"),
    **_all(nullable(finite_number), "naive", "usage", "first_use"),
}
_OF_PAIRS: Schema = {
    **_all(_by_action(finite_number), "shapley", "shapley_low", "shapley_high"),
    "pair": _by_action(_by_action(finite_number)),
    "found": [{"actions": pair_of(action), "together": finite_number, "error": nonnegative_number}],
}

_STUDY: Schema = {
    "study": {
        "name": nonempty_text,
        "seed": nonnegative_integer,
        "band": lambda entry: entry.number(0.0, 100.0, inside=True),
        "level": lambda entry: entry.number(0.5, 1.0, inside=True),
        "classes": [{"player": nonempty_text}],
        "screen": {"copies": nonnegative_integer, "loose": fraction},
    },
    "provenance": {
        **_all(nonempty_text, "environment", "package", "numpy", "scipy", "command"),
        "networks": mapping_of(nonempty_text),
        "parts": mapping_of({**_all(nonnegative_integer, "seed", "games", "missing_games"), "plan": nonempty_text}),
    },
    "estimator": optional(nonempty_text),
    "actions": all_actions,
    "gate": [
        {
            **_all(finite_number, "full_board", "five_denied", "lost", "lost_low", "lost_high"),
            "player": nonempty_text,
            "players": player_count,
            "games": nonnegative_integer,
            "admitted": Node.boolean,
        }
    ],
    "screen": [
        {
            "player": nonempty_text,
            "players": player_count,
            **_all(nonnegative_integer, "strength", "games", "blocks"),
            "worth_of_games": nonnegative_number,
            "mean_power": finite_number,
            "seat_win_share": [finite_number],
            "actions": of_actions(_OF_AN_ACTION),
        }
    ],
    "pairs": [_pairs],
    "variants": [
        {
            **_all(nonempty_text, "components", "player"),
            "players": player_count,
            **_all(_by_action(finite_number), *_BETWEEN),
        }
    ],
    "quality": [
        {
            "game": enum_of(*PUBLISHED_GAMES),
            "player": nonempty_text,
            "players": player_count,
            "games": nonnegative_integer,
            "measures": _all(MEASURED, "rounds", "points", "spread", "choices", "lead_changes", "behind"),
            "usage_entropy": nullable(finite_number),
            "seats": SEATS,
            "scores": nonempty_list_of(nonnegative_integer),
        }
    ],
    "skill": [
        {
            "game": enum_of(*PUBLISHED_GAMES),
            "players": player_count,
            **_all(nonempty_text, "weaker", "stronger"),
            "games": nonnegative_integer,
            **_all(fraction, "win_share", "win_share_low", "win_share_high"),
            "error": nonnegative_number,
            **_all(finite_number, "rating", "low", "high"),
        }
    ],
    "covers": [
        {
            "players": player_count,
            "distribution": _all(nonempty_list_of(finite_number), *GAME_MEASURES),
            "first_game": nullable(_all({"mean": finite_number}, *GAME_MEASURES)),
            "nothing_covered": optional(nullable({"measures": _AGAIN})),
            "again": [{"covered": [action], "first_game": Node.boolean, "measures": _AGAIN}],
        }
    ],
    "confirm": [
        {
            "players": player_count,
            "action": action,
            "way": enum_of(*HANDICAP_KINDS),
            "worth": finite_number,
            "error": nonnegative_number,
            "decks": nonnegative_integer,
            "verdict": nullable(enum_of("better", "not better", "undecided", "running")),
            "path": nonempty_list_of(pair_of(finite_number)),
            "bounds": pair_of(finite_number),
        }
    ],
}

_FORMER: Schema = {
    **_all(nonempty_text, "study", "data"),
    **_all(nonnegative_integer, "seed", "verdicts"),
    "networks": mapping_of(nonempty_text),
    "joined": [nonempty_text],
    "differences": [
        {
            "players": player_count,
            "action": action,
            **_all(enum_of(*get_args(ConclusionLabel)), "former_verdict", "verdict"),
            "why": nullable(enum_of(*get_args(ChangeReason))),
            **_all(nonempty_text, "former_player", "player"),
            **_all(finite_number, *_BETWEEN, *(f"former_{key}" for key in _BETWEEN), *_DIFFERENCE),
        }
    ],
}

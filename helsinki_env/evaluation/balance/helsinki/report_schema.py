"""Schema of the JSON file of a study, from which conclusions, report and figures are derived."""

from __future__ import annotations

from typing import get_args

from helsinki_env.data import Entry
from helsinki_env.evaluation.balance.helsinki import schema_forms
from helsinki_env.evaluation.balance.helsinki.conclusions import Reason, Word
from helsinki_env.evaluation.balance.helsinki.confirmation import WAYS
from helsinki_env.evaluation.balance.helsinki.covers import MEASURES
from helsinki_env.evaluation.balance.helsinki.study import GAMES_AS_THEY_ARE

__all__ = ["check_written"]


def check_written(data: Entry) -> None:
    """Check that all data for the report is present and of the right type.

    Args:
        data: results from `helsinki_env.evaluation.balance.helsinki.results.results`.

    Raises:
        ValueError: the error type of `data`; names the key, the value found and the expected value.
    """
    schema_forms.check_form(data, _STUDY)
    if data["former"].given:
        schema_forms.check_form(data["former"], _FORMER)
    for entry in data["screen"].entries("classes"):
        entry["seat_win_share"].entries("shares", length=entry["players"].value)
    for entry in data["quality"].entries("games as they are"):
        for key in ("share", "error"):
            entry["seats"][key].entries("numbers", length=entry["players"].value)
    for entry in data["confirm"].entries("suspects"):
        if entry["verdict"].value is not None:
            entry["stopped_after"].integer(0)


def _pairs(entry: Entry) -> None:
    """Check the pairs of actions, or the reason why they could not be estimated."""
    schema_forms.check_form(entry, {"player": schema_forms.text, "players": schema_forms.players})
    schema_forms.check_form(entry, {"left_out": schema_forms.text} if entry["left_out"].given else _OF_PAIRS)


_OF_AN_ACTION: schema_forms.Form = {
    **dict.fromkeys(("power", "deviation", "deviation_low", "deviation_high"), schema_forms.number),
    **dict.fromkeys(("power_error", "deviation_error"), schema_forms.error),
    **dict.fromkeys(("naive", "usage", "first_use"), schema_forms.or_none(schema_forms.number)),
}
_OF_PAIRS: schema_forms.Form = {
    **dict.fromkeys(("shapley", "shapley_low", "shapley_high"), schema_forms.by_action(schema_forms.number)),
    "pair": schema_forms.by_action(schema_forms.by_action(schema_forms.number)),
    "found": [
        {"actions": schema_forms.two(schema_forms.action), "together": schema_forms.number, "error": schema_forms.error}
    ],
}
_AGAIN = ("skill", "rounds", "points", "spread")
_GAMES = ("rounds", "points", "spread", "choices", "lead_changes", "behind")

_STUDY: schema_forms.Form = {
    "study": {
        "name": schema_forms.text,
        "seed": schema_forms.count,
        "band": lambda entry: entry.number(0.0, 100.0, inside=True),
        "level": lambda entry: entry.number(0.5, 1.0, inside=True),
        "classes": [{"player": schema_forms.text}],
        "screen": {"copies": schema_forms.count, "loose": schema_forms.share},
    },
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy", "command"), schema_forms.text),
        "networks": schema_forms.each(schema_forms.text),
        "parts": schema_forms.each(
            {
                "seed": schema_forms.count,
                "plan": schema_forms.text,
                "games": schema_forms.count,
                "missing_games": schema_forms.count,
            }
        ),
    },
    "estimator": schema_forms.if_given(schema_forms.text),
    "actions": schema_forms.all_actions,
    "gate": [
        {
            **dict.fromkeys(("full_board", "five_denied", "lost", "lost_low", "lost_high"), schema_forms.number),
            "player": schema_forms.text,
            "players": schema_forms.players,
            "games": schema_forms.count,
            "admitted": Entry.flag,
        }
    ],
    "screen": [
        {
            "player": schema_forms.text,
            "strength": schema_forms.count,
            "players": schema_forms.players,
            "games": schema_forms.count,
            "blocks": schema_forms.count,
            "worth_of_games": schema_forms.error,
            "mean_power": schema_forms.number,
            "seat_win_share": [schema_forms.number],
            "actions": schema_forms.of_actions(_OF_AN_ACTION),
        }
    ],
    "pairs": [_pairs],
    "variants": [
        {
            "components": schema_forms.text,
            "player": schema_forms.text,
            "players": schema_forms.players,
            **dict.fromkeys(("deviation", "low", "high"), schema_forms.by_action(schema_forms.number)),
        }
    ],
    "quality": [
        {
            "game": schema_forms.one_of(*GAMES_AS_THEY_ARE),
            "player": schema_forms.text,
            "players": schema_forms.players,
            "games": schema_forms.count,
            "measures": dict.fromkeys(_GAMES, schema_forms.MEASURED),
            "usage_entropy": schema_forms.or_none(schema_forms.number),
            "seats": {"share": [schema_forms.number], "error": [schema_forms.or_none(schema_forms.error)]},
            "scores": schema_forms.some(schema_forms.count),
        }
    ],
    "skill": [
        {
            "game": schema_forms.one_of(*GAMES_AS_THEY_ARE),
            "players": schema_forms.players,
            "weaker": schema_forms.text,
            "stronger": schema_forms.text,
            "games": schema_forms.count,
            "win_share": schema_forms.share,
            **dict.fromkeys(("win_share_low", "win_share_high"), schema_forms.share),
            "error": schema_forms.error,
            **dict.fromkeys(("rating", "low", "high"), schema_forms.number),
        }
    ],
    "covers": [
        {
            "players": schema_forms.players,
            "distribution": dict.fromkeys(MEASURES, schema_forms.some(schema_forms.number)),
            "first_game": schema_forms.or_none({key: {"mean": schema_forms.number} for key in MEASURES}),
            "nothing_covered": schema_forms.if_given(
                schema_forms.or_none({"measures": dict.fromkeys(_AGAIN, schema_forms.MEASURED)})
            ),
            "again": [
                {
                    "covered": [schema_forms.action],
                    "first_game": Entry.flag,
                    "measures": dict.fromkeys(_AGAIN, schema_forms.MEASURED),
                }
            ],
        }
    ],
    "confirm": [
        {
            "players": schema_forms.players,
            "action": schema_forms.action,
            "way": schema_forms.one_of(*WAYS),
            "worth": schema_forms.number,
            "error": schema_forms.error,
            "decks": schema_forms.count,
            "verdict": schema_forms.or_none(schema_forms.one_of("better", "not better", "undecided", "running")),
            "path": schema_forms.some(schema_forms.two(schema_forms.number)),
            "bounds": schema_forms.two(schema_forms.number),
        }
    ],
}

_FORMER: schema_forms.Form = {
    "study": schema_forms.text,
    "seed": schema_forms.count,
    "data": schema_forms.text,
    "networks": schema_forms.each(schema_forms.text),
    "joined": [schema_forms.text],
    "verdicts": schema_forms.count,
    "differences": [
        {
            "players": schema_forms.players,
            "action": schema_forms.action,
            **dict.fromkeys(("former_verdict", "verdict"), schema_forms.one_of(*get_args(Word))),
            "why": schema_forms.or_none(schema_forms.one_of(*get_args(Reason))),
            **dict.fromkeys(("former_player", "player"), schema_forms.text),
            **dict.fromkeys(
                ("former_deviation", "former_low", "former_high", "deviation", "low", "high"), schema_forms.number
            ),
            **dict.fromkeys(("difference", "difference_low", "difference_high"), schema_forms.number),
        }
    ],
}

"""Schema of the JSON file of a study, from which conclusions, report and figures are derived."""

from __future__ import annotations

from typing import get_args

from agents.helsinki.balance import forms
from agents.helsinki.balance.confirm import WAYS
from agents.helsinki.balance.covers import MEASURES
from agents.helsinki.balance.study import GAMES_AS_THEY_ARE
from agents.helsinki.balance.verdicts import Reason, Word
from helsinki_env.data import Entry

__all__ = ["check_written"]


def check_written(data: Entry) -> None:
    """Check that all data for the report is present and of the right type.

    Args:
        data: results from `agents.helsinki.balance.results.results`.

    Raises:
        ValueError: the error type of `data`; names the key, the value found and the expected value.
    """
    forms.check_form(data, _STUDY)
    if data["former"].given:
        forms.check_form(data["former"], _FORMER)
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
    forms.check_form(entry, {"player": forms.text, "players": forms.players})
    forms.check_form(entry, {"left_out": forms.text} if entry["left_out"].given else _OF_PAIRS)


_OF_AN_ACTION: forms.Form = {
    **dict.fromkeys(("power", "deviation", "deviation_low", "deviation_high"), forms.number),
    **dict.fromkeys(("power_error", "deviation_error"), forms.error),
    **dict.fromkeys(("naive", "usage", "first_use"), forms.or_none(forms.number)),
}
_OF_PAIRS: forms.Form = {
    **dict.fromkeys(("shapley", "shapley_low", "shapley_high"), forms.by_action(forms.number)),
    "pair": forms.by_action(forms.by_action(forms.number)),
    "found": [{"actions": forms.two(forms.action), "together": forms.number, "error": forms.error}],
}
_AGAIN = ("skill", "rounds", "points", "spread")
_GAMES = ("rounds", "points", "spread", "choices", "lead_changes", "behind")

_STUDY: forms.Form = {
    "study": {
        "name": forms.text,
        "seed": forms.count,
        "band": lambda entry: entry.number(0.0, 100.0, inside=True),
        "level": lambda entry: entry.number(0.5, 1.0, inside=True),
        "classes": [{"player": forms.text}],
        "screen": {"copies": forms.count, "loose": forms.share},
    },
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy", "command"), forms.text),
        "networks": forms.each(forms.text),
        "parts": forms.each(
            {"seed": forms.count, "plan": forms.text, "games": forms.count, "missing_games": forms.count}
        ),
    },
    "estimator": forms.if_given(forms.text),
    "actions": forms.all_actions,
    "gate": [
        {
            **dict.fromkeys(("full_board", "five_denied", "lost", "lost_low", "lost_high"), forms.number),
            "player": forms.text,
            "players": forms.players,
            "games": forms.count,
            "admitted": Entry.flag,
        }
    ],
    "screen": [
        {
            "player": forms.text,
            "strength": forms.count,
            "players": forms.players,
            "games": forms.count,
            "blocks": forms.count,
            "worth_of_games": forms.error,
            "mean_power": forms.number,
            "seat_win_share": [forms.number],
            "actions": forms.of_actions(_OF_AN_ACTION),
        }
    ],
    "pairs": [_pairs],
    "variants": [
        {
            "components": forms.text,
            "player": forms.text,
            "players": forms.players,
            **dict.fromkeys(("deviation", "low", "high"), forms.by_action(forms.number)),
        }
    ],
    "quality": [
        {
            "game": forms.one_of(*GAMES_AS_THEY_ARE),
            "player": forms.text,
            "players": forms.players,
            "games": forms.count,
            "measures": dict.fromkeys(_GAMES, forms.MEASURED),
            "usage_entropy": forms.or_none(forms.number),
            "seats": {"share": [forms.number], "error": [forms.or_none(forms.error)]},
            "scores": forms.some(forms.count),
        }
    ],
    "skill": [
        {
            "game": forms.one_of(*GAMES_AS_THEY_ARE),
            "players": forms.players,
            "weaker": forms.text,
            "stronger": forms.text,
            "games": forms.count,
            "win_share": forms.share,
            **dict.fromkeys(("win_share_low", "win_share_high"), forms.share),
            "error": forms.error,
            **dict.fromkeys(("rating", "low", "high"), forms.number),
        }
    ],
    "covers": [
        {
            "players": forms.players,
            "distribution": dict.fromkeys(MEASURES, forms.some(forms.number)),
            "first_game": forms.or_none({key: {"mean": forms.number} for key in MEASURES}),
            "nothing_covered": forms.if_given(forms.or_none({"measures": dict.fromkeys(_AGAIN, forms.MEASURED)})),
            "again": [
                {
                    "covered": [forms.action],
                    "first_game": Entry.flag,
                    "measures": dict.fromkeys(_AGAIN, forms.MEASURED),
                }
            ],
        }
    ],
    "confirm": [
        {
            "players": forms.players,
            "action": forms.action,
            "way": forms.one_of(*WAYS),
            "worth": forms.number,
            "error": forms.error,
            "decks": forms.count,
            "verdict": forms.or_none(forms.one_of("better", "not better", "undecided", "running")),
            "path": forms.some(forms.two(forms.number)),
            "bounds": forms.two(forms.number),
        }
    ],
}

_FORMER: forms.Form = {
    "study": forms.text,
    "seed": forms.count,
    "data": forms.text,
    "networks": forms.each(forms.text),
    "joined": [forms.text],
    "verdicts": forms.count,
    "differences": [
        {
            "players": forms.players,
            "action": forms.action,
            **dict.fromkeys(("former_verdict", "verdict"), forms.one_of(*get_args(Word))),
            "why": forms.or_none(forms.one_of(*get_args(Reason))),
            **dict.fromkeys(("former_player", "player"), forms.text),
            **dict.fromkeys(
                ("former_deviation", "former_low", "former_high", "deviation", "low", "high"), forms.number
            ),
            **dict.fromkeys(("difference", "difference_low", "difference_high"), forms.number),
        }
    ],
}

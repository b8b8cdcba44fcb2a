"""What the JSON of a study has to hold, so that verdicts, report and figures can be made of it."""

from __future__ import annotations

from typing import get_args

from agents.helsinki.balance.confirm import WAYS
from agents.helsinki.balance.covers import MEASURES
from agents.helsinki.balance.forms import (
    MEASURED,
    Form,
    action,
    all_actions,
    by_action,
    check_form,
    count,
    each,
    error,
    number,
    of_actions,
    one_of,
    or_none,
    players,
    share,
    some,
    text,
    two,
)
from agents.helsinki.balance.study import GAMES_AS_THEY_ARE
from agents.helsinki.balance.verdicts import Reason, Word
from helsinki_env.data import Entry

__all__ = ["check_written"]


def check_written(data: Entry) -> None:
    """Make sure that everything is there that reports are made of, and of the right kind.

    Args:
        data: what was found, as `agents.helsinki.balance.results.results` returns it.

    Raises:
        ValueError: of the kind that `data` raises; it names the key, what stands there and what is expected.
    """
    check_form(data, _STUDY)
    if data["former"].given:
        check_form(data["former"], _FORMER)
    for entry in data["screen"].entries("classes"):
        entry["seat_win_share"].entries("shares", length=entry["players"].value)
    for entry in data["quality"].entries("games as they are"):
        for key in ("share", "error"):
            entry["seats"][key].entries("numbers", length=entry["players"].value)
    for entry in data["confirm"].entries("suspects"):
        if entry["verdict"].value is not None:
            entry["stopped_after"].integer(0)


def _pairs(entry: Entry) -> None:
    """The pairs of actions, or why nothing is known of them."""
    check_form(entry, {"player": text, "players": players})
    check_form(entry, {"left_out": text} if entry["left_out"].given else _OF_PAIRS)


_OF_AN_ACTION: Form = {
    **dict.fromkeys(("power", "deviation", "deviation_low", "deviation_high"), number),
    "deviation_error": error,
    **dict.fromkeys(("naive", "usage", "first_use"), or_none(number)),
}
_OF_PAIRS: Form = {
    **dict.fromkeys(("shapley", "shapley_low", "shapley_high"), by_action(number)),
    "pair": by_action(by_action(number)),
    "found": [{"actions": two(action), "together": number}],
}
_AGAIN = ("skill", "rounds", "points", "spread")
_GAMES = ("rounds", "points", "spread", "choices", "lead_changes", "behind")

_STUDY: Form = {
    "study": {
        "name": text,
        "seed": count,
        "band": lambda entry: entry.number(0.0, 100.0, inside=True),
        "level": lambda entry: entry.number(0.5, 1.0, inside=True),
        "classes": [{"player": text}],
        "screen": {"copies": count, "loose": share},
    },
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy", "command"), text),
        "networks": each(text),
        "parts": each({"seed": count, "plan": text, "games": count, "missing_games": count}),
    },
    "actions": all_actions,
    "gate": [
        {
            **dict.fromkeys(("full_board", "five_denied", "lost", "lost_low", "lost_high"), number),
            "player": text,
            "players": players,
            "games": count,
            "admitted": Entry.flag,
        }
    ],
    "screen": [
        {
            "player": text,
            "strength": count,
            "players": players,
            "games": count,
            "blocks": count,
            "worth_of_games": error,
            "mean_power": number,
            "seat_win_share": [number],
            "actions": of_actions(_OF_AN_ACTION),
        }
    ],
    "pairs": [_pairs],
    "variants": [
        {
            "components": text,
            "player": text,
            "players": players,
            **dict.fromkeys(("deviation", "low", "high"), by_action(number)),
        }
    ],
    "quality": [
        {
            "game": one_of(*GAMES_AS_THEY_ARE),
            "player": text,
            "players": players,
            "games": count,
            "measures": dict.fromkeys(_GAMES, MEASURED),
            "usage_entropy": or_none(number),
            "seats": {"share": [number], "error": [or_none(error)]},
            "scores": some(count),
        }
    ],
    "skill": [
        {
            "game": one_of(*GAMES_AS_THEY_ARE),
            "players": players,
            "weaker": text,
            "stronger": text,
            "games": count,
            "win_share": share,
            "error": error,
            **dict.fromkeys(("rating", "low", "high"), number),
        }
    ],
    "covers": [
        {
            "players": players,
            "distribution": dict.fromkeys(MEASURES, some(number)),
            "first_game": or_none({key: {"mean": number} for key in MEASURES}),
            "again": [
                {
                    "covered": [action],
                    "first_game": Entry.flag,
                    "measures": dict.fromkeys(_AGAIN, MEASURED),
                }
            ],
        }
    ],
    "confirm": [
        {
            "players": players,
            "action": action,
            "way": one_of(*WAYS),
            "worth": number,
            "error": error,
            "decks": count,
            "verdict": or_none(one_of("better", "not better", "undecided", "running")),
            "path": some(two(number)),
            "bounds": two(number),
        }
    ],
}

_FORMER: Form = {
    "study": text,
    "seed": count,
    "data": text,
    "networks": each(text),
    "joined": [text],
    "verdicts": count,
    "differences": [
        {
            "players": players,
            "action": action,
            **dict.fromkeys(("former_verdict", "verdict"), one_of(*get_args(Word))),
            "why": or_none(one_of(*get_args(Reason))),
            **dict.fromkeys(("former_player", "player"), text),
            **dict.fromkeys(("former_deviation", "former_low", "former_high", "deviation", "low", "high"), number),
            **dict.fromkeys(("difference", "difference_low", "difference_high"), number),
        }
    ],
}

"""Schema of the JSON file of a study, from which conclusions, report and figures are derived."""

from __future__ import annotations

from typing import get_args

from helsinki_env.data import Node
from helsinki_env.evaluation.balance.helsinki import schema_forms
from helsinki_env.evaluation.balance.helsinki.conclusions import ChangeReason, ConclusionLabel
from helsinki_env.evaluation.balance.helsinki.confirmation import HANDICAP_KINDS
from helsinki_env.evaluation.balance.helsinki.covers import GAME_MEASURES
from helsinki_env.evaluation.balance.helsinki.study import PUBLISHED_GAMES

__all__ = ["check_study_report"]


def check_study_report(data: Node) -> None:
    """Check that all data for the report is present and of the right type.

    Args:
        data: results from `helsinki_env.evaluation.balance.helsinki.results.study_results`.

    Raises:
        ValueError: the error type of `data`; names the key, the value found and the expected value.
    """
    schema_forms.check_schema(data, _STUDY)
    if data["former"].is_present:
        schema_forms.check_schema(data["former"], _FORMER)
    for entry in data["screen"].entries("classes"):
        entry["seat_win_share"].entries("shares", length=entry["players"].value)
    for entry in data["quality"].entries("games as they are"):
        for key in ("share", "error"):
            entry["seats"][key].entries("numbers", length=entry["players"].value)
    for entry in data["confirm"].entries("suspects"):
        if entry["verdict"].value is not None:
            entry["stopped_after"].integer(0)


def _pairs(entry: Node) -> None:
    """Check the pairs of actions, or the reason why they could not be estimated."""
    schema_forms.check_schema(entry, {"player": schema_forms.nonempty_text, "players": schema_forms.player_count})
    schema_forms.check_schema(
        entry, {"left_out": schema_forms.nonempty_text} if entry["left_out"].is_present else _OF_PAIRS
    )


_OF_AN_ACTION: schema_forms.Schema = {
    **dict.fromkeys(("power", "deviation", "deviation_low", "deviation_high"), schema_forms.finite_number),
    **dict.fromkeys(("power_error", "deviation_error"), schema_forms.nonnegative_number),
    **dict.fromkeys(("naive", "usage", "first_use"), schema_forms.nullable(schema_forms.finite_number)),
}
_OF_PAIRS: schema_forms.Schema = {
    **dict.fromkeys(("shapley", "shapley_low", "shapley_high"), schema_forms.by_action(schema_forms.finite_number)),
    "pair": schema_forms.by_action(schema_forms.by_action(schema_forms.finite_number)),
    "found": [
        {
            "actions": schema_forms.pair_of(schema_forms.action),
            "together": schema_forms.finite_number,
            "error": schema_forms.nonnegative_number,
        }
    ],
}
_AGAIN = ("skill", "rounds", "points", "spread")
_GAMES = ("rounds", "points", "spread", "choices", "lead_changes", "behind")

_STUDY: schema_forms.Schema = {
    "study": {
        "name": schema_forms.nonempty_text,
        "seed": schema_forms.nonnegative_integer,
        "band": lambda entry: entry.number(0.0, 100.0, inside=True),
        "level": lambda entry: entry.number(0.5, 1.0, inside=True),
        "classes": [{"player": schema_forms.nonempty_text}],
        "screen": {"copies": schema_forms.nonnegative_integer, "loose": schema_forms.fraction},
    },
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy", "command"), schema_forms.nonempty_text),
        "networks": schema_forms.mapping_of(schema_forms.nonempty_text),
        "parts": schema_forms.mapping_of(
            {
                "seed": schema_forms.nonnegative_integer,
                "plan": schema_forms.nonempty_text,
                "games": schema_forms.nonnegative_integer,
                "missing_games": schema_forms.nonnegative_integer,
            }
        ),
    },
    "estimator": schema_forms.optional(schema_forms.nonempty_text),
    "actions": schema_forms.all_actions,
    "gate": [
        {
            **dict.fromkeys(("full_board", "five_denied", "lost", "lost_low", "lost_high"), schema_forms.finite_number),
            "player": schema_forms.nonempty_text,
            "players": schema_forms.player_count,
            "games": schema_forms.nonnegative_integer,
            "admitted": Node.boolean,
        }
    ],
    "screen": [
        {
            "player": schema_forms.nonempty_text,
            "strength": schema_forms.nonnegative_integer,
            "players": schema_forms.player_count,
            "games": schema_forms.nonnegative_integer,
            "blocks": schema_forms.nonnegative_integer,
            "worth_of_games": schema_forms.nonnegative_number,
            "mean_power": schema_forms.finite_number,
            "seat_win_share": [schema_forms.finite_number],
            "actions": schema_forms.of_actions(_OF_AN_ACTION),
        }
    ],
    "pairs": [_pairs],
    "variants": [
        {
            "components": schema_forms.nonempty_text,
            "player": schema_forms.nonempty_text,
            "players": schema_forms.player_count,
            **dict.fromkeys(("deviation", "low", "high"), schema_forms.by_action(schema_forms.finite_number)),
        }
    ],
    "quality": [
        {
            "game": schema_forms.enum_of(*PUBLISHED_GAMES),
            "player": schema_forms.nonempty_text,
            "players": schema_forms.player_count,
            "games": schema_forms.nonnegative_integer,
            "measures": dict.fromkeys(_GAMES, schema_forms.MEASURED),
            "usage_entropy": schema_forms.nullable(schema_forms.finite_number),
            "seats": {
                "share": [schema_forms.finite_number],
                "error": [schema_forms.nullable(schema_forms.nonnegative_number)],
            },
            "scores": schema_forms.nonempty_list_of(schema_forms.nonnegative_integer),
        }
    ],
    "skill": [
        {
            "game": schema_forms.enum_of(*PUBLISHED_GAMES),
            "players": schema_forms.player_count,
            "weaker": schema_forms.nonempty_text,
            "stronger": schema_forms.nonempty_text,
            "games": schema_forms.nonnegative_integer,
            "win_share": schema_forms.fraction,
            **dict.fromkeys(("win_share_low", "win_share_high"), schema_forms.fraction),
            "error": schema_forms.nonnegative_number,
            **dict.fromkeys(("rating", "low", "high"), schema_forms.finite_number),
        }
    ],
    "covers": [
        {
            "players": schema_forms.player_count,
            "distribution": dict.fromkeys(GAME_MEASURES, schema_forms.nonempty_list_of(schema_forms.finite_number)),
            "first_game": schema_forms.nullable({key: {"mean": schema_forms.finite_number} for key in GAME_MEASURES}),
            "nothing_covered": schema_forms.optional(
                schema_forms.nullable({"measures": dict.fromkeys(_AGAIN, schema_forms.MEASURED)})
            ),
            "again": [
                {
                    "covered": [schema_forms.action],
                    "first_game": Node.boolean,
                    "measures": dict.fromkeys(_AGAIN, schema_forms.MEASURED),
                }
            ],
        }
    ],
    "confirm": [
        {
            "players": schema_forms.player_count,
            "action": schema_forms.action,
            "way": schema_forms.enum_of(*HANDICAP_KINDS),
            "worth": schema_forms.finite_number,
            "error": schema_forms.nonnegative_number,
            "decks": schema_forms.nonnegative_integer,
            "verdict": schema_forms.nullable(schema_forms.enum_of("better", "not better", "undecided", "running")),
            "path": schema_forms.nonempty_list_of(schema_forms.pair_of(schema_forms.finite_number)),
            "bounds": schema_forms.pair_of(schema_forms.finite_number),
        }
    ],
}

_FORMER: schema_forms.Schema = {
    "study": schema_forms.nonempty_text,
    "seed": schema_forms.nonnegative_integer,
    "data": schema_forms.nonempty_text,
    "networks": schema_forms.mapping_of(schema_forms.nonempty_text),
    "joined": [schema_forms.nonempty_text],
    "verdicts": schema_forms.nonnegative_integer,
    "differences": [
        {
            "players": schema_forms.player_count,
            "action": schema_forms.action,
            **dict.fromkeys(("former_verdict", "verdict"), schema_forms.enum_of(*get_args(ConclusionLabel))),
            "why": schema_forms.nullable(schema_forms.enum_of(*get_args(ChangeReason))),
            **dict.fromkeys(("former_player", "player"), schema_forms.nonempty_text),
            **dict.fromkeys(
                ("former_deviation", "former_low", "former_high", "deviation", "low", "high"),
                schema_forms.finite_number,
            ),
            **dict.fromkeys(("difference", "difference_low", "difference_high"), schema_forms.finite_number),
        }
    ],
}

"""Read the results of an earlier search from its report and validate them before any game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helsinki_env.data import Node, read_json, short_repr
from helsinki_env.evaluation.balance.helsinki import schema_forms
from helsinki_env.evaluation.balance.helsinki.part_configs import StudyError
from helsinki_env.evaluation.balance.helsinki.tune.config import TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.numbers import board_of
from helsinki_env.evaluation.balance.helsinki.tune.results import COMPARED_MEASURES
from helsinki_env.games.helsinki.action_numbers import STRENGTHS
from helsinki_env.games.helsinki.components import load_components

__all__ = ["read_found"]

_CHANGE: schema_forms.Schema = {
    "action": schema_forms.action,
    "kind": schema_forms.enum_of("cost", "strength", "covered"),
    "was": schema_forms.nonnegative_integer,
    "now": schema_forms.nonnegative_integer,
}


def _estimates(by: str, *names: str) -> schema_forms.Schema:
    """Return the schema of estimates with their intervals: numbers, unless the value of a key is None."""

    def check(entry: Node) -> None:
        form = (
            schema_forms.nullable(schema_forms.finite_number) if entry[by].value is None else schema_forms.finite_number
        )
        schema_forms.check_schema(entry, {f"{name}{end}": form for name in names for end in ("", "_low", "_high")})

    return check


def _screen(entry: Node) -> None:
    """Check a screening experiment."""
    schema_forms.check_schema(entry, {"player": schema_forms.nonempty_text, "players": schema_forms.player_count})
    schema_forms.check_schema(
        entry["level"],
        {
            "dead": [schema_forms.action],
            "dead_low": schema_forms.nonnegative_integer,
            "dead_high": schema_forms.nonnegative_integer,
        },
    )
    schema_forms.check_schema(
        entry["level"], {f"level{end}": schema_forms.finite_number for end in ("", "_low", "_high")}
    )
    schema_forms.check_schema(entry["level"], _estimates("share", "share"))
    schema_forms.check_schema(
        entry["actions"], schema_forms.of_actions({"power": schema_forms.nullable(schema_forms.finite_number)})
    )
    schema_forms.check_schema(
        entry["actions"], schema_forms.of_actions(_estimates("power", "deviation", "power", "use"))
    )


_PROVEN: schema_forms.Schema = {
    **dict.fromkeys(("beyond", "beyond_low", "beyond_high"), schema_forms.nonnegative_number),
    "screen": [_screen],
}
_FOUND: schema_forms.Schema = {
    "actions": schema_forms.all_actions,
    "outcome": schema_forms.nonempty_text,
    "summary": [schema_forms.nonempty_text],
    "change": [_CHANGE],
    "components": {"as it is": schema_forms.nonempty_text, "proposed": schema_forms.nonempty_text},
    "before": _PROVEN,
    "after": _PROVEN,
    "numbers": [
        {
            "action": schema_forms.action,
            "kind": schema_forms.enum_of("cost", "strength"),
            "was": schema_forms.nonnegative_integer,
            "values": [schema_forms.nonnegative_integer],
            "power": schema_forms.mapping_of([schema_forms.finite_number]),
        }
    ],
    "tried": [
        {
            "change": [_CHANGE],
            "predicted": schema_forms.finite_number,
            "seen": [schema_forms.finite_number],
            "share": schema_forms.finite_number,
        }
    ],
    "games": [
        {
            "board": schema_forms.nonempty_text,
            "players": schema_forms.player_count,
            "games": schema_forms.nonnegative_integer,
            "measures": {
                key: {
                    "mean": schema_forms.finite_number,
                    "error": schema_forms.nullable(schema_forms.nonnegative_number),
                }
                for key in COMPARED_MEASURES
            },
            "seats": {
                "share": [schema_forms.finite_number],
                "error": [schema_forms.nullable(schema_forms.nonnegative_number)],
            },
        }
    ],
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy"), schema_forms.nonempty_text),
        "networks": schema_forms.mapping_of(schema_forms.nonempty_text),
        "parts": schema_forms.mapping_of(
            {"seed": schema_forms.nonnegative_integer, "games": schema_forms.nonnegative_integer}
        ),
    },
}
"""Schema of the data from which a report is rebuilt when another player evaluates the proposal."""


def read_found(path: Path, *, trust: bool = False) -> tuple[TuneConfig, dict[str, Any]]:
    """Read the configuration and the results of an earlier search from its `tune.json`.

    Args:
        path: path of the file.
        trust: allow players that run code (``program:COMMAND``, ``MODULE:ATTRIBUTE``).

    Raises:
        StudyError: if the file is invalid, was changed, or has no proposal; it names file and key.
        PlayerError: if the file names code and is not trusted.
    """
    data = read_json(path, StudyError)
    data.verify_digest("the data of a tuning")
    config = TuneConfig.from_dict(data["tuning"].mapping()).allowed(path, trust=trust)
    if not data["change"].entries("changes"):
        data["change"].fail("a change: nothing was proposed there that could be judged")
    # Check everything the report needs now, not after hours of games.
    schema_forms.check_schema(data, _FOUND)
    for name in ("before", "after"):
        counts = [entry["players"].value for entry in data[name]["screen"].entries("screens")]
        if counts != list(config.players):
            data[name]["screen"].fail(
                f"one screen for each of {short_repr(list(config.players))} players", found=short_repr(counts)
            )
    for game in data["games"].entries("games"):
        for key in ("share", "error"):
            game["seats"][key].entries("numbers, one for each seat", length=game["players"].value)
    for free in data["numbers"].entries("numbers"):
        for _, powers in free["power"].items():
            powers.entries("worths, one for each value", length=len(free["values"].value))
        if free["kind"].value == "strength":
            free["action"].choice(tuple(STRENGTHS), "an action with a strength: ")
    board_of(config.free, config.most, data["change"])
    digest = load_components(config.components).digest
    if data["components"]["as it is"].value != digest:
        data["components"]["as it is"].fail(f"{digest}: the component file {config.components!r} was changed since")
    return config, dict(data.value) | {"tuning": config.to_dict()}

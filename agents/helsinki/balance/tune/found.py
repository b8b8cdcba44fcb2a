"""What an earlier search found, read again from its report: all of it is looked at before anybody plays about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.helsinki.balance.forms import (
    Form,
    action,
    all_actions,
    check_form,
    count,
    each,
    error,
    number,
    of_actions,
    one_of,
    or_none,
    players,
    text,
)
from agents.helsinki.balance.parts import StudyError
from agents.helsinki.balance.tune.config import TuneConfig
from agents.helsinki.balance.tune.numbers import board_of
from agents.helsinki.balance.tune.results import MEASURES
from helsinki_env.data import read_json, shown
from helsinki_env.games.helsinki.action_numbers import STRENGTHS
from helsinki_env.games.helsinki.components import load_components

__all__ = ["read_found"]

_CHANGE: Form = {"action": action, "kind": one_of("cost", "strength", "covered"), "was": count, "now": count}
_PROVEN: Form = {
    **dict.fromkeys(("beyond", "beyond_low", "beyond_high"), error),
    "screen": [
        {
            "player": text,
            "players": players,
            "actions": of_actions(
                dict.fromkeys(("power", "deviation", "deviation_low", "deviation_high"), or_none(number))
            ),
        }
    ],
}
_FOUND: Form = {
    "actions": all_actions,
    "outcome": text,
    "summary": [text],
    "change": [_CHANGE],
    "components": {"as it is": text, "proposed": text},
    "before": _PROVEN,
    "after": _PROVEN,
    "numbers": [
        {"action": action, "kind": one_of("cost", "strength"), "was": count, "values": [count], "power": each([number])}
    ],
    "tried": [{"change": [_CHANGE], "predicted": number, "seen": [number]}],
    "games": [
        {
            "board": text,
            "players": players,
            "games": count,
            "measures": {key: {"mean": number, "error": or_none(error)} for key in MEASURES},
            "seats": {"share": [number], "error": [or_none(error)]},
        }
    ],
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy"), text),
        "networks": each(text),
        "parts": each({"seed": count, "games": count}),
    },
}
"""What a report is made of again when another player judges what was proposed."""


def read_found(path: Path) -> tuple[TuneConfig, dict[str, Any]]:
    """Return what was asked in an earlier search, and everything that was found: its `tune.json`.

    Raises:
        StudyError: if the file is none, or was changed, or proposes nothing; it names file and key.
    """
    data = read_json(path, StudyError)
    data.intact("the data of a tuning")
    config = TuneConfig.from_dict(data["tuning"])
    if not data["change"].entries("changes"):
        data["change"].fail("a change: nothing was proposed there that could be judged")
    # Whatever the report needs is looked at now, not after hours of games.
    check_form(data, _FOUND)
    for name in ("before", "after"):
        counts = [entry["players"].value for entry in data[name]["screen"].entries("screens")]
        if counts != list(config.players):
            data[name]["screen"].fail(
                f"one screen for each of {shown(list(config.players))} players", found=shown(counts)
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

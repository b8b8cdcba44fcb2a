"""Read the results of an earlier search from its report and validate them before any game."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agents.helsinki.balance import forms
from agents.helsinki.balance.parts import StudyError
from agents.helsinki.balance.tune.config import TuneConfig
from agents.helsinki.balance.tune.numbers import board_of
from agents.helsinki.balance.tune.results import MEASURES
from helsinki_env.data import Entry, read_json, shown
from helsinki_env.games.helsinki.action_numbers import STRENGTHS
from helsinki_env.games.helsinki.components import load_components

__all__ = ["read_found"]

_CHANGE: forms.Form = {
    "action": forms.action,
    "kind": forms.one_of("cost", "strength", "covered"),
    "was": forms.count,
    "now": forms.count,
}


def _estimates(by: str, *names: str) -> forms.Form:
    """Return the schema of estimates with their intervals: numbers, unless the value of a key is None."""

    def check(entry: Entry) -> None:
        form = forms.or_none(forms.number) if entry[by].value is None else forms.number
        forms.check_form(entry, {f"{name}{end}": form for name in names for end in ("", "_low", "_high")})

    return check


def _screen(entry: Entry) -> None:
    """Check a screening experiment."""
    forms.check_form(entry, {"player": forms.text, "players": forms.players})
    forms.check_form(entry["level"], {"dead": [forms.action], "dead_low": forms.count, "dead_high": forms.count})
    forms.check_form(entry["level"], {f"level{end}": forms.number for end in ("", "_low", "_high")})
    forms.check_form(entry["level"], _estimates("share", "share"))
    forms.check_form(entry["actions"], forms.of_actions({"power": forms.or_none(forms.number)}))
    forms.check_form(entry["actions"], forms.of_actions(_estimates("power", "deviation", "power", "use")))


_PROVEN: forms.Form = {
    **dict.fromkeys(("beyond", "beyond_low", "beyond_high"), forms.error),
    "screen": [_screen],
}
_FOUND: forms.Form = {
    "actions": forms.all_actions,
    "outcome": forms.text,
    "summary": [forms.text],
    "change": [_CHANGE],
    "components": {"as it is": forms.text, "proposed": forms.text},
    "before": _PROVEN,
    "after": _PROVEN,
    "numbers": [
        {
            "action": forms.action,
            "kind": forms.one_of("cost", "strength"),
            "was": forms.count,
            "values": [forms.count],
            "power": forms.each([forms.number]),
        }
    ],
    "tried": [{"change": [_CHANGE], "predicted": forms.number, "seen": [forms.number], "share": forms.number}],
    "games": [
        {
            "board": forms.text,
            "players": forms.players,
            "games": forms.count,
            "measures": {key: {"mean": forms.number, "error": forms.or_none(forms.error)} for key in MEASURES},
            "seats": {"share": [forms.number], "error": [forms.or_none(forms.error)]},
        }
    ],
    "provenance": {
        **dict.fromkeys(("environment", "package", "numpy", "scipy"), forms.text),
        "networks": forms.each(forms.text),
        "parts": forms.each({"seed": forms.count, "games": forms.count}),
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
    data.intact("the data of a tuning")
    config = TuneConfig.from_dict(data["tuning"].mapping()).allowed(path, trust=trust)
    if not data["change"].entries("changes"):
        data["change"].fail("a change: nothing was proposed there that could be judged")
    # Check everything the report needs now, not after hours of games.
    forms.check_form(data, _FOUND)
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

"""The rows of docs/leaderboard.md: one for each rated player of a gauntlet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from helsinki_env.agents.replaced_actions import Mishaps
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import Pins
from helsinki_env.utils.markdown import code, row, table, text

__all__ = ["certificate_row", "interval", "pinned_table", "rated_table"]

_HEAD = ("player", "rating", "95 % interval", "games", "s/decision", "replaced")


def _head(tables: Iterable[str]) -> list[str]:
    return [*_HEAD, *map(text, tables), "by"]


def interval(rating: Mapping[str, Any]) -> str:
    """Format the interval of a rating."""
    low, high = rating["low"], rating["high"]
    if low is None:
        return "any" if high is None else f"at most {high:.0f}"
    return f"at least {low:.0f}" if high is None else f"{low:.0f} to {high:.0f}"


def pinned_table(gauntlet: Gauntlet, pins: Pins) -> str:
    """Return the leaderboard table of a gauntlet's opponents, strongest first.

    Opponents that do not play in every matchup have no overall rating.
    """
    rows = {}
    for player in dict.fromkeys(player for fixed in pins.tables.values() for player in fixed.players):
        told = [(name, fixed.players) for name, fixed in pins.tables.items()]
        found = [pins.data["tables"][name]["players"][player] if player in known else None for name, known in told]
        rating = f"{pins.mean(player):.0f}" if all(found) else ""
        games = sum(one["games"] for one in found if one)
        zero = player == gauntlet.zero
        cells = [
            "" if one is None else f"{one['rating']:.0f}" + ("" if zero else f" ({interval(one)})") for one in found
        ]
        rows[player] = [code(player), rating, "pinned", f"{games:,}", "", "", *cells, f"version {gauntlet.version}"]
    order = sorted(rows, key=pins.mean, reverse=True)
    return table(_head(pins.tables), [rows[player] for player in order]) + "\n"


def rated_table(pins: Pins, certificates: Iterable[Mapping[str, Any]]) -> str:
    """Return the leaderboard table of the certified players, strongest first."""
    order = sorted(certificates, key=lambda data: data["certified"]["rating"]["rating"], reverse=True)
    return "\n".join([table(_head(pins.tables), []), *map(certificate_row, order)]) + "\n"


def certificate_row(data: Mapping[str, Any]) -> str:
    """Return the row of a certificate for that table."""
    certified, measured = data["certified"], data["measured"]
    rating = certified["rating"]
    return row(
        [
            code(certified["player"]),
            f"{rating['rating']:.0f}",
            interval(rating),
            f"{rating['games']:,}",
            f"{measured['seconds_per_decision']:.2g}",
            Mishaps.among(measured).words or "none",
            *(f"{one['rating']:.0f} ({interval(one)})" for one in certified["tables"]),
            f"version {certified['version']}, {certified['stage']}, {code(certified['digest'])}",
        ]
    )

"""The rows of docs/leaderboard.md: one for each rated player of a gauntlet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.evaluation.gauntlet.gauntlet import Gauntlet
from helsinki_env.evaluation.gauntlet.reference_ratings import ReferenceRatings
from helsinki_env.utils.markdown import code_span, escape_markdown, markdown_table, table_row

__all__ = ["certificate_row", "format_rating_interval", "opponents_table", "rated_table"]

_HEAD = ("player", "rating", "95 % interval", "games", "s/decision", "replaced")


def _head(tables: Iterable[str]) -> list[str]:
    return [*_HEAD, *map(escape_markdown, tables), "by"]


def format_rating_interval(rating: Mapping[str, Any]) -> str:
    """Format the interval of a rating."""
    low, high = rating["low"], rating["high"]
    if low is None:
        return "any" if high is None else f"at most {high:.0f}"
    return f"at least {low:.0f}" if high is None else f"{low:.0f} to {high:.0f}"


def opponents_table(gauntlet: Gauntlet, pins: ReferenceRatings) -> str:
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
            "" if one is None else f"{one['rating']:.0f}" + ("" if zero else f" ({format_rating_interval(one)})")
            for one in found
        ]
        rows[player] = [
            code_span(player),
            rating,
            "pinned",
            f"{games:,}",
            "",
            "",
            *cells,
            f"version {gauntlet.version}",
        ]
    order = sorted(rows, key=pins.mean, reverse=True)
    return markdown_table(_head(pins.tables), [rows[player] for player in order]) + "\n"


def rated_table(pins: ReferenceRatings, certificates: Iterable[Mapping[str, Any]]) -> str:
    """Return the leaderboard table of the certified players, strongest first."""
    order = sorted(certificates, key=lambda data: data["certified"]["rating"]["rating"], reverse=True)
    return "\n".join([markdown_table(_head(pins.tables), []), *map(certificate_row, order)]) + "\n"


def certificate_row(data: Mapping[str, Any]) -> str:
    """Return the row of a certificate for that table."""
    certified, measured = data["certified"], data["measured"]
    rating = certified["rating"]
    return table_row(
        [
            code_span(certified["player"]),
            f"{rating['rating']:.0f}",
            format_rating_interval(rating),
            f"{rating['games']:,}",
            f"{measured['seconds_per_decision']:.2g}",
            ReplacedActions.from_mapping(measured).summary or "none",
            *(f"{one['rating']:.0f} ({format_rating_interval(one)})" for one in certified["tables"]),
            f"version {certified['version']}, {certified['stage']}, {code_span(certified['digest'])}",
        ]
    )

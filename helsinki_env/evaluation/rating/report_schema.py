"""Schema of a rating report's JSON, from which its page and figures are generated."""

from __future__ import annotations

from helsinki_env.data import Node
from helsinki_env.data import schemas as forms

__all__ = ["check_report"]


def check_report(data: Node) -> None:
    """Check that a report has all data for page and figures, with the right types.

    Args:
        data: the result of `helsinki_env.evaluation.rating.report.ratings_data`.

    Raises:
        ValueError: of the kind that `data` raises; names the key, the value found and the value expected.
    """
    forms.check_schema(data, _REPORT)


def _table(entry: Node) -> None:
    """Check the ratings of a matchup."""
    forms.check_schema(entry, _TABLE)
    players = entry["players"].entries("players")
    for player in players:
        player["rank"].integer(1, len(players))
        player["rank_probabilities"].entries("shares, one for each rank", length=len(players))
    names = [player["player"].value for player in players]
    ranks = {player["player"].value: player["rank"].value for player in players}
    met = False
    for pair in entry["pairs"].entries("pairs"):
        one, other = (pair[key].choice(names, "a player of the table: ") for key in ("player", "opponent"))
        if pair["games"].value:
            forms.check_schema(pair, dict.fromkeys(("ahead", "low", "high", "ahead_by_ratings"), forms.fraction))
            met = met or ranks[one] < ranks[other]
    if not met:
        entry["pairs"].fail("at least one pair of players that met, the stronger first")
    for budget in entry.get("budgets", []).entries("budgets"):
        budget["low"].number(-_MOST, budget["difference"].value)
        budget["high"].number(budget["difference"].value, _MOST)


_MOST = 1e9
_TABLE: forms.Schema = {
    "name": forms.any_text,
    "seats": forms.player_count,
    "games": forms.nonnegative_integer,
    "decks": forms.nonnegative_integer,
    "reference": forms.any_text,
    "handicaps_removed": Node.boolean,
    "fair_win_share": forms.fraction,
    "players": forms.nonempty_list_of(
        {
            "player": forms.any_text,
            "rank": forms.nonnegative_integer,
            "games": forms.nonnegative_integer,
            "rank_probabilities": [forms.fraction],
            **dict.fromkeys(("rating", "low", "high", "mean_points", "mean_place"), forms.finite_number),
            **dict.fromkeys(("win_share", "win_share_low", "win_share_high"), forms.fraction),
        }
    ),
    "seat_effects": [
        {"seat": forms.nonnegative_integer, **dict.fromkeys(("effect", "low", "high"), forms.finite_number)}
    ],
    "pairs": [
        {
            "player": forms.any_text,
            "opponent": forms.any_text,
            "games": forms.nonnegative_integer,
            "ahead": forms.nullable(forms.fraction),
        }
    ],
    "budgets": forms.optional(
        forms.nonempty_list_of(
            {
                "family": forms.any_text,
                "budget": lambda entry: entry.integer(1),
                "player": forms.any_text,
                **dict.fromkeys(("difference", "low", "high"), forms.finite_number),
            }
        )
    ),
}
_REPORT: forms.Schema = {
    "provenance": {
        **dict.fromkeys(("games", "seed"), forms.nonnegative_integer),
        **dict.fromkeys(("environment", "package", "command"), forms.any_text),
        "missing_games": forms.optional(forms.nonnegative_integer),
        "networks": forms.optional(forms.mapping_of(forms.any_text)),
        "replaced": forms.optional([forms.any_text]),
        "tables": forms.optional(forms.mapping_of(Node.mapping)),
    },
    "tables": forms.nonempty_list_of(_table),
}

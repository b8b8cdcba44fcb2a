"""Schema of a rating report's JSON, from which its page and figures are generated."""

from __future__ import annotations

from helsinki_env.data import Entry, forms

__all__ = ["check_report"]


def check_report(data: Entry) -> None:
    """Check that a report has all data for page and figures, with the right types.

    Args:
        data: the result of `helsinki_env.evaluation.rating.report.ratings_data`.

    Raises:
        ValueError: of the kind that `data` raises; names the key, the value found and the value expected.
    """
    forms.check_form(data, _REPORT)


def _table(entry: Entry) -> None:
    """Check the ratings of a matchup."""
    forms.check_form(entry, _TABLE)
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
            forms.check_form(pair, dict.fromkeys(("ahead", "low", "high", "ahead_by_ratings"), forms.share))
            met = met or ranks[one] < ranks[other]
    if not met:
        entry["pairs"].fail("at least one pair of players that met, the stronger first")
    for budget in entry.get("budgets", []).entries("budgets"):
        budget["low"].number(-_MOST, budget["difference"].value)
        budget["high"].number(budget["difference"].value, _MOST)


_MOST = 1e9
_TABLE: forms.Form = {
    "name": forms.words,
    "seats": forms.players,
    "games": forms.count,
    "decks": forms.count,
    "reference": forms.words,
    "handicaps_removed": Entry.flag,
    "fair_win_share": forms.share,
    "players": forms.some(
        {
            "player": forms.words,
            "rank": forms.count,
            "games": forms.count,
            "rank_probabilities": [forms.share],
            **dict.fromkeys(("rating", "low", "high", "mean_points", "mean_place"), forms.number),
            **dict.fromkeys(("win_share", "win_share_low", "win_share_high"), forms.share),
        }
    ),
    "seat_effects": [{"seat": forms.count, **dict.fromkeys(("effect", "low", "high"), forms.number)}],
    "pairs": [
        {
            "player": forms.words,
            "opponent": forms.words,
            "games": forms.count,
            "ahead": forms.or_none(forms.share),
        }
    ],
    "budgets": forms.if_given(
        forms.some(
            {
                "family": forms.words,
                "budget": lambda entry: entry.integer(1),
                "player": forms.words,
                **dict.fromkeys(("difference", "low", "high"), forms.number),
            }
        )
    ),
}
_REPORT: forms.Form = {
    "provenance": {
        **dict.fromkeys(("games", "seed"), forms.count),
        **dict.fromkeys(("environment", "package", "command"), forms.words),
        "missing_games": forms.if_given(forms.count),
        "networks": forms.if_given(forms.each(forms.words)),
        "replaced": forms.if_given([forms.words]),
        "tables": forms.if_given(forms.each(Entry.mapping)),
    },
    "tables": forms.some(_table),
}

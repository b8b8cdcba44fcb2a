"""The rating report: all results as JSON, and a page with figures that is generated from the JSON alone.

The files are reproducible byte for byte from the games and the seed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from helsinki_env.data import Node, read_json, shorten, with_digest
from helsinki_env.evaluation.figure_style import (
    LINE_COLORS,
    MARKERS,
    PLAYER_COUNT_COLORS,
    figure_to_svg,
    label_panel,
    styled_figure,
)
from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.ratings import Ratings
from helsinki_env.evaluation.rating.shares import pair_data, player_data, rounded
from helsinki_env.utils.markdown import all_printable, code_span, escape_markdown, link, printable, table_row

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["matchup_rating_data", "rating_report_files", "ratings_data", "read_report"]

MatchupRatings = Mapping[str, Any]

_MAX_LABEL = 30
_MAX_TITLE = 100
#: Minimum number of pairs for a heat map of the cross-table.
_MIN_PAIRS = 3


def shorten_name(player: str) -> str:
    """Return a player's name for use as a label. Long names, such as paths, are shortened in the middle."""
    half = _MAX_LABEL // 2
    return player if len(player) <= _MAX_LABEL else f"{player[: half - 1]}…{player[-half:]}"


def budget_families(players: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """Group players that differ only in their search budget, such as mc:50 and mc:200, as (budget, index) by family."""
    families: dict[str, list[tuple[int, int]]] = {}
    for i, player in enumerate(players):
        found = re.fullmatch(r"([^:]+):(\d+)(|:.*)", player)
        if found and int(found[2]) > 0:
            families.setdefault(found[1] + found[3], []).append((int(found[2]), i))
    return {family: sorted(members) for family, members in sorted(families.items()) if len(members) > 1}


def draw_ratings(matchups: Sequence[MatchupRatings]) -> bytes:
    """Return an SVG figure of the ratings with intervals, with one panel per matchup and a common scale."""
    # Label the scale only once for consecutive matchups with the same reference player.
    last = [one["reference"] != other["reference"] for one, other in pairwise(matchups)] + [True]
    heights = [
        0.24 * len(matchup["players"]) + (0.75 if end else 0.4) for matchup, end in zip(matchups, last, strict=True)
    ]
    players = [player for matchup in matchups for player in matchup["players"]]
    lowest, highest = min(player["low"] for player in players), max(player["high"] for player in players)
    with styled_figure(len(matchups), 1, 6.4, sum(heights), share_x=True) as (figure, axes):
        axes[0, 0].get_gridspec().set_height_ratios(heights)
        for matchup, labeled, axis in zip(matchups, last, axes[:, 0], strict=True):
            players = matchup["players"][::-1]
            elo, low, high = (np.array([player[key] for player in players]) for key in ("rating", "low", "high"))
            rows = np.arange(len(players))
            color = PLAYER_COUNT_COLORS.get(matchup["seats"], "#000000")
            axis.hlines(rows, low, high, color=color, linewidth=1.8)
            axis.plot(elo, rows, "o", color=color, markersize=5)
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=0)
            axis.set_yticks(rows, [shorten_name(player["player"]) for player in players])
            axis.set_ylim(-0.6, len(players) - 0.4)
            for row, value, end in zip(rows, elo, high, strict=True):
                axis.annotate(
                    f"{value:.0f}", (max(value, end), row), (6, 0), textcoords="offset points", va="center", fontsize=8
                )
            scale = f"rating in Elo points with 95% interval ({shorten_name(matchup['reference'])} = 0)"
            title = f"{_title(matchup)}, {matchup['games']:,} games"
            label_panel(axis, title, scale if labeled else "", grid="x", legend=None)
            axis.tick_params(labelbottom=labeled)
            axis.set_xlim(lowest - 0.05 * (highest - lowest), highest + 0.12 * (highest - lowest))
        return figure_to_svg(figure)


def _title(matchup: MatchupRatings) -> str:
    seats, name = f"{matchup['seats']} players", shorten(matchup["name"], _MAX_TITLE)
    return name if name.startswith(seats) else f"{name} ({seats})"


def draw_pairs(matchup: MatchupRatings) -> bytes | None:
    """Return a heat map of a matchup's cross-table as SVG, or None if fewer than `_MIN_PAIRS` pairs met."""
    players = [player["player"] for player in matchup["players"]]
    n = len(players)
    share = np.full((n, n), np.nan)
    for pair in matchup["pairs"]:
        if pair["ahead"] is not None:
            share[players.index(pair["player"]), players.index(pair["opponent"])] = 100 * pair["ahead"]
    if np.isfinite(share).sum() < 2 * _MIN_PAIRS:
        return None
    with styled_figure(1, 1, 2.9 + 0.42 * n, 1.9 + 0.36 * n) as (figure, axes):
        axis: Axes = axes[0, 0]
        axis.set_facecolor("#dddddd")  # pairs that did not meet
        image = axis.imshow(share, cmap="PuOr_r", vmin=0, vmax=100, aspect="auto")
        for i in range(n):
            for j in range(n):
                if np.isfinite(share[i, j]):
                    dark = abs(share[i, j] - 50) > 35
                    text = _percent(share[i, j])
                    axis.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        names = [shorten_name(player) for player in players]
        axis.set_xticks(range(n), names, rotation=45, ha="right", rotation_mode="anchor")
        axis.set_yticks(range(n), names)
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        figure.suptitle(
            f"{_title(matchup)}\nHow often the row finished\nahead of the column (%)", x=0.02, ha="left", fontsize=10
        )
        figure.colorbar(image, ax=axis, label="% of pairings", fraction=0.05)
        return figure_to_svg(figure)


def _percent(share: float) -> str:
    """Format a percentage without decimals. Only exact values are shown as 0 or 100."""
    if 0 < share < 0.5:
        return "<1"
    return ">99" if 99.5 < share < 100 else f"{share:.0f}"


def draw_budgets(matchups: Sequence[MatchupRatings]) -> bytes | None:
    """Return a plot of ratings against search budgets as SVG, or None if no family has two budgets.

    Ratings are relative to the smallest budget of the first family. These differences are often much more precise than
    differences from the reference player.
    """
    chosen = [matchup for matchup in matchups if matchup.get("budgets")]
    if not chosen:
        return None
    names = sorted({entry["family"] for matchup in chosen for entry in matchup["budgets"]})
    with styled_figure(1, len(chosen), 0.8 + 2.6 * max(len(chosen), 1.6), 3.3, share_y=True) as (figure, axes):
        for matchup, axis in zip(chosen, axes[0], strict=True):
            entries = matchup["budgets"]
            ticks = sorted({entry["budget"] for entry in entries})
            for family in dict.fromkeys(entry["family"] for entry in entries):
                own = [entry for entry in entries if entry["family"] == family]
                number = names.index(family)
                middle = np.array([entry["difference"] for entry in own])
                low, high = (np.array([entry[end] for entry in own]) for end in ("low", "high"))
                # Shift the families horizontally so that intervals at equal budgets do not overlap.
                shift = 2 ** (0.06 * (number - (len(names) - 1) / 2))
                axis.errorbar(
                    [entry["budget"] * shift for entry in own],
                    middle,
                    yerr=[middle - low, high - middle],
                    color=LINE_COLORS[number % len(LINE_COLORS)],
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=5,
                    linewidth=1.2,
                    capsize=2.5,
                    label=shorten_name(family),
                )
            axis.set_xscale("log", base=2)
            axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=45 if len(ticks) > 5 else 0)
            axis.minorticks_off()
            scale = f"rating in Elo points ({shorten_name(entries[0]['player'])} = 0)"
            label_panel(axis, _title(matchup), "search budget (logarithmic)", scale, legend={"loc": "upper left"})
            axis.tick_params(labelleft=True)
        return figure_to_svg(figure)


_EXPLANATION = (
    "Ratings are Plackett-Luce strengths from whole rankings, without seat effects, on the Elo scale (a lead of",
    "400 points means odds of 10 : 1). Intervals are 95% intervals of the difference from the reference player,",
    "bootstrapped over deals. P(rank) is the fraction of resamples in which the player has this rank. Method:",
)


def ratings_data(matchups: Sequence[Ratings], provenance: Mapping[str, Any], command: str) -> dict[str, Any]:
    """Return all ratings as JSON-serializable data with a digest.

    Args:
        matchups: the ratings.
        provenance: source of the games; its ``matchups`` key may hold more facts about each matchup, by name.
        command: command that recreates the report.
    """
    matchups_data = [matchup_rating_data(ratings) for ratings in matchups]
    return with_digest({"provenance": {**provenance, "command": command}, "matchups": matchups_data})


def read_report(path: Path) -> dict[str, Any]:
    """Load the data of an existing report; raise RatingError if the file is invalid or was modified."""
    data = read_json(path, RatingError).verify_digest("the data of a report on ratings")
    _check_report(data)
    report: dict[str, Any] = data.value
    return report


def matchup_rating_data(ratings: Ratings) -> dict[str, Any]:
    """Return the ratings of a matchup as JSON-serializable data."""
    order, statistics = ratings.order, ratings.statistics
    return {
        "name": ratings.matchup,
        "seats": len(ratings.seat),
        "games": ratings.games,
        "deals": ratings.deals,
        "reference": ratings.reference,
        "resamples": ratings.resamples,
        "handicaps_removed": ratings.handicaps,
        "chance_level": rounded(statistics.chance_level),
        "players": [
            {
                "player": ratings.players[i],
                "rank": rank + 1,
                "rating": rounded(ratings.elo[i]),
                "low": rounded(ratings.low[i]),
                "high": rounded(ratings.high[i]),
                "standard_error": rounded(ratings.error[i]),
                "rank_probabilities": [rounded(share) for share in ratings.rank[i]],
                **player_data(statistics, i),
            }
            for rank, i in enumerate(order)
        ],
        "seat_effects": [
            {"seat": seat, "effect": rounded(effect), "low": rounded(low), "high": rounded(high)}
            for seat, (effect, low, high) in enumerate(
                zip(ratings.seat, ratings.seat_low, ratings.seat_high, strict=True)
            )
        ],
        "pairs": pair_data(ratings.players, order, ratings.cross_table, ratings.expected, ratings.probability_stronger),
        **_budgets(ratings),
    }


def _budgets(ratings: Ratings) -> dict[str, Any]:
    """Return comparisons of all search budgets with the smallest budget of the first family, if there is a family."""
    families = budget_families(ratings.players)
    if not families:
        return {}
    anchor = next(iter(families.values()))[0][1]
    spread = np.diag(ratings.covariance) + ratings.covariance[anchor, anchor] - 2 * ratings.covariance[anchor]
    half = student_quantile(ratings.deals) * np.sqrt(np.maximum(spread, 0.0))
    above = ratings.elo - ratings.elo[anchor]
    return {
        "budgets": [
            {
                "family": family,
                "budget": budget,
                "player": ratings.players[i],
                "difference": rounded(above[i]),
                "low": rounded(above[i] - half[i]),
                "high": rounded(above[i] + half[i]),
            }
            for family, members in families.items()
            for budget, i in members
        ]
    }


def rating_report_files(data: Mapping[str, Any], *, name: str = "ladder", images: str = "") -> dict[Path, bytes]:
    """Return the files of the report by path relative to the output folder.

    Args:
        data: the data from `ratings_data` or `read_report`.
        name: prefix of the file names.
        images: subfolder for the figures.
    """
    shown = all_printable(data)
    matchups = shown["matchups"]
    drawn = {"ratings": draw_ratings(matchups), "budgets": draw_budgets(matchups)}
    drawn |= {f"pairs-{number + 1}": draw_pairs(matchup) for number, matchup in enumerate(matchups)}
    figures = {figure: picture for figure, picture in drawn.items() if picture is not None}
    paths = {figure: Path(images, f"{name}-{figure}.svg") for figure in figures}
    return {
        Path(f"{name}.md"): _page(shown, name, {figure: path.as_posix() for figure, path in paths.items()}).encode(),
        Path(f"{name}.json"): (json.dumps(data, indent=1, allow_nan=False) + "\n").encode(),
        **{paths[figure]: picture for figure, picture in figures.items()},
    }


def _page(data: Mapping[str, Any], name: str, figures: Mapping[str, str]) -> str:
    """Return the page. `figures` maps the subject of each figure to its path."""
    provenance, matchups = data["provenance"], data["matchups"]
    missing = provenance.get("missing_games", 0)
    about = escape_markdown(name.removeprefix("ladder").lstrip("-"))
    lines = [
        f"# Ladder{f': {about}' if about else ''}",
        "",
        f"{provenance['games']:,} games with seed {provenance['seed']}"
        + (f" ({missing:,} more planned)" if missing else "")
        + f"; {provenance['environment']}, helsinki-env {provenance['package']}. Generated by",
        "",
        f"    {printable(provenance['command'])}",
        "",
        *_EXPLANATION,
        "docs/ratings.md. Some components are reconstructed; docs/balance-results.md shows what depends on them. All",
        f"numbers: {link(f'{name}.json', f'{name}.json')}.",
        "",
    ]
    if networks := provenance.get("networks"):
        named = ", ".join(f"{code_span(player)} {code_span(digest)}" for player, digest in networks.items())
        lines += [f"Digests of the players' files: {named}.", ""]
    if replaced := provenance.get("replaced"):
        lines += [f"Replaced by random actions: {escape_markdown('; '.join(replaced))}.", ""]
    for figure, title in (("ratings", "Ratings"), ("budgets", "Ratings against search budgets")):
        if figure in figures:
            lines += [f"!{link(title, figures[figure])}", ""]
    for number, entry in enumerate(matchups):
        lines += [f"## {escape_markdown(entry['name'])}", "", *_section(entry, provenance), ""]
        path = figures.get(f"pairs-{number + 1}")
        lines += [f"!{link('Cross-table', path)}" if path else _cross_table_text(entry), ""]
    return "\n".join(lines)


def _pairs(entry: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the pairs of players that met, each with the stronger player first."""
    rank = {row["player"]: row["rank"] for row in entry["players"]}
    return [pair for pair in entry["pairs"] if pair["games"] and rank[pair["player"]] < rank[pair["opponent"]]]


def _cross_table_text(entry: Mapping[str, Any]) -> str:
    """Return the cross-table as a sentence, for matchups with too few pairs for a figure."""
    scores = [
        f"{code_span(pair['player'])} finished ahead of {code_span(pair['opponent'])} in {pair['ahead']:.1%} "
        f"({pair['low']:.1%} to {pair['high']:.1%})"
        for pair in _pairs(entry)
    ]
    return f"Of all pairings, {', '.join(scores)}."


def _fact(key: str, value: Any) -> str:
    """Format a fact about a matchup, or a mapping of facts such as a design."""
    if isinstance(value, Mapping):
        return f"{escape_markdown(key)} ({', '.join(_fact(*item) for item in value.items())})"
    numbers = isinstance(value, list) and all(isinstance(item, int | float) for item in value)
    return f"{escape_markdown(key)} {value if numbers else escape_markdown(str(value))}"


def _section(entry: Mapping[str, Any], provenance: Mapping[str, Any]) -> list[str]:
    """Return the Markdown lines for one matchup."""
    facts = "".join(f", {_fact(*item)}" for item in provenance.get("matchups", {}).get(entry["name"], {}).items())
    played = f"{entry['seats']} players, {entry['games']:,} games of {entry['deals']:,} deals{facts}."
    lines = [
        f"{played} Chance level: {entry['chance_level']:.1%}.",
        "",
        "| rank | player | rating | 95% interval | games won (95% interval) | points | mean rank | games | P(rank) |",
        "| ---: | --- | ---: | --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for one in entry["players"]:
        cells = (
            str(one["rank"]),
            code_span(one["player"]),
            f"{one['rating']:.0f}",
            f"{one['low']:.0f} to {one['high']:.0f}" if one["player"] != entry["reference"] else "reference",
            f"{one['win_share']:.1%} ({one['win_share_low']:.1%} to {one['win_share_high']:.1%})",
            f"{one['mean_points']:.1f}",
            f"{one['mean_place']:.2f}",
            f"{one['games']:,}",
            f"{one['rank_probabilities'][one['rank'] - 1]:.0%}",
        )
        lines.append(table_row(cells))
    seats = "; ".join(
        f"seat {seat['seat']}: {round(seat['effect']):+d} ({round(seat['low']):+d} to {round(seat['high']):+d})"
        for seat in entry["seat_effects"]
    )
    lines += ["", f"Seat effects in Elo points: {seats}."]
    if entry["handicaps_removed"]:
        lines += ["", "Ratings, but not win rates, are corrected for the actions denied to single seats."]
    return [*lines, "", *_disagreement(entry)]


def _disagreement(entry: Mapping[str, Any]) -> list[str]:
    """Return lines on the fit of the model: deviations of the cross-table from the expected scores."""
    pairs = _pairs(entry)
    outside = [pair for pair in pairs if not pair["low"] <= pair["ahead_by_ratings"] <= pair["high"]]
    worst = max(pairs, key=lambda pair: abs(pair["ahead"] - pair["ahead_by_ratings"]))
    return [
        f"For {len(outside)} of {len(pairs)} pairs, the predicted score lies outside the measured 95% interval.",
        f"The largest deviation: {code_span(worst['player'])} finished ahead of {code_span(worst['opponent'])} in",
        f"{worst['ahead']:.1%} of pairings, expected {worst['ahead_by_ratings']:.1%}.",
    ]


_MAX_ELO = 1e9


def _check_report(data: Node) -> None:
    """Check all data of a report; raise RatingError if it is invalid."""
    provenance = data["provenance"]
    _check(provenance, counts=("games", "seed"), texts=("environment", "package", "command"))
    provenance.get("missing_games", 0).integer(0)
    networks = (digest for _, digest in provenance.get("networks", {}).items())
    for entry in (*networks, *provenance.get("replaced", []).entries("values")):
        _text(entry)
    for _, facts in provenance.get("matchups", {}).items():
        facts.mapping()
    for matchup in data["matchups"].entries("at least one value", least=1):
        _check_matchup(matchup)


def _check_matchup(entry: Node) -> None:
    """Check the ratings of a matchup."""
    _check(entry, counts=("games", "deals"), texts=("name", "reference"), fractions=("chance_level",))
    entry["seats"].integer(2, 4, "2, 3 or 4")
    entry["handicaps_removed"].boolean()
    players = entry["players"].entries("at least one value", least=1)
    for player in players:
        numbers = ("rating", "low", "high", "mean_points", "mean_place")
        fractions = ("win_share", "win_share_low", "win_share_high")
        _check(player, counts=("games",), texts=("player",), numbers=numbers, fractions=fractions)
        player["rank"].integer(1, len(players))
        for share in player["rank_probabilities"].entries("probabilities, one for each rank", length=len(players)):
            share.number(0, 1)
    for seat in entry["seat_effects"].entries("values"):
        _check(seat, counts=("seat",), numbers=("effect", "low", "high"))
    ranks = {player["player"].value: player["rank"].value for player in players}
    met = False
    for pair in entry["pairs"].entries("pairs"):
        one, other = (pair[key].choice(list(ranks), "a player of the matchup: ") for key in ("player", "opponent"))
        _check(pair, counts=("games",))
        if pair["games"].value:
            _check(pair, fractions=("ahead", "low", "high", "ahead_by_ratings"))
            met = met or ranks[one] < ranks[other]
        elif pair["ahead"].value is not None:
            _check(pair, fractions=("ahead",))
    if not met:
        entry["pairs"].fail("at least one pair of players with games, the stronger first")
    if entry["budgets"].is_present:
        for budget in entry["budgets"].entries("at least one value", least=1):
            _check(budget, texts=("family", "player"), numbers=("difference",))
            budget["budget"].integer(1)
            budget["low"].number(-_MAX_ELO, budget["difference"].value)
            budget["high"].number(budget["difference"].value, _MAX_ELO)


def _text(entry: Node) -> None:
    if not isinstance(entry.value, str):
        entry.fail("text")


def _check(
    entry: Node,
    counts: Sequence[str] = (),
    texts: Sequence[str] = (),
    numbers: Sequence[str] = (),
    fractions: Sequence[str] = (),
) -> None:
    """Check the values of the given keys, grouped by type."""
    for key in counts:
        entry[key].integer(0)
    for key in texts:
        _text(entry[key])
    for key in numbers:
        entry[key].number(-_MAX_ELO, _MAX_ELO)
    for key in fractions:
        entry[key].number(0, 1)

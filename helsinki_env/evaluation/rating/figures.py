"""Figures of ratings, drawn only from the data of the report (`helsinki_env.evaluation.rating.report`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from helsinki_env.data import shorten
from helsinki_env.evaluation.figure_style import LINE_COLORS, MARKERS, PLAYER_COUNT_COLORS, figure_to_svg, styled_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

RatingTable = Mapping[str, Any]

_MAX_LABEL = 30
_MAX_TITLE = 100
#: Minimum number of pairs for a heat map of the cross-table: fewer are easier to read as numbers.
_MIN_PAIRS = 3


def shorten_name(player: str) -> str:
    """Return a player's name for a label; long names, such as paths, are shortened in the middle."""
    half = _MAX_LABEL // 2
    return player if len(player) <= _MAX_LABEL else f"{player[: half - 1]}…{player[-half:]}"


def budget_families(players: Sequence[str]) -> dict[str, list[tuple[int, int]]]:
    """Return the players that differ only in a budget, such as mc:50 and mc:200: (budget, index) by family."""
    families: dict[str, list[tuple[int, int]]] = {}
    for i, player in enumerate(players):
        found = re.fullmatch(r"([^:]+):(\d+)(|:.*)", player)
        if found and int(found[2]) > 0:
            families.setdefault(found[1] + found[3], []).append((int(found[2]), i))
    return {family: sorted(members) for family, members in sorted(families.items()) if len(members) > 1}


def draw_ratings(tables: Sequence[RatingTable]) -> bytes:
    """Return the ratings with their intervals as SVG, one panel for each matchup, all on one scale."""
    # State the scale only once for matchups with the same reference player.
    last = [one["reference"] != other["reference"] for one, other in pairwise(tables)] + [True]
    heights = [0.24 * len(table["players"]) + (0.75 if end else 0.4) for table, end in zip(tables, last, strict=True)]
    players = [player for table in tables for player in table["players"]]
    lowest, highest = min(player["low"] for player in players), max(player["high"] for player in players)
    with styled_figure(len(tables), 1, 6.4, sum(heights), share_x=True) as (figure, axes):
        axes[0, 0].get_gridspec().set_height_ratios(heights)
        for table, labeled, axis in zip(tables, last, axes[:, 0], strict=True):
            players = table["players"][::-1]
            elo, low, high = (np.array([player[key] for player in players]) for key in ("rating", "low", "high"))
            rows = np.arange(len(players))
            color = PLAYER_COUNT_COLORS.get(table["seats"], "#000000")
            axis.hlines(rows, low, high, color=color, linewidth=1.8)
            axis.plot(elo, rows, "o", color=color, markersize=5)
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=0)
            axis.set_yticks(rows, [shorten_name(player["player"]) for player in players])
            axis.set_ylim(-0.6, len(players) - 0.4)
            axis.grid(axis="x", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
            for row, value, end in zip(rows, elo, high, strict=True):
                axis.annotate(
                    f"{value:.0f}", (max(value, end), row), (6, 0), textcoords="offset points", va="center", fontsize=8
                )
            axis.set_title(f"{_title(table)}, {table['games']:,} games", loc="left")
            axis.tick_params(labelbottom=labeled)
            if labeled:
                axis.set_xlabel(f"rating in Elo points with 95% interval ({shorten_name(table['reference'])} = 0)")
            axis.set_xlim(lowest - 0.05 * (highest - lowest), highest + 0.12 * (highest - lowest))
        return figure_to_svg(figure)


def _title(table: RatingTable) -> str:
    seats, name = f"{table['seats']} players", shorten(table["name"], _MAX_TITLE)
    return name if name.startswith(seats) else f"{name} ({seats})"


def draw_pairs(table: RatingTable) -> bytes | None:
    """Return the cross-table of one matchup as an annotated heat map, SVG; None for fewer than three pairs."""
    players = [player["player"] for player in table["players"]]
    n = len(players)
    share = np.full((n, n), np.nan)
    for pair in table["pairs"]:
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
            f"{_title(table)}\nHow often the row finished\nahead of the column (%)", x=0.02, ha="left", fontsize=10
        )
        figure.colorbar(image, ax=axis, label="% of meetings", fraction=0.05)
        return figure_to_svg(figure)


def _percent(share: float) -> str:
    """Format a percentage without decimals; 0 and 100 only for exact values."""
    if 0 < share < 0.5:
        return "<1"
    return ">99" if 99.5 < share < 100 else f"{share:.0f}"


def draw_budgets(tables: Sequence[RatingTable]) -> bytes | None:
    """Return ratings against search budgets as SVG, one panel for each matchup; None if no family has two budgets.

    The figure shows differences to the smallest budget of the first family, because these are often much more precise
    than the distance of all budgets to the reference.
    """
    chosen = [table for table in tables if table.get("budgets")]
    if not chosen:
        return None
    names = sorted({entry["family"] for table in chosen for entry in table["budgets"]})
    with styled_figure(1, len(chosen), 0.8 + 2.6 * max(len(chosen), 1.6), 3.3, share_y=True) as (figure, axes):
        for table, axis in zip(chosen, axes[0], strict=True):
            entries = table["budgets"]
            ticks = sorted({entry["budget"] for entry in entries})
            for family in dict.fromkeys(entry["family"] for entry in entries):
                own = [entry for entry in entries if entry["family"] == family]
                number = names.index(family)
                middle = np.array([entry["difference"] for entry in own])
                low, high = (np.array([entry[end] for entry in own]) for end in ("low", "high"))
                # Dodge families with equal budgets, so that their intervals do not overlap.
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
            axis.grid(color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
            axis.set_title(_title(table), loc="left")
            axis.set_xlabel("search budget (logarithmic)")
            axis.tick_params(labelleft=True)
            axis.set_ylabel(f"rating in Elo points ({shorten_name(entries[0]['player'])} = 0)")
            axis.legend(frameon=False, loc="upper left")
        return figure_to_svg(figure)

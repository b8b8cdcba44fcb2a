"""Figures of ratings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from agents.drawing import LINES, MARKERS, OF_PLAYERS, drawing, svg
from agents.rating.ratings import Ratings
from agents.standing import student_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["budgets", "draw_budgets", "draw_pairs", "draw_ratings", "short"]

_LABEL = 30


def short(player: str) -> str:
    """Return a player's name for a label: without the middle if it is long, as paths are."""
    return player if len(player) <= _LABEL else f"{player[: _LABEL // 2 - 1]}…{player[-_LABEL // 2 :]}"


def budgets(players: tuple[str, ...]) -> dict[str, list[tuple[int, int]]]:
    """Return the families of players that differ in a budget alone, such as mc:50 and mc:200.

    Args:
        players: names; a budget is the number that follows the first colon.

    Returns:
        for each family with at least two budgets: (budget, index of the player), ascending.
    """
    families: dict[str, list[tuple[int, int]]] = {}
    for i, player in enumerate(players):
        found = re.fullmatch(r"([^:]+):(\d+)(|:.*)", player)
        if found and int(found[2]) > 0:
            families.setdefault(found[1] + found[3], []).append((int(found[2]), i))
    return {family: sorted(members) for family, members in sorted(families.items()) if len(members) > 1}


def draw_ratings(tables: list[Ratings]) -> bytes:
    """Return the ratings with their intervals as SVG, one panel for each table."""
    heights = [len(ratings.players) for ratings in tables]
    with drawing(len(tables), 1, 6.4, sum(0.24 * n + 0.75 for n in heights)) as (figure, axes):
        axes[0, 0].get_gridspec().set_height_ratios([0.24 * n + 0.75 for n in heights])
        lowest = min(float(ratings.low.min()) for ratings in tables)
        highest = max(float(ratings.high.max()) for ratings in tables)
        for ratings, axis in zip(tables, axes[:, 0], strict=True):
            order = ratings.order[::-1]
            elo, low, high = ratings.elo[order], ratings.low[order], ratings.high[order]
            rows = np.arange(len(order))
            colour = OF_PLAYERS.get(len(ratings.seat), "#000000")
            axis.hlines(rows, low, high, color=colour, linewidth=1.8)
            axis.plot(elo, rows, "o", color=colour, markersize=5)
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=0)
            axis.set_yticks(rows, [short(ratings.players[i]) for i in order])
            axis.set_ylim(-0.6, len(order) - 0.4)
            axis.grid(axis="x", color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
            for row, value, end in zip(rows, elo, high, strict=True):
                axis.annotate(
                    f"{value:.0f}", (max(value, end), row), (6, 0), textcoords="offset points", va="center", fontsize=8
                )
            axis.set_title(f"{_title(ratings)}, {ratings.games:,} games", loc="left")
            axis.set_xlabel(f"rating in Elo points with 95 % interval ({short(ratings.reference)} = 0)")
            axis.set_xlim(lowest - 0.05 * (highest - lowest), highest + 0.12 * (highest - lowest))
        return svg(figure)


def _title(ratings: Ratings) -> str:
    seats = f"{len(ratings.seat)} players"
    return ratings.table if ratings.table.startswith(seats) else f"{ratings.table} ({seats})"


def draw_pairs(ratings: Ratings) -> bytes:
    """Return the cross-table of one table as a heat map with numbers, SVG; both axes from the strongest down."""
    order = ratings.order
    share = ratings.pairs.share[np.ix_(order, order)] * 100
    n = len(order)
    with drawing(1, 1, 2.9 + 0.42 * n, 1.9 + 0.36 * n) as (figure, axes):
        axis: Axes = axes[0, 0]
        axis.set_facecolor("#dddddd")  # where two did not meet
        image = axis.imshow(share, cmap="PuOr_r", vmin=0, vmax=100, aspect="auto")
        for i in range(n):
            for j in range(n):
                if np.isfinite(share[i, j]):
                    dark = abs(share[i, j] - 50) > 35
                    text = _percent(share[i, j])
                    axis.text(j, i, text, ha="center", va="center", fontsize=8, color="white" if dark else "black")
        names = [short(ratings.players[i]) for i in order]
        axis.set_xticks(range(n), names, rotation=45, ha="right", rotation_mode="anchor")
        axis.set_yticks(range(n), names)
        axis.tick_params(length=0)
        axis.spines[:].set_visible(False)
        figure.suptitle(
            f"{_title(ratings)}\nHow often the row finished\nahead of the column, in %", x=0.02, ha="left", fontsize=10
        )
        figure.colorbar(image, ax=axis, label="% of meetings", fraction=0.05)
        return svg(figure)


def _percent(share: float) -> str:
    """Return a share in % without decimals, but never 0 or 100 for what is neither."""
    if 0 < share < 0.5:
        return "<1"
    return ">99" if 99.5 < share < 100 else f"{share:.0f}"


def draw_budgets(tables: list[Ratings]) -> bytes | None:
    """Return ratings against search budgets as SVG, one panel for each table; None if no family has two budgets.

    Drawn is the difference to the smallest budget of the first family, with its interval by the sandwich over decks:
    how far all of them are above the reference is often known much less well than how they compare.
    """
    chosen = [(ratings, families) for ratings in tables if (families := budgets(ratings.players))]
    if not chosen:
        return None
    names = sorted({family for _, families in chosen for family in families})
    with drawing(1, len(chosen), 0.8 + 2.6 * max(len(chosen), 1.6), 3.3, share_y=True) as (figure, axes):
        for (ratings, families), axis in zip(chosen, axes[0], strict=True):
            ticks = sorted({budget for members in families.values() for budget, _ in members})
            anchor = next(iter(families.values()))[0][1]
            spread = np.diag(ratings.covariance) + ratings.covariance[anchor, anchor] - 2 * ratings.covariance[anchor]
            half = student_quantile(ratings.decks) * np.sqrt(np.maximum(spread, 0.0))
            for family, members in families.items():
                number = names.index(family)
                at = [i for _, i in members]
                # Families with equal budgets stand beside each other, or intervals would hide each other.
                shift = 2 ** (0.06 * (number - (len(names) - 1) / 2))
                axis.errorbar(
                    [budget * shift for budget, _ in members],
                    ratings.elo[at] - ratings.elo[anchor],
                    yerr=half[at],
                    color=LINES[number % len(LINES)],
                    marker=MARKERS[number % len(MARKERS)],
                    markersize=5,
                    linewidth=1.2,
                    capsize=2.5,
                    label=family,
                )
            axis.set_xscale("log", base=2)
            axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks], rotation=45 if len(ticks) > 5 else 0)
            axis.minorticks_off()
            axis.grid(color="#dddddd", linewidth=0.6)
            axis.set_axisbelow(True)
            axis.set_title(_title(ratings), loc="left")
            axis.set_xlabel("search budget (logarithmic)")
            axis.tick_params(labelleft=True)
            axis.set_ylabel(f"rating in Elo points ({short(ratings.players[anchor])} = 0)")
            axis.legend(frameon=False, loc="upper left")
        return svg(figure)

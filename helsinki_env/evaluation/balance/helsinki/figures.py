"""SVG figures of a balance study, drawn from the report data (`helsinki_env.evaluation.balance.helsinki.results`).

Plots that label every action have one row per action, strongest first. Labels next to points would overlap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from textwrap import fill
from typing import Any

import numpy as np

from helsinki_env.evaluation.balance.helsinki.conclusions import strongest_of
from helsinki_env.evaluation.balance.helsinki.estimates import GAME_MEASURES
from helsinki_env.evaluation.figure_style import (
    GRID,
    LINE_COLORS,
    MARKERS,
    PLAYER_COUNT_COLORS,
    figure_to_svg,
    label_panel,
    styled_figure,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = ["forest_plot", "study_figures"]

Data = Mapping[str, Any]

_MARGIN = "#e8e8e8"
_POINTS = "games won per 100"
_MAX_BINS = 40
_BEYOND = f"effect minus the mean effect,\n{_POINTS}"
_EFFECT = f"effect of having it,\n{_POINTS}"

_CAPTIONS = {
    "forest": (
        "Effect of each action minus the mean effect of all actions. Lines: intervals that hold simultaneously for all "
        "actions, player counts and classes of player. Gray: the equivalence margin."
    ),
    "strength": "The same by strength of the player. A rising line means that the action needs a good player.",
    "use": "Effect of having an action, how often it is used and when, for the strongest player.",
    "naive": (
        "Hollow: win rate of the seats that used the action minus that of the other seats (biased: winners have more "
        "to spend). Filled: effect of having the action, measured by denying it at random."
    ),
    "pairs": (
        "Joint effect of each pair of actions minus the separate effects: positive (orange) or negative (purple). "
        "Dots: significant pairs (false discovery rate)."
    ),
    "variants": "Deviations with other values where the component file is a reconstruction.",
    "seats": "Games won by each seat without restrictions, with 95% intervals; the line is the chance level.",
    "covers": "All 3,003 sets of five covered actions. Line: the set that the rulebook covers in a first game.",
    "scores": "Final points of a seat.",
    "skill": (
        "Ratings of the players relative to the weakest, in the games of the rulebook, with 95% intervals. A steeper "
        "line means more room for skill."
    ),
}


def study_figures(data: Data) -> dict[str, tuple[str, bytes]]:
    """Return the caption and the SVG of each figure that has data, by name, in the order of the report."""
    drawn = {name: draw(data) for name, (key, draw) in _FIGURES.items() if data[key]}
    return {name: (_CAPTIONS[name], picture) for name, picture in drawn.items() if picture is not None}


def _name(action: str) -> str:
    return action.replace("_", " ")


def _counts(entries: Sequence[Data]) -> list[int]:
    return sorted({entry["players"] for entry in entries})


def _of(entries: Sequence[Data], players: int) -> list[Data]:
    return [entry for entry in entries if entry["players"] == players]


def _column(entry: Data, key: str) -> Any:
    return np.array([np.nan if action[key] is None else action[key] for action in entry["actions"]], np.float64)


def _order(data: Data) -> Any:
    """Return the actions, weakest first, sorted by the strongest class's deviation averaged over player counts."""
    deviations = [_column(strongest_of(data, n), "deviation") for n in _counts(data["screening"])]
    return np.argsort(np.mean(deviations, axis=0), kind="stable")


@contextmanager
def _panels(counts: Sequence[Any], width: float, margin: float, height: float, **share: bool) -> Iterator[Any]:
    """Yield a figure and its panels side by side, each paired with its player count (or other key)."""
    with styled_figure(1, len(counts), margin + width * len(counts), height, **share) as (figure, axes):
        yield figure, list(zip(axes[0], counts, strict=True))


def _label_rows(axis: Any, data: Data, order: Any, title: str, label: str, corner: str = "lower right") -> None:
    axis.set_yticks(range(len(order)), [_name(data["actions"][i]) for i in order])
    axis.set_ylim(-0.6, len(order) - 0.4)
    label_panel(axis, title, label, grid="x", legend={"fontsize": 7.5, "loc": corner})


def _draw_intervals(axis: Any, values: Sequence[Any], number: int, count: int, label: str, **style: Any) -> None:
    """Draw estimates with intervals, one row per action, for series `number` of the `count` series in the figure."""
    middle, low, high = values
    rows = np.arange(len(middle)) + 0.7 * ((number + 0.5) / count - 0.5)
    axis.hlines(rows, low, high, linewidth=1.5, **style)
    axis.plot(middle, rows, MARKERS[number % len(MARKERS)], markersize=4.5, label=label, zorder=3, **style)


def _draw_margin(axis: Any, margin: float) -> None:
    axis.axvspan(-margin, margin, color=_MARGIN, zorder=0)
    axis.axvline(0, color="#999999", linewidth=0.8, zorder=1)


def _rows_high(each: float, rows: float = len(BOARD_ACTIONS)) -> float:
    """Return the height of a figure in inches, given the number of rows."""
    return 1.3 + rows * each


def forest_plot(data: Data) -> bytes:
    """Draw the deviations of all actions, with one panel per player count."""
    screening, order = data["screening"], _order(data)
    counts = _counts(screening)
    most = max(len(_of(screening, n)) for n in counts)
    each = 0.2 + 0.11 * most
    # With all actions, the lower right corner is free for the legend.
    legend = 0.0 if len(order) == len(BOARD_ACTIONS) else (0.1 + 0.16 * most) / each
    with _panels(counts, 2.6, 1.6, _rows_high(each, len(order) + legend), share_x=True, share_y=True) as (figure, axes):
        for axis, n in axes:
            _draw_margin(axis, data["study"]["equivalence_margin"])
            for i, entry in enumerate(entries := _of(screening, n)):
                values = [_column(entry, f"deviation{end}")[order] for end in ("", "_low", "_high")]
                alpha = 0.4 + 0.6 * (i + 1) / len(entries)
                color = PLAYER_COUNT_COLORS[n]
                _draw_intervals(axis, values, i, len(entries), entry["player"], color=color, alpha=alpha)
            _label_rows(axis, data, order, f"{n} players", _BEYOND)
            axis.set_ylim(bottom=axis.get_ylim()[0] - legend)
        return figure_to_svg(figure)


def _strength(data: Data) -> bytes | None:
    screening, margin = data["screening"], data["study"]["equivalence_margin"]
    counts = [n for n in _counts(screening) if len(_of(screening, n)) > 1]
    if not counts:
        return None
    names = _class_names(data, (entry["player"] for n in counts for entry in _of(screening, n)))
    with styled_figure(3, 5, 9.5, 6.6, share_y=True) as (figure, axes):
        for axis, i in zip(axes.ravel(), _order(data)[::-1], strict=True):
            axis.axhspan(-margin, margin, color=_MARGIN, zorder=0)
            for n in counts:
                entries = _of(screening, n)
                at = np.array([names.index(entry["player"]) for entry in entries]) + 0.08 * (n - 3)
                middle = [_column(entry, "deviation")[i] for entry in entries]
                error = [1.96 * _column(entry, "deviation_error")[i] for entry in entries]
                axis.errorbar(
                    at, middle, yerr=error, color=PLAYER_COUNT_COLORS[n], marker=MARKERS[n - 2], markersize=3.5,
                    linewidth=1, capsize=1.5, label=f"{n} players",
                )  # fmt: skip
            axis.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=7)
            axis.set_xlim(-0.4, len(names) - 0.6)
            label_panel(axis, "", grid="y", legend=None)
            axis.set_title(_name(data["actions"][i]), loc="left", fontsize=8.5)
        figure.supylabel(f"effect minus the mean effect, {_POINTS}; 95% intervals", fontsize=9)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper right", frameon=False, ncols=3)
        return figure_to_svg(figure)


def _use(data: Data) -> bytes:
    counts, order = _counts(data["screening"]), _order(data)
    panels = (
        ("power", 1, _EFFECT),
        ("usage", 100, "seats that used it,\n% of those that had it"),
        ("first_use", 1, "round of first use,\nmean of the seats that used it"),
    )
    with _panels(panels, 2.6, 1.6, _rows_high(0.3), share_y=True) as (figure, axes):
        for axis, (key, factor, label) in axes:
            for row in range(len(order)):
                axis.axhline(row, color=GRID["color"], linewidth=GRID["linewidth"], zorder=0)
            for i, n in enumerate(counts):
                entry = strongest_of(data, n)
                rows = np.arange(len(order)) + 0.2 * (i - (len(counts) - 1) / 2)
                axis.plot(
                    factor * _column(entry, key)[order], rows, MARKERS[n - 2], color=PLAYER_COUNT_COLORS[n],
                    markersize=4.5, label=f"{n} players, {entry['player']}",
                )  # fmt: skip
            _label_rows(axis, data, order, "", label)
            if key != "power":
                axis.get_legend().remove()
        return figure_to_svg(figure)


def _naive(data: Data) -> bytes:
    order = _order(data)
    rows = np.arange(len(order))
    with _panels(_counts(data["screening"]), 2.6, 1.6, _rows_high(0.22), share_x=True, share_y=True) as (figure, axes):
        for axis, n in axes:
            entry = strongest_of(data, n)
            naive, power = (_column(entry, key)[order] for key in ("naive", "power"))
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=0)
            axis.hlines(rows, naive, power, color="#aaaaaa", linewidth=1, zorder=1)
            style = {"color": PLAYER_COUNT_COLORS[n], "markersize": 5}
            axis.plot(naive, rows, "o", fillstyle="none", label="by use of the action", **style)
            axis.plot(power, rows, "o", label="by denying it at random", **style)
            _label_rows(axis, data, order, f"{n} players, {entry['player']}", _POINTS, "upper left")
        return figure_to_svg(figure)


def _pairs(data: Data) -> bytes | None:
    shown = [entry for entry in data["pairs"] if "left_out" not in entry]
    if not shown:
        return None
    names = [_name(action) for action in data["actions"]]
    with _panels(shown, 3.5, 1.7, 4.6, share_y=True) as (figure, axes):
        widest = max(float(np.abs(entry["pair"]).max()) for entry in shown) or 1.0
        for axis, entry in axes:
            image = axis.imshow(np.array(entry["pair"]), cmap="PuOr_r", vmin=-widest, vmax=widest)
            for pair in entry["found"]:
                i, j = (data["actions"].index(action) for action in pair["actions"])
                axis.plot([i, j], [j, i], "k.", markersize=4)
            axis.set_xticks(range(15), names, rotation=90, fontsize=7)
            axis.set_yticks(range(15), names, fontsize=7)
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
            axis.set_title(f"{entry['players']} players, {entry['player']}", loc="left")
        figure.colorbar(
            image, ax=[axis for axis, _ in axes], label=f"joint effect minus separate effects, {_POINTS}", fraction=0.03
        )
        return figure_to_svg(figure)


def _variants(data: Data) -> bytes | None:
    variants = data["variants"]
    if not data["screening"]:  # the screening experiment determines the order
        return None
    names = list(dict.fromkeys(entry["components"] for entry in variants))
    order, height = _order(data), _rows_high(0.2 + 0.1 * len(names))
    with _panels(_counts(variants), 2.6, 1.6, height, share_x=True, share_y=True) as (figure, axes):
        for axis, n in axes:
            _draw_margin(axis, data["study"]["equivalence_margin"])
            for entry in _of(variants, n):
                i = names.index(entry["components"])
                values = [np.array(entry[key])[order] for key in ("deviation", "low", "high")]
                color = LINE_COLORS[i % len(LINE_COLORS)]
                _draw_intervals(axis, values, i, len(names), entry["components"], color=color)
            _label_rows(axis, data, order, f"{n} players, {variants[0]['player']}", _BEYOND)
        return figure_to_svg(figure)


def _seats(data: Data) -> bytes | None:
    games = [entry for entry in data["quality"] if entry["game"] == "base game"]
    if not games:
        return None
    with _panels(_counts(games), 2.5, 1, 3.0) as (figure, axes):
        for axis, n in axes:
            own = _of(games, n)
            width = 0.8 / len(own)
            for i, entry in enumerate(own):
                at = np.arange(n) + width * (i - (len(own) - 1) / 2)
                axis.bar(
                    at, entry["seats"]["share"], 0.9 * width, yerr=1.96 * np.array(entry["seats"]["error"]),
                    color=PLAYER_COUNT_COLORS[n], alpha=0.35 + 0.65 * (i + 1) / len(own), capsize=2,
                    label=entry["player"],
                )  # fmt: skip
            axis.axhline(100 / n, color="#444444", linewidth=0.8)
            axis.set_xticks(range(n), [f"seat {seat + 1}" for seat in range(n)])
            axis.set_ylim(0, 150 / n)
            legend = {"fontsize": 7, "loc": "upper center", "ncols": 2}
            label_panel(axis, f"{n} players", y="games won, %", grid=None, legend=legend)
        return figure_to_svg(figure)


def _covers(data: Data) -> bytes:
    covers, width = data["covers"], 1 + 2.4 * len(GAME_MEASURES)
    with styled_figure(len(covers), len(GAME_MEASURES), width, 0.5 + 2.2 * len(covers)) as (figure, axes):
        for row, entry in zip(axes, covers, strict=True):
            for axis, (measure, unit) in zip(row, GAME_MEASURES.items(), strict=True):
                values = np.array(entry["distribution"][measure])
                axis.hist(values, _bins(values), color=PLAYER_COUNT_COLORS[entry["players"]])
                if entry["first_game"]:
                    axis.axvline(entry["first_game"][measure]["mean"], color="black", linewidth=1.2)
                label_panel(axis, f"{entry['players']} players", y="sets of five", grid=None, legend=None)
                axis.set_xlabel(fill(unit, 31), fontsize=8)
        return figure_to_svg(figure)


def _bins(values: Any) -> Any:
    """Return bin edges so that each bin covers equally many possible values. Means of few games lie on a lattice."""
    distinct = np.unique(values)
    if len(distinct) < 2:
        return 1
    step = float(np.median(np.diff(distinct)))  # the data contains rounded values
    width = step * np.ceil((distinct[-1] - distinct[0]) / step / _MAX_BINS)
    return np.arange(distinct[0] - step / 2, distinct[-1] + width, width)


def _scores(data: Data) -> bytes:
    kinds = list(dict.fromkeys(entry["game"] for entry in data["quality"]))
    with _panels(_counts(data["quality"]), 2.9, 1, 3.0, share_y=True) as (figure, axes):
        for axis, n in axes:
            for i, kind in enumerate(kinds):
                own = [entry for entry in _of(data["quality"], n) if entry["game"] == kind]
                player = own[-1]["player"] if own else ""
                if own:
                    scores = np.array(own[-1]["scores"], np.float64)
                    share = 100 * scores / scores.sum()
                    axis.plot(np.arange(len(scores)), share, color=LINE_COLORS[i], linewidth=1.3, label=kind)
            label_panel(axis, f"{n} players, {player}", "points of a seat", "seats, %")
        return figure_to_svg(figure)


def _class_names(data: Data, players: Iterable[str]) -> list[str]:
    """Return the given players in the order of the study's classes, weakest first."""
    known = set(players)
    return [one["player"] for one in data["study"]["classes"] if one["player"] in known]


def _skill(data: Data) -> bytes:
    kinds = list(dict.fromkeys(entry["game"] for entry in data["skill"]))
    names = _class_names(data, (step[key] for step in data["skill"] for key in ("weaker", "stronger")))
    with _panels(kinds, 2.6, 1, 3.0, share_y=True) as (figure, axes):
        for axis, kind in axes:
            for n in _counts(data["skill"]):
                steps = [entry for entry in _of(data["skill"], n) if entry["game"] == kind]
                if not steps:
                    continue
                own = [steps[0]["weaker"], *(step["stronger"] for step in steps)]
                rating = np.cumsum([0.0, *(step["rating"] for step in steps)])
                error = 1.96 * np.sqrt(np.cumsum([0.0, *(step["error"] ** 2 for step in steps)]))
                at = np.array([names.index(player) for player in own]) + 0.06 * (n - 3)
                axis.errorbar(
                    at, rating, yerr=error, color=PLAYER_COUNT_COLORS[n], marker=MARKERS[n - 2], markersize=4,
                    linewidth=1.2, capsize=2, label=f"{n} players",
                )  # fmt: skip
            axis.set_xticks(range(len(names)), names)
            legend = {"fontsize": 7.5, "loc": "upper left"}
            label_panel(axis, kind, y="Elo points above the weakest", grid="y", legend=legend)
        return figure_to_svg(figure)


_FIGURES: Mapping[str, tuple[str, Callable[[Data], bytes | None]]] = {
    "forest": ("screening", forest_plot),
    "strength": ("screening", _strength),
    "use": ("screening", _use),
    "naive": ("screening", _naive),
    "pairs": ("pairs", _pairs),
    "variants": ("variants", _variants),
    "seats": ("quality", _seats),
    "covers": ("covers", _covers),
    "scores": ("quality", _scores),
    "skill": ("skill", _skill),
}
"""Section of the data and drawing function of each figure."""

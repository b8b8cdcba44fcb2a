"""Figures of a balance study as SVG, from the data of the report (`helsinki_env.evaluation.balance.helsinki.results`).

Plots that label every action give each a row, strongest first, because labels next to points would overlap.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from helsinki_env.evaluation.balance.helsinki.covers import GAME_MEASURES
from helsinki_env.evaluation.balance.helsinki.report_data import strongest_of
from helsinki_env.evaluation.figure_style import LINE_COLORS, MARKERS, PLAYER_COUNT_COLORS, figure_to_svg, styled_figure
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = ["forest_plot", "study_figures"]

Data = Mapping[str, Any]

_BAND = "#e8e8e8"
_GRID = {"color": "#dddddd", "linewidth": 0.6}
_POINTS = "win-share points (of 100 games)"
_BEYOND = f"worth beyond the average action,\n{_POINTS}"
_WORTH = f"worth of having it,\n{_POINTS}"


def study_figures(data: Data) -> dict[str, tuple[str, bytes]]:
    """Return the figures for which there is data: caption and SVG by name, in the order of the report."""
    drawn = {
        "forest": forest_plot(data),
        "strength": _strength(data),
        "use": _use(data),
        "naive": _naive(data),
        "pairs": _pairs(data),
        "variants": _variants(data),
        "confirm": _confirm(data),
        "seats": _seats(data),
        "covers": _covers(data),
        "scores": _scores(data),
        "skill": _skill(data),
    }
    return {name: (_CAPTIONS[name], picture) for name, picture in drawn.items() if picture is not None}


_CAPTIONS = {
    "forest": "How much more (right) or less (left) an action is worth than the average action. Lines: intervals that "
    "hold for all actions, numbers of players and classes of player at once. Grey: the band within which actions "
    "count as equally strong.",
    "strength": "The same against the strength of who plays: if the lines of an action rise, it needs a good player.",
    "use": "What having an action is worth, how often it is used and when, for the strongest player.",
    "naive": "Hollow: what an action seems to be worth by looking at who used it (biased: winners have more to spend). "
    "Filled: what having it is worth, as found by denying it at random.",
    "pairs": "Pairs of actions that are worth more (orange) or less (purple) together than apart. A dot marks those "
    "that are not chance (false discovery rate).",
    "variants": "Deviations with other facts where the component file is a reconstruction.",
    "confirm": "Fresh games about the suspects, deck by deck. A line that leaves the grey strip has decided.",
    "seats": "Games won by each seat when nobody is denied anything, with 95 % intervals; the line is the fair share.",
    "covers": "All 3,003 ways of covering five actions for all. Line: the set that is covered in a first game.",
    "scores": "Points of a seat at the end of the game.",
    "skill": "The ladder of players in the games of the rulebook: how far each is above the weakest, with 95 % "
    "intervals. A steeper ladder leaves more room for skill.",
}


def _name(action: str) -> str:
    return action.replace("_", " ")


def _counts(data: Data) -> list[int]:
    return sorted({entry["players"] for entry in data["screen"]})


def _of(data: Data, players: int) -> list[Data]:
    return [entry for entry in data["screen"] if entry["players"] == players]


def _column(entry: Data, key: str) -> Any:
    return np.array([np.nan if action[key] is None else action[key] for action in entry["actions"]], np.float64)


def _order(data: Data) -> Any:
    """Return the actions from weakest to strongest, by the strongest class's mean effect over numbers of players."""
    deviations = [_column(strongest_of(data, n), "deviation") for n in _counts(data)]
    return np.argsort(np.mean(deviations, axis=0), kind="stable")


def _intervals(axis: Any, values: Sequence[Any], number: int, count: int, label: str, **style: Any) -> None:
    """Draw estimates with intervals, one row for each action; `number` of `count` series that share the rows."""
    middle, low, high = values
    rows = np.arange(len(middle)) + 0.7 * ((number + 0.5) / count - 0.5)
    axis.hlines(rows, low, high, linewidth=1.5, **style)
    axis.plot(middle, rows, MARKERS[number % len(MARKERS)], markersize=4.5, label=label, zorder=3, **style)


def _name_rows(axis: Any, data: Data, order: Any, title: str, label: str, place: str = "lower right") -> None:
    axis.set_yticks(range(len(order)), [_name(data["actions"][i]) for i in order])
    axis.set_ylim(-0.6, len(order) - 0.4)
    axis.set_title(title, loc="left")
    axis.set_xlabel(label)
    axis.grid(axis="x", **_GRID)
    axis.set_axisbelow(True)
    axis.legend(frameon=False, fontsize=7.5, loc=place)


def _rows_high(each: float, rows: float = len(BOARD_ACTIONS)) -> float:
    """Return the height in inches of a figure with a row for each action."""
    return 1.3 + rows * each


def forest_plot(data: Data) -> bytes | None:
    """Draw the deviations of all actions, one panel for each number of players; None without data."""
    counts = _counts(data)
    if not counts:
        return None
    order, band = _order(data), data["study"]["band"]
    most = max(len(_of(data, n)) for n in counts)
    each = 0.2 + 0.11 * most
    # With all actions the lower right, next to the weakest, is free for the legend; with a few it may not be.
    legend = 0.0 if len(order) == len(BOARD_ACTIONS) else (0.1 + 0.16 * most) / each
    width, height = 1.6 + 2.6 * len(counts), _rows_high(each, len(order) + legend)
    with styled_figure(1, len(counts), width, height, share_x=True, share_y=True) as (figure, axes):
        for axis, n in zip(axes[0], counts, strict=True):
            axis.axvspan(-band, band, color=_BAND, zorder=0)
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=1)
            for i, entry in enumerate(entries := _of(data, n)):
                values = [_column(entry, f"deviation{end}")[order] for end in ("", "_low", "_high")]
                fade = 0.4 + 0.6 * (i + 1) / len(entries)
                _intervals(axis, values, i, len(entries), entry["player"], color=PLAYER_COUNT_COLORS[n], alpha=fade)
            _name_rows(axis, data, order, f"{n} players", _BEYOND)
            axis.set_ylim(bottom=axis.get_ylim()[0] - legend)
        return figure_to_svg(figure)


def _strength(data: Data) -> bytes | None:
    counts = [n for n in _counts(data) if len(_of(data, n)) > 1]
    if not counts:
        return None
    with styled_figure(3, 5, 9.5, 6.6, share_y=True) as (figure, axes):
        for axis, i in zip(axes.ravel(), _order(data)[::-1], strict=True):
            axis.axhspan(-data["study"]["band"], data["study"]["band"], color=_BAND, zorder=0)
            for n in counts:
                entries = _of(data, n)
                at = np.arange(len(entries)) + 0.08 * (n - 3)
                middle = [_column(entry, "deviation")[i] for entry in entries]
                error = [1.96 * _column(entry, "deviation_error")[i] for entry in entries]
                axis.errorbar(
                    at, middle, yerr=error, color=PLAYER_COUNT_COLORS[n], marker=MARKERS[n - 2], markersize=3.5,
                    linewidth=1, capsize=1.5, label=f"{n} players",
                )  # fmt: skip
            names = [entry["player"] for entry in _of(data, counts[0])]
            axis.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize=7)
            axis.set_xlim(-0.4, len(names) - 0.6)
            axis.set_title(_name(data["actions"][i]), loc="left", fontsize=8.5)
            axis.grid(axis="y", **_GRID)
            axis.set_axisbelow(True)
        figure.supylabel(f"worth beyond the average action, {_POINTS}; 95 % intervals", fontsize=9)
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper right", frameon=False, ncols=3)
        return figure_to_svg(figure)


def _use(data: Data) -> bytes | None:
    counts = _counts(data)
    if not counts:
        return None
    order = _order(data)
    panels = (
        ("power", 1, _WORTH),
        ("usage", 100, "seats that used it,\n% of those who had it"),
        ("first_use", 1, "round in which it is used,\nmean of those who used it"),
    )
    with styled_figure(1, len(panels), 1.6 + 2.6 * len(panels), _rows_high(0.3), share_y=True) as (figure, axes):
        for axis, (key, factor, label) in zip(axes[0], panels, strict=True):
            for row in range(len(order)):
                axis.axhline(row, color=_GRID["color"], linewidth=_GRID["linewidth"], zorder=0)
            for i, n in enumerate(counts):
                entry = strongest_of(data, n)
                rows = np.arange(len(order)) + 0.2 * (i - (len(counts) - 1) / 2)
                axis.plot(
                    factor * _column(entry, key)[order], rows, MARKERS[n - 2], color=PLAYER_COUNT_COLORS[n],
                    markersize=4.5, label=f"{n} players, {entry['player']}",
                )  # fmt: skip
            _name_rows(axis, data, order, "", label)
            if axis is not axes[0, 0]:
                axis.get_legend().remove()
        return figure_to_svg(figure)


def _naive(data: Data) -> bytes | None:
    counts = _counts(data)
    if not counts:
        return None
    order = _order(data)
    rows = np.arange(len(order))
    with styled_figure(1, len(counts), 1.6 + 2.6 * len(counts), _rows_high(0.22), share_x=True, share_y=True) as (
        figure,
        axes,
    ):
        for axis, n in zip(axes[0], counts, strict=True):
            entry = strongest_of(data, n)
            naive, power = (_column(entry, key)[order] for key in ("naive", "power"))
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=0)
            axis.hlines(rows, naive, power, color="#aaaaaa", linewidth=1, zorder=1)
            style = {"color": PLAYER_COUNT_COLORS[n], "markersize": 5}
            axis.plot(naive, rows, "o", fillstyle="none", label="seems, by who used it", **style)
            axis.plot(power, rows, "o", label="is, by denying it", **style)
            _name_rows(axis, data, order, f"{n} players, {entry['player']}", _POINTS, "upper left")
        return figure_to_svg(figure)


def _pairs(data: Data) -> bytes | None:
    found = [entry for entry in data["pairs"] if "left_out" not in entry]
    if not found:
        return None
    names = [_name(action) for action in data["actions"]]
    with styled_figure(1, len(found), 1.7 + 3.5 * len(found), 4.6, share_y=True) as (figure, axes):
        widest = max(float(np.abs(entry["pair"]).max()) for entry in found) or 1.0
        for axis, entry in zip(axes[0], found, strict=True):
            image = axis.imshow(np.array(entry["pair"]), cmap="PuOr_r", vmin=-widest, vmax=widest)
            for pair in entry["found"]:
                i, j = (data["actions"].index(action) for action in pair["actions"])
                axis.plot([i, j], [j, i], "k.", markersize=4)
            axis.set_xticks(range(15), names, rotation=90, fontsize=7)
            axis.set_yticks(range(15), names, fontsize=7)
            axis.tick_params(length=0)
            axis.spines[:].set_visible(False)
            axis.set_title(f"{entry['players']} players, {entry['player']}", loc="left")
        figure.colorbar(image, ax=list(axes[0]), label=f"worth more together, {_POINTS}", fraction=0.03)
        return figure_to_svg(figure)


def _variants(data: Data) -> bytes | None:
    found = data["variants"]
    if not found or not data["screen"]:  # the screening experiment sets the order
        return None
    counts = sorted({entry["players"] for entry in found})
    names = list(dict.fromkeys(entry["components"] for entry in found))
    order, band = _order(data), data["study"]["band"]
    width, height = 1.6 + 2.6 * len(counts), _rows_high(0.2 + 0.1 * len(names))
    with styled_figure(1, len(counts), width, height, share_x=True, share_y=True) as (figure, axes):
        for axis, n in zip(axes[0], counts, strict=True):
            axis.axvspan(-band, band, color=_BAND, zorder=0)
            axis.axvline(0, color="#999999", linewidth=0.8, zorder=1)
            for entry in (entry for entry in found if entry["players"] == n):
                i = names.index(entry["components"])
                values = [np.array(entry[key])[order] for key in ("deviation", "low", "high")]
                _intervals(axis, values, i, len(names), entry["components"], color=LINE_COLORS[i % len(LINE_COLORS)])
            _name_rows(axis, data, order, f"{n} players, {found[0]['player']}", _BEYOND)
        return figure_to_svg(figure)


def _confirm(data: Data) -> bytes | None:
    tested = [entry for entry in data["confirm"] if entry["way"] != "forced"]
    if not tested:
        return None
    counts = sorted({entry["players"] for entry in tested})
    with styled_figure(1, len(counts), 1 + 3.1 * len(counts), 3.4, share_y=True) as (figure, axes):
        for axis, n in zip(axes[0], counts, strict=True):
            low, high = tested[0]["bounds"]
            axis.axhspan(low, high, color=_BAND, zorder=0)
            own = [entry for entry in tested if entry["players"] == n]
            suspects = list(dict.fromkeys(entry["action"] for entry in own))
            for entry in own:
                path = np.array(entry["path"])
                i = suspects.index(entry["action"])
                style = "-" if entry["way"] == "denied" else "--"
                label = f"{_name(entry['action'])}, {'denied' if entry['way'] == 'denied' else 'alone with it'}"
                axis.plot(
                    path[:, 0], path[:, 1], style, color=LINE_COLORS[i % len(LINE_COLORS)], linewidth=1.2, label=label
                )
            axis.set_ylim(3 * low, 3 * high)
            axis.set_xlabel("decks played")
            axis.set_ylabel("log likelihood ratio")
            axis.set_title(f"{n} players", loc="left")
            axis.grid(**_GRID)
            axis.legend(frameon=False, fontsize=6.5)
        return figure_to_svg(figure)


def _seats(data: Data) -> bytes | None:
    games = [entry for entry in data["quality"] if entry["game"] == "base game"]
    if not games:
        return None
    counts = sorted({entry["players"] for entry in games})
    with styled_figure(1, len(counts), 1 + 2.5 * len(counts), 3.0) as (figure, axes):
        for axis, n in zip(axes[0], counts, strict=True):
            own = [entry for entry in games if entry["players"] == n]
            width = 0.8 / len(own)
            for i, entry in enumerate(own):
                at = np.arange(n) + width * (i - (len(own) - 1) / 2)
                fade = 0.35 + 0.65 * (i + 1) / len(own)
                axis.bar(
                    at, entry["seats"]["share"], 0.9 * width, yerr=1.96 * np.array(entry["seats"]["error"]),
                    color=PLAYER_COUNT_COLORS[n], alpha=fade, capsize=2, label=entry["player"],
                )  # fmt: skip
            axis.axhline(100 / n, color="#444444", linewidth=0.8)
            axis.set_xticks(range(n), [f"seat {seat + 1}" for seat in range(n)])
            axis.set_ylabel("games won, %")
            axis.set_ylim(0, 150 / n)
            axis.set_title(f"{n} players", loc="left")
            axis.legend(frameon=False, fontsize=7, loc="upper center", ncols=2)
        return figure_to_svg(figure)


def _covers(data: Data) -> bytes | None:
    found = data["covers"]
    if not found:
        return None
    with styled_figure(len(found), len(GAME_MEASURES), 1 + 2.4 * len(GAME_MEASURES), 0.5 + 2.2 * len(found)) as (
        figure,
        axes,
    ):
        for row, entry in zip(axes, found, strict=True):
            for axis, (measure, unit) in zip(row, GAME_MEASURES.items(), strict=True):
                values = np.array(entry["distribution"][measure])
                axis.hist(values, _bars(values), color=PLAYER_COUNT_COLORS[entry["players"]])
                if entry["first_game"]:
                    axis.axvline(entry["first_game"][measure]["mean"], color="black", linewidth=1.2)
                axis.set_xlabel(_wrapped(unit), fontsize=8)
                axis.set_ylabel("sets of five")
                axis.set_title(f"{entry['players']} players", loc="left")
        return figure_to_svg(figure)


def _bars(values: Any, most: int = 40) -> Any:
    """Return bin edges with equally many possible values per bin: means of few games lie on a lattice."""
    seen = np.unique(values)
    if len(seen) < 2:
        return 1
    step = float(np.median(np.diff(seen)))  # values are rounded in the data
    width = step * np.ceil((seen[-1] - seen[0]) / step / most)
    return np.arange(seen[0] - step / 2, seen[-1] + width, width)


def _wrapped(text: str, width: int = 30) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _scores(data: Data) -> bytes | None:
    found = data["quality"]
    if not found:
        return None
    counts = sorted({entry["players"] for entry in found})
    kinds: Sequence[str] = list(dict.fromkeys(entry["game"] for entry in found))
    with styled_figure(1, len(counts), 1 + 2.9 * len(counts), 3.0, share_y=True) as (figure, axes):
        for axis, n in zip(axes[0], counts, strict=True):
            for i, kind in enumerate(kinds):
                own = [entry for entry in found if (entry["players"], entry["game"]) == (n, kind)]
                if own:
                    scores = np.array(own[-1]["scores"], np.float64)
                    axis.plot(
                        np.arange(len(scores)),
                        100 * scores / scores.sum(),
                        color=LINE_COLORS[i],
                        linewidth=1.3,
                        label=kind,
                    )
            axis.set_xlabel("points of a seat")
            axis.set_ylabel("seats, %")
            axis.set_title(f"{n} players, {own[-1]['player'] if own else ''}", loc="left")
            axis.grid(**_GRID)
            axis.legend(frameon=False, fontsize=7.5)
        return figure_to_svg(figure)


def _skill(data: Data) -> bytes | None:
    found = data["skill"]
    if not found:
        return None
    kinds = list(dict.fromkeys(entry["game"] for entry in found))
    counts = sorted({entry["players"] for entry in found})
    with styled_figure(1, len(kinds), 1 + 2.6 * len(kinds), 3.0, share_y=True) as (figure, axes):
        for axis, kind in zip(axes[0], kinds, strict=True):
            for n in counts:
                steps = [entry for entry in found if (entry["game"], entry["players"]) == (kind, n)]
                if not steps:
                    continue
                names = [steps[0]["weaker"], *(step["stronger"] for step in steps)]
                rating = np.cumsum([0.0, *(step["rating"] for step in steps)])
                error = 1.96 * np.sqrt(np.cumsum([0.0, *(step["error"] ** 2 for step in steps)]))
                at = np.arange(len(names)) + 0.06 * (n - 3)
                axis.errorbar(
                    at, rating, yerr=error, color=PLAYER_COUNT_COLORS[n], marker=MARKERS[n - 2], markersize=4,
                    linewidth=1.2, capsize=2, label=f"{n} players",
                )  # fmt: skip
            axis.set_xticks(range(len(names)), names)
            axis.set_ylabel(f"Elo points above {names[0]}")
            axis.set_title(kind, loc="left")
            axis.grid(axis="y", **_GRID)
            axis.legend(frameon=False, fontsize=7.5, loc="upper left")
        return figure_to_svg(figure)

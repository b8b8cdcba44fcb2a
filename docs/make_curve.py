"""Collect learning curves of finished training runs in docs/curves.json, and draw them.

python docs/make_curve.py add quick runs/quick-0 runs/quick-1 runs/quick-2
python docs/make_curve.py draw docs/images
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from helsinki_env.data import UserError, read_json
from helsinki_env.evaluation.figure_style import LINE_COLORS, MARKERS, figure_to_svg, label_panel, styled_figure
from helsinki_env.utils.files import atomic_write, write_json

CURVES = Path(__file__).parent / "curves.json"


def add(preset: str, runs: list[Path]) -> None:
    """Add the win rates of runs against `heuristic`, in %, by minutes, self-play steps and player count."""
    curves: dict[str, Any] = read_json(CURVES, UserError).value if CURVES.exists() else {}
    for run in runs:
        summary, curve = (read_json(run / name, UserError).value for name in ("summary.json", "curve.json"))
        points = [
            {"minutes": round(one["seconds"] / 60, 1), "steps": one["decisions"], "won": against_heuristic(one)}
            for one in curve
        ]
        found = {"minutes": round(summary["seconds"] / 60), "points": points, "final": against_heuristic(summary)}
        curves.setdefault(preset, {})[str(summary["seed"])] = found
    write_json(CURVES, curves)


def against_heuristic(measured: dict[str, Any]) -> dict[str, float]:
    """Return the percentage of games won against `heuristic` by player count."""
    games = [one for one in measured["results"] if one["opponent"] == "heuristic"]
    return {str(one["players"]): round(100 * one["share"], 1) for one in games}


def draw(preset: str, runs: dict[str, Any]) -> bytes:
    """Return an SVG figure with one panel per player count and one line per seed."""
    counts = sorted({count for run in runs.values() for count in run["points"][0]["won"]})
    with styled_figure(1, len(counts), 1.4 + 2.2 * len(counts), 2.8, share_y=True) as (figure, panels):
        for axis, count in zip(panels[0], counts, strict=True):
            for i, (seed, run) in enumerate(sorted(runs.items(), key=lambda one: int(one[0]))):
                progress = [point["minutes"] for point in run["points"]]
                won = [point["won"][count] for point in run["points"]]
                style = {
                    "color": LINE_COLORS[i % len(LINE_COLORS)],
                    "marker": MARKERS[i % len(MARKERS)],
                    "markersize": 4,
                }
                axis.plot(progress, won, **style, label=f"seed {seed}")
            axis.axhline(100 / int(count), color="#888888", linestyle="--", linewidth=1)
            axis.set_xlim(left=0)
            axis.set_ylim(0, 100)
            last = {"loc": "lower right", "fontsize": 7.5} if axis is panels[0, -1] else None
            label_panel(axis, f"{preset}, {count} players", "minutes", legend=last)
        panels[0, 0].set_ylabel("games won in %")
        return figure_to_svg(figure)


def main() -> None:
    """Run a command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    collect = commands.add_parser("add", help="add finished runs to docs/curves.json")
    collect.add_argument("preset", help="name of the preset")
    collect.add_argument("runs", type=Path, nargs="+", help="folders of training runs")
    commands.add_parser("draw", help="draw all curves").add_argument("folder", type=Path, help="folder for the figures")
    arguments = parser.parse_args()
    if arguments.command == "add":
        add(arguments.preset, arguments.runs)
        return
    for preset, runs in read_json(CURVES, UserError).value.items():
        with atomic_write(arguments.folder / f"curve-{preset}.svg") as file:
            file.write(draw(preset, runs))


if __name__ == "__main__":
    main()

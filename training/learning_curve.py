"""Plot of the learning curve of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from helsinki_env.data import read_json, shorten
from helsinki_env.evaluation.figure_style import LINE_COLORS, MARKERS, figure_to_svg, label_panel, styled_figure
from helsinki_env.training.checkpoint_io import check_curve
from helsinki_env.training.run import RunError
from helsinki_env.utils.files import is_file

__all__ = ["draw_curve"]


def draw_curve(folder: str | Path) -> str:
    """Plot the win rate against each opponent over training, as SVG, with one panel per player count.

    Bars are 95% confidence intervals; the dashed line is the chance level.

    Args:
        folder: folder of a finished or unfinished training run.

    Raises:
        RunError: if the run has no evaluation yet, or if `curve.json` is invalid.
        MissingExtraError: if Matplotlib is not installed.
    """
    path = Path(folder) / "curve.json"
    curve = check_curve(read_json(path, RunError)) if is_file(path) else []
    if not curve:
        raise RunError(
            f"{shorten(folder)}: found no {path.name} with evaluations; the first evaluation follows pretraining"
        )
    counts = list(dict.fromkeys(result["players"] for result in curve[-1]["results"]))
    with styled_figure(1, len(counts), 1.2 + 4.4 * len(counts), 3.2, share_y=True) as (figure, axes):
        for axis, count in zip(axes[0], counts, strict=True):
            _panel(axis, curve, count)
        axes[0, 0].set_ylabel("games won in %, with 95% interval")
        return figure_to_svg(figure).decode()


def _panel(axis: Any, curve: list[dict[str, Any]], count: int) -> None:
    """Draw the panel for one player count."""
    names = [result["opponent"] for result in curve[-1]["results"] if result["players"] == count]
    for number, name in enumerate(names):
        entries = [
            (entry["decisions"], result)
            for entry in curve
            for result in entry["results"]
            if (result["players"], result["opponent"]) == (count, name)
        ]
        share = [100 * result["share"] for _, result in entries]
        axis.errorbar(
            [decisions for decisions, _ in entries],
            share,
            yerr=[
                [mean - 100 * result["low"] for mean, (_, result) in zip(share, entries, strict=True)],
                [100 * result["high"] - mean for mean, (_, result) in zip(share, entries, strict=True)],
            ],
            color=LINE_COLORS[number % len(LINE_COLORS)],
            marker=MARKERS[number % len(MARKERS)],
            markersize=5,
            linewidth=1.2,
            capsize=2.5,
            label=f"against {name}, {entries[-1][1]['games']:,} games",
        )
    axis.axhline(100 / count, color="#999999", linewidth=0.8, linestyle="--", zorder=0)
    axis.set_ylim(0, 103)
    steps = "self-play steps (0: after pretraining)"
    label_panel(axis, f"{count} players", steps, grid="y", legend={"loc": "lower right"})

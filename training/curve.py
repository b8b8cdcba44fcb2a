"""The curve of a run as a figure: how strong the learner was each time it was measured."""

from __future__ import annotations

import json
from io import BytesIO
from pathlib import Path
from typing import Any

from training.run import RunError

__all__ = ["draw_curve"]

#: Of Okabe and Ito 2008, "Color Universal Design": the colour-blind can tell them apart.
_LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS = "osD^vPX"
_STYLE: Any = {
    "svg.hashsalt": "curve",  # names inside the file come from this instead of chance
    "font.family": "DejaVu Sans",  # comes with Matplotlib: the same everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
}


def draw_curve(folder: str | Path) -> str:
    """Return the share of games won against each opponent over training as SVG, one panel for each player count.

    Args:
        folder: of a training run, finished or not. Intervals are 95 % intervals; the dashed line is a fair share.

    Raises:
        RunError: if the run has not been measured yet, or Matplotlib is missing.
    """
    path = Path(folder) / "curve.json"
    curve = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    if not curve:
        raise RunError(f"{folder}: found no {path.name} with measurements; the first one follows the warm start")
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as missing:
        raise RunError(f"figures need Matplotlib ({missing}): pip install 'helsinki-env[arena]'") from missing
    counts = list(dict.fromkeys(found["players"] for found in curve[-1]["standings"]))
    with mpl.rc_context({**mpl.rcParamsDefault, "backend": mpl.get_backend(), **_STYLE}):
        figure = Figure(figsize=(1.2 + 4.4 * len(counts), 3.2))
        FigureCanvasAgg(figure)
        axes = figure.subplots(1, len(counts), squeeze=False, sharey=True)[0]
        for axis, count in zip(axes, counts, strict=True):
            _panel(axis, curve, count)
        axes[0].set_ylabel("games won in %, with 95 % interval")
        content = BytesIO()
        figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    return content.getvalue().decode()


def _panel(axis: Any, curve: list[dict[str, Any]], count: int) -> None:
    """Draw what was measured with so many players."""
    names = [found["opponent"] for found in curve[-1]["standings"] if found["players"] == count]
    for number, name in enumerate(names):
        entries = [
            (entry["decisions"], found)
            for entry in curve
            for found in entry["standings"]
            if (found["players"], found["opponent"]) == (count, name)
        ]
        share = [100 * found["share"] for _, found in entries]
        axis.errorbar(
            [decisions for decisions, _ in entries],
            share,
            yerr=[
                [mean - 100 * found["low"] for mean, (_, found) in zip(share, entries, strict=True)],
                [100 * found["high"] - mean for mean, (_, found) in zip(share, entries, strict=True)],
            ],
            color=_LINES[number % len(_LINES)],
            marker=_MARKERS[number % len(_MARKERS)],
            markersize=5,
            linewidth=1.2,
            capsize=2.5,
            label=f"against {name}, {entries[-1][1]['games']:,} games",
        )
    axis.axhline(100 / count, color="#999999", linewidth=0.8, linestyle="--", zorder=0)
    axis.set_ylim(0, 103)
    axis.grid(axis="y", color="#dddddd", linewidth=0.6)
    axis.set_axisbelow(True)
    axis.set_title(f"{count} players", loc="left")
    axis.set_xlabel("decisions of its own learnt from (0: after the warm start)")
    axis.legend(frameon=False, loc="lower right")

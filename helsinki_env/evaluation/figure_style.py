"""Matplotlib style for figures that are colorblind-safe, readable in print, and byte-for-byte reproducible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from helsinki_env.utils.extras import requires_extra

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAYER_COUNT_COLORS = {2: "#0072B2", 3: "#D55E00", 4: "#009E73"}
"""Color for each player count: blue, vermilion and green of Okabe and Ito 2008, "Color Universal Design"."""
LINE_COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colors for the lines in a panel: the eight colors of Okabe and Ito except yellow, which is too pale on white."""
MARKERS = "osD^vPX"
GRID = {"color": "#dddddd", "linewidth": 0.6}
_STYLE: Any = {
    "svg.hashsalt": "ratings",  # makes element ids deterministic
    "text.parse_math": False,  # show $ literally
    "font.family": "DejaVu Sans",  # bundled with Matplotlib
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.hspace": 0.06,
}


@contextmanager
def styled_figure(
    rows: int, columns: int, width: float, height: float, *, share_x: bool = False, share_y: bool = False
) -> Iterator[tuple[Figure, Any]]:
    """Yield a figure with the given width and height in inches, and its panels, (rows, columns)."""
    with requires_extra("stats"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    with mpl.rc_context({**mpl.rcParamsDefault, "backend": mpl.get_backend(), **_STYLE}):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)


def label_panel(axis: Any, title: str, x: str = "", y: str = "", grid: str | None = "both", legend: Any = 7.5) -> None:
    """Set the title, axis labels, grid and legend of a panel. `legend` is a font size or a dict of options."""
    axis.set_title(title, loc="left")
    axis.set_xlabel(x)
    axis.set_ylabel(y)
    if grid:
        axis.grid(axis=grid, **GRID)
        axis.set_axisbelow(True)
    if legend:
        axis.legend(frameon=False, **(legend if isinstance(legend, dict) else {"fontsize": legend}))


def figure_to_svg(figure: Figure) -> bytes:
    """Render a figure as SVG."""
    content = BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    return content.getvalue()

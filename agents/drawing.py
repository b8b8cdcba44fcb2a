"""How figures are drawn: colours that the colour-blind can tell apart, readable in print, the same bytes every time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from helsinki_env.extras import needs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LINES", "MARKERS", "OF_PLAYERS", "drawing", "svg"]

OF_PLAYERS = {2: "#0072B2", 3: "#D55E00", 4: "#009E73"}
"""The colour of each number of players; blue, vermilion and green of Okabe and Ito 2008, "Color Universal Design"."""
LINES = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Lines of one panel: all eight colours of theirs but yellow, which is too pale on white."""
MARKERS = "osD^vPX"
_STYLE: Any = {
    "svg.hashsalt": "ratings",  # names inside the file come from this instead of chance
    "text.parse_math": False,  # a name is no formula, whatever is in it
    "font.family": "DejaVu Sans",  # comes with Matplotlib: the same everywhere
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.hspace": 0.06,
}


@contextmanager
def drawing(
    rows: int, columns: int, width: float, height: float, *, share_x: bool = False, share_y: bool = False
) -> Iterator[tuple[Figure, Any]]:
    """Give a figure of so many inches and its panels, (rows, columns), in the project's style.

    Args:
        rows: of panels.
        columns: of panels.
        width: of the figure.
        height: of the figure.
        share_x: whether all panels have the same scale from left to right.
        share_y: likewise from bottom to top.

    Raises:
        MissingExtraError: if Matplotlib is not installed.
    """
    with needs("arena"):
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    with mpl.rc_context({**mpl.rcParamsDefault, "backend": mpl.get_backend(), **_STYLE}):
        figure = Figure(figsize=(width, height))
        FigureCanvasAgg(figure)
        yield figure, figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)


def svg(figure: Figure) -> bytes:
    """Return a figure as SVG."""
    content = BytesIO()
    figure.savefig(content, format="svg", metadata={"Date": None, "Creator": None})
    return content.getvalue()

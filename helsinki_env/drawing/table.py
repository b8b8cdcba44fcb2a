"""The background of any table."""

from __future__ import annotations

from helsinki_env.drawing import palette
from helsinki_env.drawing.canvas import Canvas

__all__ = ["MARGIN", "PANEL_GAP", "PICTURE_WIDTH", "TOP", "sea"]

PICTURE_WIDTH = 1200.0
MARGIN = 18.0
PANEL_GAP = 16.0
TOP = 62.0


def sea(canvas: Canvas, height: float) -> None:
    """Draw the water behind the panels of a table of this height."""
    canvas.rect(
        -9, -9, PICTURE_WIDTH + 18, height + 18, fill=palette.SEA
    )  # beyond the edge, to avoid half-covered pixels
    waves = "".join(f"M{250 + 40 * (row % 2)} {14 + 15 * row}" + "q8-6 16 0t16 0m36 0" * 10 for row in range(4))
    canvas.path(waves, stroke=palette.SEA_LIGHT, stroke_width=1.4, stroke_opacity=0.55)

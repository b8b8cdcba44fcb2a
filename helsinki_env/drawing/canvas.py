"""SVG writer: presentation attributes only, no ids or style sheets, so that several pictures can share a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from xml.sax.saxutils import escape, quoteattr

from helsinki_env.drawing import palette
from helsinki_env.drawing.glyphs import UNITS_PER_EM, fit_text, num, outline, text_width
from helsinki_env.utils.markdown import printable

REGULAR, BOLD = 2.0, 2.9
"""Stroke widths of the letters in grid units of the stroke font."""


Box = tuple[float, float, float, float]
"""The x, y, width and height of a rectangle, in pixels of the picture."""


class Picture(str):
    """An SVG document.

    Attributes:
        size: width and height in pixels.
        spots: named regions, (x, y, width, height) each.
    """

    size: tuple[float, float]
    spots: dict[str, Box]


class Canvas:
    """Collects the elements of one picture.

    Coordinates are pixels of the drawing, y downwards. Attributes are keywords with ``_`` for ``-``.

    Attributes:
        spots: named regions, (x, y, width, height) each; not part of the picture.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.spots: dict[str, Box] = {}

    def spot(self, name: str, x: float, y: float, width: float, height: float) -> None:
        """Register a named region, in pixels of the whole picture; the first of a name counts."""
        self.spots.setdefault(name, (round(x, 1), round(y, 1), round(width, 1), round(height, 1)))

    def element(self, name: str, attributes: dict[str, str | float | None]) -> None:
        """Add an element; attributes that are None are omitted."""
        self._parts.append(f"<{name}{_attributes(attributes)}/>")

    def rect(
        self, x: float, y: float, width: float, height: float, *, r: float = 0, **style: str | float | None
    ) -> None:
        """Add a rectangle with corners of radius `r`."""
        self.element("rect", {"x": x, "y": y, "width": width, "height": height, "rx": r or None, **style})

    def circle(self, x: float, y: float, r: float, **style: str | float | None) -> None:
        """Add a circle around (x, y)."""
        self.element("circle", {"cx": x, "cy": y, "r": r, **style})

    def path(self, data: str, **style: str | float | None) -> None:
        """Add a path."""
        self.element("path", {"d": data, **style})

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float,
        *,
        fill: str = palette.INK,
        anchor: str = "start",
        weight: float = REGULAR,
        width: float | None = None,
        smallest: float = 9.0,
        turn: int = 0,
    ) -> float:
        """Add one line of text as strokes and return its width in pixels.

        (x, y) is on the baseline; `anchor` is start, middle or end. Text wider than `width` is made smaller, then cut.
        `turn` is 0, 90 or -90 degrees clockwise around (x, y).
        """
        text = printable(text)
        if width is not None:
            text, size = fit_text(text, size, width, smallest)
        data, units = outline(text)
        if not data:
            return 0.0
        scale = size / UNITS_PER_EM
        shift = {"start": 0.0, "middle": -units / 2, "end": -units}[anchor]
        if not turn:
            x += shift * scale
        elif turn == 90:
            y += shift * scale
        else:
            y -= shift * scale
        place = f"translate({num(round(x, 1))} {num(round(y, 1))})"
        if turn:
            place += f"rotate({turn})"
        bold = "" if weight == REGULAR else f' stroke-width="{num(weight)}"'
        self._parts.append(
            f'<path aria-label={quoteattr(text)} d="{data}" transform="{place}scale({num(scale)})" '
            f'stroke="{fill}"{bold}/>'
        )
        return units * scale

    @contextmanager
    def group(self, title: str | None = None, **attributes: str | float | None) -> Iterator[None]:
        """Group the elements added inside; browsers show `title` as a tooltip."""
        self._parts.append(f"<g{_attributes(attributes)}>")
        if title:
            self._parts.append(f"<title>{escape(printable(title))}</title>")
        yield
        self._parts.append("</g>")

    def picture(self, width: float, height: float, title: str, text: str) -> Picture:
        """Return the whole SVG document, with a title and a description for screen readers."""
        picture = Picture(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 '
            f'{num(width)} {num(height)}" '
            f'width="{num(width)}" height="{num(height)}" role="img" fill="none" '
            f'stroke-width="{num(REGULAR)}" stroke-linecap="round" stroke-linejoin="round">'
            f"<title>{escape(printable(title))}</title><desc>{escape(printable(text))}</desc>"
            f"{''.join(self._parts)}</svg>"
        )
        picture.size, picture.spots = (float(width), float(height)), self.spots
        return picture


def transform(x: float, y: float, scale: float) -> str:
    """Return the transformation that moves (0, 0) to (x, y) after scaling."""
    return f"translate({num(x)} {num(y)})scale({num(scale)})"


def _attributes(attributes: dict[str, str | float | None]) -> str:
    return "".join([_attribute(key, value) for key, value in attributes.items() if value is not None])


@lru_cache(maxsize=1 << 15)
def _attribute(key: str, value: str | float) -> str:
    text = value if isinstance(value, str) else num(value)
    return f" {key.replace('_', '-')}={quoteattr(text)}"


__all__ = [
    "BOLD",
    "MARGIN",
    "PANEL_GAP",
    "PICTURE_WIDTH",
    "REGULAR",
    "TOP",
    "Box",
    "Canvas",
    "Picture",
    "num",
    "sea",
    "text_width",
    "transform",
]

# the background of any table, in pixels

PICTURE_WIDTH = 1200.0
MARGIN = 18.0
PANEL_GAP = 16.0
TOP = 62.0


def sea(canvas: Canvas, height: float) -> None:
    """Draw the water behind the panels of a table of this height."""
    # beyond the edge, to avoid half-covered pixels
    canvas.rect(-9, -9, PICTURE_WIDTH + 18, height + 18, fill=palette.SEA)
    waves = "".join(f"M{250 + 40 * (row % 2)} {14 + 15 * row}" + "q8-6 16 0t16 0m36 0" * 10 for row in range(4))
    canvas.path(waves, stroke=palette.SEA_LIGHT, stroke_width=1.4, stroke_opacity=0.55)

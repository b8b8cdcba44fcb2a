"""Write SVG pictures with presentation attributes only, without ids or style sheets, so that a page can hold several.

Text is drawn in a small stroke font, so that pictures look the same on machines without any fonts. Glyphs are single
strokes on a grid with y pointing downward and the baseline at y = 0. Capitals are 14 units high, lowercase letters 10,
and descenders 4. A glyph is SVG path data whose first command is ``M``; later commands are relative or ``M``. An
advance is the width of the glyph plus `LETTER_SPACING`. Characters without a glyph are drawn without their accent, or
else as an empty box.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast
from xml.sax.saxutils import escape, quoteattr

from helsinki_env.drawing import palette
from helsinki_env.utils.markdown import printable

REGULAR, BOLD = 2.0, 2.9
"""Stroke widths of the letters, in grid units of the stroke font."""


Drawing = TypeVar("Drawing", bound=Callable[..., None])

Box = tuple[float, float, float, float]
"""The x, y, width and height of a rectangle, in pixels of the picture."""


class Picture(str):
    """An SVG document.

    Attributes:
        size: width and height in pixels.
        spots: named regions, each (x, y, width, height).
    """

    size: tuple[float, float]
    spots: dict[str, Box]


class Canvas:
    """A canvas that collects the elements of one picture.

    Coordinates are pixels, with y pointing downward. SVG attributes are passed as keyword arguments, with ``_`` in
    place of ``-``.

    Attributes:
        spots: named regions, each (x, y, width, height), which are not drawn.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.spots: dict[str, Box] = {}

    def spot(self, name: str, x: float, y: float, width: float, height: float) -> None:
        """Register a named region, in pixels of the whole picture, unless the name is already in use."""
        self.spots.setdefault(name, (round(x, 1), round(y, 1), round(width, 1), round(height, 1)))

    def element(self, name: str, attributes: dict[str, str | float | None]) -> None:
        """Add an SVG element. Attributes with the value None are omitted."""
        self._parts.append(f"<{name}{_attributes(attributes)}/>")

    def rect(
        self, x: float, y: float, width: float, height: float, *, r: float = 0, **style: str | float | None
    ) -> None:
        """Add a rectangle with corners of radius `r`."""
        self.element("rect", {"x": x, "y": y, "width": width, "height": height, "rx": r or None, **style})

    def circle(self, x: float, y: float, r: float, **style: str | float | None) -> None:
        """Add a circle centered at (x, y)."""
        self.element("circle", {"cx": x, "cy": y, "r": r, **style})

    def path(self, data: str, **style: str | float | None) -> None:
        """Add a path with the given path data."""
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
        """Add one line of text as strokes, and return its width in pixels.

        (x, y) is the start, middle or end of the baseline, depending on `anchor`. If the text is wider than `width`, it
        is reduced, at most to size `smallest`, and then cut. `turn` rotates the text around (x, y): 0, 90 or -90
        degrees clockwise.
        """
        element, drawn = _text(x, y, text, size, fill, anchor, weight, width, smallest, turn)
        self._parts.append(element)
        return drawn

    def add(self, elements: str, spots: dict[str, Box]) -> None:
        """Add the elements and regions of another canvas."""
        self._parts.append(elements)
        for name, box in spots.items():
            self.spots.setdefault(name, box)

    @contextmanager
    def group(self, title: str | None = None, **attributes: str | float | None) -> Iterator[None]:
        """Group the elements that are added within the context. Browsers show `title` as a tooltip."""
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


def reused(draw: Drawing) -> Drawing:
    """Decorate a function that draws on a canvas: equal, hashable arguments are drawn once and then copied."""

    @lru_cache(maxsize=1 << 11)
    def drawn(*args: Any, **kwargs: Any) -> tuple[str, dict[str, Box]]:
        canvas = Canvas()
        draw(canvas, *args, **kwargs)
        return "".join(canvas._parts), canvas.spots

    @wraps(draw)
    def draw_again(canvas: Canvas, *args: Any, **kwargs: Any) -> None:
        canvas.add(*drawn(*args, **kwargs))

    return cast(Drawing, draw_again)


def transform(x: float, y: float, scale: float) -> str:
    """Return the SVG transformation that scales a drawing and moves its origin to (x, y)."""
    return f"translate({num(x)} {num(y)})scale({num(scale)})"


def _attributes(attributes: dict[str, str | float | None]) -> str:
    return "".join([_attribute(key, value) for key, value in attributes.items() if value is not None])


@lru_cache(maxsize=1 << 15)
def _attribute(key: str, value: str | float) -> str:
    text = value if isinstance(value, str) else num(value)
    return f" {key.replace('_', '-')}={quoteattr(text)}"


@lru_cache(maxsize=1 << 13)
def _text(
    x: float,
    y: float,
    text: str,
    size: float,
    fill: str,
    anchor: str,
    weight: float,
    width: float | None,
    smallest: float,
    turn: int,
) -> tuple[str, float]:
    """Return one line of text as an element, and its width in pixels; see `Canvas.text`."""
    label = text = printable(text)
    if width is not None:
        text, size = fit_text(text, size, width, smallest)
    data, units = outline(text)
    if not data:
        return "", 0.0
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
    element = (
        f'<path aria-label={quoteattr(label)} d="{data}" transform="{place}scale({num(scale)})" stroke="{fill}"{bold}/>'
    )
    return element, units * scale


# the background of any table, in pixels

PICTURE_WIDTH = 1200.0
MARGIN = 18.0
PANEL_GAP = 16.0
TOP = 62.0


def sea(canvas: Canvas, height: float) -> None:
    """Draw the water in the background of a table of this height."""
    # The rectangle extends beyond the edge to avoid partially covered pixels.
    canvas.rect(-9, -9, PICTURE_WIDTH + 18, height + 18, fill=palette.SEA)
    waves = "".join(f"M{250 + 40 * (row % 2)} {14 + 15 * row}" + "q8-6 16 0t16 0m36 0" * 10 for row in range(4))
    canvas.path(waves, stroke=palette.SEA_LIGHT, stroke_width=1.4, stroke_opacity=0.55)


# the stroke font

UNITS_PER_EM = 20.0
"""Number of grid units in one em. In text of size 10, capitals are 7 pixels high."""

LETTER_SPACING = 4.0
"""Space between the stroke centers of two glyphs, in grid units."""

_BOWL = "M0-6a4 4 0 0 1 8 0v2a4 4 0 0 1-8 0z"
_DOT = "h.01"

# character: (width, path)
_GLYPHS: dict[str, tuple[float, str]] = {
    " ": (2.5, ""),
    "a": (8, _BOWL + "M8-10v10"),
    "b": (8, _BOWL + "M0-14v14"),
    "c": (7.4, "M7.4-8.1a4 4 0 0 0-7.4 2.1v2a4 4 0 0 0 7.4 2.1"),
    "d": (8, _BOWL + "M8-14v14"),
    "e": (8, "M0-5h8v-1a4 4 0 0 0-8 0v2a4 4 0 0 0 7.2 2.4"),
    "f": (5.2, "M6-14h-1a3 3 0 0 0-3 3v11M0-9.6h5"),
    "g": (8, _BOWL + "M8-10v10a4 4 0 0 1-7.2 2.4"),
    "h": (8, "M0-14v14M0-6a4 4 0 0 1 8 0v6"),
    "i": (0, "M0-10v10M0-13.6" + _DOT),
    "j": (1.5, "M1.5-10v11a3 3 0 0 1-3 3M1.5-13.6" + _DOT),
    "k": (7, "M0-14v14M6.6-10l-6.6 5.8M2.6-6.4l4.6 6.4"),
    "l": (2, "M0-14v11.5a2.5 2.5 0 0 0 2.5 2.5"),
    "m": (13, "M0-10v10M0-6.7a3.25 3.25 0 0 1 6.5 0v6.7M6.5-6.7a3.25 3.25 0 0 1 6.5 0v6.7"),
    "n": (8, "M0-10v10M0-6a4 4 0 0 1 8 0v6"),
    "o": (8, _BOWL),
    "p": (8, _BOWL + "M0-10v14"),
    "q": (8, _BOWL + "M8-10v14"),
    "r": (4.6, "M0-10v10M0-6a4 4 0 0 1 5-3.87"),
    "s": (
        7,
        (
            "M6.8-8.6c-.8-.9-1.9-1.4-3.4-1.4c-1.9 0-3.2 1-3.2 2.5c0 3.4 6.9 1.6 6.9 5c0 1.6-1.4 2.5-3.5 2.5"
            "c-1.6 0-2.8-.5-3.6-1.5"
        ),
    ),
    "t": (5.2, "M2-13v10a3 3 0 0 0 3 3h.6M0-9.6h5.2"),
    "u": (8, "M0-10v6a4 4 0 0 0 8 0M8-10v10"),
    "v": (7.6, "M0-10l3.8 10 3.8-10"),
    "w": (12, "M0-10l3 10 3-9 3 9 3-10"),
    "x": (7, "M0-10l7 10M7-10l-7 10"),
    "y": (7.6, "M0-10l3.9 9.8M7.6-10l-4.4 11.4a4 4 0 0 1-3.2 2.4"),
    "z": (6.8, "M0-10h6.8l-6.8 10h6.8"),
    "A": (10.4, "M0 0l5.2-14 5.2 14M1.9-4.8h6.6"),
    "B": (9, "M0-14v14h5.4a3.7 3.7 0 0 0 0-7.4h-5.4M0-14h4.9a3.3 3.3 0 0 1 0 6.6"),
    "C": (9.4, "M9.5-11.2a5 5 0 0 0-9.5 2.2v4a5 5 0 0 0 9.5 2.2"),
    "D": (10, "M0-14v14h4a6 6 0 0 0 6-6v-2a6 6 0 0 0-6-6z"),
    "E": (7.6, "M7.6-14h-7.6v14h7.6M0-7.2h6.4"),
    "F": (7.2, "M7.4-14h-7.4v14M0-7h6.2"),
    "G": (10, "M9.5-11.2a5 5 0 0 0-9.5 2.2v4a5 5 0 0 0 10 0v-2h-4.4"),
    "H": (9.6, "M0-14v14M9.6-14v14M0-7.2h9.6"),
    "I": (0, "M0-14v14"),
    "J": (6.8, "M6.8-14v10.4a3.6 3.6 0 0 1-6.8 1.3"),
    "K": (8.8, "M0-14v14M8.6-14l-8.6 8.3M3.2-8.7l5.9 8.7"),
    "L": (7, "M0-14v14h7.2"),
    "M": (11.6, "M0 0v-14l5.8 9 5.8-9v14"),
    "N": (9.4, "M0 0v-14l9.4 14v-14"),
    "O": (10, "M0-9a5 5 0 0 1 10 0v4a5 5 0 0 1-10 0z"),
    "P": (8.8, "M0 0v-14h4.8a4 4 0 0 1 0 8h-4.8"),
    "Q": (10, "M0-9a5 5 0 0 1 10 0v4a5 5 0 0 1-10 0zM6.2-3.8l4.2 4.4"),
    "R": (9, "M0 0v-14h4.8a4 4 0 0 1 0 8h-4.8M4.6-6l4.6 6"),
    "S": (
        8.8,
        (
            "M8.5-11.7c-1-1.4-2.5-2.3-4.3-2.3c-2.5 0-4.2 1.4-4.2 3.5c0 4.7 8.9 2.3 8.9 6.9"
            "c0 2.2-1.8 3.6-4.5 3.6c-2 0-3.6-.8-4.5-2.3"
        ),
    ),
    "T": (9.4, "M0-14h9.4M4.7-14v14"),
    "U": (9.6, "M0-14v9.2a4.8 4.8 0 0 0 9.6 0v-9.2"),
    "V": (10, "M0-14l5 14 5-14"),
    "W": (15, "M0-14l3.75 14 3.75-12.5 3.75 12.5 3.75-14"),
    "X": (9, "M0-14l9 14M9-14l-9 14"),
    "Y": (9.4, "M0-14l4.7 7.2 4.7-7.2M4.7-6.8v6.8"),
    "Z": (8.6, "M0-14h8.6l-8.6 14h8.6"),
    "0": (8, "M0-10a4 4 0 0 1 8 0v6a4 4 0 0 1-8 0z"),
    "1": (8, "M1.4-11.2l3.6-2.8v14"),
    "2": (8, "M.3-11a4 4 0 0 1 7.5 1c0 2.4-1.4 4.2-7.7 10h8"),
    "3": (
        8,
        (
            "M.4-11.6c.7-1.5 2-2.4 3.7-2.4c2.1 0 3.6 1.4 3.6 3.3c0 2-1.5 3.3-3.7 3.3h-.9M4-7.4"
            "c2.4 0 4 1.5 4 3.7c0 2.2-1.7 3.7-4 3.7c-2 0-3.4-.9-4.1-2.6"
        ),
    ),
    "4": (8, "M6 0v-14l-6.2 10.2h8.6"),
    "5": (
        8,
        ("M7.2-14h-5.9l-.7 6.4c.9-.9 2-1.4 3.3-1.4c2.4 0 4.1 1.8 4.1 4.4c0 2.7-1.8 4.6-4.3 4.6c-1.7 0-3-.7-3.8-2.1"),
    ),
    "6": (8, "M0-4a4 4 0 0 1 8 0a4 4 0 0 1-8 0M.6-6.1l5-7.9"),
    "7": (8, "M0-14h8l-5 14"),
    "8": (8, "M4-7.5a3.25 3.25 0 0 1 0-6.5a3.25 3.25 0 0 1 0 6.5a3.75 3.75 0 0 0 0 7.5a3.75 3.75 0 0 0 0-7.5"),
    "9": (8, "M0-10a4 4 0 0 1 8 0a4 4 0 0 1-8 0M7.4-7.9l-5 7.9"),
    ".": (0, "M0-.4" + _DOT),
    ",": (0.6, "M.6-.6l-1.2 3.2"),
    ":": (0, "M0-7.6" + _DOT + "M0-.6" + _DOT),
    ";": (0.6, "M.6-7.6" + _DOT + "M.6-.6l-1.2 3.2"),
    "!": (0, "M0-14v9.4M0-.5" + _DOT),
    "?": (7, "M0-11a3.7 3.7 0 0 1 7.1.7c0 3-3.5 3-3.5 6M3.6-.5" + _DOT),
    "-": (5, "M0-5h5"),
    "\u2013": (6, "M0-5h6"),
    "\u2014": (10, "M0-5h10"),
    "\u2212": (8, "M0-6h8"),
    "+": (8, "M0-6h8M4-10v8"),
    "\u00d7": (6.4, "M0-9l6.4 6.4M6.4-9l-6.4 6.4"),
    "=": (8, "M0-8h8M0-4h8"),
    "/": (6, "M0 1l6-16"),
    "\\": (6, "M0-15l6 16"),
    "(": (3, "M3-15.5c-4 5-4 12.5 0 17.5"),
    ")": (3, "M0-15.5c4 5 4 12.5 0 17.5"),
    "[": (3, "M3-15h-3v17h3"),
    "]": (3, "M0-15h3v17h-3"),
    "'": (0, "M0-14v3.4"),
    "\u2019": (0.6, "M.6-14l-.8 3.6"),
    '"': (3, "M0-14v3.4M3-14v3.4"),
    "\u00b7": (0, "M0-5.5" + _DOT),
    "\u2022": (1, "M0-5.5h1"),
    "\u2026": (8, "M0-.4" + _DOT + "M4-.4" + _DOT + "M8-.4" + _DOT),
    "_": (8, "M0 2h8"),
    "*": (6, "M3-13v6M.4-11.5l5.2 3M5.6-11.5l-5.2 3"),
    "#": (9, "M3.2-14l-2 14M7.8-14l-2 14M.4-9.4h9M-.4-4.6h9"),
    "%": (
        11,
        ("M10-14l-9 14M0-11.4a2.4 2.4 0 0 1 4.8 0a2.4 2.4 0 0 1-4.8 0M6.2-2.4a2.4 2.4 0 0 1 4.8 0a2.4 2.4 0 0 1-4.8 0"),
    ),
    "&": (9.6, "M9.6 0l-7-9a2.9 2.9 0 1 1 4.6.1c-1 1.2-6.8 3.3-6.8 6.1c0 1.7 1.6 2.8 3.6 2.8c2.8 0 4.8-2 5.2-5.2"),
    "<": (7, "M7-10l-7 4.5 7 4.5"),
    ">": (7, "M0-10l7 4.5-7 4.5"),
    "|": (0, "M0-15v17"),
    "\u2192": (11, "M0-6h11M7-10l4 4-4 4"),
    "\u2190": (11, "M11-6h-11M4-10l-4 4 4 4"),
    "\u2191": (8, "M4 0v-12M0-8l4-4 4 4"),
    "\u2193": (8, "M4-12v12M0-4l4 4 4-4"),
}
_UNKNOWN = (8.0, "M0-12h8v12h-8z")

# corrections, in grid units, for pairs of letters that would be too far apart
_KERN = {"Ta": -2.5, "To": -2.5, "Te": -2.5, "Yo": -2, "AV": -2, "VA": -2, "LT": -2, "rt": -0.6, "ro": -0.8, "P.": -3}

_SUBPATH = re.compile(r"M(-?\d*\.?\d+) ?(-?\d*\.?\d+)([^M]*)")


@lru_cache(maxsize=1 << 15)  # pictures of a table repeat the same coordinates
def num(value: float) -> str:
    """Format a coordinate with two decimals below ten and one above, without redundant zeros (``0.50`` -> ``.5``)."""
    text = (f"{value:.2f}" if abs(value) < 10 else f"{value:.1f}").rstrip("0").rstrip(".")
    if text.startswith("0."):
        return text[1:]
    if text.startswith("-0."):
        return "-" + text[2:]
    return "0" if text in ("-0", "") else text


def _glyph(character: str) -> tuple[float, str]:
    found = _GLYPHS.get(character)
    if found is None:
        plain = unicodedata.normalize("NFKD", character)[:1]
        found = _GLYPHS.get(plain, _UNKNOWN)
    return found


@lru_cache(maxsize=512)
def outline(text: str) -> tuple[str, float]:
    """Return the path data of a line of text that starts at x = 0 on the baseline, and its width in grid units."""
    parts: list[str] = []
    pen, width = 0.0, 0.0
    previous = ""
    for character in text:
        pen += _KERN.get(previous + character, 0.0)
        advance, path = _glyph(character)
        for x, y, rest in _SUBPATH.findall(path):
            parts.append(f"M{num(pen + float(x))} {y}{rest}")
        width = pen + advance
        pen = width + LETTER_SPACING
        previous = character
    return "".join(parts), max(width, 0.0)


def text_width(text: str, size: float) -> float:
    """Return the width in pixels of one line of text at the given size."""
    return outline(text)[1] * size / UNITS_PER_EM


def fit_text(text: str, size: float, width: float, smallest: float) -> tuple[str, float]:
    """Return a text and a size that fit into `width` pixels. Instead of going below `smallest`, the text is cut."""
    natural = text_width(text, size)
    if natural <= width:
        return text, size
    size = max(smallest, size * width / natural)
    if text_width(text, size) <= width + 0.01:
        return text, size
    while text and text_width(text + "\u2026", size) > width:
        text = text[:-1].rstrip()
    return text + "\u2026", size

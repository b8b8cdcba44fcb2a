"""Draw the pieces of Helsinki: tiles, superstructures, the statue and cards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from helsinki_env.drawing import palette
from helsinki_env.drawing.canvas import BOLD, Box, Canvas, num, reused, transform
from helsinki_env.drawing.pieces import CARD_ASPECT, DOTTED, PATTERNS, GridCell, fit_grid, outline_path, square
from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.render.view import card_name

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components


def _facets(middles: Iterable[tuple[float, float]], h: float) -> tuple[str, str, str]:
    """Return the paths of the lit (north), shaded (east) and dark (south) sides of tent roofs with half-width `h`."""
    q, w = num(h), num(2 * h)
    north, east, south = "", "", ""
    for x, y in middles:
        left, right, top, bottom = (num(x - h), num(x + h), num(y - h), num(y + h))
        north += f"M{left} {top}h{w}l-{q} {q}z"
        east += f"M{right} {top}v{w}l-{q}-{q}z"
        south += f"M{left} {bottom}l{q}-{q} {q} {q}z"
    return north, east, south


@reused
def tile(canvas: Canvas, colour: int, cells: tuple[GridCell, ...], x: float, y: float, size: float) -> None:
    """Draw a pavilion tile with a tent roof on every cell; color -1 draws a wild tile.

    Small tiles have less detail: the dark sides need at least 9 pixels per cell, the pattern 14 and the shaded sides
    36.
    """
    cells = tuple(sorted(cells))
    tone = palette.WILD if colour < 0 else palette.PAVILIONS[colour]
    inset = max(0.4, 0.045 * size)
    body = outline_path(cells, x, y, size, inset, 0.2 * size)
    canvas.path(body, fill=tone.base, stroke=tone.line, stroke_width=max(0.8, 0.04 * size))
    middles = [(x + (c + 0.5) * size, y + (r + 0.5) * size) for r, c in cells]
    half = round(0.72 * size) / 2
    north, east, south = _facets(middles, half)
    canvas.path(north, fill=tone.light)
    if size < 9:
        return
    canvas.path(south, fill=tone.dark)
    if size < 14:
        return
    if size >= 36:
        canvas.path(east, fill=tone.dark, fill_opacity=0.55)
    if colour < 0:
        marks = "".join(square(px, py, 0.5 * size) for px, py in middles)
    else:
        marks = "".join(PATTERNS[colour](px, py, half) for px, py in middles)
    if colour == DOTTED:
        canvas.path(marks, stroke=tone.line, stroke_width=0.34 * size, stroke_opacity=0.35)
        canvas.path(marks, stroke=tone.light, stroke_width=0.26 * size)
    else:
        canvas.path(marks, stroke=tone.line, stroke_width=0.035 * size, stroke_opacity=0.5)


DOMES = ("#fff", "#f6dc93", palette.GOLD)
_DRUM = "M-3.6 2.2v4.2h7.2v-4.2zM-1.2 3.6v1.5M1.2 3.6v1.5M-5.4 6.7h10.8"
_DOME = "M-4.6 2.2a4.6 5.4 0 0 1 9.2 0zM0-3.4v-3.6M-1.3-5.7h2.6"


@reused
def superstructure(canvas: Canvas, x: float, y: float, size: float, worth: int = 0, **style: str) -> None:
    """Draw a superstructure as a cupola centered at (x, y).

    `worth` is the number of full lines through it (0 to 2), drawn as white, pale gold or gold.
    """
    place = transform(x, y, size / 16)
    with canvas.group(transform=place, stroke=palette.INK, stroke_width=1.1, **style):
        canvas.path(_DRUM, fill="#fff")
        canvas.path(_DOME, fill=DOMES[worth])


def superstructure_mark(canvas: Canvas, x: float, y: float, size: float) -> None:
    """Draw the small cupola that is printed on cards, centered at (x, y)."""
    canvas.path(
        "M-5 7v-4.5a5 6 0 0 1 10 0v4.5zM-5 2.5h10M0-3.5v-3.5",
        transform=transform(x, y, size / 16),
        fill="#fff",
        stroke=palette.INK,
        stroke_width=1.4,
    )


@reused
def statue(canvas: Canvas, x: float, y: float, size: float, seat: int) -> None:
    """Draw the statue on its pedestal, in the player's color, in a cell of `size` pixels centered at (x, y)."""
    tone = palette.PLAYERS[seat]
    place = transform(x, y, size / 40)
    with canvas.group("Statue", transform=place):
        canvas.rect(-17.5, -17.5, 35, 35, r=6, fill=palette.STONE, stroke="#7d735f", stroke_width=1.4)
        canvas.circle(0, 0, 13.5, fill="#e4dccb", stroke=palette.STONE_DARK, stroke_width=1)
        canvas.path(
            "M-7 9.5c0-8 2.6-11.3 4.3-12.2a4.3 4.3 0 1 1 5.4 0c1.7.9 4.3 4.2 4.3 12.2z",
            fill=tone.base,
            stroke=palette.INK,
            stroke_width=1.3,
        )
        canvas.path("M-9 9.5h18", stroke=palette.INK, stroke_width=2.2)


def visitor(canvas: Canvas, x: float, y: float, size: float, seat: int, **style: str) -> None:
    """Draw a visitor, a small standing figure of `size` pixels, centered at (x, y)."""
    tone = palette.PLAYERS[seat]
    canvas.path(
        "M0-2.2c2.6 0 3.6 2.7 3.6 7.2h-7.2c0-4.5 1-7.2 3.6-7.2zM-2.3-4.2a2.3 2.3 0 1 1 4.6 0a2.3 2.3 0 1 1-4.6 0",
        transform=transform(x, y, size / 12),
        fill=tone.base,
        stroke=palette.INK,
        stroke_width=1,
        **style,
    )


def drawing_cells(drawing: tuple[str, ...]) -> tuple[GridCell, ...]:
    """Return the (row, column) of every roof in the drawing of a shape."""
    return tuple((r, c) for r, row in enumerate(drawing) for c, mark in enumerate(row) if mark == "X")


@reused
def shape(canvas: Canvas, components: Components, colour: int, roofs: int, box: Box, largest: float) -> None:
    """Draw a tile centered in a box (x, y, width, height), with cells of at most `largest` pixels."""
    drawing = components.shapes[components.tiles[colour][roofs - 2]]
    left, top, size = fit_grid(box, len(drawing), len(drawing[0]), largest)
    tile(canvas, colour, drawing_cells(drawing), left, top, size)


@reused
def card(canvas: Canvas, components: Components, kind: int, x: float, y: float, width: float) -> None:
    """Draw the face of a pavilion card of type `kind`, with its top left corner at (x, y)."""
    height = CARD_ASPECT * width
    colour = components.card_color(kind)
    band, rim, r = 0.3 * width, 0.06 * width, 0.1 * width
    with canvas.group(card_name(kind, components)):
        if colour < 0:
            _wild_card(canvas, x, y, width)
            return
        tone = palette.PAVILIONS[colour]
        ink = tone.line if COLORS[colour] == "yellow" else "#fff"
        canvas.rect(x, y, width, height, r=r, fill=tone.base, stroke=tone.line, stroke_width=0.9)
        canvas.rect(x + rim, y + band, width - 2 * rim, height - band - rim, r=0.05 * width, fill=palette.CARD)
        size = 0.28 * width
        canvas.text(
            x + 0.11 * width,
            y + 0.56 * band + 0.35 * size,
            str(components.card_number(kind)),
            size,
            fill=ink,
            weight=BOLD + 0.4,
        )
        marks = components.card_superstructures(kind)
        step = min(0.22, 0.5 / max(1, marks - 1))
        for i in range(marks):
            superstructure_mark(canvas, x + width - (0.18 + step * i) * width, y + 0.5 * band, 0.23 * width)
        box = (x + 1.6 * rim, y + band + 0.6 * rim, width - 3.2 * rim, height - band - 2.2 * rim)
        shape(canvas, components, colour, components.card_roofs(kind), box, 0.23 * width)
        letter = COLORS[colour][0].upper()
        canvas.text(
            x + 0.13 * width, y + height - 0.12 * width, letter, max(8.5, 0.15 * width), fill=tone.dark, weight=2.6
        )


def _wild_card(canvas: Canvas, x: float, y: float, width: float) -> None:
    height = CARD_ASPECT * width
    r = 0.1 * width
    canvas.rect(x, y, width, height, r=r, fill="#4a4a52", stroke=palette.INK, stroke_width=0.9)
    pad = 0.06 * width
    canvas.rect(x + pad, y + pad, width - 2 * pad, height - 2 * pad, r=0.06 * width, fill=palette.CARD)
    cx, cy, far = x + width / 2, y + 0.44 * height, 0.235 * width
    for i, tone in enumerate(palette.PAVILIONS):
        angle = 2 * math.pi * i / 5 - math.pi / 2
        px, py = cx + far * math.cos(angle), cy + far * math.sin(angle)
        canvas.circle(px, py, 0.135 * width, fill=tone.base, stroke=tone.line, stroke_width=0.7)
    canvas.circle(cx, cy, 0.1 * width, fill=palette.WILD.light, stroke=palette.WILD.line, stroke_width=0.7)
    size = max(0.2 * width, 6)
    canvas.text(cx, y + height - 0.14 * height, "wild", size, fill=palette.SOFT_INK, anchor="middle")


def cathedral(canvas: Canvas, x: float, y: float, width: float, fill: str) -> None:
    """Draw the silhouette of the cathedral on the square, `width` pixels wide and centered at (x, y)."""
    canvas.path(
        "M-15 12v-9h4v-4a2.5 3 0 0 1 5 0v1h1.5v-5h-.8a5.3 6.2 0 0 1 4.8-7v-3h1v3a5.3 6.2 0 0 1 4.8 7h-.8v5"
        "h1.5v-1a2.5 3 0 0 1 5 0v4h4v9z",
        transform=transform(x, y, width / 32),
        fill=fill,
    )

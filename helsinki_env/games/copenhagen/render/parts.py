"""Drawings of Copenhagen's pieces: tiles with bricks and windows, white tiles, coats of arms, cards.

The glazing of a window also encodes its tile's color, with the patterns of Helsinki's roofs.
"""

from __future__ import annotations

from collections.abc import Iterable

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Canvas, format_coordinate
from helsinki_env.drawing.palette import ColorShades
from helsinki_env.drawing.pieces import CARD_ASPECT, DOTTED, PATTERNS, GridCell
from helsinki_env.games.copenhagen.components import COLOURS, COLUMNS, ROWS, TILE_SIZES, Components

WHITE = ColorShades("#f4f1ea", "#ffffff", "#cfc9bb", "#6a665c")
"""White tiles: a light wall."""

PANE = "#fff8e2"
SKY = "#c3d9e8"


def rows_down(cells: Iterable[int]) -> list[GridCell]:
    """Return cells of a board (``5 * y + x``, y upwards) as (row, column) with row 0 at the top."""
    return [(ROWS - 1 - cell // COLUMNS, cell % COLUMNS) for cell in cells]


def _windows(canvas: Canvas, tone: ColorShades, colour: int, middles: list[tuple[float, float]], size: float) -> None:
    """Draw windows centered in cells; the glazing of color -1 is a plain crossbar."""
    half = 0.27 * size
    side = format_coordinate(2 * half)
    frames = "".join(
        f"M{format_coordinate(x - half)} {format_coordinate(y - half)}h{side}v{side}h-{side}z" for x, y in middles
    )
    edge = max(0.7, 0.05 * size)
    canvas.path(frames, fill=PANE if colour >= 0 else SKY, stroke=tone.line, stroke_width=edge, stroke_linejoin="miter")
    if size < 16:
        return
    bars = max(0.7, 0.045 * size)
    if colour < 0:
        canvas.path(
            "".join(f"M{format_coordinate(x - half)} {format_coordinate(y)}h{side}" for x, y in middles),
            stroke=tone.line,
            stroke_width=bars,
        )
    elif colour == DOTTED:
        marks = "".join(PATTERNS[colour](x, y, half) for x, y in middles)
        canvas.path(marks, stroke=tone.line, stroke_width=1.2 * half)
        canvas.path(marks, stroke=tone.base, stroke_width=1.2 * half - 2 * bars)
    else:
        marks = "".join(PATTERNS[colour](x, y, half) for x, y in middles)
        canvas.path(marks, stroke=tone.dark, stroke_width=bars, stroke_linecap="butt", stroke_linejoin="miter")
    sills = "".join(
        f"M{format_coordinate(x - 1.3 * half)} {format_coordinate(y + half + 0.06 * size)}"
        f"h{format_coordinate(2.6 * half)}"
        for x, y in middles
    )
    canvas.path(sills, stroke=tone.line, stroke_width=0.07 * size, stroke_linecap="butt")


def _brick(canvas: Canvas, tone: ColorShades, x: float, y: float, size: float) -> None:
    """Draw courses of bricks in the cell around (x, y)."""
    half = 0.36 * size
    left, top, w = x - half, y - half, 2 * half
    canvas.rect(left, top, w, w, r=0.06 * size, fill=tone.dark, stroke=tone.line, stroke_width=max(0.7, 0.04 * size))
    if size < 9:
        return
    courses = 4 if size >= 16 else 3
    h = w / courses
    lines = "".join(
        f"M{format_coordinate(left)} {format_coordinate(top + i * h)}h{format_coordinate(w)}" for i in range(1, courses)
    )
    for i in range(courses):
        for at in (0.33, 0.67) if i % 2 else (0.5,):
            lines += f"M{format_coordinate(left + at * w)} {format_coordinate(top + i * h)}v{format_coordinate(h)}"
    canvas.path(lines, stroke=tone.light, stroke_width=max(0.6, 0.035 * size), stroke_linecap="butt")


def tile(
    canvas: Canvas, colour: int, cells: Iterable[GridCell], brick: GridCell | None, x: float, y: float, size: float
) -> None:
    """Draw one tile: a wall with a window in every cell except that of its brick; color -1 is a white tile.

    (x, y) is the corner of cell (0, 0). Small tiles have less detail: glazing needs 16 pixels a cell, bricks 9.
    """
    cells = sorted(cells)
    tone = WHITE if colour < 0 else palette.PAVILIONS[colour]
    body = pieces.outline_path(cells, x, y, size, max(0.4, 0.045 * size), 0.14 * size)
    canvas.path(body, fill=tone.base, stroke=tone.line, stroke_width=max(0.8, 0.045 * size))
    middles = [(x + (c + 0.5) * size, y + (r + 0.5) * size) for r, c in cells if (r, c) != brick]
    if middles:
        _windows(canvas, tone, colour, middles, size)
    if brick is not None:
        _brick(canvas, tone, x + (brick[1] + 0.5) * size, y + (brick[0] + 0.5) * size, size)


def drawing_cells(drawing: tuple[str, ...]) -> tuple[list[GridCell], GridCell]:
    """Return the (row, column) of every cell of a drawing, and that of its brick."""
    marks = {(r, c): mark for r, row in enumerate(drawing) for c, mark in enumerate(row) if mark != "."}
    return sorted(marks), next(cell for cell, mark in marks.items() if mark == "B")


def shape(
    canvas: Canvas,
    components: Components,
    colour: int,
    tile_size: int,
    box: tuple[float, float, float, float],
    largest: float,
) -> None:
    """Draw a kind of tile centered in a box (x, y, width, height), with cells of at most `largest` pixels."""
    drawing = components.drawings[colour][tile_size - TILE_SIZES[0]]
    rows, columns = len(drawing), len(drawing[0])
    x, y, width, height = box
    size = min(largest, width / columns, height / rows)
    cells, brick = drawing_cells(drawing)
    tile(canvas, colour, cells, brick, x + (width - columns * size) / 2, y + (height - rows * size) / 2, size)


def board_coat(canvas: Canvas, x: float, y: float, size: float, *, won: bool = False, **style: str) -> None:
    """Draw a coat of arms around (x, y), `size` pixels high: a shield with a crown; pale with a tick once it is won."""
    place = f"translate({format_coordinate(x)} {format_coordinate(y)})scale({format_coordinate(size / 14)})"
    with canvas.group("Coat of arms" + (", won" if won else ""), transform=place, **style):
        fill = palette.PANEL if won else "#b5382f"
        edge = palette.STONE_DARK if won else palette.INK
        canvas.path(pieces.SHIELD, fill=fill, stroke=edge, stroke_width=1.1)
        if won:
            canvas.path("M-2.8-.6l2.2 2.4l3.6-4.6", stroke=palette.GOLD_DARK, stroke_width=1.7)
        else:
            canvas.path("M-3.6 1.8l-.7-5.2l2.3 2.2l2-3.4l2 3.4l2.3-2.2l-.7 5.2z", fill="#f3cf63")


_HOUSE = "M-9 11v-15.5l3-1.5v-3h3v-2.5h6v2.5h3v3l3 1.5v15.5z"


def card(canvas: Canvas, colour: int, x: float, y: float, width: float, *, known: bool = False) -> None:
    """Draw the face of a card with its corner at (x, y); an eye marks a publicly known one."""
    height, tone = CARD_ASPECT * width, palette.PAVILIONS[colour]
    rim = 0.07 * width
    with canvas.group(f"{COLOURS[colour]} card" + (", known to all" if known else ""), data_part="card"):
        canvas.rect(x, y, width, height, r=0.1 * width, fill=tone.base, stroke=tone.line, stroke_width=0.9)
        canvas.rect(x + rim, y + rim, width - 2 * rim, height - 2 * rim, r=0.05 * width, fill=palette.CARD)
        place = (
            f"translate({format_coordinate(x + width / 2)} {format_coordinate(y + 0.455 * height)})"
            f"scale({format_coordinate(width / 30)})"
        )
        with canvas.group(transform=place):
            canvas.path(_HOUSE, fill=tone.base, stroke=tone.line, stroke_width=1.1)
            _windows(canvas, tone, colour, [(0.0, 2.6)], 20)
        canvas.text(
            x + 0.15 * width,
            y + height - 0.14 * width,
            COLOURS[colour][0].upper(),
            max(8.5, 0.21 * width),
            fill=tone.line,
            weight=BOLD,
        )
        if known:
            eye(canvas, x + 0.25 * width, y + 0.2 * width, 0.28 * width)  # visible when cards overlap


def eye(canvas: Canvas, x: float, y: float, size: float) -> None:
    """Draw an eye, `size` pixels wide around (x, y), the mark for public knowledge."""
    place = f"translate({format_coordinate(x)} {format_coordinate(y)})scale({format_coordinate(size / 12)})"
    with canvas.group(transform=place, data_part="known"):
        canvas.path("M-5.5 0q5.5-6.5 11 0q-5.5 6.5-11 0z", fill="#fff", stroke=palette.INK, stroke_width=1.2)
        canvas.circle(0, 0, 1.9, fill=palette.INK)


def houses(canvas: Canvas, x: float, y: float, width: float, fill: str) -> None:
    """Draw three gabled houses on the quay, `width` pixels wide around (x, y)."""
    canvas.path(
        "M-15 12v-14l5-6l5 6v14zM-4 12v-18h1.5v-3h1.5v-3h2v3h1.5v3h1.5v18zM5 12v-12.5c0-4 5-3 5-7c0 4 5 3 5 7v12.5z",
        transform=f"translate({format_coordinate(x)} {format_coordinate(y)})scale({format_coordinate(width / 32)})",
        fill=fill,
    )


def city_card_back(canvas: Canvas, x: float, y: float, width: float) -> None:
    """Draw the back of a card with its corner at (x, y)."""
    pieces.card_back_with_emblem(canvas, x, y, width, houses)

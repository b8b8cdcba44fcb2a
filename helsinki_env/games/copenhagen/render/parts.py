"""Draw the pieces of Copenhagen: tiles with bricks and windows, white tiles, coats of arms, cards and abilities.

The pattern of the window panes also encodes the color of the tile (`helsinki_env.drawing.pieces.PATTERNS`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Box, Canvas, num, reused, transform
from helsinki_env.drawing.palette import ColorShades
from helsinki_env.drawing.pieces import CARD_ASPECT, DOTTED, PATTERNS, GridCell
from helsinki_env.games.copenhagen.ability_words import ABILITY_LABELS
from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, COLUMNS, ROWS, TILE_SIZES, Components

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.render.view import SeatView, TableView

WHITE = ColorShades("#f4f1ea", "#ffffff", "#cfc9bb", "#6a665c")
"""The colors of white tiles."""

PANE = "#fff8e2"
SKY = "#c3d9e8"


def rows_down(cells: Iterable[int]) -> tuple[GridCell, ...]:
    """Convert cells of a board (``5 * y + x``, y upward) to (row, column) pairs with row 0 at the top."""
    return tuple((ROWS - 1 - cell // COLUMNS, cell % COLUMNS) for cell in cells)


def _windows(canvas: Canvas, tone: ColorShades, colour: int, middles: list[tuple[float, float]], size: float) -> None:
    """Draw windows around the centers of cells, with a plain crossbar for color -1."""
    half = 0.27 * size
    side = num(2 * half)
    frames = "".join(f"M{num(x - half)} {num(y - half)}h{side}v{side}h-{side}z" for x, y in middles)
    edge = max(0.7, 0.05 * size)
    canvas.path(frames, fill=PANE if colour >= 0 else SKY, stroke=tone.line, stroke_width=edge, stroke_linejoin="miter")
    if size < 16:
        return
    bars = max(0.7, 0.045 * size)
    if colour < 0:
        canvas.path(
            "".join(f"M{num(x - half)} {num(y)}h{side}" for x, y in middles), stroke=tone.line, stroke_width=bars
        )
    elif colour == DOTTED:
        marks = "".join(PATTERNS[colour](x, y, half) for x, y in middles)
        canvas.path(marks, stroke=tone.line, stroke_width=1.2 * half)
        canvas.path(marks, stroke=tone.base, stroke_width=1.2 * half - 2 * bars)
    else:
        marks = "".join(PATTERNS[colour](x, y, half) for x, y in middles)
        canvas.path(marks, stroke=tone.dark, stroke_width=bars, stroke_linecap="butt", stroke_linejoin="miter")
    sills = "".join(f"M{num(x - 1.3 * half)} {num(y + half + 0.06 * size)}h{num(2.6 * half)}" for x, y in middles)
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
    lines = "".join(f"M{num(left)} {num(top + i * h)}h{num(w)}" for i in range(1, courses))
    for i in range(courses):
        for at in (0.33, 0.67) if i % 2 else (0.5,):
            lines += f"M{num(left + at * w)} {num(top + i * h)}v{num(h)}"
    canvas.path(lines, stroke=tone.light, stroke_width=max(0.6, 0.035 * size), stroke_linecap="butt")


@reused
def tile(
    canvas: Canvas, colour: int, cells: tuple[GridCell, ...], brick: GridCell | None, x: float, y: float, size: float
) -> None:
    """Draw a tile: a wall with a window in every cell except the brick. Color -1 is a white tile.

    (x, y) is the corner of cell (0, 0). Details are omitted in small cells: window patterns below 16 pixels, brick
    courses below 9 pixels.
    """
    cells = tuple(sorted(cells))
    tone = WHITE if colour < 0 else palette.PAVILIONS[colour]
    body = pieces.outline_path(cells, x, y, size, max(0.4, 0.045 * size), 0.14 * size)
    canvas.path(body, fill=tone.base, stroke=tone.line, stroke_width=max(0.8, 0.045 * size))
    middles = [(x + (c + 0.5) * size, y + (r + 0.5) * size) for r, c in cells if (r, c) != brick]
    if middles:
        _windows(canvas, tone, colour, middles, size)
    if brick is not None:
        _brick(canvas, tone, x + (brick[1] + 0.5) * size, y + (brick[0] + 0.5) * size, size)


def drawing_cells(drawing: tuple[str, ...]) -> tuple[tuple[GridCell, ...], GridCell]:
    """Return the cells of a drawing and its brick, each as (row, column)."""
    marks = {(r, c): mark for r, row in enumerate(drawing) for c, mark in enumerate(row) if mark != "."}
    return tuple(sorted(marks)), next(cell for cell, mark in marks.items() if mark == "B")


@reused
def shape(canvas: Canvas, components: Components, colour: int, tile_size: int, box: Box, largest: float) -> None:
    """Draw a kind of tile, centered in a box (x, y, width, height), with cells at most `largest` pixels wide."""
    drawing = components.drawings[colour][tile_size - TILE_SIZES[0]]
    left, top, size = pieces.fit_grid(box, len(drawing), len(drawing[0]), largest)
    tile(canvas, colour, *drawing_cells(drawing), left, top, size)


@reused
def board_coat(canvas: Canvas, x: float, y: float, size: float, *, won: bool = False, **style: str) -> None:
    """Draw a coat of arms centered at (x, y), `size` pixels high; it is pale and has a tick once it is won."""
    place = transform(x, y, size / 14)
    with canvas.group("Coat of arms" + (", won" if won else ""), transform=place, **style):
        fill = palette.PANEL if won else "#b5382f"
        edge = palette.STONE_DARK if won else palette.INK
        canvas.path(pieces.SHIELD, fill=fill, stroke=edge, stroke_width=1.1)
        if won:
            canvas.path("M-2.8-.6l2.2 2.4l3.6-4.6", stroke=palette.GOLD_DARK, stroke_width=1.7)
        else:
            canvas.path("M-3.6 1.8l-.7-5.2l2.3 2.2l2-3.4l2 3.4l2.3-2.2l-.7 5.2z", fill="#f3cf63")


_HOUSE = "M-9 11v-15.5l3-1.5v-3h3v-2.5h6v2.5h3v3l3 1.5v15.5z"


@reused
def card(canvas: Canvas, colour: int, x: float, y: float, width: float, *, known: bool = False) -> None:
    """Draw the face of a card with its corner at (x, y). An eye marks a publicly known card."""
    height, tone = CARD_ASPECT * width, palette.PAVILIONS[colour]
    rim = 0.07 * width
    with canvas.group(f"{COLORS[colour]} card" + (", known to all" if known else ""), data_part="card"):
        canvas.rect(x, y, width, height, r=0.1 * width, fill=tone.base, stroke=tone.line, stroke_width=0.9)
        canvas.rect(x + rim, y + rim, width - 2 * rim, height - 2 * rim, r=0.05 * width, fill=palette.CARD)
        place = transform(x + width / 2, y + 0.455 * height, width / 30)
        with canvas.group(transform=place):
            canvas.path(_HOUSE, fill=tone.base, stroke=tone.line, stroke_width=1.1)
            _windows(canvas, tone, colour, [(0.0, 2.6)], 20)
        canvas.text(
            x + 0.15 * width,
            y + height - 0.14 * width,
            COLORS[colour][0].upper(),
            max(8.5, 0.21 * width),
            fill=tone.line,
            weight=BOLD,
        )
        if known:
            eye(canvas, x + 0.25 * width, y + 0.2 * width, 0.28 * width)  # where it stays visible if cards overlap


def eye(canvas: Canvas, x: float, y: float, size: float) -> None:
    """Draw an eye, the mark of publicly known cards, centered at (x, y) and `size` pixels wide."""
    place = transform(x, y, size / 12)
    with canvas.group(transform=place, data_part="known"):
        canvas.path("M-5.5 0q5.5-6.5 11 0q-5.5 6.5-11 0z", fill="#fff", stroke=palette.INK, stroke_width=1.2)
        canvas.circle(0, 0, 1.9, fill=palette.INK)


def houses(canvas: Canvas, x: float, y: float, width: float, fill: str) -> None:
    """Draw three gabled houses, centered at (x, y) and `width` pixels wide."""
    canvas.path(
        "M-15 12v-14l5-6l5 6v14zM-4 12v-18h1.5v-3h1.5v-3h2v3h1.5v3h1.5v18zM5 12v-12.5c0-4 5-3 5-7c0 4 5 3 5 7v12.5z",
        transform=transform(x, y, width / 32),
        fill=fill,
    )


def city_card_back(canvas: Canvas, x: float, y: float, width: float) -> None:
    """Draw the back of a card with its corner at (x, y)."""
    pieces.card_back_with_emblem(canvas, x, y, width, houses)


def _little_card(canvas: Canvas, x: float, y: float, fill: str = palette.CARD) -> None:
    canvas.rect(x - 6, y - 8.5, 12, 17, r=2, fill=fill, stroke=palette.INK, stroke_width=1.3)


def _any_cards(canvas: Canvas) -> None:
    for x in (-13.0, 13.0):
        _little_card(canvas, x, 4, palette.BACK_LIGHT)
    canvas.rect(-5, -2, 10, 13, r=2, stroke=palette.INK, stroke_width=1.1, stroke_dasharray="2 2.4")
    canvas.path("M-13-8q13-8 26 0m-5.2-.4l5.2.4l-1.6-5", stroke=palette.INK, stroke_width=1.7)


def _additional_card(canvas: Canvas) -> None:
    _little_card(canvas, 8, 0, palette.BACK_LIGHT)
    canvas.text(-7.5, 6, "+1", 17, anchor="middle", weight=BOLD)


def _construction_discount(canvas: Canvas) -> None:
    tile(canvas, 3, ((0, 0), (1, 0), (1, 1)), (1, 0), 0, -11, 11)
    canvas.text(-9, 6, "\u22121", 17, anchor="middle", weight=BOLD)


def _change_of_colours(canvas: Canvas) -> None:
    blue, yellow = palette.PAVILIONS[0], palette.PAVILIONS[4]
    _little_card(canvas, -12, 0, blue.base)
    _little_card(canvas, 12, 0, yellow.base)
    canvas.path("M-4 0h8m-3.2-3.2l3.2 3.2l-3.2 3.2", stroke=palette.INK, stroke_width=1.7)


def _both_actions(canvas: Canvas) -> None:
    _little_card(canvas, -12, 0, palette.BACK_LIGHT)
    canvas.path("M-3 0h6m-3-3v6", stroke=palette.INK, stroke_width=1.7)
    tile(canvas, 1, ((0, 0), (1, 0)), (1, 0), 7, -11, 11)


ICONS: tuple[Callable[[Canvas], None], ...] = (
    _any_cards,
    _additional_card,
    _construction_discount,
    _change_of_colours,
    _both_actions,
)
"""The functions that draw the abilities, each centered at (0, 0), about 40 units wide and 24 high."""


def ability_icon(canvas: Canvas, ability: int, x: float, y: float, width: float, opacity: float | None = None) -> None:
    """Draw the icon of an ability, centered at (x, y)."""
    with canvas.group(transform=transform(x, y, width / 42), opacity=opacity):
        ICONS[ability](canvas)


_STATES = {
    "active": (palette.CARD, palette.GOLD_DARK, None),
    "used": ("#e4ddcd", palette.STONE_DARK, None),
    "missing": (None, palette.FAINT, "4 4"),
    "denied": (None, palette.FAINT, "4 4"),
}
_MARKS = {
    "active": "M-4.2 0l3 3.4l5.4-6.6",
    "used": "M4.4-1.6a4.6 4.6 0 1 0 .2 3.2M4.8-5v3.6h-3.6",
    "missing": "M-3.4 0h6.8",
    "denied": "M-3.4-3.4l6.8 6.8M3.4-3.4l-6.8 6.8",
}


def _badge(canvas: Canvas, state: str, x: float, y: float) -> None:
    """Draw the state of an ability, centered at (x, y): a tick, a circular arrow, a dash or a cross."""
    fill, ink = {
        "active": (palette.GOLD, palette.INK),
        "used": (palette.PANEL, palette.SOFT_INK),
        "missing": ("none", palette.SOFT_INK),
        "denied": ("#c8473a", "#fff"),
    }[state]
    canvas.circle(x, y, 8, fill=fill, stroke=None if state == "missing" else palette.INK, stroke_width=0.9)
    place = transform(x, y, 0.8)
    canvas.path(_MARKS[state], transform=place, stroke=ink, stroke_width=2.1)


def _word(table: TableView, seat: SeatView, ability: int) -> str:
    if seat.seat == table.to_move and not table.done and ability in table.pending.using:
        return "in use"
    state = seat.state_of(ability)
    return "not owned" if state == "missing" else state


def ability_column(
    canvas: Canvas, table: TableView, seat: SeatView, x: float, y: float, width: float, height: float
) -> None:
    """Draw the five abilities of a seat in a column, with labels beside the icons, or below them if it is narrow."""
    gap = 6.0
    step = (height + gap) / len(ABILITIES)
    for ability, label in enumerate(ABILITY_LABELS):
        state, word = seat.state_of(ability), _word(table, seat, ability)
        box = (x, y + ability * step, width, step - gap)
        canvas.spot(f"ability {seat.seat} {ability}", *box)
        title = f"{' '.join(label)}: {word}"
        with canvas.group(title, data_part=f"ability-{state}"):
            _ability(canvas, ability, state, word, box)
            if table.last.seat == seat.seat and ability in table.last.abilities:
                canvas.rect(
                    box[0] - 2,
                    box[1] - 2,
                    box[2] + 4,
                    box[3] + 4,
                    r=9,
                    stroke=palette.GOLD,
                    stroke_width=3,
                    data_part="last",
                )


@reused
def _ability(canvas: Canvas, ability: int, state: str, word: str, box: Box) -> None:
    x, y, width, height = box
    fill, edge, dashes = _STATES[state]
    canvas.rect(x, y, width, height, r=7, fill=fill, stroke=edge, stroke_width=1.3, stroke_dasharray=dashes)
    faded = None if state == "active" else 0.55 if state == "used" else 0.28
    ink = palette.INK if state == "active" else palette.SOFT_INK
    label = ABILITY_LABELS[ability]
    if width >= 170:  # side by side
        ability_icon(canvas, ability, x + 29, y + height / 2, 44, opacity=faded)
        left, room = x + 60, width - 86
        canvas.text(left, y + height / 2 - 2, " ".join(label), 13, fill=ink, width=room, weight=2.3)
        canvas.text(left, y + height / 2 + 14, word, 11, fill=palette.SOFT_INK, width=room)
        _badge(canvas, state, x + width - 14, y + height / 2)
        return
    roomy = width >= 100
    pictured, size = (44.0, 11.0) if roomy else (34.0, 9.5)
    middle = x + width / 2 if roomy else x + (width - 17) / 2
    ability_icon(canvas, ability, middle, y + (19 if roomy else 15), pictured, opacity=faded)
    _badge(canvas, state, x + width - (12 if roomy else 10), y + (12 if roomy else 10.5))
    lines = [" ".join(label)] if roomy else list(label)
    line_h = size + (2 if roomy else 0)
    top = y + height - (19 if roomy else 4.5) - line_h * (len(lines) - 1)
    for i, line in enumerate(lines):
        at = x + width / 2, top + line_h * i
        canvas.text(*at, line, size, fill=ink, anchor="middle", width=width - 8, smallest=7, weight=2.3)
    if roomy:
        canvas.text(x + width / 2, y + height - 6, word, 10, fill=palette.SOFT_INK, anchor="middle")

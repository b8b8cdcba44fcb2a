"""Draw the senate board: eight spaces for tokens, the eight display cards between them, and the piles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Box, Canvas, num, reused
from helsinki_env.games.helsinki.render import parts
from helsinki_env.games.helsinki.render.view import SIDES, discard_by_color

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.render.view import TableView

WALL = 24.0
SENATE_CARD_WIDTH = 72.0
SENATE_CARD_HEIGHT = SENATE_CARD_WIDTH * pieces.CARD_ASPECT
ACROSS = 56.0  # width of a space between two cards in a row
DOWN = 44.0  # height of a space between two cards in a column
PAD = 7.0
SENATE_WIDTH = 3 * SENATE_CARD_WIDTH + 2 * ACROSS + 2 * (WALL + PAD)
SENATE_HEIGHT = 3 * SENATE_CARD_HEIGHT + 2 * DOWN + 2 * (WALL + PAD)

# positions in the 5x5 arrangement of cards and spaces, as (column, row)
_SLOT_AT = ((2, 0), (4, 0), (4, 2), (4, 4), (2, 4), (0, 4), (0, 2), (0, 0))
_SPACE_AT = ((1, 0), (3, 0), (4, 1), (4, 3), (3, 4), (1, 4), (0, 3), (0, 1))


@reused
def frame(canvas: Canvas, x: float, y: float, width: float, height: float, wall: float) -> None:
    """Draw four facades with mitered corners around a rectangle, with the outer top left corner at (x, y)."""
    w, h, k = num(width), num(height), num(wall)
    inner_w, inner_h = num(width - 2 * wall), num(height - 2 * wall)
    right, bottom = num(x + width), num(y + height)
    left, top = num(x), num(y)
    outlines = (
        f"M{left} {top}h{w}l-{k} {k}h-{inner_w}z",
        f"M{right} {top}v{h}l-{k}-{k}v-{inner_h}z",
        f"M{right} {bottom}h-{w}l{k}-{k}h{inner_w}z",
        f"M{left} {bottom}v-{h}l{k} {k}v{inner_h}z",
    )
    edge, mid = wall * 0.2, wall * 0.6
    for side, data in enumerate(outlines):
        tone = palette.SIDE_SHADES[side]
        canvas.path(data, fill=tone.base, stroke=tone.dark, stroke_width=1)
        across = side in (0, 2)
        length = (width if across else height) - 2 * wall
        at = mid if side in (0, 3) else (height if across else width) - mid
        roof = edge if side in (0, 3) else (height if across else width) - edge
        start = f"{num(x + wall)} {num(y + at)}" if across else f"{num(x + at)} {num(y + wall)}"
        eaves = (
            f"M{num(x + 2 * edge)} {num(y + roof)}h{num(width - 4 * edge)}"
            if across
            else (f"M{num(x + roof)} {num(y + 2 * edge)}v{num(height - 4 * edge)}")
        )
        if wall >= 20:
            canvas.path(eaves, stroke=tone.dark, stroke_width=1, stroke_opacity=0.7)
        step = length / round(length / (0.55 * wall))
        canvas.path(
            f"M{start}{'h' if across else 'v'}{num(length)}",
            stroke=tone.light,
            stroke_width=0.34 * wall,
            stroke_linecap="butt",
            stroke_dasharray=f"{num(0.4 * step)} {num(0.6 * step)}",
            stroke_dashoffset=num(-0.3 * step),
        )


@reused
def plate(canvas: Canvas, x: float, y: float, text: str, side: int, size: float, *, golden: bool = False) -> None:
    """Draw the name plate of a side, centered at (x, y); it is golden for a full line."""
    tone = palette.SIDE_SHADES[side]
    width = size * (1.7 if len(text) == 1 else 0.72 * len(text) + 1)
    across = side in (0, 2) or len(text) == 1
    w, h = (width, 1.55 * size) if across else (1.55 * size, width)
    canvas.rect(
        x - w / 2,
        y - h / 2,
        w,
        h,
        r=0.5 * size,
        fill=palette.GOLD if golden else tone.light,
        stroke=tone.dark,
        stroke_width=0.9,
    )
    if across:
        canvas.text(x, y + 0.35 * size, text, size, fill=tone.line, anchor="middle", weight=BOLD - 0.3)
    elif side == 1:
        canvas.text(x - 0.35 * size, y, text, size, fill=tone.line, anchor="middle", weight=BOLD - 0.3, turn=90)
    else:
        canvas.text(x + 0.35 * size, y, text, size, fill=tone.line, anchor="middle", weight=BOLD - 0.3, turn=-90)


def _box(place: tuple[int, int], x: float, y: float) -> Box:
    """Return (x, y, width, height) of a position in the 5x5 arrangement."""
    lefts = (
        0,
        SENATE_CARD_WIDTH,
        SENATE_CARD_WIDTH + ACROSS,
        2 * SENATE_CARD_WIDTH + ACROSS,
        2 * (SENATE_CARD_WIDTH + ACROSS),
    )
    tops = (
        0,
        SENATE_CARD_HEIGHT,
        SENATE_CARD_HEIGHT + DOWN,
        2 * SENATE_CARD_HEIGHT + DOWN,
        2 * (SENATE_CARD_HEIGHT + DOWN),
    )
    column, row = place
    return (
        x + WALL + PAD + lefts[column],
        y + WALL + PAD + tops[row],
        (SENATE_CARD_WIDTH, ACROSS)[column % 2],
        (SENATE_CARD_HEIGHT, DOWN)[row % 2],
    )


def _spaces(canvas: Canvas, table: TableView, x: float, y: float) -> None:
    for space, place in enumerate(_SPACE_AT):
        bx, by, width, height = _box(place, x, y)
        canvas.spot(f"space {space}", bx, by, width, height)
        tone = palette.SIDE_SHADES[space // 2]
        pad = 4.0
        canvas.rect(
            bx + pad,
            by + pad,
            width - 2 * pad,
            height - 2 * pad,
            r=9,
            fill=tone.light,
            stroke=tone.dark,
            stroke_width=1.1,
            data_part="space",
        )
        cx, cy = bx + width / 2, by + height / 2
        here = [seat.seat for seat in table.seats if seat.token == space]
        if not here:
            canvas.text(cx, cy + 4.2, str(space), 12, fill=tone.dark, anchor="middle", weight=BOLD)
            continue
        r = 14.0 if len(here) == 1 else 9.6
        across = width > height
        for i, seat in enumerate(here):
            if len(here) == 4:
                pieces.token(canvas, cx + (-11, 11)[i % 2], cy + (-9, 9)[i // 2], 8.6, seat)
            else:
                along = (i - (len(here) - 1) / 2) * 21.5
                pieces.token(canvas, cx + along * across, cy + along * (not across), r, seat)


def _cards(canvas: Canvas, table: TableView, components: Components, x: float, y: float) -> None:
    active = table.seats[table.to_move].token
    near = () if active is None or table.phase != "MAIN" else ((active - 1) % 8, active)
    for slot, place in enumerate(_SLOT_AT):
        bx, by, _, _ = _box(place, x, y)
        canvas.spot(f"slot {slot}", bx, by, SENATE_CARD_WIDTH, SENATE_CARD_HEIGHT)
        kind = table.display[slot]
        if slot in near:
            pieces.glow(canvas, bx, by, SENATE_CARD_WIDTH)
        if kind is None:
            pieces.empty_slot(canvas, bx, by, SENATE_CARD_WIDTH)
        else:
            canvas.rect(bx + 1, by + 2, SENATE_CARD_WIDTH, SENATE_CARD_HEIGHT, r=7, fill="#000", fill_opacity=0.14)
            parts.card(canvas, components, kind, bx, by, SENATE_CARD_WIDTH)


def _piles(canvas: Canvas, table: TableView, components: Components, x: float, y: float) -> None:
    cx, cy = x + SENATE_WIDTH / 2, y + SENATE_HEIGHT / 2
    width = 60.0
    height = width * pieces.CARD_ASPECT
    top = cy - 54
    draw_x, discard_x = cx - 9 - width, cx + 9
    discarded = sum(table.discard)
    with canvas.group(f"Draw pile: {table.draw_pile} cards"):
        pieces.pile(canvas, table.draw_pile, draw_x, top, width, parts.cathedral)
    with canvas.group(f"Discard pile: {discarded} cards"):
        pieces.pile(canvas, discarded, discard_x, top, width)
    for px, amount, label in ((draw_x, table.draw_pile, "Draw"), (discard_x, discarded, "Discard")):
        canvas.spot(f"{label.lower()} pile", px, top, width, height)
        pieces.pile_label(canvas, amount, px, top, width, label, 7)
    counts = discard_by_color(table, components)
    chip, gap = 19.5, 2.5
    left = cx - (6 * chip + 5 * gap) / 2
    with canvas.group("Discard pile by colour, wild last"):
        for colour, amount in enumerate(counts):
            tone = palette.WILD if colour == 5 else palette.PAVILIONS[colour]
            px = left + colour * (chip + gap)
            canvas.rect(px, top + height + 16, chip, 16, r=3.5, fill=tone.base, stroke=tone.line, stroke_width=0.7)
            ink = tone.line if colour >= 4 else "#fff"
            canvas.text(px + chip / 2, top + height + 28, str(amount), 11, fill=ink, anchor="middle", weight=BOLD)


def draw_senate(canvas: Canvas, table: TableView, components: Components, x: float, y: float) -> None:
    """Draw the senate board, `SENATE_WIDTH` by `SENATE_HEIGHT` pixels, with its corner at (x, y)."""
    with canvas.group(data_part="senate"):
        canvas.rect(x, y, SENATE_WIDTH, SENATE_HEIGHT, fill=palette.PAVING)
        frame(canvas, x, y, SENATE_WIDTH, SENATE_HEIGHT, WALL)
        mid_x, mid_y = x + SENATE_WIDTH / 2, y + SENATE_HEIGHT / 2
        centres = (
            (mid_x, y + WALL / 2),
            (x + SENATE_WIDTH - WALL / 2, mid_y),
            (mid_x, y + SENATE_HEIGHT - WALL / 2),
            (x + WALL / 2, mid_y),
        )
        for side, (px, py) in enumerate(centres):
            plate(canvas, px, py, SIDES[side].upper(), side, 10)
        _spaces(canvas, table, x, y)
        _cards(canvas, table, components, x, y)
        _piles(canvas, table, components, x, y)

"""Draw the pieces shared by games: tile outlines, color patterns, coats of arms, tokens, card backs and panels.

`BaseTableView` holds the information that the drawings of every game show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from helsinki_env.drawing import palette
from helsinki_env.drawing.canvas import BOLD, MARGIN, PICTURE_WIDTH, Box, Canvas, num, reused, text_width, transform
from helsinki_env.engine.positions import or_none

CARD_ASPECT = 1.36
"""The height of a card divided by its width."""

GridCell = tuple[int, int]  # (row, column)
Emblem = Callable[[Canvas, float, float, float, str], None]
"""A function that draws a game's emblem, centered at (x, y), with a given width and color."""


@dataclass(frozen=True)
class BaseTableView:
    """The contents of a drawing, to which each game adds its own.

    Attributes:
        players: number of players.
        viewer: seat for which the table is drawn; None shows all cards.
        phase: name of the phase.
        to_move: acting seat.
        round: round, counted from 1.
        done: whether the game is over.
        draw_pile: number of cards in the draw pile.
        discard: number of cards in the discard pile, by type.
        display: card type in each slot, or None if it is empty.
        places: rank of each seat, counted from 0.
    """

    players: int
    viewer: int | None
    phase: str
    to_move: int
    round: int
    done: bool
    draw_pile: int
    discard: tuple[int, ...]
    display: tuple[int | None, ...]
    places: tuple[int, ...]

    @property
    def hand_seat(self) -> int:
        """The seat whose cards can be clicked: the viewer, or the acting seat if there is no viewer."""
        return self.to_move if self.viewer is None else self.viewer

    @staticmethod
    def common_fields(p: SimpleNamespace, phase: str, viewer: int | None) -> dict[str, Any]:
        """Return the fields of this class that can be read from a record of any game, given as a namespace `p`."""
        return {
            "players": p.players,
            "viewer": viewer,
            "phase": phase,
            "round": p.round_number,
            "done": bool(p.done),
            "draw_pile": p.pile_size,
            "display": tuple(map(or_none, p.display)),
        }


def rank_text(rank: int) -> str:
    """Format a rank, counted from 0, as in ``1st``."""
    return ("1st", "2nd", "3rd", "4th")[rank]


def outline_path(cells: Iterable[GridCell], x: float, y: float, size: float, inset: float, radius: float) -> str:
    """Return a path with rounded corners around a connected set of cells, `inset` pixels inside its edge.

    (x, y) is the corner of cell (0, 0), and `size` is the width of a cell in pixels.
    """
    return _outline(frozenset(cells), x, y, size, inset, radius)


@lru_cache(maxsize=1 << 12)
def _outline(filled: frozenset[GridCell], x: float, y: float, size: float, inset: float, radius: float) -> str:
    ahead: dict[GridCell, tuple[GridCell, GridCell]] = {}  # corner -> (direction, next corner), clockwise, as (x, y)
    for r, c in filled:
        for neighbour, start, step in (
            ((r - 1, c), (c, r), (1, 0)),
            ((r, c + 1), (c + 1, r), (0, 1)),
            ((r + 1, c), (c + 1, r + 1), (-1, 0)),
            ((r, c - 1), (c, r + 1), (0, -1)),
        ):
            if neighbour not in filled:
                ahead[start] = (step, (start[0] + step[0], start[1] + step[1]))
    first = corner = min(ahead)
    before = next(step for step, end in ahead.values() if end == first)
    path = ""
    pen = (0.0, 0.0)
    while True:
        step, following = ahead[corner]
        turn = before[0] * step[1] - before[1] * step[0]
        if turn:
            px = x + corner[0] * size - inset * (before[1] + step[1])
            py = y + corner[1] * size + inset * (before[0] + step[0])
            begin = (round(px - radius * before[0], 1), round(py - radius * before[1], 1))
            end = (round(px + radius * step[0], 1), round(py + radius * step[1], 1))
            if not path:
                path = f"M{num(begin[0])} {num(begin[1])}"
            elif before[0]:
                path += f"h{num(begin[0] - pen[0])}"
            else:
                path += f"v{num(begin[1] - pen[1])}"
            knee = (round(px, 1) - begin[0], round(py, 1) - begin[1])
            path += f"q{_pair(*knee)}{_pair(end[0] - begin[0], end[1] - begin[1], first=False)}"
            pen = end
        before, corner = step, following
        if corner == first:
            return path + "z"


def _pair(x: float, y: float, first: bool = True) -> str:
    """Format two numbers as compact path data. `first` is true if no number precedes them."""
    a, b = num(x), num(y)
    return f"{'' if first or a.startswith('-') else ' '}{a}{'' if b.startswith('-') else ' '}{b}"


def square(x: float, y: float, h: float) -> str:
    """Return the path of a square with sides of length `h`, centered at (x, y)."""
    q = num(h)
    return f"M{num(x - h / 2)} {num(y - h / 2)}h{q}v{q}h-{q}z"


def _plus(x: float, y: float, h: float) -> str:
    q = num(2 * h)
    return f"M{num(x - h)} {num(y)}h{q}M{num(x)} {num(y - h)}v{q}"


def _diamond(x: float, y: float, h: float) -> str:
    q, k = num(0.66 * h), 0.66 * h
    return f"M{num(x)} {num(y - k)}l{q} {q}l-{q} {q}l-{q}-{q}z"


def _stripes(x: float, y: float, h: float) -> str:
    q = num(2 * h)
    return f"M{num(x - h)} {num(y - 0.45 * h)}h{q}M{num(x - h)} {num(y + 0.45 * h)}h{q}"


def _dot(x: float, y: float, h: float) -> str:
    return f"M{num(x)} {num(y)}h.01"  # a point, which a broad round stroke draws as a disc


PATTERNS: tuple[Callable[[float, float, float], str], ...] = (square, _plus, _diamond, _stripes, _dot)
"""The patterns that encode the colors: square, cross, diamond, stripes and disc.

The arguments are x, y and half the width, and the result is a path. The path of the disc is a point, which must be
drawn with a broad round stroke.
"""

DOTTED = PATTERNS.index(_dot)


SHIELD = "M-5.6-6.4h11.2v5.6c0 4.4-3.2 6.7-5.6 7.8c-2.4-1.1-5.6-3.4-5.6-7.8z"
_SHIP = "M-3.8 1.6h7.6q-.8 2-2 2h-3.6q-1.2 0-2-2zM-.3-5v5.2h-2.7zM.7-4.4v4.6h2.6z"


@reused
def player_coat(canvas: Canvas, x: float, y: float, size: float, seat: int, **style: str) -> None:
    """Draw a player's coat of arms, a shield with a boat, centered at (x, y) and `size` pixels high."""
    tone = palette.PLAYERS[seat]
    place = transform(x, y, size / 14)
    with canvas.group(transform=place, **style):
        canvas.path(SHIELD, fill=tone.base, stroke=palette.INK, stroke_width=1.1)
        canvas.path(_SHIP, fill=tone.line)


@reused
def token(canvas: Canvas, x: float, y: float, r: float, seat: int) -> None:
    """Draw a player's token, a disc with the seat number."""
    tone = palette.PLAYERS[seat]
    canvas.circle(x, y + 0.12 * r, r, fill="#000", fill_opacity=0.25)
    canvas.circle(x, y, r, fill=tone.base, stroke=palette.INK, stroke_width=max(1.0, 0.1 * r))
    canvas.circle(x, y, 0.76 * r, stroke=tone.line, stroke_opacity=0.35, stroke_width=0.8)
    canvas.text(x, y + 0.42 * r, str(seat), 1.2 * r, fill=tone.line, anchor="middle", weight=BOLD)


@reused
def empty_slot(canvas: Canvas, x: float, y: float, width: float) -> None:
    """Draw the outline of a card in an empty slot."""
    canvas.rect(
        x,
        y,
        width,
        CARD_ASPECT * width,
        r=0.1 * width,
        fill="#000",
        fill_opacity=0.04,
        stroke=palette.FAINT,
        stroke_dasharray="4 4",
    )


@reused
def card_back_with_emblem(canvas: Canvas, x: float, y: float, width: float, emblem: Emblem) -> None:
    """Draw the back of a card, which shows the game's emblem, with its corner at (x, y)."""
    height = CARD_ASPECT * width
    canvas.rect(x, y, width, height, r=0.1 * width, fill=palette.BACK, stroke="#1e3243", stroke_width=0.9)
    pad = 0.09 * width
    canvas.rect(
        x + pad, y + pad, width - 2 * pad, height - 2 * pad, r=0.05 * width, stroke=palette.BACK_LIGHT, stroke_width=0.9
    )
    emblem(canvas, x + width / 2, y + height / 2, 0.62 * width, palette.BACK_LIGHT)


@reused
def pile(canvas: Canvas, amount: int, x: float, y: float, width: float, emblem: Emblem | None = None) -> None:
    """Draw a pile of cards with its corner at (x, y), face down if there is an emblem, otherwise as blank faces."""
    if not amount:
        empty_slot(canvas, x, y, width)
        return
    for lift in range(min(3, 1 + amount // 12), -1, -1):
        left, top = x + 1.5 * lift, y + 1.5 * lift
        if emblem is not None:
            card_back_with_emblem(canvas, left, top, width, emblem)
        else:
            edge = palette.STONE_DARK
            canvas.rect(left, top, width, CARD_ASPECT * width, r=5, fill=palette.CARD, stroke=edge, stroke_width=0.9)


@reused
def pile_label(canvas: Canvas, amount: int, x: float, y: float, width: float, label: str, above: float) -> None:
    """Write the number of cards on a pile whose corner is at (x, y), and a label `above` pixels above the pile."""
    middle = x + width / 2, y + CARD_ASPECT * width / 2
    canvas.circle(*middle, 15, fill=palette.PANEL, stroke=palette.INK, stroke_width=1.1)
    canvas.text(middle[0], middle[1] + 5.6, str(amount), 16, anchor="middle", weight=BOLD)
    canvas.text(middle[0], y - above, label, 11.5, anchor="middle", fill=palette.SOFT_INK)


@reused
def glow(canvas: Canvas, x: float, y: float, width: float) -> None:
    """Draw a golden background behind a card that can be taken."""
    box = (x - 4, y - 4, width + 8, CARD_ASPECT * width + 8)
    canvas.rect(*box, r=11, fill=palette.GOLD, fill_opacity=0.55, data_part="near")


def card_spots(canvas: Canvas, cards: Sequence[tuple[int | None, float, float]], width: float) -> None:
    """Register the clickable regions of the cards in a hand, given as (type, x, y) in drawing order.

    There is one region for each run of equal cards in a row. Cards of type None are face down and not clickable.
    """
    for i, (kind, x, y) in enumerate(cards):
        row = [card for card in cards[i:] if card[2] == y]
        alike = next((n for n, card in enumerate(row) if card[0] != kind), len(row))
        right = row[alike - 1][1] + width
        if alike < len(row):
            right = min(right, row[alike][1])  # the next card may overlap the last one of the run
        if kind is not None:
            canvas.spot(f"card {kind}", x, y, right - x, CARD_ASPECT * width)


@reused
def panel(canvas: Canvas, x: float, y: float, width: float, height: float, edge: str = palette.PANEL_EDGE) -> None:
    """Draw the background panel for a part of the table."""
    canvas.rect(x, y + 2.5, width, height, r=12, fill="#000", fill_opacity=0.22)
    canvas.rect(x, y, width, height, r=12, fill=palette.PANEL, stroke=edge, stroke_width=1.2)


def fit_grid(box: Box, rows: int, columns: int, largest: float) -> tuple[float, float, float]:
    """Return the x, y and cell size of a grid that is centered in a box, with cells at most `largest` pixels wide."""
    x, y, width, height = box
    size = min(largest, width / columns, height / rows)
    return x + (width - columns * size) / 2, y + (height - rows * size) / 2, size


def lay_cards(count: int, box: Box, card_width: float, rows: int) -> list[tuple[float, float]]:
    """Return the corners of the cards in a box. The cards overlap if they would not fit into `rows` rows."""
    x, y, width, _ = box
    gap = 5.0
    per_row = max(1, int((width + gap) // (card_width + gap)), -(-count // rows))
    step = min(card_width + gap, (width - card_width) / max(1, per_row - 1))
    down = CARD_ASPECT * card_width + gap
    return [(x + step * (i % per_row), y + i // per_row * down) for i in range(count)]


def seat_header(
    canvas: Canvas, seat: int, mark: str, is_viewer: bool, score: int, x: float, y: float, width: float
) -> float:
    """Draw a player's token, name, marks and score above a board, and return the width of the score.

    `mark` is a rank such as ``1st``, or ``to move``, or empty.
    """
    token(canvas, x + 17, y + 24, 14, seat)
    pill_x = x + 49 + canvas.text(x + 40, y + 21, f"Player {seat}", 15, weight=BOLD - 0.2)
    marks = [("you", palette.SIDE_SHADES[2].light, palette.SIDE_SHADES[2].line)] if is_viewer else []
    if mark:
        marks.append((mark, palette.GOLD if mark in ("1st", "to move") else palette.PAVING, palette.INK))
    for text, fill, ink in marks:
        pill_w = text_width(text, 11) + 14
        canvas.rect(pill_x, y + 8, pill_w, 17, r=8.5, fill=fill)
        canvas.text(pill_x + 7, y + 20.3, text, 11, fill=ink, weight=2.4)
        pill_x += pill_w + 5
    return canvas.text(x + width - 2, y + 37, str(score), 32, anchor="end", weight=BOLD)


def last_action(canvas: Canvas, box: Box, text: str) -> None:
    """Draw the last action in the lower part of a panel."""
    x, y, width, height = box
    canvas.path(f"M{x + 14} {y + height - 30}h{width - 28}", stroke=palette.PANEL_EDGE, stroke_width=1.2)
    used = canvas.text(x + 16, y + height - 11, "Last:", 12, fill=palette.SOFT_INK)
    canvas.text(x + 22 + used, y + height - 11, text, 12, width=width - 40 - used, weight=2.2)


def table_header(canvas: Canvas, title: str, emblem: Emblem, label: str) -> float:
    """Draw a game's emblem and name above its table, with a label on the right, and return the width of the label."""
    emblem(canvas, MARGIN + 22, 33, 42, palette.GOLD)
    canvas.text(MARGIN + 54, 43, title, 31, fill=palette.PANEL, weight=2.4)
    return canvas.text(PICTURE_WIDTH - MARGIN, 41, label, 22, fill=palette.PANEL, anchor="end", weight=2.4)

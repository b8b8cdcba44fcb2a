"""The five abilities as pictures with names and states: active, used, missing or denied."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from helsinki_env.drawing import palette
from helsinki_env.drawing.canvas import BOLD, Canvas, format_coordinate
from helsinki_env.games.copenhagen.ability_words import ABILITY_LABELS
from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.render import parts

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.render.view import SeatView, TableView

INK = palette.INK
Box = tuple[float, float, float, float]  # x, y, width, height


def _little_card(canvas: Canvas, x: float, y: float, fill: str = palette.CARD) -> None:
    canvas.rect(x - 6, y - 8.5, 12, 17, r=2, fill=fill, stroke=INK, stroke_width=1.3)


def _any_cards(canvas: Canvas) -> None:
    for x in (-13.0, 13.0):
        _little_card(canvas, x, 4, palette.BACK_LIGHT)
    canvas.rect(-5, -2, 10, 13, r=2, stroke=INK, stroke_width=1.1, stroke_dasharray="2 2.4")
    canvas.path("M-13-8q13-8 26 0m-5.2-.4l5.2.4l-1.6-5", stroke=INK, stroke_width=1.7)


def _additional_card(canvas: Canvas) -> None:
    _little_card(canvas, 8, 0, palette.BACK_LIGHT)
    canvas.text(-7.5, 6, "+1", 17, anchor="middle", weight=BOLD)


def _construction_discount(canvas: Canvas) -> None:
    parts.tile(canvas, 3, [(0, 0), (1, 0), (1, 1)], (1, 0), 0, -11, 11)
    canvas.text(-9, 6, "\u22121", 17, anchor="middle", weight=BOLD)


def _change_of_colours(canvas: Canvas) -> None:
    blue, yellow = palette.PAVILIONS[0], palette.PAVILIONS[4]
    _little_card(canvas, -12, 0, blue.base)
    _little_card(canvas, 12, 0, yellow.base)
    canvas.path("M-4 0h8m-3.2-3.2l3.2 3.2l-3.2 3.2", stroke=INK, stroke_width=1.7)


def _both_actions(canvas: Canvas) -> None:
    _little_card(canvas, -12, 0, palette.BACK_LIGHT)
    canvas.path("M-3 0h6m-3-3v6", stroke=INK, stroke_width=1.7)
    parts.tile(canvas, 1, [(0, 0), (1, 0)], (1, 0), 7, -11, 11)


ICONS: tuple[Callable[[Canvas], None], ...] = (
    _any_cards,
    _additional_card,
    _construction_discount,
    _change_of_colours,
    _both_actions,
)
"""Drawing functions of the abilities, each centered at (0, 0), about 40 wide and 24 high."""


def icon(canvas: Canvas, ability: int, x: float, y: float, width: float, opacity: float | None = None) -> None:
    """Draw an ability's picture around (x, y)."""
    with canvas.group(
        transform=f"translate({format_coordinate(x)} {format_coordinate(y)})scale({format_coordinate(width / 42)})",
        opacity=opacity,
    ):
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
    """Draw the state of an ability around (x, y): a tick, a turned arrow, a dash or a cross."""
    fill, ink = {
        "active": (palette.GOLD, INK),
        "used": (palette.PANEL, palette.SOFT_INK),
        "missing": ("none", palette.SOFT_INK),
        "denied": ("#c8473a", "#fff"),
    }[state]
    canvas.circle(x, y, 8, fill=fill, stroke=None if state == "missing" else INK, stroke_width=0.9)
    place = f"translate({format_coordinate(x)} {format_coordinate(y)})scale(.8)"
    canvas.path(_MARKS[state], transform=place, stroke=ink, stroke_width=2.1)


def _word(table: TableView, seat: SeatView, ability: int) -> str:
    if seat.seat == table.to_move and not table.done and ability in table.pending.using:
        return "in use"
    state = seat.state_of(ability)
    return "not owned" if state == "missing" else state


def column(canvas: Canvas, table: TableView, seat: SeatView, x: float, y: float, width: float, height: float) -> None:
    """Draw a seat's five abilities in a column; names are to the right of their pictures or, if it is narrow, below."""
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


def _ability(canvas: Canvas, ability: int, state: str, word: str, box: Box) -> None:
    x, y, width, height = box
    fill, edge, dashes = _STATES[state]
    canvas.rect(x, y, width, height, r=7, fill=fill, stroke=edge, stroke_width=1.3, stroke_dasharray=dashes)
    faded = None if state == "active" else 0.55 if state == "used" else 0.28
    ink = INK if state == "active" else palette.SOFT_INK
    label = ABILITY_LABELS[ability]
    if width >= 170:  # side by side
        icon(canvas, ability, x + 29, y + height / 2, 44, opacity=faded)
        left, room = x + 60, width - 86
        canvas.text(left, y + height / 2 - 2, " ".join(label), 13, fill=ink, width=room, weight=2.3)
        canvas.text(left, y + height / 2 + 14, word, 11, fill=palette.SOFT_INK, width=room)
        _badge(canvas, state, x + width - 14, y + height / 2)
        return
    roomy = width >= 100
    pictured, size = (44.0, 11.0) if roomy else (34.0, 9.5)
    middle = x + width / 2 if roomy else x + (width - 17) / 2
    icon(canvas, ability, middle, y + (19 if roomy else 15), pictured, opacity=faded)
    _badge(canvas, state, x + width - (12 if roomy else 10), y + (12 if roomy else 10.5))
    lines = [" ".join(label)] if roomy else list(label)
    line_h = size + (2 if roomy else 0)
    top = y + height - (19 if roomy else 4.5) - line_h * (len(lines) - 1)
    for i, line in enumerate(lines):
        at = x + width / 2, top + line_h * i
        canvas.text(*at, line, size, fill=ink, anchor="middle", width=width - 8, smallest=7, weight=2.3)
    if roomy:
        canvas.text(x + width / 2, y + height - 6, word, 10, fill=palette.SOFT_INK, anchor="middle")

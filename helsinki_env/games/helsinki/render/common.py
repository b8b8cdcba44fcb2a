"""Draw the common supply, the bonus cards and the panel that shows the pending action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Box, Canvas
from helsinki_env.games.helsinki.components import COLORS, ROOFS
from helsinki_env.games.helsinki.render import parts
from helsinki_env.games.helsinki.render.view import card_name

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.render.view import TableView


def _tiles(
    canvas: Canvas, table: TableView, components: Components, x: float, y: float, width: float, row_h: float
) -> None:
    step = width / len(ROOFS)
    for colour, name in enumerate(COLORS):
        top = y + colour * row_h
        if colour % 2 == 0:
            canvas.rect(x - 6, top, width + 12, row_h, r=6, fill=palette.PAVING, fill_opacity=0.45)
        for column, roofs in enumerate(ROOFS):
            left = table.tile_supply[colour][column]
            px = x + column * step
            canvas.spot(f"kind {len(ROOFS) * colour + column}", px, top, step, row_h)
            with canvas.group(f"{name} tiles of {roofs} roofs: {left}", opacity=None if left else 0.22):
                parts.shape(canvas, components, colour, roofs, (px, top + 3, step - 25, row_h - 6), 12)
            ink = palette.INK if left else palette.FAINT
            canvas.text(px + step - 21, top + row_h / 2 + 4.6, f"\u00d7{left}", 13, fill=ink, weight=2.3)


def supply(
    canvas: Canvas, table: TableView, components: Components, x: float, y: float, width: float, height: float
) -> None:
    """Draw the common supply on a panel: tiles, wild tiles, superstructures and bonus cards."""
    pieces.panel(canvas, x, y, width, height)
    x, width = x + 18, width - 36
    canvas.text(x - 4, y + 25, "Supply", 14, weight=BOLD)
    row_h = 47.0
    top = y + 38
    _tiles(canvas, table, components, x, top, width, row_h)
    top += 5 * row_h + 18
    half = width / 2
    with canvas.group(f"Wild tiles: {table.wild_tiles}"):
        parts.tile(canvas, -1, ((0, 0),), x + 4, top + 2, 34)
        canvas.text(x + 46, top + 17, f"\u00d7{table.wild_tiles}", 15, weight=BOLD)
        canvas.text(x + 46, top + 32, "wild tiles", 11, fill=palette.SOFT_INK)
    with canvas.group(f"Superstructures: {table.superstructures}"):
        parts.superstructure(canvas, x + half + 12, top + 19, 36)
        canvas.text(x + half + 32, top + 17, f"\u00d7{table.superstructures}", 15, weight=BOLD)
        canvas.text(x + half + 32, top + 32, "superstructures", 11, fill=palette.SOFT_INK, width=half - 30)
    top += 62
    canvas.path(f"M{x - 4} {top - 7}h{width + 8}", stroke=palette.PANEL_EDGE, stroke_width=1.2)
    if table.dry_roads:
        _bonus(canvas, table, components, x, top)
    else:
        canvas.text(x, top + 22, "Base game", 12, fill=palette.SOFT_INK)
        canvas.text(x, top + 38, "without Dry roads", 11, fill=palette.FAINT)
    _legend(canvas, components, x + half + 2, top)


def _bonus(canvas: Canvas, table: TableView, components: Components, x: float, top: float) -> None:
    canvas.text(x, top + 12, "Dry roads bonus", 11, fill=palette.SOFT_INK)
    taken = {seat.bonus: seat.seat for seat in table.seats if seat.bonus is not None}
    for i, value in enumerate(components.bonus_cards[: table.players]):
        px, py = x + i * 31, top + 20
        here = value in table.bonus_cards
        with canvas.group(f"Bonus card {value}" + ("" if here else ", taken"), data_part="bonus"):
            canvas.rect(
                px,
                py,
                26,
                35,
                r=4,
                fill=palette.GOLD if here else "#e6dfcf",
                stroke=palette.GOLD_DARK if here else palette.FAINT,
                stroke_width=1.2,
            )
            ink = palette.INK if here else palette.FAINT
            canvas.text(
                px + 13,
                py + (23.5 if here else 14),
                str(value),
                17 if here else 12,
                anchor="middle",
                fill=ink,
                weight=BOLD,
            )
            if value in taken:
                pieces.token(canvas, px + 13, py + 24, 7.5, taken[value])


def _legend(canvas: Canvas, components: Components, x: float, top: float) -> None:
    canvas.text(x, top + 12, "Points now", 11, fill=palette.SOFT_INK)
    values = (0, components.points_line, components.points_crossing)
    for worth, points in enumerate(values):
        parts.superstructure(canvas, x + 9 + 40 * worth, top + 37, 20, worth)
        canvas.text(x + 21 + 40 * worth, top + 42, str(points), 13, weight=2.3)


def current_action_panel(
    canvas: Canvas, table: TableView, components: Components, last_decision: str | None, box: Box
) -> None:
    """Draw a panel with the acting player, the pending action and its cards, and the last action."""
    x, y, width, height = box
    seat = table.to_move
    pieces.panel(canvas, x, y, width, height, palette.GOLD_DARK)
    canvas.spot("now", x, y, width, height)
    cards = ([] if table.card is None else [table.card]) + list(table.paid)
    due = min(table.to_pay, 6) if table.phase == "PAY" else 0
    room = 0.0
    with canvas.group(data_part="pending"):
        if cards or due:
            top = y + (11 if last_decision else (height - 46 * pieces.CARD_ASPECT) / 2)
            room = _payment(canvas, components, cards, due, (x, top, width, height))
        elif table.lifted is not None:
            room = 70
            parts.superstructure(canvas, x + width - 44, y + height / 2 - 14, 52)
    middle = y + (34 if last_decision else height / 2)
    pieces.token(canvas, x + 30, middle, 15, seat)
    space = width - 72 - room
    who = f"Player {seat}" + (" (you)" if seat == table.viewer else "")
    canvas.text(x + 56, middle - 3, f"{who} {table.headline}", 15, weight=BOLD - 0.2, width=space, smallest=11)
    if table.detail:
        detail = table.detail[0].upper() + table.detail[1:]
        canvas.text(x + 56, middle + 15, detail, 12, fill=palette.SOFT_INK, width=space)
    if last_decision:
        pieces.last_action(canvas, box, last_decision)


def _payment(canvas: Canvas, components: Components, cards: list[int], due: int, box: Box) -> float:
    """Draw the card being built, the cards paid and placeholders for the cards due; return the total width."""
    x, top, width, _ = box
    card_w = 46.0
    total = len(cards) + due
    step = min(card_w + 4, 86 / max(1, total - 2))  # paid cards overlap; the card being built does not
    left = x + width - 14 - card_w - (step * (total - 2) + card_w + 9 if total > 1 else 0)
    for i in range(total):
        px = left + (card_w + 9 + (i - 1) * step if i else 0)
        if i < len(cards):
            with canvas.group(("Builds " if i == 0 else "Paid ") + card_name(cards[i], components)):
                parts.card(canvas, components, cards[i], px, top, card_w)
        else:
            canvas.rect(px, top, card_w, card_w * pieces.CARD_ASPECT, r=4.6, fill=palette.PANEL)
            pieces.empty_slot(canvas, px, top, card_w)
    return x + width - left - 4

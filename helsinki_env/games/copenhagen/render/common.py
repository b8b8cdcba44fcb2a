"""Draw the common area of the table: display, piles, supply, and the panel with the current action."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Box, Canvas, text_width
from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.ability_words import ABILITY_LABELS
from helsinki_env.games.copenhagen.actions import ANY_CARDS
from helsinki_env.games.copenhagen.components import COLORS, DISPLAY, TILE_SIZES
from helsinki_env.games.copenhagen.render import parts
from helsinki_env.games.copenhagen.render.view import kind_name

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.render.view import TableView

CARD_W = 66.0


def _open_slots(table: TableView) -> set[int]:
    """Return the slots from which the next card may be taken in phase TAKE; empty in other phases."""
    if table.phase != "TAKE" or table.done:
        return set()
    there = {slot for slot, card in enumerate(table.display) if card is not None}
    first = table.pending.first
    if first is None:
        return there
    return {slot for slot in there if (slot > first + 1 if ANY_CARDS in table.pending.using else slot == first + 1)}


def display(canvas: Canvas, table: TableView, box: Box) -> None:
    """Draw the display, the piles and their known contents on a panel."""
    x, y, width, height = box
    pieces.panel(canvas, x, y, width, height)
    canvas.text(x + 14, y + 25, "Display", 14, weight=BOLD)
    top, card_h, step = y + 40, CARD_W * pieces.CARD_ASPECT, CARD_W + 9
    near = _open_slots(table)
    for slot, colour in enumerate(table.display):
        px = x + 18 + slot * step
        canvas.spot(f"slot {slot}", px, top, CARD_W, card_h)
        with canvas.group(f"Slot {slot}", data_part="slot"):
            if slot in near:
                pieces.glow(canvas, px, top, CARD_W)
            if colour is None:
                pieces.empty_slot(canvas, px, top, CARD_W)
            else:
                canvas.rect(px + 1, top + 2, CARD_W, card_h, r=7, fill="#000", fill_opacity=0.14)
                parts.card(canvas, colour, px, top, CARD_W)
            if slot == table.last.slot:
                canvas.rect(px - 3, top - 3, CARD_W + 6, card_h + 6, r=9, stroke=palette.INK, stroke_width=5.5)
                canvas.rect(
                    px - 3, top - 3, CARD_W + 6, card_h + 6, r=9, stroke=palette.GOLD, stroke_width=3, data_part="last"
                )
            canvas.text(px + CARD_W / 2, top + card_h + 17, str(slot), 11, fill=palette.SOFT_INK, anchor="middle")
    left = x + 18 + DISPLAY * step + 8
    _piles(canvas, table, left, top, x + width - 16 - left)
    _facts(canvas, table, x + 18, y + height - 34, width - 36)


def _piles(canvas: Canvas, table: TableView, x: float, top: float, width: float) -> None:
    """Draw the draw pile and the discard pile side by side."""
    card_w = 60.0
    card_h, discarded = card_w * pieces.CARD_ASPECT, sum(table.discard)
    canvas.path(f"M{x - 5} {top - 8}v{card_h + 26:g}", stroke=palette.PANEL_EDGE, stroke_width=1.2)
    step = (width - 2 * card_w - 6) / 3 + card_w
    for number, (label, amount) in enumerate((("Draw pile", table.draw_pile), ("Discard pile", discarded))):
        px = x + 6 + number * step + (step - card_w) / 2
        canvas.spot(label.lower(), px, top, card_w, card_h)
        with canvas.group(f"{label}: {pluralize(amount, 'card')}"):
            pieces.pile(canvas, amount, px, top, card_w, None if number else parts.houses)
        pieces.pile_label(canvas, amount, px, top, card_w, label, 11)


def chips(canvas: Canvas, counts: tuple[int, ...], x: float, y: float, width: float) -> float:
    """Draw counts by color as a row of lettered chips, and return its width."""
    gap = 3.0
    chip = (width + gap) / len(counts) - gap
    for colour, amount in enumerate(counts):
        tone = palette.PAVILIONS[colour]
        px = x + colour * (chip + gap)
        with canvas.group(f"{COLORS[colour]}: {amount}"):
            canvas.rect(px, y, chip, 17, r=3.5, fill=tone.base, stroke=tone.line, stroke_width=0.7)
            ink = tone.line if COLORS[colour] == "yellow" else "#fff"
            text = f"{COLORS[colour][0].upper()} {amount}"
            canvas.text(px + chip / 2, y + 12.6, text, 11, fill=ink, anchor="middle", weight=BOLD)
    return width


def _facts(canvas: Canvas, table: TableView, x: float, y: float, width: float) -> None:
    """Draw what is public about the piles: discards by color, a known draw pile, and the End of Game card."""
    canvas.path(f"M{x - 4} {y - 4}h{width + 8:g}", stroke=palette.PANEL_EDGE, stroke_width=1.2)
    text = "End of Game card in the draw pile" if table.end_card else "End of Game card not in the draw pile"
    if table.done and not table.end_card:
        text = "The End of Game card came up"
    pill = text_width(text, 11.5) + 22
    fill, ink = ("#c8473a", "#fff") if table.end_card else (palette.PAVING, palette.INK)
    canvas.rect(x + width - pill, y + 3, pill, 21, r=10.5, fill=fill, data_part="end-card")
    canvas.text(x + width - pill + 11, y + 17.8, text, 11.5, fill=ink, weight=2.4)
    used = canvas.text(x, y + 18, "Discards", 11.5, fill=palette.SOFT_INK) + 8
    with canvas.group("Discard pile by colour", data_part="discards"):
        used += chips(canvas, table.discard, x + used, y + 5, 158) + 14
    if table.in_pile is not None:
        used += canvas.text(x + used, y + 18, "To draw", 11.5, fill=palette.SOFT_INK) + 8
        with canvas.group("Draw pile by colour", data_part="in-pile"):
            chips(canvas, table.in_pile, x + used, y + 5, 158)


def supply(canvas: Canvas, table: TableView, components: Components, box: Box) -> None:
    """Draw the common supply on a panel: colored tiles by color and size, white tiles, and a legend."""
    x, y, width, height = box
    pieces.panel(canvas, x, y, width, height)
    x, width = x + 18, width - 36
    canvas.text(x - 4, y + 25, "Supply", 14, weight=BOLD)
    top, row_h = y + 38, 50.0
    step = (width - 16) / len(TILE_SIZES)
    for colour, name in enumerate(COLORS):
        at = top + colour * row_h
        if colour % 2 == 0:
            canvas.rect(x - 6, at, width + 12, row_h, r=6, fill=palette.PAVING, fill_opacity=0.45)
        ink = palette.PAVILIONS[colour].line
        canvas.text(x + 1, at + row_h / 2 + 4.6, name[0].upper(), 13, fill=ink, weight=BOLD)
        for number, size in enumerate(TILE_SIZES):
            left, px = table.supply[colour][number], x + 16 + number * step
            canvas.spot(f"kind {len(TILE_SIZES) * colour + number}", px - 5, at + 1, step - 2, row_h - 2)
            with canvas.group(f"{name} tiles of size {size}: {left}", data_part="kind", opacity=None if left else 0.22):
                parts.shape(canvas, components, colour, size, (px, at + 3, step - 31, row_h - 6), 14.5)
            ink = palette.INK if left else palette.FAINT
            canvas.text(px + step - 24, at + row_h / 2 + 4.6, f"\u00d7{left}", 13, fill=ink, weight=2.3)
            if table.pending.tile == (colour, size):
                frame = (px - 5, at + 1, step - 2, row_h - 2)
                canvas.rect(*frame, r=7, stroke=palette.GOLD_DARK, stroke_width=2.4, data_part="building")
    at = top + len(COLORS) * row_h + 9
    with canvas.group(f"White tiles: {table.white_tiles}"):
        parts.tile(canvas, -1, ((0, 0),), None, x + 2, at, 32)
        canvas.text(x + 44, at + 15, f"\u00d7{table.white_tiles}", 15, weight=BOLD)
        canvas.text(x + 44, at + 30, "white tiles", 11, fill=palette.SOFT_INK)
    _legend(canvas, components, x + 2 * step - 44, at)


def _legend(canvas: Canvas, components: Components, x: float, y: float) -> None:
    """Draw a legend with the points for full lines and for lines of windows only."""
    rows = (
        ("Full row", components.points_row, components.points_row_windows),
        ("Full column", components.points_column, components.points_column_windows),
    )
    for i, (line, points, windows) in enumerate(rows):
        text = f"{line} {points}, windows only {windows}"
        canvas.text(x, y + 13 + 17 * i, text, 11.5, fill=palette.SOFT_INK)


def current_action_panel(canvas: Canvas, table: TableView, components: Components, box: Box) -> None:
    """Draw a panel with the current action, the tile, cards and abilities in play, and the last action."""
    x, y, width, height = box
    pieces.panel(canvas, x, y, width, height, palette.GOLD_DARK)
    canvas.spot("now", x, y, width, height)
    last = table.last.text
    with canvas.group(data_part="pending"):
        room = 0.0 if table.done else _in_play(canvas, table, components, box)
    middle = y + (40 if last else height / 2)
    seats = table.winners or (table.to_move,)
    for i, seat in reversed(list(enumerate(seats))):
        pieces.token(canvas, x + 30 + 20 * i, middle, 15, seat)
    left = x + 56 + 20 * (len(seats) - 1)
    space = x + width - 16 - left - room
    who, headline, detail = table.decision
    who += " (you)" if table.to_move == table.viewer and not table.done else ""
    text, pill = f"{who} {headline}", text_width(table.phase, 10) + 14
    used = canvas.text(
        left, middle - 3, text, 15, weight=BOLD - 0.2, width=space - (0 if table.done else pill + 9), smallest=10
    )
    if not table.done:
        canvas.rect(left + used + 9, middle - 15.5, pill, 16, r=8, fill=palette.SIDE_SHADES[2].light)
        canvas.text(left + used + 16, middle - 4, table.phase, 10, fill=palette.SIDE_SHADES[2].line, weight=2.4)
    if detail:
        canvas.text(left, middle + 16, detail, 12, fill=palette.SOFT_INK, width=space)
    if last:
        pieces.last_action(canvas, box, last)


def _in_play(canvas: Canvas, table: TableView, components: Components, box: Box) -> float:
    """Draw the pending coats, or the tile being built with its cards and abilities; return the width at the right."""
    x, y, width, _ = box
    pending, right = table.pending, x + width - 14
    if table.phase == "COAT":
        for i in range(min(pending.rewards, 8)):
            parts.board_coat(canvas, right - 16 - 31 * i, y + 40, 34, data_part="reward")
        return 31.0 * min(pending.rewards, 8) + 10
    card_w, cards = 38.0, [colour for colour, count in enumerate(pending.paid) for _ in range(count)]
    for slot in range(len(cards) + pending.due - 1, -1, -1):
        right -= card_w + 4
        if slot < len(cards):
            parts.card(canvas, cards[slot], right, y + 15, card_w)
        else:
            pieces.empty_slot(canvas, right, y + 15, card_w)
    if pending.tile is not None:
        right -= 70
        with canvas.group(f"Constructs {kind_name(*pending.tile)}", data_part="constructs"):
            parts.shape(canvas, components, *pending.tile, (right, y + 12, 64, 58), 19)
    for ability in sorted(pending.using, reverse=True):
        right -= 56
        with canvas.group(f"In use: {' '.join(ABILITY_LABELS[ability])}", data_part="using"):
            canvas.rect(right, y + 18, 50, 40, r=7, fill=palette.CARD, stroke=palette.GOLD_DARK, stroke_width=1.3)
            parts.ability_icon(canvas, ability, right + 25, y + 33, 40)
            canvas.text(right + 25, y + 54, "in use", 8.5, anchor="middle", fill=palette.SOFT_INK)
    return x + width - 14 - right + 6

"""Draw the table as text for terminals, using box-drawing characters, with or without color."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helsinki_env.drawing import palette
from helsinki_env.drawing.lines import (
    INK_ON,
    TextLine,
    add_player_text,
    arrange_blocks,
    join_columns,
    lines_to_text,
    pluralize,
    walled,
    wrap,
)
from helsinki_env.drawing.pieces import rank_text
from helsinki_env.games.copenhagen.ability_words import ABILITY_LABELS
from helsinki_env.games.copenhagen.components import COLORS, COLUMNS, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.render.parts import WHITE
from helsinki_env.games.copenhagen.render.view import SeatView, TableView, kind_name, read_table_view

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.game import CopenhagenGame

BLOCK_WIDTH = 34
_COMMON = (50, 40)
_STATES = {"active": "[+]", "used": "[-]", "missing": "[ ]", "denied": "[x]"}


def _card(line: TextLine, colour: int | None, width: int = 3) -> None:
    """Add a card as the letter of its color, or - if there is no card."""
    if colour is None:
        line.add("-".center(width))
    else:
        line.add(COLORS[colour][0].upper().center(width), INK_ON[colour], palette.PAVILIONS[colour].base, True)


def _cards(line: TextLine, counts: tuple[int, ...]) -> TextLine:
    """Add counts by color to a line and return it."""
    for colour, count in enumerate(counts):
        text = f" {COLORS[colour][0].upper()}{count} "
        line.add(text, INK_ON[colour], palette.PAVILIONS[colour].base, True)
        line.add(" ")
    return line


def _display(table: TableView) -> list[TextLine]:
    """Return the lines that show the display with its slot numbers, and the piles."""
    numbers, cards = TextLine().add("Display   ", bold=True), TextLine().add(" " * 10)
    for slot, colour in enumerate(table.display):
        numbers.add(f">{slot}<" if slot == table.last.slot else f" {slot} ").add(" ")
        _card(cards, colour)
        cards.add(" ")
    piles = TextLine().add(f"Draw pile {table.draw_pile}, ").add("with" if table.end_card else "without", bold=True)
    piles.add(" the End of Game card")
    lines = [numbers, cards, TextLine(), piles]
    if table.in_pile is not None:
        lines.append(_cards(TextLine().add("  holding "), table.in_pile))
    lines.append(_cards(TextLine().add("Discards  "), table.discard))
    return lines


def _supply(table: TableView) -> list[TextLine]:
    lines = [TextLine().add(f"Supply by size   {' '.join(map(str, TILE_SIZES))}", bold=True)]
    for colour, (name, counts) in enumerate(zip(COLORS, table.supply, strict=True)):
        line = TextLine().add(f" {name:8}", INK_ON[colour], palette.PAVILIONS[colour].base, True)
        lines.append(line.add(" " * 8 + " ".join(str(count) for count in counts)))
    lines.append(TextLine().add(f" white tiles     {table.white_tiles}"))
    return lines


def _board(table: TableView, components: Components, seat: SeatView) -> list[TextLine]:
    """Return the facade as 19 lines, top row first. Letters mark colors, ``#`` marks bricks, squares mark windows."""
    owner = {cell: number for number, tile in enumerate(seat.tiles) for cell in tile.cells}
    owner |= {cell: 1000 + cell for cell in seat.white}
    colour_of = {cell: tile.colour for tile in seat.tiles for cell in tile.cells}
    bricks = {tile.brick for tile in seat.tiles}
    last = table.last.cells if table.last.seat == seat.seat else ()

    def number(row: int, column: int) -> int:
        return COLUMNS * (ROWS - 1 - row) + column

    def ground(row: int, column: int) -> str:
        cell = number(row, column)
        if cell in colour_of:
            return palette.PAVILIONS[colour_of[cell]].base
        return WHITE.base if cell in seat.white else palette.PAVING

    def inside(line: TextLine, row: int, column: int) -> None:
        cell, behind = number(row, column), ground(row, column)
        sign = "*" if cell in last else " "
        if cell in colour_of:
            colour = colour_of[cell]
            wall = "#" if cell in bricks else "\u25a1"
            line.add(f"{sign}{COLORS[colour][0].upper()}{wall}", INK_ON[colour], behind, True)
        elif cell in seat.white:
            line.add(f"{sign}w\u25a1", "#222222", behind, True)
        elif cell in components.coats:
            line.add(" \u25c6 ", "#b5382f", behind, True)
        else:
            line.add("   ", "", behind)

    return walled(ROWS, COLUMNS, lambda row, column: owner.get(number(row, column)), ground, inside)


def _facade(table: TableView, components: Components, seat: SeatView) -> list[TextLine]:
    """Return the board with row numbers and coats on the left, and the points for full lines on the right and below."""
    lines = []
    for i, inner in enumerate(_board(table, components, seat)):
        row = ROWS - 1 - i // 2
        left, right = "", ""
        if i % 2:
            coat = " " if row not in components.coat_rows else "\u25c7" if row in seat.rows else "\u25c6"
            left = f" {coat} {row}"
            right = f" +{seat.rows[row]}" if row in seat.rows else ""
        line = TextLine().add(f"{left:4} ", palette.FAINT)
        line.segments += inner.segments
        lines.append(line.add(right, palette.GOLD, bold=True))
    names = "".join(f"  {column} " for column in range(COLUMNS))
    lines.append(TextLine().add(" " * 5 + names, palette.FAINT))
    if seat.columns:
        points = "".join(f" +{seat.columns[c]} " if c in seat.columns else "    " for c in range(COLUMNS))
        lines.append(TextLine().add(" " * 5 + points, palette.GOLD, bold=True))
    return lines


def _area(table: TableView, components: Components, seat: SeatView) -> list[TextLine]:
    """Return the lines of one player's area, each at most `BLOCK_WIDTH` columns wide."""
    active = table.marked(seat.seat)
    head = TextLine()
    add_player_text(head, seat.seat, f" {seat.seat} ")
    place = rank_text(table.places[seat.seat])
    mark = place if table.done else "to move" if active else ""
    mark = " ".join(text for text in (mark, "(you)" if seat.seat == table.viewer else "") if text)
    head.add(f" Player {seat.seat}", bold=True).add(f" {mark}", palette.GOLD if active else "")
    head.add(f"{seat.points:>{BLOCK_WIDTH - len(head)}}", bold=True)
    lines = [head, TextLine().add(f"points of {components.goal}, {pluralize(seat.empty, 'cell')} empty")]
    lines += _facade(table, components, seat)
    using = table.pending.using if seat.seat == table.to_move and not table.done else frozenset()
    for ability, label in enumerate(ABILITY_LABELS):
        state = seat.state_of(ability)
        word = "in use" if ability in using else "not owned" if state == "missing" else state
        text = f"{_STATES[state]} {' '.join(label)}: {word}"
        touched = table.last.seat == seat.seat and ability in table.last.abilities
        lines.append(TextLine().add(text + (" *" if touched else ""), bold=state == "active"))
    known = sum(seen for _, seen in seat.faces)
    lines.append(
        TextLine().add(f"Hand {pluralize(seat.hand, 'card')}" + (f", {known} known to all (!)" if known else ""))
    )
    hand = []
    for colour, seen in seat.faces:
        text = f" {COLORS[colour][0].upper()}{'!' if seen else ' '}"
        hand.append(TextLine().add(text, INK_ON[colour], palette.PAVILIONS[colour].base, True).add(" "))
    backs = [TextLine().add(f"+ {seat.backs} hidden")] if seat.backs else []
    return lines + wrap([*hand, *backs], BLOCK_WIDTH)


def _in_play(table: TableView) -> list[TextLine]:
    """Return a line with the tile being built, cards paid, abilities in use and pending rewards, if there are any."""
    pending, line = table.pending, TextLine()
    if pending.tile is not None:
        line.add(f"Tile {kind_name(*pending.tile)}  ")
    if any(pending.paid):
        line.add("paid ")
        for colour, count in enumerate(pending.paid):
            for _ in range(count):
                _card(line, colour)
                line.add(" ")
        line.add(" ")
    if pending.using and not table.done:
        names = ", ".join(" ".join(ABILITY_LABELS[ability]) for ability in sorted(pending.using))
        line.add(f"In use: {names}  ")
    if pending.rewards:
        line.add(f"Rewards pending: {pending.rewards}")
    return [line] if line.segments else []


def ansi(
    game: CopenhagenGame,
    *,
    last_decision: str | None = None,
    viewer: int | None = None,
    color: bool = True,
    width: int = 110,
) -> str:
    """Draw the table as text.

    Args:
        game: the game to draw.
        last_decision: the last action as text. ``*`` marks the affected elements, and ``> <`` marks a slot.
        viewer: the seat for which the table is drawn. Other hands show only their publicly known cards. None shows all
            cards.
        color: whether to use 24-bit color escape sequences.
        width: number of available columns. Players' areas (34 columns each) are placed side by side where they fit.

    Returns:
        The lines, each followed by a newline.

    Raises:
        ValueError: if `viewer` is not a seat.
    """
    table, components = read_table_view(game, viewer, last_decision), game.config.component_set
    title = TextLine().add("COPENHAGEN", palette.GOLD, bold=True)
    title.add("  game over" if table.done else f"  round {table.round}")
    who, headline, detail = table.decision
    status = TextLine().add(f"{who} {headline}", bold=True)
    if not table.done:
        status.add(f" ({table.phase})")
    if detail:
        status.add(f": {detail[0].lower()}{detail[1:]}")
    lines = [title, status, *_in_play(table)]
    if table.last.text:
        lines.append(TextLine().add(f"Last: {table.last.text}"))
    lines.append(TextLine())
    lines += join_columns([_display(table), _supply(table)], list(_COMMON), 4)
    areas = [_area(table, components, seat) for seat in table.seats]
    return lines_to_text([*lines, *arrange_blocks(areas, BLOCK_WIDTH, width)], color)

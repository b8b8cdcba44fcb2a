"""Draw the table as text for terminals, with box-drawing characters and optional color."""

from __future__ import annotations

from collections.abc import Mapping
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
from helsinki_env.games.helsinki.action_words import action_label, cost_text
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS
from helsinki_env.games.helsinki.render.view import (
    BOARD_SIZE,
    SeatView,
    TableView,
    action_index,
    discard_by_color,
    read_table_view,
)

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.game import HelsinkiGame

BOARD_WIDTH = 4 * BOARD_SIZE + 1
BLOCK_WIDTH = BOARD_WIDTH + 4
_ARROWS = "\u25bc\u25c4\u25b2\u25ba"  # into the board from north, east, south, west


def _card(line: TextLine, kind: int | None, components: Components, width: int = 7) -> TextLine:
    """Write a card as color letter, number, tile shape and one ^ per superstructure; write - for an empty slot."""
    if kind is None:
        return line.add("-".center(width))
    colour = components.card_color(kind)
    if colour < 0:
        return line.add("wild".center(width), "#222222", palette.WILD.light)
    shape = components.tiles[colour][components.card_roofs(kind) - 2]
    text = f"{COLORS[colour][0].upper()}{components.card_number(kind)} {shape}"
    text += "^" * components.card_superstructures(kind)
    return line.add(text.center(width), INK_ON[colour], palette.PAVILIONS[colour].base, True)


def _space(line: TextLine, table: TableView, space: int, width: int) -> None:
    here = [seat.seat for seat in table.seats if seat.token == space]
    if not here:
        line.add(str(space).center(width), "#999999")
        return
    left = (width - len(here) - 4) // 2
    line.add(" " * left + f"{space}:[")
    for seat in here:
        add_player_text(line, seat, str(seat))
    line.add("]" + " " * (width - left - len(here) - 4))


def _senate(table: TableView, components: Components) -> list[TextLine]:
    """Draw the ring of cards and spaces as five lines between the names of the sides."""
    wide = 8
    rows: tuple[tuple[tuple[str, int] | None, ...], ...] = (
        (("card", 7), ("space", 0), ("card", 0), ("space", 1), ("card", 1)),
        (("space", 7), None, None, None, ("space", 2)),
        (("card", 6), None, None, None, ("card", 2)),
        (("space", 6), None, None, None, ("space", 3)),
        (("card", 5), ("space", 5), ("card", 4), ("space", 4), ("card", 3)),
    )
    middle = ("", f"draw {table.draw_pile}, discard {sum(table.discard)}", "")
    lines = [TextLine().add("NORTH".center(5 * wide + 4), bold=True)]
    for number, row in enumerate(rows):
        line = TextLine().add("W " if number == 2 else "  ", bold=True)
        for column, place in enumerate(row):
            if place is None:
                if column == 1:
                    line.add(middle[number - 1].center(3 * wide))
            elif place[0] == "card":
                _card(line, table.display[place[1]], components, wide)
            else:
                _space(line, table, place[1], wide)
        lines.append(line.add(" E" if number == 2 else "", bold=True))
    lines.append(TextLine().add("SOUTH".center(5 * wide + 4), bold=True))
    return lines


def _supply(table: TableView, components: Components) -> list[TextLine]:
    lines = [TextLine().add("Supply by roofs   2 3 4 5    discarded", bold=True)]
    for colour, (name, counts, gone) in enumerate(
        zip(COLORS, table.tile_supply, discard_by_color(table, components), strict=False)
    ):
        line = TextLine().add(f" {name:8}", INK_ON[colour], palette.PAVILIONS[colour].base, True)
        lines.append(line.add(" " * 9 + " ".join(str(n) for n in counts) + f"    {gone:6}"))
    wild = discard_by_color(table, components)[-1]
    lines.append(TextLine().add(f" wild tiles       {table.wild_tiles:<7}    {wild:6}"))
    bonus = f"   bonus cards {', '.join(map(str, table.bonus_cards)) or 'none'}" if table.dry_roads else ""
    lines.append(TextLine().add(f" superstructures  {table.superstructures}{bonus}"))
    return lines


def _actions(table: TableView, components: Components) -> list[TextLine]:
    """Draw board actions in three columns, one per printed row, with users, ``--`` if covered, and ``x`` if denied."""
    wide = 28
    lines = [TextLine().add("".join(f"{row + ' row':{wide}}" for row in ("Top", "Middle", "Bottom")), bold=True)]
    for names in zip(*components.action_rows, strict=True):
        line = TextLine()
        for name in names:
            action = action_index(name)
            words = " ".join(action_label(components, name)).replace("- ", "")
            if action in table.covered:
                line.add(f"-- {words}".ljust(wide), "#888888")
                continue
            line.add(words.ljust(21))
            for seat in table.seats:
                if action in seat.used:
                    add_player_text(line, seat.seat, str(seat.seat))
                else:
                    line.add("x" if action in seat.denied else "\u00b7")
            line.add(" " * (wide - 21 - table.players))
        lines.append(line)
    prices = {name: cost for name, cost in zip(BOARD_ACTIONS, components.costs, strict=True) if cost != 1}
    if prices:
        texts = (
            f"{' '.join(action_label(components, name)).replace('- ', '')} {cost_text(prices[name])}" for name in prices
        )
        lines.append(TextLine().add(f"Not one coat: {', '.join(texts)}"))
    return lines


def _owners(seat: SeatView, components: Components) -> dict[int, int]:
    """Map each built cell to an id of its tile, so that walls are drawn only between different tiles."""
    owner = {cell: i for i, pavilion in enumerate(seat.pavilions) for cell in pavilion.cells}
    owner |= {cell: 1000 + cell for cell in seat.wild}
    owner[components.statue] = -1
    return owner


def _board(seat: SeatView, components: Components) -> list[TextLine]:
    """Draw a board in fifteen lines: letters for colors, ``^`` for superstructures, diamonds for coats of arms."""
    owner = _owners(seat, components)
    colour_of = {cell: pavilion.colour for pavilion in seat.pavilions for cell in pavilion.cells}

    def ground(row: int, column: int) -> str:
        cell = BOARD_SIZE * row + column
        if cell in colour_of:
            return palette.PAVILIONS[colour_of[cell]].base
        if cell in seat.wild:
            return palette.WILD.base
        return palette.STONE if cell == components.statue else palette.PAVING

    def inside(line: TextLine, row: int, column: int) -> None:
        _cell(line, seat, components, BOARD_SIZE * row + column, colour_of, ground(row, column))

    return walled(BOARD_SIZE, BOARD_SIZE, lambda row, column: owner.get(BOARD_SIZE * row + column), ground, inside)


def _cell(
    line: TextLine, seat: SeatView, components: Components, cell: int, colour_of: Mapping[int, int], ground: str
) -> None:
    roof = "^" if cell in seat.superstructures else " "
    if cell in colour_of:
        colour = colour_of[cell]
        line.add(f" {COLORS[colour][0].upper()}{roof}", INK_ON[colour], ground, True)
    elif cell in seat.wild:
        line.add(f" w{roof}", "#222222", ground, True)
    elif cell == components.statue:
        add_player_text(line, seat.seat, " @ ")
    elif cell in seat.coats:
        add_player_text(line, seat.seat, " \u25c6 ")
    else:
        line.add("   ", "", ground)


def _area(table: TableView, components: Components, seat: SeatView) -> list[TextLine]:
    """Return the lines of one player's area, each `BLOCK_WIDTH` characters wide."""
    active = seat.seat == table.to_move
    head = TextLine()
    add_player_text(head, seat.seat, f" {seat.seat} ")
    mark = "wins" if table.done and active else "to move" if active else "you" if seat.seat == table.viewer else ""
    head.add(f" Player {seat.seat}", bold=True).add(f" {mark}", palette.GOLD if active else "")
    head.add(f"{seat.score:>{BLOCK_WIDTH - len(head)}}", bold=True)
    bonus = f" (bonus {seat.bonus})" if seat.bonus else ""
    lines = [head, TextLine().add(f"{seat.points} in play{bonus} + {seat.board_points} on the board")]
    arrow = [_ARROWS[side] if side == seat.side else " " for side in range(4)]
    full = [" " if c not in seat.full_columns else "\u25cf" for c in range(BOARD_SIZE)]
    studs = "  " + "".join(f"  {stud} " for stud in full)
    past = BOARD_WIDTH // 2 + 4  # to the right of the middle column, whose stud stays visible
    lines.append(TextLine().add(f"{studs[:past]}N{arrow[0]}{studs[past + 2 :]}"))
    for number, inner in enumerate(_board(seat, components)):
        row = number // 2
        stud = "\u25cf" if number % 2 and row in seat.full_rows else " "
        middle = number == BOARD_SIZE
        line = TextLine().add(("W" if middle else arrow[3] if number == BOARD_SIZE + 2 else " ") + stud)
        line.segments += inner.segments
        lines.append(line.add(stud + ("E" if middle else arrow[1] if number == BOARD_SIZE + 2 else " ")))
    lines.append(TextLine().add(f"{studs[:past]}S{arrow[2]}{studs[past + 2 :]}"))
    size = len(seat.faces) + seat.backs
    lifted = ", limit lifted" if seat.limit_lifted else ""
    lines.append(TextLine().add(f"Meadow {pluralize(seat.meadow, 'coat')}, hand {pluralize(size, 'card')}{lifted}"))
    hand = [_card(TextLine(), kind, components).add(" ") for kind in seat.faces]
    backs = [TextLine().add(f"+ {seat.backs} hidden")] if seat.backs else []
    return lines + wrap([*hand, *backs], BLOCK_WIDTH)


def ansi(
    game: HelsinkiGame,
    *,
    last_decision: str | None = None,
    viewer: int | None = None,
    color: bool = True,
    width: int = 110,
) -> str:
    """Draw the table as text.

    Args:
        game: the game to draw.
        last_decision: the last action, as text.
        viewer: the viewing seat; other hands show only public information. None shows all cards.
        color: whether to use 24-bit color escape sequences.
        width: number of available columns; as many player areas (33 columns each) as fit are drawn side by side.

    Returns:
        The text, with a newline after each line.

    Raises:
        ValueError: if `viewer` is not a seat.
    """
    table, components = read_table_view(game, viewer), game.config.component_set
    title = TextLine().add("HELSINKI", palette.GOLD, bold=True)
    title.add("  game over" if table.done else f"  round {table.round}")
    if table.last_round and not table.done:
        title.add("  LAST ROUND", "#e5857a", bold=True)
    status = TextLine().add(f"Player {table.to_move} {table.headline}", bold=True)
    if table.detail:
        status.add(f": {table.detail[0].lower()}{table.detail[1:]}")
    lines = [title, status]
    if table.card is not None:
        line = TextLine().add("Building ")
        _card(line, table.card, components)
        line.add(" paid " if table.paid else "")
        for kind in table.paid:
            _card(line, kind, components)
            line.add(" ")
        lines.append(line)
    if last_decision:
        lines.append(TextLine().add(f"Last: {last_decision}"))
    lines.append(TextLine())
    lines += join_columns([_senate(table, components), _supply(table, components)], [46, 40], 4)
    lines.append(TextLine())
    lines += _actions(table, components)
    areas = [_area(table, components, seat) for seat in table.seats]
    return lines_to_text([*lines, *arrange_blocks(areas, BLOCK_WIDTH, width)], color)

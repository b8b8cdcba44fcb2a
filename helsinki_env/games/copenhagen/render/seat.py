"""Draw a player's area: the facade board, the abilities, the hand and the points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Box, Canvas, num, text_width
from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.copenhagen.components import COLORS, COLUMNS, ROWS
from helsinki_env.games.copenhagen.render import parts
from helsinki_env.games.copenhagen.render.view import kind_name

if TYPE_CHECKING:
    from helsinki_env.games.copenhagen.components import Components
    from helsinki_env.games.copenhagen.render.view import SeatView, TableView

HEADER = 50.0
#: Margins of a board, which hold row numbers and coats, row points, gable and column points, and column numbers.
LEFT, RIGHT, ABOVE, BELOW = 34.0, 22.0, 40.0, 17.0


def _cell_corner(cell: int, x: float, y: float, size: float) -> tuple[float, float]:
    """Return the upper left corner of a cell on the board whose upper left corner is (x, y)."""
    return x + cell % COLUMNS * size, y + (ROWS - 1 - cell // COLUMNS) * size


def _gable(canvas: Canvas, x: float, y: float, width: float, seat: int) -> None:
    """Draw the gable on top of a facade whose upper edge is at y."""
    tone = palette.PLAYERS[seat]
    step = width / 10
    canvas.path(
        f"M{num(x - 3)} {num(y - 19)}h{num(width + 6)}v-4"
        f"h{num(-2 * step)}v-5h{num(-2 * step)}v-6"
        f"h{num(-2 * step - 6)}v6h{num(-2 * step)}v5h{num(-2 * step)}z",
        fill=tone.base,
        stroke=palette.INK,
        stroke_width=1.1,
    )
    canvas.rect(x - 3, y - 19, width + 6, 19, fill=palette.STONE, stroke=palette.INK, stroke_width=1.1)


def _ground(canvas: Canvas, seat: SeatView, x: float, y: float, size: float) -> None:
    """Draw the wall with its empty cells, and a golden background for full rows and columns."""
    width, height = COLUMNS * size, ROWS * size
    canvas.rect(x, y, width, height, fill=palette.PAVING, stroke=palette.INK, stroke_width=1.6)
    pad = 0.05 * size
    side = num(size - 2 * pad)
    empty = ""
    for cell in range(COLUMNS * ROWS):
        if cell not in seat.filled:
            px, py = _cell_corner(cell, x, y, size)
            empty += f"M{num(px + pad)} {num(py + pad)}h{side}v{side}h-{side}z"
    if empty:
        canvas.path(empty, fill=palette.PAVING_CELL, stroke=palette.PAVING_LINE, stroke_width=0.8)
    for row in seat.rows:
        at = y + (ROWS - 1 - row) * size
        canvas.rect(x, at, width, size, fill=palette.GOLD, fill_opacity=0.75, data_part="full-row")
    for column in seat.columns:
        canvas.rect(x + column * size, y, size, height, fill=palette.GOLD, fill_opacity=0.75, data_part="full-column")
    canvas.path(f"M{num(x - 8)} {num(y + height + 2)}h{num(width + 16)}", stroke=palette.STONE_DARK, stroke_width=3.5)


def _edges(canvas: Canvas, components: Components, seat: SeatView, x: float, y: float, size: float) -> None:
    """Draw the row and column numbers, the coats of arms next to rows, and the points for full lines."""
    for row in range(ROWS):
        middle = y + (ROWS - 0.5 - row) * size
        canvas.text(x - 8, middle + 3.4, str(row), 9.5, fill=palette.SOFT_INK, anchor="middle")
        if row in components.coat_rows:
            parts.board_coat(canvas, x - 23, middle, min(20, 0.7 * size), won=row in seat.rows, data_part="row-coat")
        if row in seat.rows:
            _points(canvas, x + COLUMNS * size + 13, middle, seat.rows[row], "row")
    for column in range(COLUMNS):
        middle = x + (column + 0.5) * size
        canvas.text(middle, y + ROWS * size + 14, str(column), 9.5, fill=palette.SOFT_INK, anchor="middle")
        if column in seat.columns:
            _points(canvas, middle, y - 9.5, seat.columns[column], "column")


def _points(canvas: Canvas, x: float, y: float, points: int, line: str) -> None:
    with canvas.group(f"Full {line}: {pluralize(points, 'point')}", data_part=f"{line}-points"):
        canvas.circle(x, y, 7.6, fill=palette.GOLD, stroke=palette.GOLD_DARK, stroke_width=1.2)
        canvas.text(x, y + 3.9, str(points), 11, anchor="middle", weight=BOLD)


def board(
    canvas: Canvas, table: TableView, components: Components, seat: SeatView, x: float, y: float, size: float
) -> None:
    """Draw a facade board whose cells are `size` pixels wide, with their upper left corner at (x, y)."""
    outer = (x - LEFT, y - ABOVE, COLUMNS * size + LEFT + RIGHT, ROWS * size + ABOVE + BELOW)
    canvas.spot(f"board {seat.seat}", *outer)
    for cell in range(COLUMNS * ROWS):
        canvas.spot(f"cell {seat.seat} {cell}", *_cell_corner(cell, x, y, size), size, size)
    with canvas.group(data_part="board"):
        _gable(canvas, x, y, COLUMNS * size, seat.seat)
        _ground(canvas, seat, x, y, size)
        _edges(canvas, components, seat, x, y, size)
        for cell in components.coats:
            if cell not in seat.filled:
                px, py = _cell_corner(cell, x, y, size)
                parts.board_coat(canvas, px + size / 2, py + size / 2, 0.68 * size, data_part="coat")
        for tile in seat.tiles:
            with canvas.group(kind_name(tile.colour, len(tile.cells)), data_part="tile"):
                brick = parts.rows_down([tile.brick])[0]
                parts.tile(canvas, tile.colour, parts.rows_down(tile.cells), brick, x, y, size)
        for cell in seat.white:
            with canvas.group("white tile", data_part="white"):
                parts.tile(canvas, -1, parts.rows_down([cell]), None, x, y, size)
        if table.last.seat == seat.seat and table.last.cells:
            _mark(canvas, table.last.cells, x, y, size, palette.GOLD, "last")
        if seat.seat == table.to_move and table.pending.cells and table.pending.tile:
            with canvas.group("To be placed once it is paid", data_part="planned", opacity=0.5):
                brick = parts.rows_down([table.pending.brick])[0]
                cells = parts.rows_down(table.pending.cells)
                parts.tile(canvas, table.pending.tile[0], cells, brick, x, y, size)
            _mark(canvas, table.pending.cells, x, y, size, palette.INK, "planned-edge", "5 4")


def _mark(
    canvas: Canvas,
    cells: tuple[int, ...],
    x: float,
    y: float,
    size: float,
    ink: str,
    part: str,
    dashes: str | None = None,
) -> None:
    """Draw an outline around a set of cells."""
    line = pieces.outline_path(parts.rows_down(cells), x, y, size, 0.02 * size, 0.14 * size)
    if dashes is None:
        canvas.path(line, stroke=palette.INK, stroke_width=0.19 * size, data_part=part)
        canvas.path(line, stroke=ink, stroke_width=0.12 * size)
    else:
        canvas.path(line, stroke=ink, stroke_width=1.8, stroke_dasharray=dashes, data_part=part)


def _header(canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box) -> None:
    """Draw the player's token, name, mark and points above a board."""
    x, y, width, _ = box
    place = pieces.rank_text(table.places[seat.seat])
    mark = place if table.done else "to move" if seat.seat == table.to_move else ""
    score_w = pieces.seat_header(canvas, seat.seat, mark, seat.seat == table.viewer, seat.points, x, y, width)
    facts = f"points, {components.goal} end the game; {pluralize(seat.empty, 'cell')} empty"
    if text_width(facts, 11.5) > width - 56 - score_w:
        facts = f"points of {components.goal}; {pluralize(seat.empty, 'cell')} empty"
    canvas.text(x + 40, y + 39, facts, 11.5, fill=palette.SOFT_INK, width=width - 56 - score_w)


def hand(canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box, card_w: float) -> None:
    """Draw a hand with its title: first the faces, then the backs, in rows of cards that overlap if necessary."""
    x, y, width, height = box
    known = sum(seen for _, seen in seat.faces)
    title = f"Hand {seat.hand}" + (f" of {components.hand_limit}" if seat.hand <= components.hand_limit else "")
    title_w = canvas.text(x, y + 9, title, 12, fill=palette.SOFT_INK)
    if known:
        parts.eye(canvas, x + title_w + 18, y + 5, 13)
        canvas.text(x + title_w + 28, y + 9, f"{known} known to all", 11, fill=palette.SOFT_INK)
    gap, card_h = 5.0, card_w * pieces.CARD_ASPECT
    rows = max(1, int((height - 17 + gap) // (card_h + gap)))
    cards = [*seat.faces, *([(None, False)] * seat.backs)]
    corners = pieces.lay_cards(len(cards), (x, y + 17, width, height), card_w, rows)
    laid = [(*card, px, py) for card, (px, py) in zip(cards, corners, strict=True)]
    if seat.seat == table.hand_seat:
        pieces.card_spots(canvas, [(colour, px, py) for colour, _, px, py in laid], card_w)
    with canvas.group(data_part="hand"):
        for colour, seen, px, py in laid:
            if colour is not None:
                parts.card(canvas, colour, px, py, card_w, known=seen)
            else:
                with canvas.group("hidden card", data_part="back"):
                    parts.city_card_back(canvas, px, py, card_w)
    if not cards:
        canvas.text(x + width / 2, y + 17 + card_w * 0.75, "no cards", 11.5, fill=palette.FAINT, anchor="middle")


def _measures(players: int) -> tuple[float, float]:
    """Return the width of a cell and the padding of a player's area."""
    return {2: (40.0, 14.0), 3: (35.0, 12.0), 4: (29.0, 8.0)}[players]


def height(players: int, width: float) -> float:
    """Return the height of a player's area that has the given width."""
    cell, pad = _measures(players)
    upper = HEADER + ABOVE + ROWS * cell + BELOW
    return upper + 14 if players == 2 else upper + 10 + 17 + _card_width(width - 2 * pad) * pieces.CARD_ASPECT + 12


def _card_width(width: float) -> float:
    return (width - 30) / 7


def area(canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box) -> None:
    """Draw a player's area in a box, with the hand to the right of the board for two players, otherwise below it."""
    x, y, width, tall = box
    if table.marked(seat.seat):
        canvas.rect(x - 4, y - 4, width + 8, tall + 8, r=15, fill=palette.GOLD, data_part="marked")
    pieces.panel(canvas, x, y, width, tall)
    cell, pad = _measures(table.players)
    left, inner = x + pad, width - 2 * pad
    _header(canvas, table, components, seat, (left, y + 4, inner, HEADER))
    top = y + HEADER + ABOVE
    board(canvas, table, components, seat, left + LEFT, top, cell)
    beside = left + LEFT + COLUMNS * cell + RIGHT + 3
    room, high = left + inner - beside, ABOVE - 6 + ROWS * cell + BELOW
    if table.players > 2:
        parts.ability_column(canvas, table, seat, beside, top - ABOVE + 6, room, high)
        below = top + ROWS * cell + BELOW + 10
        hand(canvas, table, components, seat, (left, below, inner, y + tall - below - 8), _card_width(inner))
        return
    parts.ability_column(canvas, table, seat, beside + 8, top - ABOVE + 6, room - 8, 0.575 * high)
    under = top - ABOVE + 6 + 0.575 * high + 14
    hand(canvas, table, components, seat, (beside + 8, under, room - 8, top - ABOVE + 6 + high - under), 50.0)


def seat_description(seat: SeatView) -> str:
    """Return a one-sentence description of a player's area, for screen readers."""
    tiles = ", ".join(kind_name(tile.colour, len(tile.cells)) for tile in seat.tiles) or "no tile"
    faces = [colour for colour, _ in seat.faces]
    cards = ", ".join(f"{faces.count(i)} {name}" for i, name in enumerate(COLORS) if i in faces)
    hidden = f"{', ' if cards else ''}{seat.backs} hidden" if seat.backs else ""
    return f"Player {seat.seat}: {pluralize(seat.points, 'point')}; {tiles}; hand: {cards + hidden or 'empty'}."

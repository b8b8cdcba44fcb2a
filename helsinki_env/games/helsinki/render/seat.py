"""Draw the area of a player: the board, the meadow, the hand and the score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from helsinki_env.drawing import palette, pieces
from helsinki_env.drawing.canvas import BOLD, Box, Canvas, num, reused
from helsinki_env.drawing.lines import pluralize
from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.render import parts
from helsinki_env.games.helsinki.render.senate import frame, plate
from helsinki_env.games.helsinki.render.view import BOARD_SIZE

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.render.view import SeatView, TableView

HEADER = 50.0
MAX_COATS_DRAWN = 8


def board_side(cell: float, wall: float) -> float:
    """Return the width of a square board, including its facades, in pixels."""
    return BOARD_SIZE * cell + 2 * wall


def _ground(canvas: Canvas, seat: SeatView, x: float, y: float, cell: float) -> None:
    """Draw the paving, in gold along full rows and columns."""
    side = BOARD_SIZE * cell
    canvas.rect(x, y, side, side, fill=palette.PAVING)
    pad = 0.05 * cell
    paving = "".join(
        f"M{num(x + c * cell + pad)} {num(y + r * cell + pad)}"
        f"h{num(cell - 2 * pad)}v{num(cell - 2 * pad)}"
        f"h-{num(cell - 2 * pad)}z"
        for r in range(BOARD_SIZE)
        for c in range(BOARD_SIZE)
        if BOARD_SIZE * r + c not in seat.built
    )
    if paving:
        canvas.path(paving, fill=palette.PAVING_CELL, stroke=palette.PAVING_LINE, stroke_width=0.8)
    for row in seat.full_rows:
        canvas.rect(x, y + row * cell, side, cell, fill=palette.GOLD, fill_opacity=0.75, data_part="full-row")
    for column in seat.full_columns:
        canvas.rect(x + column * cell, y, cell, side, fill=palette.GOLD, fill_opacity=0.75, data_part="full-column")


def _line_marks(canvas: Canvas, seat: SeatView, x: float, y: float, cell: float, wall: float) -> None:
    """Draw golden studs in the facades at both ends of every full row and column."""
    side = BOARD_SIZE * cell
    ends = (-wall / 2, side + wall / 2)
    places = [(x + at, y + (row + 0.5) * cell) for row in seat.full_rows for at in ends]
    places += [(x + (column + 0.5) * cell, y + at) for column in seat.full_columns for at in ends]
    studs = "".join(f"M{num(px)} {num(py)}h.01" for px, py in places)
    if studs:
        canvas.path(studs, stroke=palette.GOLD_DARK, stroke_width=0.55 * wall)
        canvas.path(studs, stroke=palette.GOLD, stroke_width=0.42 * wall)


def _crosswalks(
    canvas: Canvas, components: Components, seat: SeatView, x: float, y: float, cell: float, wall: float
) -> None:
    """Draw a zebra crossing and a visitor in the facade next to each crosswalk cell (Dry roads)."""
    stripe = cell * 0.86
    for at in components.crosswalks:
        row, column = divmod(at, BOARD_SIZE)
        cx, cy = x + (column + 0.5) * cell, y + (row + 0.5) * cell
        across = row in (0, BOARD_SIZE - 1) and not (column in (0, BOARD_SIZE - 1) and 0 < row < BOARD_SIZE - 1)
        if across:
            cy = y - wall / 2 if row == 0 else y + BOARD_SIZE * cell + wall / 2
            w, h = stripe, wall - 3
            line = f"M{num(cx - w / 2 + 2)} {num(cy)}h{num(w - 4)}"
        else:
            cx = x - wall / 2 if column == 0 else x + BOARD_SIZE * cell + wall / 2
            w, h = wall - 3, stripe
            line = f"M{num(cx)} {num(cy - h / 2 + 2)}v{num(h - 4)}"
        dash = (stripe - 4) / 9
        full = column in seat.full_columns if across else row in seat.full_rows
        ground = palette.GOLD if full else "#6f7480"
        canvas.rect(cx - w / 2, cy - h / 2, w, h, r=2.5, fill=ground, stroke=palette.INK, stroke_width=0.7)
        canvas.path(
            line,
            stroke="#fff",
            stroke_opacity=0.9,
            stroke_width=wall * 0.62,
            stroke_linecap="butt",
            stroke_dasharray=f"{num(dash)} {num(dash)}",
        )
        parts.visitor(canvas, cx, cy, wall * 0.82, seat.seat, data_part="visitor")


def _entry(canvas: Canvas, table: TableView, seat: SeatView, x: float, y: float, cell: float, wall: float) -> None:
    """Mark the sides from which a tile may enter: the token's side, or the other three sides after `any_side`."""
    if seat.side is None:
        return
    active = seat.seat == table.to_move
    sides = [s for s in range(4) if s != seat.side] if active and table.any_side else [seat.side]
    tone = palette.PLAYERS[seat.seat]
    length = BOARD_SIZE * cell
    for side in sides:
        for lane in (1, 6):
            along = lane * cell
            place = (
                (x + along, y - wall / 2),
                (x + length + wall / 2, y + along),
                (x + along, y + length + wall / 2),
                (x - wall / 2, y + along),
            )[side]
            canvas.path(
                "M-9-5h18l-9 11z",
                transform=f"translate({num(place[0])} {num(place[1])})rotate({90 * side})scale({num(wall / 22)})",
                fill=tone.base,
                stroke=palette.INK,
                stroke_width=1.3,
                data_part="entry",
            )


@reused
def _numbers(canvas: Canvas, x: float, y: float, cell: float, wall: float) -> None:
    """Number the rows in the west facade and the columns in the north one; name plates cover the middle."""
    size = 0.45 * wall
    for at in range(BOARD_SIZE):
        if at != BOARD_SIZE // 2:
            along, across = (at + 0.5) * cell, -wall / 2
            for side, px, py in ((3, x + across, y + along), (0, x + along, y + across)):
                fill = palette.SIDE_SHADES[side].line
                canvas.text(px, py + 0.36 * size, str(at), size, fill=fill, anchor="middle", weight=BOLD)


def board(
    canvas: Canvas,
    table: TableView,
    components: Components,
    seat: SeatView,
    x: float,
    y: float,
    cell: float,
    wall: float,
) -> None:
    """Draw a player's board with its outer top left corner at (x, y) and the given cell and facade widths."""
    outer = board_side(cell, wall)
    ix, iy = x + wall, y + wall
    canvas.spot(f"board {seat.seat}", x, y, outer, outer)
    for at in range(BOARD_SIZE * BOARD_SIZE):
        canvas.spot(f"cell {seat.seat} {at}", ix + at % BOARD_SIZE * cell, iy + at // BOARD_SIZE * cell, cell, cell)
    with canvas.group(data_part="board"):
        frame(canvas, x, y, outer, outer, wall)
        _ground(canvas, seat, ix, iy, cell)
        _line_marks(canvas, seat, ix, iy, cell, wall)
        middle = outer / 2
        shift = -1.5 * cell if table.dry_roads else 0.0  # a crosswalk is in the middle of each facade
        lane = BOARD_SIZE // 2
        for side, letter in enumerate("NESW"):
            px, py = (
                (x + middle + shift, y + wall / 2),
                (x + outer - wall / 2, y + middle + shift),
                (x + middle + shift, y + outer - wall / 2),
                (x + wall / 2, y + middle + shift),
            )[side]
            full = lane in (seat.full_rows if side % 2 else seat.full_columns)
            plate(canvas, px, py, letter, side, 0.5 * wall, golden=full and not table.dry_roads)
        if table.dry_roads:
            _crosswalks(canvas, components, seat, ix, iy, cell, wall)
        _numbers(canvas, ix, iy, cell, wall)
        _entry(canvas, table, seat, ix, iy, cell, wall)
        for cell_number in seat.coats:
            row, column = divmod(cell_number, BOARD_SIZE)
            px, py = ix + (column + 0.5) * cell, iy + (row + 0.5) * cell
            pieces.player_coat(canvas, px, py, 0.66 * cell, seat.seat, data_part="coat")
        for pavilion in seat.pavilions:
            with canvas.group(f"{COLORS[pavilion.colour]} {pavilion.roofs}", data_part="pavilion"):
                parts.tile(canvas, pavilion.colour, tuple(divmod(c, BOARD_SIZE) for c in pavilion.cells), ix, iy, cell)
        if seat.seat == table.to_move and table.phase == "ROOF" and table.lifted is None and seat.pavilions:
            newest = [divmod(c, BOARD_SIZE) for c in seat.pavilions[-1].cells]
            line = pieces.outline_path(newest, ix, iy, cell, 0.045 * cell, 0.2 * cell)
            canvas.path(line, stroke=palette.GOLD, stroke_width=0.09 * cell, data_part="newest")
        for wild in seat.wild:
            with canvas.group("wild tile", data_part="wild"):
                parts.tile(canvas, -1, (divmod(wild, BOARD_SIZE),), ix, iy, cell)
        row, column = divmod(components.statue, BOARD_SIZE)
        parts.statue(canvas, ix + (column + 0.5) * cell, iy + (row + 0.5) * cell, cell, seat.seat)
        for at in seat.superstructures:
            row, column = divmod(at, BOARD_SIZE)
            worth = (row in seat.full_rows) + (column in seat.full_columns)
            parts.superstructure(
                canvas,
                ix + (column + 0.5) * cell,
                iy + (row + 0.5) * cell,
                0.74 * cell,
                worth,
                data_part="superstructure",
            )


def _header(canvas: Canvas, table: TableView, seat: SeatView, x: float, y: float, width: float) -> None:
    """Draw the token, the name, the marks and the score above a board."""
    place = pieces.rank_text(table.places[seat.seat])
    mark = place if table.done else "to move" if seat.seat == table.to_move else ""
    score_w = pieces.seat_header(canvas, seat.seat, mark, seat.seat == table.viewer, seat.score, x, y, width)
    bonus = f" (bonus {seat.bonus})" if seat.bonus else ""
    breakdown = f"{seat.points} in play{bonus} + {seat.board_points} on the board"
    canvas.text(x + 40, y + 39, breakdown, 11.5, fill=palette.SOFT_INK, width=width - 56 - score_w)


def meadow(canvas: Canvas, seat: SeatView, x: float, y: float, width: float, height: float) -> None:
    """Draw the meadow with the unspent coats."""
    canvas.rect(x, y, width, height, r=9, fill="#d5e4bd", stroke="#a9c185", stroke_width=1)
    blades = "".join(
        f"M{num(x + 8 + (width - 19) * at)} {num(y + 7 + (height - 10) * (i * 3 % 7) / 7)}l1.5-4l1.5 4"
        for i, at in enumerate((0, 0.07, 0.15, 0.22, 0.3, 0.68, 0.76, 0.83, 0.92, 1))
    )
    canvas.path(blades, stroke="#a9c185", stroke_width=1)
    per_row = MAX_COATS_DRAWN if width > 180 else 4
    rows = -(-MAX_COATS_DRAWN // per_row)
    step, size = (width - 12) / per_row, min(20.0, height / rows - 5)
    with canvas.group(f"Meadow: {pluralize(seat.meadow, 'coat')} of arms"):
        for i in range(seat.meadow):
            px = x + 6 + step * (i % per_row + 0.5)
            py = y + (i // per_row + 0.5) * height / rows
            pieces.player_coat(canvas, px, py, size, seat.seat, data_part="meadow-coat")
    if not seat.meadow and per_row == MAX_COATS_DRAWN:  # a low meadow has no title
        canvas.text(x + width / 2, y + height / 2 + 4, "meadow", 11, fill="#88a061", anchor="middle")


def hand(
    canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box, card_w: float, rows: int
) -> None:
    """Draw the hand in rows of cards, faces first, then backs; cards overlap if necessary."""
    x, y, width, _ = box
    cards: list[int | None] = [*seat.faces, *([None] * seat.backs)]
    corners = pieces.lay_cards(len(cards), box, card_w, rows)
    laid = [(kind, px, py) for kind, (px, py) in zip(cards, corners, strict=True)]
    if seat.seat == table.hand_seat:
        pieces.card_spots(canvas, laid, card_w)
    with canvas.group(data_part="hand"):
        for kind, px, py in laid:
            if kind is None:
                pieces.card_back_with_emblem(canvas, px, py, card_w, parts.cathedral)
            else:
                parts.card(canvas, components, kind, px, py, card_w)
    if not cards:
        canvas.text(x + width / 2, y + card_w * 0.75, "no cards", 11.5, fill=palette.FAINT, anchor="middle")


def _hand_title(seat: SeatView, limit: int) -> str:
    size = len(seat.faces) + seat.backs
    return f"Hand {size}" + (", limit lifted" if seat.limit_lifted else f" of {limit}" if size <= limit else "")


def area(canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box) -> None:
    """Draw the area of a player in a box; the hand is right of the board with two players, otherwise below it."""
    x, y, width, height = box
    if seat.seat == table.to_move:
        canvas.rect(x - 4, y - 4, width + 8, height + 8, r=15, fill=palette.GOLD)
    pieces.panel(canvas, x, y, width, height)
    draw = _wide if table.players == 2 else _tall
    draw(canvas, table, components, seat, box)


def _wide(canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box) -> None:
    x, y, width, _ = box
    cell, wall = 45.0, 22.0
    side = board_side(cell, wall)
    left = x + 14
    _header(canvas, table, seat, left, y + 4, width - 28)
    top = y + HEADER + 6
    board(canvas, table, components, seat, left, top, cell, wall)
    right = left + side + 16
    room = x + width - 14 - right
    canvas.text(right, top + 9, "Meadow", 12, fill=palette.SOFT_INK)
    meadow(canvas, seat, right, top + 16, room, 62)
    canvas.text(right, top + 101, _hand_title(seat, components.hand_limit), 12, fill=palette.SOFT_INK)
    hand(canvas, table, components, seat, (right, top + 109, room, 0), (room - 10) / 3, 3)


def _tall(canvas: Canvas, table: TableView, components: Components, seat: SeatView, box: Box) -> None:
    x, y, width, _ = box
    wall, pad = (20.0, 12.0) if table.players == 3 else (16.0, 9.0)
    cell = (width - 2 * pad - 2 * wall) // BOARD_SIZE  # whole pixels keep the drawing sharp and the SVG text short
    inner = board_side(cell, wall)
    left = x + (width - inner) / 2
    _header(canvas, table, seat, left, y + 4, inner)
    top = y + HEADER + 4
    board(canvas, table, components, seat, left, top, cell, wall)
    top += inner + 9
    meadow(canvas, seat, left, top, inner, 28)
    canvas.text(left, top + 46, _hand_title(seat, components.hand_limit), 11.5, fill=palette.SOFT_INK)
    hand(canvas, table, components, seat, (left, top + 53, inner, 0), (inner - 30) / 7, 1)


def height(players: int, width: float) -> float:
    """Return the height of a player's area with the given width."""
    if players == 2:
        return HEADER + 6 + board_side(45.0, 22.0) + 14
    inner = width - 2 * (12.0 if players == 3 else 9.0)
    return HEADER + 4 + inner + 9 + 53 + (inner - 30) / 7 * pieces.CARD_ASPECT + 12

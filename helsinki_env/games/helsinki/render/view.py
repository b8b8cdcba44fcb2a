"""View model of the drawings: their contents, read once from a game.

The only rules applied in this module are those for full lines and the score of a board (rules page, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from helsinki_env.drawing.lines import pluralize
from helsinki_env.drawing.pieces import BaseTableView
from helsinki_env.engine.positions import cell_list, or_none, record_to_namespace
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS
from helsinki_env.games.helsinki.state import PHASES

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components
    from helsinki_env.games.helsinki.game import HelsinkiGame

BOARD_SIZE = 7
SIDES = ("north", "east", "south", "west")


@dataclass(frozen=True)
class Pavilion:
    """A pavilion tile on a board: color index, number of roofs, and cells (``7 * row + column``) in ascending order."""

    colour: int
    roofs: int
    cells: tuple[int, ...]


@dataclass(frozen=True)
class SeatView:
    """Contents of a player's area.

    `faces` are the card types shown face up, and `backs` is the number of cards shown face down.
    """

    seat: int
    pavilions: tuple[Pavilion, ...]
    wild: tuple[int, ...]
    superstructures: tuple[int, ...]
    coats: tuple[int, ...]
    meadow: int
    used: frozenset[int]
    denied: frozenset[int]
    faces: tuple[int, ...]
    backs: int
    token: int | None
    points: int
    bonus: int | None
    limit_lifted: bool
    built: frozenset[int]
    full_rows: tuple[int, ...]
    full_columns: tuple[int, ...]
    roof_points: tuple[int, ...]
    board_points: int

    @property
    def score(self) -> int:
        """Points scored during play plus the current points of the board."""
        return self.points + self.board_points

    @property
    def side(self) -> int | None:
        """Side of the senate board with the token (0 is north, then clockwise); None before the start."""
        return None if self.token is None else self.token // 2


@dataclass(frozen=True)
class TableView(BaseTableView):
    """Contents of the table, indexed as in the position format. When the game is over, `to_move` is the winner."""

    seats: tuple[SeatView, ...]
    last_round: bool
    dry_roads: bool
    covered: frozenset[int]
    tile_supply: tuple[tuple[int, ...], ...]
    wild_tiles: int
    superstructures: int
    bonus_cards: tuple[int, ...]
    card: int | None
    paid: tuple[int, ...]
    to_pay: int
    any_side: bool
    lifted: int | None
    headline: str
    detail: str


# the parts of a state


def _hand(held: list[int], known: list[int], hidden: bool) -> tuple[tuple[int, ...], int]:
    """Return the card types shown face up and the number of backs; in a hidden hand, only known cards are face up."""
    faces = tuple(kind for kind, count in enumerate(known if hidden else held) for _ in range(count))
    return faces, sum(held) - len(faces)


def _pavilion(t: Any, piece: int, corner: int) -> Pavilion:
    colour, size = divmod(piece // 8, len(ROOFS))
    return Pavilion(colour, ROOFS[size], tuple(cell_list(int(t.roofs_mask[piece]) << corner)))


def _seat(p: SimpleNamespace, t: Any, number: int, viewer: int | None, components: Components) -> SeatView:
    built, roofs = frozenset(cell_list(p.built[number])), tuple(cell_list(p.superstructures[number]))
    rows = tuple(r for r in range(BOARD_SIZE) if all(BOARD_SIZE * r + c in built for c in range(BOARD_SIZE)))
    columns = tuple(c for c in range(BOARD_SIZE) if all(BOARD_SIZE * r + c in built for r in range(BOARD_SIZE)))
    by_lines = (0, components.points_line, components.points_crossing)
    roof_points = tuple(by_lines[(cell // BOARD_SIZE in rows) + (cell % BOARD_SIZE in columns)] for cell in roofs)
    board = components.points_row * len(rows) + components.points_column * len(columns) + sum(roof_points)
    faces, backs = _hand(p.hand[number], p.known[number], viewer not in (None, number))
    tiles = zip(p.tile_piece[number], p.tile_cell[number], range(p.tile_count[number]), strict=False)
    return SeatView(
        seat=number,
        pavilions=tuple(_pavilion(t, piece, corner) for piece, corner, _ in tiles),
        wild=tuple(cell_list(p.wild[number])),
        superstructures=roofs,
        coats=tuple(sorted(cell for i, cell in enumerate(components.coats) if p.coats[number] >> i & 1)),
        meadow=p.meadow[number],
        used=frozenset(cell_list(p.used[number])),
        denied=frozenset(cell_list(p.denied[number])),
        faces=faces,
        backs=backs,
        token=or_none(p.token[number]),
        points=p.points[number],
        bonus=None if p.bonus[number] < 0 else components.bonus_cards[p.bonus[number]],
        limit_lifted=bool(p.limit_lifted[number]),
        built=built,
        full_rows=rows,
        full_columns=columns,
        roof_points=roof_points,
        board_points=board,
    )


def card_name(kind: int, components: Components) -> str:
    """Return the name of a card type, such as ``wild card`` or ``blue 3``."""
    colour = components.card_color(kind)
    return "wild card" if colour < 0 else f"{COLORS[colour]} {components.card_number(kind)}"


def _decision(p: SimpleNamespace, phase: str, side: int | None, limit: int) -> tuple[str, str]:
    """Describe the pending action: a headline that follows the player's name, and an optional detail."""
    origin = "" if side is None else f" from the {SIDES[side]}"
    if phase == "START":
        return "places the first token", "The others follow on every second space, clockwise"
    if phase == "MOVE":
        spaces = "4" if p.move == 4 else f"4 to {p.move}"
        bought = f"{spaces} spaces, by an action of the board"
        return "moves the token", bought if p.move else "1 to 3 spaces clockwise"
    if phase == "MAIN":
        if p.only_build:
            return "builds a pavilion", "Second pavilion" if p.has_built else "Draw and build"
        return "draws or builds", f"Two cards beside the token, or a tile{origin}"
    if phase == "PAY":
        if p.substitute:
            return "pays for a pavilion", "One card of another colour"
        return "pays for a pavilion", pluralize(p.to_pay, "more card")
    if phase == "PLACE":
        return "pushes the tile in", "From any other side" if p.any_side else origin.strip()
    if phase == "WILD":
        return "places wild tiles", f"{p.wilds_left} to place"
    if phase == "LIFT":
        return "lifts a superstructure", ""
    if phase == "ROOF":
        if p.lifted >= 0:
            return "sets the superstructure down", "On any other free roof"
        action = "" if p.action < 0 else BOARD_ACTIONS[p.action].replace("_", " ")
        left = f"{p.roofs_left} to place"
        return "places superstructures", left + (f": {action}" if action else " on the new pavilion")
    if phase == "DISCARD":
        return "discards", f"Down to {pluralize(limit, 'card')}"
    return "may end the turn", "Built" if p.has_built else "Drew cards" if p.drew else ""


def read_table_view(game: HelsinkiGame, viewer: int | None = None) -> TableView:
    """Return the contents of the drawings of a game, as seen by `viewer` (None: all cards)."""
    viewer, components, t = game.validate_viewer(viewer), game.config.component_set, game.config.tables[0]
    p = record_to_namespace(game.state)
    seats = tuple(_seat(p, t, number, viewer, components) for number in range(p.players))
    phase, done, places = PHASES[p.phase], bool(p.done), tuple(game.ranks().tolist())
    to_move = places.index(0) if done else p.seat
    headline, detail = _decision(p, phase, seats[to_move].side, components.hand_limit)
    if done:
        score = seats[to_move].score
        tied = sum(seat.score == score for seat in seats) > 1
        headline, detail = ("wins the game", f"{score} points" + (": a tie goes to the later seat" if tied else ""))
    sizes = len(ROOFS)
    return TableView(
        **BaseTableView.common_fields(p, phase, viewer),
        seats=seats,
        to_move=to_move,
        last_round=bool(p.last_round),
        dry_roads=bool(p.dry_roads),
        covered=frozenset(cell_list(p.covered)),
        discard=tuple(p.discard[: components.types]),
        tile_supply=tuple(tuple(p.supply[sizes * i : sizes * (i + 1)]) for i in range(len(COLORS))),
        wild_tiles=p.wild_supply,
        superstructures=p.superstructure_supply,
        bonus_cards=tuple(value for i, value in enumerate(components.bonus_cards) if p.bonus_cards >> i & 1),
        card=or_none(p.card),
        paid=tuple(p.paid[: p.paid_count]),
        to_pay=p.to_pay,
        any_side=bool(p.any_side),
        lifted=or_none(p.lifted),
        headline=headline,
        detail=detail,
        places=places,
    )


def action_index(name: str) -> int:
    """Return the id of a board action."""
    return BOARD_ACTIONS.index(name)


def discard_by_color(table: TableView, components: Components) -> tuple[int, ...]:
    """Return the number of cards in the discard pile by color, with the wild cards last."""
    counts = [0] * (len(COLORS) + 1)
    for kind, amount in enumerate(table.discard):
        counts[components.card_color(kind)] += amount  # the color of the wild card is -1, which indexes the last entry
    return tuple(counts)

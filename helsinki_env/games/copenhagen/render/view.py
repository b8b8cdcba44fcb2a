"""Define the view model: the contents of a drawing, read once from a game, with the current action in words.

The only rule that this module applies is the scoring of full lines (rules, section 3).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

from helsinki_env.drawing.lines import pluralize
from helsinki_env.drawing.pieces import BaseTableView
from helsinki_env.engine.positions import cell_list, record_to_namespace
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.actions import (
    ADDITIONAL_CARD,
    ANY_CARDS,
    BOTH_ACTIONS,
    CONSTRUCTION_DISCOUNT,
    ORIENTATIONS,
)
from helsinki_env.games.copenhagen.components import (
    ABILITIES,
    CELLS,
    COLORS,
    COLUMNS,
    DISPLAY,
    ROWS,
    TILE_SIZES,
    Components,
)
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.notation import string_to_action
from helsinki_env.games.copenhagen.state import PHASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from helsinki_env.games.copenhagen.components import Components


@dataclass(frozen=True)
class Tile:
    """A colored tile on a board: its color index, its cells in ascending order (``5 * y + x``), and its brick cell."""

    colour: int
    cells: tuple[int, ...]
    brick: int


@dataclass(frozen=True)
class SeatView:
    """A player's area.

    `faces` holds (color, publicly known) for each card that is shown face up. `backs` is the number of cards shown face
    down. `rows` and `columns` map full lines to their points.
    """

    seat: int
    tiles: tuple[Tile, ...]
    white: tuple[int, ...]
    owned: frozenset[int]
    used: frozenset[int]
    denied: frozenset[int]
    faces: tuple[tuple[int, bool], ...]
    backs: int
    points: int
    filled: frozenset[int]
    rows: Mapping[int, int]
    columns: Mapping[int, int]

    @property
    def hand(self) -> int:
        """Number of cards in hand."""
        return len(self.faces) + self.backs

    @property
    def empty(self) -> int:
        """Number of empty cells; the player with fewer empty cells wins a tie."""
        return CELLS - len(self.filled)

    def state_of(self, ability: int) -> str:
        """Return the state of an ability: active, used, missing or denied."""
        if ability in self.owned:
            return "used" if ability in self.used else "active"
        return "denied" if ability in self.denied else "missing"


@dataclass(frozen=True)
class Pending:
    """The operation in progress: `tile` is (color, size), and `cells` are the cells chosen for a tile in payment."""

    first: int | None
    using: frozenset[int]
    tile: tuple[int, int] | None
    recolour: int | None
    cells: tuple[int, ...]
    brick: int
    due: int
    paid: tuple[int, ...]
    discarded: bool
    rewards: int


@dataclass(frozen=True)
class TableView(BaseTableView):
    """The whole table, indexed as in the position format.

    `in_pile` holds the number of cards of each color in a draw pile made from the discard pile, which is public.
    """

    seats: tuple[SeatView, ...]
    end_card: bool
    in_pile: tuple[int, ...] | None
    supply: tuple[tuple[int, ...], ...]
    white_tiles: int
    pending: Pending
    decision: ActionText
    last: LastAction

    @property
    def winners(self) -> tuple[int, ...]:
        """The winning seats; empty until the game is over."""
        return tuple(seat for seat, place in enumerate(self.places) if place == 0) if self.done else ()

    def marked(self, seat: int) -> bool:
        """Return whether a seat is acting, or has won if the game is over."""
        return seat in self.winners if self.done else seat == self.to_move


def kind_name(colour: int, size: int) -> str:
    """Return the name of a kind of tile, such as ``blue 4``."""
    return f"{COLORS[colour]} {size}"


# the parts of a state


def _kind(kind: int) -> tuple[int, int]:
    """Return the color and the size of a kind of tile."""
    return kind // len(TILE_SIZES), TILE_SIZES[kind % len(TILE_SIZES)]


def _tile(t: Any, piece: int, corner: int) -> Tile:
    cells = int(t.cells[piece]) << corner
    return Tile(_kind(piece // ORIENTATIONS)[0], tuple(cell_list(cells)), int(t.brick[piece]) + corner)


def _hand(held: list[int], known: list[int], hidden: bool) -> tuple[tuple[tuple[int, bool], ...], int]:
    """Return the cards shown face up and the number shown face down. Hidden hands show only publicly known cards."""
    if hidden:
        faces = tuple((colour, True) for colour, count in enumerate(known) for _ in range(count))
        return faces, sum(held) - len(faces)
    return tuple((colour, i < known[colour]) for colour, count in enumerate(held) for i in range(count)), 0


def _seat(p: SimpleNamespace, t: Any, number: int, viewer: int | None, components: Components) -> SeatView:
    filled, bricks = frozenset(cell_list(p.filled[number])), frozenset(cell_list(p.bricks[number]))
    faces, backs = _hand(p.hand[number], p.known[number], viewer not in (None, number))
    rows = {y: {COLUMNS * y + x for x in range(COLUMNS)} for y in range(ROWS)}
    columns = {x: {COLUMNS * y + x for y in range(ROWS)} for x in range(COLUMNS)}
    row_points = (components.points_row_windows, components.points_row)
    column_points = (components.points_column_windows, components.points_column)
    tiles = zip(p.tile_piece[number], p.tile_cell[number], range(p.tile_count[number]), strict=False)
    return SeatView(
        seat=number,
        tiles=tuple(_tile(t, piece, corner) for piece, corner, _ in tiles),
        white=tuple(cell_list(p.white[number])),
        owned=frozenset(cell_list(p.owned[number])),
        used=frozenset(cell_list(p.used[number])),
        denied=frozenset(cell_list(p.denied[number])),
        faces=faces,
        backs=backs,
        points=p.points[number],
        filled=filled,
        rows={y: row_points[bool(cells & bricks)] for y, cells in rows.items() if cells <= filled},
        columns={x: column_points[bool(cells & bricks)] for x, cells in columns.items() if cells <= filled},
    )


def _pending(p: SimpleNamespace, t: Any) -> Pending:
    cells, brick = ((), -1) if p.tile < 0 or p.place < 0 else placed_tile(t, p.tile, p.place)
    return Pending(
        first=None if p.first < 0 else p.first,
        using=frozenset(cell_list(p.using)),
        tile=None if p.tile < 0 else _kind(p.tile),
        recolour=None if p.recolour < 0 else p.recolour,
        cells=cells,
        brick=brick,
        due=p.due,
        paid=tuple(p.paid),
        discarded=p.last_discard >= 0,
        rewards=p.rewards,
    )


def read_table_view(game: CopenhagenGame, viewer: int | None = None, last_action: str | None = None) -> TableView:
    """Return the contents of a game's drawings. For the arguments, see `svg`."""
    viewer, components, t = game.validate_viewer(viewer), game.config.component_set, game.config.tables[0]
    p = record_to_namespace(game.state)
    seats = tuple(_seat(p, t, number, viewer, components) for number in range(p.players))
    phase, done, pending, places = PHASES[p.phase], bool(p.done), _pending(p, t), tuple(game.ranks().tolist())
    sizes = len(TILE_SIZES)
    return TableView(
        **BaseTableView.common_fields(p, phase, viewer),
        seats=seats,
        to_move=p.seat,
        end_card=bool(p.end_card),
        in_pile=tuple(p.reshuffled) if p.end_card and p.players > 2 else None,  # known after a reshuffle
        discard=tuple(p.discard),
        supply=tuple(tuple(p.supply[sizes * i : sizes * (i + 1)]) for i in range(len(COLORS))),
        white_tiles=p.white_tiles,
        pending=pending,
        places=places,
        decision=action_text(phase, done, p.seat, seats, places, pending, p.white_tiles, components),
        last=parse_last_action(last_action, phase, done, p.seat, seats, pending, t),
    )


class ActionText(NamedTuple):
    """The acting seat (``Player 1``), the current action (``pays for blue 4``), and a detail, which may be empty."""

    who: str
    headline: str
    detail: str


def action_text(
    phase: str,
    done: bool,
    to_move: int,
    seats: Sequence[SeatView],
    places: Sequence[int],
    pending: Pending,
    white_tiles: int,
    components: Components,
) -> ActionText:
    """Return the current action in words, or the result of the game."""
    if done:
        return _over(seats, places, components)
    headline, detail = _decision(phase, seats[to_move], pending, white_tiles, components)
    return ActionText(f"Player {to_move}", headline, detail)


def _over(seats: Sequence[SeatView], places: Sequence[int], components: Components) -> ActionText:
    winners = [seat for seat, place in enumerate(places) if place == 0]
    points = seats[winners[0]].points
    detail = pluralize(points, "point")
    if points >= components.goal:
        detail += f": the game ends with {components.goal}"
    elif len(winners) == 1 and sum(seat.points == points for seat in seats) > 1:
        detail += ", and fewer empty cells than the others"
    if len(winners) == 1:
        return ActionText(f"Player {winners[0]}", "wins the game", detail)
    named = " and ".join((", ".join(map(str, winners[:-1])), str(winners[-1])))
    return ActionText(
        f"Players {named}", "share the victory", f"{detail} and {seats[winners[0]].empty} empty cells each"
    )


def _decision(
    phase: str, seat: SeatView, pending: Pending, white_tiles: int, components: Components
) -> tuple[str, str]:
    """Return the headline and the detail of the current action."""
    if phase == "MAIN":
        if BOTH_ACTIONS in pending.using:
            return "constructs as well", "Both actions: cards were taken in this turn"
        pair = "Any two cards" if ANY_CARDS in seat.owned - seat.used else "Two cards next to each other"
        return "takes cards or constructs", f"{pair}, or a tile"
    if phase == "TAKE":
        return _taking(seat, pending)
    if phase == "DISCARD":
        more = max(0, seat.hand - components.hand_limit)
        return "discards", f"{pluralize(more, 'more card')}, down to {components.hand_limit}"
    if phase == "END":
        left = []
        if ADDITIONAL_CARD in seat.owned - seat.used and not pending.discarded:
            left.append("an additional card")
        if BOTH_ACTIONS in seat.owned - seat.used:
            left.append("a construction (both actions)")
        return "may end the turn", f"Or goes on with {' or '.join(left)}" if left else ""
    if phase == "COAT":
        return "takes a reward", _rewards(seat, pending, white_tiles)
    return _building(phase, pending)


def _rewards(seat: SeatView, pending: Pending, white_tiles: int) -> str:
    choices = []
    if white_tiles:
        choices.append("a white tile")
    if any(seat.state_of(ability) == "missing" for ability in range(len(ABILITIES))):
        choices.append("a new ability")
    if seat.used:
        choices.append("used abilities flipped back")
    text = ", ".join(choices[:-1]) + (" or " if len(choices) > 1 else "") + "".join(choices[-1:])
    others = f"; {pending.rewards - 1} more to come" if pending.rewards > 1 else ""
    return f"{text[:1].upper()}{text[1:]}{others}"


def _taking(seat: SeatView, pending: Pending) -> tuple[str, str]:
    if pending.first is None:
        return "takes an additional card", "From any slot"
    if ANY_CARDS in pending.using:
        return "takes the second card", f"From any slot beyond {pending.first + 1}"
    beyond = (
        ", or beyond it by Any cards" if ANY_CARDS in seat.owned - seat.used and pending.first + 2 < DISPLAY else ""
    )
    return "takes the second card", f"From slot {pending.first + 1}, next to the first{beyond}"


def _building(phase: str, pending: Pending) -> tuple[str, str]:
    if pending.tile is None:  # positions in PLACE, RECOLOUR and PAY have a tile, but drawings do not require it
        return "constructs", ""
    colour, size = pending.tile
    name, own = f"{COLORS[colour]} {size}", COLORS[colour]
    other = None if pending.recolour is None else COLORS[pending.recolour]
    discount = CONSTRUCTION_DISCOUNT in pending.using
    if phase == "RECOLOUR":
        return "chooses a colour", f"Its cards count as {own} for the tile {name}"
    if phase == "PAY":
        paid = " or ".join((own, other)) if other else own
        needed = f", at least one of them {other}" if other and not pending.paid[pending.recolour or 0] else ""
        return f"pays for {name}", f"{pluralize(pending.due, 'more card')}, {paid}{needed}"
    cost = f"{pluralize(size - discount, own + ' card')}, 1 less beside {own}"
    if discount:
        cost += ", discount counted"
    if other:
        cost += f"; {other} counts as {own}"
    return f"places {name}", cost


class LastAction(NamedTuple):
    """The last action as text, with the affected slot, or with the seat and its affected cells or abilities."""

    text: str | None = None
    slot: int | None = None
    seat: int | None = None
    cells: tuple[int, ...] = ()
    abilities: frozenset[int] = frozenset()


def parse_last_action(
    text: str | None, phase: str, done: bool, to_move: int, seats: Sequence[SeatView], pending: Pending, t: Any
) -> LastAction:
    """Return the elements affected by an action, or only its text if it does not fit the position."""
    if not text:
        return LastAction()
    try:
        kind, argument = a.decode(string_to_action(text))
    except ValueError:
        return LastAction(text)
    if kind == a.KIND_TAKE:
        return LastAction(text, slot=argument)
    began = phase == "MAIN" and not done and not pending.using
    seat = seats[(to_move - began) % len(seats)]  # the seat that acted, even if its turn is over
    if kind in (a.KIND_USE, a.KIND_ABILITY):
        return LastAction(text, seat=seat.seat, abilities=frozenset({argument}) & seat.owned)
    if kind == a.KIND_REACTIVATE:
        return LastAction(text, seat=seat.seat, abilities=seat.owned)
    if kind == a.KIND_WHITE and argument in seat.white:
        return LastAction(text, seat=seat.seat, cells=(argument,))
    if kind in (a.KIND_PLACE, a.KIND_PAY) and phase != "PAY" and seat.tiles:
        tile = seat.tiles[-1]
        kind_of_tile = len(TILE_SIZES) * tile.colour + len(tile.cells) - TILE_SIZES[0]
        if kind == a.KIND_PAY or placed_tile(t, kind_of_tile, argument) == (tile.cells, tile.brick):
            return LastAction(text, seat=seat.seat, cells=tile.cells)
    return LastAction(text)


def placed_tile(t: Any, kind: int, place: int) -> tuple[tuple[int, ...], int]:
    """Return the cells and the brick of a tile placed by an argument of PLACE; no cells if they are off the board."""
    orientation, corner = divmod(place, a.CELLS)
    piece = a.ORIENTATIONS * kind + orientation
    if not int(t.corners[piece]) >> corner & 1:
        return (), -1
    return tuple(cell_list(int(t.cells[piece]) << corner)), int(t.brick[piece]) + corner

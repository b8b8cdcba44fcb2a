"""The contents of the drawings, read once from a game: the layer between the state and the picture.

This module does not apply rules. It recomputes full lines, their points and ranks from the boards (rules, sections 3
and 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from helsinki_env.engine.positions import cell_list, record_to_namespace
from helsinki_env.games.copenhagen.actions import ORIENTATIONS
from helsinki_env.games.copenhagen.components import CELLS, COLOURS, COLUMNS, ROWS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.game import CopenhagenGame
from helsinki_env.games.copenhagen.render.words import (
    ActionText,
    LastAction,
    action_text,
    parse_last_action,
    placed_tile,
)
from helsinki_env.games.copenhagen.state import PHASES

__all__ = ["Pending", "SeatView", "TableView", "Tile", "kind_name", "read_table_view"]


@dataclass(frozen=True)
class Tile:
    """A colored tile on a board: color index, cells ascending (``5 * y + x``), the cell of its brick."""

    colour: int
    cells: tuple[int, ...]
    brick: int


@dataclass(frozen=True)
class SeatView:
    """One player's area.

    `faces` are the cards shown face up, each a color and whether it is publicly known; `backs` is the number of cards
    shown face down. Full lines have the points that they scored.
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
        """Number of empty cells; fewer break ties."""
        return CELLS - len(self.filled)

    def state_of(self, ability: int) -> str:
        """Return the state of an ability: active, used, missing or denied."""
        if ability in self.owned:
            return "used" if ability in self.used else "active"
        return "denied" if ability in self.denied else "missing"


@dataclass(frozen=True)
class Pending:
    """The operation in progress; `tile` is (colour, size), `cells` its future cells once it is paid."""

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
class TableView:
    """The whole table, indexed as in the position format.

    `in_pile` holds the contents of the draw pile by color if they are public, that is, once it was made from the
    discard pile. `winners` is empty until the game is over.
    """

    players: int
    seats: tuple[SeatView, ...]
    viewer: int | None
    phase: str
    to_move: int
    round: int
    done: bool
    draw_pile: int
    end_card: bool
    in_pile: tuple[int, ...] | None
    discard: tuple[int, ...]
    display: tuple[int | None, ...]
    supply: tuple[tuple[int, ...], ...]
    white_tiles: int
    pending: Pending
    places: tuple[int, ...]
    decision: ActionText
    last: LastAction

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats in first place once the game is over."""
        return tuple(seat for seat, place in enumerate(self.places) if place == 0) if self.done else ()

    @property
    def hand_seat(self) -> int:
        """The seat whose cards are played: the viewer, or else the seat to move."""
        return self.to_move if self.viewer is None else self.viewer

    def marked(self, seat: int) -> bool:
        """Return whether a seat is to move, or has won."""
        return seat in self.winners if self.done else seat == self.to_move


def kind_name(colour: int, size: int) -> str:
    """Return a kind of tile in words: ``blue 4``."""
    return f"{COLOURS[colour]} {size}"


# the parts of a state


def _kind(kind: int) -> tuple[int, int]:
    """Return color and size of a kind of tile."""
    return kind // len(TILE_SIZES), TILE_SIZES[kind % len(TILE_SIZES)]


def _tile(t: Any, piece: int, corner: int) -> Tile:
    cells = int(t.cells[piece]) << corner
    return Tile(_kind(piece // ORIENTATIONS)[0], tuple(cell_list(cells)), int(t.brick[piece]) + corner)


def _hand(held: list[int], known: list[int], hidden: bool) -> tuple[tuple[tuple[int, bool], ...], int]:
    """Return the cards shown face up and the number of backs; other hands show only their known cards."""
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


def _places(seats: tuple[SeatView, ...]) -> tuple[int, ...]:
    """Return each seat's rank: the number of seats with more points, or as many and fewer empty cells."""
    worth = [(seat.points, -seat.empty) for seat in seats]
    return tuple(sum(other > own for other in worth) for own in worth)


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
    """Return the contents of the drawings of a game; for the arguments see `svg`."""
    viewer, components, t = game.validate_viewer(viewer), game.config.component_set, game.config.tables[0]
    p = record_to_namespace(game.state)
    seats = tuple(_seat(p, t, number, viewer, components) for number in range(p.players))
    phase, done, pending, places = PHASES[p.phase], bool(p.done), _pending(p, t), _places(seats)
    sizes = len(TILE_SIZES)
    return TableView(
        players=p.players,
        seats=seats,
        viewer=viewer,
        phase=phase,
        to_move=p.seat,
        round=p.round_number,
        done=done,
        draw_pile=p.pile_size,
        end_card=bool(p.end_card),
        in_pile=tuple(p.reshuffled) if p.end_card and p.players > 2 else None,  # else not made from the discard pile
        discard=tuple(p.discard),
        display=tuple(None if colour < 0 else colour for colour in p.display),
        supply=tuple(tuple(p.supply[sizes * i : sizes * (i + 1)]) for i in range(len(COLOURS))),
        white_tiles=p.white_tiles,
        pending=pending,
        places=places,
        decision=action_text(phase, done, p.seat, seats, places, pending, p.white_tiles, components),
        last=parse_last_action(last_action, phase, done, p.seat, seats, pending, t),
    )

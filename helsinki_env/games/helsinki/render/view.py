"""View model: the contents of a drawing, read once from a position.

This module implements no rule of play. It recomputes full rows and the current board score from the built cells (rules
page, 5). A picture therefore needs only the position and the component file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helsinki_env.data import Node
from helsinki_env.drawing.checked import integer_tuple, is_connected, optional_integer, pluralize
from helsinki_env.engine.positions import MAX_OBSERVED, PositionError
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLOURS, ROOFS
from helsinki_env.games.helsinki.state import DECK, PAID, PHASES

if TYPE_CHECKING:
    from helsinki_env.games.helsinki.components import Components

BOARD_SIZE = 7
SIDES = ("north", "east", "south", "west")


@dataclass(frozen=True)
class Pavilion:
    """One pavilion tile on a board: color index 0..4, number of roofs, cells 0..48 ascending."""

    colour: int
    roofs: int
    cells: tuple[int, ...]


@dataclass(frozen=True)
class SeatView:
    """One player's area.

    `faces` are the card types shown face up, `backs` is the number of cards shown face down.
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
        """Points made in play plus the board's score if the game ended now."""
        return self.points + self.board_points

    @property
    def side(self) -> int | None:
        """Side of the senate board with the token (0 north, clockwise), None before the start."""
        return None if self.token is None else self.token // 2


@dataclass(frozen=True)
class TableView:
    """The whole game, indexed as in the position format. When the game is over, `to_move` is the winner."""

    players: int
    seats: tuple[SeatView, ...]
    viewer: int | None
    phase: str
    to_move: int
    round: int
    last_round: bool
    done: bool
    dry_roads: bool
    covered: frozenset[int]
    draw_pile: int
    discard: tuple[int, ...]
    display: tuple[int | None, ...]
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
    places: tuple[int, ...]

    @property
    def hand_seat(self) -> int:
        """The seat whose hand is playable: the viewer, or the seat to move."""
        return self.to_move if self.viewer is None else self.viewer


# value types


def _cells(entry: Node) -> tuple[int, ...]:
    return tuple(sorted(integer_tuple(entry, "cells", BOARD_SIZE * BOARD_SIZE - 1)))


def _actions(entry: Node) -> frozenset[int]:
    return frozenset(integer_tuple(entry, "actions", len(BOARD_ACTIONS) - 1))


def _expand(entry: Node, components: Components) -> tuple[int, ...]:
    """Expand card counts into a list of card types."""
    counts = integer_tuple(entry, "card counts, one for each card type", DECK, components.types)
    if sum(counts) > DECK:
        entry.fail(f"at most {DECK} cards", found=f"{sum(counts)} cards")
    return tuple(kind for kind, count in enumerate(counts) for _ in range(count))


# the parts of a position


def _hand(seat: Node, number: int, viewer: int | None, components: Components) -> tuple[tuple[int, ...], int]:
    """Return the face-up card types and the number of backs; other hands show only known cards."""
    hand = seat["hand"]
    if isinstance(hand.value, Mapping):
        known = _expand(hand["known"], components)
        return known, max(0, hand["size"].integer(0, DECK) - len(known))
    cards = _expand(hand, components)
    if viewer is None or viewer == number:
        return cards, 0
    known = _expand(seat["known"], components)
    return known, max(0, len(cards) - len(known))


def _pavilion(data: Node) -> Pavilion:
    colour, roofs = COLOURS.index(data["colour"].choice(COLOURS)), data["roofs"].integer(ROOFS[0], ROOFS[-1])
    cells = _cells(data["cells"])
    if len(cells) != roofs or not is_connected(cells, BOARD_SIZE):  # the outline algorithm needs one connected piece
        data["cells"].fail(f"{roofs} cells in one piece")
    return Pavilion(colour, roofs, cells)


def _seat(data: Node, number: int, denied: frozenset[int], viewer: int | None, components: Components) -> SeatView:
    pavilions = tuple(_pavilion(p) for p in data["pavilions"].entries("pavilion tiles", most=BOARD_SIZE * BOARD_SIZE))
    wild = _cells(data["wild"])
    built = frozenset({components.statue, *wild, *(cell for p in pavilions for cell in p.cells)})
    rows = tuple(r for r in range(BOARD_SIZE) if all(BOARD_SIZE * r + c in built for c in range(BOARD_SIZE)))
    columns = tuple(c for c in range(BOARD_SIZE) if all(BOARD_SIZE * r + c in built for r in range(BOARD_SIZE)))
    roofs = _cells(data["superstructures"])
    by_lines = (0, components.points_line, components.points_crossing)
    roof_points = tuple(by_lines[(cell // BOARD_SIZE in rows) + (cell % BOARD_SIZE in columns)] for cell in roofs)
    board = components.points_row * len(rows) + components.points_column * len(columns) + sum(roof_points)
    faces, backs = _hand(data, number, viewer, components)
    return SeatView(
        seat=number,
        pavilions=pavilions,
        wild=wild,
        superstructures=roofs,
        coats=_cells(data["coats_on_board"]),
        meadow=data["meadow"].integer(0, len(components.coats)),
        used=_actions(data["used"]),
        denied=denied,
        faces=faces,
        backs=backs,
        token=optional_integer(data["token"], 7),
        points=data["points"].integer(0),
        bonus=optional_integer(data["bonus"], MAX_OBSERVED),
        limit_lifted=data["limit_lifted"].boolean(),
        built=built,
        full_rows=rows,
        full_columns=columns,
        roof_points=roof_points,
        board_points=board,
    )


def card_name(kind: int, components: Components) -> str:
    """Return a card type in words: ``wild card``, ``blue 3``."""
    colour = components.card_color(kind)
    return "wild card" if colour < 0 else f"{COLOURS[colour]} {components.card_number(kind)}"


def _places(seats: tuple[SeatView, ...]) -> tuple[int, ...]:
    """Rank 1, 2, ... of every seat: by score, ties go to the later seat (rules page, 5)."""
    order = sorted(range(len(seats)), key=lambda s: (-seats[s].score, -s))
    return tuple(order.index(s) + 1 for s in range(len(seats)))


def _decision(pending: Node, phase: str, side: int | None, limit: int) -> tuple[str, str]:
    """Describe the pending action: a headline that follows the player's name, and a detail (may be empty)."""

    def is_set(key: str) -> bool:
        return pending.get(key, False).boolean()

    def number(key: str, default: int = 1) -> int:
        return pending.get(key, default).integer(0, MAX_OBSERVED)

    origin = "" if side is None else f" from the {SIDES[side]}"
    if phase == "START":
        return "places the first token", "The others follow on every second space, clockwise"
    if phase == "MOVE":
        top = number("move", 0)
        spaces = "4" if top == 4 else f"4 to {top}"
        bought = f"{spaces} spaces, by an action of the board"
        return "moves the token", bought if top else "1 to 3 spaces clockwise"
    if phase == "MAIN":
        if is_set("only_build"):
            return "builds a pavilion", "Second pavilion" if is_set("built") else "Draw and build"
        return "draws or builds", f"Two cards beside the token, or a tile{origin}"
    if phase == "PAY":
        if is_set("substitute"):
            return "pays for a pavilion", "One card of another colour"
        return "pays for a pavilion", pluralize(number("to_pay", 0), "more card")
    if phase == "PLACE":
        return "pushes the tile in", "From any other side" if is_set("any_side") else origin.strip()
    if phase == "WILD":
        return "places wild tiles", f"{number('wilds_left')} to place"
    if phase == "LIFT":
        return "lifts a superstructure", ""
    if phase == "ROOF":
        if pending.get("lifted", None).value is not None:
            return "sets the superstructure down", "On any other free roof"
        action = pending["action"].choice(BOARD_ACTIONS).replace("_", " ") if pending["action"].is_present else ""
        left = f"{number('roofs_left')} to place"
        return "places superstructures", left + (f": {action}" if action else " on the new pavilion")
    if phase == "DISCARD":
        return "discards", f"Down to {pluralize(limit, 'card')}"
    return "may end the turn", "Built" if is_set("built") else "Drew cards" if is_set("drew") else ""


def read_table_view(position: Mapping[str, Any], components: Components, viewer: int | None = None) -> TableView:
    """Read a position dict into a view model; for the arguments see `svg`.

    PositionError if a value has the wrong type. Whether the position is playable is not checked.
    """
    data, types = Node(position, PositionError, file="position").mapping(), components.types
    players = data["players"].integer(2, 4, "2, 3 or 4")
    if viewer is not None:
        expected = f"None or a seat from 0 to {players - 1}"
        viewer = Node(viewer, PositionError, "viewer").integer(0, players - 1, expected)
    denied = [frozenset[int]()] * players
    if data.get("denied", None).value:
        denied = [_actions(seat) for seat in data["denied"].entries("lists of actions, one for each seat", 0, players)]
    seats = tuple(
        _seat(entry, number, denied[number], viewer, components)
        for number, entry in enumerate(data["seats"].entries("seats", length=players))
    )
    pile, pending = data["draw_pile"], data.get("pending", {}).mapping()
    phase, done = data["phase"].choice(PHASES), data["done"].boolean()
    places = _places(seats)
    to_move = places.index(1) if done else data["to_move"].integer(0, players - 1)
    headline, detail = _decision(pending, phase, seats[to_move].side, components.hand_limit)
    if done:
        score = seats[to_move].score
        tied = sum(seat.score == score for seat in seats) > 1
        headline, detail = (
            "wins the game",
            f"{score} points" + (": a tie goes to the later seat" if tied else ""),
        )
    hidden = isinstance(pile.value, int)
    return TableView(
        players=players,
        seats=seats,
        viewer=viewer,
        phase=phase,
        to_move=to_move,
        round=data["round"].integer(1),
        last_round=data["last_round"].boolean(),
        done=done,
        dry_roads=data["dry_roads"].boolean(),
        covered=_actions(data.get("covered", [])),
        draw_pile=pile.integer(0, DECK) if hidden else len(integer_tuple(pile, "card types", types - 1)),
        discard=integer_tuple(data["discard_pile"], "card counts, one for each card type", DECK, types),
        display=tuple(
            optional_integer(slot, types - 1) for slot in data["display"].entries("card types or null", length=8)
        ),
        tile_supply=tuple(
            integer_tuple(data["tile_supply"][name], "tile counts by roofs", MAX_OBSERVED, 4) for name in COLOURS
        ),
        wild_tiles=data["wild_tiles"].integer(0, MAX_OBSERVED),
        superstructures=data["superstructures"].integer(0, MAX_OBSERVED),
        bonus_cards=integer_tuple(data["bonus_cards"], "bonus cards", MAX_OBSERVED),
        card=optional_integer(pending.get("card", None), types - 1),
        paid=integer_tuple(pending.get("paid", []), "card types", types - 1),
        to_pay=pending.get("to_pay", 0).integer(0, PAID),
        any_side=pending.get("any_side", False).boolean(),
        lifted=optional_integer(pending.get("lifted", None), BOARD_SIZE * BOARD_SIZE - 1),
        headline=headline,
        detail=detail,
        places=places,
    )


def action_index(name: str) -> int:
    """Return the fixed id of a board action."""
    return BOARD_ACTIONS.index(name)


def discard_by_color(table: TableView, components: Components) -> tuple[int, ...]:
    """Number of cards in the discard pile per color, wild last: six numbers."""
    counts = [0] * (len(COLOURS) + 1)
    for kind, amount in enumerate(table.discard):
        counts[components.card_color(kind)] += amount  # the wild card has color -1, the last entry
    return tuple(counts)


__all__ = [
    "BOARD_SIZE",
    "COLOURS",
    "ROOFS",
    "SIDES",
    "Pavilion",
    "SeatView",
    "TableView",
    "action_index",
    "card_name",
    "discard_by_color",
    "pluralize",
    "read_table_view",
]

"""The contents of the drawings, read once from a position: the layer between the dict and the picture.

This module does not apply rules. It recomputes full lines, their points and ranks from the boards (rules, sections 3
and 4). A picture therefore needs only the position and the component file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from helsinki_env.data import Node
from helsinki_env.drawing.checked import integer_tuple, is_connected, optional_integer
from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.positions import MAX_OBSERVED, PositionError
from helsinki_env.games.copenhagen import actions
from helsinki_env.games.copenhagen.components import (
    ABILITIES,
    CELLS,
    COLOURS,
    COLUMNS,
    DISPLAY,
    ROWS,
    TILE_SIZES,
    Components,
    load_components,
)
from helsinki_env.games.copenhagen.render.last import LastAction, parse_last_action
from helsinki_env.games.copenhagen.render.words import ActionText, action_text
from helsinki_env.games.copenhagen.shapes import offsets_of
from helsinki_env.games.copenhagen.state import END_CARD, PHASES, PILE

__all__ = ["ABILITY_LABELS", "Pending", "SeatView", "TableView", "Tile", "kind_name", "read_table_view"]

#: Below the goal during the game; the last turn can add all lines of a board.
_MOST_POINTS = 1000

ABILITY_LABELS = (
    ("Any cards",),
    ("Additional", "card"),
    ("Construction", "discount"),
    ("Change of", "colours"),
    ("Both actions",),
)
"""The words next to each ability's picture, in lines."""


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


# the parts of a position


def _counts(entry: Node) -> tuple[int, ...]:
    counts = integer_tuple(entry, "card counts, one for each colour", PILE, len(COLOURS))
    if sum(counts) > PILE:
        entry.fail(f"at most {PILE} cards", found=f"{sum(counts)} cards")
    return counts


def _abilities(entry: Node) -> frozenset[int]:
    return frozenset(integer_tuple(entry, "abilities", len(ABILITIES) - 1))


def _cells(entry: Node, filled: set[int]) -> tuple[int, ...]:
    """Return empty cells of a board, ascending, and fill them."""
    cells = tuple(sorted(integer_tuple(entry, "cells", CELLS - 1)))
    twice = [cell for i, cell in enumerate(cells) if cell in filled or cell in cells[:i]]
    if twice:
        entry.fail(f"empty cells, each once; {twice[0]} is filled already")
    filled.update(cells)
    return cells


def _kind(entry: Node) -> tuple[int, int]:
    colour = COLOURS.index(entry["colour"].choice(COLOURS))
    return colour, entry["size"].integer(TILE_SIZES[0], TILE_SIZES[-1])


def _tile(entry: Node, filled: set[int]) -> Tile:
    colour, size = _kind(entry.mapping())
    cells = _cells(entry["cells"], filled)
    if len(cells) != size or not is_connected(cells, COLUMNS):  # other outlines cannot be drawn
        entry["cells"].fail(f"{size} cells in one piece")
    brick = entry["brick"].integer(0, CELLS - 1)
    if brick not in cells:
        entry["brick"].fail(f"one of the tile's cells, {list(cells)}")
    return Tile(colour, cells, brick)


def _hand(seat: Node, number: int, viewer: int | None) -> tuple[tuple[tuple[int, bool], ...], int]:
    """Return the cards shown face up and the number of backs; other hands show only their known cards."""
    hand = seat["hand"]
    if isinstance(hand.value, Mapping):
        entry, hidden = hand["known"], True
        known, size = _counts(entry), hand["size"].integer(0, PILE)
    else:
        entry, hidden = seat["known"], viewer not in (None, number)
        held, known = _counts(hand), _counts(entry)
        size = sum(held)
        if any(seen > have for seen, have in zip(known, held, strict=True)):
            entry.fail(f"no more of any colour than in hand: {list(held)}")
    if sum(known) > size:
        entry.fail(f"at most the {size} cards in hand")
    if hidden:
        return tuple((colour, True) for colour, count in enumerate(known) for _ in range(count)), size - sum(known)
    faces = tuple((colour, i < known[colour]) for colour, count in enumerate(held) for i in range(count))
    return faces, 0


def _seat(data: Node, number: int, denied: frozenset[int], viewer: int | None, components: Components) -> SeatView:
    filled: set[int] = set()
    tiles = tuple(_tile(tile, filled) for tile in data["tiles"].entries("coloured tiles", most=CELLS))
    white = _cells(data["white"], filled)
    bricks = {tile.brick for tile in tiles}
    faces, backs = _hand(data, number, viewer)
    rows = {y: {COLUMNS * y + x for x in range(COLUMNS)} for y in range(ROWS)}
    columns = {x: {COLUMNS * y + x for y in range(ROWS)} for x in range(COLUMNS)}
    row_points = (components.points_row_windows, components.points_row)
    column_points = (components.points_column_windows, components.points_column)
    return SeatView(
        seat=number,
        tiles=tiles,
        white=white,
        owned=_abilities(data["abilities"]),
        used=_abilities(data["used"]),
        denied=denied,
        faces=faces,
        backs=backs,
        points=data["points"].integer(0, _MOST_POINTS),
        filled=frozenset(filled),
        rows={y: row_points[bool(cells & bricks)] for y, cells in rows.items() if cells <= filled},
        columns={x: column_points[bool(cells & bricks)] for x, cells in columns.items() if cells <= filled},
    )


def _places(seats: tuple[SeatView, ...]) -> tuple[int, ...]:
    """Return each seat's rank: the number of seats with more points, or as many and fewer empty cells."""
    worth = [(seat.points, -seat.empty) for seat in seats]
    return tuple(sum(other > own for other in worth) for own in worth)


def _pending(data: Node, components: Components) -> Pending:
    def given(key: str, most: int) -> int | None:
        return optional_integer(data.get(key, None), most)

    tile = _kind(data["tile"].mapping()) if data.get("tile", None).value is not None else None
    place = given("place", actions.KIND_SIZES[actions.KIND_PLACE] - 1)
    cells, brick = ((), -1) if tile is None or place is None else _lying(data["place"], tile, place, components)
    paid = data.get("paid", None)
    return Pending(
        first=given("first", DISPLAY - 1),
        using=_abilities(data.get("using", [])),
        tile=tile,
        recolour=given("recolour", len(COLOURS) - 1),
        cells=cells,
        brick=brick,
        due=data.get("due", 0).integer(0, TILE_SIZES[-1]),
        paid=(0,) * len(COLOURS) if paid.value is None else _counts(paid),
        discarded=given("last_discard", len(COLOURS) - 1) is not None,
        rewards=data.get("rewards", 0).integer(0, CELLS),
    )


def _lying(entry: Node, tile: tuple[int, int], place: int, components: Components) -> tuple[tuple[int, ...], int]:
    """Return the cells and brick of a tile placed by the argument of PLACE."""
    turn, corner = divmod(place, CELLS)
    turned = orientations(components.drawings[tile[0]][tile[1] - TILE_SIZES[0]])
    y, x = divmod(corner, COLUMNS)
    if turn >= len(turned) or x + len(turned[turn][0]) > COLUMNS or y + len(turned[turn]) > ROWS:
        entry.fail(f"the argument of a PLACE that puts {kind_name(*tile)} on the board")
    cells, brick = offsets_of(turned[turn])
    return tuple(cell + corner for cell in cells), brick + corner


def _pile(data: Node, players: int) -> tuple[int, bool, tuple[int, ...] | None]:
    """Return the size of the draw pile, whether the End of Game card is in it, and its other contents if public."""
    pile = data["draw_pile"]
    if isinstance(pile.value, int) and not isinstance(pile.value, bool):
        size, end_card = pile.integer(0, PILE), data["end_card"].boolean()
        known = data.get("reshuffled", None)
        return size, end_card, None if known.value is None else _counts(known)
    cards = integer_tuple(pile, "colours, or 5 for the End of Game card", END_CARD)
    end_card = END_CARD in cards
    made = end_card and players > 2  # then it was made from the discard pile
    return len(cards), end_card, tuple(cards.count(colour) for colour in range(len(COLOURS))) if made else None


def read_table_view(
    position: Mapping[str, Any],
    components: Components | None = None,
    viewer: int | None = None,
    last_action: str | None = None,
) -> tuple[TableView, Components]:
    """Read a position dict into the contents of the drawings, with its component file; for the arguments see `svg`.

    PositionError if a value has the wrong type. Whether the position is playable is not checked.
    """
    data = Node(position, PositionError, file="position").mapping()
    data["game"].choice(("copenhagen",))
    if components is None:
        name = data["components"].text("the name of a component file, or a path")
        try:
            components = load_components(name)
        except (ValueError, OSError) as problem:
            raise PositionError(f"position: {problem}") from None
    players = data["players"].integer(2, 4, "2, 3 or 4")
    if viewer is not None:
        expected = f"None or a seat from 0 to {players - 1}"
        viewer = Node(viewer, PositionError, "viewer").integer(0, players - 1, expected)
    denied = [frozenset[int]()] * players
    if data.get("denied", None).value:
        denied = [_abilities(one) for one in data["denied"].entries("lists of abilities", length=players)]
    seats = tuple(
        _seat(one, number, denied[number], viewer, components)
        for number, one in enumerate(data["seats"].entries("seats", length=players))
    )
    size, end_card, in_pile = _pile(data, players)
    phase, done = data["phase"].choice(PHASES), data["done"].boolean()
    to_move = data["to_move"].integer(0, players - 1)
    pending = _pending(data.get("pending", {}).mapping(), components)
    places = _places(seats)
    white_tiles = data["white_tiles"].integer(0, MAX_OBSERVED)
    table = TableView(
        players=players,
        seats=seats,
        viewer=viewer,
        phase=phase,
        to_move=to_move,
        round=data["round"].integer(1, MAX_OBSERVED),
        done=done,
        draw_pile=size,
        end_card=end_card,
        in_pile=in_pile,
        discard=_counts(data["discard_pile"]),
        display=tuple(
            optional_integer(slot, len(COLOURS) - 1)
            for slot in data["display"].entries("colours or null", length=DISPLAY)
        ),
        supply=tuple(
            integer_tuple(data["tile_supply"][name], "tile counts by size", MAX_OBSERVED, len(TILE_SIZES))
            for name in COLOURS
        ),
        white_tiles=white_tiles,
        pending=pending,
        places=places,
        decision=action_text(phase, done, to_move, seats, places, pending, white_tiles, components),
        last=parse_last_action(last_action, phase, done, to_move, seats, pending, components),
    )
    return table, components

"""What the drawings show, read once from a position: the layer between the dict and the picture.

Nothing here decides a rule. Completed rows and the score a board would give now are recomputed from the built
cells (rules page, 5), so that a picture needs nothing but the position and the component file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from helsinki_env.components import ACTIONS, COLOURS, ROOFS

if TYPE_CHECKING:
    from helsinki_env.components import Components

SIZE = 7
SIDES = ("north", "east", "south", "west")

ACTION_LABELS: dict[str, tuple[str, ...]] = {
    "move_1_to_6": ("Move 1\u20136",),
    "two_wild_tiles": ("Two wild", "tiles"),
    "any_side": ("Any side",),
    "extra_card": ("Extra card",),
    "extra_superstructure": ("Extra super-", "structure"),
    "move_1_to_5": ("Move 1\u20135",),
    "one_wild_tile": ("One wild", "tile"),
    "second_pavilion": ("Second", "pavilion"),
    "one_card_fewer": ("One card", "fewer"),
    "move_superstructure": ("Move super-", "structure"),
    "move_back": ("Move back",),
    "no_hand_limit": ("No hand", "limit"),
    "draw_and_build": ("Draw and", "build"),
    "any_card_as_wild": ("Any card", "as wild"),
    "two_points": ("Two points",),
}
"""The words under each action's picture, in lines."""


@dataclass(frozen=True)
class Pavilion:
    """One pavilion tile on a board: colour index 0..4, number of roofs, cells 0..48 ascending."""

    colour: int
    roofs: int
    cells: tuple[int, ...]


@dataclass(frozen=True)
class SeatView:
    """One player's area.

    `faces` are the card types shown face up, `backs` is the number of cards of which only the back is seen.
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
        """Points in play plus what the board would give if the game ended now."""
        return self.points + self.board_points

    @property
    def side(self) -> int | None:
        """Side of the senate board on which the token stands (0 north, clockwise), None before the start."""
        return None if self.token is None else self.token // 2


@dataclass(frozen=True)
class TableView:
    """The whole table, indexed as in the position format. When the game is over, `to_move` is the winner."""

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


def _expand(counts: Any) -> tuple[int, ...]:
    return tuple(kind for kind, count in enumerate(counts) for _ in range(int(count)))


def _hand(seat: Mapping[str, Any], number: int, viewer: int | None) -> tuple[tuple[int, ...], int]:
    """Return the face-up card types and the number of backs: of other hands only what is known is shown."""
    hand = seat["hand"]
    if isinstance(hand, Mapping):
        known = _expand(hand["known"])
        return known, max(0, int(hand["size"]) - len(known))
    cards = _expand(hand)
    if viewer is None or viewer == number:
        return cards, 0
    known = _expand(seat["known"])
    return known, max(0, len(cards) - len(known))


def _seat(data: Mapping[str, Any], number: int, denied: Any, viewer: int | None, components: Components) -> SeatView:
    pavilions = tuple(
        Pavilion(COLOURS.index(str(p["colour"])), int(p["roofs"]), tuple(sorted(int(c) for c in p["cells"])))
        for p in data["pavilions"]
    )
    wild = tuple(sorted(int(c) for c in data["wild"]))
    built = frozenset({components.statue, *wild, *(cell for p in pavilions for cell in p.cells)})
    rows = tuple(r for r in range(SIZE) if all(SIZE * r + c in built for c in range(SIZE)))
    columns = tuple(c for c in range(SIZE) if all(SIZE * r + c in built for r in range(SIZE)))
    roofs = tuple(sorted(int(c) for c in data["superstructures"]))
    by_lines = (0, components.points_line, components.points_crossing)
    roof_points = tuple(by_lines[(cell // SIZE in rows) + (cell % SIZE in columns)] for cell in roofs)
    board = components.points_row * len(rows) + components.points_column * len(columns) + sum(roof_points)
    faces, backs = _hand(data, number, viewer)
    token, bonus = data["token"], data["bonus"]
    return SeatView(
        seat=number,
        pavilions=pavilions,
        wild=wild,
        superstructures=roofs,
        coats=tuple(sorted(int(c) for c in data["coats_on_board"])),
        meadow=int(data["meadow"]),
        used=frozenset(int(a) for a in data["used"]),
        denied=frozenset(int(a) for a in denied),
        faces=faces,
        backs=backs,
        token=None if token is None else int(token),
        points=int(data["points"]),
        bonus=None if bonus is None else int(bonus),
        limit_lifted=bool(data["limit_lifted"]),
        built=built,
        full_rows=rows,
        full_columns=columns,
        roof_points=roof_points,
        board_points=board,
    )


def card_name(kind: int, components: Components) -> str:
    """Name a card type in words: ``wild card``, ``blue 3``."""
    colour = components.card_colour(kind)
    return "wild card" if colour < 0 else f"{COLOURS[colour]} {components.card_number(kind)}"


def count_of(amount: int, word: str) -> str:
    """Write an amount with its word in the right number: ``1 card``, ``2 cards``."""
    return f"{amount} {word}" if amount == 1 else f"{amount} {word}s"


def _places(seats: tuple[SeatView, ...]) -> tuple[int, ...]:
    """Place 1, 2, ... of every seat: by score, a tie going to the later seat (rules page, 5)."""
    order = sorted(range(len(seats)), key=lambda s: (-seats[s].score, -s))
    return tuple(order.index(s) + 1 for s in range(len(seats)))


def _decision(pending: Mapping[str, Any], phase: str, side: int | None, limit: int) -> tuple[str, str]:
    """Say what the player to move decides: a headline that follows the name, a detail (may be empty)."""
    origin = "" if side is None else f" from the {SIDES[side]}"
    action = str(pending.get("action", "")).replace("_", " ")
    if phase == "START":
        return "places the first token", "The others follow on every second space, clockwise"
    if phase == "MOVE":
        top = pending.get("move")
        return (
            "moves the token",
            f"4 to {top} spaces, paid with a coat of arms" if top else "1 to 3 spaces clockwise",
        )
    if phase == "MAIN":
        if pending.get("only_build"):
            return "builds a pavilion", "Second pavilion" if pending.get("built") else "Draw and build"
        return "draws or builds", f"Two cards beside the token, or a tile{origin}"
    if phase == "PAY":
        if pending.get("substitute"):
            return "pays for a pavilion", "One card of another colour"
        return "pays for a pavilion", f"{count_of(int(pending.get('to_pay', 0)), 'more card')}"
    if phase == "PLACE":
        return "pushes the tile in", "From any other side" if pending.get("any_side") else origin.strip()
    if phase == "WILD":
        return "places wild tiles", f"{int(pending.get('wilds_left', 1))} to place"
    if phase == "LIFT":
        return "lifts a superstructure", ""
    if phase == "ROOF":
        if pending.get("lifted") is not None:
            return "sets the superstructure down", "On any other free roof"
        left = f"{int(pending.get('roofs_left', 1))} to place"
        return "places superstructures", left + (f": {action}" if action else " on the new pavilion")
    if phase == "DISCARD":
        return "discards", f"Down to {count_of(limit, 'card')}"
    return "may end the turn", "Built" if pending.get("built") else "Drew cards" if pending.get("drew") else ""


def read(position: Mapping[str, Any], components: Components, viewer: int | None = None) -> TableView:
    """Read a position dict, whole or a seat's copy, into what the drawings show.

    With `viewer` set, hands of other seats are reduced to what everybody knows of them even if the dict holds
    more. Raises `KeyError` or `ValueError` when the dict is not in the position format (`notation.from_dict`
    says what is wrong with it).
    """
    players = int(position["players"])
    if viewer is not None and not 0 <= viewer < players:
        raise ValueError(f"viewer: {viewer}, expected None or a seat from 0 to {players - 1}")
    denied = position.get("denied") or [()] * players
    seats = tuple(
        _seat(data, number, denied[number], viewer, components) for number, data in enumerate(position["seats"])
    )
    pile = position["draw_pile"]
    pending = position.get("pending") or {}
    phase, done = str(position["phase"]), bool(position["done"])
    places = _places(seats)
    to_move = places.index(1) if done else int(position["to_move"])
    headline, detail = _decision(pending, phase, seats[to_move].side, components.hand_limit)
    if done:
        score = seats[to_move].score
        tied = sum(seat.score == score for seat in seats) > 1
        headline, detail = (
            "wins the game",
            f"{score} points" + (": a tie goes to the later seat" if tied else ""),
        )
    return TableView(
        players=players,
        seats=seats,
        viewer=viewer,
        phase=phase,
        to_move=to_move,
        round=int(position["round"]),
        last_round=bool(position["last_round"]),
        done=done,
        dry_roads=bool(position["dry_roads"]),
        covered=frozenset(int(a) for a in position.get("covered", ())),
        draw_pile=int(pile) if isinstance(pile, int) else len(pile),
        discard=tuple(int(n) for n in position["discard_pile"]),
        display=tuple(None if kind is None else int(kind) for kind in position["display"]),
        tile_supply=tuple(tuple(int(n) for n in position["tile_supply"][name]) for name in COLOURS),
        wild_tiles=int(position["wild_tiles"]),
        superstructures=int(position["superstructures"]),
        bonus_cards=tuple(int(b) for b in position["bonus_cards"]),
        card=pending.get("card"),
        paid=tuple(int(kind) for kind in pending.get("paid", ())),
        to_pay=int(pending.get("to_pay", 0)),
        any_side=bool(pending.get("any_side", False)),
        lifted=pending.get("lifted"),
        headline=headline,
        detail=detail,
        places=places,
    )


def action_index(name: str) -> int:
    """Return the fixed id of an action of the action board."""
    return ACTIONS.index(name)


def discard_by_colour(table: TableView, components: Components) -> tuple[int, ...]:
    """Cards in the discard pile per colour, wild last: six numbers."""
    counts = [0] * (len(COLOURS) + 1)
    for kind, amount in enumerate(table.discard):
        counts[components.card_colour(kind)] += amount  # -1, the wild card, is the last entry
    return tuple(counts)


__all__ = [
    "ACTION_LABELS",
    "COLOURS",
    "ROOFS",
    "SIDES",
    "SIZE",
    "Pavilion",
    "SeatView",
    "TableView",
    "action_index",
    "card_name",
    "count_of",
    "discard_by_colour",
    "read",
]

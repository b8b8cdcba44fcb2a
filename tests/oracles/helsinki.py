"""Reference implementation of the rules in plain Python, written from the rules page alone.

The compiled rules are optimized for speed, this module for readability. It does not use them: it shares only the
component data (`helsinki_env.games.helsinki.components`) and the configuration (`helsinki_env.games.helsinki.config`).
The tests play both implementations in parallel and compare every field of the position and every set of legal actions.
Section numbers in the comments refer to the rules page (``docs/rules.md``).

This module defines legality twice:

* `ReferenceGame.legal_actions` computes directly whether an action is legal, by counting cards, coats and roofs;
* `brute_force_legal_actions` counts nothing: it applies local rules only, then searches for a way to complete the turn.
It is even slower, and it tests the first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Final

from helsinki_env.games.helsinki.components import BOARD_ACTIONS, COLORS, ROOFS, Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from tests.oracles.shared import (
    Decision,
    Reference,
    decode_action,
    encode_action,
    first_word,
    number_actions,
    spread,
)

BOARD: Final = 7
CELLS: Final = BOARD * BOARD
SPACES: Final = 8
SLOTS: Final = 8
UNSEEN_DRAWS: Final = 3
NORTH, EAST, SOUTH, WEST = range(4)

START, MOVE, MAIN, PAY, PLACE = "START", "MOVE", "MAIN", "PAY", "PLACE"
WILD, LIFT, ROOF, DISCARD, END = "WILD", "LIFT", "ROOF", "DISCARD", "END"
DRAW, BUILD, USE = "DRAW", "BUILD", "USE"


# ------------------------------------------------------------------------------------------------------------
# Actions as numbers (section 3, "Actions")


@cache
def action_offsets(types: int) -> dict[str, tuple[int, int]]:
    """First id and number of ids of each kind of action, for a deck with `types` card types."""
    sizes = {
        START: SPACES,
        MOVE: 6,
        DRAW: 1,
        BUILD: types - 1,
        PAY: types,
        PLACE: 4 * 8 * BOARD,
        WILD: CELLS,
        LIFT: CELLS,
        ROOF: CELLS,
        DISCARD: types,
        USE: len(BOARD_ACTIONS),
        END: 1,
    }
    return number_actions(sizes)


def encode(kind: str, argument: int, types: int) -> int:
    """Return the flat id of an action."""
    return encode_action(action_offsets(types), kind, argument)


def decode(action: int, types: int) -> Decision:
    """Return the (kind, argument) pair of a flat action id."""
    return decode_action(action_offsets(types), action)


# ------------------------------------------------------------------------------------------------------------
# Shapes and the slide (section 3, PLACE)


def orientations(drawing: tuple[str, ...]) -> list[frozenset[tuple[int, int]]]:
    """Return the distinct orientations of a drawing as sets of (row, column), in a fixed order.

    Rotations by 0, 90, 180, 270 degrees clockwise of the drawing, then of its left-right mirror image, without
    duplicates.
    """

    def rotated(rows: list[str]) -> list[str]:
        return ["".join(row[column] for row in reversed(rows)) for column in range(len(rows[0]))]

    found: list[frozenset[tuple[int, int]]] = []
    for rows in (list(drawing), [row[::-1] for row in drawing]):
        for _ in range(4):
            cells = frozenset((r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "X")
            if cells not in found:
                found.append(cells)
            rows = rotated(rows)
    return found


@dataclass(frozen=True)
class Position:
    """One step of a slide: the board cells under the tile, and whether the whole tile is on the board."""

    cells: frozenset[int]
    wholly_on_board: bool


@cache
def entry_paths(drawing: tuple[str, ...], side: int) -> tuple[tuple[int, tuple[Position, ...]], ...]:
    """Return every way to push a shape in from a side: PLACE argument, and the positions of the slide step by step.

    A path begins completely off the board, beyond `side`, and ends completely off it beyond the opposite side. Paths
    that are never wholly on the board (a lane too close to the rim for the shape) are left out.
    """
    down, right = {NORTH: (1, 0), EAST: (0, -1), SOUTH: (-1, 0), WEST: (0, 1)}[side]
    ways = []
    for number, shape in enumerate(orientations(drawing)):
        height = 1 + max(row for row, _ in shape)
        width = 1 + max(column for _, column in shape)
        for lane in range(BOARD):
            row, column = {
                NORTH: (-height, lane),
                EAST: (lane, BOARD),
                SOUTH: (BOARD, lane),
                WEST: (lane, -width),
            }[side]
            path = []
            for step in range(1 + BOARD + (height if down else width)):
                where = [(row + step * down + r, column + step * right + c) for r, c in shape]
                on_board = [BOARD * r + c for r, c in where if 0 <= r < BOARD and 0 <= c < BOARD]
                path.append(Position(frozenset(on_board), len(on_board) == len(shape)))
            if any(position.wholly_on_board for position in path):
                ways.append(((side * 8 + number) * BOARD + lane, tuple(path)))
    return tuple(ways)


def slide(path: Iterable[Position], built: frozenset[int] | set[int]) -> frozenset[int] | None:
    """Return the cells where a pushed tile comes to rest, or None if the placement is illegal.

    The tile moves step by step until the next step would put one of its cells on a built cell. The placement is illegal
    if that never happens, or if part of the tile is off the board when it stops.
    """
    steps = iter(path)
    now = next(steps)  # completely off the board
    for following in steps:
        if not following.cells.isdisjoint(built):
            return now.cells if now.wholly_on_board else None
        now = following
    return None


@cache
def neighbours(cell: int) -> tuple[int, ...]:
    """Return the cells that share an edge with a cell."""
    row, column = divmod(cell, BOARD)
    around = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
    return tuple(BOARD * r + c for r, c in around if 0 <= r < BOARD and 0 <= c < BOARD)


def touch(one: Iterable[int], other: Iterable[int]) -> bool:
    """Return whether two sets of cells touch edge to edge."""
    others = set(other)
    return any(near in others for cell in one for near in neighbours(cell))


# ------------------------------------------------------------------------------------------------------------
# The state


@dataclass
class Pavilion:
    """A pavilion tile on a board."""

    colour: int
    roofs: int
    cells: frozenset[int]


@dataclass
class Seat:
    """Everything that belongs to one player."""

    hand: list[int]
    known: list[int]
    coats_on_board: set[int]
    pavilions: list[Pavilion] = field(default_factory=list)
    wild: set[int] = field(default_factory=set)
    superstructures: set[int] = field(default_factory=set)
    meadow: int = 0
    used: set[int] = field(default_factory=set)
    token: int | None = None
    points: int = 0
    bonus: int | None = None
    limit_lifted: bool = False

    def roofs(self) -> set[int]:
        """All cells with a roof: pavilion and wild tiles, not the statue."""
        return self.wild.union(*(pavilion.cells for pavilion in self.pavilions))

    def hand_size(self) -> int:
        """Return the number of cards in the hand."""
        return sum(self.hand)

    def clone(self) -> Seat:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin.hand = list(self.hand)
        twin.known = list(self.known)
        twin.coats_on_board = set(self.coats_on_board)
        twin.pavilions = list(self.pavilions)  # pavilions never change after placement
        twin.wild = set(self.wild)
        twin.superstructures = set(self.superstructures)
        twin.used = set(self.used)
        return twin


@dataclass
class Pending:
    """State of the turn in progress.

    Each field that differs from its default is a key of the position's ``pending``; see ``docs/rules.md``.
    """

    move: int = 0
    drew: bool = False
    built: bool = False
    only_build: bool = False
    card: int | None = None
    paid: list[int] = field(default_factory=list)
    to_pay: int = 0
    substitute: bool = False
    any_side: bool = False
    action: str | None = None
    resume: str | None = None
    wilds_left: int = 0
    lifted: int | None = None
    roofs_left: int = 0
    last_roof: int | None = None
    last_discard: int | None = None
    lifted_now: bool = False
    turn_over: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the non-default fields as keys of a position's ``pending``."""
        default = Pending()
        written = {f.name: getattr(self, f.name) for f in fields(self)}
        written = {key: value for key, value in written.items() if value != getattr(default, key)}
        if "paid" in written:
            written["paid"] = list(written["paid"])
        return written

    def clone(self) -> Pending:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin.paid = list(self.paid)
        return twin


# ------------------------------------------------------------------------------------------------------------
# The game


class ReferenceGame(Reference):
    """A single game, played by flat action ids.

    Args:
        config: the configuration; None for the defaults (two players).
        seed: random seed, any integer (taken modulo 2**64).
        stream: second part of the seed.
    """

    seats: list[Seat]
    pending: Pending

    def __init__(self, config: HelsinkiConfig | None = None, seed: int = 0, stream: int = 0) -> None:
        self.config = HelsinkiConfig() if config is None else config
        self.components: Components = self.config.component_set
        self.players: int = self.config.num_players
        self.word = first_word(seed, stream)
        self.phase = START
        self.seat = 0
        self.round = 1
        self.last_round = False
        self.done = False
        # By color, then by roofs 2, 3, 4, 5.
        self.tile_supply = [list(self.components.tile_copies) for _ in COLORS]
        self.wild_supply: int = self.components.wild_tiles
        self.superstructure_supply: int = self.components.superstructures
        self.bonus_cards: list[int] = (
            sorted(self.components.bonus_cards)[: self.players] if self.config.dry_roads else []
        )
        self.discard = [0] * self.components.types
        self.reshuffled: list[int] | None = None
        self.unseen_draws: list[list[int]] = [[] for _ in range(self.players)]
        self.seats = [
            Seat(
                hand=[0] * self.components.types,
                known=[0] * self.components.types,
                coats_on_board=set(self.components.coats),
            )
            for _ in range(self.players)
        ]
        self.pending = Pending()
        self._legal: list[int] | None = None
        # Setup, step 1 (section 2): shuffle the deck, ascending by type, and deal the display.
        counts = list(self.components.deck(self.players))
        if self.players == 2:  # one more card of a given number is removed unseen
            number = self.components.any_removed2_number
            fives = [card for card in spread(counts) if self.components.card_number(card) == number]
            if fives:
                counts[fives[self._below(len(fives))]] -= 1
        self.draw_pile = self._shuffled(counts)  # a stack: the next card is the last one
        self.display: list[int | None] = [self._next_card() for _ in range(SLOTS)]

    # -- queries ---------------------------------------------------------------------------------------------

    def encode(self, decision: Decision) -> int:
        """Return the flat id of a (kind, argument) pair."""
        return encode(decision[0], decision[1], self.components.types)

    def decode(self, action: int) -> Decision:
        """Return the (kind, argument) pair of a flat id."""
        return decode(action, self.components.types)

    def scores(self) -> list[int]:
        """Return the points per seat: made during play, plus the board score if the game ended now (section 5)."""
        return [seat.points + self._board_points(seat) for seat in self.seats]

    def ranking(self) -> list[int]:
        """Return the seats from first to last: most points first; ties go to the seat later in turn order."""
        scores = self.scores()
        return sorted(range(self.players), key=lambda seat: (scores[seat], seat), reverse=True)

    def clone(self) -> ReferenceGame:
        """Return an independent copy."""
        twin = super().clone()
        twin.bonus_cards = list(self.bonus_cards)
        twin.reshuffled = None if self.reshuffled is None else list(self.reshuffled)
        twin.unseen_draws = [list(cards) for cards in self.unseen_draws]
        return twin

    # -- helpers ---------------------------------------------------------------------------------------------

    @property
    def _me(self) -> Seat:
        return self.seats[self.seat]

    def _built(self, seat: Seat) -> set[int]:
        """Return the built cells: the statue, pavilion tiles and wild tiles."""
        return seat.roofs() | {self.components.statue}

    def _free_roofs(self, seat: Seat) -> set[int]:
        return seat.roofs() - seat.superstructures

    def _cost(self, name: str) -> int:
        """Return the cost of a board action in coats of arms."""
        return self.components.costs[BOARD_ACTIONS.index(name)]

    def _strength(self, name: str) -> int:
        """Return the strength of a board action that has one."""
        return self.components.strengths[BOARD_ACTIONS.index(name)]

    def _may_use(self, name: str) -> bool:
        """Return whether the player has the coats and the board action is not covered, denied to this seat, or used."""
        return self._me.meadow >= self._cost(name) and self._is_open(name)

    def _is_open(self, name: str) -> bool:
        action = BOARD_ACTIONS.index(name)
        denied = action in self.config.denied[self.seat]
        return action not in self.config.covered and not denied and action not in self._me.used

    def _drawing(self, colour: int, roofs: int) -> tuple[str, ...]:
        return tuple(self.components.shapes[self.components.tiles[colour][ROOFS.index(roofs)]])

    def _tiles_left(self, card: int) -> int:
        colour, roofs = self.components.card_color(card), self.components.card_roofs(card)
        return self.tile_supply[colour][ROOFS.index(roofs)]

    def _is_wild_card(self, card: int) -> bool:
        return card == self.components.wild_type

    def _pays_for(self, card: int, built_card: int) -> bool:
        """Return whether a card is wild or has the color of the card being built."""
        colour = self.components.card_color(built_card)
        return self._is_wild_card(card) or self.components.card_color(card) == colour

    # -- legality (section 3) --------------------------------------------------------------------------------

    def _legal_start(self) -> Iterator[Decision]:
        for space in range(SPACES):
            yield START, space

    def _legal_move(self) -> Iterator[Decision]:
        if self.pending.move:  # move_1_to_6 or move_1_to_5 has been paid for: allow only the moves it adds
            for steps in range(4, self.pending.move + 1):
                yield MOVE, steps - 1
            return
        for steps in (1, 2, 3):
            yield MOVE, steps - 1
        for name in ("move_1_to_6", "move_1_to_5", "move_back"):
            if self._may_use(name):
                yield USE, BOARD_ACTIONS.index(name)
        yield from self._legal_any_time()

    def _legal_main(self) -> Iterator[Decision]:
        for card in range(self.components.wild_type):
            if self._build_is_feasible(card, self._me.meadow):
                yield BUILD, card
        if self.pending.only_build:
            return
        yield DRAW, 0
        cards = 2 + self._strength("extra_card")
        if self._may_use("extra_card") and len(self.draw_pile) + sum(self.discard) >= cards:
            yield USE, BOARD_ACTIONS.index("extra_card")
        yield from self._legal_any_time()

    def _legal_end(self) -> Iterator[Decision]:
        yield END, 0
        for name, begun in (("draw_and_build", self.pending.drew), ("second_pavilion", self.pending.built)):
            if begun and self._may_use(name) and self._some_build_is_feasible(self._me.meadow - self._cost(name)):
                yield USE, BOARD_ACTIONS.index(name)
        if (
            self.pending.built
            and self._may_use("extra_superstructure")
            and self.superstructure_supply > 0
            and self._me.pavilions[-1].cells - self._me.superstructures
        ):
            yield USE, BOARD_ACTIONS.index("extra_superstructure")
        yield from self._legal_any_time()

    def _legal_any_time(self) -> Iterator[Decision]:
        """Return the board actions that are legal in MOVE, MAIN and END alike."""
        if self._may_use("two_points"):
            yield USE, BOARD_ACTIONS.index("two_points")
        for name in ("one_wild_tile", "two_wild_tiles"):
            if self._may_use(name) and self.wild_supply > 0 and self._wild_cells():
                yield USE, BOARD_ACTIONS.index(name)
        if self._may_use("move_superstructure") and self._me.superstructures and self._free_roofs(self._me):
            yield USE, BOARD_ACTIONS.index("move_superstructure")

    # Building: cost in coats

    def _some_build_is_feasible(self, coats: int) -> bool:
        return any(self._build_is_feasible(card, coats) for card in range(self.components.wild_type))

    def _build_is_feasible(self, card: int, coats: int) -> bool:
        """Return whether BUILD(card) can be paid and placed with `coats` coats."""
        if self._me.hand[card] == 0 or self._tiles_left(card) == 0:
            return False
        self._me.hand[card] -= 1  # a card cannot pay for itself
        to_pay = self._coats_to_pay(card, self.components.card_number(card) - 1)
        self._me.hand[card] += 1
        if to_pay is None or to_pay > coats:
            return False
        to_place = self._coats_to_place(card)
        return to_place is not None and to_pay + to_place <= coats

    def _coats_to_pay(self, card: int, due: int, fewer_allowed: bool = True) -> int | None:
        """Return the minimum number of coats to pay `due` more cards for `card`, none of them paid yet.

        None if impossible. One board action reduces the number of cards due, one allows a card of another color. With
        both, the reduction comes first, so at least one card must remain due for the substitute.
        """
        fitting = sum(count for other, count in enumerate(self._me.hand) if self._pays_for(other, card))
        if fitting >= due:
            return 0
        strangers = self._me.hand_size() - fitting
        fewer = fewer_allowed and self._is_open("one_card_fewer")
        substitute = self._is_open("any_card_as_wild") and strangers > 0
        left = max(0, due - self._strength("one_card_fewer"))
        ways = []
        if fewer and fitting >= left:
            ways.append(self._cost("one_card_fewer"))
        if substitute and fitting >= due - 1:
            ways.append(self._cost("any_card_as_wild"))
        if fewer and substitute and left >= 1 and fitting >= left - 1:
            ways.append(self._cost("one_card_fewer") + self._cost("any_card_as_wild"))
        return min(ways, default=None)

    def _coats_to_place(self, card: int) -> int | None:
        """Return the coats needed to place the tile of `card` (0 or the cost of `any_side`), or None if impossible."""
        colour, roofs = self.components.card_color(card), self.components.card_roofs(card)
        own = self._own_side()
        if self._some_placement(colour, roofs, [own]):
            return 0
        others = [side for side in range(4) if side != own]
        if self._is_open("any_side") and self._some_placement(colour, roofs, others):
            return self._cost("any_side")
        return None

    def _own_side(self) -> int:
        assert self._me.token is not None
        return self._me.token // 2

    def _placements(self, colour: int, roofs: int, sides: Iterable[int]) -> Iterator[tuple[int, frozenset[int]]]:
        """Return every legal PLACE argument for a tile, and the cells where the tile comes to rest."""
        built = self._built(self._me)
        for side in sides:
            for argument, path in entry_paths(self._drawing(colour, roofs), side):
                cells = slide(path, built)
                if cells is not None:
                    yield argument, cells

    def _some_placement(self, colour: int, roofs: int, sides: Iterable[int]) -> bool:
        return any(True for _ in self._placements(colour, roofs, sides))

    # Building: the phases

    def _legal_pay(self) -> Iterator[Decision]:
        card, hand = self.pending.card, self._me.hand
        assert card is not None
        if self.pending.substitute:
            for other, count in enumerate(hand):
                if count and not self._pays_for(other, card):
                    yield PAY, other
            return
        floor = self._pay_floor()
        for other, count in enumerate(hand):
            if count and other >= floor and self._pays_for(other, card):
                left = sum(hand[later] for later in range(other, len(hand)) if self._pays_for(later, card))
                if left >= self.pending.to_pay:  # including this card
                    yield PAY, other
        if self.pending.paid:
            return
        place = self._coats_to_place(card)
        assert place is not None
        if self._may_use("one_card_fewer"):
            left = max(0, self.pending.to_pay - self._strength("one_card_fewer"))
            pay = self._coats_to_pay(card, left, fewer_allowed=False)
            if pay is not None and self._cost("one_card_fewer") + pay + place <= self._me.meadow:
                yield USE, BOARD_ACTIONS.index("one_card_fewer")
        if self._may_use("any_card_as_wild"):
            fitting = sum(count for other, count in enumerate(hand) if self._pays_for(other, card))
            strangers = sum(hand) - fitting
            enough = self._cost("any_card_as_wild") + place <= self._me.meadow
            if strangers > 0 and fitting >= self.pending.to_pay - 1 and enough:
                yield USE, BOARD_ACTIONS.index("any_card_as_wild")

    def _pay_floor(self) -> int:
        """Return the lowest type that may be paid next: types do not decrease, except for a substitute."""
        assert self.pending.card is not None
        in_order = [card for card in self.pending.paid if self._pays_for(card, self.pending.card)]
        return in_order[-1] if in_order else 0

    def _legal_place(self) -> Iterator[Decision]:
        card = self.pending.card
        assert card is not None
        colour, roofs = self.components.card_color(card), self.components.card_roofs(card)
        own = self._own_side()
        others = [side for side in range(4) if side != own]
        for argument, _ in self._placements(colour, roofs, others if self.pending.any_side else [own]):
            yield PLACE, argument
        if not self.pending.any_side and self._may_use("any_side") and self._some_placement(colour, roofs, others):
            yield USE, BOARD_ACTIONS.index("any_side")

    # The other phases

    def _wild_cells(self) -> list[int]:
        """Return empty cells that touch a pavilion or wild tile of this board; the statue alone does not count."""
        roofs, built = self._me.roofs(), self._built(self._me)
        around = {near for cell in roofs for near in neighbours(cell)}
        return sorted(around - built)

    def _legal_wild(self) -> Iterator[Decision]:
        for cell in self._wild_cells():
            yield WILD, cell

    def _legal_lift(self) -> Iterator[Decision]:
        for cell in self._me.superstructures:
            yield LIFT, cell

    def _legal_roof(self) -> Iterator[Decision]:
        if self.pending.action == "move_superstructure":
            for cell in self._free_roofs(self._me):
                if cell != self.pending.lifted:
                    yield ROOF, cell
            return
        free = sorted(self._me.pavilions[-1].cells - self._me.superstructures)
        if self.pending.last_roof is not None:
            free = [cell for cell in free if cell > self.pending.last_roof]
        for index, cell in enumerate(free):
            if len(free) - index >= self.pending.roofs_left:  # including this cell
                yield ROOF, cell

    def _excess(self) -> int:
        return self._me.hand_size() - self.components.hand_limit

    def _legal_discard(self) -> Iterator[Decision]:
        hand = self._me.hand
        floor = 0 if self.pending.last_discard is None else self.pending.last_discard
        for card in range(floor, len(hand)):
            if hand[card] and sum(hand[card:]) >= self._excess():  # including this card
                yield DISCARD, card
        first = self.pending.last_discard is None
        if first and not self.pending.turn_over and self._may_use("no_hand_limit"):
            yield USE, BOARD_ACTIONS.index("no_hand_limit")

    # -- effects of actions ----------------------------------------------------------------------------------

    def apply(self, decision: Decision) -> None:
        """Apply an action that is assumed legal. This method never takes END automatically."""
        self._legal = None
        kind, argument = decision
        doing = {
            START: self._start,
            MOVE: self._move,
            DRAW: self._draw,
            BUILD: self._build,
            PAY: self._pay,
            PLACE: self._place,
            WILD: self._put_wild_tile,
            LIFT: self._lift,
            ROOF: self._put_superstructure,
            DISCARD: self._discard_card,
            USE: self._use,
            END: self._end_turn,
        }
        doing[kind](argument)

    def _start(self, space: int) -> None:
        for number, seat in enumerate(self.seats):
            seat.token = (space + 2 * number) % SPACES
        for number in range(self.players):
            for _ in range(2):
                self._draw_into_hand(number)
        self.phase = MOVE

    def _move(self, argument: int) -> None:
        self._advance(argument + 1)
        self.pending.move = 0

    def _advance(self, steps: int) -> None:
        assert self._me.token is not None
        self._me.token = (self._me.token + steps) % SPACES
        self.phase = MAIN

    # Drawing (section 3, "Drawing" and "Hand limit"; section 4)

    def _draw(self, _: int = 0, extra: int = 0) -> None:
        me = self._me
        assert me.token is not None
        slots = sorted(((me.token - 1) % SLOTS, me.token))
        for slot in slots:
            card = self.display[slot]
            if card is not None:
                me.hand[card] += 1
                me.known[card] += 1
                self.display[slot] = None
        for slot in slots:
            self.display[slot] = self._next_card()
            shown = self.display[slot]
            if shown is not None and self.reshuffled is not None:
                self.reshuffled[shown] = max(0, self.reshuffled[shown] - 1)
        for _ in range(extra):
            self._draw_into_hand(self.seat)
        self.pending.drew = True
        self.phase = DISCARD if self._excess() > 0 and not me.limit_lifted else END

    def _next_card(self) -> int | None:
        """Return the next card, reshuffling the discard pile if necessary; None if both piles are empty."""
        if not self.draw_pile and sum(self.discard) > 0:
            self.reshuffled = list(self.discard)
            self.unseen_draws = [[] for _ in range(self.players)]
            self.draw_pile = self._shuffled(self.discard)
            self.discard = [0] * self.components.types
        if not self.draw_pile:
            return None
        card = self.draw_pile.pop()
        if not self.draw_pile:
            self.last_round = True
        return card

    def _draw_into_hand(self, number: int) -> None:
        """Draw a card face down; a seat draws at most three unseen cards from a reshuffled pile."""
        card = self._next_card()
        if card is not None:
            self.seats[number].hand[card] += 1
            if self.reshuffled is not None and any(self.reshuffled):
                if len(self.unseen_draws[number]) < UNSEEN_DRAWS:
                    self.unseen_draws[number].append(card)
                else:
                    self.seats[number].known[card] += 1
                    self.reshuffled[card] = max(0, self.reshuffled[card] - 1)

    def _discard_card(self, card: int) -> None:
        self._show(card)
        self.discard[card] += 1
        self.pending.last_discard = card
        if self._excess() > 0:
            return
        if self.pending.turn_over:
            self._pass_turn()
        else:
            self.pending.last_discard = None
            self.phase = END

    def _show(self, card: int) -> None:
        """Play a card from the hand face up; the known count of its type decreases by one if positive."""
        me = self._me
        me.hand[card] -= 1
        me.known[card] = max(0, me.known[card] - 1)

    # Building

    def _build(self, card: int) -> None:
        self._show(card)
        self.pending.only_build = False
        self.pending.card = card
        self.pending.to_pay = self.components.card_number(card) - 1
        self.phase = PAY if self.pending.to_pay > 0 else PLACE

    def _pay(self, card: int) -> None:
        self._show(card)
        self.pending.paid.append(card)
        self.pending.substitute = False
        self._less_to_pay(1)

    def _less_to_pay(self, cards: int) -> None:
        self.pending.to_pay = max(0, self.pending.to_pay - cards)
        if self.pending.to_pay == 0:
            self.phase = PLACE

    def _place(self, argument: int) -> None:
        me, pending = self._me, self.pending
        card = pending.card
        assert card is not None
        colour, roofs = self.components.card_color(card), self.components.card_roofs(card)
        paths = dict(entry_paths(self._drawing(colour, roofs), argument // (8 * BOARD)))
        cells = slide(paths[argument], self._built(me))
        assert cells is not None
        of_same_colour = [pavilion for pavilion in me.pavilions if pavilion.colour == colour]
        self.tile_supply[colour][ROOFS.index(roofs)] -= 1
        me.pavilions.append(Pavilion(colour, roofs, cells))
        for shown in [card, *pending.paid]:
            self.discard[shown] += 1
        self._collect_coats(cells)
        self._check_dry_roads()
        if any(touch(cells, pavilion.cells) for pavilion in of_same_colour):
            self._draw_into_hand(self.seat)
        pending.card = None
        pending.paid = []
        pending.any_side = False
        pending.built = True
        pending.roofs_left = min(self.components.card_superstructures(card), self.superstructure_supply, len(cells))
        if pending.roofs_left > 0:
            pending.resume = END
            self.phase = ROOF
        else:
            self.phase = END

    def _collect_coats(self, cells: Iterable[int]) -> None:
        """Move coats of arms under newly built cells to the meadow."""
        won = self._me.coats_on_board.intersection(cells)
        self._me.coats_on_board -= won
        self._me.meadow += len(won)

    def _check_dry_roads(self) -> None:
        """Award the best bonus card left, once, for four connected crosswalks (expansion, section 6)."""
        me = self._me
        if not self.bonus_cards or me.bonus is not None:
            return
        roofs, goals = me.roofs(), set(self.components.crosswalks)
        if not goals <= roofs:
            return
        reached = {min(goals)}
        border = [min(goals)]
        while border:
            for near in neighbours(border.pop()):
                if near in roofs and near not in reached:
                    reached.add(near)
                    border.append(near)
        if goals <= reached:
            me.bonus = self.bonus_cards.pop()  # ascending: the last has the highest value
            me.points += me.bonus

    # Coats of arms

    def _use(self, action: int) -> None:
        me, pending, name = self._me, self.pending, BOARD_ACTIONS[action]
        strength = self._strength(name)
        me.meadow -= self._cost(name)
        me.used.add(action)
        if name in ("move_1_to_6", "move_1_to_5"):
            pending.move = strength
        elif name == "move_back":
            self._advance(-strength)
        elif name == "two_points":
            me.points += strength
        elif name == "extra_card":
            self._draw(extra=strength)
        elif name == "no_hand_limit":
            me.limit_lifted = True
            pending.lifted_now = True
            self.phase = END
        elif name in ("draw_and_build", "second_pavilion"):
            pending.only_build = True
            self.phase = MAIN
        elif name == "one_card_fewer":
            self._less_to_pay(strength)
        elif name == "any_card_as_wild":
            pending.substitute = True
        elif name == "any_side":
            pending.any_side = True
        elif name in ("one_wild_tile", "two_wild_tiles"):
            self._begin(WILD, name)
            pending.wilds_left = min(strength, self.wild_supply)
        elif name == "move_superstructure":
            self._begin(LIFT, name)
        elif name == "extra_superstructure":
            self._begin(ROOF, name)
            free = len(me.pavilions[-1].cells - me.superstructures)
            pending.roofs_left = min(strength, free, self.superstructure_supply)
        else:
            raise AssertionError(name)

    def _begin(self, phase: str, name: str) -> None:
        """Interrupt the phase for a board action."""
        self.pending.action = name
        self.pending.resume = self.phase
        self.phase = phase

    def _resume(self) -> None:
        """Return to the interrupted phase."""
        pending = self.pending
        assert pending.resume is not None
        self.phase = pending.resume
        pending.action = pending.resume = pending.lifted = pending.last_roof = None
        pending.wilds_left = pending.roofs_left = 0

    def _put_wild_tile(self, cell: int) -> None:
        self.wild_supply -= 1
        self._me.wild.add(cell)
        self._collect_coats([cell])
        self._check_dry_roads()
        self.pending.wilds_left -= 1
        if self.pending.wilds_left == 0 or not self._wild_cells():
            self._resume()

    def _lift(self, cell: int) -> None:
        self._me.superstructures.remove(cell)
        self.pending.lifted = cell
        self.pending.roofs_left = 1
        self.phase = ROOF

    def _put_superstructure(self, cell: int) -> None:
        self._me.superstructures.add(cell)
        if self.pending.lifted is None:
            self.superstructure_supply -= 1
        self.pending.last_roof = cell
        self.pending.roofs_left -= 1
        if self.pending.roofs_left == 0:
            self._resume()

    # The end of a turn and of the game (sections 3 and 5)

    def _end_turn(self, _: int = 0) -> None:
        me = self._me
        if me.limit_lifted and not self.pending.lifted_now:
            me.limit_lifted = False
            if self._excess() > 0:
                self.pending.turn_over = True
                self.phase = DISCARD
                return
        self._pass_turn()

    def _pass_turn(self) -> None:
        self.pending = Pending()
        round_over = self.seat == self.players - 1
        if round_over and self.last_round:
            self.done = True
            self.phase = END
            self.reshuffled = None
            self.unseen_draws = [[] for _ in range(self.players)]
            return
        if round_over:
            self.round += 1
        self.seat = (self.seat + 1) % self.players
        self.phase = MOVE

    def _board_points(self, seat: Seat) -> int:
        data, built = self.components, self._built(seat)
        rows = [row for row in range(BOARD) if all(BOARD * row + column in built for column in range(BOARD))]
        columns = [column for column in range(BOARD) if all(BOARD * row + column in built for row in range(BOARD))]
        points: int = data.points_row * len(rows) + data.points_column * len(columns)
        for cell in seat.superstructures:
            row, column = divmod(cell, BOARD)
            if row in rows and column in columns:
                points += data.points_crossing
            elif row in rows or column in columns:
                points += data.points_line
        return points

    # -- positions as data -----------------------------------------------------------------------------------

    def to_dict(self, seat: int | None = None) -> dict[str, Any]:
        """Return the position in the public format; with `seat`, only what that seat may see (section 7)."""
        pending = self.pending.to_dict()
        if self.reshuffled is not None and any(self.reshuffled):  # omit it if nothing of that pile is left
            pending["reshuffled"] = list(self.reshuffled)
            if any(self.unseen_draws):
                # The number of another seat's draws is public, the cards are hidden.
                pending["unseen_draws"] = [
                    list(cards) if seat in (None, number) else [None] * len(cards)
                    for number, cards in enumerate(self.unseen_draws)
                ]
        position: dict[str, Any] = {
            "game": "helsinki",
            "version": 0,
            "components": self.config.components,
            "players": self.players,
            "covered": sorted(self.config.covered),
            "denied": [sorted(actions) for actions in self.config.denied],
            "dry_roads": self.config.dry_roads,
            "phase": self.phase,
            "to_move": self.seat,
            "round": self.round,
            "last_round": self.last_round,
            "done": self.done,
            "draw_pile": self.draw_pile[::-1] if seat is None else len(self.draw_pile),
            "discard_pile": list(self.discard),
            "display": list(self.display),
            "tile_supply": {name: list(self.tile_supply[colour]) for colour, name in enumerate(COLORS)},
            "wild_tiles": self.wild_supply,
            "superstructures": self.superstructure_supply,
            "bonus_cards": sorted(self.bonus_cards),
            "seats": [self._seat_to_dict(number, seat in (None, number)) for number in range(self.players)],
            "pending": pending,
        }
        if seat is None:
            position["chance"] = {"word": f"0x{self.word:016x}"}
        return position

    def _seat_to_dict(self, number: int, open_hand: bool) -> dict[str, Any]:
        seat = self.seats[number]
        return {
            "pavilions": [
                {"colour": COLORS[pavilion.colour], "roofs": pavilion.roofs, "cells": sorted(pavilion.cells)}
                for pavilion in seat.pavilions
            ],
            "wild": sorted(seat.wild),
            "superstructures": sorted(seat.superstructures),
            "coats_on_board": sorted(seat.coats_on_board),
            "meadow": seat.meadow,
            "used": sorted(seat.used),
            "hand": list(seat.hand) if open_hand else {"size": seat.hand_size(), "known": list(seat.known)},
            "known": list(seat.known),
            "token": seat.token,
            "points": seat.points,
            "bonus": seat.bonus,
            "limit_lifted": seat.limit_lifted,
        }

    @classmethod
    def from_dict(cls, position: Mapping[str, Any], config: HelsinkiConfig | None = None) -> ReferenceGame:
        """Return a game at a position. The input is trusted, not checked.

        The configuration comes from the position; `config` replaces it if given (for components from elsewhere).
        """
        if config is None:
            config = HelsinkiConfig(
                num_players=position["players"],
                covered=position["covered"],
                denied=position["denied"],
                dry_roads=position["dry_roads"],
                components=position["components"],
            )
        game = cls(config)
        game._read_frame(position, COLORS)
        game.last_round = position["last_round"]
        game.wild_supply = position["wild_tiles"]
        game.superstructure_supply = position["superstructures"]
        game.bonus_cards = sorted(position["bonus_cards"])
        game.seats = [
            Seat(
                hand=list(given["hand"]),
                known=list(given["known"]),
                coats_on_board=set(given["coats_on_board"]),
                pavilions=[
                    Pavilion(COLORS.index(tile["colour"]), tile["roofs"], frozenset(tile["cells"]))
                    for tile in given["pavilions"]
                ],
                wild=set(given["wild"]),
                superstructures=set(given["superstructures"]),
                meadow=given["meadow"],
                used=set(given["used"]),
                token=given["token"],
                points=given["points"],
                bonus=given["bonus"],
                limit_lifted=given["limit_lifted"],
            )
            for given in position["seats"]
        ]
        pending = dict(position["pending"])
        game.reshuffled = list(pending.pop("reshuffled")) if "reshuffled" in pending else None
        game.unseen_draws = [list(cards) for cards in pending.pop("unseen_draws", [[]] * game.players)]
        game.pending = Pending(**{**pending, "paid": list(pending.get("paid", []))})
        return game


# ------------------------------------------------------------------------------------------------------------
# Legality by search


def brute_force_legal_actions(game: ReferenceGame) -> list[int]:
    """Return the legal actions by search: those allowed locally after which the turn can be completed.

    *Local* rules consider only the action itself:

    - the card is in the hand, has the right color and keeps the order;
    - the tile comes to rest on the board;
    - the roof is free and higher than the last;
    - the board action is available, its coats are there and the phase is right.

    They count nothing that remains and ignore later actions. A depth-first search on copies checks that later actions
    exist. It succeeds when the build, the discarding or the board action is complete. The next state is then MOVE, MAIN
    or END with nothing owed, or the turn has passed. A branch without local actions fails.
    """
    return sorted(game.encode(decision) for decision in _local_decisions(game) if _can_finish(game, decision))


def _can_finish(game: ReferenceGame, decision: Decision) -> bool:
    after = game.clone()
    after.apply(decision)
    owed = after.pending.move or after.pending.only_build
    if after.done or (after.phase in (MOVE, MAIN, END) and not owed):
        return True
    return any(_can_finish(after, following) for following in _local_decisions(after))


def _local_decisions(game: ReferenceGame) -> Iterator[Decision]:
    """Return what the rules allow locally."""
    if game.done:
        return
    me, pending, phase, data = game.seats[game.seat], game.pending, game.phase, game.components
    if phase == START:
        yield from ((START, space) for space in range(SPACES))
    elif phase == MOVE:
        allowed = range(4, pending.move + 1) if pending.move else range(1, 4)
        yield from ((MOVE, steps - 1) for steps in allowed)
    elif phase == MAIN:
        if not pending.only_build:
            yield DRAW, 0
        for card in range(data.wild_type):
            if me.hand[card] and game.tile_supply[data.card_color(card)][ROOFS.index(data.card_roofs(card))]:
                yield BUILD, card
    elif phase == PAY:
        assert pending.card is not None
        colour = data.card_color(pending.card)
        own = {card for card in range(data.wild_type) if data.card_color(card) == colour} | {data.wild_type}
        payable = set(range(data.types)) - own if pending.substitute else own
        before = [card for card in pending.paid if card in own]
        for card in payable:
            if me.hand[card] and (pending.substitute or card >= max(before, default=0)):
                yield PAY, card
    elif phase == PLACE:
        assert pending.card is not None
        assert me.token is not None
        shape = data.tiles[data.card_color(pending.card)][ROOFS.index(data.card_roofs(pending.card))]
        built = {data.statue} | me.wild | {cell for pavilion in me.pavilions for cell in pavilion.cells}
        for side in range(4):
            if (side == me.token // 2) != pending.any_side:
                for argument, path in entry_paths(tuple(data.shapes[shape]), side):
                    if slide(path, built) is not None:
                        yield PLACE, argument
    elif phase == WILD:
        tiles = me.wild | {cell for pavilion in me.pavilions for cell in pavilion.cells}
        for cell in set(range(CELLS)) - tiles - {data.statue}:
            if game.wild_supply and pending.wilds_left and touch([cell], tiles):
                yield WILD, cell
    elif phase == LIFT:
        yield from ((LIFT, cell) for cell in me.superstructures)
    elif phase == ROOF:
        moving = pending.lifted is not None
        tiles = me.wild | {cell for pavilion in me.pavilions for cell in pavilion.cells}
        for cell in tiles if moving else me.pavilions[-1].cells:
            ordered = pending.last_roof is None or cell > pending.last_roof
            free = cell not in me.superstructures and cell != pending.lifted
            if free and ordered and (moving or game.superstructure_supply):
                yield ROOF, cell
    elif phase == DISCARD:
        for card in range(data.types):
            if me.hand[card] and (pending.last_discard is None or card >= pending.last_discard):
                yield DISCARD, card
    elif phase == END:
        yield END, 0
    yield from ((USE, action) for action, name in enumerate(BOARD_ACTIONS) if _locally_usable(game, action, name))


def _locally_usable(game: ReferenceGame, action: int, name: str) -> bool:
    """Return whether a board action is affordable, open to this seat, and allowed in this phase."""
    me, pending, phase = game.seats[game.seat], game.pending, game.phase
    if me.meadow < game.components.costs[action] or action in me.used:
        return False
    if action in game.config.covered or action in game.config.denied[game.seat]:
        return False
    nothing_paid = not pending.paid and not pending.substitute
    if name in ("move_1_to_6", "move_1_to_5", "move_back"):
        return phase == MOVE and not pending.move
    if name in ("two_points", "one_wild_tile", "two_wild_tiles", "move_superstructure"):
        return phase in (MOVE, MAIN, END) and not pending.move and not pending.only_build
    if name == "extra_card":
        cards = 2 + game.components.strengths[action]
        return phase == MAIN and not pending.only_build and len(game.draw_pile) + sum(game.discard) >= cards
    if name in ("one_card_fewer", "any_card_as_wild"):
        return phase == PAY and nothing_paid
    if name == "any_side":
        return phase == PLACE and not pending.any_side
    if name == "no_hand_limit":
        return phase == DISCARD and pending.last_discard is None and not pending.turn_over
    if name == "draw_and_build":
        return phase == END and pending.drew
    if name in ("second_pavilion", "extra_superstructure"):
        return phase == END and pending.built
    raise AssertionError(name)

"""Reference implementation of the rules of Copenhagen in plain Python, written independently from the rules page.

The compiled rules are optimized for speed, this module for clarity. It shares only the component data
(`helsinki_env.games.copenhagen.components`) and the settings (`helsinki_env.games.copenhagen.config`) with them. The
tests play both in parallel and compare every field of the position, every set of legal actions and every observation.
Section numbers in the comments refer to the rules page (``docs/rules-copenhagen.md``).

There are two definitions of legality:

- `ReferenceGame.legal_actions` determines legality directly, by counting cards, costs and active abilities.
- `brute_force_legal_actions` does not count: it applies only local rules and searches whether the operation can be
  completed. It is slower, and it tests the first definition.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

from helsinki_env.games.copenhagen.components import ABILITIES, COLORS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from tests.oracles.shared import Decision, Reference, decode_action, encode_action, first_word, number_actions

COLUMNS: Final = 5
ROWS: Final = 9
CELLS: Final = COLUMNS * ROWS
SLOTS: Final = 7
END_CARD: Final = 5  # the End of Game card; the colors are 0 to 4
WHITE_TILE: Final = 6  # on the board of an observation; a colored tile is its color + 1
SEATS: Final = 4  # of an observation
MOST_SHOWN: Final = 127  # the largest entry of an observation

MAIN, TAKE, DISCARD, END = "MAIN", "TAKE", "DISCARD", "END"
PLACE, RECOLOUR, PAY, COAT = "PLACE", "RECOLOUR", "PAY", "COAT"
BUILD, USE, WHITE, ABILITY, REACTIVATE = "BUILD", "USE", "WHITE", "ABILITY", "REACTIVATE"
PHASES: Final = (MAIN, TAKE, DISCARD, END, PLACE, RECOLOUR, PAY, COAT)

ANY_CARDS, ADDITIONAL_CARD, DISCOUNT, CHANGE_OF_COLOURS, BOTH_ACTIONS = range(5)


# ------------------------------------------------------------------------------------------------------------
# Action ids (section 3, "Actions")

SIZES_OF_KINDS: Final = {
    TAKE: SLOTS,
    BUILD: 20,
    PLACE: 8 * CELLS,
    PAY: 5,
    DISCARD: 5,
    USE: 5,
    RECOLOUR: 5,
    WHITE: CELLS,
    ABILITY: 5,
    REACTIVATE: 1,
    END: 1,
}
"""Number of ids of each kind of action, in the order of their numbers."""


@cache
def action_offsets() -> dict[str, tuple[int, int]]:
    """Return the first id and the number of ids of each kind of action."""
    return number_actions(SIZES_OF_KINDS)


def encode(kind: str, argument: int = 0) -> int:
    """Return the flat id of an action."""
    return encode_action(action_offsets(), kind, argument)


def decode(action: int) -> Decision:
    """Return the action with a flat id."""
    return decode_action(action_offsets(), action)


# ------------------------------------------------------------------------------------------------------------
# Tiles on the board (sections 1 and 3)


@dataclass(frozen=True)
class Placement:
    """A tile at a location on the board: the argument of PLACE, its cells, and the cell of its brick."""

    argument: int
    cells: frozenset[int]
    brick: int


def orientations(drawing: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the distinct orientations of a drawing, brick included, as drawings, in a fixed order (section 3).

    The order is: turned by 0, 90, 180, 270 degrees clockwise, then the left-right mirror image in the same way.
    Repeated drawings are omitted.
    """
    found: list[tuple[str, ...]] = []
    for begin in (tuple(drawing), tuple(row[::-1] for row in drawing)):
        rows = begin
        for _ in range(4):
            if rows not in found:
                found.append(rows)
            rows = tuple("".join(row[column] for row in reversed(rows)) for column in range(len(rows[0])))
    return found


@cache
def placements_on_board(drawing: tuple[str, ...]) -> tuple[Placement, ...]:
    """Return all placements of a tile within an empty board (section 3, the argument of PLACE)."""
    found = []
    for number, rows in enumerate(orientations(drawing)):
        height, width = len(rows), len(rows[0])
        for y in range(ROWS - height + 1):
            for x in range(COLUMNS - width + 1):
                # The first row of a drawing is the upper one; y counts from the bottom.
                marks = {
                    COLUMNS * (y + height - 1 - row) + x + column: rows[row][column]
                    for row in range(height)
                    for column in range(width)
                }
                cells = frozenset(cell for cell, mark in marks.items() if mark != ".")
                (brick,) = (cell for cell, mark in marks.items() if mark == "B")
                found.append(Placement(CELLS * number + COLUMNS * y + x, cells, brick))
    return tuple(found)


def supported(cell: int, filled: frozenset[int] | set[int]) -> bool:
    """Return whether a cell is on the ground or directly above a filled cell (section 3, "Placement")."""
    return cell < COLUMNS or cell - COLUMNS in filled


@lru_cache(maxsize=4096)
def open_placements(drawing: tuple[str, ...], filled: frozenset[int]) -> tuple[Placement, ...]:
    """Return the placements whose cells are all empty, with at least one supported cell (section 3)."""
    return tuple(
        placement
        for placement in placements_on_board(drawing)
        if placement.cells.isdisjoint(filled) and any(supported(cell, filled) for cell in placement.cells)
    )


@cache
def neighbours(cell: int) -> tuple[int, ...]:
    """Return the cells that share an edge with a cell."""
    y, x = divmod(cell, COLUMNS)
    around = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
    return tuple(COLUMNS * near_y + near_x for near_x, near_y in around if 0 <= near_x < COLUMNS and 0 <= near_y < ROWS)


@cache
def row_cells(y: int) -> frozenset[int]:
    """Return the cells of a row."""
    return frozenset(COLUMNS * y + x for x in range(COLUMNS))


@cache
def column_cells(x: int) -> frozenset[int]:
    """Return the cells of a column."""
    return frozenset(COLUMNS * y + x for y in range(ROWS))


# ------------------------------------------------------------------------------------------------------------
# The state


@dataclass(frozen=True)
class Tile:
    """A colored tile on a board."""

    colour: int
    size: int
    cells: frozenset[int]
    brick: int


@dataclass
class Seat:
    """The state of one player."""

    tiles: list[Tile] = field(default_factory=list)
    white: set[int] = field(default_factory=set)
    abilities: set[int] = field(default_factory=lambda: {ANY_CARDS})  # section 2, step 3
    used: set[int] = field(default_factory=set)
    hand: list[int] = field(default_factory=lambda: [0] * len(COLORS))
    known: list[int] = field(default_factory=lambda: [0] * len(COLORS))
    points: int = 0

    def filled(self) -> frozenset[int]:
        """All cells under a colored or a white tile."""
        return frozenset(self.white).union(*(tile.cells for tile in self.tiles))

    def bricks(self) -> set[int]:
        """The cells that show a brick; every other filled cell shows a window."""
        return {tile.brick for tile in self.tiles}

    def beside_colour(self, colour: int) -> set[int]:
        """Return the cells that share an edge with a colored tile of this color."""
        own = [tile for tile in self.tiles if tile.colour == colour]
        return {near for tile in own for cell in tile.cells for near in neighbours(cell)}

    def hand_size(self) -> int:
        """Return the number of cards in the hand."""
        return sum(self.hand)

    def empty_cells(self) -> int:
        """Return the number of cells without a tile."""
        return CELLS - len(self.filled())

    def clone(self) -> Seat:
        """Return an independent copy."""
        return Seat(
            tiles=list(self.tiles),
            white=set(self.white),
            abilities=set(self.abilities),
            used=set(self.used),
            hand=list(self.hand),
            known=list(self.known),
            points=self.points,
        )


@dataclass
class Pending:
    """The state of the operation and the turn in progress (section 6, "pending").

    Attributes:
        first: slot of the first of the two cards, until the second is taken.
        using: abilities used for the operation in progress: `any_cards` and `additional_card` until their card is
            taken, `construction_discount` and `change_of_colours` until the tile is on the board, `both_actions` until
            the turn is over.
        tile: color and size of the tile being built, until it is on the board.
        recolour: the color whose cards count as the tile's, until the tile is on the board.
        place: the argument of PLACE, during card-by-card payment.
        due: cards still to pay, during card-by-card payment.
        paid: cards paid so far for this tile, by color, during card-by-card payment.
        last_discard: color of the last card discarded in this turn, until the turn is over.
        rewards: pending rewards, including the current one.
    """

    first: int | None = None
    using: set[int] = field(default_factory=set)
    tile: tuple[int, int] | None = None
    recolour: int | None = None
    place: int | None = None
    due: int = 0
    paid: list[int] = field(default_factory=lambda: [0] * len(COLORS))
    last_discard: int | None = None
    rewards: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of a position's ``pending`` that have a value."""
        written: dict[str, Any] = {}
        if self.first is not None:
            written["first"] = self.first
        if self.using:
            written["using"] = sorted(self.using)
        if self.tile is not None:
            written["tile"] = {"colour": COLORS[self.tile[0]], "size": self.tile[1]}
        if self.recolour is not None:
            written["recolour"] = self.recolour
        if self.place is not None:
            written["place"] = self.place
        if self.due:
            written["due"] = self.due
        if any(self.paid):
            written["paid"] = list(self.paid)
        if self.last_discard is not None:
            written["last_discard"] = self.last_discard
        if self.rewards:
            written["rewards"] = self.rewards
        return written

    @classmethod
    def from_dict(cls, written: Mapping[str, Any]) -> Pending:
        """Return the pending state that `to_dict` wrote."""
        tile = written.get("tile")
        return cls(
            first=written.get("first"),
            using=set(written.get("using", ())),
            tile=None if tile is None else (COLORS.index(tile["colour"]), tile["size"]),
            recolour=written.get("recolour"),
            place=written.get("place"),
            due=written.get("due", 0),
            paid=list(written.get("paid", [0] * len(COLORS))),
            last_discard=written.get("last_discard"),
            rewards=written.get("rewards", 0),
        )

    def clone(self) -> Pending:
        """Return an independent copy."""
        twin = copy.copy(self)
        twin.using = set(self.using)
        twin.paid = list(self.paid)
        return twin


# ------------------------------------------------------------------------------------------------------------
# The game


class ReferenceGame(Reference):
    """A game, played by flat action ids.

    Args:
        config: the settings; None for the defaults (two players).
        seed: seed of the game, any integer (taken modulo 2**64).
        stream: second part of the seed.
        episode: third part of the seed.
    """

    seats: list[Seat]
    pending: Pending

    def __init__(
        self, config: CopenhagenConfig | None = None, seed: int = 0, stream: int = 0, episode: int = 0
    ) -> None:
        self.config = CopenhagenConfig() if config is None else config
        self.components: Components = self.config.component_set
        self.players: int = self.config.num_players
        self.word = first_word(seed, stream, episode)
        self.phase = MAIN
        self.seat = 0  # section 2, step 3: seat 0 begins
        self.round = 1
        self.done = False
        # By color, then by size 2, 3, 4, 5 (section 1).
        self.tile_supply = [list(self.components.copies[self.players - 2]) for _ in COLORS]
        self.white_tiles: int = self.components.white_tiles
        self.discard = [0] * len(COLORS)
        self.seats = [Seat() for _ in range(self.players)]
        self.pending = Pending()
        self._legal: list[int] | None = None
        # Section 2, step 1: the display first, then whole hands in seat order. A stack: the next card is the last.
        self.draw_pile = self._shuffled([self.components.cards[self.players - 2]] * len(COLORS))
        self.display: list[int | None] = [self.draw_pile.pop() for _ in range(SLOTS)]
        for seat, cards in zip(self.seats, self.components.hands, strict=False):
            for _ in range(cards):
                seat.hand[self.draw_pile.pop()] += 1
        # Section 2, step 2: three and four players do without the End of Game card until the first reshuffle.
        if self.players == 2:
            self._put_end_card()

    # -- public interface ------------------------------------------------------------------------------------

    def encode(self, decision: Decision) -> int:
        """Return the flat id of an action."""
        return encode(*decision)

    def decode(self, action: int) -> Decision:
        """Return the action with a flat id."""
        return decode(action)

    def scores(self) -> list[int]:
        """Return the points per seat (section 4)."""
        return [seat.points for seat in self.seats]

    def ranks(self) -> list[int]:
        """Return each seat's rank: the number of seats that did strictly better, so ties share one (section 4).

        A player who ends the game by points has the most points, because no other player has reached the goal before.
        """
        merits = [(seat.points, -seat.empty_cells()) for seat in self.seats]
        return [sum(other > own for other in merits) for own in merits]

    # -- helpers ---------------------------------------------------------------------------------------------

    @property
    def _me(self) -> Seat:
        return self.seats[self.seat]

    def _active(self, ability: int) -> bool:
        """Return whether the player owns the ability and has not used it since it was last flipped back."""
        return ability in self._me.abilities and ability not in self._me.used

    def _drawing(self, colour: int, size: int) -> tuple[str, ...]:
        return tuple(self.components.drawings[colour][TILE_SIZES.index(size)])

    def _slots_with_card(self) -> list[int]:
        return [slot for slot, card in enumerate(self.display) if card is not None]

    def _excess(self) -> int:
        """Return the number of cards above the hand limit."""
        return self._me.hand_size() - self.components.hand_limit

    def _reshuffled(self) -> list[int] | None:
        """Return the draw pile by color if it was made from the discard pile, otherwise None (section 5).

        With three and four players, the End of Game card enters at the reshuffle and leaves the pile only to end the
        game.
        """
        if self.players == 2 or END_CARD not in self.draw_pile:
            return None
        return [self.draw_pile.count(colour) for colour in range(len(COLORS))]

    # -- legality (section 3) --------------------------------------------------------------------------------

    def _legal_main(self) -> Iterator[Decision]:
        for colour in range(len(COLORS)):
            for size in TILE_SIZES:
                if self._build_is_feasible(colour, size):
                    yield BUILD, 4 * colour + size - 2
        if BOTH_ACTIONS in self.pending.using:  # the cards of this turn have been taken
            return
        cards = self._slots_with_card()
        for slot in cards:
            apart = any(other > slot + 1 for other in cards)
            if slot + 1 in cards or (self._active(ANY_CARDS) and apart):
                yield TAKE, slot

    # Section 3, "Taking"

    def _legal_take(self) -> Iterator[Decision]:
        cards = self._slots_with_card()
        if ADDITIONAL_CARD in self.pending.using:  # step 2: from anywhere
            yield from ((TAKE, slot) for slot in cards)
            return
        first = self.pending.first
        assert first is not None
        apart = [slot for slot in cards if slot > first + 1]
        if ANY_CARDS in self.pending.using:
            yield from ((TAKE, slot) for slot in apart)
            return
        if first + 1 in cards:
            yield TAKE, first + 1
        if self._active(ANY_CARDS) and apart:
            yield USE, ANY_CARDS

    def _may_take_additional_card(self) -> bool:
        """Step 2: after two cards, if nothing was discarded in this turn and the display holds a card."""
        nothing_discarded = self.pending.last_discard is None
        return self._active(ADDITIONAL_CARD) and nothing_discarded and bool(self._slots_with_card())

    def _legal_discard(self) -> Iterator[Decision]:
        hand = self._me.hand
        floor = 0 if self.pending.last_discard is None else self.pending.last_discard
        for colour in range(floor, len(COLORS)):
            # Step 3: in non-decreasing color order; enough cards must remain to continue in that order.
            if hand[colour] and sum(hand[colour:]) >= self._excess():
                yield DISCARD, colour
        if self._may_take_additional_card():
            yield USE, ADDITIONAL_CARD

    def _legal_end(self) -> Iterator[Decision]:
        yield END, 0
        if self._may_take_additional_card():
            yield USE, ADDITIONAL_CARD
        if self._active(BOTH_ACTIONS) and any(
            self._build_is_feasible(colour, size) for colour in range(len(COLORS)) for size in TILE_SIZES
        ):
            yield USE, BOTH_ACTIONS

    # Section 3, "Constructing": placements, costs and payments

    def _placements(self, colour: int, size: int) -> list[tuple[Placement, int]]:
        """Return every placement of a tile on the board, with its cost before `construction_discount`.

        The cost is the number of cells, less one if the tile touches a colored tile of its own color on this board.
        This reduction applies once and is always taken.
        """
        beside = self._me.beside_colour(colour)
        return [
            (placement, size if placement.cells.isdisjoint(beside) else size - 1)
            for placement in open_placements(self._drawing(colour, size), self._me.filled())
        ]

    def _payable(self, colour: int, cost: int, recolour: int | None) -> bool:
        """Return whether the hand can pay a cost for a tile of a color.

        After RECOLOUR the cards of that color count, too, and at least one of them must be paid.
        """
        hand = self._me.hand
        if recolour is None:
            return hand[colour] >= cost
        return cost >= 1 and hand[recolour] >= 1 and hand[colour] + hand[recolour] >= cost

    def _some_placement_is_payable(
        self, colour: int, size: int, discounts: Iterable[int], recolours: Iterable[int | None]
    ) -> bool:
        """Return whether a placement can be paid with one of these discounts and one of these color changes."""
        costs = {cost for _, cost in self._placements(colour, size)}
        ways = [(discount, recolour) for discount in discounts for recolour in recolours]
        return any(self._payable(colour, cost - discount, recolour) for cost in costs for discount, recolour in ways)

    def _discounts(self) -> list[int]:
        """Return the possible discounts: 1 once `construction_discount` is used, 0 or 1 while it is active."""
        if DISCOUNT in self.pending.using:
            return [1]
        return [0, 1] if self._active(DISCOUNT) else [0]

    def _other_colours(self, colour: int) -> list[int]:
        """Return the colors that may be recolored for a tile: other than its own, with a card in hand."""
        return [other for other, count in enumerate(self._me.hand) if other != colour and count]

    def _recolours(self, colour: int) -> list[int | None]:
        """Return the color changes that are made or still possible; None means no change."""
        if self.pending.recolour is not None:
            return [self.pending.recolour]
        return [None, *self._other_colours(colour)] if self._active(CHANGE_OF_COLOURS) else [None]

    def _build_is_feasible(self, colour: int, size: int) -> bool:
        """Return whether the supply has the tile and a placement can be paid with or without the active abilities."""
        if self.tile_supply[colour][TILE_SIZES.index(size)] == 0:
            return False
        return self._some_placement_is_payable(colour, size, self._discounts(), self._recolours(colour))

    # Section 3, "Constructing": the phases

    def _legal_place(self) -> Iterator[Decision]:
        assert self.pending.tile is not None
        colour, size = self.pending.tile
        discount = 1 if DISCOUNT in self.pending.using else 0
        for placement, cost in self._placements(colour, size):
            if self._payable(colour, cost - discount, self.pending.recolour):
                yield PLACE, placement.argument
        # An ability may be used if a payable placement remains, with or without the abilities that are still active.
        if self._active(DISCOUNT) and self._some_placement_is_payable(colour, size, [1], self._recolours(colour)):
            yield USE, DISCOUNT
        if self._active(CHANGE_OF_COLOURS) and self._some_placement_is_payable(
            colour, size, self._discounts(), self._other_colours(colour)
        ):
            yield USE, CHANGE_OF_COLOURS

    def _legal_recolour(self) -> Iterator[Decision]:
        assert self.pending.tile is not None
        colour, size = self.pending.tile
        for other in self._other_colours(colour):
            if self._some_placement_is_payable(colour, size, self._discounts(), [other]):
                yield RECOLOUR, other

    def _legal_pay(self) -> Iterator[Decision]:
        pending, hand = self.pending, self._me.hand
        assert pending.tile is not None
        assert pending.recolour is not None
        both = sorted((pending.tile[0], pending.recolour))
        floor = max((colour for colour in both if pending.paid[colour]), default=0)
        for colour in both:
            if colour < floor or hand[colour] == 0:
                continue
            # In non-decreasing order: later cards have this color or a later one.
            rest = sum(hand[later] for later in both if later >= colour) - 1
            enough = rest >= pending.due - 1
            # The payment must include a card of the recolored color: already paid, this one, or a later one.
            follows = pending.due >= 2 and pending.recolour > colour and hand[pending.recolour] > 0
            if enough and (pending.paid[pending.recolour] or colour == pending.recolour or follows):
                yield PAY, colour

    # Section 3, "Rewards"

    def _legal_coat(self) -> Iterator[Decision]:
        me = self._me
        if self.white_tiles > 0:
            filled = me.filled()
            for cell in range(CELLS):
                if cell not in filled and supported(cell, filled):
                    yield WHITE, cell
        for ability in range(len(ABILITIES)):
            if ability not in me.abilities and ability not in self.config.denied[self.seat]:
                yield ABILITY, ability
        if me.used:
            yield REACTIVATE, 0

    # -- effects of actions ----------------------------------------------------------------------------------

    def apply(self, decision: Decision) -> None:
        """Apply an action that is assumed to be legal. Does not take END automatically."""
        self._legal = None
        kind, argument = decision
        doing = {
            TAKE: self._take,
            BUILD: self._build,
            PLACE: self._place,
            PAY: self._pay,
            DISCARD: self._discard_card,
            USE: self._use,
            RECOLOUR: self._recolour,
            WHITE: self._put_white_tile,
            ABILITY: self._take_ability,
            REACTIVATE: self._reactivate,
            END: self._end_turn,
        }
        doing[kind](argument)

    # Section 3, "Taking"

    def _take(self, slot: int) -> None:
        me, pending = self._me, self.pending
        card = self.display[slot]
        assert card is not None
        self.display[slot] = None
        me.hand[card] += 1
        me.known[card] += 1  # section 5: this card is public
        if self.phase == MAIN:  # the first of two
            pending.first = slot
            self.phase = TAKE
            return
        pending.first = None
        pending.using -= {ANY_CARDS, ADDITIONAL_CARD}
        self.phase = DISCARD if self._excess() > 0 else END

    def _discard_card(self, colour: int) -> None:
        self._show(colour)
        self.pending.last_discard = colour
        if self._excess() == 0:
            self.phase = END

    def _show(self, colour: int) -> None:
        """Move a card from the hand to the discard pile and lower its color's known count if positive."""
        me = self._me
        me.hand[colour] -= 1
        me.known[colour] = max(0, me.known[colour] - 1)
        self.discard[colour] += 1

    # Abilities

    def _use(self, ability: int) -> None:
        self._me.used.add(ability)
        self.pending.using.add(ability)
        if ability == ADDITIONAL_CARD:
            self.phase = TAKE
        elif ability == CHANGE_OF_COLOURS:
            self.phase = RECOLOUR
        elif ability == BOTH_ACTIONS:
            self.phase = MAIN

    def _recolour(self, colour: int) -> None:
        self.pending.recolour = colour
        self.phase = PLACE

    # Section 3, "Constructing"

    def _build(self, argument: int) -> None:
        self.pending.tile = (argument // 4, argument % 4 + 2)
        self.phase = PLACE

    def _place(self, argument: int) -> None:
        pending = self.pending
        assert pending.tile is not None
        colour, size = pending.tile
        (cost,) = (cost for placement, cost in self._placements(colour, size) if placement.argument == argument)
        if DISCOUNT in pending.using:
            cost -= 1
        if pending.recolour is None:
            for _ in range(cost):
                self._show(colour)
            self._lay(argument)
        else:
            pending.place = argument
            pending.due = cost
            self.phase = PAY

    def _pay(self, colour: int) -> None:
        pending = self.pending
        self._show(colour)
        pending.paid[colour] += 1
        pending.due -= 1
        if pending.due == 0:
            assert pending.place is not None
            self._lay(pending.place)

    def _lay(self, argument: int) -> None:
        """Move the fully paid tile from the supply to the board."""
        me, pending = self._me, self.pending
        assert pending.tile is not None
        colour, size = pending.tile
        placements = {placement.argument: placement for placement in placements_on_board(self._drawing(colour, size))}
        placement = placements[argument]
        filled_before = me.filled()
        self.tile_supply[colour][TILE_SIZES.index(size)] -= 1
        me.tiles.append(Tile(colour, size, placement.cells, placement.brick))
        pending.tile = pending.recolour = pending.place = None
        pending.paid = [0] * len(COLORS)
        pending.using -= {DISCOUNT, CHANGE_OF_COLOURS}
        self._after_a_tile(filled_before)

    def _after_a_tile(self, filled_before: frozenset[int]) -> None:
        """Score lines; then end the game, or count rewards and continue with the next one."""
        me, data = self._me, self.components
        filled, bricks = me.filled(), me.bricks()
        new_rows = [y for y in range(ROWS) if row_cells(y) <= filled and not row_cells(y) <= filled_before]
        new_columns = [x for x in range(COLUMNS) if column_cells(x) <= filled and not column_cells(x) <= filled_before]
        for y in new_rows:
            me.points += data.points_row_windows if bricks.isdisjoint(row_cells(y)) else data.points_row
        for x in new_columns:
            me.points += data.points_column_windows if bricks.isdisjoint(column_cells(x)) else data.points_column
        if me.points >= data.goal:  # before any coat; nothing is refilled
            self._game_over()
            return
        self.pending.rewards += sum(cell in filled and cell not in filled_before for cell in data.coats)
        self.pending.rewards += sum(y in new_rows for y in data.coat_rows)
        self._next_reward()

    # Section 3, "Rewards"

    def _next_reward(self) -> None:
        """Continue with the next pending reward, or end the turn if there is none or it offers no choice."""
        if self.pending.rewards > 0 and any(True for _ in self._legal_coat()):
            self.phase = COAT
        else:
            self._end_turn()

    def _put_white_tile(self, cell: int) -> None:
        filled_before = self._me.filled()
        self.white_tiles -= 1
        self._me.white.add(cell)
        self.pending.rewards -= 1
        self._after_a_tile(filled_before)

    def _take_ability(self, ability: int) -> None:
        self._me.abilities.add(ability)
        self.pending.rewards -= 1
        self._next_reward()

    def _reactivate(self, _: int = 0) -> None:
        self._me.used.clear()
        self.pending.rewards -= 1
        self._next_reward()

    # Section 3, "End of the turn"

    def _end_turn(self, _: int = 0) -> None:
        for slot in range(SLOTS):
            if self.display[slot] is None:
                card = self._next_card()
                if card == END_CARD:  # it leaves the game; this slot and the empty ones after it stay empty
                    self._game_over()
                    return
                self.display[slot] = card
        self.pending = Pending()
        self.seat = (self.seat + 1) % self.players
        if self.seat == 0:
            self.round += 1
        self.phase = MAIN

    def _next_card(self) -> int:
        """Return the next card of the draw pile; if it is empty, the discard pile is shuffled first."""
        if not self.draw_pile:
            self.draw_pile = self._shuffled(self.discard)
            self.discard = [0] * len(COLORS)
            self._put_end_card()
        return self.draw_pile.pop()

    def _game_over(self) -> None:
        self.pending = Pending()
        self.phase = END
        self.done = True

    # -- randomness ------------------------------------------------------------------------------------------

    def _put_end_card(self) -> None:
        """Insert the End of Game card among the last nine cards of the pile, or all if there are fewer."""
        beneath = self._below(min(len(self.draw_pile), self.components.last_cards - 1) + 1)
        self.draw_pile.insert(beneath, END_CARD)

    # -- observations ----------------------------------------------------------------------------------------

    def observation(self, seat: int) -> list[int]:
        """Return the observation of a seat as a flat list of integers from 0 to 127, its own seat first (section 5)."""
        order = [(seat + turn) % self.players for turn in range(self.players)]
        pending, components = self.pending, self.components

        def of_seats(pieces: list[list[int]]) -> list[int]:
            """Return one field for each of four seats, the viewer's first; zeros for unused seats."""
            present = [number for one in order for number in pieces[one]]
            return present + [0] * (len(pieces[0]) * (SEATS - self.players))

        def flags(members: Iterable[int], size: int) -> list[int]:
            marked = set(members)
            return [int(number in marked) for number in range(size)]

        def code(number: int | None) -> int:
            return 0 if number is None else number + 1

        filled = [one.filled() for one in self.seats]
        row_coats = [
            [int(y in components.coat_rows and not row_cells(y) <= cells) for y in range(ROWS)] for cells in filled
        ]
        facts = [[1, one.hand_size(), min(MOST_SHOWN, one.points)] for one in self.seats]
        end_card = END_CARD in self.draw_pile
        table = [self.players, seat, min(MOST_SHOWN, self.round), len(self.draw_pile), int(end_card), self.white_tiles]
        orientation, cell = (None, None) if pending.place is None else divmod(pending.place, CELLS)
        return [
            *of_seats([self._board_planes(one) for one in self.seats]),
            *of_seats(row_coats),
            *of_seats(facts),
            *of_seats([flags(one.abilities, len(ABILITIES)) for one in self.seats]),
            *of_seats([flags(one.used, len(ABILITIES)) for one in self.seats]),
            *of_seats([flags(denied, len(ABILITIES)) for denied in self.config.denied]),
            *flags([PHASES.index(self.phase)], len(PHASES)),
            *table,
            *(left for colour in self.tile_supply for left in colour),
            code(pending.first),
            *flags(pending.using, len(ABILITIES)),
            code(None if pending.tile is None else pending.tile[0]),
            0 if pending.tile is None else pending.tile[1],
            code(pending.recolour),
            code(orientation),
            code(cell),
            pending.due,
            code(pending.last_discard),
            *pending.paid,
            pending.rewards,
            *(code(card) for card in self.display),
            *self.seats[seat].hand,
            *of_seats([one.known for one in self.seats]),
            *self.discard,
            *(self._reshuffled() or [0] * len(COLORS)),
        ]

    def _board_planes(self, seat: Seat) -> list[int]:
        """Return tile, number, brick and coat of every cell; row y = 0 first."""
        tile, number = [0] * CELLS, [0] * CELLS
        for count, built in enumerate(seat.tiles, start=1):
            for cell in built.cells:
                tile[cell] = built.colour + 1
                number[cell] = count
        for cell in seat.white:
            tile[cell] = WHITE_TILE
        bricks = seat.bricks()
        brick = [int(cell in bricks) for cell in range(CELLS)]
        coat = [int(cell in self.components.coats and tile[cell] == 0) for cell in range(CELLS)]
        return tile + number + brick + coat

    # -- positions as data (section 6) -----------------------------------------------------------------------

    def to_dict(self, seat: int | None = None) -> dict[str, Any]:
        """Return the position in the public format; with `seat`, only what that seat may see (section 5)."""
        position: dict[str, Any] = {
            "game": "copenhagen",
            "version": 0,
            "components": self.config.components,
            "players": self.players,
        }
        if any(self.config.denied):
            position["denied"] = [sorted(abilities) for abilities in self.config.denied]
        position |= {
            "phase": self.phase,
            "to_move": self.seat,
            "round": self.round,
            "done": self.done,
            "draw_pile": self.draw_pile[::-1] if seat is None else len(self.draw_pile),
            "discard_pile": list(self.discard),
        }
        if seat is not None:
            position["end_card"] = END_CARD in self.draw_pile
            reshuffled = self._reshuffled()
            if reshuffled is not None:
                position["reshuffled"] = reshuffled
        position |= {
            "display": list(self.display),
            "tile_supply": {name: list(self.tile_supply[colour]) for colour, name in enumerate(COLORS)},
            "white_tiles": self.white_tiles,
            "seats": [self._seat_to_dict(number, seat in (None, number)) for number in range(self.players)],
            "pending": self.pending.to_dict(),
        }
        if seat is None:
            position["chance"] = {"word": f"0x{self.word:016x}"}
        return position

    def _seat_to_dict(self, number: int, open_hand: bool) -> dict[str, Any]:
        seat = self.seats[number]
        return {
            "tiles": [
                {"colour": COLORS[tile.colour], "size": tile.size, "cells": sorted(tile.cells), "brick": tile.brick}
                for tile in seat.tiles
            ],
            "white": sorted(seat.white),
            "abilities": sorted(seat.abilities),
            "used": sorted(seat.used),
            "hand": list(seat.hand) if open_hand else {"size": seat.hand_size(), "known": list(seat.known)},
            "known": list(seat.known),
            "points": seat.points,
        }

    @classmethod
    def from_dict(cls, position: Mapping[str, Any], config: CopenhagenConfig | None = None) -> ReferenceGame:
        """Return a game in a given position.

        Of the impossible positions in section 6 of the rules, this method rejects only the first two and accepts all
        others. The settings are those of the position unless `config` replaces them (for other component files).

        Raises:
            ValueError: if a turn begins without a full display, or a two-player game continues without the End of Game
                card in its draw pile.
        """
        if config is None:
            config = CopenhagenConfig(
                num_players=position["players"],
                denied=position.get("denied"),
                components=position["components"],
            )
        game = cls(config)
        game._read_frame(position, COLORS)
        game.white_tiles = position["white_tiles"]
        game.seats = [
            Seat(
                tiles=[
                    Tile(COLORS.index(tile["colour"]), tile["size"], frozenset(tile["cells"]), tile["brick"])
                    for tile in given["tiles"]
                ],
                white=set(given["white"]),
                abilities=set(given["abilities"]),
                used=set(given["used"]),
                hand=list(given["hand"]),
                known=list(given["known"]),
                points=given["points"],
            )
            for given in position["seats"]
        ]
        game.pending = Pending.from_dict(position["pending"])
        game._refuse_what_cannot_happen()
        return game

    def _refuse_what_cannot_happen(self) -> None:
        if self.phase == MAIN and BOTH_ACTIONS not in self.pending.using and None in self.display:
            raise ValueError(f"display: found {self.display}, expected a card in every slot when a turn begins")
        if self.players == 2 and not self.done and END_CARD not in self.draw_pile:
            raise ValueError("draw_pile: found no End of Game card, expected it in a game of two that goes on")


# ------------------------------------------------------------------------------------------------------------
# Legality by search


def brute_force_legal_actions(game: ReferenceGame) -> list[int]:
    """Return the legal actions by search: those that are locally allowed and lead to a completed operation.

    *Local* rules consider only the action itself:

    - the slot holds a card;
    - the tile is in the supply and lies on empty cells with support;
    - the cards that leave the hand are there and follow the order;
    - the last card of a payment completes one that includes the recolored color;
    - the ability is active and the phase is right.

    Local rules do not count what remains or consider later actions. A depth-first search on copies determines whether
    such actions exist. It continues until the tile is on the board, taking and discarding are over, or no local action
    is left. Taking and discarding are over when the next state is COAT or END, the turn has passed or the game is over.
    """
    return sorted(encode(*decision) for decision in _local_decisions(game) if _can_finish(game, decision))


def _can_finish(game: ReferenceGame, decision: Decision) -> bool:
    after = game.clone()
    after.apply(decision)
    owes_a_build = BOTH_ACTIONS in after.pending.using
    if after.done or after.phase in (COAT, END) or (after.phase == MAIN and not owes_a_build):
        return True
    return any(_can_finish(after, following) for following in _local_decisions(after))


def _local_decisions(game: ReferenceGame) -> Iterator[Decision]:
    """Yield the actions that the local rules allow."""
    if game.done:
        return
    me, pending, phase = game.seats[game.seat], game.pending, game.phase
    active = me.abilities - me.used
    nothing_discarded = pending.last_discard is None
    cards = [slot for slot in range(SLOTS) if game.display[slot] is not None]
    if phase == MAIN:
        if BOTH_ACTIONS not in pending.using:
            yield from ((TAKE, slot) for slot in cards)
        for argument in range(20):
            if game.tile_supply[argument // 4][argument % 4]:
                yield BUILD, argument
    elif phase == TAKE:
        for slot in cards:
            if pending.first is None:  # the additional card
                allowed = True
            elif ANY_CARDS in pending.using:
                allowed = slot > pending.first + 1
            else:
                allowed = slot == pending.first + 1
            if allowed:
                yield TAKE, slot
        if pending.first is not None and ANY_CARDS in active:
            yield USE, ANY_CARDS
    elif phase == DISCARD:
        for colour in range(len(COLORS)):
            if me.hand[colour] and (pending.last_discard is None or colour >= pending.last_discard):
                yield DISCARD, colour
        if ADDITIONAL_CARD in active and nothing_discarded:
            yield USE, ADDITIONAL_CARD
    elif phase == END:
        yield END, 0
        if ADDITIONAL_CARD in active and nothing_discarded:
            yield USE, ADDITIONAL_CARD
        if BOTH_ACTIONS in active:
            yield USE, BOTH_ACTIONS
    elif phase == PLACE:
        yield from _local_placements(game)
        yield from ((USE, ability) for ability in (DISCOUNT, CHANGE_OF_COLOURS) if ability in active)
    elif phase == RECOLOUR:
        assert pending.tile is not None
        for colour in range(len(COLORS)):
            if me.hand[colour] and colour != pending.tile[0]:
                yield RECOLOUR, colour
    elif phase == PAY:
        assert pending.tile is not None
        for colour in range(len(COLORS)):
            counts = colour in (pending.tile[0], pending.recolour)
            in_order = not any(pending.paid[colour + 1 :])
            paid = {colour, *(other for other, count in enumerate(pending.paid) if count)}
            if me.hand[colour] and counts and in_order and (pending.due > 1 or pending.recolour in paid):
                yield PAY, colour
    elif phase == COAT:
        filled = me.filled()
        for cell in range(CELLS):
            ground = cell // COLUMNS == 0
            if game.white_tiles and cell not in filled and (ground or cell - COLUMNS in filled):
                yield WHITE, cell
        for ability in range(len(ABILITIES)):
            if ability not in me.abilities and ability not in game.config.denied[game.seat]:
                yield ABILITY, ability
        if me.used:
            yield REACTIVATE, 0


def _local_placements(game: ReferenceGame) -> Iterator[Decision]:
    """Yield PLACE wherever the tile fits and, without a color change, its cost is in the hand."""
    me, pending = game.seats[game.seat], game.pending
    assert pending.tile is not None
    colour, size = pending.tile
    filled = me.filled()
    of_own_colour = {cell for tile in me.tiles if tile.colour == colour for cell in tile.cells}
    for placement in placements_on_board(tuple(game.components.drawings[colour][TILE_SIZES.index(size)])):
        fits = not any(cell in filled for cell in placement.cells)
        stands = any(cell // COLUMNS == 0 or cell - COLUMNS in filled for cell in placement.cells)
        if not fits or not stands:
            continue
        touches = any(near in of_own_colour for cell in placement.cells for near in neighbours(cell))
        cost = size - touches - (DISCOUNT in pending.using)
        if (me.hand[colour] >= cost) if pending.recolour is None else (cost >= 1):
            yield PLACE, placement.argument

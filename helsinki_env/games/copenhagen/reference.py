"""The rules of Copenhagen a second time, in plain Python: slow, readable, and written from the rules page alone.

The compiled rules are built for speed; this module is built to be believed. It knows nothing of them: it
shares only the component data (`helsinki_env.games.copenhagen.components`) and the settings
(`helsinki_env.games.copenhagen.config`). The tests play both side by side and compare every field of the
position, every set of legal decisions and every observation. Section numbers in the comments are those of the
rules page (``docs/rules-copenhagen.md``).

Two statements of legality live here:

* `ReferenceGame.legal_actions` says directly when a decision is legal, looking ahead by counting (cards, costs,
  abilities that are still active);
* `brute_force_legal_actions` counts nothing: it takes what is allowed on the spot and searches, decision by
  decision, whether the thing begun can be brought to its end. It is slower still, and it tests the first.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final, TypeAlias

from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig

COLUMNS: Final = 5
ROWS: Final = 9
CELLS: Final = COLUMNS * ROWS
SLOTS: Final = 7
END_CARD: Final = 5  # the End of Game card among the colours 0 to 4
WHITE_TILE: Final = 6  # on the board of an observation; a coloured tile is its colour + 1
SEATS: Final = 4  # of an observation
MOST_SHOWN: Final = 127  # the greatest number of an observation
MASK64: Final = (1 << 64) - 1
GOLDEN: Final = 0x9E3779B97F4A7C15

MAIN, TAKE, DISCARD, END = "MAIN", "TAKE", "DISCARD", "END"
PLACE, RECOLOUR, PAY, COAT = "PLACE", "RECOLOUR", "PAY", "COAT"
BUILD, USE, WHITE, ABILITY, REACTIVATE = "BUILD", "USE", "WHITE", "ABILITY", "REACTIVATE"
PHASES: Final = (MAIN, TAKE, DISCARD, END, PLACE, RECOLOUR, PAY, COAT)

ANY_CARDS, ADDITIONAL_CARD, DISCOUNT, CHANGE_OF_COLOURS, BOTH_ACTIONS = range(5)

Decision: TypeAlias = tuple[str, int]
"""A kind and its argument, e.g. ``("TAKE", 2)`` for the third card of the display."""


# ------------------------------------------------------------------------------------------------------------
# Decisions as numbers (section 3, "Decisions")

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
"""How many ids each kind of decision has, in the order in which they are numbered."""


@cache
def action_offsets() -> dict[str, tuple[int, int]]:
    """Where each kind of decision begins and how many ids it has."""
    table = {}
    offset = 0
    for kind, size in SIZES_OF_KINDS.items():
        table[kind] = (offset, size)
        offset += size
    return table


def encode(kind: str, argument: int = 0) -> int:
    """The flat action id of a decision."""
    offset, size = action_offsets()[kind]
    if not 0 <= argument < size:
        raise ValueError(f"{kind}: argument {argument} is outside 0..{size - 1}")
    return offset + argument


def decode(action: int) -> Decision:
    """The decision that a flat action id stands for."""
    for kind, (offset, size) in action_offsets().items():
        if offset <= action < offset + size:
            return kind, action - offset
    raise ValueError(f"{action} is no action id")


# ------------------------------------------------------------------------------------------------------------
# Tiles on the board (sections 1 and 3)


@dataclass(frozen=True)
class Placement:
    """A tile laid down somewhere on the board: the argument of PLACE, its cells, and the cell of its brick."""

    argument: int
    cells: frozenset[int]
    brick: int


def orientations(drawing: Sequence[str]) -> list[tuple[str, ...]]:
    """The distinct orientations of a drawing, brick included, as drawings, in a fixed order (section 3).

    Turned by 0, 90, 180, 270 degrees clockwise, then the left-right mirror image turned likewise; a drawing that
    has occurred before is left out.
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
    """Every way to lay a tile wholly on the board, whatever lies there (section 3, the argument of PLACE)."""
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
    """Whether a cell is on the ground or directly above a filled cell (section 3, "Placement")."""
    return cell < COLUMNS or cell - COLUMNS in filled


@lru_cache(maxsize=4096)
def open_placements(drawing: tuple[str, ...], filled: frozenset[int]) -> tuple[Placement, ...]:
    """The placements whose cells are all empty and of which at least one cell is supported (section 3)."""
    return tuple(
        placement
        for placement in placements_on_board(drawing)
        if placement.cells.isdisjoint(filled) and any(supported(cell, filled) for cell in placement.cells)
    )


@cache
def neighbours(cell: int) -> tuple[int, ...]:
    """The cells that share an edge with a cell."""
    y, x = divmod(cell, COLUMNS)
    around = ((x - 1, y), (x + 1, y), (x, y - 1), (x, y + 1))
    return tuple(COLUMNS * near_y + near_x for near_x, near_y in around if 0 <= near_x < COLUMNS and 0 <= near_y < ROWS)


@cache
def row_cells(y: int) -> frozenset[int]:
    """The cells of a row."""
    return frozenset(COLUMNS * y + x for x in range(COLUMNS))


@cache
def column_cells(x: int) -> frozenset[int]:
    """The cells of a column."""
    return frozenset(COLUMNS * y + x for y in range(ROWS))


# ------------------------------------------------------------------------------------------------------------
# Chance: one 64-bit word a game, splitmix64


def mix(word: int) -> int:
    """The output function of splitmix64."""
    z = word
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK64
    return z ^ (z >> 31)


def first_word(seed: int, stream: int = 0, episode: int = 0) -> int:
    """The word with which a game begins."""

    def h(x: int) -> int:
        return mix((x + GOLDEN) & MASK64)

    return h(h(h(seed & MASK64) ^ (stream & MASK64)) ^ (episode & MASK64))


# ------------------------------------------------------------------------------------------------------------
# The state


@dataclass(frozen=True)
class Tile:
    """A coloured tile on a board."""

    colour: int
    size: int
    cells: frozenset[int]
    brick: int


@dataclass
class Seat:
    """Everything that belongs to one player."""

    tiles: list[Tile] = field(default_factory=list)
    white: set[int] = field(default_factory=set)
    abilities: set[int] = field(default_factory=lambda: {ANY_CARDS})  # section 2, step 3
    used: set[int] = field(default_factory=set)
    hand: list[int] = field(default_factory=lambda: [0] * len(COLOURS))
    known: list[int] = field(default_factory=lambda: [0] * len(COLOURS))
    points: int = 0

    def filled(self) -> frozenset[int]:
        """All cells under a coloured or a white tile."""
        return frozenset(self.white).union(*(tile.cells for tile in self.tiles))

    def bricks(self) -> set[int]:
        """The cells that show a brick; every other filled cell shows a window."""
        return {tile.brick for tile in self.tiles}

    def beside_colour(self, colour: int) -> set[int]:
        """The cells that share an edge with a coloured tile of this colour."""
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
    """What the turn in progress must remember (section 6, "pending").

    Attributes:
        first: slot of the first of the two cards, until the second is taken.
        using: abilities used for what is in progress: `any_cards` and `additional_card` until their card is
            taken, `construction_discount` and `change_of_colours` until the tile lies, `both_actions` until the
            turn is over.
        tile: colour and size of the tile being built, until it lies.
        recolour: the colour whose cards count as the tile's, until the tile lies.
        place: the argument of PLACE, while paying card by card.
        due: cards still to pay, while paying card by card.
        paid: cards paid so far for this tile, by colour, while paying card by card.
        last_discard: colour of the last card discarded in this turn, until the turn is over.
        rewards: pending rewards, the one being decided included.
    """

    first: int | None = None
    using: set[int] = field(default_factory=set)
    tile: tuple[int, int] | None = None
    recolour: int | None = None
    place: int | None = None
    due: int = 0
    paid: list[int] = field(default_factory=lambda: [0] * len(COLOURS))
    last_discard: int | None = None
    rewards: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the keys of a position's ``pending``: each only if it says something."""
        written: dict[str, Any] = {}
        if self.first is not None:
            written["first"] = self.first
        if self.using:
            written["using"] = sorted(self.using)
        if self.tile is not None:
            written["tile"] = {"colour": COLOURS[self.tile[0]], "size": self.tile[1]}
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
        """Return what `to_dict` has written."""
        tile = written.get("tile")
        return cls(
            first=written.get("first"),
            using=set(written.get("using", ())),
            tile=None if tile is None else (COLOURS.index(tile["colour"]), tile["size"]),
            recolour=written.get("recolour"),
            place=written.get("place"),
            due=written.get("due", 0),
            paid=list(written.get("paid", [0] * len(COLOURS))),
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


class ReferenceGame:
    """One game, played by flat action ids.

    Args:
        config: the settings; None for the defaults (two players).
        seed: seed of the game's chance, any integer (taken modulo 2**64).
        stream: second part of the seed.
        episode: third part of the seed.
    """

    def __init__(
        self, config: CopenhagenConfig | None = None, seed: int = 0, stream: int = 0, episode: int = 0
    ) -> None:
        self.config = CopenhagenConfig() if config is None else config
        self.components: Components = self.config.loaded
        self.players: int = self.config.num_players
        self.word = first_word(seed, stream, episode)
        self.phase = MAIN
        self.seat = 0  # section 2, step 3: seat 0 begins
        self.round = 1
        self.done = False
        # By colour, then by size 2, 3, 4, 5 (section 1).
        self.tile_supply = [list(self.components.copies[self.players - 2]) for _ in COLOURS]
        self.white_tiles: int = self.components.white_tiles
        self.discard = [0] * len(COLOURS)
        self.seats = [Seat() for _ in range(self.players)]
        self.pending = Pending()
        self._legal: list[int] | None = None
        # Section 2, step 1: the display first, then whole hands in seat order. A stack: the next card is the last.
        self.draw_pile = self._shuffled([self.components.cards[self.players - 2]] * len(COLOURS))
        self.display: list[int | None] = [self.draw_pile.pop() for _ in range(SLOTS)]
        for seat, cards in zip(self.seats, self.components.hands, strict=False):
            for _ in range(cards):
                seat.hand[self.draw_pile.pop()] += 1
        # Section 2, step 2: three and four players do without the End of Game card until the first reshuffle.
        if self.players == 2:
            self._put_end_card()

    # -- what a user asks ------------------------------------------------------------------------------------

    def legal_actions(self) -> list[int]:
        """The ids of all legal decisions, ascending; empty when the game is over."""
        if self._legal is None:
            self._legal = sorted(encode(*decision) for decision in self.legal_decisions())
        return list(self._legal)

    def step(self, action: int) -> None:
        """Take a decision, and END after it if END alone is legal. Raises ValueError if it is illegal."""
        if action not in self.legal_actions():
            raise ValueError(f"action {action} is illegal in phase {self.phase}; legal: {self.legal_actions()}")
        self.apply(decode(int(action)))
        if self.phase == END and self.legal_decisions() == [(END, 0)]:
            self.apply((END, 0))

    def scores(self) -> list[int]:
        """Points per seat (section 4)."""
        return [seat.points for seat in self.seats]

    def places(self) -> list[int]:
        """For every seat how many seats did strictly better: 0 is first, and places may be shared (section 4).

        Who ends a game by points has more of them than anybody else: no one else has had as many before.
        """
        merits = [(seat.points, -seat.empty_cells()) for seat in self.seats]
        return [sum(other > own for other in merits) for own in merits]

    def clone(self) -> ReferenceGame:
        """An independent copy."""
        twin = copy.copy(self)
        twin.tile_supply = [list(row) for row in self.tile_supply]
        twin.discard = list(self.discard)
        twin.seats = [seat.clone() for seat in self.seats]
        twin.pending = self.pending.clone()
        twin.draw_pile = list(self.draw_pile)
        twin.display = list(self.display)
        twin._legal = None
        return twin

    # -- small facts -----------------------------------------------------------------------------------------

    @property
    def _me(self) -> Seat:
        return self.seats[self.seat]

    def _active(self, ability: int) -> bool:
        """The player owns the ability and has not used it since it was last flipped back."""
        return ability in self._me.abilities and ability not in self._me.used

    def _drawing(self, colour: int, size: int) -> tuple[str, ...]:
        return tuple(self.components.drawings[colour][SIZES.index(size)])

    def _slots_with_card(self) -> list[int]:
        return [slot for slot, card in enumerate(self.display) if card is not None]

    def _excess(self) -> int:
        """Cards held above the hand limit."""
        return self._me.hand_size() - self.components.hand_limit

    def _reshuffled(self) -> list[int] | None:
        """The draw pile by colour if it was made from the discard pile; None if it was not (section 5).

        With three and four players the End of Game card comes into the game with the reshuffle and leaves the
        pile only to end the game.
        """
        if self.players == 2 or END_CARD not in self.draw_pile:
            return None
        return [self.draw_pile.count(colour) for colour in range(len(COLOURS))]

    # -- legality (section 3) --------------------------------------------------------------------------------

    def legal_decisions(self) -> list[Decision]:
        """All legal decisions, in no particular order; empty when the game is over."""
        if self.done:
            return []
        rules = {
            MAIN: self._legal_main,
            TAKE: self._legal_take,
            DISCARD: self._legal_discard,
            END: self._legal_end,
            PLACE: self._legal_place,
            RECOLOUR: self._legal_recolour,
            PAY: self._legal_pay,
            COAT: self._legal_coat,
        }
        return list(rules[self.phase]())

    def _legal_main(self) -> Iterator[Decision]:
        for colour in range(len(COLOURS)):
            for size in SIZES:
                if self._build_is_feasible(colour, size):
                    yield BUILD, 4 * colour + size - 2
        if BOTH_ACTIONS in self.pending.using:  # the cards of this turn are taken already
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
        """Step 2: after two cards, as long as nothing was discarded in this turn, if the display holds a card."""
        nothing_discarded = self.pending.last_discard is None
        return self._active(ADDITIONAL_CARD) and nothing_discarded and bool(self._slots_with_card())

    def _legal_discard(self) -> Iterator[Decision]:
        hand = self._me.hand
        floor = 0 if self.pending.last_discard is None else self.pending.last_discard
        for colour in range(floor, len(COLOURS)):
            # Step 3: in non-decreasing colour order; enough cards must be left to go on in that order.
            if hand[colour] and sum(hand[colour:]) >= self._excess():
                yield DISCARD, colour
        if self._may_take_additional_card():
            yield USE, ADDITIONAL_CARD

    def _legal_end(self) -> Iterator[Decision]:
        yield END, 0
        if self._may_take_additional_card():
            yield USE, ADDITIONAL_CARD
        if self._active(BOTH_ACTIONS) and any(
            self._build_is_feasible(colour, size) for colour in range(len(COLOURS)) for size in SIZES
        ):
            yield USE, BOTH_ACTIONS

    # Section 3, "Constructing": where a tile may lie, what it costs, and what can pay for it

    def _placements(self, colour: int, size: int) -> list[tuple[Placement, int]]:
        """Every placement of a tile that the board allows, and its cost but for `construction_discount`.

        The cost is the number of cells, one less if the tile touches a coloured tile of its own colour on this
        board (once, and always taken).
        """
        beside = self._me.beside_colour(colour)
        return [
            (placement, size if placement.cells.isdisjoint(beside) else size - 1)
            for placement in open_placements(self._drawing(colour, size), self._me.filled())
        ]

    def _payable(self, colour: int, cost: int, recolour: int | None) -> bool:
        """Whether the hand can pay so many cards for a tile of a colour.

        After RECOLOUR the cards of that colour count, too, and at least one of them must be paid.
        """
        hand = self._me.hand
        if recolour is None:
            return hand[colour] >= cost
        return cost >= 1 and hand[recolour] >= 1 and hand[colour] + hand[recolour] >= cost

    def _some_placement_is_payable(
        self, colour: int, size: int, discounts: Iterable[int], recolours: Iterable[int | None]
    ) -> bool:
        """Whether a placement can be paid with one of these discounts and one of these changes of colour."""
        costs = {cost for _, cost in self._placements(colour, size)}
        ways = [(discount, recolour) for discount in discounts for recolour in recolours]
        return any(self._payable(colour, cost - discount, recolour) for cost in costs for discount, recolour in ways)

    def _discounts(self) -> list[int]:
        """What `construction_discount` may take off: 1 once it is used; with it or without it while active."""
        if DISCOUNT in self.pending.using:
            return [1]
        return [0, 1] if self._active(DISCOUNT) else [0]

    def _other_colours(self, colour: int) -> list[int]:
        """The colours that may be recoloured for a tile: not its own, and only with a card of it in hand."""
        return [other for other, count in enumerate(self._me.hand) if other != colour and count]

    def _recolours(self, colour: int) -> list[int | None]:
        """The changes of colour that are made, or may still be made; None is for none."""
        if self.pending.recolour is not None:
            return [self.pending.recolour]
        return [None, *self._other_colours(colour)] if self._active(CHANGE_OF_COLOURS) else [None]

    def _build_is_feasible(self, colour: int, size: int) -> bool:
        """The supply has the tile, and a placement can be paid with or without what is active."""
        if self.tile_supply[colour][SIZES.index(size)] == 0:
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
        # An ability may be used where afterwards, with or without what is still active, something can be paid.
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
            # In non-decreasing order: what can follow this card is of its colour or of a later one.
            rest = sum(hand[later] for later in both if later >= colour) - 1
            enough = rest >= pending.due - 1
            # The payment must hold a card of the recoloured colour: paid already, this one, or one that follows.
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

    # -- what a decision does --------------------------------------------------------------------------------

    def apply(self, decision: Decision) -> None:
        """Carry out a decision that is taken to be legal. END is never taken by itself here."""
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
        me.known[card] += 1  # section 5: everybody saw it
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
        """A card goes from the hand to the discard pile; if one of its colour was known, one fewer is now."""
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
        """Everything is paid: the tile leaves the supply and lies on the board."""
        me, pending = self._me, self.pending
        assert pending.tile is not None
        colour, size = pending.tile
        placements = {placement.argument: placement for placement in placements_on_board(self._drawing(colour, size))}
        placement = placements[argument]
        filled_before = me.filled()
        self.tile_supply[colour][SIZES.index(size)] -= 1
        me.tiles.append(Tile(colour, size, placement.cells, placement.brick))
        pending.tile = pending.recolour = pending.place = None
        pending.paid = [0] * len(COLOURS)
        pending.using -= {DISCOUNT, CHANGE_OF_COLOURS}
        self._after_a_tile(filled_before)

    def _after_a_tile(self, filled_before: frozenset[int]) -> None:
        """Lines are scored; then the game is over, or rewards are counted and the next one is decided."""
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
        """The next pending reward is decided; without one, or without a choice for it, the turn is over."""
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
                if card == END_CARD:  # it lies nowhere; this slot and the empty ones after it stay empty
                    self._game_over()
                    return
                self.display[slot] = card
        self.pending = Pending()
        self.seat = (self.seat + 1) % self.players
        if self.seat == 0:
            self.round += 1
        self.phase = MAIN

    def _next_card(self) -> int:
        """The next card of the draw pile; only if that is empty, the discard pile is shuffled first."""
        if not self.draw_pile:
            self.draw_pile = self._shuffled(self.discard)
            self.discard = [0] * len(COLOURS)
            self._put_end_card()
        return self.draw_pile.pop()

    def _game_over(self) -> None:
        self.pending = Pending()
        self.phase = END
        self.done = True

    # -- chance ----------------------------------------------------------------------------------------------

    def _below(self, n: int) -> int:
        """A uniform integer in 0..n-1; one step of splitmix64."""
        self.word = (self.word + GOLDEN) & MASK64
        return ((mix(self.word) >> 32) * n) >> 32

    def _shuffled(self, counts: Sequence[int]) -> list[int]:
        """The cards of a composition in random order; the next card is the last one."""
        cards = [colour for colour, count in enumerate(counts) for _ in range(count)]
        for i in range(len(cards) - 1, 0, -1):
            j = self._below(i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        return cards

    def _put_end_card(self) -> None:
        """The End of Game card joins the last cards of the pile: nine and it, or all if there are fewer."""
        beneath = self._below(min(len(self.draw_pile), self.components.last_cards - 1) + 1)
        self.draw_pile.insert(beneath, END_CARD)

    # -- what a player sees ----------------------------------------------------------------------------------

    def observation(self, seat: int) -> list[int]:
        """What a seat may see as one flat list of numbers from 0 to 127, its own seat first (section 5)."""
        order = [(seat + turn) % self.players for turn in range(self.players)]
        pending, components = self.pending, self.components

        def of_seats(pieces: list[list[int]]) -> list[int]:
            """One piece for each of four seats, the viewer's first; zeros where nobody sits."""
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
            *(self._reshuffled() or [0] * len(COLOURS)),
        ]

    def _board_planes(self, seat: Seat) -> list[int]:
        """Tile, number, brick and coat of every cell; row y = 0 first."""
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
        """The position in the public format; with `seat`, only what that seat may see (section 5)."""
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
            "tile_supply": {name: list(self.tile_supply[colour]) for colour, name in enumerate(COLOURS)},
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
                {"colour": COLOURS[tile.colour], "size": tile.size, "cells": sorted(tile.cells), "brick": tile.brick}
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
        """A game that stands at a position.

        Of the impossible positions that section 6 of the rules names only the first two are refused; everything
        else is taken as it is. The settings are those of the position; `config` replaces them all if given (for
        components from elsewhere).

        Raises:
            ValueError: if a turn begins with a display that is not full, or if a game of two goes on without the
                End of Game card in its draw pile.
        """
        if config is None:
            config = CopenhagenConfig(
                num_players=position["players"],
                denied=position.get("denied"),
                components=position["components"],
            )
        game = cls(config)
        game.phase = str(position["phase"])
        game.seat = position["to_move"]
        game.round = position["round"]
        game.done = position["done"]
        game.draw_pile = list(position["draw_pile"])[::-1]
        game.discard = list(position["discard_pile"])
        game.display = list(position["display"])
        game.tile_supply = [list(position["tile_supply"][name]) for name in COLOURS]
        game.white_tiles = position["white_tiles"]
        game.seats = [
            Seat(
                tiles=[
                    Tile(COLOURS.index(tile["colour"]), tile["size"], frozenset(tile["cells"]), tile["brick"])
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
        game.word = int(position["chance"]["word"], 16)
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
    """The legal decisions once more: those allowed on the spot after which what was begun can be finished.

    *Local* rules look at nothing beyond the decision itself: the slot holds a card; the tile is in the supply;
    it lies on empty cells and on something; the cards that leave the hand now are there and keep the order; the
    last card of a payment completes one with the recoloured colour in it; the ability is active and the phase is
    right. No count of what remains, no thought of the decisions to come. Whether those exist is found out by
    taking them: depth first, on copies, until the tile lies or the taking and discarding is over (the next state
    is COAT or END, the turn has passed or the game is over) or there is no local decision left.
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
    """What the rules allow on the spot."""
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
        for colour in range(len(COLOURS)):
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
        for colour in range(len(COLOURS)):
            if me.hand[colour] and colour != pending.tile[0]:
                yield RECOLOUR, colour
    elif phase == PAY:
        assert pending.tile is not None
        for colour in range(len(COLOURS)):
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
    """PLACE wherever the tile fits and, without a change of colours, its price is in the hand."""
    me, pending = game.seats[game.seat], game.pending
    assert pending.tile is not None
    colour, size = pending.tile
    filled = me.filled()
    of_own_colour = {cell for tile in me.tiles if tile.colour == colour for cell in tile.cells}
    for placement in placements_on_board(tuple(game.components.drawings[colour][SIZES.index(size)])):
        fits = not any(cell in filled for cell in placement.cells)
        stands = any(cell // COLUMNS == 0 or cell - COLUMNS in filled for cell in placement.cells)
        if not fits or not stands:
            continue
        touches = any(near in of_own_colour for cell in placement.cells for near in neighbours(cell))
        cost = size - touches - (DISCOUNT in pending.using)
        if (me.hand[colour] >= cost) if pending.recolour is None else (cost >= 1):
            yield PLACE, placement.argument

"""Plain statement of the rules of Helsinki mini (`docs/mini.md`), independent of the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

STATUE, COAT = 4, 0
LINES = (*({3 * i, 3 * i + 1, 3 * i + 2} for i in range(3)), *({i, i + 3, i + 6} for i in range(3)))
#: TAKE, BUILD and BUILD for a coat, each with its number of steps and its lane.
ACTIONS = (
    *(("TAKE", steps, 0) for steps in (1, 2)),
    *((kind, steps, lane) for kind in ("BUILD", "FREE") for steps in (1, 2) for lane in (0, 2)),
    ("PASS", 0, 0),
)


@dataclass(frozen=True)
class Seat:
    """The side of the token, the cards of each color, those that all have seen, built cells, coats, bonus."""

    space: int
    hand: tuple[int, int] = (0, 0)
    known: tuple[int, int] = (0, 0)
    built: frozenset[int] = frozenset({STATUE})
    coats: int = 0
    bonus: int = 0


@dataclass(frozen=True)
class Mini:
    """A position. `pile` is the draw pile, with the next card last; the cards in the display are colors or None."""

    seats: tuple[Seat, ...]
    rounds: int
    pile: tuple[int, ...]
    display: tuple[int | None, ...] = ()
    discard: tuple[int, int] = (0, 0)
    seat: int = 0
    round: int = 1
    done: bool = False
    history: tuple[int, ...] = field(default=(), compare=False)

    def legal(self) -> list[int]:
        """The ids of the legal actions, ascending."""
        if self.done:
            return []
        found = [i for i in range(10) if self._can(*ACTIONS[i])]
        return found or [10]

    def _can(self, kind: str, steps: int, lane: int) -> bool:
        own = self.seats[self.seat]
        space = (own.space + steps) % 4
        if kind == "TAKE":
            return self.display[space % 2] is not None
        if not (own.coats if kind == "FREE" else own.hand[space % 2]):
            return False
        return bool(landing(own.built, space, lane))

    def play(self, action: int) -> Mini:
        """The position after a legal action."""
        kind, steps, lane = ACTIONS[action]
        own = self.seats[self.seat]
        space = (own.space + steps) % 4
        color, pile, display, discard = space % 2, self.pile, list(self.display), list(self.discard)
        hand, known = list(own.hand), list(own.known)
        built, coats, bonus = own.built, own.coats, own.bonus
        if kind == "TAKE":
            card = display[color]
            assert card is not None
            hand[card] += 1
            known[card] += 1
            display[color] = pile[-1] if pile else None
            pile = pile[:-1]
        elif kind != "PASS":
            cost = 0 if kind == "FREE" else 1
            hand[color] -= cost
            known[color] = max(0, known[color] - cost)
            discard[color] += cost
            tile = landing(built, space, lane)
            completed = [line for line in LINES if any(line <= seat.built for seat in self.seats)]
            built = built | tile
            bonus += sum(line <= built and line not in completed for line in LINES)
            coats += (COAT in tile) - (kind == "FREE")
        seats = list(self.seats)
        seats[self.seat] = Seat(space, (hand[0], hand[1]), (known[0], known[1]), built, coats, bonus)
        last = self.seat == len(seats) - 1
        done = last and self.round == self.rounds
        following = self.seat if done else (self.seat + 1) % len(seats)
        return replace(
            self, seats=tuple(seats), pile=pile, display=tuple(display),
            discard=(discard[0], discard[1]), seat=following,
            round=self.round + (last and not done), done=done, history=(*self.history, action),
        )  # fmt: skip

    def points(self) -> list[int]:
        """The points of every seat: 2 for each full row and column, 1 more where it was the first."""
        return [2 * sum(line <= seat.built for line in LINES) + seat.bonus for seat in self.seats]

    def ranks(self) -> list[int]:
        """The rank of every seat; the later one wins a tie."""
        order = sorted(range(len(self.seats)), key=lambda seat: (-self.points()[seat], -seat))
        return [order.index(seat) for seat in range(len(self.seats))]


def landing(built: frozenset[int], space: int, lane: int) -> frozenset[int]:
    """The two cells of a tile pushed from a side (0 north, 1 east, 2 south, 3 west); none if it does not fit."""
    column = [lane, lane + 3, lane + 6]
    row = [3 * lane, 3 * lane + 1, 3 * lane + 2]
    path = {0: column, 1: row[::-1], 2: column[::-1], 3: row}[space]
    free = 0
    while free < 3 and path[free] not in built:
        free += 1
    return frozenset(path[free - 2 : free]) if free >= 2 else frozenset()


def start(order: tuple[int, ...], players: int, hand: int, rounds: int) -> Mini:
    """The first position: the display gets two cards, then each seat its hand, from the end of the pile."""
    pile, seats = list(order), []
    display = (pile.pop(), pile.pop())
    for seat in range(players):
        cards = [pile.pop() for _ in range(hand)]
        seats.append(Seat(2 * seat % 4, (cards.count(0), cards.count(1))))
    return Mini(tuple(seats), rounds, tuple(pile), display)

"""One table: who sits there, what was decided, and what may be taken back. All follows from beginning and decisions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from agents.base import seat_word
from helsinki_env.data import UserError, shown
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_of

__all__ = ["HUMAN", "Chair", "Decision", "Table", "TableError"]

HUMAN = "human"
"""The name that stands for somebody in front of a page where players have their names."""


class TableError(UserError):
    """What cannot be done at a table now; the message says what was asked, and what is possible."""


class Chair(NamedTuple):
    """Who sits at a seat.

    Attributes:
        player: `HUMAN`, or the name of a player (`agents.registry`).
        name: what the pages call them.
        key: the secret of the seat's own link; empty: whoever sits in front of this machine may play it.
    """

    player: str
    name: str
    key: str = ""


class Decision(NamedTuple):
    """A decision that was taken.

    Attributes:
        number: how many were taken before it.
        seat: whose it was.
        action: its id.
        said: it in words, for the log, such as "moved 2 spaces".
        turn: how many times the seat to move had changed before it.
    """

    number: int
    seat: int
    action: int
    said: str
    turn: int


@dataclass
class Table:
    """A table and its game.

    Args:
        name: of the table, unique, part of its address.
        title: what the pages call it.
        config: what is played.
        seed: of the deck and of the players' chance.
        chairs: who sits where, one for each seat.
        told: what was decided so far, (seat, action, words) each.
        start: JSON of the position that it began with; empty: the game that the seed deals.

    Attributes:
        game: as it stands.
        decisions: what was decided.
        paused: whether players wait.
    """

    name: str
    title: str
    config: Any
    seed: int
    chairs: tuple[Chair, ...]
    told: Sequence[tuple[int, int, str]] = ()
    start: str = ""
    game: BoardGame = field(init=False, repr=False)
    decisions: list[Decision] = field(init=False, default_factory=list)
    paused: bool = field(init=False, default=False)
    #: For each decision, whether somebody saw by it what had been hidden from all.
    _revealing: list[bool] = field(init=False, default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Deal the game and carry out what was decided."""
        self.game = self._beginning()
        for seat, action, said in self.told:
            if self.game.done or seat != self.game.seat:
                raise TableError(f"table {self.name}: decision {self.number} is of seat {seat}, whose turn it is not")
            self.decide(self.number, action, said)
        self.told = ()

    def _beginning(self) -> BoardGame:
        """Return the game before its first decision."""
        spec = spec_of(self.config)
        if not self.start or spec.from_dict is None:
            return spec.game(self.config, seed=self.seed)
        began: BoardGame = spec.from_dict(json.loads(self.start))
        return began

    @property
    def number(self) -> int:
        """How many decisions were taken."""
        return len(self.decisions)

    @property
    def thinker(self) -> str | None:
        """The player who is to decide now; None if the game is over or a human is to decide."""
        player = self.chairs[self.game.seat].player
        return None if self.game.done or player == HUMAN else player

    @property
    def humans(self) -> tuple[int, ...]:
        """The seats that humans play."""
        return tuple(seat for seat, chair in enumerate(self.chairs) if chair.player == HUMAN)

    # what may be done

    def decide(self, number: int, action: int, said: str) -> Decision:
        """Carry out a decision of the seat to move.

        Args:
            number: how many decisions whoever decides has seen: a page that is behind must not decide.
            action: the id of the decision.
            said: the decision in words.

        Raises:
            TableError: if the page is behind or the decision is not legal; nothing has changed.
        """
        self.check_number(number)
        seat, before = self.game.seat, self.game.clone()
        try:
            self.game.step(action)
        except ValueError as problem:
            raise TableError(str(problem)) from None
        decision = Decision(number, seat, int(action), said, self._turn_of(seat))
        self.decisions.append(decision)
        self._revealing.append(reveals(before, self.game))
        return decision

    def check_number(self, number: int) -> None:
        """Raise TableError if a page has seen another number of decisions than were taken."""
        if number != self.number:
            raise TableError(
                f"number: found {shown(number)}, expected {self.number}: the table has moved on since then"
            )

    def check_together(self, actions: Sequence[int]) -> None:
        """Raise TableError if decisions of the seat to move are not legal one after the other."""
        after = self.game.clone()
        for action in actions:
            if after.done or after.seat != self.game.seat:
                raise TableError(
                    f"more: found {len(actions) - 1} more decisions, expected fewer: the turn is over before"
                )
            try:
                after.step(action)
            except ValueError as problem:
                raise TableError(str(problem)) from None

    def _turn_of(self, seat: int) -> int:
        if not self.decisions:
            return 0
        last = self.decisions[-1]
        return last.turn + (last.seat != seat)

    def turn(self) -> list[Decision]:
        """Return the decisions of the turn in progress, the first one first."""
        if not self.decisions or self.game.done or self.decisions[-1].seat != self.game.seat:
            return []
        turn = self.decisions[-1].turn
        return [decision for decision in self.decisions if decision.turn == turn]

    def undoable(self) -> int | None:
        """Return the number of the first decision of this turn since which nothing hidden was seen, or None."""
        first = None
        for decision in reversed(self.turn()):
            if self._revealing[decision.number]:
                break
            first = decision.number
        return first

    def undo(self, number: int, to: int) -> None:
        """Take back decisions of the turn in progress, up to one that `undoable` allows.

        Raises:
            TableError: if it is too late for that.
        """
        self.check_number(number)
        first = self.undoable()
        if first is None or not first <= to < self.number:
            expected = "none can be" if first is None else f"{first} to {self.number - 1} can be"
            raise TableError(f"to: decision {shown(to)} cannot be undone: {expected} since nothing hidden was seen")
        self._go_back(to)

    def may_take_back(self) -> list[int]:
        """Return the numbers of decisions that the only human at the table may take back, whatever was seen since."""
        if len(self.humans) != 1:
            return []
        return [decision.number for decision in self.decisions if decision.seat == self.humans[0]]

    def take_back(self, number: int, to: int) -> list[Decision]:
        """Go back to before an own decision, against players only, and return what is taken back.

        Args:
            number: how many decisions were seen. Players may have decided since: that is taken back, too.
            to: the number of the own decision.

        Raises:
            TableError: if it is no such decision.
        """
        if not to < number <= self.number:
            self.check_number(number)
        if to not in self.may_take_back():
            raise TableError(
                f"to: decision {shown(to)} cannot be taken back: expected one of yours, at a table with no other human"
            )
        gone = self.decisions[to:]
        self._go_back(to)
        return gone

    def _go_back(self, to: int) -> None:
        kept = self.decisions[:to]
        del self.decisions[to:], self._revealing[to:]
        self.game = self._beginning()
        for decision in kept:
            self.game.step(decision.action)

    def forget_last(self) -> None:
        """Go back to before the last decision, which could not be kept."""
        self._go_back(self.number - 1)

    # what players get

    def question(self) -> tuple[Any, Any, Any]:
        """Return what the player to move gets: observation int8 (1, F), mask int8 (1, A), random word uint64 (1,).

        The word depends on the seed, the seat and how often the seat has decided: a game that is gone back to goes on
        as it did.
        """
        seat = self.game.seat
        word = seat_word(self.seed, seat, sum(decision.seat == seat for decision in self.decisions))
        return self.game.observation()[None], self.game.legal_mask()[None], np.array([word])


def reveals(before: BoardGame, after: BoardGame) -> bool:
    """Return whether a decision showed anybody what had been hidden from all: it cannot be undone."""
    fields = before.spec.reveals
    return any(not np.array_equal(before.state[name], after.state[name]) for name in fields)

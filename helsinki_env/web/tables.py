"""Tables: seats, actions, and undo. The start and the actions of a table determine everything else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from helsinki_env.agents.base import seat_key
from helsinki_env.data import UserError, short_repr
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_of
from helsinki_env.web.clocks import TableClock

HUMAN = "human"
"""Player name for a person."""


class TableError(UserError):
    """Raised if a table or tournament does not exist or cannot fulfill a request now."""


class SeatAssignment(NamedTuple):
    """The occupant of a seat: `HUMAN` or the name of a player (`helsinki_env.agents.registry`)."""

    player: str
    name: str  # displayed
    key: str = ""  # secret in the seat's link; empty if anyone at this machine may play the seat
    rated: bool = False  # whether evaluations are disabled at the table
    assistant: bool = False  # whether the human seat is played by a client of `helsinki mcp`

    @property
    def is_person(self) -> bool:
        """Whether a person plays the seat."""
        return self.player == HUMAN and not self.assistant


class TakenAction(NamedTuple):
    """An action that was taken at a table."""

    number: int  # number of previous actions
    seat: int
    action: int
    said: str  # description for the log, such as "moved 2 spaces"
    turn: int  # how often the seat to move had changed before


@dataclass
class GameTable:
    """A table and its game."""

    name: str  # unique, part of the URL
    title: str
    config: Any
    seed: int  # seed for the deal and the players' random keys
    chairs: tuple[SeatAssignment, ...]
    past_actions: Sequence[tuple[int, int, str]] = ()  # tuples (seat, action, description)
    start: str = ""  # starting position as JSON; empty if the seed determines the deal
    clock: TableClock | None = None
    game: BoardGame = field(init=False, repr=False)
    decisions: list[TakenAction] = field(init=False, default_factory=list)
    paused: bool = field(init=False, default=False)
    #: Whether each action revealed hidden information.
    _revealing: list[bool] = field(init=False, default_factory=list, repr=False)

    def __post_init__(self) -> None:
        """Deal the game and apply the past actions."""
        self.game = self._initial_game()
        for seat, action, said in self.past_actions:
            if self.game.done or seat != self.game.seat:
                raise TableError(
                    f"table {self.name}: action {self.number} is of seat {seat}, expected the seat to move"
                )
            self.decide(self.number, action, said)
        self.past_actions = ()

    def _initial_game(self) -> BoardGame:
        spec = spec_of(self.config)
        if not self.start or spec.from_dict is None:
            return spec.game(self.config, seed=self.seed)
        game: BoardGame = spec.from_dict(json.loads(self.start))
        return game

    @property
    def number(self) -> int:
        """Number of actions taken."""
        return len(self.decisions)

    @property
    def acting_player(self) -> str | None:
        """The player to move, or None if the game is over or a human is to move."""
        player = self.chairs[self.game.seat].player
        return None if self.game.done or player == HUMAN else player

    @property
    def humans(self) -> tuple[int, ...]:
        """The seats played by humans."""
        return tuple(seat for seat, chair in enumerate(self.chairs) if chair.player == HUMAN)

    # actions and undo

    def decide(self, number: int, action: int, said: str) -> TakenAction:
        """Apply an action of the seat to move; raise TableError if the action is illegal or the page is outdated."""
        self.check_number(number)
        seat, before = self.game.seat, self.game.clone()
        try:
            self.game.step(action)
        except ValueError as problem:
            raise TableError(str(problem)) from None
        decision = TakenAction(number, seat, int(action), said, self._turn_of(seat))
        self.decisions.append(decision)
        self._revealing.append(reveals_hidden(before, self.game))
        return decision

    def check_number(self, number: int) -> None:
        """Raise TableError if a page shows a different number of actions."""
        if number != self.number:
            raise TableError(
                f"number: found {short_repr(number)}, expected {self.number}: the table has changed since then"
            )

    def check_together(self, actions: Sequence[int]) -> None:
        """Raise TableError unless the seat to move can legally take the actions in this order."""
        after = self.game.clone()
        for action in actions:
            if after.done or after.seat != self.game.seat:
                raise TableError(f"more: found {len(actions) - 1} more actions, expected fewer: the turn ends earlier")
            try:
                after.step(action)
            except ValueError as problem:
                raise TableError(str(problem)) from None

    def _turn_of(self, seat: int) -> int:
        if not self.decisions:
            return 0
        last = self.decisions[-1]
        return last.turn + (last.seat != seat)

    def turn(self) -> list[TakenAction]:
        """Return the actions of the current turn, in order."""
        if not self.decisions or self.game.done or self.decisions[-1].seat != self.game.seat:
            return []
        turn = self.decisions[-1].turn
        return [decision for decision in self.decisions if decision.turn == turn]

    def undoable(self) -> int | None:
        """Return the index of the first action of this turn that can be undone, or None."""
        first = None
        for decision in reversed(self.turn()):
            if self._revealing[decision.number]:
                break
            first = decision.number
        return first

    def undo(self, number: int, to: int) -> None:
        """Undo the actions of the current turn, starting with `to`; raise TableError unless `undoable` allows it."""
        self.check_number(number)
        first = self.undoable()
        if first is None or not first <= to < self.number:
            expected = "none can be" if first is None else f"{first} to {self.number - 1} can be"
            raise TableError(
                f"to: action {short_repr(to)} cannot be undone: {expected} "
                "(actions of this turn since hidden cards were last revealed)"
            )
        self._go_back(to)

    def may_take_back(self) -> list[int]:
        """Return the indices of the actions that the only human may take back, even if they revealed information.

        At a table with a clock, no action can be taken back.
        """
        if len(self.humans) != 1 or self.clock is not None:
            return []
        return [decision.number for decision in self.decisions if decision.seat == self.humans[0]]

    def take_back(self, number: int, to: int) -> list[TakenAction]:
        """Restore the position before action `to` of the only human; return the actions taken back.

        If players have acted since the page showed `number` actions, their actions are also taken back.
        """
        if not to < number <= self.number:
            self.check_number(number)
        if to not in self.may_take_back():
            raise TableError(
                f"to: action {short_repr(to)} cannot be taken back: expected one of yours, "
                "at a table with no other human and no clock"
            )
        removed = self.decisions[to:]
        self._go_back(to)
        return removed

    def _go_back(self, to: int) -> None:
        del self.decisions[to:], self._revealing[to:]
        self.game = self._initial_game()
        for decision in self.decisions:
            self.game.step(decision.action)

    def forget_last(self) -> None:
        """Restore the position before the last action, because the action could not be saved."""
        self._go_back(self.number - 1)

    # inputs for players

    def question(self) -> tuple[Any, Any, Any]:
        """Return the inputs for the player: observation int8 (1, F), mask int8 (1, A) and random key uint64 (1,)."""
        # The key depends on the seed, the seat and its number of actions, so players repeat their actions after an
        # undo.
        seat = self.game.seat
        key = seat_key(self.seed, seat, sum(decision.seat == seat for decision in self.decisions))
        return self.game.observation()[None], self.game.action_mask()[None], np.array([key])


def reveals_hidden(before: BoardGame, after: BoardGame) -> bool:
    """Return whether an action revealed hidden information to any seat and therefore cannot be undone."""
    fields = before.spec.revealing_fields
    return any(not np.array_equal(before.state[name], after.state[name]) for name in fields)

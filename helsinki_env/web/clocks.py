"""Table clocks: a total time for all turns of a person, and an increment at the end of each turn.

If a person's time runs out, the substitute (the first level of the game) plays the rest of the turn. Clocks run only
while a page of the table is open, and only during people's turns. The clock of a person first starts after the person
has opened the table.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any

from helsinki_env.engine.spec import GameSpec
from helsinki_env.web.setups import levels_of

__all__ = ["TableClock", "substitute"]


def substitute(spec: GameSpec) -> str:
    """Return the name of the player that plays the rest of a turn after the time has run out."""
    return levels_of(spec)[0].player


@dataclass
class TableClock:
    """The clock of a table, with times in seconds."""

    seconds: float  # initial time of each seat
    increment: float  # added at the end of each turn
    left: list[float]  # by seat
    expired: list[int] = field(default_factory=list)  # numbers of the actions taken by the substitute
    present: list[int] = field(default_factory=list)  # seats that have opened the table
    begun: int | None = None  # the seat whose clock has already run in this turn, so that no reload stops it

    @classmethod
    def of(cls, seconds: float, increment: float, seats: int) -> TableClock:
        """Create the clock for the start of a game."""
        return cls(seconds, increment, [seconds] * seats)

    @classmethod
    def from_json(cls, text: str) -> TableClock | None:
        """Parse a clock from text, or return None if the text is empty."""
        return cls(**json.loads(text)) if text else None

    def to_json(self) -> str:
        """Return the clock as JSON text."""
        return json.dumps(asdict(self))

    def copy(self) -> TableClock:
        """Return a copy."""
        return TableClock(**asdict(self))

    def spend(self, seat: int, seconds: float) -> None:
        """Subtract the time that a seat has used."""
        self.left[seat] = max(0.0, self.left[seat] - seconds)

    def end_turn(self, seat: int) -> None:
        """Add the increment at the end of a turn."""
        self.left[seat] += self.increment
        self.begun = None

    def message(self, people: tuple[int, ...], running: int | None, player: str) -> dict[str, Any]:
        """Return the message for pages: each person's remaining time, and the seat whose clock is running."""
        left = [round(seconds, 1) if seat in people else None for seat, seconds in enumerate(self.left)]
        settings = {"seconds": self.seconds, "increment": self.increment}
        return {"type": "clocks", "left": left, "running": running, "player": player, **settings}

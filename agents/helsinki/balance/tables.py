"""How the tables of a study are called: by what is played at them, so that results find them again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Suspect",
    "bare_table",
    "cover_table",
    "gate_table",
    "quality_table",
    "screen_table",
    "skill_table",
    "variant_table",
]


@dataclass(frozen=True)
class Suspect:
    """An action that the screen finds far from the mean.

    Attributes:
        players: of the game.
        player: who plays.
        action: its name.
        above: whether it seems stronger than the mean, not weaker.
        mean: the mean power of all actions, in points of the share of wins.
    """

    players: int
    player: str
    action: str
    above: bool
    mean: float

    def table(self, way: str) -> str:
        """Name of the table at which it is confirmed in a way: "denied", "alone" or "forced"."""
        return f"{self.action} {way}, {self.player}, {self.players} players"


def screen_table(player: str, players: int) -> str:
    """Name of a table of the screen."""
    return f"{player}, {players} players"


def gate_table(player: str, players: int, denied: bool) -> str:
    """Name of a table of the gate: with the full board, or with five actions denied to every seat."""
    return f"{player}, {players} players, {'five denied' if denied else 'full board'}"


def variant_table(components: str, players: int) -> str:
    """Name of a table of the variants."""
    return f"{Path(components).stem}, {players} players"


def quality_table(kind: str, player: str, players: int) -> str:
    """Name of a table of games as they are."""
    return f"{kind}, {player}, {players} players"


def skill_table(kind: str, weaker: str, stronger: str, players: int) -> str:
    """Name of a table of games as they are, with a stronger player in one seat."""
    return f"{kind}, {stronger} against {weaker}, {players} players"


def cover_table(players: int) -> str:
    """Name of a table of covered sets."""
    return f"{players} players"


def bare_table(players: int) -> str:
    """Return the name of the table at which the players of the covered sets play with nothing covered."""
    return f"nothing covered, {players} players"

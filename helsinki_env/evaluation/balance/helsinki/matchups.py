"""Names of the matchups of a study, by which the results find their games."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Candidate",
    "cover_matchup",
    "qualification_matchup",
    "quality_matchup",
    "screening_matchup",
    "skill_matchup",
    "uncovered_matchup",
    "variant_matchup",
]


@dataclass(frozen=True)
class Candidate:
    """A candidate: an action that the screening experiment finds far from the mean.

    Attributes:
        players: number of players of the game.
        player: class of player.
        action: name of the action.
        above: whether it seems stronger than the mean, not weaker.
        mean: mean marginal effect of all actions, win %.
    """

    players: int
    player: str
    action: str
    above: bool
    mean: float

    def table(self, way: str) -> str:
        """Return the name of its matchup for one handicap: "denied", "alone" or "forced"."""
        return f"{self.action} {way}, {self.player}, {self.players} players"


def screening_matchup(player: str, players: int) -> str:
    """Return the name of a matchup of the screening experiment."""
    return f"{player}, {players} players"


def qualification_matchup(player: str, players: int, denied: bool) -> str:
    """Return the name of a qualification matchup: with the full board, or with five actions denied to every seat."""
    return f"{player}, {players} players, {'five denied' if denied else 'full board'}"


def variant_matchup(components: str, players: int) -> str:
    """Return the name of a matchup of the variants."""
    return f"{Path(components).stem}, {players} players"


def quality_matchup(kind: str, player: str, players: int) -> str:
    """Return the name of a matchup of a published game."""
    return f"{kind}, {player}, {players} players"


def skill_matchup(kind: str, weaker: str, stronger: str, players: int) -> str:
    """Return the name of a matchup of a published game with a stronger player in one seat."""
    return f"{kind}, {stronger} against {weaker}, {players} players"


def cover_matchup(players: int) -> str:
    """Return the name of a matchup of covered sets."""
    return f"{players} players"


def uncovered_matchup(players: int) -> str:
    """Return the name of the matchup with nothing covered, for the players of the covered sets."""
    return f"nothing covered, {players} players"

"""How strong the learner is: games against fixed players, and the gate that a candidate must pass.

A candidate replaces the best network only if a sequential test says that it is better (`agents.rating.sequential`):
looking again and again until something looks good would let through whatever comes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from agents.arena.config import with_seats
from agents.base import Player
from agents.match import play_match
from agents.net.network import Network
from agents.net.player import NetPlayer
from agents.net.pytorch import TorchAssessor
from agents.rating.sequential import Hypotheses, SequentialTest, State, share_of_elo
from agents.registry import make_player
from helsinki_env import GameConfig
from training.checks import check_numbers

__all__ = ["GateConfig", "gate", "measure"]


@dataclass(frozen=True)
class GateConfig:
    """When a candidate counts as better than the best so far.

    Args:
        elo: by so many Elo points it should be; none is the other hypothesis.
        decks: after so many decks without an answer the best stays; at least 16.
        games: decks that are played at once.
    """

    elo: float = 25.0
    decks: int = 400
    games: int = 100

    def __post_init__(self) -> None:
        """Check every value."""
        check_numbers(self, {"decks": 16, "games": 1})
        if not 0 < self.elo <= 1000:
            raise ValueError(f"elo: found {self.elo}, expected a number above 0, at most 1000")

    @property
    def hypotheses(self) -> Hypotheses:
        """What is tested."""
        return Hypotheses(share_of_elo(0.0), share_of_elo(self.elo), cap=self.decks)


def measure(
    player: Player, game: GameConfig, opponents: Sequence[str], players: Sequence[int], games: int, seed: int
) -> list[dict[str, Any]]:
    """Let a player meet others, one seat against them on all others, all seats in turn.

    Returns:
        For each player count and opponent: players, opponent, and how it did (`agents.standing.Standing`), with
        `other_score` the points of the opponent and `times_fair` the share of games won by what is fair.
    """
    found = []
    for count in players:
        config = with_seats(game, count)
        for name in opponents:
            others = [make_player(name, config)] * (count - 1)
            results = play_match([player, *others], config, games=games, seed=seed)
            own, other = results.standing(0), results.standing(1)
            found.append(
                {"players": count, "opponent": name}
                | asdict(own)
                | {"other_score": other.score, "times_fair": own.share * count}
            )
    return found


def gate(candidate: Network, best: Network, game: GameConfig, config: GateConfig, seed: int, fast: bool) -> State:
    """Let a candidate meet the best of two-player games, deck by deck, until the test says something."""
    table = with_seats(game, 2)
    players = [NetPlayer(TorchAssessor(net, fast), table, name) for net, name in ((candidate, "new"), (best, "best"))]
    test = SequentialTest(config.hypotheses)
    for part in range(-(-config.decks // config.games)):
        results = play_match(players, table, games=2 * config.games, seed=seed + part)
        won = (results.places == 0) & (results.seating == 0)
        state = test.update(won.any(axis=1).reshape(-1, 2).mean(axis=1).astype(np.float64))
        if state.verdict != "running":
            break
    return state

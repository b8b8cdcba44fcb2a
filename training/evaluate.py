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
from agents.arena.designs import as_bits, random_sets
from agents.base import Player, first_words
from agents.match import play_match
from agents.net.network import Network
from agents.net.player import NetPlayer
from agents.net.pytorch import TorchAssessor
from agents.play import Barred, deck_seeds, play_games
from agents.rating.sequential import Hypotheses, SequentialTest, State, share_of_elo
from agents.registry import make_player
from helsinki_env import GameConfig
from helsinki_env.components import ACTIONS
from training.checks import check_numbers

__all__ = ["GateConfig", "gate", "measure"]


@dataclass(frozen=True)
class GateConfig:
    """When a candidate counts as better than the best so far.

    Args:
        elo: by so many Elo points it should be; none is the other hypothesis.
        decks: after so many decks without an answer the best stays; at least 16.
        games: decks that are played at once.
        denied: with every other deck each seat is denied so many actions, 0 to 15: who is good at the whole board only
            is not the best. None of them otherwise.
    """

    elo: float = 25.0
    decks: int = 400
    games: int = 100
    denied: int = 0

    def __post_init__(self) -> None:
        """Check every value."""
        check_numbers(self, {"decks": 16, "games": 1, "denied": 0})
        if self.denied > len(ACTIONS):
            raise ValueError(f"denied: found {self.denied}, expected a whole number from 0 to {len(ACTIONS)}")
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
    """Let a candidate meet the best of two-player games, deck by deck, until the test says something.

    What a seat is denied stays with the seat: in the two games of a deck each of them has it once.
    """
    table = with_seats(game, 2)
    players = [NetPlayer(TorchAssessor(net, fast), table, name) for net, name in ((candidate, "new"), (best, "best"))]
    test = SequentialTest(config.hypotheses)
    seating = np.tile([[0, 1], [1, 0]], (config.games, 1))
    for part in range(-(-config.decks // config.games)):
        block = (part * config.games + np.arange(config.games)).repeat(2)
        streams = np.stack([first_words(seed, 2 * block + np.arange(len(block)) % 2, seat) for seat in (0, 1)], axis=1)
        barred = _denied(config, seed, part)
        played = play_games(players, table, seating, deck_seeds(seed, block), streams, barred=barred)
        won = ((played.places == 0) & (seating == 0)).any(axis=1)
        state = test.update(won.reshape(-1, 2).mean(axis=1).astype(np.float64))
        if state.verdict != "running":
            break
    return state


def _denied(config: GateConfig, seed: int, part: int) -> Barred:
    """What each seat is denied in a part of the gate's games."""
    generator = np.random.default_rng([seed, part])
    sets = random_sets(2 * config.games, config.denied, config.denied, generator).reshape(config.games, 2, -1)
    sets[::2] = False
    denied = as_bits(sets).repeat(2, axis=0)
    return Barred(np.zeros(len(denied), np.int16), denied)

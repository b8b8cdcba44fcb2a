"""Games between players by name: batches on the vector environment, seats rotated, results with intervals.

A match is made of blocks. A block is one deck, dealt as many times as there are seats, so that every player sits once
in each seat (seats move round by one from game to game): who starts and who has the last word matter too much to be
left to chance. Each player has a random stream of its own for each game. What is played therefore depends on players,
configuration and seed alone, not on the size of batches or the number of threads.

    >>> results = play_match(["random", "greedy"], games=100, seed=1)
    >>> greedy = results.standing(1)
    >>> greedy.games, greedy.share > 0.9
    (100, True)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Player, first_words
from agents.play import deck_seeds, play_games
from agents.registry import make_player
from agents.standing import Standing, standing
from helsinki_env import GameConfig
from helsinki_env.data import Entry
from helsinki_env.envs.threads import Slices
from helsinki_env.record import Record

__all__ = ["Results", "Standing", "play_match"]

#: Games side by side: enough to hide the cost of a call, few enough to stay in the cache.
_BATCH = 2048


@dataclass(frozen=True)
class Results:
    """What came out of a match; row g of every array is game g, and games of a block follow each other.

    Attributes:
        config: what was played.
        players: names, each once.
        seating: which player sat in each seat, int64 (G, P).
        seeds: which deck was dealt, uint64 (G,), as for `Game`.
        scores: points by seat, int16 (G, P).
        places: places by seat, 0 is first, int8 (G, P).
        rounds: rounds played, int16 (G,).
        decisions: ids of the action table in order, int16, for each game.
    """

    config: GameConfig
    players: tuple[str, ...]
    seating: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.uint64]
    scores: npt.NDArray[np.int16]
    places: npt.NDArray[np.int8]
    rounds: npt.NDArray[np.int16]
    decisions: tuple[npt.NDArray[np.int16], ...]

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.seeds)

    def records(self) -> Iterator[Record]:
        """Yield the record of every game."""
        for g, decisions in enumerate(self.decisions):
            yield Record(
                config=self.config,
                seed=int(self.seeds[g]),
                players=tuple(self.players[i] for i in self.seating[g].tolist()),
                decisions=tuple(decisions.tolist()),
                scores=tuple(self.scores[g].tolist()),
                ranking=tuple(np.argsort(self.places[g]).tolist()),
            )

    def standing(self, player: int, seat: int | None = None) -> Standing:
        """Return how a player did.

        Games of a block are dealt the same deck, so together they count as what they are worth; see
        `agents.standing.share_interval`.

        Args:
            player: its number.
            seat: only games in this seat; None: all.
        """
        chosen = self.seating == player
        if seat is not None:
            chosen[:, np.arange(chosen.shape[1]) != seat] = False
        blocks = np.arange(len(self)) // chosen.shape[1]
        return standing(self.players[player], seat, chosen, self.places, self.scores, blocks)

    def standings(self) -> list[Standing]:
        """Return how every player did in all seats, and then in each."""
        seats: list[int | None] = [None, *range(self.config.num_players)]
        return [self.standing(player, seat) for player in range(len(self.players)) for seat in seats]


def _named(players: Sequence[Player]) -> tuple[str, ...]:
    """Return the players' names; the second of the same name becomes ``name#2``."""
    names: list[str] = []
    for player in players:
        name, number = player.name, 2
        while name in names:
            name, number = f"{player.name}#{number}", number + 1
        names.append(name)
    return tuple(names)


def play_match(
    players: Sequence[str | Player],
    config: GameConfig | None = None,
    *,
    games: int = 100,
    seed: int = 0,
    threads: int | None = 1,
    batch: int = _BATCH,
    progress: Callable[[int], None] | None = None,
) -> Results:
    """Play a match and return its results.

    Args:
        players: one for each seat, names as for `make_player` or players.
        config: what is played; default: nothing covered, as many players as given.
        games: how many; made up to whole blocks.
        seed: of decks and players.
        threads: how many batches are played side by side; None: one for each processor. Players are shared by them.
        batch: games in a batch.
        progress: called with the number of games that have ended since the last call, from any thread.

    Raises:
        PlayerError: if a player cannot be made, or returns something else than a decision for each row.
        IllegalActionError: if a player takes an illegal decision; names it.
        ValueError: for arguments that do not fit together.
    """
    seats = len(players)
    config = config or GameConfig(num_players=seats)
    if seats != config.num_players:
        raise ValueError(f"players: found {seats}, expected {config.num_players}, one for each seat")
    for name, value, least in (("games", games, 1), ("batch", batch, 1), ("seed", seed, 0)):
        Entry(value, ValueError, name).integer(least)
    sitting = [make_player(player, config) if isinstance(player, str) else player for player in players]
    slices = Slices(threads)
    games = -(-games // seats) * seats
    batch = -(-min(batch, -(-games // slices.threads)) // seats) * seats
    waiting = iter(range(0, games, batch))
    parts: dict[int, Results] = {}

    def work(begin: int, end: int) -> None:
        """One thread: the next batch that nobody plays yet, until there is none."""
        for first in waiting:
            parts[first] = _play_batch(sitting, config, first, min(games, first + batch), seed, progress)

    try:
        slices.run(work, 2 * slices.threads)
    finally:
        slices.close()
    return _joined([parts[first] for first in sorted(parts)])


def _joined(parts: list[Results]) -> Results:
    columns = ("seating", "seeds", "scores", "places", "rounds")
    arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
    return Results(
        config=parts[0].config,
        players=parts[0].players,
        decisions=tuple(game for part in parts for game in part.decisions),
        **arrays,
    )


def _play_batch(
    players: Sequence[Player],
    config: GameConfig,
    first: int,
    end: int,
    seed: int,
    progress: Callable[[int], None] | None,
) -> Results:
    """Play the games from `first` to `end`, side by side, each to its end."""
    seats = config.num_players
    games = np.arange(first, end)
    decks = deck_seeds(seed, games // seats)
    seating = (np.arange(seats) + games[:, None]) % seats
    by_player = np.stack([first_words(seed, games, player) for player in range(seats)], axis=1)
    played = play_games(players, config, seating, decks, np.take_along_axis(by_player, seating, axis=1), progress)
    return Results(
        config=config,
        players=_named(players),
        seating=seating,
        seeds=decks,
        scores=played.scores,
        places=played.places,
        rounds=played.rounds,
        decisions=played.decisions,
    )

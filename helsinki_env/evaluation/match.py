"""Play matches between named players, with batched games, rotated seats and confidence intervals.

A match consists of blocks of paired games: each deal is played once per seat rotation, so every player takes each seat
once. Each player has its own random stream for each game. A game depends only on the players, configuration, seed and
game number, not on the batch size or number of threads. `Match` can resume an interrupted match.

    >>> results = play_match(["random", "greedy"], games=100, seed=1)
    >>> greedy = results.result(1)
    >>> greedy.games, greedy.share > 0.9
    (100, True)
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, init_streams
from helsinki_env.agents.llm.usage import shared_budget
from helsinki_env.agents.registry import make_player
from helsinki_env.data import Node, UserError, short_repr
from helsinki_env.engine.configuration import read_num_players
from helsinki_env.engine.spec import default_config
from helsinki_env.envs.threads import ThreadPool
from helsinki_env.evaluation.match_stats import PlayerResult, player_result
from helsinki_env.evaluation.play import SeatedGames, Stopped, TimedGameResults, deal_seeds, play_games
from helsinki_env.records import Record, replay

__all__ = ["Match", "PlayerResult", "Results", "play_match"]

#: Number of games in a batch, large enough to hide call overhead and small enough to stay in the CPU cache.
_BATCH = 2048


@dataclass(frozen=True)
class Results(SeatedGames):
    """The results of G games of a match, ordered by game number. Games of a block have consecutive numbers.

    Attributes:
        players, seating, places, scores: see `helsinki_env.evaluation.play.SeatedGames`.
        config: the game configuration.
        numbers: game numbers within the match, int64 (G,).
        seeds: seed of each deal, uint64 (G,), as for `HelsinkiGame`.
        rounds: number of rounds played, int16 (G,).
        decisions: action ids of each game in order, int16.
    """

    config: Any
    numbers: npt.NDArray[np.int64]
    seeds: npt.NDArray[np.uint64]
    rounds: npt.NDArray[np.int16]
    decisions: tuple[npt.NDArray[np.int16], ...]

    def records(self) -> Iterator[Record]:
        """Yield the record of each game."""
        for g, decisions in enumerate(self.decisions):
            yield Record(
                config=self.config,
                seed=int(self.seeds[g]),
                players=tuple(self.players[i] for i in self.seating[g].tolist()),
                decisions=tuple(decisions.tolist()),
                scores=tuple(self.scores[g].tolist()),
                places=tuple(self.places[g].tolist()),
            )

    def result(self, player: int, seat: int | None = None) -> PlayerResult:
        """Return the statistics of the player with index `player` in one `seat`, or in all seats if None."""
        chosen = self.seating == player
        if seat is not None:
            chosen[:, np.arange(chosen.shape[1]) != seat] = False
        blocks = self.numbers // chosen.shape[1]
        return player_result(self.players[player], seat, chosen, self.places, self.scores, blocks)

    def player_results(self) -> list[PlayerResult]:
        """Return the statistics of each player over all seats, then in each seat."""
        seats: list[int | None] = [None, *range(self.config.num_players)]
        return [self.result(player, seat) for player in range(len(self.players)) for seat in seats]


def _named(players: Sequence[Player]) -> tuple[str, ...]:
    """Return unique player names. A second player with the same name is called ``name#2``."""
    names: list[str] = []
    for player in players:
        name, number = player.name, 2
        while name in names:
            name, number = f"{player.name}#{number}", number + 1
        names.append(name)
    return tuple(names)


class Match:
    """The players, configuration and seed of a match. Arguments and errors are the same as for `play_match`."""

    def __init__(self, players: Sequence[str | Player], config: Any = None, seed: int = 0) -> None:
        if config is None:
            config = default_config(num_players=read_num_players(Node(len(players), UserError, "players")))
        if len(players) != config.num_players:
            raise UserError(f"players: found {len(players)}, expected {config.num_players}, one for each seat")
        Node(seed, UserError, "seed").integer(0)
        self.config, self.seed = config, seed
        with shared_budget(player for player in players if isinstance(player, str)):
            self.players = [make_player(player, config) if isinstance(player, str) else player for player in players]
        for player in self.players:
            if not isinstance(player, Player):
                raise UserError(f"players: found {short_repr(player)}, expected names or objects with `name` and `act`")
        self.names = _named(self.players)

    def round_up_games(self, games: int) -> int:
        """Round a number of games up to whole blocks."""
        seats: int = self.config.num_players
        return -(-games // seats) * seats

    def play(
        self,
        games: int,
        *,
        threads: int | None = 1,
        batch: int | None = _BATCH,
        resume_from: Results | None = None,
        on_games_end: Callable[[Results], None] | None = None,
    ) -> Results:
        """Play the games that are missing from `resume_from`, and return all results; see `play_match`."""
        Node(games, UserError, "games").integer(1)
        if batch is not None:
            Node(batch, UserError, "batch").integer(1)
        pool = ThreadPool(threads, "threads")
        missing = np.arange(self.round_up_games(games))
        parts = [] if resume_from is None else [resume_from]
        if resume_from is not None:
            missing = np.setdiff1d(missing, resume_from.numbers)
        if batch is None:
            batch = min(getattr(player, "max_batch_size", _BATCH) for player in self.players)
        size = min(batch, -(-len(missing) // pool.threads))
        size = max(1, self.round_up_games(size))
        batches = iter([missing[first : first + size] for first in range(0, len(missing), size)])
        lock, stop = threading.Lock(), threading.Event()

        def collect(part: Results) -> None:
            with lock:
                parts.append(part)
            if on_games_end is not None:
                on_games_end(part)

        def play(thread: int) -> None:
            try:
                for numbers in batches:
                    self._play_batch(numbers, collect, stop.is_set)
            except Stopped:
                pass
            except BaseException:
                stop.set()  # stop the other threads, too
                raise

        try:
            pool.each(play)
        finally:
            stop.set()
            pool.close()
        return self._joined(parts)

    def _play_batch(
        self, numbers: npt.NDArray[np.int64], ended: Callable[[Results], None], stopped: Callable[[], bool]
    ) -> None:
        seats = self.config.num_players
        seeds = deal_seeds(self.seed, numbers // seats)
        seating = (np.arange(seats) + numbers[:, None]) % seats
        by_player = np.stack([init_streams(self.seed, numbers, player) for player in range(seats)], axis=1)
        streams = np.take_along_axis(by_player, seating, axis=1)

        def report(rows: npt.NDArray[np.int64], played: TimedGameResults) -> None:
            ended(
                Results(
                    config=self.config,
                    players=self.names,
                    numbers=numbers[rows],
                    seating=seating[rows],
                    seeds=seeds[rows],
                    **{name: getattr(played, name) for name in ("scores", "places", "rounds", "decisions")},
                )
            )

        play_games(self.players, self.config, seating, seeds, streams, report, should_stop=stopped)

    def numbers(self, games: int) -> dict[tuple[int, tuple[str, ...]], int]:
        """Return the numbers of the first `games` games by deal seed and player names in seat order."""
        seats = self.config.num_players
        rotations = [self.names[turn:] + self.names[:turn] for turn in range(seats)]
        seeds = deal_seeds(self.seed, np.arange(self.round_up_games(games) // seats)).tolist()
        return {(seed, names): i * seats + turn for i, seed in enumerate(seeds) for turn, names in enumerate(rotations)}

    def results_from_records(self, records: Iterable[tuple[int, Record]]) -> Results:
        """Return the results of finished games, given as (game number, record) pairs, after replaying them."""
        seats = self.config.num_players
        parts = []
        for number, record in records:
            game = replay(record)
            parts.append(
                Results(
                    config=self.config,
                    players=self.names,
                    numbers=np.array([number]),
                    seating=(np.arange(seats)[None] + number) % seats,
                    seeds=np.array([record.seed], np.uint64),
                    scores=np.array([record.scores], np.int16),
                    places=np.array([record.places], np.int8),
                    rounds=np.array([game.round], np.int16),
                    decisions=(np.array(record.decisions, np.int16),),
                )
            )
        return self._joined(parts)

    def reproduces(self, results: Results, game: int) -> bool:
        """Return whether the players take the same actions when the game with index `game` is played again."""
        replayed: list[Results] = []
        self._play_batch(results.numbers[game : game + 1], replayed.append, lambda: False)
        return bool(np.array_equal(replayed[0].decisions[0], results.decisions[game]))

    def _joined(self, parts: list[Results]) -> Results:
        columns = ("numbers", "seating", "seeds", "scores", "places", "rounds")
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in columns}
        order = np.argsort(arrays["numbers"])
        decisions = [game for part in parts for game in part.decisions]
        return Results(
            config=self.config,
            players=self.names,
            decisions=tuple(decisions[i] for i in order.tolist()),
            **{name: array[order] for name, array in arrays.items()},
        )


def play_match(
    players: Sequence[str | Player],
    config: Any = None,
    *,
    games: int = 100,
    seed: int = 0,
    threads: int | None = 1,
    batch: int | None = _BATCH,
    on_games_end: Callable[[Results], None] | None = None,
) -> Results:
    """Play a match and return its results.

    Args:
        players: one player per seat, given as a `Player` or as a name for `make_player`.
        config: game configuration. By default, no actions are covered and there is one seat per player.
        games: number of games, rounded up to whole blocks.
        seed: seed for deals and players.
        threads: number of batches played in parallel, or None for one per CPU core. The threads share the players.
        batch: number of games in a batch, or None for the smallest `max_batch_size` of the players (default 2048).
        on_games_end: function called, from any thread, with the results of games that have just ended.

    Raises:
        PlayerError: if a player cannot be created, or does not return one integer per row.
        IllegalActionError: if a player takes an illegal action; the message names the player.
        ValueError: if the arguments are incompatible.
    """
    return Match(players, config, seed).play(games, threads=threads, batch=batch, on_games_end=on_games_end)

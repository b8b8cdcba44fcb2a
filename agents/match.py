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

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.base import Player, first_words, next_words
from agents.registry import PlayerError, make_player
from helsinki_env import GameConfig, HelsinkiVectorEnv, IllegalActionError
from helsinki_env.envs.threads import Slices
from helsinki_env.observation import TABLE_FACTS, layout
from helsinki_env.record import Record

__all__ = ["Results", "Standing", "play_match", "wilson"]

#: Games side by side: enough to hide the cost of a call, few enough to stay in the cache.
_BATCH = 2048
#: Where the decks' seeds come from, apart from the players' streams.
_DECKS = 2**32

_Z95 = 1.959963984540054


def wilson(share: float, games: float) -> tuple[float, float]:
    """Return the 95 % interval (Wilson's) of a share of won games; (0, 1) if there are none."""
    if games <= 0:
        return 0.0, 1.0
    z2 = _Z95 * _Z95 / games
    middle = (share + z2 / 2) / (1 + z2)
    half = _Z95 * math.sqrt(share * (1 - share) / games + z2 / (4 * games)) / (1 + z2)
    return max(0.0, middle - half) if share > 0 else 0.0, min(1.0, middle + half) if share < 1 else 1.0


@dataclass(frozen=True)
class Standing:
    """How a player did, in all seats or in one.

    Attributes:
        player: its name.
        seat: the seat, or None for all.
        games: games played.
        share: share of games won.
        low: lower end of the 95 % interval of that share.
        high: upper end.
        score: mean points.
        place: mean place, 1 is first.
    """

    player: str
    seat: int | None
    games: int
    share: float
    low: float
    high: float
    score: float
    place: float


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

        The interval of the share of games won is Wilson's. Games of a block are dealt the same deck, so they are no
        independent games: the number of games that goes into it is lowered to that of independent games whose mean
        would vary as the blocks' means do (never raised).

        Args:
            player: its number.
            seat: only games in this seat; None: all.
        """
        chosen = self.seating == player
        if seat is not None:
            chosen[:, np.arange(chosen.shape[1]) != seat] = False
        won = (self.places == 0)[chosen].astype(np.float64)
        share = float(won.mean())
        worth = float(len(won))
        if seat is None:
            blocks = won.reshape(-1, chosen.shape[1]).mean(axis=1)
            worth = min(worth, _independent(share, blocks))
        low, high = wilson(share, worth)
        return Standing(
            self.players[player],
            seat,
            len(won),
            share,
            low,
            high,
            score=float(self.scores[chosen].mean()),
            place=float(self.places[chosen].mean()) + 1,
        )

    def standings(self) -> list[Standing]:
        """Return how every player did in all seats, and then in each."""
        seats: list[int | None] = [None, *range(self.config.num_players)]
        return [self.standing(player, seat) for player in range(len(self.players)) for seat in seats]


def _independent(share: float, blocks: npt.NDArray[np.float64]) -> float:
    """How many independent games have a mean that varies as much as that of these blocks."""
    if len(blocks) < 2 or not 0 < share < 1:
        return float(len(blocks))
    variance = float(blocks.var(ddof=1)) / len(blocks)
    return share * (1 - share) / variance if variance > 0 else math.inf


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
    if isinstance(games, bool) or not isinstance(games, int) or games < 1:
        raise ValueError(f"games: found {games!r}, expected a whole number of at least 1")
    if batch < 1:
        raise ValueError(f"batch: found {batch!r}, expected a whole number of at least 1")
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
    n = len(games)
    decks = first_words(seed, games // seats, _DECKS) >> np.uint64(11)  # 53 bits: every reader of JSON keeps them
    seating = (np.arange(seats) + games[:, None]) % seats
    streams = [first_words(seed, games, player) for player in range(seats)]
    scores, places = np.zeros((n, seats), np.int16), np.zeros((n, seats), np.int8)
    rounds, lengths = np.zeros(n, np.int16), np.zeros(n, np.int64)
    env = HelsinkiVectorEnv(n, config=config, copy=False)
    obs, info = env.reset(seed=decks.tolist())
    round_at = layout(config.loaded.types)["table"].start + TABLE_FACTS.index("round")
    playing = np.ones(n, np.bool_)
    taken: list[npt.NDArray[np.int16]] = []
    while playing.any():
        observation, mask = obs["observation"], obs["action_mask"]
        deciding = seating[np.arange(n), info["seat"]]
        # Games that have ended go on beside the others as new ones; whatever is legal will do there.
        actions = np.zeros(n, np.int64) if playing.all() else mask.argmax(axis=1)
        for number, player in enumerate(players):
            rows = np.flatnonzero(playing & (deciding == number))
            if len(rows):
                chosen = player.act(observation[rows], mask[rows], next_words(streams[number], rows))
                actions[rows] = _checked(player, chosen, mask, rows)
        taken.append(actions.astype(np.int16))
        obs, _, ended, _, info = env.step(actions)
        now = np.flatnonzero(ended & playing)
        if len(now):
            scores[now], places[now] = info["scores"][now], info["places"][now]
            rounds[now], lengths[now] = obs["observation"][now, round_at], len(taken)
            playing[now] = False
            if progress is not None:
                progress(len(now))
    env.close()
    by_game = np.ascontiguousarray(np.stack(taken).T)
    return Results(
        config=config,
        players=_named(players),
        seating=seating,
        seeds=decks,
        scores=scores,
        places=places,
        rounds=rounds,
        decisions=tuple(by_game[g, : lengths[g]].copy() for g in range(n)),
    )


def _checked(player: Player, chosen: Any, mask: npt.NDArray[np.int8], rows: npt.NDArray[np.int64]) -> Any:
    """Return what a player returned if it is one legal decision for each row."""
    chosen = np.asarray(chosen)
    if chosen.shape != rows.shape or not np.issubdtype(chosen.dtype, np.integer):
        raise PlayerError(
            f"player {player.name!r}: act returned {chosen.dtype} of shape {chosen.shape}, expected whole numbers "
            f"of shape {rows.shape}"
        )
    inside = (chosen >= 0) & (chosen < mask.shape[1])
    legal = inside & (mask[rows, np.where(inside, chosen, 0)] > 0)
    if not legal.all():
        wrong = int(np.flatnonzero(~legal)[0])
        legal_ids = np.flatnonzero(mask[rows[wrong]]).tolist()
        raise IllegalActionError(
            f"player {player.name!r}: took decision {chosen[wrong]}, which is not legal; legal: {legal_ids}"
        )
    return chosen

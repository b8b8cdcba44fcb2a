"""The batched game loop shared by matches and tournaments.

A game depends only on its own seating, deal and random streams, so games can be batched in any way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import (
    Histories,
    Int8Array,
    KeyArray,
    Player,
    call_player,
    checked_actions,
    converted_player_errors,
    init_streams,
    next_keys,
)
from helsinki_env.engine.arrays import UINT64, integer_array
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States
from helsinki_env.envs.vector import GameVectorEnv

#: Stream number for deal seeds, distinct from the players' streams.
_DEALS = 2**32
#: Bit set with all actions that can be disabled.
_MAX_DISABLED = 2**15 - 1
#: Initial capacity in actions per game, sufficient for most games.
_STEPS = 256


@dataclass(frozen=True)
class SeatedGames:
    """G games with S seats. Row g of every array belongs to game g.

    Attributes:
        players: unique player names.
        seating: index into `players` of the player in each seat, int64 (G, S). A player may take several seats.
        places: rank of each seat (0 is first), int8 (G, S).
        scores: points of each seat, int16 (G, S).
    """

    players: tuple[str, ...]
    seating: npt.NDArray[np.int64]
    places: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int16]

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.seating)


class Stopped(Exception):  # noqa: N818  # nothing went wrong
    """Raised if the caller stops the games before they end."""


@dataclass(frozen=True)
class DisabledActions:
    """Disabled actions or abilities in G games with S seats, as bit sets (bit i for number i)."""

    covered: npt.NDArray[np.int16]  # disabled for all seats of a game, (G,)
    denied: npt.NDArray[np.int16]  # disabled for each seat, (G, S)


@dataclass(frozen=True)
class GameResults:
    """The results of G games with S seats, which are reproducible."""

    scores: npt.NDArray[np.int16]  # points of each seat, (G, S)
    places: npt.NDArray[np.int8]  # rank of each seat (0 is first), (G, S)
    rounds: npt.NDArray[np.int16]  # number of rounds, (G,)
    used: npt.NDArray[np.int16]  # actions or abilities that each seat used, (G, S), bit i for number i
    seat_decisions: npt.NDArray[np.int16]  # number of actions taken by each seat, (G, S)
    decisions: tuple[npt.NDArray[np.int16], ...]  # action ids of each game, in order


@dataclass(frozen=True)
class TimedGameResults(GameResults):
    """The results of games between P players, including timings."""

    seconds: npt.NDArray[np.float64]  # thinking time of each player, (P,); not reproducible
    action_counts: npt.NDArray[np.int64]  # number of actions taken by each player, (P,)


def deal_seeds(seed: int, deals: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Return the seeds of deals, uint64 (B,). They have 53 bits, which every JSON reader preserves."""
    return init_streams(seed, deals, _DEALS) >> np.uint64(11)


def query_player(
    player: Player, observation: Int8Array, mask: Int8Array, keys: KeyArray, histories: Histories = None
) -> npt.NDArray[np.integer]:
    """Return a player's actions, one per row; raise PlayerError if it fails or returns anything else."""
    with converted_player_errors(player.name, "does not decide"):
        return checked_actions(player.name, call_player(player, observation, mask, keys, histories), len(keys))


def play_games(
    players: Sequence[Player],
    config: Any,
    seating: npt.NDArray[np.int64],
    seeds: npt.NDArray[np.uint64],
    streams: npt.NDArray[np.uint64],
    on_games_end: Callable[[npt.NDArray[np.int64], TimedGameResults], None] | None = None,
    disabled: DisabledActions | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TimedGameResults:
    """Play a batch of games to the end.

    Args:
        players: players of the games.
        config: the game configuration.
        seating: index into `players` of the player in each seat, int64 (G, S). A player may take several seats.
        seeds: seed of each deal, uint64 (G,), as for `HelsinkiGame`.
        streams: initial random stream of the player in each seat, uint64 (G, S), from `init_streams`.
        on_games_end: function called with the indices of games that have just ended, int64 (k,), and their results.
        disabled: actions disabled in each game. By default, those disabled in the configuration.
        should_stop: function called before each step; the games stop if it returns True.

    Raises:
        ArrayError: if an array is invalid.
        PlayerError: if a player fails.
        IllegalActionError: if a player takes an illegal action.
        Stopped: if `should_stop` returns True.
    """
    seating = integer_array("seating", seating, (None, config.num_players), 0, len(players) - 1)
    n, seats = seating.shape
    seeds = integer_array("seeds", seeds, (n,), 0, 2**64 - 1, UINT64)
    streams = integer_array("streams", streams, (n, seats), 0, 2**64 - 1, UINT64)
    env = GameVectorEnv(n, config, copy=False)
    options = {} if disabled is None else {"setup": _setup(config, disabled, n)}
    obs, info = env.reset(seed=seeds.tolist(), options=options)
    batch = _Batch(players, config, seating, streams, _histories(players, env))
    while batch.playing.any():
        if should_stop is not None and should_stop():
            raise Stopped
        actions = batch.choose_actions(obs["observation"], obs["action_mask"], info["seat"])
        obs, _, over, _, info = env.step(actions)
        ended = np.flatnonzero(over & batch.playing)
        if len(ended):
            batch.end_games(ended, obs["observation"][ended], info)
            if on_games_end is not None:
                on_games_end(ended, batch.result(ended))
    env.close()
    return batch.result(np.arange(n))


class _Batch:
    """A batch of games in progress, with their actions and results. Arguments are the same as for `play_games`."""

    def __init__(
        self,
        players: Sequence[Player],
        config: Any,
        seating: npt.NDArray[np.int64],
        streams: npt.NDArray[np.uint64],
        histories: list[Any],
    ) -> None:
        n, seats = seating.shape
        self._players, self._config, self._seating, self._histories = players, config, seating, histories
        self._key_streams = streams.reshape(-1).copy()
        self._every = np.arange(n)
        self.playing = np.ones(n, np.bool_)
        #: The columns of `GameResults`, except for the actions.
        self._columns: dict[str, npt.NDArray[Any]] = {
            "scores": np.zeros((n, seats), np.int16),
            "places": np.zeros((n, seats), np.int8),
            "rounds": np.zeros(n, np.int16),
            "used": np.zeros((n, seats), np.int16),
            "seat_decisions": np.zeros((n, seats), np.int16),
        }
        self._decisions = [np.zeros(0, np.int16)] * n
        #: Actions of all games by step. The capacity is doubled when needed.
        self._taken, self._steps = np.zeros((_STEPS, n), np.int16), 0
        self._seconds, self._action_counts = np.zeros(len(players)), np.zeros(len(players), np.int64)

    def choose_actions(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], seat: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Query the player in the acting seat of each game, save the actions, and return them."""
        seats, acting = self._seating.shape[1], self._seating[self._every, seat]
        # The environment restarts ended games. Any legal action will do for them.
        actions = np.zeros(len(mask), np.int64) if self.playing.all() else mask.argmax(axis=1)
        for number, player in enumerate(self._players):
            rows = np.flatnonzero(self.playing & (acting == number))
            if len(rows):
                begin = perf_counter()
                keys = next_keys(self._key_streams, rows * seats + seat[rows])
                seen = [self._histories[g].lines(int(seat[g])) for g in rows.tolist()] if self._histories else None
                chosen = query_player(player, observation[rows], mask[rows], keys, seen)
                self._seconds[number] += perf_counter() - begin
                self._action_counts[number] += len(rows)
                actions[rows] = check_legal(player, chosen, mask, rows)
        self._save_actions(actions, seat)
        return actions

    def _save_actions(self, actions: npt.NDArray[np.int64], seat: npt.NDArray[np.int64]) -> None:
        self._columns["seat_decisions"][self._every, seat] += self.playing
        if self._steps == len(self._taken):
            self._taken = np.concatenate([self._taken, np.zeros_like(self._taken)])
        self._taken[self._steps] = actions
        self._steps += 1
        for g in np.flatnonzero(self.playing).tolist() if self._histories else ():
            self._histories[g].step(int(actions[g]))

    def end_games(self, games: npt.NDArray[np.int64], final: npt.NDArray[np.int8], info: dict[str, Any]) -> None:
        """Save the results of games that have just ended, given their final observations, int8 (k, F)."""
        for name in ("scores", "places", "rounds"):
            self._columns[name][games] = info[name][games]
        if (used := spec_of(self._config).used) is not None:
            self._columns["used"][games] = used(self._config, final, info["seat"][games])
        for g in games.tolist():
            self._decisions[g] = self._taken[: self._steps, g].copy()
        self.playing[games] = False

    def result(self, games: npt.NDArray[np.int64]) -> TimedGameResults:
        """Return the results of the games with the given indices."""
        return TimedGameResults(
            **{name: values[games] for name, values in self._columns.items()},
            decisions=tuple(self._decisions[g] for g in games.tolist()),
            seconds=self._seconds.copy(),
            action_counts=self._action_counts.copy(),
        )


def _histories(players: Sequence[Player], env: GameVectorEnv) -> list[Any]:
    """Return the history of each game (`helsinki_env.text.GameHistory`), or an empty list if no player uses it."""
    wanted = False
    for player in players:
        with converted_player_errors(player.name, "does not decide"):
            wanted |= bool(getattr(player, "wants_history", False))
    if not wanted:
        return []
    from helsinki_env.text import GameHistory  # not every game has a text interface

    return [GameHistory(env.game(g)) for g in range(env.num_envs)]


def _setup(config: Any, disabled: DisabledActions, games: int) -> States:
    """Return the setup of each game as an array (games,)."""
    spec = spec_of(config)
    setup = spec.new_states(config, games)
    spec.apply_setup(setup, config)
    if "denied" in spec.setup_fields:
        shape = games, config.num_players
        setup["denied"][:, : config.num_players] = integer_array("denied", disabled.denied, shape, 0, _MAX_DISABLED)
    if "covered" in spec.setup_fields:
        setup["covered"] = integer_array("covered", disabled.covered, (games,), 0, _MAX_DISABLED)
    return setup


def check_legal(player: Player, chosen: Any, mask: npt.NDArray[np.int8], rows: npt.NDArray[np.int64]) -> Any:
    """Return a player's actions in the given rows of the masks; raise IllegalActionError if one is illegal."""
    inside = (chosen >= 0) & (chosen < mask.shape[1])
    legal = inside & (mask[rows, np.where(inside, chosen, 0)] > 0)
    if not legal.all():
        wrong = int(np.flatnonzero(~legal)[0])
        legal_ids = np.flatnonzero(mask[rows[wrong]]).tolist()
        raise IllegalActionError(
            f"player {player.name!r}: found the illegal action {chosen[wrong]}, expected one of {legal_ids}"
        )
    return chosen

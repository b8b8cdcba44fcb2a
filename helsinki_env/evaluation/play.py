"""The batched game loop that matches and tournaments share.

Each game has its own seating, deal and random streams. It does not depend on the other games of a batch, so batches may
be split and joined freely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Player, checked_actions, converted_player_errors, init_streams, next_keys
from helsinki_env.engine.arrays import UINT64, integer_array
from helsinki_env.engine.game import IllegalActionError
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States
from helsinki_env.envs.vector import GameVectorEnv

__all__ = ["DisabledActions", "GameResults", "Stopped", "TimedGameResults", "deal_seeds", "play_games"]

#: Stream number of the deal seeds, distinct from the players' streams.
_DECKS = 2**32
#: The bit set of everything that can be disabled.
_MOST_BARRED = 2**15 - 1
#: Initial capacity in actions per game; most games take fewer.
_STEPS = 256


class Stopped(Exception):  # noqa: N818  # nothing went wrong
    """Games were abandoned because the caller asked to stop."""


@dataclass(frozen=True)
class DisabledActions:
    """Disabled actions or abilities in G games with S seats; bit i is action or ability i.

    Attributes:
        covered: disabled for all seats, int16 (G,); zero in games without any.
        denied: disabled for each seat, int16 (G, S).
    """

    covered: npt.NDArray[np.int16]
    denied: npt.NDArray[np.int16]


@dataclass(frozen=True)
class GameResults:
    """The reproducible results of G games with S seats.

    Attributes:
        scores: points by seat, int16 (G, S).
        places: rank by seat, 0 is first, int8 (G, S).
        rounds: rounds played, int16 (G,).
        used: bit set of what each seat had used at the end, int16 (G, S), bit i for number i.
        seat_decisions: number of actions that each seat took, int16 (G, S).
        decisions: action ids in order, int16, for each game.
    """

    scores: npt.NDArray[np.int16]
    places: npt.NDArray[np.int8]
    rounds: npt.NDArray[np.int16]
    used: npt.NDArray[np.int16]
    seat_decisions: npt.NDArray[np.int16]
    decisions: tuple[npt.NDArray[np.int16], ...]


@dataclass(frozen=True)
class TimedGameResults(GameResults):
    """The results of games between P players, with timings.

    Attributes:
        seconds: time that each player took for its actions, float64 (P,); the only value that is not reproducible.
        action_counts: number of actions that each player took, int64 (P,).
    """

    seconds: npt.NDArray[np.float64]
    action_counts: npt.NDArray[np.int64]


def deal_seeds(seed: int, decks: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Return the seeds of some deals of a match, uint64 (B,): 53 bits, which every JSON reader preserves.

    Args:
        seed: seed of the match.
        decks: deal numbers, (B,).
    """
    return init_streams(seed, decks, _DECKS) >> np.uint64(11)


def play_games(
    players: Sequence[Player],
    config: Any,
    seating: npt.NDArray[np.int64],
    decks: npt.NDArray[np.uint64],
    streams: npt.NDArray[np.uint64],
    on_games_end: Callable[[npt.NDArray[np.int64], TimedGameResults], None] | None = None,
    disabled: DisabledActions | None = None,
    should_stop: Callable[[], bool] | None = None,
) -> TimedGameResults:
    """Play a batch of games, each to its end.

    Args:
        players: the players.
        config: the game configuration.
        seating: the player in each seat, int64 (G, S), indices into `players`; a player may sit in several seats.
        decks: the seed of each game, uint64 (G,), as for `HelsinkiGame`.
        streams: initial random streams of each seat's player, uint64 (G, S), from `init_streams`.
        on_games_end: called with the indices of the games that ended since the last call, int64 (k,), and their
            results; the times are those of all games so far.
        disabled: actions disabled in each game; default: those of the configuration.
        should_stop: polled before each step; returns True to abandon the games.

    Raises:
        Stopped: if `should_stop` returns True.
        ArrayError: (a ValueError) for arrays with a wrong shape, dtype or range.
        PlayerError: if a player raises an error, or does not return one integer for each row.
        IllegalActionError: if a player takes an illegal action; names the player.
    """
    seating = integer_array("seating", seating, (None, config.num_players), 0, len(players) - 1)
    n, seats = seating.shape
    decks = integer_array("decks", decks, (n,), 0, 2**64 - 1, UINT64)
    streams = integer_array("streams", streams, (n, seats), 0, 2**64 - 1, UINT64)
    every = np.arange(n)
    words = streams.reshape(-1).copy()
    scores, places = np.zeros((n, seats), np.int16), np.zeros((n, seats), np.int8)
    used, seat_decisions = np.zeros((n, seats), np.int16), np.zeros((n, seats), np.int16)
    rounds = np.zeros(n, np.int16)
    decisions = [np.zeros(0, np.int16)] * n
    seconds, asked = np.zeros(len(players)), np.zeros(len(players), np.int64)

    def result(games: npt.NDArray[np.int64]) -> TimedGameResults:
        return TimedGameResults(
            scores=scores[games],
            places=places[games],
            rounds=rounds[games],
            used=used[games],
            seat_decisions=seat_decisions[games],
            decisions=tuple(decisions[g] for g in games.tolist()),
            seconds=seconds.copy(),
            action_counts=asked.copy(),
        )

    spec = spec_of(config)
    env = GameVectorEnv(n, config, copy=False)
    options = {} if disabled is None else {"setup": _setup(config, disabled, n)}
    obs, info = env.reset(seed=decks.tolist(), options=options)
    playing = np.ones(n, np.bool_)
    taken, steps = np.zeros((_STEPS, n), np.int16), 0
    while playing.any():
        if should_stop is not None and should_stop():
            raise Stopped
        observation, mask, seat = obs["observation"], obs["action_mask"], info["seat"]
        deciding = seating[every, seat]
        # Games that have ended restart in the environment; any legal action will do there.
        actions = np.zeros(n, np.int64) if playing.all() else mask.argmax(axis=1)
        for number, player in enumerate(players):
            rows = np.flatnonzero(playing & (deciding == number))
            if len(rows):
                begin = perf_counter()
                drawn = next_keys(words, rows * seats + seat[rows])
                with converted_player_errors(player.name, "does not decide"):
                    chosen = player.act(observation[rows], mask[rows], drawn)
                seconds[number] += perf_counter() - begin
                asked[number] += len(rows)
                actions[rows] = _checked(player, chosen, mask, rows)
        seat_decisions[every, seat] += playing
        if steps == len(taken):
            taken = np.concatenate([taken, np.zeros_like(taken)])
        taken[steps] = actions
        steps += 1
        obs, _, over, _, info = env.step(actions)
        now = np.flatnonzero(over & playing)
        if len(now):
            final = obs["observation"][now]
            scores[now], places[now] = info["scores"][now], info["places"][now]
            rounds[now] = info["rounds"][now]
            if spec.used is not None:
                used[now] = spec.used(config, final, info["seat"][now])
            for g in now.tolist():
                decisions[g] = taken[:steps, g].copy()
            playing[now] = False
            if on_games_end is not None:
                on_games_end(now, result(now))
    env.close()
    return result(every)


def _setup(config: Any, barred: DisabledActions, games: int) -> States:
    """Return the setup of each game, (games,)."""
    spec = spec_of(config)
    setup = spec.new_states(config, games)
    spec.apply_setup(setup, config)
    if "denied" in spec.setup_fields:
        shape = games, config.num_players
        setup["denied"][:, : config.num_players] = integer_array("denied", barred.denied, shape, 0, _MOST_BARRED)
    if "covered" in spec.setup_fields:
        setup["covered"] = integer_array("covered", barred.covered, (games,), 0, _MOST_BARRED)
    return setup


def _checked(player: Player, chosen: Any, mask: npt.NDArray[np.int8], rows: npt.NDArray[np.int64]) -> Any:
    """Return a player's result if it has one legal action for each row."""
    with converted_player_errors(player.name, "does not decide"):
        chosen = checked_actions(player.name, chosen, len(rows))
    inside = (chosen >= 0) & (chosen < mask.shape[1])
    legal = inside & (mask[rows, np.where(inside, chosen, 0)] > 0)
    if not legal.all():
        wrong = int(np.flatnonzero(~legal)[0])
        legal_ids = np.flatnonzero(mask[rows[wrong]]).tolist()
        raise IllegalActionError(
            f"player {player.name!r}: took decision {chosen[wrong]}, which is not legal; legal: {legal_ids}"
        )
    return chosen

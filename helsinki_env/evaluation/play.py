"""The batched game loop that matches and tournaments share.

A game depends only on its own seating, deal and random streams, so batches may be split and joined freely.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import (
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

#: Stream number of the deal seeds, distinct from the players' streams.
_DECKS = 2**32
#: Bit set of all actions that can be disabled.
_MAX_DISABLED = 2**15 - 1
#: Initial capacity in actions per game; most games take fewer.
_STEPS = 256


class Stopped(Exception):  # noqa: N818  # nothing went wrong
    """Games were abandoned because the caller asked to stop."""


@dataclass(frozen=True)
class DisabledActions:
    """Disabled actions or abilities in G games with S seats; bit i is action or ability i."""

    covered: npt.NDArray[np.int16]  # disabled for all seats, (G,)
    denied: npt.NDArray[np.int16]  # disabled for each seat, (G, S)


@dataclass(frozen=True)
class GameResults:
    """The reproducible results of G games with S seats."""

    scores: npt.NDArray[np.int16]  # points by seat, (G, S)
    places: npt.NDArray[np.int8]  # rank by seat, 0 is first, (G, S)
    rounds: npt.NDArray[np.int16]  # (G,)
    used: npt.NDArray[np.int16]  # what each seat had used at the end, (G, S); bit i is action or ability i
    seat_decisions: npt.NDArray[np.int16]  # number of actions that each seat took, (G, S)
    decisions: tuple[npt.NDArray[np.int16], ...]  # action ids of each game, in order


@dataclass(frozen=True)
class TimedGameResults(GameResults):
    """The results of games between P players, with timings."""

    seconds: npt.NDArray[np.float64]  # time that each player took, (P,); not reproducible
    action_counts: npt.NDArray[np.int64]  # number of actions that each player took, (P,)


def deal_seeds(seed: int, decks: npt.ArrayLike) -> npt.NDArray[np.uint64]:
    """Return the seeds of some deals of a match, uint64 (B,): 53 bits, which every JSON reader preserves."""
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
    """Play a batch of games to the end; raise Stopped once `should_stop` returns True.

    Args:
        players: the players.
        config: the game configuration.
        seating: the player in each seat, int64 (G, S), indices into `players`; a player may sit in several seats.
        decks: seed of each game, uint64 (G,), as for `HelsinkiGame`.
        streams: initial random streams of each seat's player, uint64 (G, S), from `init_streams`.
        on_games_end: called with the indices of the games that just ended, int64 (k,), and their results.
        disabled: actions disabled in each game; default: those of the configuration.
        should_stop: polled before each step.

    Raises:
        ArrayError: for arrays with a wrong shape, dtype or range.
        PlayerError: if a player raises an error, or does not return one integer for each row.
        IllegalActionError: if a player takes an illegal action; names the player.
    """
    seating = integer_array("seating", seating, (None, config.num_players), 0, len(players) - 1)
    n, seats = seating.shape
    decks = integer_array("decks", decks, (n,), 0, 2**64 - 1, UINT64)
    streams = integer_array("streams", streams, (n, seats), 0, 2**64 - 1, UINT64)
    every = np.arange(n)
    key_streams = streams.reshape(-1).copy()
    scores, places = np.zeros((n, seats), np.int16), np.zeros((n, seats), np.int8)
    used, seat_decisions = np.zeros((n, seats), np.int16), np.zeros((n, seats), np.int16)
    rounds = np.zeros(n, np.int16)
    decisions = [np.zeros(0, np.int16)] * n
    seconds, action_counts = np.zeros(len(players)), np.zeros(len(players), np.int64)

    def result(games: npt.NDArray[np.int64]) -> TimedGameResults:
        return TimedGameResults(
            scores=scores[games],
            places=places[games],
            rounds=rounds[games],
            used=used[games],
            seat_decisions=seat_decisions[games],
            decisions=tuple(decisions[g] for g in games.tolist()),
            seconds=seconds.copy(),
            action_counts=action_counts.copy(),
        )

    spec = spec_of(config)
    env = GameVectorEnv(n, config, copy=False)
    options = {} if disabled is None else {"setup": _setup(config, disabled, n)}
    obs, info = env.reset(seed=decks.tolist(), options=options)
    playing = np.ones(n, np.bool_)
    histories = _histories(players, env)
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
                keys = next_keys(key_streams, rows * seats + seat[rows])
                with converted_player_errors(player.name, "does not decide"):
                    seen = histories and [histories[g].lines(int(seat[g])) for g in rows.tolist()]
                    chosen = call_player(player, observation[rows], mask[rows], keys, seen or None)
                seconds[number] += perf_counter() - begin
                action_counts[number] += len(rows)
                actions[rows] = _checked(player, chosen, mask, rows)
        seat_decisions[every, seat] += playing
        if steps == len(taken):
            taken = np.concatenate([taken, np.zeros_like(taken)])
        taken[steps] = actions
        steps += 1
        for g in np.flatnonzero(playing).tolist() if histories else ():
            histories[g].step(int(actions[g]))
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


def _histories(players: Sequence[Player], env: GameVectorEnv) -> list[Any]:
    """Return the history of each game (`helsinki_env.text.GameHistory`); empty if no player uses it."""
    wanted = False
    for player in players:
        with converted_player_errors(player.name, "does not decide"):
            wanted |= bool(getattr(player, "wants_history", False))
    if not wanted:
        return []
    from helsinki_env.text import GameHistory  # other games may have no text

    return [GameHistory(env.game(g)) for g in range(env.num_envs)]


def _setup(config: Any, disabled: DisabledActions, games: int) -> States:
    """Return the setup of each game, (games,)."""
    spec = spec_of(config)
    setup = spec.new_states(config, games)
    spec.apply_setup(setup, config)
    if "denied" in spec.setup_fields:
        shape = games, config.num_players
        setup["denied"][:, : config.num_players] = integer_array("denied", disabled.denied, shape, 0, _MAX_DISABLED)
    if "covered" in spec.setup_fields:
        setup["covered"] = integer_array("covered", disabled.covered, (games,), 0, _MAX_DISABLED)
    return setup


def _checked(player: Player, chosen: Any, mask: npt.NDArray[np.int8], rows: npt.NDArray[np.int64]) -> Any:
    """Return a player's actions; raise if they are not one legal action for each row."""
    with converted_player_errors(player.name, "does not decide"):
        chosen = checked_actions(player.name, chosen, len(rows))
    inside = (chosen >= 0) & (chosen < mask.shape[1])
    legal = inside & (mask[rows, np.where(inside, chosen, 0)] > 0)
    if not legal.all():
        wrong = int(np.flatnonzero(~legal)[0])
        legal_ids = np.flatnonzero(mask[rows[wrong]]).tolist()
        raise IllegalActionError(
            f"player {player.name!r}: found the illegal action {chosen[wrong]}, expected one of {legal_ids}"
        )
    return chosen

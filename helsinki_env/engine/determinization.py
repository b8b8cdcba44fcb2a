"""Determinization for search: reconstruct game states from observations, and sample the hidden cards.

A search player needs game states in which it can simulate actions. It derives them only from its own observation, so
that no hidden card can leak. `states_from_observations` fills records from observations. `determinize_batch` samples
hidden cards that are consistent with the rules and the observation. `determinize_observation` does both.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, seed_to_uint64, short_repr
from helsinki_env.engine import loops
from helsinki_env.engine.arrays import key_array, seat_array, writable_array
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.limits import check_ranges
from helsinki_env.engine.observation_table import ObservationTable
from helsinki_env.engine.playout import random_keys
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States, repeat_state

__all__ = [
    "DeterminizationError",
    "ObservationError",
    "determinize",
    "determinize_batch",
    "determinize_observation",
    "sample_determinizations",
    "states_from_observations",
]


G = TypeVar("G", bound=BoardGame)


class DeterminizationError(RuntimeError):
    """Raised if no deal is consistent with the known information, so the position is unreachable."""


class ObservationError(UserError):
    """Raised for invalid observations. The message names the row, the field, the value found and the expected value."""


def states_from_observations(config: Any, observations: Any) -> States:
    """Return a record for each observation, (B,), with placeholders for hidden cards.

    Args:
        config: a configuration with the same component file. Other options are read from the observations.
        observations: observations of the acting seats of games in progress, int8 (B, F).

    Raises:
        ObservationError: if an observation is invalid.
    """
    spec = spec_of(config)
    if spec.states_from_observations is not None:
        return spec.states_from_observations(config, observations)
    observations = observation_rows(observations, spec.observation_size(config))
    states = spec.new_states(config, len(observations))
    b, fault = loops.batch_reconstruct(config.tables[0], observations, states)
    if b >= 0:
        raise ObservationError(f"observations[{b}]: found error {fault}, expected an observation of {spec.name}")
    return states


def observation_rows(observations: Any, size: int) -> npt.NDArray[np.int8]:
    """Return observations of length `size` as a contiguous array, int8 (B, F). Raise ObservationError if invalid."""
    try:
        rows = np.asarray(observations)
    except (ValueError, TypeError, OverflowError):
        raise ObservationError(
            f"observations: found {short_repr(observations)}, expected int8 of shape (B, {size})"
        ) from None
    if rows.dtype != np.int8 or rows.ndim != 2 or rows.shape[1] != size:
        raise ObservationError(
            f"observations: found {rows.dtype} of shape {rows.shape}, expected int8 of shape (B, {size}); from games "
            "with other components?"
        )
    return np.require(rows, requirements=["C", "A", "W"])  # Numba compiles kernels for each array layout


def valid_observations(table: ObservationTable, observations: Any, bounds: Any, writer: str) -> npt.NDArray[np.int8]:
    """Return observations as a contiguous array, int8 (B, F), after checking that every entry is in range.

    Args:
        table: sections of the observation, which include `phase`, and `table` with `players` and `turn_order`.
        observations: the observations.
        bounds: component bounds of the game.
        writer: name of the function that writes observations, for error messages.

    Raises:
        ObservationError: if an entry is invalid. The message names the row, the entry, its value and its range.
    """
    observations = observation_rows(observations, table.layout.size)
    facts, start = table.entry_names("table"), table.layout["table"].start
    players, seats = (observations[:, start + facts.index(name)] for name in ("players", "turn_order"))
    wrong = (observations[:, table.layout["phase"].slice] != 0).sum(axis=1) != 1
    wrong |= (players < 2) | (players > MAX_SEATS)
    if wrong.any():
        where = f"observations[{int(wrong.argmax())}]"
        raise ObservationError(f"{where}: found no phase or no players, expected an observation from {writer}")
    highs = table.highs(bounds)
    outside = observations.view(np.uint8) > highs  # negative values become larger than 127
    if outside.any():
        b, at = (int(i) for i in np.argwhere(outside)[0])
        found = f"{table.entry_name(at)}: found {observations[b, at]}"
        raise ObservationError(f"observations[{b}]: {found}, expected 0 to {highs[at]}")
    absent = seats >= players
    if absent.any():
        b = int(absent.argmax())
        found = f"table[{facts.index('turn_order')}]: found {seats[b]}"
        raise ObservationError(f"observations[{b}]: {found}, expected 0 to {players[b] - 1}")
    return observations


def reconstruct_states(
    table: ObservationTable, t: Any, observations: npt.NDArray[np.int8], states: States, faults: Sequence[str]
) -> States:
    """Fill records from valid observations, and check that they are observed in the same way.

    Args:
        table: sections of the observation.
        t: tables of the rules.
        observations: result of `valid_observations`.
        states: blank records, (B,), which are filled and returned.
        faults: error messages, which `reconstruct_state` numbers from 0.

    Raises:
        ObservationError: if the entries of an observation contradict each other.
    """
    b, fault = loops.batch_reconstruct(t, observations, states)
    if b >= 0:
        raise ObservationError(f"observations[{b}]: {faults[fault]}")
    seen = np.empty_like(observations)
    loops.batch_observe(t, states, states["seat"].astype(np.int64), seen)
    if (seen != observations).any():
        b, at = (int(i) for i in np.argwhere(seen != observations)[0])
        found = f"{table.entry_name(at)}: found {observations[b, at]}"
        raise ObservationError(f"observations[{b}]: {found}, expected {seen[b, at]} according to the other entries")
    return states


def determinize_batch(
    config: Any, states: States, viewers: npt.NDArray[np.int64], keys: npt.NDArray[np.uint64]
) -> None:
    """Sample the hidden cards of a batch of records in place.

    Args:
        config: a configuration with the same component file.
        states: game records, (B,), whose hidden cards are overwritten.
        viewers: observing seat of each game, integers (B,).
        keys: independent random key for each game, uint64 (B,). The same key gives the same deal.

    Raises:
        ValueError: if an array or a seat is invalid. Nothing is changed in that case.
        DeterminizationError: if a position is unreachable.
    """
    dtype = spec_of(config).new_states(config, 0).dtype
    games = writable_array("states", states, dtype, None)
    check_ranges(games, config.tables[0])
    seats = seat_array("viewers", viewers, games)
    _determinize_valid(config, games, seats, key_array("keys", keys, len(games)))
    if games is not states:
        states[...] = games


def _determinize_valid(
    config: Any, states: States, viewers: npt.NDArray[np.int64], keys: npt.NDArray[np.uint64]
) -> None:
    """Run `determinize_batch` with validated arrays."""
    mask = np.zeros(spec_of(config).num_actions(config), np.int8)
    b = loops.batch_determinize(config.tables[0], states, viewers, keys, new_scratch(config)[0], mask)
    if b >= 0:
        raise DeterminizationError(
            f"game {b}: found no deal that fits the observation of seat {viewers[b]}, expected a reachable position"
        )


def new_scratch(config: Any) -> npt.NDArray[Any]:
    """Return an array of one scratch record for `contract.determinize_state`."""
    scratch = spec_of(config).scratch
    return np.zeros(1, np.dtype((np.record, [("unused", np.int8)])) if scratch is None else scratch)


def sample_determinizations(game: BoardGame, count: int, viewer: int | None = None, seed: int | None = None) -> States:
    """Return `count` independent determinizations of a game, records (count,).

    Args:
        game: the game, which is not changed.
        count: number of determinizations.
        viewer: the observing seat. The default is the acting seat.
        seed: any integer >= 0, or None for a random seed. A larger count continues the same sequence of deals.

    Raises:
        ValueError: if the seat, the count or the seed is invalid.
        DeterminizationError: if the position is unreachable.
    """
    keys = random_keys(count, int(seed_to_uint64(seed)))
    states = repeat_state(game._states, len(keys))
    seat = game.seat if viewer is None else game.validate_seat(viewer)
    _determinize_valid(game.config, states, np.full(len(keys), seat, np.int64), keys)
    return states


def determinize(game: G, viewer: int | None = None, seed: int | None = None) -> G:
    """Return a copy of a game with new hidden cards. Arguments and errors are as for `sample_determinizations`."""
    return type(game)._from_valid_state(game.config, sample_determinizations(game, 1, viewer, seed)[0])


def determinize_observation(
    config: Any, observation: npt.NDArray[np.int8], count: int, seed: int | None = None
) -> States:
    """Return `count` independent determinizations of an observation, records (count,).

    Args:
        config: a configuration with the same component file, as for `states_from_observations`.
        observation: observation of the acting seat, int8 (F,).
        count: number of determinizations.
        seed: any integer >= 0, or None for a random seed. A larger count continues the same sequence of deals.

    Raises:
        ObservationError: if the observation is invalid.
        ValueError: if the count or the seed is invalid.
        DeterminizationError: if the position is unreachable.
    """
    keys = random_keys(count, int(seed_to_uint64(seed)))
    rows = observation[None] if isinstance(observation, np.ndarray) else [observation]
    states = repeat_state(states_from_observations(config, rows), len(keys))
    _determinize_valid(config, states, states["seat"].astype(np.int64), keys)
    return states

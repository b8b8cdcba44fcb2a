"""What a seat cannot see: games made up again from observations, and hidden cards dealt anew, for search.

A player that thinks ahead needs games to try its decisions in. It makes them from its own observation alone, so that no
hidden card can slip in: `restore` fills records with what the seat sees, `batch_redeal` deals the rest in any way that
rules and observation allow, `deals` does both.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from helsinki_env.data import UserError, shown
from helsinki_env.engine import loops
from helsinki_env.engine.arrays import in_place, integers, keys
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.limits import check_ranges
from helsinki_env.engine.playout import player_words
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States, copies_of
from helsinki_env.engine.values import as_word

__all__ = ["ObservationError", "RedealError", "batch_redeal", "deals", "redeal", "redeal_many", "restore"]


G = TypeVar("G", bound=BoardGame)


class RedealError(RuntimeError):
    """No deal was found that fits what is known: the position cannot come up in a game."""


class ObservationError(UserError):
    """Observations that no game can be made of. The message names row, piece, value found and what is expected."""


def restore(config: Any, observations: Any) -> States:
    """Return a record for each observation, (B,), with placeholders for hidden cards.

    Args:
        config: a configuration with the component file of the games; what else it says is read from the observation.
        observations: int8 (B, F), each of a game that is not over, seen from the seat to move.

    Raises:
        ObservationError: if these are no observations of such games.
    """
    spec = spec_of(config)
    if spec.restore is not None:
        return spec.restore(config, observations)
    observations = observation_rows(observations, spec.features(config))
    states = spec.new_states(config, len(observations))
    b, fault = loops.batch_restore(config.tables[0], observations, states)
    if b >= 0:
        raise ObservationError(f"observations[{b}]: found what no game of {spec.name} can show (fault {fault})")
    return states


def observation_rows(observations: Any, size: int) -> npt.NDArray[np.int8]:
    """Return observations of a length as int8 (B, F), contiguous; ObservationError if they are none."""
    try:
        rows = np.asarray(observations)
    except (ValueError, TypeError, OverflowError):
        raise ObservationError(
            f"observations: found {shown(observations)}, expected int8 of shape (B, {size})"
        ) from None
    if rows.dtype != np.int8 or rows.ndim != 2 or rows.shape[1] != size:
        raise ObservationError(
            f"observations: found {rows.dtype} of shape {rows.shape}, expected int8 of shape (B, {size}); from games "
            "with other components?"
        )
    return np.require(rows, requirements=["C", "A", "W"])  # or kernels are compiled for each kind of array


def batch_redeal(config: Any, states: States, viewers: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> None:
    """Deal what the viewers cannot see anew in a batch of records, in place.

    Args:
        config: a configuration with the component file of the games.
        states: records, (B,): copies, the hidden cards in them are lost.
        viewers: the seat that looks, for each game, int (B,).
        words: an independent random number for each game, uint64 (B,); the same number deals the same cards.

    Raises:
        ValueError: for any other arrays, or if there are no such seats; nothing has changed then.
        RedealError: if a position cannot come up in a game.
    """
    dtype = spec_of(config).new_states(config, 0).dtype
    games = in_place("states", states, dtype, None)
    check_ranges(games, config.tables[0])
    seats = integers("viewers", viewers, (len(games),), -(2**63), 2**63 - 1)
    outside = (seats < 0) | (seats >= games["players"])
    if outside.any():
        b = int(outside.argmax())
        raise ValueError(f"viewers[{b}]: found {seats[b]}, expected a seat from 0 to {games['players'][b] - 1}")
    _redeal(config, games, seats, keys("words", words, len(games)))
    if games is not states:
        states[...] = games


def _redeal(config: Any, states: States, viewers: npt.NDArray[np.int64], words: npt.NDArray[np.uint64]) -> None:
    """`batch_redeal` of arrays that are known to be right."""
    mask = np.zeros(spec_of(config).ids(config), np.int8)
    b = loops.batch_redeal(config.tables[0], states, viewers, words, new_scratch(config)[0], mask)
    if b >= 0:
        raise RedealError(
            f"game {b}: found no deal that fits what seat {viewers[b]} knows; can this position come up in a game?"
        )


def new_scratch(config: Any) -> npt.NDArray[Any]:
    """Return an array of one scratch record for `contract.redeal`."""
    scratch = spec_of(config).scratch
    return np.zeros(1, np.dtype((np.record, [("unused", np.int8)])) if scratch is None else scratch)


def redeal_many(game: BoardGame, count: int, viewer: int | None = None, seed: int | None = None) -> States:
    """Return records of `count` independent deals, (count,), with what a seat cannot see dealt anew.

    Args:
        game: the game; it stays as it is.
        count: how many.
        viewer: the seat that looks; default: the seat to move.
        seed: any integer >= 0; None: fresh entropy. The first deals of a larger number are the same.

    Raises:
        ValueError: if there is no such seat, or for a count or a seed that is none.
        RedealError: if the position cannot come up in a game.
    """
    words = player_words(count, int(as_word(seed)))
    states = copies_of(game._states, len(words))
    seat = game.seat if viewer is None else game.checked_seat(viewer)
    _redeal(game.config, states, np.full(len(words), seat, np.int64), words)
    return states


def redeal(game: G, viewer: int | None = None, seed: int | None = None) -> G:
    """Return a copy of a game with what a seat cannot see dealt anew; see `redeal_many` for arguments and errors."""
    return type(game)._of_record(game.config, redeal_many(game, 1, viewer, seed)[0])


def deals(config: Any, observation: npt.NDArray[np.int8], count: int, seed: int | None = None) -> States:
    """Return `count` games that an observation could have come from, (count,): independent deals of the hidden cards.

    Args:
        config: as for `restore`.
        observation: int8 (F,), seen from the seat to move.
        count: how many.
        seed: any integer >= 0; None: fresh entropy. The first deals of a larger number are the same.

    Raises:
        ObservationError: if this is no observation of such a game. ValueError: for a count or a seed that is none.
        RedealError: if it cannot come up in a game.
    """
    words = player_words(count, int(as_word(seed)))
    rows = observation[None] if isinstance(observation, np.ndarray) else [observation]
    states = copies_of(restore(config, rows), len(words))
    _redeal(config, states, states["seat"].astype(np.int64), words)
    return states

"""Global states: an observation plus all hidden information, as one vector for centralized critics.

A global state shows all hands and the order of the draw pile. Use it for critics and tools, never as the input of a
policy, because it reveals every hidden card.

    >>> from helsinki_env import HelsinkiVectorEnv
    >>> from helsinki_env.envs.global_state import global_states, unpack_global_state
    >>> env = HelsinkiVectorEnv(8, num_players=3)
    >>> obs, info = env.reset(seed=0)
    >>> critic_input = global_states(env.config, env.states, info["seat"])
    >>> {name: part.shape for name, part in unpack_global_state(env.config, critic_input).items()}
    {'observation': (8, 1385), 'acting': (8, 4), 'hand': (8, 4, 51), 'unseen': (8, 4, 3), 'pile': (8, 100)}
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box

from helsinki_env.engine import loops
from helsinki_env.engine.arrays import record_array, seat_array
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.limits import check_ranges
from helsinki_env.engine.spec import spec_of
from helsinki_env.engine.states import States

__all__ = ["global_state_space", "global_states", "unpack_global_state"]


def global_states(config: Any, states: States, viewers: npt.NDArray[np.integer] | None = None) -> npt.NDArray[np.int8]:
    """Return the global states of games.

    Args:
        config: game configuration; only its component file is used.
        states: records of the games, (B,), such as `HelsinkiVectorEnv.states`.
        viewers: observing seat of each game, int (B,); None means seat 0. It comes first, and the others follow
            clockwise.

    Returns:
        int8 (B, S), with all values from 0 to 127. The parts are, in this order: the observation of the viewer; the
            acting seat, one-hot; the hidden fields of all seats, such as their hands; the draw pile as card + 1, with
            the next card last. `unpack_global_state` returns these parts.

    Raises:
        ValueError: for invalid records or viewers.
    """
    states = record_array("states", states, spec_of(config).new_states(config, 0).dtype)
    check_ranges(states, config.tables[0])
    seats = np.zeros(len(states), np.int64) if viewers is None else seat_array("viewers", viewers, states)
    spec, parts = spec_of(config), _parts(config)
    out = np.zeros((len(states), sum(int(np.prod(shape)) for shape in parts.values())), np.int8)
    rows = unpack_global_state(config, out)
    observations = np.empty(rows["observation"].shape, np.int8)
    loops.batch_observe(config.tables[0], states, seats, observations)
    rows["observation"][:] = observations
    players = states["players"].astype(np.int64)
    games = np.arange(len(states))
    rows["acting"][games, (states["seat"] - seats) % players] = 1
    for turn in range(MAX_SEATS):
        present = turn < players
        seat = (seats + turn) % players
        for name in spec.hidden_fields:
            rows[name][present, turn] = states[name][games, seat][present] - _blank(config, name)
    for name in spec.hidden_piles:
        rows[name][:] = np.where(np.arange(rows[name].shape[1]) < states[f"{name}_size"][:, None], states[name] + 1, 0)
    return out


def unpack_global_state(config: Any, state: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the parts of one global state (S,) or a batch (..., S), by name, as views of shape (..., *part shape).

    Raises:
        ValueError: if the last axis does not have the length of a global state.
    """
    parts = _parts(config)
    sizes = [int(np.prod(shape)) for shape in parts.values()]
    if not state.ndim or state.shape[-1] != sum(sizes):
        raise ValueError(f"state: found shape {state.shape}, expected (..., {sum(sizes)}) with these components")
    ends = np.cumsum(sizes)
    return {
        name: state[..., end - size : end].reshape(*state.shape[:-1], *shape)
        for (name, shape), size, end in zip(parts.items(), sizes, ends, strict=True)
    }


def global_state_space(config: Any) -> Box:
    """Return the space of one global state; configurations with the same component file share it."""
    return _space(sum(int(np.prod(shape)) for shape in _parts(config).values()))


@lru_cache(maxsize=8)
def _space(size: int) -> Box:
    return Box(0, 127, (size,), np.int8)


def _parts(config: Any) -> dict[str, tuple[int, ...]]:
    """Return the shape of each part, by name."""
    spec = spec_of(config)
    record = spec.new_states(config, 1)
    hidden = {name: record[name].shape[1:] for name in (*spec.hidden_fields, *spec.hidden_piles)}
    return {"observation": (spec.observation_size(config),), "acting": (MAX_SEATS,), **hidden}


def _blank(config: Any, name: str) -> int:
    """Return the value of a field in a blank record: -1 or 0."""
    return int(spec_of(config).new_states(config, 1)[name].flat[0])

"""Observation wrappers for other libraries: observation and mask in one vector (without dict spaces), and scaling.

    >>> import gymnasium
    >>> from helsinki_env import flatten
    >>> env = flatten(gymnasium.make("helsinki_env:helsinki/Helsinki-v0"))
    >>> obs, info = env.reset(seed=1)
    >>> env.observation_space.shape == (1385 + 554,)
    True
    >>> mask = obs[..., -env.action_space.n :]
    >>> bool((mask == info["action_mask"]).all())
    True

The mask is the last A entries of the vector, where A is the number of actions.
"""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any, Self

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Dict
from gymnasium.utils import RecordConstructorArgs
from gymnasium.vector import VectorEnv, VectorWrapper
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers.base import BaseWrapper

from helsinki_env.data import UserError
from helsinki_env.engine.spec import game_names, spec_by_name
from helsinki_env.envs.arguments import Observation

__all__ = ["FlatAECEnv", "FlatEnv", "FlatVectorEnv", "flatten", "scale_observation"]

Flat = npt.NDArray[np.int8]


def flatten(env: Any) -> Any:
    """Wrap an environment of this package so that observation and mask form one vector, int8 (F + A,).

    The first F entries are the observation and the last A entries the mask. Batches have one row per game, (B, F + A).
    ``final_obs`` of a batch in SAME_STEP mode is flat as well.

    Args:
        env: a Gymnasium environment, a vector environment, or a PettingZoo AEC environment, wrapped or not.

    Raises:
        ValueError: for any other object, or if its observations are not a dict with `observation` and `action_mask`.
    """
    if isinstance(env, VectorEnv):
        return FlatVectorEnv(env)
    if isinstance(env, gymnasium.Env):
        return FlatEnv(env)
    if isinstance(env, AECEnv):
        return FlatAECEnv(env)
    raise ValueError(f"env: found {type(env).__name__}, expected an environment of Gymnasium or PettingZoo (AEC)")


class _CopiesGame:
    """Mixin for copies that do not share the wrapped environment, in which two would take the same steps."""

    env: Any

    def __copy__(self) -> Self:
        """Return an independent copy."""
        return self._with(copy(self.env))

    def _with(self, env: Any) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        new.env = env
        return new


class FlatEnv(_CopiesGame, gymnasium.ObservationWrapper[Flat, Any, Observation], RecordConstructorArgs):
    """A Gymnasium environment with flat observations; see `flatten`."""

    def __init__(self, env: gymnasium.Env[Observation, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self.observation_space = _flat_space(env.observation_space)

    def observation(self, observation: Observation) -> Flat:
        """Return an observation as a vector, (F + A,)."""
        return _flat(observation)


class FlatVectorEnv(_CopiesGame, VectorWrapper, RecordConstructorArgs):
    """A Gymnasium vector environment with flat observations, in any autoreset mode; see `flatten`."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        RecordConstructorArgs.__init__(self)
        super().__init__(env)
        self.single_observation_space = _flat_space(env.single_observation_space)
        self.observation_space = _flat_space(env.observation_space)

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Flat, dict[str, Any]]:
        """Reset the games; return flat observations, (B, F + A), and info."""
        obs, info = self.env.reset(seed=seed, options=options)
        return _flat(obs), info

    def step(self, actions: Any) -> tuple[Flat, Any, Any, Any, dict[str, Any]]:
        """Take one action in every game; return the results with flat observations, (B, F + A)."""
        obs, reward, terminated, truncated, info = self.env.step(actions)
        if "final_obs" in info:
            final = np.full(len(info["final_obs"]), None, object)
            for b, last in enumerate(info["final_obs"]):
                final[b] = None if last is None else _flat(last)
            info = info | {"final_obs": final}
        return _flat(obs), reward, terminated, truncated, info


class FlatAECEnv(_CopiesGame, BaseWrapper):  # type: ignore[misc]  # an untyped base class
    """A PettingZoo environment with flat observations; see `flatten`."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.observation_spaces = {agent: _flat_space(env.observation_space(agent)) for agent in env.possible_agents}

    def clone(self) -> FlatAECEnv:
        """Return an independent copy."""
        return self._with(self.env.clone())

    def observation_space(self, agent: str) -> Box:
        """Return the observation space of an agent, always the same object."""
        space: Box = self.observation_spaces[agent]
        return space

    def observe(self, agent: str) -> Flat:
        """Return an agent's observation and action mask as a vector, (F + A,)."""
        return _flat(self.env.observe(agent))


def _flat(observation: Observation) -> Flat:
    return np.concatenate([observation["observation"], observation["action_mask"]], axis=-1)


def _flat_space(space: Any) -> Any:
    if not isinstance(space, Dict) or set(space) != {"observation", "action_mask"}:
        raise ValueError(f"env: found observations in {space}, expected a dict of observation and action_mask")
    parts = [space["observation"], space["action_mask"]]
    low, high = (np.concatenate([getattr(part, side) for part in parts], axis=-1) for side in ("low", "high"))
    return Box(low, high, dtype=np.int8)


@lru_cache(maxsize=8)
def _scale(size: int) -> npt.NDArray[np.float32]:
    """Return the scale factors for an observation of this size, float32 (F,)."""
    for name in game_names():
        scales = spec_by_name(name).scales
        divisors = None if scales is None else scales(size)
        if divisors is not None:
            return (1.0 / divisors.astype(np.float64)).astype(np.float32)
    raise UserError(f"observation: found {size} entries, expected the observation size of a game")


def scale_observation(obs: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Scale observations, int8 (..., F), to network inputs; return a new array, float32 (..., F).

    The order of the entries does not change, so the game's `unpack` works on the result. Each entry is divided by a
    typical large value, so most results lie between 0 and 1.

    Raises:
        UserError: (a ValueError) if no game has observations of this length.
    """
    scaled: npt.NDArray[np.float32] = obs * _scale(obs.shape[-1])
    return scaled

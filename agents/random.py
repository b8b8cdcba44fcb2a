"""Players that act at random, either always or with a fixed probability in place of another player's action.

Epsilon-random players provide opponents of intermediate strength: ``epsilon:0.2:heuristic`` is weaker than
``heuristic`` and stronger than ``random``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from helsinki_env.agents.base import (
    Histories,
    Int8Array,
    Int64Array,
    KeyArray,
    Player,
    PlayerWrapper,
    next_keys,
    uniforms,
)
from helsinki_env.agents.registry import PlayerError, make_player
from helsinki_env.data import short_repr
from helsinki_env.engine.arrays import action_masks, key_array
from helsinki_env.engine.playout import sample_actions

__all__ = ["EpsilonPlayer", "RandomPlayer", "make_epsilon_player"]


class RandomPlayer:
    """Player that acts uniformly at random, the weakest baseline."""

    name = "random"

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return a uniformly random legal action for each row; see `helsinki_env.agents.base.Player`."""
        masks = action_masks("action_mask", action_mask)
        return sample_actions(masks, key_array("keys", keys, len(masks)).copy())


#: Distinguishes the random numbers of a wrapper from those of the player that it wraps; odd multiples are for nested
#: wrappers.
_SALT = 0x5851F42D4C957F2D


class EpsilonPlayer(PlayerWrapper):
    """Take a uniformly random legal action with a fixed probability, and another player's action otherwise.

    Args:
        player: the other player.
        epsilon: probability of a random action, 0 to 1.
    """

    def __init__(self, player: Player, epsilon: float) -> None:
        super().__init__(player, f"epsilon:{epsilon:g}:{player.name}")
        self.epsilon = epsilon
        depth, inner = 0, player
        while isinstance(inner, PlayerWrapper):
            depth += isinstance(inner, EpsilonPlayer)
            inner = inner.player
        self._salt = np.uint64(_SALT * (2 * depth + 1) % 2**64)

    def act(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories = None
    ) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        action_mask = action_masks("action_mask", action_mask)
        keys = key_array("keys", keys, len(action_mask))
        streams = keys ^ self._salt  # more random numbers, independent of those of the other player
        actions = self.wrapped_actions(observation, action_mask, keys, histories)
        part = uniforms(next_keys(streams))
        drawn = np.flatnonzero(part < self.epsilon)
        if len(drawn):
            actions[drawn] = sample_actions(action_mask[drawn], next_keys(streams, drawn))
        return actions


def make_epsilon_player(argument: str, config: Any) -> EpsilonPlayer:
    """Create the ``epsilon:PROBABILITY:PLAYER`` player from the text after the first colon.

    Raise PlayerError if the text is invalid.
    """
    number, _, player = argument.partition(":")
    try:
        epsilon = float(number)
    except ValueError:
        epsilon = math.nan
    if not 0 <= epsilon <= 1 or not player:
        raise PlayerError(
            f"player {short_repr('epsilon:' + argument)}: found {short_repr(number)}, expected a probability from 0 to "
            "1, then a colon and a player, such as epsilon:0.2:heuristic"
        )
    return EpsilonPlayer(make_player(player, config), epsilon)

"""The player that takes a uniformly random legal action."""

from __future__ import annotations

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.engine.arrays import action_masks, key_array
from helsinki_env.engine.playout import sample_actions

__all__ = ["RandomPlayer"]


class RandomPlayer:
    """Plays uniformly at random; the weakest baseline."""

    name = "random"

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return a uniformly random legal action for each row; see `helsinki_env.agents.base.Player`."""
        masks = action_masks("action_mask", action_mask)
        return sample_actions(masks, key_array("keys", keys, len(masks)).copy())

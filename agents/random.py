"""The player that takes a uniformly random legal action."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.arrays import action_masks, key_array
from helsinki_env.engine.playout import sample_actions

__all__ = ["RandomPlayer"]


class RandomPlayer:
    """Plays uniformly at random; the weakest baseline."""

    name = "random"

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return a uniformly random legal action for each row; see `helsinki_env.agents.base.Player`."""
        masks = action_masks("action_mask", action_mask)
        return sample_actions(masks, key_array("keys", keys, len(masks)).copy())

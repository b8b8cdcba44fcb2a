"""The player that takes a uniformly random legal action."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.arrays import action_masks, keys
from helsinki_env.engine.playout import choose_uniformly

__all__ = ["RandomPlayer"]


class RandomPlayer:
    """Plays uniformly at random; the weakest baseline."""

    name = "random"

    def act(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], words: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return a uniformly random legal action for each row; see `helsinki_env.agents.base.Player`."""
        masks = action_masks("mask", mask)
        return choose_uniformly(masks, keys("words", words, len(masks)).copy())

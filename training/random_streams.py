"""The random streams of a training run, one per use, which are independent of each other."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class RandomStream(IntEnum):
    """Uses of random numbers."""

    DATASET = 1  # games of pretraining; numbers: dataset, part
    PRETRAINING_ORDER = 2  # order of the samples; number: update
    ROLLOUT = 3  # opponents, random starts and search in a rollout; number: rollout
    FIRST_STARTS = 4  # random starts of the first games
    OPPONENT = 5  # choice of the opponent; number: rollout
    PPO_ORDER = 6  # order of the actions; number: update

    def generator(self, seed: int, *numbers: int) -> np.random.Generator:
        """Return the generator for a seed of a run and the numbers of this use."""
        return np.random.default_rng([self, seed, *numbers])

"""Compute the rewards of a finished game outside of an environment; `reward_of` is the same in kernels."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.game import BoardGame

__all__: list[str] = []


def final_rewards(game: BoardGame) -> npt.NDArray[np.float64]:
    """Return the reward of each seat of a finished game, float64 (P,), for the reward type of its configuration."""
    scores, ranks, players = game.scores(), game.ranks(), game.num_players
    tied = (ranks[:, None] == ranks).sum(axis=1)
    rewards: npt.NDArray[np.float64]
    if game.config.reward == "margin":
        rewards = (scores * players - scores.sum()) / (players - 1)
    elif game.config.reward == "rank":
        rewards = 1 - (2 * ranks + tied - 1) / (players - 1)
    else:
        rewards = np.where(ranks == 0, (players - tied) / (tied * (players - 1)), -1 / (players - 1))
    return rewards

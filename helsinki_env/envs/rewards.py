"""Compute the rewards of finished games outside of an environment; `reward_of` is the same in kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.game import BoardGame


def rewards_of(reward: str, points: npt.NDArray[Any], ranks: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Return the rewards of all seats for a reward type, float64 (..., P), given points and ranks, int (..., P)."""
    players = ranks.shape[-1]
    tied = (ranks[..., :, None] == ranks[..., None, :]).sum(axis=-1)
    rewards: npt.NDArray[np.float64]
    if reward == "margin":
        rewards = (points * players - points.sum(axis=-1, keepdims=True)) / (players - 1)
    elif reward == "rank":
        rewards = 1 - (2 * ranks + tied - 1) / (players - 1)
    else:
        rewards = np.where(ranks == 0, (players - tied) / (tied * (players - 1)), -1 / (players - 1))
    return rewards


def final_rewards(game: BoardGame) -> npt.NDArray[np.float64]:
    """Return the reward of each seat of a finished game, float64 (P,), for the reward type of its configuration."""
    return rewards_of(game.config.reward, game.scores(), game.ranks())

"""What a rollout holds, and generalised advantage estimation along each seat's own decisions.

A step of the batch is one decision of one seat in every game. Between two decisions of a seat lie any number of the
others' decisions, and one seat may decide several times in a row: following the batch's time axis would mix the
players' rewards and values. Here every seat of every game has a trajectory of its own: the value that follows a
decision is that of the *same seat's* next decision, and the reward at the end of a game goes to the last decision of
each seat.

Source: Schulman et al. (2016), "High-dimensional continuous control using generalized advantage estimation".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Rollout", "advantages"]

Floats = npt.NDArray[np.float32]


@dataclass
class Rollout:
    """T decisions in each of B games.

    Attributes:
        observation: int8 (T, B, F). mask: int8 (T, B, A). action: int64 (T, B).
        log_prob: log-probability of the action when it was taken, float32 (T, B).
        value: what the seat expected to get, float32 (T, B).
        seat: whose decision it was, int64 (T, B).
        ended: whether the game ended with this decision, bool (T, B).
        rewards: what each seat got then, float32 (T, B, P); zero where no game ended.
    """

    observation: npt.NDArray[np.int8]
    mask: npt.NDArray[np.int8]
    action: npt.NDArray[np.int64]
    log_prob: Floats
    value: Floats
    seat: npt.NDArray[np.int64]
    ended: npt.NDArray[np.bool_]
    rewards: Floats

    @classmethod
    def empty(cls, steps: int, games: int, size: int, ids: int, players: int) -> Rollout:
        """Return an unwritten rollout of T steps in B games."""
        shape = (steps, games)
        return cls(
            observation=np.zeros((*shape, size), np.int8),
            mask=np.zeros((*shape, ids), np.int8),
            action=np.zeros(shape, np.int64),
            log_prob=np.zeros(shape, np.float32),
            value=np.zeros(shape, np.float32),
            seat=np.zeros(shape, np.int64),
            ended=np.zeros(shape, np.bool_),
            rewards=np.zeros((*shape, players), np.float32),
        )


def advantages(rollout: Rollout, last_value: Floats, discount: float, decay: float) -> tuple[Floats, Floats]:
    """Return (advantages, returns), both float32 (T, B), along each seat's own decisions.

    Args:
        rollout: what was played.
        last_value: what every seat expects after the last step, float32 (B, P): trajectories that are still going on
            are cut there.
        discount: gamma, for each own decision.
        decay: lambda.
    """
    steps, games = rollout.action.shape
    row = np.arange(games)
    advantage = np.zeros((steps, games), np.float32)
    # What comes after a decision of each seat, walking backwards: reward, value and advantage of its next one.
    reward = np.zeros_like(last_value)
    value = last_value.copy()
    tail = np.zeros_like(last_value)
    for t in range(steps - 1, -1, -1):
        ended = rollout.ended[t]
        reward[ended], value[ended], tail[ended] = rollout.rewards[t][ended], 0.0, 0.0
        seat = rollout.seat[t]
        surprise = reward[row, seat] + discount * value[row, seat] - rollout.value[t]
        advantage[t] = surprise + discount * decay * tail[row, seat]
        reward[row, seat], value[row, seat], tail[row, seat] = 0.0, rollout.value[t], advantage[t]
    return advantage, advantage + rollout.value

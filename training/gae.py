"""Generalised advantage estimation along each seat's own decisions.

A step of a batch is one decision of one seat in every game. Between two decisions of a seat lie any number of the
others' decisions, and one seat may decide several times in a row: following the batch's time axis would mix the
players' outcomes and values. Here every seat of every game has a trajectory of its own: what follows a decision is
what the *same seat* expects at its next one, and what came of the game goes to the last decision of each seat.
Decisions without a choice, and those of opponents that do not learn, are no part of any trajectory.

What is expected has several components (every seat's share of the win, and its score); the estimate holds for each.

Source: Schulman and others (2016), "High-dimensional continuous control using generalized advantage estimation".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["compute_gae"]

Floats = npt.NDArray[np.float32]


def compute_gae(
    decision: npt.NDArray[np.int64],
    seat: npt.NDArray[np.int64],
    ended: npt.NDArray[np.bool_],
    outcome: Floats,
    expected: Floats,
    after: Floats,
    seats: int,
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Return the advantage of every decision in each component, float32 (n, C); returns are these plus `expected`.

    Args:
        decision: which of the n decisions was taken at a step of a game, int64 (T, B); -1: none that is learnt from.
        seat: whose decision it was, int64 (T, B).
        ended: whether the game ended with it, bool (T, B).
        outcome: what came of the game then, float32 (T, B, C).
        expected: what the seat expected before its decision, float32 (n, C).
        after: what it expected after it, float32 (n, C): stands for what follows where a trajectory is cut.
        seats: most seats of a game.
        gamma: gamma, for each own decision.
        gae_lambda: lambda.
    """
    steps, games = decision.shape
    row = np.arange(games)
    advantage = np.zeros_like(expected)
    # What comes after a decision of each seat, walking backwards: outcome, and value and advantage of its next one.
    reward = np.zeros((games, seats, expected.shape[1]), np.float32)
    value, tail = np.zeros_like(reward), np.zeros_like(reward)
    cut = np.ones((games, seats), np.bool_)
    for t in range(steps - 1, -1, -1):
        over = ended[t]
        reward[over], value[over], tail[over], cut[over] = outcome[t][over][:, None], 0.0, 0.0, False
        b = row[decision[t] >= 0]
        k, s = decision[t][b], seat[t][b]
        follows = np.where(cut[b, s][:, None], after[k], value[b, s])
        advantage[k] = reward[b, s] + gamma * follows - expected[k] + gamma * gae_lambda * tail[b, s]
        reward[b, s], value[b, s], tail[b, s], cut[b, s] = 0.0, expected[k], advantage[k], False
    return advantage

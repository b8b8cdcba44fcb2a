"""`helsinki_env.training.gae`, for all games of a device at once.

The same estimate along each seat's own decisions. What follows where a trajectory is cut is what the seat to move then
says of every seat.
"""

from __future__ import annotations

from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["compute_gae"]


def compute_gae(
    learnt: Tensor,
    seat: Tensor,
    ended: Tensor,
    outcome: Tensor,
    expected: Tensor,
    last: Tensor,
    seats: int,
    discount: float,
    decay: float,
) -> Tensor:
    """Return the advantage of every decision in each component, float32 (T, B, C), 0 where nothing is learnt.

    Args:
        learnt: whether a decision is learnt from, bool (T, B).
        seat: whose decision it was, int64 (T, B).
        ended: whether the game ended with it, bool (T, B).
        outcome: what came of the game then, float32 (T, B, C).
        expected: what the seat expected before its decision, float32 (T, B, C).
        last: what is expected after the last step, float32 (B, C): stands for what follows where a trajectory is cut.
        seats: most seats of a game.
        discount: gamma, for each own decision.
        decay: lambda.
    """
    steps, games, components = expected.shape
    advantage = torch.zeros_like(expected)
    # What comes after a decision of each seat, walking backwards: outcome and value of its next one, and its advantage.
    follows = (discount * last)[:, None].repeat(1, seats, 1)
    tail = expected.new_zeros(games, seats, components)
    numbers = torch.arange(seats, device=seat.device)
    for t in range(steps - 1, -1, -1):
        over = ended[t][:, None, None]
        follows = torch.where(over, outcome[t][:, None], follows)
        tail = torch.where(over, 0.0, tail)
        at = seat[t][:, None, None].expand(-1, 1, components)
        gained = follows.gather(1, at)[:, 0] - expected[t] + discount * decay * tail.gather(1, at)[:, 0]
        advantage[t] = torch.where(learnt[t][:, None], gained, 0.0)
        mine = ((numbers == seat[t][:, None]) & learnt[t][:, None])[..., None]
        follows = torch.where(mine, discount * expected[t][:, None], follows)
        tail = torch.where(mine, gained[:, None], tail)
    return advantage

"""What is said of seats, turned between the order from the viewer on and the order of the game, in tensors.

The same as `to_seat_order`, `to_viewer_order` and `viewer_value` of `helsinki_env.training.rollout`.
"""

from __future__ import annotations

from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["outcome_components", "to_seat_order", "to_viewer_order", "viewer_value"]


def to_seat_order(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Return values float32 (..., 4) that begin at the viewer's seat in the order of the seats; absent ones 0."""
    seats = torch.arange(MAX_SEATS, device=values.device)
    turn = (seats - viewer[..., None]) % players[..., None]
    return values.gather(-1, turn) * (seats < players[..., None])


def to_viewer_order(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Return values float32 (..., 4) by seat in the order from the viewer on; absent ones 0: undoes `to_seat_order`."""
    turns = torch.arange(MAX_SEATS, device=values.device)
    seat = (turns + viewer[..., None]) % players[..., None]
    return values.gather(-1, seat) * (turns < players[..., None])


def viewer_value(values: Tensor, viewer: Tensor, players: Tensor, margin: float) -> Tensor:
    """Return what components, float32 (..., 8), are worth to their viewers, float32 (...).

    That is the own share of the win, and `margin` for each point ahead of the mean of the others.
    """
    wins, scores = values[..., :MAX_SEATS], values[..., MAX_SEATS:]
    at = viewer[..., None]
    total = (scores * (torch.arange(MAX_SEATS, device=values.device) < players[..., None])).sum(-1)
    own = scores.gather(-1, at)[..., 0]
    return wins.gather(-1, at)[..., 0] + margin * (own - (total - own) / (players - 1))


def outcome_components(scores: Tensor, places: Tensor, players: Tensor, ended: Tensor) -> Tensor:
    """Return what came of games, float32 (B, 8): shares of the win, and scores; 0 where nobody sits and none ended.

    Args:
        scores: whole numbers (B, n), n up to 4.
        places: likewise, 0 is first.
        players: of the games, int64 (B,).
        ended: whether they have ended, bool (B,).
    """
    here = torch.arange(scores.shape[1], device=scores.device)
    sits = (here < players[:, None]) & ended[:, None]
    first = ((places == 0) & sits).float()
    wins = first / first.sum(1, keepdim=True).clamp_min(1.0)
    absent = (0, MAX_SEATS - scores.shape[1])
    return torch.cat([torch.nn.functional.pad(x, absent) for x in (wins, scores * sits)], 1)

"""What is said of seats, turned between the order from the viewer on and the order of the game, in tensors.

The same as `by_seat`, `from_viewer` and `own_component` of `helsinki_env.training.rollout`.
"""

from __future__ import annotations

from helsinki_env.engine.contract import SEATS
from helsinki_env.utils.extras import needs

with needs("train"):
    import torch
    from torch import Tensor

__all__ = ["by_seat", "from_viewer", "outcome_of", "own_component"]


def by_seat(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Return values float32 (..., 4) that begin at the viewer's seat in the order of the seats; absent ones 0."""
    seats = torch.arange(SEATS, device=values.device)
    turn = (seats - viewer[..., None]) % players[..., None]
    return values.gather(-1, turn) * (seats < players[..., None])


def from_viewer(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Return values float32 (..., 4) by seat in the order from the viewer on; absent ones 0: undoes `by_seat`."""
    turns = torch.arange(SEATS, device=values.device)
    seat = (turns + viewer[..., None]) % players[..., None]
    return values.gather(-1, seat) * (turns < players[..., None])


def own_component(values: Tensor, viewer: Tensor, players: Tensor, margin: float) -> Tensor:
    """Return what components, float32 (..., 8), are worth to their viewers, float32 (...).

    That is the own share of the win, and `margin` for each point ahead of the mean of the others.
    """
    wins, scores = values[..., :SEATS], values[..., SEATS:]
    at = viewer[..., None]
    total = (scores * (torch.arange(SEATS, device=values.device) < players[..., None])).sum(-1)
    own = scores.gather(-1, at)[..., 0]
    return wins.gather(-1, at)[..., 0] + margin * (own - (total - own) / (players - 1))


def outcome_of(scores: Tensor, places: Tensor, players: Tensor, ended: Tensor) -> Tensor:
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
    absent = (0, SEATS - scores.shape[1])
    return torch.cat([torch.nn.functional.pad(x, absent) for x in (wins, scores * sits)], 1)

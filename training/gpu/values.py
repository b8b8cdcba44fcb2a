"""`helsinki_env.training.values` in tensors, for all games of a device."""

from __future__ import annotations

from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["compute_gae", "outcome_components", "to_seat_order", "to_viewer_order", "viewer_value"]


def to_seat_order(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Reorder viewer-first values, float32 (..., 4), by seat of the game; absent seats are 0."""
    seats = torch.arange(MAX_SEATS, device=values.device)
    turn = (seats - viewer[..., None]) % players[..., None]
    return values.gather(-1, turn) * (seats < players[..., None])


def to_viewer_order(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Reorder values by seat, float32 (..., 4), to viewer-first order. Inverse of `to_seat_order`."""
    turns = torch.arange(MAX_SEATS, device=values.device)
    seat = (turns + viewer[..., None]) % players[..., None]
    return values.gather(-1, seat) * (turns < players[..., None])


def viewer_value(values: Tensor, viewer: Tensor, players: Tensor, margin: float) -> Tensor:
    """Return the scalar value for each viewer, float32 (...), from value components, float32 (..., 8)."""
    wins, scores = values[..., :MAX_SEATS], values[..., MAX_SEATS:]
    at = viewer[..., None]
    total = (scores * (torch.arange(MAX_SEATS, device=values.device) < players[..., None])).sum(-1)
    own = scores.gather(-1, at)[..., 0]
    return wins.gather(-1, at)[..., 0] + margin * (own - (total - own) / (players - 1))


def outcome_components(scores: Tensor, ranks: Tensor, players: Tensor, ended: Tensor) -> Tensor:
    """Return the value components of games, float32 (B, 8), from scores and ranks (B, n); 0 for games in progress."""
    seats = torch.arange(scores.shape[1], device=scores.device)
    present = (seats < players[:, None]) & ended[:, None]
    first = ((ranks == 0) & present).float()
    wins = first / first.sum(1, keepdim=True).clamp_min(1.0)
    absent = (0, MAX_SEATS - scores.shape[1])
    return torch.cat([torch.nn.functional.pad(x, absent) for x in (wins, scores * present)], 1)


def compute_gae(
    trained: Tensor,
    seat: Tensor,
    ended: Tensor,
    outcome: Tensor,
    expected: Tensor,
    last: Tensor,
    seats: int,
    gamma: float,
    gae_lambda: float,
) -> Tensor:
    """Return the advantage of every action in each component, float32 (T, B, C), 0 where `trained` is False.

    The arguments are those of `helsinki_env.training.values.compute_gae`, with `trained`, bool (T, B), for the samples
    and `last`, float32 (B, C), the bootstrap value at the end of the rollout.
    """
    steps, games, components = expected.shape
    advantage = torch.zeros_like(expected)
    # Per seat, for the step after its action, backwards in time: outcome or discounted next value, next advantage.
    target = (gamma * last)[:, None].repeat(1, seats, 1)
    tail = expected.new_zeros(games, seats, components)
    numbers = torch.arange(seats, device=seat.device)
    for t in range(steps - 1, -1, -1):
        over = ended[t][:, None, None]
        target = torch.where(over, outcome[t][:, None], target)
        tail = torch.where(over, 0.0, tail)
        at = seat[t][:, None, None].expand(-1, 1, components)
        current = target.gather(1, at)[:, 0] - expected[t] + gamma * gae_lambda * tail.gather(1, at)[:, 0]
        advantage[t] = torch.where(trained[t][:, None], current, 0.0)
        own = ((numbers == seat[t][:, None]) & trained[t][:, None])[..., None]
        target = torch.where(own, gamma * expected[t][:, None], target)
        tail = torch.where(own, current[:, None], tail)
    return advantage

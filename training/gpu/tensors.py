"""Tensor versions of the functions in `helsinki_env.training.values`, and random numbers, for all games on a device.

The random numbers depend only on seed, step, game and action, not on the device, process or batch size.
Source of the mixing function: Wellons (2018), "Prospecting for hash functions" (lowbias32).
"""

from __future__ import annotations

from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

#: Odd multipliers for game and action indices, as signed 32-bit integers.
_GAME_FACTOR, _ACTION_FACTOR = 0x9E3779B1 - 2**32, 0x85EBCA6B - 2**32
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - 2**32


def _mix(x: Tensor) -> Tensor:
    """Mix keys, int32; arithmetic shifts are masked to act as logical shifts."""
    x = x ^ ((x >> 16) & 0xFFFF)
    x = x * _FIRST
    x = x ^ ((x >> 15) & 0x1FFFF)
    x = x * _SECOND
    return x ^ ((x >> 16) & 0xFFFF)


def hash_key(*numbers: int) -> int:
    """Hash numbers to a signed 32-bit integer."""
    key = 0
    for number in numbers:
        key = (key ^ number) * 0x9E3779B97F4A7C15 % 2**64
        key ^= key >> 29
    return (key >> 32) - 2**31


def game_keys(key: Tensor, games: Tensor) -> Tensor:
    """Derive a key for each game, int32 (B,), from a key, int32 (), and the game indices, int32 (B,)."""
    return _mix(_mix(games * _GAME_FACTOR) ^ key)


def sample_categorical(log_probs: Tensor, key: Tensor) -> Tensor:
    """Sample an action for each game, int64 (B,), from log probabilities, float32 (B, A), and keys, int32 (B,).

    Sampling is exact (Gumbel-max trick). Illegal actions must have very low log probabilities.
    """
    actions = torch.arange(log_probs.shape[1], dtype=torch.int32, device=log_probs.device) * _ACTION_FACTOR
    bits = _mix(key[:, None] + actions)
    uniform = ((bits & 0x7FFFFF).float() + 0.5) * 2.0**-23  # exact in float32, and neither 0 nor 1
    return (log_probs - (-uniform.log()).log()).argmax(1)


def shuffled_steps(key: Tensor, steps: int) -> Tensor:
    """Return a permutation of the steps for each game, int64 (T, B), given a key for each game, int32 (B,)."""
    numbers = torch.arange(steps, dtype=torch.int32, device=key.device) * _ACTION_FACTOR
    return _mix(key + numbers[:, None]).argsort(dim=0, stable=True)


def to_seat_order(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Reorder viewer-first values, float32 (..., 4), by seat number; absent seats are 0."""
    seats = torch.arange(MAX_SEATS, device=values.device)
    turn = (seats - viewer[..., None]) % players[..., None]
    return values.gather(-1, turn) * (seats < players[..., None])


def to_viewer_order(values: Tensor, viewer: Tensor, players: Tensor) -> Tensor:
    """Reorder values by seat, float32 (..., 4), to viewer-first order. Inverse of `to_seat_order`."""
    turns = torch.arange(MAX_SEATS, device=values.device)
    seat = (turns + viewer[..., None]) % players[..., None]
    return values.gather(-1, seat) * (turns < players[..., None])


def viewer_value(values: Tensor, viewer: Tensor, players: Tensor, margin: float) -> Tensor:
    """Compute the scalar value for each viewer, float32 (...), from value components, float32 (..., 8)."""
    wins, scores = values[..., :MAX_SEATS], values[..., MAX_SEATS:]
    at = viewer[..., None]
    total = (scores * (torch.arange(MAX_SEATS, device=values.device) < players[..., None])).sum(-1)
    own = scores.gather(-1, at)[..., 0]
    return wins.gather(-1, at)[..., 0] + margin * (own - (total - own) / (players - 1))


def outcome_components(scores: Tensor, ranks: Tensor, players: Tensor, ended: Tensor) -> Tensor:
    """Compute the value components of games, float32 (B, 8), from scores and ranks (B, n); 0 for games in progress."""
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

    The arguments are those of `helsinki_env.training.values.compute_gae`, plus `trained`, bool (T, B), which marks the
    samples, and `last`, float32 (B, C), the bootstrap value at the end of the rollout.
    """
    steps, games, components = expected.shape
    advantage = torch.zeros_like(expected)
    # Loop backward in time with two values per seat: its outcome or discounted next value, and its next advantage.
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

"""Random numbers that depend only on seed, step, game and action: equal on any device, process and batch size.

Source of the mixing function: Wellons (2018), "Prospecting for hash functions" (lowbias32).
"""

from __future__ import annotations

from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["game_keys", "hash_key", "sample_categorical", "shuffled_steps"]

#: Odd multipliers of games and actions, as signed 32-bit integers.
_GAME_FACTOR, _ACTION_FACTOR = 0x9E3779B1 - 2**32, 0x85EBCA6B - 2**32
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - 2**32


def _mix(x: Tensor) -> Tensor:
    """Mix keys, int32, with arithmetic shifts masked to logical shifts."""
    x = x ^ ((x >> 16) & 0xFFFF)
    x = x * _FIRST
    x = x ^ ((x >> 15) & 0x1FFFF)
    x = x * _SECOND
    return x ^ ((x >> 16) & 0xFFFF)


def hash_key(*numbers: int) -> int:
    """Return the hash of some numbers, a signed 32-bit integer."""
    key = 0
    for number in numbers:
        key = (key ^ number) * 0x9E3779B97F4A7C15 % 2**64
        key ^= key >> 29
    return (key >> 32) - 2**31


def game_keys(key: Tensor, games: Tensor) -> Tensor:
    """Return a key for each game, int32 (B,), from a key, int32 (), and the indices of the games, int32 (B,)."""
    return _mix(_mix(games * _GAME_FACTOR) ^ key)


def sample_categorical(log_probs: Tensor, key: Tensor) -> Tensor:
    """Sample an action for each game, int64 (B,), from log probabilities, float32 (B, A), and keys, int32 (B,).

    The Gumbel-max trick makes the sample exact. Illegal actions need very low log probabilities.
    """
    actions = torch.arange(log_probs.shape[1], dtype=torch.int32, device=log_probs.device) * _ACTION_FACTOR
    bits = _mix(key[:, None] + actions)
    uniform = ((bits & 0x7FFFFF).float() + 0.5) * 2.0**-23  # exact in float32: neither 0 nor 1
    return (log_probs - (-uniform.log()).log()).argmax(1)


def shuffled_steps(key: Tensor, steps: int) -> Tensor:
    """Return a permutation of the steps for each game, int64 (T, B), from a key for each game, int32 (B,)."""
    numbers = torch.arange(steps, dtype=torch.int32, device=key.device) * _ACTION_FACTOR
    return _mix(key + numbers[:, None]).argsort(dim=0, stable=True)

"""Noise that depends on seed, step, game and decision alone: the same on any device, in any process, for any batch.

Source of the mixing function: Wellons (2018), "Prospecting for hash functions" (lowbias32).
"""

from __future__ import annotations

from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch
    from torch import Tensor

__all__ = ["game_keys", "hash_key", "sample_categorical", "shuffled_steps"]

#: Odd numbers that keep games and decisions apart, as signed words of 32 bits.
_OF_GAMES, _OF_DECISIONS = 0x9E3779B1 - 2**32, 0x85EBCA6B - 2**32
_FIRST, _SECOND = 0x7FEB352D, 0x846CA68B - 2**32


def _mix(x: Tensor) -> Tensor:
    """Mix words, int32; Python's numbers wrap around as those of the device do."""
    x = x ^ ((x >> 16) & 0xFFFF)
    x = x * _FIRST
    x = x ^ ((x >> 15) & 0x1FFFF)
    x = x * _SECOND
    return x ^ ((x >> 16) & 0xFFFF)


def hash_key(*numbers: int) -> int:
    """Return a signed word of 32 bits that is made of numbers."""
    word = 0
    for number in numbers:
        word = (word ^ number) * 0x9E3779B97F4A7C15 % 2**64
        word ^= word >> 29
    return (word >> 32) - 2**31


def game_keys(word: Tensor, games: Tensor) -> Tensor:
    """Return a key of each game, int32 (B,), from a word int32 () and the numbers of the games, int32 (B,)."""
    return _mix(_mix(games * _OF_GAMES) ^ word)


def sample_categorical(log_probs: Tensor, key: Tensor) -> Tensor:
    """Return a decision of each game drawn by its probability, int64 (B,).

    The largest of logarithms with Gumbel noise is drawn exactly so, and none that is not legal.

    Args:
        log_probs: of every decision, float32 (B, A); very low for those that are not legal.
        key: of each game, int32 (B,).
    """
    decisions = torch.arange(log_probs.shape[1], dtype=torch.int32, device=log_probs.device) * _OF_DECISIONS
    words = _mix(key[:, None] + decisions)
    part = ((words & 0x7FFFFF).float() + 0.5) * 2.0**-23  # 24 bits, so it is exact: neither 0 nor 1
    return (log_probs - (-part.log()).log()).argmax(1)


def shuffled_steps(key: Tensor, steps: int) -> Tensor:
    """Return an order of the steps of each game, int64 (T, B), from a key of each, int32 (B,)."""
    numbers = torch.arange(steps, dtype=torch.int32, device=key.device) * _OF_DECISIONS
    return _mix(key + numbers[:, None]).argsort(dim=0, stable=True)

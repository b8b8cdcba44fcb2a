"""Value losses of a network."""

from __future__ import annotations

from typing import Protocol

from helsinki_env.agents.net.network import ABSENT
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

__all__ = ["value_errors", "value_losses"]

#: Lower bound of log probabilities; it limits the loss of a confident error.
_LEAST_LOG = -50.0


class _Said(Protocol):
    """Predictions for N positions, see `helsinki_env.agents.net.network.NetworkOutput`."""

    @property
    def win_logits(self) -> torch.Tensor: ...

    @property
    def scores(self) -> torch.Tensor: ...


def value_errors(said: _Said, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy of the win shares and the squared error of the scores divided by 100.

    Args:
        said: predictions for N positions.
        wins: win share of each seat, viewer first, float32 (N, 4), 0 for absent seats.
        scores: points of each seat, float32 (N, 4).

    Returns:
        Two arrays, one value per position, float32 (N,).
    """
    log_shares = torch.log_softmax(said.win_logits, 1).clamp_min(_LEAST_LOG)
    sits = said.win_logits > 0.5 * ABSENT
    return -(wins * log_shares).sum(1), ((said.scores - scores).square() * sits).sum(1) / 100.0


def value_losses(said: _Said, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the means of `value_errors` over the positions."""
    win_errors, score_errors = value_errors(said, wins, scores)
    return win_errors.mean(), score_errors.mean()

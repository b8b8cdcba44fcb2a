"""How wrong a network is about positions."""

from __future__ import annotations

from typing import Protocol

from agents.net.network import ABSENT
from helsinki_env.extras import needs

with needs("train"):
    import torch

__all__ = ["value_errors", "value_losses"]

#: Beyond these odds a wrong certainty costs no more.
_LEAST_LOG = -50.0


class _Said(Protocol):
    """What a network says of N positions, see `agents.net.network.Assessment`."""

    @property
    def win_logits(self) -> torch.Tensor: ...

    @property
    def scores(self) -> torch.Tensor: ...


def value_errors(said: _Said, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy of the shares of the win, and the squared error of the scores in units of ten points.

    Args:
        said: of N positions.
        wins: each seat's share of the win from the viewer on, float32 (N, 4), 0 where nobody sits.
        scores: its points, float32 (N, 4).

    Returns:
        Both for each position, float32 (N,).
    """
    log_shares = torch.log_softmax(said.win_logits, 1).clamp_min(_LEAST_LOG)
    sits = said.win_logits > 0.5 * ABSENT
    return -(wins * log_shares).sum(1), ((said.scores - scores).square() * sits).sum(1) / 100.0


def value_losses(said: _Said, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the means of `value_errors` over the positions."""
    win_errors, score_errors = value_errors(said, wins, scores)
    return win_errors.mean(), score_errors.mean()

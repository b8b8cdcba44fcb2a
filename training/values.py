"""How wrong a network is about positions."""

from __future__ import annotations

from agents.net.network import ABSENT, Assessment
from helsinki_env.extras import needs

with needs("train"):
    import torch

__all__ = ["value_losses"]

#: Beyond these odds a wrong certainty costs no more.
_LEAST_LOG = -50.0


def value_losses(said: Assessment, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy of the shares of the win, and the squared error of the scores in units of ten points.

    Args:
        said: of N positions.
        wins: each seat's share of the win from the viewer on, float32 (N, 4), 0 where nobody sits.
        scores: its points, float32 (N, 4).
    """
    log_shares = torch.log_softmax(said.win_logits, 1).clamp_min(_LEAST_LOG)
    win_loss = -(wins * log_shares).sum(1).mean()
    sits = said.win_logits > 0.5 * ABSENT
    score_loss = ((said.scores - scores).square() * sits).sum(1).mean() / 100.0
    return win_loss, score_loss

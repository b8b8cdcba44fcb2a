"""Value components of all seats, generalized advantage estimation, and value losses.

A value has eight components: the win probability of every seat, followed by the score of every seat. Each seat learns
from its own trajectory: the value after an action is the same seat's prediction before its next action.

Source: Schulman et al. (2016), "High-dimensional continuous control using generalized advantage estimation".
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.net.network import ABSENT
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.utils.extras import requires_extra

with requires_extra("train"):
    import torch

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]

VALUE_COMPONENTS = 2 * MAX_SEATS
"""Number of value components: the win probability of every seat, then the score of every seat."""
#: Lower bound on log probabilities, which limits the loss from confident errors.
_MIN_LOG = -50.0


def viewer_value(values: Floats, viewer: Integers, players: Integers, margin: float) -> Floats:
    """Compute the scalar value for each viewer, float32 (n,), from value components, float32 (n, 8).

    The value is the viewer's win probability plus `margin` times the viewer's lead over the mean score of the others.
    """
    row = np.arange(len(values))
    scores = values[:, MAX_SEATS:] * (np.arange(MAX_SEATS) < players[:, None])
    own = scores[row, viewer]
    lead = own - (scores.sum(axis=1) - own) / (players - 1)
    value: Floats = (values[row, viewer] + margin * lead).astype(np.float32)
    return value


def to_seat_order(values: Floats, viewer: Integers, players: Integers) -> Floats:
    """Reorder viewer-first values, float32 (n, 4), by seat number; absent seats are 0."""
    seats = np.arange(MAX_SEATS)
    turn = (seats - viewer[:, None]) % players[:, None]
    ordered: Floats = np.take_along_axis(values, turn, axis=1) * (seats < players[:, None])
    return ordered.astype(np.float32)


def to_viewer_order(values: Floats, viewer: Integers, players: Integers) -> Floats:
    """Reorder values by seat, float32 (n, 4), to viewer-first order; absent seats are 0. Inverse of `to_seat_order`."""
    turns = np.arange(MAX_SEATS)
    seat = (turns + viewer[:, None]) % players[:, None]
    ordered: Floats = np.take_along_axis(values, seat, axis=1) * (turns < players[:, None])
    return ordered.astype(np.float32)


def outcome_components(scores: npt.NDArray[np.integer], ranks: npt.NDArray[np.integer], players: Integers) -> Floats:
    """Compute the value components of finished games, float32 (k, 8), from scores and ranks (k, 4); rank 0 is first."""
    present = np.arange(MAX_SEATS) < players[:, None]
    first = (ranks == 0) & present
    wins = first / first.sum(axis=1, keepdims=True)
    return np.concatenate([wins, scores * present], axis=1).astype(np.float32)


def compute_gae(
    decision: Integers,
    seat: Integers,
    ended: npt.NDArray[np.bool_],
    outcome: Floats,
    expected: Floats,
    after: Floats,
    seats: int,
    gamma: float,
    gae_lambda: float,
) -> Floats:
    """Compute the advantage of every action in each component, float32 (n, C); add `expected` to get the returns.

    The arrays are fields of `helsinki_env.training.rollout.Rollout`; `gamma` is the discount per action of the same
    seat.
    """
    steps, games = decision.shape
    row = np.arange(games)
    advantage = np.zeros_like(expected)
    # Loop backward in time with three values per seat: its outcome, its next value and its next advantage.
    reward = np.zeros((games, seats, expected.shape[1]), np.float32)
    value, tail = np.zeros_like(reward), np.zeros_like(reward)
    cut = np.ones((games, seats), np.bool_)
    for t in range(steps - 1, -1, -1):
        over = ended[t]
        reward[over], value[over], tail[over], cut[over] = outcome[t][over][:, None], 0.0, 0.0, False
        b = row[decision[t] >= 0]
        k, s = decision[t][b], seat[t][b]
        next_value = np.where(cut[b, s][:, None], after[k], value[b, s])
        advantage[k] = reward[b, s] + gamma * next_value - expected[k] + gamma * gae_lambda * tail[b, s]
        reward[b, s], value[b, s], tail[b, s], cut[b, s] = 0.0, expected[k], advantage[k], False
    return advantage


class _Predictions(Protocol):
    """Predictions for N positions; see `helsinki_env.agents.net.network.NetworkOutput`."""

    @property
    def win_logits(self) -> torch.Tensor: ...

    @property
    def scores(self) -> torch.Tensor: ...


def value_errors(output: _Predictions, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the cross-entropy of the win probabilities and the squared score error divided by 100, float32 (N,) each.

    The targets are float32 (N, 4), viewer first; `wins` is 0 for absent seats.
    """
    log_probs = torch.log_softmax(output.win_logits, 1).clamp_min(_MIN_LOG)
    present = output.win_logits > 0.5 * ABSENT
    return -(wins * log_probs).sum(1), ((output.scores - scores).square() * present).sum(1) / 100.0


def value_losses(output: _Predictions, wins: torch.Tensor, scores: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the means of `value_errors` over all positions."""
    win_errors, score_errors = value_errors(output, wins, scores)
    return win_errors.mean(), score_errors.mean()

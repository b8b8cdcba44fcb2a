"""A trained network as a player: it takes the decision that it prefers.

How a network is asked does not matter to the player: `TorchAssessor` asks PyTorch,
`helsinki_env.agents.net.onnx.OnnxModel` an exported model. Preferences are worked out here from what it says of
positions, once for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import default_errstate
from helsinki_env.agents.evaluation import Evaluation
from helsinki_env.agents.net.afterstates import AfterstateEncoder
from helsinki_env.agents.net.choices import AfterstateBatch
from helsinki_env.agents.net.evaluation import choice_index, make_evaluations, win_probabilities_after
from helsinki_env.agents.rows import validate_extra_actions, validate_masks_and_keys

__all__ = [
    "INFERENCE_BATCH",
    "SURE",
    "InferenceModel",
    "NetPlayer",
    "NumpyOutput",
    "best_choices",
    "choice_log_probs",
    "inference_batches",
]

Floats = npt.NDArray[np.float32]

INFERENCE_BATCH = 256
"""Positions that go through a network together, always exactly so many: the last bits of a matrix product depend on its
shape, and a decision must not depend on the batch it is made in."""
SURE = 4.0
"""The logit beyond which shares of a win are not told apart: odds of 55 : 1."""


@dataclass(frozen=True)
class NumpyOutput:
    """What a network says of N positions, see `helsinki_env.agents.net.network.NetworkOutput`.

    Attributes:
        win_logits: float32 (N, 4). scores: float32 (N, 4). trust, liking: float32 (N, groups).
    """

    win_logits: Floats
    scores: Floats
    trust: Floats
    liking: Floats

    @property
    @default_errstate
    def wins(self) -> Floats:
        """Each seat's share of the win, from the viewer on, float32 (N, 4), rows add up to 1."""
        shares = np.exp(self.win_logits - self.win_logits.max(axis=1, keepdims=True))
        wins: Floats = shares / shares.sum(axis=1, keepdims=True)
        return wins


class InferenceModel(Protocol):
    """A network, however it is computed.

    Attributes:
        group: of each decision, int64 (A,).
        sharpness: how sharply the better position is preferred.
        ahead: whether it is told what the next turn of every seat can bring.
    """

    group: npt.NDArray[np.int64]
    sharpness: float
    ahead: bool

    def __call__(self, seats: npt.NDArray[np.int8], table: npt.NDArray[np.int8]) -> NumpyOutput:
        """Assess positions, int8 (N, P, S) and int8 (N, G)."""
        ...


def inference_batches(size: int) -> list[npt.NDArray[np.int64]]:
    """Return rows 0 to `size` in chunks of exactly `INFERENCE_BATCH`; the last chunk is padded with repeated rows."""
    rows = np.arange(-(-size // INFERENCE_BATCH) * INFERENCE_BATCH) % max(1, size)
    return list(rows.reshape(-1, INFERENCE_BATCH))


@default_errstate
def choice_log_probs(
    inputs: AfterstateBatch, assessed: NumpyOutput, assessor: InferenceModel
) -> npt.NDArray[np.float64]:
    """Return the logarithm of the probability of every choice, float64 (C,); see `Network.log_probs`."""
    logits = assessed.win_logits.astype(np.float64)
    others = logits[:, 1:]
    highest = others.max(axis=1)
    merit = logits[:, 0] - highest - np.log(np.exp(others - highest[:, None]).sum(axis=1))
    ended = inputs.ended >= 0
    share = np.clip(inputs.ended[ended], 1e-3, 1 - 1e-3)
    merit[ended] = np.log(share / (1 - share))
    merit = np.clip(merit, -SURE, SURE)
    group = assessor.group[inputs.action]
    score = assessor.sharpness * merit[inputs.position] + assessed.liking[inputs.position, group]
    score += assessed.trust[inputs.position, group] * inputs.advice
    starts, counts = inputs.first[:-1], np.diff(inputs.first)
    score -= np.repeat(np.maximum.reduceat(score, starts), counts)
    log_probs: npt.NDArray[np.float64] = score - np.repeat(np.log(np.add.reduceat(np.exp(score), starts)), counts)
    return log_probs


class NetPlayer:
    """Plays the decision that a network prefers.

    Args:
        assessor: the network.
        config: the games to be played; only their component file matters.
        name: how the player is called.
        sample: draw from the probabilities instead, with the row's random number.
    """

    def __init__(self, assessor: InferenceModel, config: Any = None, name: str = "net", sample: bool = False) -> None:
        self.assessor, self.name, self.sample = assessor, name, sample
        self.writer = AfterstateEncoder(config, ahead=assessor.ahead)

    def act(
        self, observation: npt.NDArray[np.int8], action_mask: npt.NDArray[np.int8], keys: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.int64]:
        """Return one legal decision for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        action_mask, keys = validate_masks_and_keys(self.writer.config, observation, action_mask, keys)
        actions: npt.NDArray[np.int64] = np.argmax(action_mask, axis=1)
        asked = np.flatnonzero(action_mask.sum(axis=1, dtype=np.int64) > 1)  # the others have no choice
        if len(asked):
            inputs, log_probs = self.policy(observation[asked], action_mask[asked])
            if self.sample:
                actions[asked] = _drawn(inputs, log_probs, keys[asked])
            else:
                actions[asked] = inputs.action[best_choices(inputs, log_probs)]
        return actions

    def policy(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8]
    ) -> tuple[AfterstateBatch, npt.NDArray[np.float64]]:
        """Return the choices of some decisions and the logarithm of the probability of each, float64 (C,)."""
        inputs = self.writer.write(observation, mask)
        return inputs, choice_log_probs(inputs, self.assessor(inputs.seats, inputs.table), self.assessor)

    def evaluate_actions(
        self,
        observation: npt.NDArray[np.int8],
        action_mask: npt.NDArray[np.int8],
        keys: npt.NDArray[np.uint64],
        also: npt.NDArray[np.int64] | None = None,
    ) -> list[Evaluation]:
        """Return an opinion for each row; see `helsinki_env.agents.evaluation.evaluate_actions`."""
        action_mask, keys = validate_masks_and_keys(self.writer.config, observation, action_mask, keys)
        also = validate_extra_actions(also, action_mask)
        inputs, log_probs = self.policy(observation, action_mask)
        shares = win_probabilities_after(self.writer, self.assessor, inputs, observation)
        if also is not None:
            at = choice_index(inputs, np.arange(len(inputs)), also)
            unseen = np.flatnonzero(np.isnan(shares[at, 0]))
            only = np.zeros_like(action_mask[unseen])
            only[np.arange(len(unseen)), also[unseen]] = 1
            if len(unseen):  # as if there were no other choice: the position that it leads to is the same
                alone = self.writer.write(observation[unseen], only)
                shares[at[unseen]] = win_probabilities_after(self.writer, self.assessor, alone, observation[unseen])
        best = inputs.action[best_choices(inputs, log_probs)].astype(np.int64)
        return make_evaluations(self.writer, inputs, observation, log_probs, shares, best)


def best_choices(inputs: AfterstateBatch, values: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """Return which choice of each decision has the largest value, int64 (B,), the lowest id of equals.

    Args:
        inputs: the decisions.
        values: of each choice, (C,).
    """
    best = np.repeat(np.maximum.reduceat(values, inputs.first[:-1]), np.diff(inputs.first))
    at = np.flatnonzero(values == best)
    chosen: npt.NDArray[np.int64] = at[np.diff(inputs.row[at], prepend=-1) > 0]
    return chosen


@default_errstate
def _drawn(
    inputs: AfterstateBatch, log_probs: npt.NDArray[np.float64], words: npt.NDArray[np.uint64]
) -> npt.NDArray[np.int64]:
    """A choice of each decision, drawn by its random number, uint64 (B,).

    Each row is summed up by itself: a sum that ran on over the batch would be rounded by what the rows before hold.
    """
    counts, starts = np.diff(inputs.first), inputs.first[:-1]
    inside = np.arange(counts.max()) < counts[:, None]
    shares = np.zeros(inside.shape)
    shares[inside] = np.exp(log_probs)
    cumulated = np.cumsum(shares, axis=1)
    part = (words >> np.uint64(11)).astype(np.float64) / 2.0**53
    passed = (cumulated <= (part * cumulated[:, -1])[:, None]).sum(axis=1)
    at = starts + np.minimum(passed, counts - 1)  # sums are rounded
    drawn: npt.NDArray[np.int64] = inputs.action[at].astype(np.int64)
    return drawn

"""A player that takes the preferred action of a trained network.

The network is an `InferenceModel`: `helsinki_env.agents.net.network.TorchModel`, or an exported
`helsinki_env.agents.net.onnx.OnnxModel`. Both use the same computation of preferences from network outputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import FloatArray, Int8Array, Int64Array, KeyArray, default_errstate, uniforms
from helsinki_env.agents.evaluation import Evaluation, to_seat_order
from helsinki_env.agents.net.afterstates import AfterstateBatch, AfterstateEncoder
from helsinki_env.agents.rows import forced_and_open, validate_arrays, validate_extra_actions
from helsinki_env.engine.contract import MAX_SEATS
from helsinki_env.engine.determinization import states_from_observations

__all__ = [
    "INFERENCE_BATCH",
    "SURE",
    "BatchedModel",
    "InferenceModel",
    "NetPlayer",
    "NumpyOutput",
    "best_choices",
    "choice_index",
    "choice_log_probs",
    "evaluated_choices",
    "inference_batches",
    "make_evaluations",
    "win_probabilities_after",
]

Floats = npt.NDArray[np.float32]

INFERENCE_BATCH = 256
"""Largest batch size of inference."""
_SMALLER: tuple[int, ...] = (16, 32, 64, 128)
SURE = 4.0
"""Limit of the logit of a win probability: odds of 55 : 1."""


@dataclass(frozen=True)
class NumpyOutput:
    """Network outputs for N positions; see `helsinki_env.agents.net.network.NetworkOutput`."""

    win_logits: Floats
    scores: Floats
    trust: Floats
    liking: Floats

    @property
    @default_errstate
    def wins(self) -> Floats:
        """Return every seat's win probability, the viewer first, float32 (N, 4); rows sum to 1."""
        shares = np.exp(self.win_logits - self.win_logits.max(axis=1, keepdims=True))
        wins: Floats = shares / shares.sum(axis=1, keepdims=True)
        return wins


class InferenceModel(Protocol):
    """Protocol for networks that are ready for inference."""

    group: Int64Array  # (A,): group of each action
    sharpness: float  # weight of the win probability's logit in preferences
    ahead: bool  # whether the network uses look-ahead features

    def __call__(self, seats: Int8Array, table: Int8Array) -> NumpyOutput:
        """Evaluate positions, int8 (N, P, S) and int8 (N, G)."""
        ...


def inference_batches(size: int, sizes: Sequence[int] = (INFERENCE_BATCH,)) -> list[Int64Array]:
    """Split the rows below `size` into batches of the largest of the ascending `sizes`; the last may be smaller.

    It is padded with repeated rows to one of the `sizes`.
    """
    batches = []
    for begin in range(0, size, sizes[-1]):
        length = next(length for length in sizes if length >= min(size - begin, sizes[-1]))
        batches.append((begin + np.arange(length)) % size)
    return batches


class BatchedModel:
    """Base class of an `InferenceModel` whose results do not depend on the other positions of a call.

    Rounding in a matrix product can depend on the number of rows. Smaller batches than `INFERENCE_BATCH` are therefore
    used only if a test on first use shows that this machine computes the same bits with them. Positions with different
    numbers of players are evaluated separately.
    """

    _sizes: tuple[int, ...] = ()

    def evaluate_batch(self, seats: Int8Array, table: Int8Array) -> list[Floats]:
        """Return the four arrays of `NumpyOutput` for positions, int8 (N, P, S) and int8 (N, G)."""
        raise NotImplementedError

    def __call__(self, seats: Int8Array, table: Int8Array) -> NumpyOutput:
        """Evaluate positions, int8 (N, P, S) and int8 (N, G); each result is independent of the other positions."""
        if not self._sizes:
            self._sizes = self._equal_sizes(seats.shape[-1], table.shape[-1])
        players = seats.any(axis=2).sum(axis=1)  # absent seats are zero
        if (players == players[0]).all():
            return self._evaluate(seats[:, : players[0]], table)
        order = np.argsort(players, kind="stable")
        groups = np.split(order, np.flatnonzero(np.diff(players[order])) + 1)
        outputs = [self._evaluate(seats[rows, : players[rows[0]]], table[rows]) for rows in groups]
        back = np.argsort(order)
        return NumpyOutput(
            *(np.concatenate([getattr(one, item.name) for one in outputs])[back] for item in fields(NumpyOutput))
        )

    def _evaluate(self, seats: Int8Array, table: Int8Array) -> NumpyOutput:
        """Evaluate positions with the same number of players."""
        parts = [self.evaluate_batch(seats[rows], table[rows]) for rows in inference_batches(len(table), self._sizes)]
        return NumpyOutput(*(np.concatenate(arrays)[: len(table)] for arrays in zip(*parts, strict=True)))

    def _equal_sizes(self, per_seat: int, per_table: int) -> tuple[int, ...]:
        """Return the batch sizes, ascending, whose results equal those of `INFERENCE_BATCH` in every bit."""
        rng, sizes = np.random.default_rng(0), _SMALLER
        for players in range(2, MAX_SEATS + 1):
            seats = rng.integers(0, 3, (INFERENCE_BATCH, players, per_seat), np.int8)
            table = rng.integers(0, 3, (INFERENCE_BATCH, per_table), np.int8)
            expected = self.evaluate_batch(seats, table)
            sizes = tuple(
                size
                for size in sizes
                if all(
                    np.array_equal(found, all_rows[:size])
                    for found, all_rows in zip(self.evaluate_batch(seats[:size], table[:size]), expected, strict=True)
                )
            )
        return (*sizes, INFERENCE_BATCH)


@default_errstate
def choice_log_probs(inputs: AfterstateBatch, output: NumpyOutput, model: InferenceModel) -> FloatArray:
    """Return the log-probability of every action, float64 (C,); see `Network.log_probs`."""
    logits = output.win_logits.astype(np.float64)
    others = logits[:, 1:]
    highest = others.max(axis=1)
    merit = logits[:, 0] - highest - np.log(np.exp(others - highest[:, None]).sum(axis=1))
    ended = inputs.ended >= 0
    share = np.clip(inputs.ended[ended], 1e-3, 1 - 1e-3)
    merit[ended] = np.log(share / (1 - share))
    merit = np.clip(merit, -SURE, SURE)
    group = model.group[inputs.action]
    score = model.sharpness * merit[inputs.position] + output.liking[inputs.position, group]
    score += output.trust[inputs.position, group] * inputs.advice
    starts, counts = inputs.first[:-1], np.diff(inputs.first)
    score -= np.repeat(np.maximum.reduceat(score, starts), counts)
    log_probs: FloatArray = score - np.repeat(np.log(np.add.reduceat(np.exp(score), starts)), counts)
    return log_probs


class NetPlayer:
    """Player that takes the preferred action of a network.

    Args:
        model: the network, ready for inference.
        config: game configuration; only its component file is used.
        name: display name.
        sample: whether to sample an action from the policy instead of taking the preferred one, using the random key of
            the row.
    """

    def __init__(self, model: InferenceModel, config: Any = None, name: str = "net", sample: bool = False) -> None:
        self.model, self.name, self.sample = model, name, sample
        self.encoder = AfterstateEncoder(config, ahead=model.ahead)

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`."""
        observation, action_mask, keys = validate_arrays(self.encoder.config, observation, action_mask, keys)
        actions, open_rows = forced_and_open(action_mask)
        if len(open_rows):
            inputs, log_probs = self.policy(observation[open_rows], action_mask[open_rows])
            if self.sample:
                actions[open_rows] = _sample(inputs, log_probs, keys[open_rows])
            else:
                actions[open_rows] = inputs.action[best_choices(inputs, log_probs)]
        return actions

    def policy(self, observation: Int8Array, mask: Int8Array) -> tuple[AfterstateBatch, FloatArray]:
        """Return the network inputs for the given rows and the log-probability of each action, float64 (C,)."""
        inputs = self.encoder.write(observation, mask)
        return inputs, choice_log_probs(inputs, self.model(inputs.seats, inputs.table), self.model)

    def evaluate_actions(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, also: Int64Array | None = None
    ) -> list[Evaluation]:
        """Return an evaluation for each row; see `helsinki_env.agents.evaluation.evaluate_actions`."""
        observation, action_mask, keys = validate_arrays(self.encoder.config, observation, action_mask, keys)
        also = validate_extra_actions(also, action_mask)
        inputs = self.encoder.write(observation, action_mask)
        output = self.model(inputs.seats, inputs.table)
        log_probs = choice_log_probs(inputs, output, self.model)
        shares = win_probabilities_after(self.encoder, output, inputs, observation)
        if also is not None:
            at = choice_index(inputs, np.arange(len(inputs)), also)
            missing = np.flatnonzero(np.isnan(shares[at, 0]))
            only = np.zeros_like(action_mask[missing])
            only[np.arange(len(missing)), also[missing]] = 1
            if len(missing):  # in rare cases, the heuristic completes the turn differently than after other actions
                alone = self.encoder.write(observation[missing], only)
                output = self.model(alone.seats, alone.table)
                shares[at[missing]] = win_probabilities_after(self.encoder, output, alone, observation[missing])
        best = inputs.action[best_choices(inputs, log_probs)].astype(np.int64)
        return make_evaluations(self.encoder, inputs, observation, log_probs, shares, best)


def best_choices(inputs: AfterstateBatch, values: npt.NDArray[np.floating]) -> Int64Array:
    """Return the index of the highest-valued action in each row, int64 (B,); the lowest id on ties."""
    best = np.repeat(np.maximum.reduceat(values, inputs.first[:-1]), np.diff(inputs.first))
    at = np.flatnonzero(values == best)
    chosen: Int64Array = at[np.diff(inputs.row[at], prepend=-1) > 0]
    return chosen


@default_errstate
def _sample(inputs: AfterstateBatch, log_probs: FloatArray, keys: KeyArray) -> Int64Array:
    """Sample an action for each row; rows are summed separately, so that rounding does not depend on other rows."""
    counts, starts = np.diff(inputs.first), inputs.first[:-1]
    inside = np.arange(counts.max()) < counts[:, None]
    shares = np.zeros(inside.shape)
    shares[inside] = np.exp(log_probs)
    cumulated = np.cumsum(shares, axis=1)
    passed = (cumulated <= (uniforms(keys) * cumulated[:, -1])[:, None]).sum(axis=1)
    at = starts + np.minimum(passed, counts - 1)  # the sums are rounded
    sampled: Int64Array = inputs.action[at].astype(np.int64)
    return sampled


def win_probabilities_after(
    encoder: AfterstateEncoder, output: NumpyOutput, inputs: AfterstateBatch, observation: Int8Array
) -> FloatArray:
    """Return every seat's win probability after each action, viewer first, float64 (C, 4); NaN if not evaluated.

    `output` is the output of the network for the inputs.
    """
    wins = output.wins.astype(np.float64)
    evaluated = evaluated_choices(inputs)
    shares = np.where(evaluated[:, None], wins[inputs.position], np.nan)
    over = np.flatnonzero(evaluated & (inputs.ended[inputs.position] >= 0))
    if len(over):
        shares[over] = encoder.ends(observation[inputs.row[over]], inputs.action[over].astype(np.int64))
    return shares


def evaluated_choices(inputs: AfterstateBatch) -> npt.NDArray[np.bool_]:
    """Return which actions were evaluated, bool (C,); the others share the afterstate of the best action."""
    evaluated: npt.NDArray[np.bool_] = (inputs.position != inputs.begin[inputs.row]) | (inputs.advice == 0)
    return evaluated


def choice_index(inputs: AfterstateBatch, rows: Int64Array, actions: Int64Array) -> Int64Array:
    """Return the positions in the batch of one action, int64 (n,), in each of the given rows, int64 (n,)."""
    beyond = int(inputs.action.max()) + 1
    return np.searchsorted(inputs.row * beyond + inputs.action, rows * beyond + actions)


@default_errstate
def make_evaluations(
    encoder: AfterstateEncoder,
    inputs: AfterstateBatch,
    observation: Int8Array,
    log_probs: FloatArray,
    shares: FloatArray,
    best: Int64Array,
) -> list[Evaluation]:
    """Return an evaluation for each row.

    `log_probs`, float64 (C,): log-probabilities of the actions. `shares`, float64 (C, 4): `win_probabilities_after`.
    `best`, int64 (B,): the action that the player would take in each row.
    """
    games = states_from_observations(encoder.config, observation)
    evaluations = []
    for b, (first, end) in enumerate(zip(inputs.first[:-1], inputs.first[1:], strict=True)):
        seat, players = int(games["seat"][b]), int(games["players"][b])
        actions = inputs.action[first:end].astype(np.int64)
        own = to_seat_order(shares[first:end], seat, players)
        evaluations.append(Evaluation(seat, actions, np.exp(log_probs[first:end]), own, int(best[b])))
    return evaluations

"""Game analysis: evaluate every action of a game and compute its regret.

Each action is evaluated from the observation of the acting seat at that time, without cards revealed later.

    >>> from helsinki_env.evaluation.match import play_match
    >>> record = next(play_match(["random", "random"], games=2).records())
    >>> analysis = analyze(record)
    >>> len(analysis.evaluation.shares) == len(record.decisions) + 1
    True
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from helsinki_env.agents.base import FloatArray, Int8Array, KeyArray, seat_key
from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR, Evaluation, evaluate_actions
from helsinki_env.agents.registry import make_player
from helsinki_env.records import Record, replay_steps
from helsinki_env.records.animation import GameEvaluation, page, sandboxed_frame

__all__ = ["ANALYSIS_BATCH", "Analysis", "analysis_inputs", "analyze", "summarize_evaluations"]

ANALYSIS_BATCH = 16
"""Number of actions evaluated per call; progress is reported between calls."""


@dataclass(frozen=True)
class Analysis:
    """A game record with evaluations of its actions.

    Attributes:
        record: the game record.
        evaluation: evaluation of its actions.
    """

    record: Record
    evaluation: GameEvaluation

    def _repr_html_(self) -> str:
        """Return HTML that shows the game and its graph in a notebook."""
        return sandboxed_frame(page(self.record, self.evaluation))


def analysis_inputs(record: Record) -> tuple[Int8Array, Int8Array, KeyArray]:
    """Return the inputs of the acting seat before each of the D actions of a record.

    The random keys are those that `helsinki play` uses for the same seed.

    Returns:
        Observations int8 (D, F), action masks int8 (D, A) and random keys uint64 (D,).

    Raises:
        RecordError: if the record cannot be replayed.
    """
    size, ids = record.spec.observation_size(record.config), record.spec.num_actions(record.config)
    before = [game for game, action in replay_steps(record) if action is not None]
    observations, masks = np.zeros((len(before), size), np.int8), np.zeros((len(before), ids), np.int8)
    keys, steps = np.zeros(len(before), np.uint64), [0] * len(record.players)
    for i, game in enumerate(before):
        observations[i], masks[i] = game.observation(), game.action_mask()
        keys[i] = seat_key(record.seed, game.seat, steps[game.seat])
        steps[game.seat] += 1
    return observations, masks, keys


def summarize_evaluations(record: Record, evaluations: Sequence[Evaluation], evaluator: str) -> GameEvaluation:
    """Convert the evaluations of a record's actions to a `GameEvaluation`.

    Args:
        record: the game record.
        evaluations: evaluations of the D positions; an action that was not evaluated has no regret.
        evaluator: name of the evaluator.
    """
    costs, better = [], []
    for evaluation, action in zip(evaluations, record.decisions, strict=True):
        cost = evaluation.regret(action) if len(evaluation.actions) > 1 else None
        costs.append(cost)
        better.append(evaluation.best if cost else None)
    rows = [*(evaluation.expected for evaluation in evaluations), _final_probabilities(record, evaluations)]
    return GameEvaluation(evaluator, tuple(tuple(row.tolist()) for row in rows), tuple(costs), tuple(better))


def _final_probabilities(record: Record, evaluations: Sequence[Evaluation]) -> FloatArray:
    """Return every seat's win probability after the last action, float64 (n,)."""
    if record.places is not None:
        first = np.array(record.places) == 0
        return np.where(first, 1 / first.sum(), 0.0)
    if not evaluations:
        return np.full(len(record.players), 1 / len(record.players))
    after = evaluations[-1].after(record.decisions[-1])
    return evaluations[-1].expected if np.isnan(after).any() else after


def analyze(
    record: Record, evaluator: str = DEFAULT_EVALUATOR, *, progress: Callable[[int, int], None] | None = None
) -> Analysis:
    """Evaluate every action of a game.

    Args:
        record: the game record; the game may be unfinished.
        evaluator: name of a player that can evaluate actions, such as ``"net"`` or ``"net+search:100"``.
        progress: callback that receives the number of actions evaluated so far and the total.

    Raises:
        RecordError: if the record cannot be replayed.
        ValueError: if the player cannot evaluate actions or does not support the game.
        MissingExtraError: if the player needs an optional dependency that is not installed.
    """
    player = make_player(evaluator, record.config)
    observations, masks, keys = analysis_inputs(record)
    actions, evaluations = np.array(record.decisions, np.int64), list[Evaluation]()
    for first in range(0, len(actions), ANALYSIS_BATCH):
        rows = slice(first, first + ANALYSIS_BATCH)
        evaluations += evaluate_actions(
            player, record.config, observations[rows], masks[rows], keys[rows], actions[rows]
        )
        if progress is not None:
            progress(len(evaluations), len(actions))
    return Analysis(record, summarize_evaluations(record, evaluations, evaluator))

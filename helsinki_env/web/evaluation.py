"""Evaluations of games by players, computed in separate processes a few actions at a time."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from helsinki_env.agents.analysis import analysis_inputs, summarize_evaluations
from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR, Evaluation
from helsinki_env.data import choices_text, short_repr
from helsinki_env.records.animation import GameEvaluation
from helsinki_env.web.advice import DEEPER, evaluation_data
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.records import SavedGame

__all__ = ["EVALUATORS", "EvaluationJob", "EvaluationJobs"]

EVALUATORS = (DEFAULT_EVALUATOR, *(f"net+search:{trials}" for trials in DEEPER))
"""The available evaluators, fastest first."""
_MANY, _FEW = 32, 4
"""Numbers of actions evaluated per request by the network and by a search, small enough to show progress."""
_SIDE_BY_SIDE = 2
"""Maximum number of games evaluated in parallel; others wait."""
_KEPT = 100
_log = logging.getLogger(__name__)


@dataclass
class EvaluationJob:
    """The evaluation of a game, running or ended.

    Attributes:
        study: the game or position.
        judge: name of the evaluator.
        total: number of actions to evaluate.
        problem: error message; empty if there is none.
        opinions: evaluations of the first actions.
        judgement: evaluation of the whole game, once complete; None for a position.
        result: the data sent to pages, once all actions are evaluated.
        task: the running task, or None.
    """

    study: SavedGame
    judge: str
    total: int = 0
    problem: str = ""
    opinions: list[Evaluation] = field(default_factory=list)
    judgement: GameEvaluation | None = None
    result: dict[str, Any] | None = None
    task: asyncio.Task[None] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as plain data, with the results once they are complete."""
        state = "running" if self.task else "failed" if self.problem else "done" if self.result else "stopped"
        return {
            "judge": self.judge,
            "state": state,
            "done": len(self.opinions),
            "total": self.total,
            "problem": self.problem,
            "judgement": self.result,
        }


class EvaluationJobs:
    """All evaluations of games, running or ended.

    Args:
        thinkers: the pool of player processes.
    """

    def __init__(self, thinkers: PlayerPool) -> None:
        self._thinkers = thinkers
        self._judgings: dict[tuple[str, str], EvaluationJob] = {}
        self._turn = asyncio.Semaphore(_SIDE_BY_SIDE)

    def of(self, study: SavedGame, judge: str) -> EvaluationJob:
        """Return the progress of an evaluation.

        Raises:
            ValueError: if the evaluator does not exist.
        """
        if judge not in EVALUATORS:
            raise ValueError(f"judge: found {short_repr(judge)}, expected {choices_text(EVALUATORS, judge)}")
        return self._judgings.get((study.name, judge)) or EvaluationJob(study, judge)

    def start(self, study: SavedGame, judge: str) -> EvaluationJob:
        """Start the evaluation of a game unless it has already started; errors as in `of`."""
        judging = self.of(study, judge)
        if judging.task is None and judging.result is None:
            judging.problem = ""
            judging.task = asyncio.create_task(self._judge(judging))
            self._judgings[study.name, judge] = judging
            self._forget()
        return judging

    async def stop(self, study: SavedGame, judge: str) -> EvaluationJob:
        """Stop the evaluation of a game; a later start resumes from the partial results. Errors as in `of`."""
        judging = self.of(study, judge)
        await _end(judging)
        return judging

    async def remove(self, name: str) -> None:
        """Delete the evaluations of a game."""
        for key in [key for key in self._judgings if key[0] == name]:
            await _end(self._judgings.pop(key))

    async def close(self) -> None:
        """Stop all evaluations."""
        for judging in list(self._judgings.values()):
            await _end(judging)

    def _forget(self) -> None:
        """Delete the oldest evaluations that are not running."""
        idle = [key for key, judging in self._judgings.items() if judging.task is None]
        for key in idle[: max(0, len(self._judgings) - _KEPT)]:
            del self._judgings[key]

    async def _judge(self, judging: EvaluationJob) -> None:
        study, judge = judging.study, judging.judge
        try:
            async with self._turn:
                asked = await asyncio.to_thread(_questions, study)
                judging.total = len(asked[0])
                step = _MANY if judge == DEFAULT_EVALUATOR else _FEW
                while (first := len(judging.opinions)) < judging.total:
                    some = [values[first : first + step] for values in asked]
                    found = await self._thinkers.opinions(study.begin.config, judge, *some)
                    judging.opinions += found
                judging.result = await asyncio.to_thread(_verdict, judging)
        except (PlayerFailedError, ValueError) as problem:
            judging.problem = str(problem)
            _log.warning("record %s: %s", study.name, problem)
        finally:
            if judging.task is asyncio.current_task():  # no other task has replaced this one
                judging.task = None


async def _end(judging: EvaluationJob) -> None:
    task, judging.task = judging.task, None
    if task is not None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _questions(study: SavedGame) -> tuple[Any, ...]:
    """Return the arguments of `PlayerPool.opinions`: observations, masks, random keys, and a game's actions."""
    if study.record is not None:
        return (*analysis_inputs(study.record), np.array(study.record.decisions, np.int64))
    game = study.begin
    if game.done:
        raise ValueError("the game is over in this position: there is nothing to be judged")
    return game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64)


def _verdict(judging: EvaluationJob) -> dict[str, Any]:
    """Return the results of an evaluator as plain data: of a position's actions, or of a game."""
    study = judging.study
    if study.record is not None:
        judging.judgement = summarize_evaluations(study.record, judging.opinions, judging.judge)
        return judging.judgement.to_dict(study.record)
    game = study.begin
    touches = () if game.spec.list_ui_actions is None else game.spec.list_ui_actions(game, game.seat)
    words = {touch.id: touch.words for touch in touches}
    return evaluation_data(judging.opinions[0], words, by_share=judging.judge != DEFAULT_EVALUATOR)

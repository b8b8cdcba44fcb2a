"""Evaluations for pages: of the current position of a table, and of whole games in small batches."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from helsinki_env.agents.analysis import analysis_inputs, summarize_evaluations
from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR, Evaluation
from helsinki_env.data import choices_text, short_repr
from helsinki_env.records import Record, replay_steps
from helsinki_env.records.animation import GameEvaluation
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.reasons import reason_text
from helsinki_env.web.records import SavedGame

SIMULATIONS = (25, 100, 400)
"""Numbers of simulations that a page may request."""
EVALUATORS = (DEFAULT_EVALUATOR, *(f"net+search:{count}" for count in SIMULATIONS))
"""All available evaluators, fastest first."""
_SEARCH_DELAY = 0.2
"""Seconds that a request must remain unchanged before a search starts, because stopping a search ends a process."""
_MAX_CHOICES = 8
"""Maximum number of actions listed in an evaluation."""
_NETWORK_BATCH, _SEARCH_BATCH = 32, 4
"""Number of actions per call of the network and of a search. The batches are small enough to show progress."""
_MAX_REASONS = 12
"""Maximum number of actions per game whose regret is explained in words."""
_COSTLY = 0.03
"""Minimum regret of an action that is explained."""
_PARALLEL = 2
"""Maximum number of games evaluated in parallel; others wait."""
_MAX_JOBS = 100
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvaluationRequest:
    """A request from a page to evaluate the current position of a table."""

    number: int  # number of actions taken
    deeper: int  # number of search simulations; 0 uses only the network
    config: Any
    inputs: tuple[Any, Any, Any]  # observation int8 (1, F), mask int8 (1, A) and random key uint64 (1,)
    descriptions: Mapping[int, str]  # of every legal action, by id

    @property
    def evaluator(self) -> str:
        """Name of the evaluator."""
        return f"net+search:{self.deeper}" if self.deeper else DEFAULT_EVALUATOR


def evaluation_message(request: EvaluationRequest, evaluation: Evaluation) -> dict[str, Any]:
    """Return the message for the page, with the evaluator and its evaluation (`evaluation_data`)."""
    return {
        "type": "evaluation",
        "number": request.number,
        "evaluator": request.evaluator,
        "deeper": request.deeper,
        **evaluation_data(evaluation, request.descriptions, by_win_probability=request.deeper > 0),
    }


def evaluation_data(
    evaluation: Evaluation, descriptions: Mapping[int, str], *, by_win_probability: bool
) -> dict[str, Any]:
    """Return the win probability of every seat, and the best actions in descending order.

    Actions are sorted by the acting seat's win probability or by their policy probability. `descriptions` maps action
    ids to descriptions in words.
    """
    own = evaluation.shares[:, evaluation.seat]
    merit = np.nan_to_num(own, nan=-1.0) if by_win_probability else evaluation.probabilities
    order = np.lexsort((-evaluation.probabilities, -merit, evaluation.actions != evaluation.best))
    return {
        "seat": evaluation.seat,
        "shares": _rounded(evaluation.expected),
        "choices": [
            {
                "id": (action := int(evaluation.actions[i])),
                "words": descriptions.get(action, ""),
                "probability": _rounded(evaluation.probabilities[i]),
                "share": None if np.isnan(own[i]) else _rounded(own[i]),
            }
            for i in order[:_MAX_CHOICES]
        ],
    }


def _rounded(probabilities: Any) -> Any:
    return np.round(probabilities, 4).tolist()


class PageEvaluator:
    """Handles the evaluation requests of a page, one at a time. A superseded request gets no response."""

    def __init__(self, send: Callable[[dict[str, Any]], None], pool: PlayerPool) -> None:
        self._send, self._pool = send, pool
        self._wanted: EvaluationRequest | None = None
        self._current: EvaluationRequest | None = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, request: EvaluationRequest) -> None:
        """Replace the current request with a new request."""
        self._wanted = request
        self._stop_search()
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    def cancel(self) -> None:
        """Cancel the current request."""
        self._wanted = None
        self._stop_search()

    def _stop_search(self) -> None:
        # Stopping a request ends its process. The network itself is fast, but loading it again is slow.
        if self._task is not None and self._current is not None and self._current.deeper:
            self._task.cancel()
            self._task = None

    async def _work(self) -> None:
        try:
            while (request := self._wanted) is not None:
                self._current = request
                if request.deeper:
                    await asyncio.sleep(_SEARCH_DELAY)
                answer = await self._answer(request)
                if self._wanted is request:
                    self._wanted = None
                    self._send(answer)
        finally:
            if self._task is asyncio.current_task():
                self._task = self._current = None

    async def _answer(self, request: EvaluationRequest) -> dict[str, Any]:
        try:
            evaluations = await self._pool.evaluate(request.config, request.evaluator, *request.inputs)
        except PlayerFailedError as problem:
            return {"type": "not_evaluated", "number": request.number, "message": str(problem)}
        return evaluation_message(request, evaluations[0])


@dataclass
class EvaluationJob:
    """A running or finished evaluation of a game or position."""

    saved: SavedGame
    evaluator: str
    total: int = 0  # number of actions to evaluate
    problem: str = ""  # error message
    evaluations: list[Evaluation] = field(default_factory=list)  # of the first actions
    game_evaluation: GameEvaluation | None = None  # set once complete; None for a position
    result: dict[str, Any] | None = None  # data for pages, set once complete
    task: asyncio.Task[None] | None = None  # set while it is running

    def to_dict(self) -> dict[str, Any]:
        """Return the progress as a dict, with the results once they are complete."""
        state = "running" if self.task else "failed" if self.problem else "done" if self.result else "stopped"
        return {
            "evaluator": self.evaluator,
            "state": state,
            "done": len(self.evaluations),
            "total": self.total,
            "problem": self.problem,
            "evaluation": self.result,
        }

    async def end(self) -> None:
        """Stop the task, but keep the partial results."""
        task, self.task = self.task, None
        if task is not None:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class EvaluationJobs:
    """All running and finished evaluations of games and positions."""

    def __init__(self, pool: PlayerPool) -> None:
        self._pool = pool
        self._jobs: dict[tuple[str, str], EvaluationJob] = {}
        self._parallel = asyncio.Semaphore(_PARALLEL)

    def of(self, saved: SavedGame, evaluator: str) -> EvaluationJob:
        """Return an evaluation, which may not have started yet; raise ValueError if the evaluator does not exist."""
        if evaluator not in EVALUATORS:
            raise ValueError(
                f"evaluator: found {short_repr(evaluator)}, expected {choices_text(EVALUATORS, evaluator)}"
            )
        return self._jobs.get((saved.name, evaluator)) or EvaluationJob(saved, evaluator)

    def start(self, saved: SavedGame, evaluator: str) -> EvaluationJob:
        """Start or resume the evaluation of a game unless it is already running or complete."""
        job = self.of(saved, evaluator)
        if job.task is None and job.result is None:
            job.problem = ""
            job.task = asyncio.create_task(self._run(job))
            self._jobs[saved.name, evaluator] = job
            idle = [key for key, other in self._jobs.items() if other.task is None]
            for key in idle[: max(0, len(self._jobs) - _MAX_JOBS)]:  # remove the oldest ones
                del self._jobs[key]
        return job

    async def stop(self, saved: SavedGame, evaluator: str) -> EvaluationJob:
        """Stop the evaluation of a game."""
        job = self.of(saved, evaluator)
        await job.end()
        return job

    async def remove(self, name: str) -> None:
        """Stop and delete the evaluations of a game."""
        for key in [key for key in self._jobs if key[0] == name]:
            await self._jobs.pop(key).end()

    async def close(self) -> None:
        """Stop all evaluations."""
        for job in list(self._jobs.values()):
            await job.end()

    async def _run(self, job: EvaluationJob) -> None:
        try:
            async with self._parallel:
                inputs = await asyncio.to_thread(_inputs, job.saved)
                job.total = len(inputs[0])
                batch = _NETWORK_BATCH if job.evaluator == DEFAULT_EVALUATOR else _SEARCH_BATCH
                left = [values[len(job.evaluations) :] for values in inputs]
                async for one in self._pool.evaluate_all(job.saved.begin.config, job.evaluator, left, batch):
                    job.evaluations.append(one)
                job.result = await asyncio.to_thread(_result, job)
        except (PlayerFailedError, ValueError) as problem:
            job.problem = str(problem)
            _log.warning("record %s: %s", job.saved.name, problem)
        finally:
            if job.task is asyncio.current_task():  # this task has not been replaced by another
                job.task = None


def _inputs(saved: SavedGame) -> tuple[Any, ...]:
    """Return the arguments for `PlayerPool.evaluate` (observations, masks, random keys), and the actions of a game."""
    if saved.record is not None:
        return (*analysis_inputs(saved.record), np.array(saved.record.decisions, np.int64))
    game = saved.begin
    if game.done:
        raise ValueError("the game is over in this position, so there is nothing to evaluate")
    return game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64)


def _reasons(record: Record, evaluation: GameEvaluation) -> list[str]:
    """Explain in words, for each action, what the best action gains; empty except for the largest regrets."""
    costs = [(cost or 0.0, number) for number, cost in enumerate(evaluation.costs)]
    costly = {number for cost, number in sorted(costs, reverse=True)[:_MAX_REASONS] if cost >= _COSTLY}
    why = []
    for number, (game, action) in enumerate(replay_steps(record)):
        better = None if action is None else evaluation.better[number]
        if action is None or better is None or number not in costly:
            why.append("")
        else:
            why.append(reason_text(game, better, action))
    return why[: len(record.decisions)]


def _result(job: EvaluationJob) -> dict[str, Any]:
    """Return the results for a position's actions or for a game, as JSON-serializable data."""
    record, game = job.saved.record, job.saved.begin
    if record is not None:
        job.game_evaluation = summarize_evaluations(record, job.evaluations, job.evaluator)
        return job.game_evaluation.to_dict(record) | {"why": _reasons(record, job.game_evaluation)}
    ui_actions = () if game.spec.list_ui_actions is None else game.spec.list_ui_actions(game, game.seat)
    descriptions = {one.id: one.words for one in ui_actions}
    return evaluation_data(job.evaluations[0], descriptions, by_win_probability=job.evaluator != DEFAULT_EVALUATOR)

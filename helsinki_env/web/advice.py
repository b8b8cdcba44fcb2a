"""Network evaluations for a page, based on what the acting seat observes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from helsinki_env.agents.base import seat_key
from helsinki_env.agents.evaluation import DEFAULT_EVALUATOR, Evaluation
from helsinki_env.data import short_repr
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.tables import GameTable, TableError

if TYPE_CHECKING:
    from helsinki_env.web.sessions import PageConnection

__all__ = ["DEEPER", "AnalysisTask", "EvaluationRequest", "answer_to", "evaluation_data", "evaluation_request"]

DEEPER = (25, 100, 400)
"""Numbers of search simulations that a page may request."""
_SETTLED = 0.2
"""Seconds that a question must stay unchanged before a search starts, because stopping a search ends a process."""
_MOST = 8
"""Maximum number of actions reported."""


@dataclass(frozen=True)
class EvaluationRequest:
    """A page's request for an evaluation.

    Attributes:
        number: number of actions taken before the current position.
        deeper: number of search simulations; 0 uses the network alone.
        config: game configuration.
        seen: observation int8 (1, F), mask int8 (1, A) and random key uint64 (1,).
        words: description of every legal action, by id.
    """

    number: int
    deeper: int
    config: Any
    seen: tuple[Any, Any, Any]
    words: Mapping[int, str]

    @property
    def judge(self) -> str:
        """The name of the evaluator."""
        return f"net+search:{self.deeper}" if self.deeper else DEFAULT_EVALUATOR


def evaluation_request(
    table: GameTable, page: PageConnection, message: Mapping[str, Any], words: Mapping[int, str]
) -> EvaluationRequest:
    """Return the evaluation that a page requests at a table.

    Args:
        table: the table.
        page: the page that sent the message.
        message: the message, with `number` and `deeper`.
        words: description of every legal action, by id.

    Raises:
        TableError: if the request is not allowed now: it is not the page's turn, or it would reveal hidden cards.
    """
    table.check_number(message["number"])
    game, deeper = table.game, message["deeper"]
    if deeper not in (0, *DEEPER):
        raise TableError(
            f"deeper: found {short_repr(deeper)}, expected 0 or one of {', '.join(map(str, DEEPER))} trials"
        )
    if game.done:
        raise TableError("judge: the game is over, there is nothing to decide")
    if page.handover_seat(table) is not None:
        raise TableError(f"judge: {table.chairs[game.seat].name} must take the device first")
    if page.mine and game.seat != page.viewing_seat:
        raise TableError(f"judge: it is the turn of {table.chairs[game.seat].name}; ask when it is yours")
    # The key does not derive from the seed, unlike those of players, so the evaluation reveals nothing about the seed.
    word = seat_key(0, game.seat, table.number)
    return EvaluationRequest(table.number, deeper, table.config, (*table.question()[:2], np.array([word])), words)


def answer_to(question: EvaluationRequest, opinion: Evaluation) -> dict[str, Any]:
    """Return the message for the page: the evaluator and its evaluation (`evaluation_data`)."""
    return {
        "type": "opinion",
        "number": question.number,
        "judge": question.judge,
        "deeper": question.deeper,
        **evaluation_data(opinion, question.words, by_share=question.deeper > 0),
    }


def evaluation_data(opinion: Evaluation, words: Mapping[int, str], *, by_share: bool) -> dict[str, Any]:
    """Return an evaluation as plain data: every seat's win probability and the best actions, best first.

    Args:
        opinion: the evaluation.
        words: description of every legal action, by id.
        by_share: rank actions by the acting seat's win probability instead of the policy probability.
    """
    own = opinion.shares[:, opinion.seat]
    merit = np.nan_to_num(own, nan=-1.0) if by_share else opinion.probabilities
    order = np.lexsort((-opinion.probabilities, -merit, opinion.actions != opinion.best))
    return {
        "seat": opinion.seat,
        "shares": _rounded(opinion.expected),
        "choices": [
            {
                "id": (action := int(opinion.actions[i])),
                "words": words.get(action, ""),
                "probability": _rounded(opinion.probabilities[i]),
                "share": None if np.isnan(own[i]) else _rounded(own[i]),
            }
            for i in order[:_MOST]
        ],
    }


def _rounded(shares: Any) -> Any:
    return np.round(shares, 4).tolist()


class AnalysisTask:
    """Answers evaluation requests of one page, one at a time; a superseded request gets no answer.

    Args:
        send: sends a message to the page.
        thinkers: the pool of player processes.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None], thinkers: PlayerPool) -> None:
        self._send, self._thinkers = send, thinkers
        self._wanted: EvaluationRequest | None = None
        self._asked: EvaluationRequest | None = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, question: EvaluationRequest) -> None:
        """Replace the current question with a new one."""
        self._wanted = question
        self._cut()
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    def forget(self) -> None:
        """Cancel the current question."""
        self._wanted = None
        self._cut()

    def _cut(self) -> None:
        # Stopping a question ends its process. The network alone is quick, but loading it again is not.
        if self._task is not None and self._asked is not None and self._asked.deeper:
            self._task.cancel()
            self._task = None

    async def _work(self) -> None:
        try:
            while (asked := self._wanted) is not None:
                self._asked = asked
                if asked.deeper:
                    await asyncio.sleep(_SETTLED)
                answer = await self._answer(asked)
                if self._wanted is asked:
                    self._wanted = None
                    self._send(answer)
        finally:
            if self._task is asyncio.current_task():
                self._task = self._asked = None

    async def _answer(self, question: EvaluationRequest) -> dict[str, Any]:
        try:
            found = await self._thinkers.opinions(question.config, question.judge, *question.seen)
        except PlayerFailedError as problem:
            return {"type": "unjudged", "number": question.number, "message": str(problem)}
        return answer_to(question, found[0])

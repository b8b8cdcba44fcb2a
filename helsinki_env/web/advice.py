"""What the network thinks, for the page that asks, by what the seat to move sees."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from agents.base import seat_word
from agents.opinion import DEFAULT_JUDGE, Opinion
from helsinki_env.data import shown
from helsinki_env.web.tables import Table, TableError
from helsinki_env.web.thinking import PlayerFailedError, Thinkers

if TYPE_CHECKING:
    from helsinki_env.web.rooms import Page

__all__ = ["DEEPER", "Adviser", "Question", "answer_to", "question_at", "told"]

DEEPER = (25, 100, 400)
"""Trials that a page may ask for."""
_SETTLED = 0.2
"""Seconds that a page must stay with a question before a search begins: to stop one ends a process."""
_MOST = 8
"""Most decisions that are told of."""


@dataclass(frozen=True)
class Question:
    """What a page wants to know.

    Attributes:
        number: how many decisions were taken before.
        deeper: trials of the search; 0: the network alone.
        config: what is played.
        seen: observation int8 (1, F), mask int8 (1, A) and random word uint64 (1,).
        words: every legal decision in words, by id.
    """

    number: int
    deeper: int
    config: Any
    seen: tuple[Any, Any, Any]
    words: Mapping[int, str]

    @property
    def judge(self) -> str:
        """The player who is asked."""
        return f"net+search:{self.deeper}" if self.deeper else DEFAULT_JUDGE


def question_at(table: Table, page: Page, message: Mapping[str, Any], words: Mapping[int, str]) -> Question:
    """Return what a page asks for at a table.

    Args:
        table: the table.
        page: who asks.
        message: the page's, with `number` and `deeper`.
        words: every legal decision in words, by id.

    Raises:
        TableError: if it must not ask that now: it has another turn, or cards that it does not see would be judged.
    """
    table.check_number(message["number"])
    game, deeper = table.game, message["deeper"]
    if deeper not in (0, *DEEPER):
        raise TableError(f"deeper: found {shown(deeper)}, expected 0 or one of {', '.join(map(str, DEEPER))} trials")
    if game.done:
        raise TableError("judge: the game is over, there is nothing to decide")
    if page.curtain(table) is not None:
        raise TableError(f"judge: {table.chairs[game.seat].name} must take the device first")
    if page.mine and game.seat != page.looking:
        raise TableError(f"judge: it is the turn of {table.chairs[game.seat].name}; ask when it is yours")
    # The word does not come from the seed, as those of players do: nothing that a page gets follows from that.
    word = seat_word(0, game.seat, table.number)
    return Question(table.number, deeper, table.config, (*table.question()[:2], np.array([word])), words)


def answer_to(question: Question, opinion: Opinion) -> dict[str, Any]:
    """Return what a page is told: who judged, and what they think (`told`)."""
    return {
        "type": "opinion",
        "number": question.number,
        "judge": question.judge,
        "deeper": question.deeper,
        **told(opinion, question.words, by_share=question.deeper > 0),
    }


def told(opinion: Opinion, words: Mapping[int, str], *, by_share: bool) -> dict[str, Any]:
    """Return an opinion as plain data: every seat's share of the win, and the best decisions, the best one first.

    Args:
        opinion: what somebody thinks.
        words: every legal decision in words, by id.
        by_share: whether the better decision is the one after which the own share is larger, not the likelier one.
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


class Adviser:
    """Asks for a page, one question at a time; what it does not want to know any more is not told.

    Args:
        send: tells the page something.
        thinkers: who asks players.
    """

    def __init__(self, send: Callable[[dict[str, Any]], None], thinkers: Thinkers) -> None:
        self._send, self._thinkers = send, thinkers
        self._wanted: Question | None = None
        self._asked: Question | None = None
        self._task: asyncio.Task[None] | None = None

    def ask(self, question: Question) -> None:
        """Ask a question instead of any other."""
        self._wanted = question
        self._cut()
        if self._task is None:
            self._task = asyncio.create_task(self._work())

    def forget(self) -> None:
        """Want no answer any more."""
        self._wanted = None
        self._cut()

    def _cut(self) -> None:
        # To stop a question ends its process. The network alone is quick, but loading it anew is not.
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

    async def _answer(self, question: Question) -> dict[str, Any]:
        try:
            found = await self._thinkers.opinions(question.config, question.judge, *question.seen)
        except PlayerFailedError as problem:
            return {"type": "unjudged", "number": question.number, "message": str(problem)}
        return answer_to(question, found[0])

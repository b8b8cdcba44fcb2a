"""The practice session of a page: it shows one exercise after another and grades the answers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from helsinki_env.web.help import explanation, rules_text
from helsinki_env.web.player_workers import PlayerFailedError, PlayerPool
from helsinki_env.web.practice import Exercise, Exercises, evaluate_own, grade, puzzle, puzzles
from helsinki_env.web.store import StoreError
from helsinki_env.web.tables import TableError
from helsinki_env.web.views import choices, encode_message, picture, table_view

PRACTICE, PUZZLES = "practice", "puzzles"
"""Names of the two kinds of practice, which are part of their URLs."""
_IGNORED = ("pace", "cancel", "lesson", "go", "stop")
"""Message types that have no effect in practice sessions."""


def exercise_view(exercise: Exercise, legal: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the view of an exercise for its seat, with undo disabled."""
    table, seat = exercise.table, exercise.seat
    view = table_view(table, (seat,), seat, None, None, None, lambda viewer: picture(table, viewer), lambda: legal)
    return view | {"selection": None, "undo": None, "takeback": [], "table": exercise.name}


class PracticeSession:
    """A page's series of exercises; `name` is `PRACTICE` or `PUZZLES`, and `first` the index of the first puzzle."""

    def __init__(
        self, name: str, exercises: Exercises, pool: PlayerPool, send: Callable[[str], None], first: int = 0
    ) -> None:
        self._name, self._exercises, self._pool, self._send_text = name, exercises, pool, send
        self._exercise: Exercise | None = None
        self._legal: list[dict[str, Any]] = []
        self._number = (first if 0 < first < len(puzzles()) else 0) - 1  # index of the puzzle
        self._answered = False
        self._shown: set[str] = set()  # exercises that were shown since all due ones were shown
        self._task: asyncio.Task[None] | None = None

    def _send(self, message: dict[str, Any]) -> None:
        self._send_text(encode_message(message))

    def begin(self) -> None:
        """Show the first exercise."""
        if self._name == PRACTICE:
            self._exercises.examine()
        self._next()

    def _next(self) -> None:
        if self._name == PUZZLES:
            self._number += 1
            self._exercise = puzzle(self._number) if self._number < len(puzzles()) else None
        else:
            self._exercise = self._exercises.next(self._shown)
            if self._exercise is None:
                self._shown.clear()
                self._exercise = self._exercises.next()
            self._shown |= {self._exercise.name} if self._exercise else set()
        self._answered = False
        counts = self._exercises.counts(waits=True)
        if self._name == PUZZLES:
            counts = {"total": len(puzzles()), "due": max(0, len(puzzles()) - self._number), "left": 0}
        exercise = self._exercise
        described = None
        if exercise is not None:
            described = {"title": exercise.title, "seen": exercise.answers, "level": exercise.level}
        self._send({"type": "practice", "kind": self._name, **counts, "exercise": described})
        if exercise is not None:
            self._legal = choices(exercise.table.game)
            self._send(exercise_view(exercise, self._legal))

    def handle(self, message: dict[str, Any]) -> None:
        """Handle a message from the page; raise TableError if it is not possible in an exercise."""
        kind = message["type"]
        if kind == "ping":
            self._send({"type": "pong"})
        elif kind == "next":
            self._check_graded()
            self._next()
        elif kind not in _IGNORED:
            if self._exercise is None:
                raise TableError("practice: no exercise is due now")
            self._answer(kind, message, self._exercise)
        if message["once"]:
            self._send({"type": "done", "once": message["once"]})

    def _answer(self, kind: str, message: dict[str, Any], exercise: Exercise) -> None:
        table = exercise.table
        if kind == "decide":
            if message["action"] not in {one["id"] for one in self._legal}:
                raise TableError(f"action: found {message['action']}, expected a legal action")
            self._check_graded()
            self._task = asyncio.create_task(self._grade(exercise, message["action"]))
        elif kind == "explain":
            if message["number"] != table.number:
                return  # the page asked about an earlier picture
            spots = picture(table, exercise.seat)["spots"]
            self._send(explanation(table, (exercise.seat,), exercise.seat, message["spot"], spots, self._legal))
        elif kind == "rules":
            self._send({"type": "rules", "sections": rules_text(table.config)})
        else:
            raise TableError(f"type: found {kind!r}, expected an answer to the exercise")

    def _check_graded(self) -> None:
        """Raise TableError if an answer is being graded: canceling the evaluation would end a player process."""
        if self._task is not None and not self._task.done():
            raise TableError("practice: the answer is being graded; wait for its grade")

    async def _grade(self, exercise: Exercise, action: int) -> None:
        days = 0.0
        try:
            evaluation = await evaluate_own(self._pool, exercise.table, action)
            graded = await asyncio.to_thread(grade, exercise.table, evaluation, action)
            if not self._answered and self._name == PRACTICE:  # only the first answer is saved
                days = self._exercises.answered(exercise, graded["good"])
        except (PlayerFailedError, TableError, StoreError) as problem:
            self._send({"type": "error", "message": str(problem)})
            return
        self._answered = True
        words = {one["id"]: one["words"] for one in self._legal}
        told = {"played": words.get(exercise.taken, ""), "same": action == exercise.taken, "days": days}
        self._send({"type": "graded", "number": exercise.table.number, **graded, **told})

    def close(self) -> None:
        """Stop the evaluation in progress."""
        if self._task is not None:
            self._task.cancel()

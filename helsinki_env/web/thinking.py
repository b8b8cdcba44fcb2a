"""Players that think in processes of their own, so that a slow one keeps nobody else waiting and can be stopped."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache, partial
from multiprocessing.connection import Connection
from typing import Any

from agents.opinion import Opinion, opinions
from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.stopping import interrupts_held

__all__ = ["MOST_WORKERS", "PlayerFailedError", "Thinkers"]

MOST_WORKERS = 8
"""Most processes; players beyond wait for one of them."""
_KEPT = 2
"""Processes that stay when nobody thinks."""
_IDLE = 60.0
"""Seconds after which the others are ended: to start one takes longer than most players think."""
_BEHIND = 5
"""How far players stand back behind the server, which has little to do and whom everybody waits for (`os.nice`)."""


class PlayerFailedError(RuntimeError):
    """A player that raised an error, or whose process ended; the message says what happened."""


@lru_cache(maxsize=16)
def _player(config: str, name: str) -> Any:
    from agents.registry import make_player

    return make_player(name, config_from_dict(json.loads(config)))


def _decided(config: str, name: str, observation: Any, mask: Any, words: Any) -> int:
    return int(_player(config, name).act(observation, mask, words)[0])


def _judged(config: str, name: str, *rows: Any) -> list[Opinion]:
    return opinions(_player(config, name), config_from_dict(json.loads(config)), *rows)


#: What a process is asked for, and what answers it.
_ANSWERS: dict[str, Callable[..., Any]] = {"decide": _decided, "judge": _judged}


def _work(questions: Connection) -> None:
    """Answer questions until there are no more: what a process does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the server's, which ends its processes itself
    if hasattr(os, "nice"):
        os.nice(_BEHIND)
    while True:
        try:
            kind, config, name, *given = questions.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[str, Any] = ("said", _ANSWERS[kind](config, name, *given))
        except Exception as problem:  # a player may be anybody's, and must not end the process
            whole = isinstance(problem, ValueError | ImportError)  # a sentence that says what is wrong
            answer = ("failed", str(problem) if whole else f"{type(problem).__name__}: {problem}")
        questions.send(answer)


class _Worker:
    """A process and the line to it."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        with interrupts_held():
            self.process.start()
        theirs.close()
        self.last_used, self.ended = 0.0, False

    def ask(self, question: Any) -> tuple[str, Any]:
        """Return the answer; if there is none, the process is gone when the error is raised."""
        try:
            self.line.send(question)
            answer: tuple[str, Any] = self.line.recv()
        except BaseException:
            self.process.kill()
            self.process.join()
            raise
        return answer

    def end(self) -> None:
        self.ended = True
        self.process.kill()


class Thinkers:
    """Processes that ask players, as many as are needed up to `MOST_WORKERS`."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._free = asyncio.Semaphore(MOST_WORKERS)
        self._threads = ThreadPoolExecutor(MOST_WORKERS, "thinking")
        self._closed = False

    def begin(self) -> None:
        """Start a process ahead of the first question."""
        self._rest(self._new())

    def _new(self) -> _Worker:
        # Without a thread: a start that is cancelled halfway would leave a process that nobody counts.
        worker = _Worker()
        self._all.add(worker)
        return worker

    async def decide(self, config: Any, player: str, question: tuple[Any, Any, Any]) -> int:
        """Return a player's decision. Who cancels this stops the player.

        Args:
            config: what is played.
            player: the player's name.
            question: observation, mask and random word, as `Table.question` gives them.

        Raises:
            PlayerFailedError: if there is no answer.
        """
        return int(await self._ask("decide", config, player, *question))

    async def opinions(
        self, config: Any, judge: str, observations: Any, masks: Any, words: Any, also: Any = None
    ) -> list[Opinion]:
        """Return what a player thinks of decisions, see `agents.opinion.opinions`. Who cancels this stops the player.

        Args:
            config: what is played.
            judge: the player's name.
            observations: int8 (B, F), as `agents.analysis.questions` gives them.
            masks: int8 (B, A), likewise.
            words: uint64 (B,), likewise.
            also: decisions that are looked at whatever the player looks at, int64 (B,).

        Raises:
            PlayerFailedError: if there is no answer, as the player does not judge or does not fit the game.
        """
        found: list[Opinion] = await self._ask("judge", config, judge, observations, masks, words, also)
        return found

    async def _ask(self, kind: str, config: Any, player: str, *given: Any) -> Any:
        await self._free.acquire()
        try:
            if self._closed:
                raise PlayerFailedError(f"{player} cannot be asked: the server ends")
            worker = self._idle.pop() if self._idle else self._new()
        except OSError as problem:
            self._free.release()
            raise PlayerFailedError(f"no process could be started for {player}: {problem}") from problem
        except BaseException:
            self._free.release()
            raise
        asked = (kind, json.dumps(config_to_dict(config), sort_keys=True), player, *given)
        answering = asyncio.get_running_loop().run_in_executor(self._threads, worker.ask, asked)
        answering.add_done_callback(partial(self._take_back, worker))
        try:
            how, answer = await asyncio.shield(answering)
        except asyncio.CancelledError:
            if not answering.done():
                worker.end()
            raise
        except Exception as problem:
            raise PlayerFailedError(f"the process of {player} ended") from problem
        if how == "failed":
            raise PlayerFailedError(f"{player}: {answer}")
        return answer

    def _take_back(self, worker: _Worker, answering: asyncio.Future[Any]) -> None:
        """Let a process rest that has answered, and forget one that has ended; only then is its place free."""
        failed = answering.cancelled() or answering.exception() is not None
        if failed or worker.ended:
            self._end(worker)
        else:
            self._rest(worker)
        self._free.release()

    def _rest(self, worker: _Worker) -> None:
        """Let a process wait for its next question; the last one to rest is the next to be asked."""
        loop = asyncio.get_running_loop()
        worker.last_used = loop.time()
        self._idle.append(worker)
        loop.call_later(_IDLE, self._end_idle)

    def _end_idle(self) -> None:
        rested = asyncio.get_running_loop().time() - _IDLE
        while len(self._idle) > _KEPT and self._idle[0].last_used <= rested:
            self._end(self._idle.pop(0))

    def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        worker.end()
        worker.line.close()

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for worker in list(self._all):
            worker.end()
        self._idle.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

"""Player workers: players run in separate processes, so that a slow one blocks nothing and can be stopped."""

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

from helsinki_env.agents.evaluation import Evaluation, evaluate_actions
from helsinki_env.agents.net.description import set_warning_handler, warn_once
from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.utils.stopping import block_interrupts

__all__ = ["MOST_WORKERS", "PlayerFailedError", "PlayerPool"]

MOST_WORKERS = 8
"""Maximum number of processes; further requests wait for a free one."""
_KEPT = 2
"""Number of idle processes that are not ended."""
_IDLE = 60.0
"""Seconds after which other idle processes end; starting one takes longer than most players need for an action."""
_BEHIND = 5
"""Niceness of player processes relative to the server, which does little work and must respond quickly (`os.nice`)."""


class PlayerFailedError(RuntimeError):
    """Raised if a player raises an error or its process ends; the message describes the cause."""


@lru_cache(maxsize=16)
def _player(config: str, name: str) -> Any:
    from helsinki_env.agents.registry import make_player

    return make_player(name, config_from_dict(json.loads(config)))


def _decided(config: str, name: str, observation: Any, mask: Any, words: Any) -> int:
    return int(_player(config, name).act(observation, mask, words)[0])


def _judged(config: str, name: str, *rows: Any) -> list[Evaluation]:
    return evaluate_actions(_player(config, name), config_from_dict(json.loads(config)), *rows)


#: The request types of a process and their handlers.
_ANSWERS: dict[str, Callable[..., Any]] = {"decide": _decided, "judge": _judged}


def _work(questions: Connection) -> None:
    """Answer requests until the connection closes; the main function of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the server, which ends its processes
    if hasattr(os, "nice"):
        os.nice(_BEHIND)
    warnings = list[str]()
    set_warning_handler(warnings.append)
    while True:
        try:
            kind, config, name, *given = questions.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[str, Any] = ("said", _ANSWERS[kind](config, name, *given))
        except Exception as problem:  # a third-party player must not end the process
            whole = isinstance(problem, ValueError | ImportError)  # the message is self-explanatory
            answer = ("failed", str(problem) if whole else f"{type(problem).__name__}: {problem}")
        questions.send((*answer, tuple(warnings)))
        warnings.clear()


class _Worker:
    """A process and its connection."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs,), daemon=True)
        with block_interrupts():
            self.process.start()
        theirs.close()
        self.last_used, self.ended = 0.0, False

    def ask(self, question: Any) -> tuple[str, Any, tuple[str, ...]]:
        """Return the answer; if there is none, the process has ended when the error is raised."""
        try:
            self.line.send(question)
            answer: tuple[str, Any, tuple[str, ...]] = self.line.recv()
        except BaseException:
            self.process.kill()
            self.process.join()
            raise
        return answer

    def end(self) -> None:
        self.ended = True
        self.process.kill()


class PlayerPool:
    """Pool of player processes, started on demand up to `MOST_WORKERS`."""

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._free = asyncio.Semaphore(MOST_WORKERS)
        self._threads = ThreadPoolExecutor(MOST_WORKERS, "thinking")
        self._closed = False

    def begin(self) -> None:
        """Start a process before the first request."""
        self._rest(self._new())

    def _new(self) -> _Worker:
        # Not in a thread: a start that is canceled halfway would leave a process that is not tracked.
        worker = _Worker()
        self._all.add(worker)
        return worker

    async def decide(self, config: Any, player: str, question: tuple[Any, Any, Any]) -> int:
        """Return a player's action. Canceling the call stops the player.

        Args:
            config: game configuration.
            player: name of the player.
            question: observation, mask and random key, as returned by `Table.question`.

        Raises:
            PlayerFailedError: if the player gives no answer.
        """
        return int(await self._ask("decide", config, player, *question))

    async def opinions(
        self, config: Any, judge: str, observations: Any, masks: Any, words: Any, also: Any = None
    ) -> list[Evaluation]:
        """Return a player's evaluations; see `agents.evaluation.evaluate_actions`. Canceling the call stops the player.

        Args:
            config: game configuration.
            judge: name of the evaluator.
            observations: int8 (B, F), as returned by `helsinki_env.agents.analysis.analysis_inputs`.
            masks: int8 (B, A), from the same function.
            words: random keys uint64 (B,), from the same function.
            also: int64 (B,), actions to evaluate in addition to those that the player examines.

        Raises:
            PlayerFailedError: if there is no answer because the player does not evaluate or does not fit the game.
        """
        found: list[Evaluation] = await self._ask("judge", config, judge, observations, masks, words, also)
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
            how, answer, warnings = await asyncio.shield(answering)
        except asyncio.CancelledError:
            if not answering.done():
                worker.end()
            raise
        except Exception as problem:
            raise PlayerFailedError(f"the process of {player} ended") from problem
        for text in warnings:
            warn_once(text)
        if how == "failed":
            raise PlayerFailedError(f"{player}: {answer}")
        return answer

    def _take_back(self, worker: _Worker, answering: asyncio.Future[Any]) -> None:
        """Return a process to the pool, or remove it if it has ended; only then is its slot free."""
        failed = answering.cancelled() or answering.exception() is not None
        if failed or worker.ended:
            self._end(worker)
        else:
            self._rest(worker)
        self._free.release()

    def _rest(self, worker: _Worker) -> None:
        """Make a process idle; the process that became idle last gets the next request."""
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

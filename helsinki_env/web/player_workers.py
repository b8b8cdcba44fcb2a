"""Run players in separate processes, so that a slow player does not block the server and can be stopped."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from multiprocessing.connection import Connection
from typing import Any

from helsinki_env.agents.evaluation import Evaluation, evaluate_actions
from helsinki_env.agents.net.description import set_warning_handler, warn_once
from helsinki_env.agents.replaced_actions import replaced_actions_of
from helsinki_env.data import UserError
from helsinki_env.engine.spec import config_from_dict, config_to_dict
from helsinki_env.utils.stopping import block_interrupts
from helsinki_env.web.own_players import CHECKPOINT, OwnPlayers

MAX_WORKERS = 8
"""Maximum number of processes; additional requests wait until a process is free."""
_MIN_IDLE = 2
"""Number of idle processes that are never ended."""
_IDLE_SECONDS = 60.0
"""Seconds after which other idle processes end. Starting a process takes longer than an action of most players."""
_PATIENCE = 0.25
"""Seconds for which a request waits for a busy process before another one is started."""
_NICENESS = 5
"""Niceness (`os.nice`) of player processes relative to the server, which does little work and must respond quickly."""


class PlayerFailedError(RuntimeError):
    """Raised if a player has raised an error or its process has ended. The message describes the cause."""


class PlayerEndedError(PlayerFailedError):
    """Raised if the process of a player has ended or cannot be started; a later call may succeed."""


@lru_cache(maxsize=16)
def _player(config: str, name: str) -> Any:
    from helsinki_env.agents.registry import make_player
    from helsinki_env.web.levels import LEVEL, level

    if name.startswith(CHECKPOINT):  # the digest serves only as part of the cache key
        name = name.removeprefix(CHECKPOINT).partition(":")[2]
    made = level if name.startswith(LEVEL) else make_player
    return made(name.removeprefix(LEVEL), config_from_dict(json.loads(config)))


def _act(config: str, name: str, observation: Any, mask: Any, keys: Any) -> tuple[int, bool]:
    """Return a player's action, and whether the player replaced an illegal, late or missing one."""
    player = _player(config, name)
    before = replaced_actions_of(player)
    action = int(player.act(observation, mask.copy(), keys)[0])
    if not (0 <= action < mask.shape[1] and mask[0, action]):
        # The message must not list the legal actions, which reveal the hand.
        raise UserError(f"found action {action}, expected a legal one")
    return action, replaced_actions_of(player) != before


def _check(config: str, name: str) -> None:
    _player(config, name)


def _evaluate(config: str, name: str, *rows: Any) -> list[Evaluation]:
    return evaluate_actions(_player(config, name), config_from_dict(json.loads(config)), *rows)


def _work(requests: Connection) -> None:
    """Handle requests until the connection closes; the main function of a worker process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C stops the server, which then ends its processes
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    warnings = list[str]()
    set_warning_handler(warnings.append)
    while True:
        try:
            handler, *arguments = requests.recv()
        except (EOFError, OSError):
            return
        try:
            answer: tuple[bool, Any] = (True, handler(*arguments))
        except Exception as problem:  # a third-party player must not end the process
            clear = isinstance(problem, ValueError | ImportError)  # the message is self-explanatory
            answer = (False, str(problem) if clear else f"{type(problem).__name__}: {problem}")
        requests.send((*answer, tuple(warnings)))
        warnings.clear()


class _Worker:
    """A worker process and its connection."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, other_end = context.Pipe()
        self.process = context.Process(target=_work, args=(other_end,), daemon=True)
        with block_interrupts():
            self.process.start()
        other_end.close()
        self.last_used, self.ended = 0.0, False

    def call(self, request: Any) -> tuple[bool, Any, tuple[str, ...]]:
        """Return whether a call succeeded, its result or error, and warnings; an exception here ends the process."""
        try:
            self.connection.send(request)
            answer: tuple[bool, Any, tuple[str, ...]] = self.connection.recv()
        except BaseException:
            self.process.kill()
            self.process.join()
            raise
        return answer

    def end(self) -> None:
        self.ended = True
        self.process.kill()


class PlayerPool:
    """Pool of at most `MAX_WORKERS` player processes, started on demand; `own` resolves networks in the data folder."""

    def __init__(self, own: OwnPlayers | None = None) -> None:
        self._own = own
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._free = asyncio.Semaphore(MAX_WORKERS)
        self._threads = ThreadPoolExecutor(MAX_WORKERS, "player-workers")
        self._became_idle = asyncio.Event()
        self._closed = False

    def begin(self) -> None:
        """Start a process ahead of the first request."""
        self._set_idle(self._new())

    def _new(self) -> _Worker:
        # This is not run in a thread, because a start that is canceled halfway would leave an untracked process.
        worker = _Worker()
        self._all.add(worker)
        return worker

    async def _take_worker(self) -> _Worker:
        """Return an idle process, or start one if none becomes idle soon."""
        if not self._idle and self._all:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE):
                    while not self._idle:
                        self._became_idle.clear()
                        await self._became_idle.wait()
        if self._closed:
            raise PlayerEndedError("no player can be called: the server is shutting down")
        while self._idle:
            worker = self._idle.pop()
            if worker.process.is_alive():
                return worker
            self._end(worker)
        return self._new()

    async def decide(self, config: Any, player: str, question: tuple[Any, Any, Any]) -> tuple[int, bool]:
        """Return a player's action for the inputs of `GameTable.question`, and whether a random one replaces its own.

        Canceling the call stops the player.
        """
        answer: tuple[int, bool] = await self._call(_act, config, player, *question)
        return answer

    async def check(self, config: Any, player: str) -> None:
        """Create a player to check it; raise PlayerFailedError if it cannot be created."""
        await self._call(_check, config, player)

    async def evaluate(
        self, config: Any, evaluator: str, observations: Any, masks: Any, keys: Any, extra_actions: Any = None
    ) -> list[Evaluation]:
        """Return the result of `agents.evaluation.evaluate_actions`. Canceling the call stops the evaluator."""
        evaluations: list[Evaluation] = await self._call(
            _evaluate, config, evaluator, observations, masks, keys, extra_actions
        )
        return evaluations

    async def evaluate_all(
        self, config: Any, evaluator: str, inputs: Sequence[Any], batch: int
    ) -> AsyncIterator[Evaluation]:
        """Yield the evaluations of many rows, with `batch` rows per call; `inputs` are the arrays for `evaluate`."""
        for first in range(0, len(inputs[0]), batch):
            rows = (values[first : first + batch] for values in inputs)
            for evaluation in await self.evaluate(config, evaluator, *rows):
                yield evaluation

    async def _call(self, handler: Callable[..., Any], config: Any, player: str, *arguments: Any) -> Any:
        """Call a function in a process; raise PlayerFailedError if it raises an error or the process ends."""
        try:
            name = player if self._own is None else await asyncio.to_thread(self._own.resolve, player)
        except UserError as problem:
            raise PlayerFailedError(str(problem)) from None
        await self._free.acquire()
        try:
            worker = await self._take_worker()
        except OSError as problem:
            self._free.release()
            raise PlayerEndedError(f"{player}: no process could be started: {problem}") from problem
        except BaseException:
            self._free.release()
            raise
        request = (handler, json.dumps(config_to_dict(config), sort_keys=True), name, *arguments)
        call = asyncio.get_running_loop().run_in_executor(self._threads, worker.call, request)
        call.add_done_callback(partial(self._release, worker))
        try:
            succeeded, answer, warnings = await asyncio.shield(call)
        except asyncio.CancelledError:
            if not call.done():
                worker.end()
            raise
        except Exception as problem:
            raise PlayerEndedError(f"the process of {player} ended") from problem
        for text in warnings:
            warn_once(text)
        if not succeeded:
            raise PlayerFailedError(f"{player}: {answer}")
        return answer

    def _release(self, worker: _Worker, call: asyncio.Future[Any]) -> None:
        """Return a process to the pool, or remove it if it has ended. Its slot is released only afterwards."""
        failed = call.cancelled() or call.exception() is not None
        if failed or worker.ended:
            self._end(worker)
        else:
            self._set_idle(worker)
        self._free.release()

    def _set_idle(self, worker: _Worker) -> None:
        """Mark a process as idle. The process that became idle most recently gets the next request."""
        loop = asyncio.get_running_loop()
        worker.last_used = loop.time()
        self._idle.append(worker)
        self._became_idle.set()
        loop.call_later(_IDLE_SECONDS, self._end_idle)

    def _end_idle(self) -> None:
        idle_since = asyncio.get_running_loop().time() - _IDLE_SECONDS
        while len(self._idle) > _MIN_IDLE and self._idle[0].last_used <= idle_since:
            self._end(self._idle.pop(0))

    def _end(self, worker: _Worker) -> None:
        self._all.discard(worker)
        worker.end()
        worker.connection.close()

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for worker in list(self._all):
            worker.end()
        self._idle.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

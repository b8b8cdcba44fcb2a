"""A player that queries a language model for every action: ``llm:listed:MODEL``, at an OpenAI-compatible endpoint."""

from __future__ import annotations

import logging
import os
import re
import threading
from pathlib import Path
from typing import Any, NoReturn

from helsinki_env.agents.base import Histories, Int8Array, Int64Array, KeyArray, PlayerError
from helsinki_env.agents.llm.client import (
    ChatClient,
    Completion,
    EndpointError,
    SilenceError,
    Transcript,
    UnusableError,
)
from helsinki_env.agents.llm.usage import BUDGET_FOLDER, Budget, ModelUsage
from helsinki_env.agents.replaced_actions import ReplacedActions
from helsinki_env.agents.rows import validate_arrays
from helsinki_env.data import Node, digest_of, short_repr
from helsinki_env.engine.playout import sample_actions
from helsinki_env.engine.spec import default_config
from helsinki_env.text import (
    ActionTextError,
    WrittenAction,
    game_from_observation,
    legal_actions,
    legal_text,
    parse_action,
    position_text,
    rules,
)

__all__ = ["LanguageModelPlayer", "make"]

_log = logging.getLogger(__name__)
_LISTED = ("listed", "unlisted")
TRIES = 3
"""Maximum number of answers per action: the first, and two more after the error of the previous one."""
#: Number of consecutive requests without a response after which the player stops querying the model.
_PATIENCE = 10
#: Status codes for requests that the endpoint cannot process, such as requests that are too long for the model.
_UNANSWERABLE = (400, 413, 422)
_CALLS, _TOKENS, _SECONDS = 1_000, 10_000_000, 120
_ANSWER = (
    "You play the game by these rules. Think as you like, then end your answer with one line of JSON that names one "
    'legal action as the rules say how to write it: {"action": "..."}'
)


class _ForfeitError(Exception):
    """Raised if the player no longer queries the model."""


class LanguageModelPlayer:
    """A player that queries a language model.

    After an answer without a legal action, the model receives the error and up to two more attempts. After that, a
    uniformly random legal action replaces the answer, which is counted as illegal, or as late if the model did not
    respond. Once the budget is used up, or after ten failures in a row, all remaining actions are forfeited. They are
    replaced without a call and counted as failed.

    Args:
        client: client for the endpoint.
        config: game configuration.
        listed: whether questions list the legal actions; the player's name states this.
        budget: limits on calls and tokens.
        transcript: earlier answers; new ones are added.
        replay: whether to use only the transcript, in which case a missing answer is an error.
    """

    max_batch_size = 1
    wants_history = True

    def __init__(
        self,
        client: ChatClient,
        config: Any = None,
        *,
        listed: bool = True,
        budget: Budget | None = None,
        transcript: Transcript | None = None,
        replay: bool = False,
    ) -> None:
        self.config = config or default_config()
        self.name = f"llm:{_LISTED[not listed]}:{client.model}"
        self._client, self._listed, self._replay = client, listed, replay
        self._budget = budget or Budget(_CALLS, _TOKENS)
        self._transcript = transcript or Transcript()
        self._system = f"{rules(self.config)}\n\n{_ANSWER}"
        self._counts, self._usage, self._in_a_row, self._has_forfeited = ReplacedActions(), ModelUsage(), 0, False
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> LanguageModelPlayer:
        """Return a player that shares the budget and the transcript, and counts from zero."""
        shared: dict[str, Any] = {"budget": self._budget, "transcript": self._transcript}
        return LanguageModelPlayer(self._client, self.config, listed=self._listed, replay=self._replay, **shared)

    @property
    def replaced_actions(self) -> ReplacedActions:
        """The number of actions replaced so far; `failed` counts forfeited actions."""
        return self._counts

    @property
    def cost_report(self) -> str:
        """The costs of the model, in one line."""
        return self._usage.report(self.name, self._counts)

    @property
    def usage(self) -> ModelUsage:
        """The number of calls and tokens so far."""
        return self._usage

    def act(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, histories: Histories = None
    ) -> Int64Array:
        """Return one legal action for each row, int64 (B,); see `helsinki_env.agents.base.Player`.

        Raises:
            PlayerError: if the first call does not reach the endpoint, if the endpoint rejects a request, or if a
                replay lacks an answer.
        """
        observation, action_mask, keys = validate_arrays(self.config, observation, action_mask, keys)
        chosen = sample_actions(action_mask, keys.copy())
        for row in range(len(action_mask)):
            self._count(actions=1)
            history = None if histories is None else list(histories[row])
            answer = self._ask(observation[row], action_mask[row], history)
            if isinstance(answer, ReplacedActions):
                with self._lock:
                    self._counts = self._counts.add(answer)
            else:
                chosen[row] = answer
        return chosen

    def _ask(self, observation: Int8Array, mask: Int8Array, history: list[str] | None) -> int | ReplacedActions:
        """Return the model's action, or the reason why it must be replaced."""
        game = game_from_observation(self.config, observation)
        actions = tuple(action for action in legal_actions(game) if mask[action.id])
        messages = [
            {"role": "system", "content": self._system},
            {"role": "user", "content": self._question(position_text(game, game.seat), actions, history)},
        ]
        late = False
        for number in range(TRIES):
            if number:
                self._count(retries=1)
            try:
                answer = self._complete(messages)
            except _ForfeitError:
                return ReplacedActions(failed=1)
            except SilenceError:
                late = True
                break
            try:
                return parse_action(answer, actions)
            except ActionTextError as problem:
                error = str(problem) if self._listed else problem.problem
            messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": error}]
        return ReplacedActions(late=1) if late else ReplacedActions(illegal=1)

    def _question(self, position: str, actions: tuple[WrittenAction, ...], history: list[str] | None) -> str:
        parts = [] if history is None else ["What has happened:", "\n".join(history), ""]
        parts += ["The position:", position, ""]
        if self._listed:
            parts += ["The legal actions, as id: words (notation):", legal_text(actions), ""]
        return "\n".join([*parts, "Choose your action."])

    def _complete(self, messages: list[dict[str, str]]) -> str:
        """Return the answer to a conversation, either from the transcript or from the endpoint."""
        body = self._client.body(messages)
        known = self._transcript.find(body)
        if known is not None:
            self._count(reused=1)
            return known.text
        if self._replay:
            self._raise_recorded(body)
        if self._in_a_row >= _PATIENCE:
            self._forfeit(body, f"{_PATIENCE} requests in a row were not answered")
        if not self._budget.take_call():
            self._forfeit(body, "the budget of calls or tokens is used up (HELSINKI_LLM_CALLS, HELSINKI_LLM_TOKENS)")
        try:
            found = self._client.complete(messages)
        except (SilenceError, EndpointError) as problem:
            status = getattr(problem, "status", 0)  # 0: no response
            if not self._transcript.has_answers or status not in (0, *_UNANSWERABLE):
                raise PlayerError(f"player {self.name}: found no answer of the endpoint: {problem}") from None
            if status == 0:
                self._fail(body, problem)
            found = Completion("", 0, 0)
        except UnusableError as problem:
            if not self._transcript.has_answers:
                expected = "expected a completion of an OpenAI-compatible endpoint"
                raise PlayerError(f"player {self.name}: found an unusable answer: {problem}; {expected}") from None
            found = Completion("", 0, 0)
        with self._lock:
            self._in_a_row = 0
        self._budget.take_tokens(found.tokens)
        tokens = {"prompt_tokens": found.prompt_tokens, "completion_tokens": found.completion_tokens}
        self._count(calls=1, estimated=int(found.estimated), **tokens)
        self._transcript.add(body, found)
        return found.text

    def _raise_recorded(self, body: dict[str, Any]) -> NoReturn:
        """Raise the error for the recorded outcome of an unanswered request."""
        outcome = self._transcript.outcome(body)
        if outcome is None:
            raise PlayerError(f"player {self.name}: found no answer in the transcript, expected that of the same games")
        raise _ForfeitError if outcome == "forfeited" else SilenceError(outcome)

    def _forfeit(self, body: dict[str, Any], reason: str) -> NoReturn:
        """Record a forfeited action, log the reason of the first one, and raise _ForfeitError."""
        with self._lock:
            first, self._has_forfeited = not self._has_forfeited, True
        if first:
            _log.warning("player %s: %s; all later actions are random", self.name, reason)
        self._transcript.add(body, "forfeited")
        raise _ForfeitError

    def _fail(self, body: dict[str, Any], problem: Exception) -> NoReturn:
        """Record that a request was not answered, and raise SilenceError."""
        with self._lock:
            self._in_a_row += 1
        self._transcript.add(body, "silent")
        raise SilenceError(str(problem)) from None

    def _count(self, **counts: int) -> None:
        with self._lock:
            self._usage = self._usage.add(ModelUsage(**counts))


_shared: dict[tuple[Any, ...], Any] = {}
_sharing = threading.Lock()


def _number(name: str, default: int, most: int) -> int:
    """Return an integer from an environment variable; raise PlayerError if it is invalid."""
    text = os.environ.get(name, "").strip()
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 17 else text or default
    return Node(number, PlayerError, name).integer(1, most)


def make(argument: str, config: Any) -> LanguageModelPlayer:
    """Create an ``llm:listed:MODEL`` or ``llm:unlisted:MODEL`` player; raise PlayerError if the argument is invalid.

    URL, key, budget, time limit and transcript come from environment variables (docs/text-and-models.md). Players of
    the same model share the transcript within a process, and the budget within a run and its processes
    (`shared_budget`).
    """
    listed, _, model = argument.partition(":")
    if listed not in _LISTED or not re.fullmatch(r"[!-~]{1,200}", model):
        raise PlayerError(
            f"player {short_repr('llm:' + argument)}: found no valid form, expected llm:listed:MODEL (questions list "
            "the legal actions) or llm:unlisted:MODEL; results state which"
        )
    client = ChatClient.from_environment(model, _number("HELSINKI_LLM_SECONDS", _SECONDS, 3600))
    limits = _number("HELSINKI_LLM_CALLS", _CALLS, 10**9), _number("HELSINKI_LLM_TOKENS", _TOKENS, 10**15)
    path = os.environ.get("HELSINKI_LLM_TRANSCRIPT", "")
    replay = os.environ.get("HELSINKI_LLM_REPLAY", "")
    if replay not in ("", "0", "1") or (replay == "1" and not path):
        raise PlayerError("HELSINKI_LLM_REPLAY: expected 1 together with HELSINKI_LLM_TRANSCRIPT, or 0")
    with _sharing:
        shared = ("budget", argument, client.url, limits)
        folder = os.environ.get(BUDGET_FOLDER)
        file = Path(folder) / digest_of(shared) if folder else None
        budget = _shared.setdefault((*shared, file), Budget(*limits, file))
        if ("transcript", path) not in _shared:
            _shared["transcript", path] = Transcript(Path(path) if path else None)
        transcript = _shared["transcript", path]
    return LanguageModelPlayer(
        client, config, listed=listed == _LISTED[0], budget=budget, transcript=transcript, replay=replay == "1"
    )

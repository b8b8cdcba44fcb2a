"""Costs of language models in a run: calls and tokens of each player, and the budget shared by all processes."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from helsinki_env.agents.base import Player, PlayerWrapper
from helsinki_env.agents.counts import Counts
from helsinki_env.agents.registry import innermost_name
from helsinki_env.agents.replaced_actions import ReplacedActions, run_replacement_warnings

__all__ = ["BUDGET_FOLDER", "Budget", "ModelUsage", "model_usage_of", "run_notes", "shared_budget"]

BUDGET_FOLDER = "HELSINKI_LLM_BUDGET_FOLDER"
"""Environment variable with the folder of the budgets of a run, for worker processes."""
_PREFIX = "llm:"


@dataclass(frozen=True)
class ModelUsage(Counts):
    """Costs of a model.

    Attributes:
        calls: number of calls that were answered.
        prompt_tokens: number of tokens in requests.
        completion_tokens: number of tokens in answers.
        retries: number of second and third attempts.
        reused: number of answers taken from the transcript without a call.
        estimated: number of calls whose tokens are estimated, because the endpoint did not report them.
        actions: number of actions that the model was asked for, including replaced and forfeited ones.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retries: int = 0
    reused: int = 0
    estimated: int = 0
    actions: int = 0

    def report(self, player: str, counts: ReplacedActions) -> str:
        """Return one line with the costs of a player and its replaced and forfeited actions.

        Args:
            player: name of the player; the line states whether questions list the legal actions.
            counts: its replaced actions; `failed` counts forfeited actions.
        """
        listed = innermost_name(player).removeprefix(_PREFIX).partition(":")[0]
        estimated = f" (estimated for {self.estimated:,} calls)" if self.estimated else ""
        return (
            f"{player}: legal actions {listed}; {self.calls:,} calls, {self.prompt_tokens:,} prompt tokens, "
            f"{self.completion_tokens:,} completion tokens{estimated}, {self.retries:,} retries, {self.reused:,} "
            f"answers from the transcript; of {self.actions:,} actions, replaced: {counts.illegal + counts.late:,}, "
            f"forfeited: {counts.failed:,}"
        )


def model_usage_of(player: Player) -> ModelUsage | None:
    """Return the costs of a player's model so far, or None for a player without a model."""
    while isinstance(player, PlayerWrapper):
        player = player.player
    found = getattr(player, "usage", None)
    return found if isinstance(found, ModelUsage) else None


def run_notes(times: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return lines of text about the replaced actions and model costs of a run.

    Args:
        times: the run's times (`helsinki_env.evaluation.arena.store.RunFolder.times`).
    """
    entries = list(times)
    models = [one for one in entries if innermost_name(one["player"]).startswith(_PREFIX)]
    return run_replacement_warnings(entries) + [
        f"{one['matchup']}: " + ModelUsage.from_mapping(one).report(one["player"], ReplacedActions.from_mapping(one))
        for one in models
    ]


class Budget:
    """Limits on the calls and tokens of a model; thread-safe.

    Args:
        calls: maximum number of calls.
        tokens: maximum number of tokens; the call that exceeds it is the last one.
        path: file through which processes share the budget; None if only this process uses it.
    """

    def __init__(self, calls: int, tokens: int, path: Path | None = None) -> None:
        self.calls, self.tokens, self._path, self._lock = calls, tokens, path, threading.Lock()

    def take_call(self) -> bool:
        """Take one call from the budget; return False if it is used up."""
        with self._lock:
            if self._path is not None:
                calls, tokens = self._note(self._path, 1, 0)
                return calls <= self.calls and tokens < self.tokens
            if self.calls <= 0 or self.tokens <= 0:
                return False
            self.calls -= 1
            return True

    def take_tokens(self, tokens: int) -> None:
        """Take the tokens of a call from the budget."""
        with self._lock:
            if self._path is not None:
                self._note(self._path, 0, tokens)
            else:
                self.tokens -= tokens

    @staticmethod
    def _note(path: Path, calls: int, tokens: int) -> tuple[int, int]:
        """Append calls and tokens to the file, and return the totals up to this entry."""
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(file, f"{calls} {tokens}\n".encode())  # one write: entries of processes do not mix
            end = os.lseek(file, 0, os.SEEK_CUR)
            os.lseek(file, 0, os.SEEK_SET)
            lines = os.read(file, end).split(b"\n")[:-1]
        finally:
            os.close(file)
        sums = [tuple(map(int, line.split())) for line in lines]
        return sum(one[0] for one in sums), sum(one[1] for one in sums)


@contextmanager
def shared_budget(players: Iterable[str]) -> Iterator[None]:
    """Give each language model a new budget for the players and processes that are created inside the block.

    Nested blocks share the budgets of the outermost block, so a study of several tournaments has one budget per model.

    Args:
        players: names of the players; the block has no effect without a language model among them.
    """
    if os.environ.get(BUDGET_FOLDER) or not any(innermost_name(name).startswith(_PREFIX) for name in players):
        yield
        return
    folder = tempfile.mkdtemp(prefix="llm-budget-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # the players may be used after the block ends
    os.environ[BUDGET_FOLDER] = folder
    try:
        yield
    finally:
        os.environ.pop(BUDGET_FOLDER, None)

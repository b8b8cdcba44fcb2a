"""A game in the kernels and in the reference: every step is compared in every field."""

from __future__ import annotations

import json
import multiprocessing
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

from helsinki_env.engine.spec import spec_of
from helsinki_env.utils.machine import cpu_count

__all__ = ["DisagreementError", "GamePair", "play_in_processes", "too_rare", "what_was_seen"]

Position = dict[str, Any]


class DisagreementError(AssertionError):
    """The two implementations differ; the message names the difference and its reproduction."""


class GamePair(ABC):
    """One game, played by both implementations."""

    def __init__(self, game: Any, reference: Any, seen: Counter[str], origin: str) -> None:
        self.game, self.reference, self.seen, self.origin = game, reference, seen, origin
        self.last: tuple[Position, int] | None = None
        self.legal: list[int] = []
        seen[f"{game.num_players} players"] += 1
        self.position = self.compare()

    @abstractmethod
    def observations(self, position: Position) -> Iterable[bytes]:
        """Return the observation of each seat by the reference."""

    @abstractmethod
    def differing(self, seat: int, expected: bytes) -> str:
        """Return the differences of the observation of a seat as text."""

    @abstractmethod
    def compare_scores(self) -> None:
        """Compare scores and ranks."""

    @abstractmethod
    def count(self, before: Position, action: int) -> None:
        """Count the events of an action."""

    def name(self, action: int) -> str:
        return spec_of(self.game.config).action_to_string(action, self.game.config)

    def compare(self) -> Position:
        """Compare everything and return the position."""
        game, reference = self.game, self.reference
        position: Position = reference.to_dict()
        self.compare_positions(game.to_dict(), position, "position")
        self.legal, legal = reference.legal_actions(), game.legal_actions().tolist()
        if legal != self.legal:
            only = [sorted({*a} - {*b}) for a, b in ((legal, self.legal), (self.legal, legal))]
            names = [[self.name(action) for action in side] for side in only]
            self.fail(f"legal only for the kernel {names[0]}, only for the plain rules {names[1]}")
        found = (bool(game.done), int(game.seat), str(game.phase), int(game.round))
        if found != (reference.done, reference.seat, reference.phase, reference.round):
            self.fail(f"done, seat, phase, round: kernel {found}")
        for seat, expected in enumerate(self.observations(position)):
            if game.observation(seat).tobytes() != expected:
                self.fail(f"observation of seat {seat}: {self.differing(seat, expected)}")
        self.compare_scores()
        return position

    def compare_positions(self, found: Position, expected: Position, what: str) -> None:
        """Compare two positions, the order of their keys included."""
        if found != expected or list(found) != list(expected):
            keys = [key for key in {**found, **expected} if found.get(key) != expected.get(key)] or ["order of keys"]
            lines = [f"{key}: kernel {found.get(key)}, plain {expected.get(key)}" for key in keys]
            self.fail("\n".join([what, *lines]))

    def compare_numbers(self, *methods: str) -> None:
        """Compare methods that return a number for each seat."""
        for method in methods:
            found = [int(number) for number in getattr(self.game, method)()]
            if found != (expected := getattr(self.reference, method)()):
                self.fail(f"{method}: kernel {found}, plain {expected}")

    def compare_search(self, searched: list[int]) -> None:
        """Compare the legal actions with those after which a search can complete the turn."""
        self.seen["masks searched"] += 1
        if searched != self.legal:
            names = [self.name(action) for action in sorted({*searched} ^ {*self.legal})]
            self.fail(f"the search for a way to complete the turn differs in {names}")

    def compare_seat_copies(self) -> None:
        """Compare the copies of the position for each seat."""
        for seat in range(self.game.num_players):
            self.seen["seat copies"] += 1
            self.compare_positions(self.game.to_dict(seat), self.reference.to_dict(seat), f"copy for seat {seat}")

    def step(self, action: int) -> None:
        """Apply an action in both games, compare them, and count events."""
        before = self.position
        self.last = before, action
        self.seen["decisions"] += 1
        self.game.step(action)
        self.reference.step(action)
        self.position = self.compare()
        self.count(before, action)

    def fail(self, what: str) -> None:
        """Raise an error that states how to reproduce the difference."""
        text = [what, f"began as: {self.origin}"]
        if self.last is not None:
            text.append(f"after {self.name(self.last[1])} in {json.dumps(self.last[0])}")
        raise DisagreementError("\n".join(text))


def too_rare(seen: Mapping[str, int], rare: Iterable[str], least: int) -> dict[str, int]:
    """Return the events that occurred fewer than `least` times."""
    return {name: seen[name] for name in rare if seen[name] < least}


def what_was_seen(seen: Mapping[str, int], groups: Mapping[str, Iterable[str]], rare: Iterable[str], least: int) -> str:
    """Return the counts as text, one line each, with a mark for rare events below `least`."""
    rare, lines = tuple(rare), []
    for title, names in {**groups, f"at least {least} of each": rare}.items():
        lines.append(f"-- {title}")
        for name in names:
            mark = "  TOO RARE" if names is rare and seen[name] < least else ""
            lines.append(f"{seen[name]:>10,}  {name}{mark}")
    return "\n".join(lines)


def play_in_processes(
    run: Callable[..., Counter[str]], jobs: Sequence[tuple[Any, ...]], table: Callable[[Counter[str], int], str]
) -> Counter[str]:
    """Play batches in parallel, print the progress and the table, and return what was seen."""
    started, seen = time.monotonic(), Counter[str]()
    with ProcessPoolExecutor(cpu_count(), multiprocessing.get_context("spawn")) as pool:
        for i, job in enumerate(as_completed([pool.submit(run, *job) for job in jobs]), start=1):
            seen += job.result()
            if i % 50 == 0:
                print(f"{i} of {len(jobs)} batches, {time.monotonic() - started:.0f} s", flush=True)
    print(f"\n{table(seen, 1000)}\n{time.monotonic() - started:.0f} s")
    return seen

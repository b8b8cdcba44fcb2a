"""Read position suites and score a player's actions in the positions.

A suite is a JSON file. Each position is a game record that ends where a seat must choose an action, with two
independent estimates of the win probability after every legal action. The estimates come from a strong search that uses
the observation of the acting seat. All positions are from different games, but the games are of few deals (14
and 23 in the two suites of the package). Regrets of positions with the same deal are not noticeably correlated, so
intervals treat positions as independent.

The **regret** of an action is the win probability that is lost relative to the best action. One half of the simulations
selects the best action, and the other half provides both values. Noise in the values therefore does not inflate the
regret, but single regrets may be negative. If the selected action is not the best one, the regret is underestimated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from helsinki_env.agents.base import FloatArray, Int64Array
from helsinki_env.data import Node, choices_text, read_json, short_repr
from helsinki_env.engine.game import BoardGame
from helsinki_env.engine.spec import spec_by_name
from helsinki_env.evaluation.match_stats import mean_and_half_width
from helsinki_env.evaluation.positions import PositionsError
from helsinki_env.records import Record, RecordError, replay
from helsinki_env.utils.files import is_file

__all__ = ["DIFFICULTIES", "Position", "Suite", "list_suites", "results_of", "suite_path"]

FORMAT = 1
SCALE = 10_000
"""Scale of the values in a file: a win probability of 1 is stored as 10,000."""
DIFFICULTIES = ("easy", "medium", "hard")
"""Difficulties of positions, by the fraction of good actions."""
#: Regret below which an action counts as good, and fractions of good actions that make positions easy or hard.
_GOOD, _EASY, _HARD = 0.01, 0.5, 0.2
#: Maximum number of standard errors below the best action at which an action also counts as best.
_TOLERANCE = 2.0
#: Minimum number of positions in a group.
_MIN_GROUP = 10
_FOLDER = Path(__file__).parent
_KEYS = ("matchup", "phase", "record", "first", "second", "errors")


def list_suites() -> list[str]:
    """Return the names of the bundled suites."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def suite_path(name_or_path: str | Path) -> Path:
    """Return the path of a suite, given its path or the name of a bundled suite.

    Raises PositionsError for an unknown suite.
    """
    text = str(name_or_path)
    path = Path(text) if text.endswith(".json") else _FOLDER / f"{text}.json"
    if "/" in text.removesuffix(".json") and not text.endswith(".json"):
        path = Path(text)
    if not is_file(path):
        raise PositionsError(
            f"suite: found {short_repr(text)}, expected the path of a .json file or {choices_text(list_suites(), text)}"
        )
    return path


@dataclass(frozen=True)
class Position:
    """A position with C legal actions.

    Attributes:
        matchup: number of the matchup in the suite.
        phase: phase of the game.
        record: the game up to this position.
        first: win probability of the acting seat after each legal action, from one half of the simulations, float64
            (C,).
        second: the same, from the other half of the simulations.
        errors: standard error of the difference between each action's value and that of the best action, float64 (C,).
    """

    matchup: int
    phase: str
    record: Record
    first: FloatArray
    second: FloatArray
    errors: FloatArray

    @cached_property
    def game(self) -> BoardGame:
        """The game at this position."""
        game: BoardGame = replay(self.record)
        return game

    @cached_property
    def actions(self) -> Int64Array:
        """Ids of the legal actions, ascending, int64 (C,)."""
        return self.game.legal_actions()

    @property
    def values(self) -> FloatArray:
        """Win probability of the acting seat after each legal action, float64 (C,)."""
        return (self.first + self.second) / 2

    @cached_property
    def regrets(self) -> FloatArray:
        """Regret of each legal action, float64 (C,), without the bias from selecting the maximum."""
        best = self.second[self.first.argmax()] + self.first[self.second.argmax()]
        regrets: FloatArray = best / 2 - self.values
        return regrets

    @cached_property
    def is_best(self) -> Any:
        """Whether each action is within two standard errors of the best action, bool (C,)."""
        return self.values.max() - self.values <= _TOLERANCE * self.errors

    @property
    def difficulty(self) -> str:
        """One of `DIFFICULTIES`, based on the fraction of actions that lose less than one percentage point."""
        good = float((self.values.max() - self.values < _GOOD).mean())
        return DIFFICULTIES[0] if good >= _EASY else DIFFICULTIES[2] if good <= _HARD else DIFFICULTIES[1]


@dataclass(frozen=True)
class Suite:
    """A position suite.

    Attributes:
        path: path of the suite file.
        name: name of the gauntlet with the same matchups.
        version: version of the suite, incremented with every change of a position or value.
        seed: seed for games, selection of positions and simulations.
        matchups: name and configuration of each matchup.
        positions: the positions.
        digest: digest of the file's content, 16 hexadecimal digits.
        data: content of the file.
    """

    path: Path
    name: str
    version: int
    seed: int
    matchups: tuple[tuple[str, Any], ...]
    positions: tuple[Position, ...]
    digest: str
    data: Mapping[str, Any]

    @classmethod
    def read(cls, name_or_path: str | Path) -> Suite:
        """Read a suite from a file; raise PositionsError if it is invalid."""
        path = suite_path(name_or_path)
        data = read_json(path, PositionsError).verify_digest("a position suite")
        if data["suite"].value != FORMAT:
            data["suite"].fail(repr(FORMAT), "use the version that wrote the file")
        entries = data["positions"].entries("at least two positions", least=2)
        matchups = []
        for entry in data["matchups"].entries("at least one matchup", least=1):
            game = entry["game"].text("a game")
            with entry.prefix_errors():
                matchups.append((entry["name"].text(), spec_by_name(game).config.from_dict(entry["config"].value)))
        return cls(
            path=path,
            name=data["name"].text("a name"),
            version=data["version"].integer(1),
            seed=data["seed"].integer(0),
            matchups=tuple(matchups),
            positions=tuple(_position(entry, len(matchups)) for entry in entries),
            digest=data["digest"].text(),
            data=data.value,
        )

    def groups(self) -> dict[str, list[int]]:
        """Return the position numbers in each group by difficulty, phase or matchup. Small groups are omitted."""
        kinds: dict[str, Callable[[Position], str]] = {
            "difficulty": lambda one: one.difficulty,
            "phase": lambda one: one.phase,
            "matchup": lambda one: self.matchups[one.matchup][0],
        }
        found: dict[str, list[int]] = {}
        for kind, name_of in kinds.items():
            names = [name_of(position) for position in self.positions]
            order = DIFFICULTIES if kind == "difficulty" else tuple(dict.fromkeys(names))
            for name in order:
                numbers = [i for i, each in enumerate(names) if each == name]
                if len(numbers) >= _MIN_GROUP:
                    found[f"{kind}: {name}"] = numbers
        return found


def _position(data: Node, matchups: int) -> Position:
    data.mapping(_KEYS)
    with data["record"].prefix_errors():
        record = Record.from_dict(data["record"].value)
    if record.finished:
        data["record"].fail("an unfinished game", found="a finished one")
    values = [
        [value.integer(-SCALE, SCALE) / SCALE for value in data[key].entries("values", least=2)]
        for key in ("first", "second", "errors")
    ]
    position = Position(
        data["matchup"].integer(0, matchups - 1), data["phase"].text("a phase"), record, *map(np.array, values)
    )
    try:
        count = len(position.actions)
    except RecordError as problem:
        data["record"].fail("a game that can be replayed", found=str(problem))
    for key, found in zip(("first", "second", "errors"), values, strict=True):
        if len(found) != count:
            data[key].fail(f"{count} values, one for each legal action", found=f"{len(found)} values")
    return position


def results_of(suite: Suite, answers: Sequence[int]) -> dict[str, Any]:
    """Return a player's results, overall and by group, given its action in each position.

    Raises:
        PositionsError: if an action is illegal.
    """
    regrets, best = np.zeros(len(answers)), np.zeros(len(answers))
    for i, (position, action) in enumerate(zip(suite.positions, answers, strict=True)):
        at = int(np.searchsorted(position.actions, action))
        if at >= len(position.actions) or position.actions[at] != action:
            raise PositionsError(f"answers[{i}]: found {action}, expected a legal action: {position.actions.tolist()}")
        regrets[i], best[i] = position.regrets[at], position.is_best[at]
    return {
        "overall": _result(regrets, best),
        "groups": [
            {"group": name, **_result(regrets[numbers], best[numbers])} for name, numbers in suite.groups().items()
        ],
    }


def _result(regrets: FloatArray, best: FloatArray) -> dict[str, Any]:
    """Return the mean regret with its 95% t interval, and the fraction of best actions, rounded."""
    mean, half = mean_and_half_width(regrets)
    figures = {"regret": mean, "low": mean - half, "high": mean + half, "best": float(best.mean())}
    return {"positions": len(regrets), **{name: round(value, 5) for name, value in figures.items()}}

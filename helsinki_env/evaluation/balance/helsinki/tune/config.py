"""Configuration of a search for a balanced action board, and its board variants: their parameters and game files.

A search changes costs and strengths, or it covers five actions for all seats as in the rulebook's variant. The costs
and strengths that may change are its *parameters*. If the search covers actions, there is one parameter per action: 1
if it is covered, otherwise 0. A *board* is the tuple of the parameter values. The component file determines everything
else.

Letters in shapes: N boards, F parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import yaml

from helsinki_env.data import Node, digest_of, read_yaml, short_repr
from helsinki_env.evaluation.arena.designs import base_design, relabeled, subsets
from helsinki_env.evaluation.balance.helsinki.base import (
    ConfigFile,
    StudyError,
    check_screening,
    component_file,
    field_entry,
    game_counts,
)
from helsinki_env.evaluation.balance.search import random_changes
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS, MAX_COST, STRENGTHS
from helsinki_env.games.helsinki.components import ComponentError, Components, load_components
from helsinki_env.utils.files import atomic_write, check_no_link, remove_leftovers
from helsinki_env.utils.yaml_files import find_yaml

__all__ = ["TuneConfig", "TuneGames"]

BoardValues = tuple[int, ...]
"""The parameter values of a board."""
BoardArray = npt.NDArray[np.int64]
"""A batch of boards, (N, F)."""

COVERED = 5
"""Number of covered actions in the rulebook's variant."""

_KINDS = ("cost", "strength")
_COVERED = "covered"
_WHOLE = {"all": _KINDS, "costs": _KINDS[:1], "strengths": _KINDS[1:], _COVERED: ()}
#: Mean number of changed parameters on a random board, small enough to resemble boards with a few changes. Each
#: parameter keeps its published value on at least half of the boards.
_CHANGED = 8
#: Number of runs in the base design, from which random coverings are taken.
_RUNS = len(base_design())


@dataclass(frozen=True)
class BoardNumber:
    """A parameter of the action board: a cost or strength that may change, or whether an action is covered."""

    action: int  # id of the action
    kind: str  # "cost", "strength", or "covered" (0 or 1)
    was: int  # published value, from the component file
    least: int  # minimum value
    most: int  # maximum value

    @property
    def others(self) -> tuple[int, ...]:
        """All values other than the published one."""
        return tuple(value for value in range(self.least, self.most + 1) if value != self.was)

    @property
    def reach(self) -> int:
        """Largest possible change from the published value."""
        return max(abs(value - self.was) for value in self.others)


def read_numbers(data: Node, components: Components) -> tuple[BoardNumber, ...]:
    """Return the parameters of a search in the order of the actions, with costs before strengths.

    Args:
        data: "all", "costs" or "strengths", with the bounds of component files; or ranges by action, such as
            ``{two_points: {cost: [1, 3], strength: [1, 2]}}``; or "covered" to search for five actions to cover.
        components: components with the published values.

    Raises:
        ValueError: if `data` is invalid (the error type of the node); the message names the key and both values.
    """
    if isinstance(data.value, str):
        kinds = _WHOLE[data.choice(tuple(_WHOLE), "numbers by action, or ")]
        if not kinds:
            return tuple(BoardNumber(action, _COVERED, 0, 0, 1) for action in range(len(BOARD_ACTIONS)))
        ranges = {(action, kind): _bounds(action, kind) for action in BOARD_ACTIONS for kind in kinds}
        ranges = {key: bounds for key, bounds in ranges.items() if bounds[0] < bounds[1]}
    else:
        ranges = {}
        for action, entry in data.mapping(BOARD_ACTIONS).items():
            for kind, limits in entry.mapping(_KINDS).items():
                ranges[action, kind] = _limits(limits, action, kind)
    numbers = []
    for i, action in enumerate(BOARD_ACTIONS):
        for kind, now in zip(_KINDS, (components.costs[i], components.strengths[i]), strict=True):
            if (action, kind) in ranges and ranges[action, kind] != (now, now):
                numbers.append(BoardNumber(i, kind, now, *ranges[action, kind]))
    if not numbers:
        data.fail("at least one number that may change")
    return tuple(numbers)


def _bounds(action: str, kind: str) -> tuple[int, int]:
    """Return the bounds of a parameter in component files, or (0, 0) for the strength of an action that has none."""
    if kind == "cost":
        return 0, MAX_COST
    known = STRENGTHS.get(action)
    return (known.least, known.most) if known else (0, 0)


def _limits(data: Node, action: str, kind: str) -> tuple[int, int]:
    least, most = _bounds(action, kind)
    if most == 0:
        data.fail(f"only a range of costs: {action} has no strength")
    low, high = (end.integer(least, most) for end in data.entries(f"numbers, from and to, {least} to {most}", length=2))
    if low > high:
        data.fail("the lower number first")
    return low, high


def published_board(numbers: Sequence[BoardNumber]) -> BoardValues:
    """Return the published board, which has no changes."""
    return tuple(number.was for number in numbers)


def board_changes(numbers: Sequence[BoardNumber], board: BoardValues) -> list[tuple[BoardNumber, int]]:
    """Return the parameters that differ from the published board, with their new values."""
    return [(number, value) for number, value in zip(numbers, board, strict=True) if value != number.was]


def sizes(numbers: Sequence[BoardNumber], boards: BoardArray) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the number of changes and the sum of their sizes for each board, int64 (N,) each."""
    steps = np.abs(boards - np.array(published_board(numbers)))
    return (steps > 0).sum(axis=1), steps.sum(axis=1)


def board_of(free: Sequence[BoardNumber], most: int, change: Node) -> BoardValues:
    """Return the board with the changes listed in a report.

    The error type of `change` is raised if a change is invalid or there are more than `most` changes.
    """
    numbers = {(BOARD_ACTIONS[number.action], number.kind): number for number in free}
    values = {key: number.was for key, number in numbers.items()}
    entries = change.entries("changes")
    for one in entries:
        key = (one["action"].value, one["kind"].value)
        if key not in numbers:
            one.fail("a number that the search was free to change")
        if one["was"].value != numbers[key].was:
            one["was"].fail(f"{numbers[key].was} as in the component file")
        if one["now"].value not in numbers[key].others or values[key] != numbers[key].was:
            one["now"].fail(f"one of {short_repr(list(numbers[key].others))}, and each number once")
        values[key] = one["now"].value
    if len(entries) > most:
        change.fail(f"at most {most} changes", found=str(len(entries)))
    return tuple(values.values())


def searches_covers(numbers: Sequence[BoardNumber]) -> bool:
    """Return whether the search covers actions instead of changing costs and strengths."""
    return numbers[0].kind == _COVERED


def covered_on(numbers: Sequence[BoardNumber], board: BoardValues) -> list[str]:
    """Return the names of the actions that are covered on a board."""
    return [BOARD_ACTIONS[number.action] for number, _ in board_changes(numbers, board) if number.kind == _COVERED]


def coverings() -> BoardArray:
    """Return all boards with five covered actions, int64 (3003, 15)."""
    return subsets(COVERED).astype(np.int64)


def random_boards(numbers: Sequence[BoardNumber], count: int, seed: int) -> list[BoardValues]:
    """Return random boards on which each parameter changes equally often (for coverings: runs of a balanced design)."""
    if searches_covers(numbers):
        return [tuple(board) for board in relabeled(-(-count // _RUNS), seed)[:count].astype(np.int64).tolist()]
    generator = np.random.default_rng([seed, 1])
    changes = random_changes(generator, count, [len(number.others) for number in numbers], _CHANGED)
    values = [(number.was, *number.others) for number in numbers]
    return [tuple(own[n] for own, n in zip(values, board, strict=True)) for board in changes]


def describe_changes(numbers: Sequence[BoardNumber], board: BoardValues) -> list[str]:
    """Describe the changes on a board in one phrase per parameter."""
    return [_sentence(number, value) for number, value in board_changes(numbers, board)]


def _sentence(number: BoardNumber, value: int) -> str:
    name = in_quotes(number.action)
    if number.kind == _COVERED:
        return f"{name} is covered"
    of = "coats of arms" if number.kind == "cost" else STRENGTHS[BOARD_ACTIONS[number.action]].of
    verb = "costs" if number.kind == "cost" else "gives"
    return f"{name} {verb} {value} instead of {number.was} ({of})"


def in_quotes(action: int) -> str:
    """Return the name of an action in quotes, for use in a sentence."""
    return f"'{BOARD_ACTIONS[action].replace('_', ' ')}'"


def board_file(base: str, numbers: Sequence[BoardNumber], board: BoardValues, folder: Path) -> Path:
    """Return the path of the file that defines a board, after writing the file if it is missing.

    The file name is a digest of the changes. The file is the component file `base` (name or path) with the changes. For
    coverings, it is a game file as in ``configs/game``.
    """
    if searches_covers(numbers):
        game = {"components": base, "covered": covered_on(numbers, board)}
        path = folder / f"{digest_of(game)}.yaml"
        if not path.exists():
            _write(path, "# Five actions are covered for all seats, with any player count.\n", game)
        return path
    changes: dict[str, dict[str, int]] = {}
    for number, value in board_changes(numbers, board):
        changes.setdefault(BOARD_ACTIONS[number.action], {})[number.kind] = value
    path = folder / f"{digest_of(changes)}.yaml"
    if not path.exists():
        data = read_yaml(find_yaml(base, "components", ComponentError), ComponentError).mapping().value
        actions: dict[str, Any] = {name: dict(values) for name, values in (data.get("actions") or {}).items()}
        for name, values in changes.items():
            actions[name] = actions.get(name, {}) | values
        sentences = "".join(f"# {sentence}\n" for sentence in describe_changes(numbers, board))
        comment = f"# {base} with other numbers of the action board:\n{sentences}\n"
        _write(path, comment, {**data, "actions": actions})
    return path


def _write(path: Path, comment: str, data: dict[str, Any]) -> None:
    with atomic_write(path) as file:
        file.write((comment + yaml.safe_dump(data, sort_keys=False, default_flow_style=None, width=120)).encode())


BALANCE = "balance"
"""Default aim of a search, see `TuneConfig.aim`."""
LIFT = "lift"
"""Alternative aim of a search, see `TuneConfig.aim`."""

BOARDS = "boards"
"""Name of the folder for board files."""
_MAX_BOARDS = 300
LEAST_GAMES = 48
"""Minimum number of games per board in a screening experiment on several boards."""


@dataclass(frozen=True)
class TuneGames:
    """Number of games by player count for each part of a search. All fields must have the same player counts.

    Attributes:
        screening: games on the published board, in the screening experiment.
        slopes: total number of games on the random boards, from which the linear model is fitted.
        halving: total number of games on the remaining boards in each halving round.
        proof: games on the published board and on each finalist, for the final test.
    """

    screening: Mapping[int, int] = field(default_factory=dict)
    slopes: Mapping[int, int] = field(default_factory=dict)
    halving: Mapping[int, int] = field(default_factory=dict)
    proof: Mapping[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Validate all values."""
        first: tuple[int, ...] = ()
        for item in fields(self):
            counts = {n: games for n, games in sorted(game_counts(self, item.name).items()) if games}
            first = first or tuple(counts)
            if not counts or tuple(counts) != first:
                same = f"games for {', '.join(map(str, first))} players, as for screening"
                field_entry(self, item.name).fail(same if first else "games for at least one player count")
            object.__setattr__(self, item.name, counts)


@dataclass(frozen=True)
class TuneConfig(ConfigFile):
    """Configuration of a search for a balanced action board, see ``configs/tune/standard.yaml``.

    Attributes:
        name: name of the search.
        seed: seed of the whole search.
        games: number of games in each part.
        components: component file with the published board.
        player: player in all seats.
        equivalence_margin: half-width of the equivalence margin, win %.
        level: simultaneous confidence level of all intervals of the proof.
        aim: objective to minimize. "balance" is the largest distance of an action's effect beyond the margin around the
            mean effect of its board. "lift" is the average shortfall of the effects below the published board's mean
            effect minus the margin. Effects above this threshold count as 0, so weakening strong actions does not help.
        floor: minimum mean effect of a proposed board at each player count, as a fraction of the published board's mean
            effect; 0 for no minimum.
        numbers: the parameters that may change, or "covered", see `read_numbers`.
        most: maximum number of changes or, when searching for actions to cover, the number to cover.
        boards: number of random boards.
        candidates: number of boards at the start of the halving.
        finalists: number of boards in the proof.
        quality: number of games of each kind that measure length, scores and win rates. They are played on the
            published and the proposed board at each player count.
        weaker: weaker opponent, used to measure the skill gap.
    """

    WHAT, FOLDER, FILE, MAX_SEED = "tuning", "tune", "tuning.json", 2**50
    PARTS: ClassVar[Mapping[str, type]] = {"games": TuneGames}

    name: str
    seed: int
    games: TuneGames
    components: str = "default"
    player: str = "heuristic"
    equivalence_margin: float = 1.0
    level: float = 0.95
    aim: str = BALANCE
    floor: float = 0.8
    numbers: Any = "all"
    most: int = 4
    boards: int = 60
    candidates: int = 16
    finalists: int = 2
    quality: int = 0
    weaker: str = "greedy"

    def __post_init__(self) -> None:
        """Validate all values."""
        self._check_common()
        for key in ("player", "weaker"):
            field_entry(self, key).text("a name")
        field_entry(self, "aim").choice((BALANCE, LIFT), "an aim: ")
        field_entry(self, "floor").number(
            0.0, 1.0, expected="a fraction of the level of the published board, 0 (no floor) to 1"
        )
        component_file(field_entry(self, "components"))
        if not searches_covers(self.free):
            field_entry(self, "most").integer(1, len(self.free))
        elif self.most != COVERED:
            field_entry(self, "most").fail(f"{COVERED} as in the rulebook's variant")
        field_entry(self, "boards").integer(3, _MAX_BOARDS)
        field_entry(self, "candidates").integer(1, _MAX_BOARDS)
        field_entry(self, "finalists").integer(1, 10)
        field_entry(self, "quality").integer(0, 10**9)
        if self.weaker == self.player:
            field_entry(self, "weaker").fail("a player other than the main player")
        parts = {"screening": 1, "slopes": self.boards, "halving": self.candidates, "proof": 1}
        for part, boards in parts.items():
            for n, games in getattr(self.games, part).items():
                if games < LEAST_GAMES * boards:
                    expected = f"at least {LEAST_GAMES * boards:,}, {LEAST_GAMES} for each of {boards} boards"
                    Node(games, StudyError, f"games.{part}.{n}").fail(expected)
        for part in ("screening", "proof"):
            check_screening(getattr(self.games, part), f"games.{part}")

    @property
    def players(self) -> tuple[int, ...]:
        """Player counts, ascending."""
        return tuple(self.games.screening)

    @cached_property
    def free(self) -> tuple[BoardNumber, ...]:
        """The parameters of the search."""
        return read_numbers(field_entry(self, "numbers"), load_components(self.components))

    @property
    def player_names(self) -> tuple[str, ...]:
        """Names of all players in the games."""
        return self.player, self.weaker

    def open(self, folder: Path) -> None:
        """Save the configuration in the games folder, or check that it matches the saved one."""
        check_no_link(folder / BOARDS)
        remove_leftovers(folder / BOARDS)
        super().open(folder)

    def only(self, players: tuple[int, ...]) -> TuneConfig:
        """Return the configuration for a subset of its player counts; raise StudyError for other player counts."""
        for n in players:
            if n not in self.players:
                Node(n, StudyError, "players").fail(f"some of {', '.join(map(str, self.players))}, which have games")
        games = {
            part: {n: count for n, count in counts.items() if n in players} for part, counts in vars(self.games).items()
        }
        return replace(self, games=TuneGames(**games))

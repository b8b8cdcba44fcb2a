"""The configuration of a game: players, covered and denied actions, expansion, component file, reward.

Frozen and validated: a `GameConfig` that exists can be played.
"""

import hashlib
import json
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, SupportsIndex

from helsinki_env.components import ACTIONS, Components, load_components
from helsinki_env.yaml_files import find_yaml, one_of, read_yaml

__all__ = ["REWARDS", "ConfigError", "GameConfig"]

REWARDS = ("win", "rank", "margin")
"""What the reward at the end of a game measures."""


class ConfigError(ValueError):
    """A configuration that cannot be played. The message names key, value found and what is expected."""


@dataclass(frozen=True)
class GameConfig:
    """How a game is set up.

    Frozen, hashable and picklable. Equal if all values and the content of the component files are.

    Attributes:
        num_players: 2, 3 or 4.
        covered: actions that nobody may use. Given as action ids or names, or as ``"first_game"``, the bottom
            row of the action board; kept as ascending ids. The rulebook covers five; any subset is taken.
        denied: for studies only: the actions that single seats may not use, one collection of ids or names
            for each seat, or None for nothing; kept as one tuple of ascending ids for each seat.
        dry_roads: whether the expansion is played (rules page, section 6).
        components: the component file, a name or a path; see `helsinki_env.components.load_components`.
        reward: ``"win"``, ``"rank"`` or ``"margin"``.

    Raises:
        ConfigError: for a value that cannot be used.
        ComponentError: (a ValueError too) if the component file is at fault.
    """

    num_players: int = 2
    covered: tuple[int, ...] = ()
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced on creation
    dry_roads: bool = False
    components: str = "default"
    reward: str = "win"
    # Kept, pickled and compared with the rest: no game may change under way because somebody edits the file.
    _loaded: Components = field(init=False, repr=False)

    if TYPE_CHECKING:
        # What may be given is wider than what is kept; a dataclass cannot say that itself.
        def __init__(
            self,
            num_players: SupportsIndex = 2,
            covered: Iterable[SupportsIndex | str] | Literal["first_game"] = (),
            denied: Iterable[Iterable[SupportsIndex | str]] | None = None,
            dry_roads: bool = False,
            components: str | Path = "default",
            reward: str = "win",
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check every value and bring it into the form in which it is kept."""
        players = _players(self.num_players)
        if not isinstance(self.components, str | Path) or not str(self.components):
            _fail("components", self.components, "the name of a component file, such as 'default', or a path")
        if not isinstance(self.dry_roads, bool):
            _fail("dry_roads", self.dry_roads, "True or False")
        if not isinstance(self.reward, str) or self.reward not in REWARDS:
            _fail("reward", self.reward, one_of(REWARDS, self.reward))
        loaded = load_components(self.components)
        covered: Any = self.covered
        if isinstance(covered, str) and covered == "first_game":
            covered = loaded.action_rows[-1]
        keep = {
            "num_players": players,
            "covered": _actions("covered", covered, " (or 'first_game')"),
            "denied": _denied(self.denied, players),
            "components": str(self.components),
            "_loaded": loaded,
        }
        for name, value in keep.items():
            object.__setattr__(self, name, value)

    @property
    def loaded(self) -> Components:
        """The content of the component file."""
        return self._loaded

    @property
    def tables(self) -> Any:
        """The kernel's tables for this component file: built at the first use and shared."""
        return _tables(self._loaded)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the values; the component file counts by its content."""
        content = self.to_dict() | {"components": self._loaded.digest}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data for JSON or YAML, actions by name; `from_dict` reads it."""
        return {
            "num_players": self.num_players,
            "covered": [ACTIONS[action] for action in self.covered],
            "denied": [[ACTIONS[action] for action in seat] for seat in self.denied],
            "dry_roads": self.dry_roads,
            "components": self.components,
            "reward": self.reward,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "GameConfig":
        """Return the configuration with these values; a key that is left out has its default.

        Raises:
            ConfigError: for an unknown key or a value that cannot be used.
        """
        if not isinstance(data, Mapping):
            raise ConfigError(f"the configuration: found {data!r}, expected a mapping of some of {', '.join(KEYS)}")
        for key in data:
            if key not in KEYS:
                raise ConfigError(f"{key}: no such key (found {data[key]!r}), expected {one_of(KEYS, key)}")
        return cls(**data)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> "GameConfig":
        """Return the configuration in a YAML file with the keys of `from_dict`.

        Args:
            name_or_path: the name of a file in ``configs/game`` or a path.

        Raises:
            ConfigError: as in `from_dict`, naming the file too.
        """
        path = find_yaml(name_or_path, "game", ConfigError)
        data = read_yaml(path, ConfigError)
        try:
            return cls.from_dict(data)
        except ConfigError as problem:
            raise ConfigError(f"{path}: {problem}") from None


KEYS = tuple(item.name for item in fields(GameConfig) if item.init)


@lru_cache(maxsize=32)
def _tables(components: Components) -> Any:
    """Build the kernel's tables; imported here so that reading a configuration does not load the compiler."""
    from helsinki_env.core.tables import build_tables

    return build_tables(components)


def _fail(key: str, found: object, expected: str) -> NoReturn:
    raise ConfigError(f"{key}: found {found!r}, expected {expected}")


def _integer(value: object) -> int | None:
    """Return a whole number of any integer type, NumPy's too; None for everything else, truth values too."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]  # that is the question
    except TypeError:
        return None


def _players(value: object) -> int:
    players = _integer(value)
    if players not in (2, 3, 4):
        _fail("num_players", value, "2, 3 or 4")
    return players


def _action(key: str, value: object) -> int:
    """Return the id of an action that is given by id or name."""
    if isinstance(value, str):
        if value in ACTIONS:
            return ACTIONS.index(value)
        _fail(key, value, f"an action: {one_of(ACTIONS, value)}")
    action = _integer(value)
    if action is None or not 0 <= action < len(ACTIONS):
        _fail(key, value, f"an action: an id from 0 to {len(ACTIONS) - 1} or a name such as {ACTIONS[0]!r}")
    return action


def _actions(key: str, value: object, also: str = "") -> tuple[int, ...]:
    """Return different actions as ascending ids."""
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        _fail(key, value, f"a list of action ids or names{also}, [] for none")
    found: list[int] = []
    for i, item in enumerate(value):
        action = _action(f"{key}[{i}]", item)
        if action in found:
            _fail(
                f"{key}[{i}]",
                item,
                f"each action once; {ACTIONS[action]} is {key}[{found.index(action)}] already",
            )
        found.append(action)
    return tuple(sorted(found))


def _denied(value: object, players: int) -> tuple[tuple[int, ...], ...]:
    """Return the denied actions of each seat as ascending ids."""
    if value is None:
        return ((),) * players
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        _fail(
            "denied",
            value,
            f"one list of actions for each of the {players} seats, or nothing (None, in YAML null)",
        )
    seats = tuple(_actions(f"denied[{seat}]", item) for seat, item in enumerate(value))
    if len(seats) != players:
        _fail(
            "denied",
            seats,
            f"one list of actions for each seat: {players} with num_players={players}, not {len(seats)}",
        )
    return seats

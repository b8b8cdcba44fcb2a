"""The configuration of a game: players, covered and denied actions, expansion, component file, reward.

Frozen and validated: a `GameConfig` that exists can be played.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from helsinki_env.data import Entry, read_yaml
from helsinki_env.games.helsinki.components import ACTIONS, Components, load_components
from helsinki_env.yaml_files import find_yaml

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
    # The name that the component file was read by, and its content. Kept, pickled and compared with the rest: no game
    # may change under way because somebody edits the file. An argument, so that dataclasses.replace passes it on.
    _loaded: tuple[str, Components] = field(default=None, repr=False, kw_only=True)  # type: ignore[assignment]

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
        """Read the component file, check every value and bring it into the form in which it is kept."""
        if not isinstance(self.components, str | Path) or not str(self.components):
            self._entry("components").fail("the name of a component file, such as 'default', or a path")
        name = str(self.components)
        loaded = self._loaded[1] if self._loaded and self._loaded[0] == name else load_components(name)
        players = _players(self._entry("num_players"))
        self._entry("dry_roads").flag()
        self._entry("reward").choice(REWARDS)
        covered = self._entry("covered")
        if isinstance(covered.value, str) and covered.value == "first_game":
            covered.value = loaded.action_rows[-1]
        keep = {
            "num_players": players,
            "covered": _actions(covered, " (or 'first_game')"),
            "denied": _denied(self._entry("denied"), players),
            "components": name,
            "_loaded": (name, loaded),
        }
        for key, value in keep.items():
            object.__setattr__(self, key, value)

    def _entry(self, name: str) -> Entry:
        return Entry(getattr(self, name), ConfigError, name)

    def changed(self, **changes: Any) -> "GameConfig":
        """Return the configuration with other values, by the keys of `from_dict`.

        The facts stay those that were loaded, whatever has become of the component file, unless another one is named.
        What is denied to single seats goes with their number, unless it is said anew.

        Raises:
            ConfigError: for an unknown key or a value that cannot be used.
            ComponentError: if another component file is at fault.
        """
        Entry(changes, ConfigError).mapping(KEYS)
        if "num_players" in changes:
            players = _players(Entry(changes["num_players"], ConfigError, "num_players"))
            changes = {"denied": self.denied if players == self.num_players else None} | changes
        return replace(self, **changes)

    @property
    def loaded(self) -> Components:
        """The content of the component file."""
        return self._loaded[1]

    @property
    def tables(self) -> Any:
        """The kernel's tables for this component file: built at the first use and shared."""
        return _tables(self.loaded)

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the values; the component file counts by its content."""
        content = self.to_dict() | {"components": self.loaded.digest}
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
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> "GameConfig":
        """Return the configuration with these values; a key that is left out has its default.

        Raises:
            ConfigError: for an unknown key or a value that cannot be used; the component file is such a value.
        """
        return Entry.of(data, ConfigError, "the configuration").build(cls)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> "GameConfig":
        """Return the configuration in a YAML file with the keys of `from_dict`.

        Args:
            name_or_path: the name of a file in ``configs/game`` or a path.

        Raises:
            ConfigError: as in `from_dict`, naming the file too.
        """
        return cls.from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))


KEYS = tuple(item.name for item in fields(GameConfig) if not item.name.startswith("_"))


@lru_cache(maxsize=32)
def _tables(components: Components) -> Any:
    """Build the kernel's tables; imported here because the rules stand above configurations."""
    from helsinki_env.games.helsinki.tables import build_tables

    return build_tables(components)


def _players(data: Entry) -> int:
    return data.integer(2, 4, "2, 3 or 4")


def _action(data: Entry) -> int:
    """Return the id of an action that is given by id or name."""
    if isinstance(data.value, str):
        return ACTIONS.index(data.choice(ACTIONS, "an action: "))
    most = len(ACTIONS) - 1
    return data.integer(0, most, f"an action: an id from 0 to {most} or a name such as {ACTIONS[0]!r}")


def _listed(data: Entry, expected: str) -> list[Entry]:
    """Return the elements of what may be any collection."""
    if isinstance(data.value, str | Mapping):
        data.fail(expected)
    try:
        data.value = list(data.value)
    except TypeError:
        data.fail(expected)
    return data.entries(expected)


def _actions(data: Entry, also: str = "") -> tuple[int, ...]:
    """Return different actions as ascending ids."""
    found: list[int] = []
    for item in _listed(data, f"a list of action ids or names{also}, [] for none"):
        action = _action(item)
        if action in found:
            item.fail(f"each action once; {ACTIONS[action]} is {data.path}[{found.index(action)}] already")
        found.append(action)
    return tuple(sorted(found))


def _denied(data: Entry, players: int) -> tuple[tuple[int, ...], ...]:
    """Return the denied actions of each seat as ascending ids."""
    if data.value is None:
        return ((),) * players
    each = f"one list of actions for each of the {players} seats, or nothing (None, in YAML null)"
    seats = tuple(_actions(item) for item in _listed(data, each))
    if len(seats) != players:
        data.fail(f"one list of actions for each seat: {players} with num_players={players}, not {len(seats)}")
    return seats

"""What configurations of all games have in common: they are checked, frozen, and hold the facts that they loaded."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from helsinki_env.data import Entry, UserError, read_yaml
from helsinki_env.yaml_files import find_yaml

__all__ = ["REWARDS", "ConfigError", "Configuration", "different", "listed", "number_of_players", "sets_by_seat"]

REWARDS = ("win", "rank", "margin")
"""What the reward at the end of a game measures."""


class ConfigError(UserError):
    """A configuration that cannot be played. The message names key, value found and what is expected."""


class Configuration:
    """The base of a game's configurations: frozen dataclasses with at least these fields, keyword `_loaded` the last.

    Attributes:
        num_players: how many play.
        denied: what single seats may not use or take, a tuple of ids for each seat.
        components: the component file, a name or a path.
        reward: one of `REWARDS`.
    """

    #: Reads a component file, given its name; and makes the kernels' tables of it.
    read_components: ClassVar[Any]
    build_tables: ClassVar[Any]

    num_players: int
    denied: tuple[tuple[int, ...], ...]
    components: str
    reward: str
    # The name that the component file was read by, and its content. Kept, pickled and compared with the rest: no game
    # may change under way because somebody edits the file. An argument, so that dataclasses.replace passes it on.
    _loaded: tuple[str, Any]

    def _load(self) -> Any:
        """Read the component file, unless its facts came along; check what every configuration has; keep both."""
        if not isinstance(self.components, str | Path) or not str(self.components):
            self._entry("components").fail(
                f"the name of a component file, such as {type(self).components!r}, or a path"
            )
        name = str(self.components)
        loaded = self._loaded[1] if self._loaded and self._loaded[0] == name else type(self).read_components(name)
        self._entry("reward").choice(REWARDS)
        self._keep(num_players=number_of_players(self._entry("num_players")), components=name, _loaded=(name, loaded))
        return loaded

    def _keep(self, **values: Any) -> None:
        """Bring values into the form in which they are kept."""
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _entry(self, name: str) -> Entry:
        return Entry(getattr(self, name), ConfigError, name)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys of `from_dict`."""
        return tuple(item.name for item in fields(cls) if not item.name.startswith("_"))  # type: ignore[arg-type]

    def changed(self, **changes: Any) -> Self:
        """Return the configuration with other values, by the keys of `from_dict`.

        The facts stay those that were loaded, whatever has become of the component file, unless another one is named.
        What is denied to single seats goes with their number, unless it is said anew.

        Raises:
            ConfigError: for an unknown key or a value that cannot be used.
            ComponentError: if another component file is at fault.
        """
        Entry(changes, ConfigError).mapping(self.keys())
        if "num_players" in changes:
            players = number_of_players(Entry(changes["num_players"], ConfigError, "num_players"))
            changes = {"denied": self.denied if players == self.num_players else None} | changes
        return replace(self, **changes)  # type: ignore[type-var]  # every subclass is a dataclass

    @property
    def loaded(self) -> Any:
        """The content of the component file."""
        return self._loaded[1]

    @property
    def tables(self) -> Any:
        """The kernels' tables for this component file: built at the first use and shared."""
        return type(self).build_tables(self._loaded[1])

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the values; the component file counts by its content."""
        content = self.to_dict() | {"components": self.loaded.digest}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data for JSON or YAML; `from_dict` reads it."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> Self:
        """Return the configuration with these values; a key that is left out has its default.

        Raises:
            ConfigError: for an unknown key or a value that cannot be used; the component file is such a value.
        """
        return Entry.of(data, ConfigError, "the configuration").build(cls)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> Self:
        """Return the configuration in a YAML file with the keys of `from_dict`.

        Args:
            name_or_path: the name of a file in ``configs/game`` or a path.

        Raises:
            ConfigError: as in `from_dict`, naming the file too.
        """
        return cls.from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))


def number_of_players(data: Entry) -> int:
    """Return 2, 3 or 4."""
    return data.integer(2, 4, "2, 3 or 4")


def listed(data: Entry, expected: str) -> list[Entry]:
    """Return the elements of what may be any collection."""
    if isinstance(data.value, str | Mapping):
        data.fail(expected)
    try:
        data.value = list(data.value)
    except TypeError:
        data.fail(expected)
    return data.entries(expected)


def different(
    entries: Iterable[Entry], path: str, one: str, number: Callable[[Entry], int], names: Any
) -> tuple[int, ...]:
    """Return different numbers, ascending.

    Args:
        entries: what was given.
        path: where.
        one: such a thing, for messages.
        number: of what was given.
        names: of the numbers.
    """
    found: list[int] = []
    for item in entries:
        value = number(item)
        if value in found:
            item.fail(f"each {one} once; {names[value]} is {path}[{found.index(value)}] already")
        found.append(value)
    return tuple(sorted(found))


def sets_by_seat(
    data: Entry, players: int, what: str, read: Callable[[Entry], tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    """Return what is denied to each seat; nothing stands for nothing at all.

    Args:
        data: what was given.
        players: how many seats there are.
        what: is denied, for messages.
        read: reads the set of one seat.
    """
    if data.value is None:
        return ((),) * players
    each = f"one list of {what} for each of the {players} seats, or nothing (None, in YAML null)"
    seats = tuple(read(item) for item in listed(data, each))
    if len(seats) != players:
        data.fail(f"one list of {what} for each seat: {players} with num_players={players}, not {len(seats)}")
    return seats

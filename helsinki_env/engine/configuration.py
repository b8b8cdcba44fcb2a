"""Base class of game configurations: validated and frozen, with the loaded component facts included."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from helsinki_env.data import Node, UserError, read_yaml
from helsinki_env.utils.yaml_files import find_yaml

__all__ = [
    "REWARDS",
    "ConfigError",
    "Configuration",
    "disabled_by_seat",
    "distinct_ids",
    "list_entries",
    "read_num_players",
]

REWARDS = ("win", "rank", "margin")
"""Reward types at the end of a game."""


class ConfigError(UserError):
    """An invalid configuration. The message names the key, the value found and the expected value."""


class Configuration:
    """Base class of game configurations: frozen dataclasses with at least these fields and a last keyword `_loaded`.

    Attributes:
        num_players: number of players.
        denied: what is disabled for single seats, a tuple of ids for each seat.
        components: component file, name or path.
        reward: one of `REWARDS`.
    """

    #: Functions that read a component file by name, and that build the kernel tables from it.
    read_components: ClassVar[Any]
    build_tables: ClassVar[Any]

    num_players: int
    denied: tuple[tuple[int, ...], ...]
    components: str
    reward: str
    # The component file's name when it was read, and its content. They are saved, pickled and compared as well, so that
    # edits of the file do not change a game in progress. An argument, so that dataclasses.replace passes it on.
    _loaded: tuple[str, Any]

    def _load(self) -> Any:
        """Read the component file unless its content is given; check the common fields; store the results."""
        if not isinstance(self.components, str | Path) or not str(self.components):
            self._entry("components").fail(
                f"the name of a component file, such as {type(self).components!r}, or a path"
            )
        name = str(self.components)
        loaded = self._loaded[1] if self._loaded and self._loaded[0] == name else type(self).read_components(name)
        self._entry("reward").choice(REWARDS)
        self._keep(num_players=read_num_players(self._entry("num_players")), components=name, _loaded=(name, loaded))
        return loaded

    def _keep(self, **values: Any) -> None:
        """Store normalized field values."""
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def _entry(self, name: str) -> Node:
        return Node(getattr(self, name), ConfigError, name)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys that `from_dict` accepts."""
        return tuple(item.name for item in fields(cls) if not item.name.startswith("_"))  # type: ignore[arg-type]

    def replace(self, **changes: Any) -> Self:
        """Return a copy of the configuration with changed values, by the keys of `from_dict`.

        The loaded component facts stay, even if the file has changed, unless `changes` names another file. A change of
        the number of players resets `denied`, unless `changes` sets it.

        Raises:
            ConfigError: for an unknown key or an invalid value.
            ComponentError: for an invalid component file.
        """
        Node(changes, ConfigError).mapping(self.keys())
        if "num_players" in changes:
            players = read_num_players(Node(changes["num_players"], ConfigError, "num_players"))
            changes = {"denied": self.denied if players == self.num_players else None} | changes
        return replace(self, **changes)  # type: ignore[type-var]  # every subclass is a dataclass

    @property
    def component_set(self) -> Any:
        """The content of the component file."""
        return self._loaded[1]

    @property
    def tables(self) -> Any:
        """The kernel tables for this component file, built at first use and shared."""
        return type(self).build_tables(self._loaded[1])

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the values; the component file is identified by its content."""
        content = self.to_dict() | {"components": self.component_set.digest}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data for JSON or YAML; `from_dict` reads it."""
        raise NotImplementedError

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Self:
        """Return the configuration with these values; omitted keys keep their defaults.

        Raises:
            ConfigError: for an unknown key or an invalid value, including the component file.
        """
        return Node.of(data, ConfigError, "the configuration").build(cls)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> Self:
        """Return the configuration from a YAML file with the keys of `from_dict`.

        Args:
            name_or_path: name of a file in ``configs/game``, or a path.

        Raises:
            ConfigError: as in `from_dict`; also names the file.
        """
        return cls.from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))


def read_num_players(data: Node) -> int:
    """Return the number of players: 2, 3 or 4."""
    return data.integer(2, 4, "2, 3 or 4")


def list_entries(data: Node, expected: str) -> list[Node]:
    """Return the elements of any collection as entries."""
    if isinstance(data.value, str | Mapping):
        data.fail(expected)
    try:
        data.value = list(data.value)
    except TypeError:
        data.fail(expected)
    return data.entries(expected)


def distinct_ids(
    entries: Iterable[Node], path: str, one: str, number: Callable[[Node], int], names: Any
) -> tuple[int, ...]:
    """Return distinct numbers, ascending.

    Args:
        entries: the input values.
        path: their location.
        one: noun for one value, for messages.
        number: converts an entry to its number.
        names: names of the numbers.
    """
    found: list[int] = []
    for item in entries:
        value = number(item)
        if value in found:
            item.fail(f"each {one} once; {names[value]} is {path}[{found.index(value)}] already")
        found.append(value)
    return tuple(sorted(found))


def disabled_by_seat(
    data: Node, players: int, what: str, read: Callable[[Node], tuple[int, ...]]
) -> tuple[tuple[int, ...], ...]:
    """Return one set of disabled ids per seat; None means no restrictions.

    Args:
        data: the input.
        players: number of seats.
        what: noun for the disabled things, for messages.
        read: reads the set of one seat.
    """
    if data.value is None:
        return ((),) * players
    each = f"one list of {what} for each of the {players} seats, or nothing (None, in YAML null)"
    seats = tuple(read(item) for item in list_entries(data, each))
    if len(seats) != players:
        data.fail(f"one list of {what} for each seat: {players} with num_players={players}, not {len(seats)}")
    return seats

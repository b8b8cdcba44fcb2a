"""Provide the base class of game configurations, and parsers for their options."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from helsinki_env.data import Node, UserError, as_integer, read_yaml, short_repr
from helsinki_env.utils.yaml_files import find_yaml

__all__ = [
    "REWARDS",
    "ConfigError",
    "Configuration",
    "as_values",
    "options_dtype",
    "read_num_players",
    "read_player_counts",
    "size_range",
]

ComponentsT = TypeVar("ComponentsT")

REWARDS = ("win", "rank", "margin")
"""The types of rewards at the end of a game."""


class ConfigError(UserError):
    """Raised for an invalid configuration. The message names the key, the value found and the expected value."""


class Configuration(Generic[ComponentsT]):
    """The base class of game configurations, which are frozen dataclasses with at least these fields.

    The last field is the keyword `_loaded`. Additional fields may be tuples of ids of the same kind as in `denied`.

    Attributes:
        num_players: number of players.
        denied: ids that are disabled for individual seats, a tuple for each seat.
        components: name or path of the component file.
        reward: one of `REWARDS`.
    """

    #: The function that reads a component file by name, and the module whose `build_tables` builds the tables for
    #: kernels. This module imports kernels, so it is imported on demand.
    read_components: ClassVar[Any]
    tables_module: ClassVar[str]
    #: Names of all actions or abilities, by id; the first id that can be disabled; the noun and its plural.
    disabled_names: ClassVar[tuple[str, ...]] = ()
    first_disabled: ClassVar[int] = 0
    disabled_nouns: ClassVar[tuple[str, str]] = ("", "")

    num_players: int
    denied: tuple[tuple[int, ...], ...]
    components: str
    reward: str
    # Name and content of the component file when it was read. They are saved, pickled and compared, so that editing the
    # file does not change a game in progress. They are an argument so that `dataclasses.replace` copies them.
    _loaded: tuple[str, ComponentsT]

    def _load(self) -> Any:
        """Read the component file unless its content is given, then validate and store the common fields."""
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

    def _ids(self, data: Node, groups: Mapping[str, Sequence[str]] | None = None) -> tuple[int, ...]:
        """Return the distinct ids to disable, ascending, from ids, names, or names of groups of names."""
        names, first, noun = self.disabled_names, self.first_disabled, self.disabled_nouns[0]
        groups = groups or {}
        also = f" (or {', '.join(map(repr, groups))})" if groups else ""
        if not names and data.value:
            data.fail("[]: this game has nothing to disable")
        found: list[int] = []
        for item in _list_entries(data, f"a list of {noun} ids or names{also}, [] for none"):
            if isinstance(item.value, str):
                name = item.choice([*names[first:], *groups], f"an {noun}: ")
                values = [names.index(one) for one in groups.get(name, (name,))]
            else:
                most = len(names) - 1
                example = f"an {noun}: an id from {first} to {most} or a name such as {names[first]!r}"
                values = [item.integer(first, most, example)]
            for value in values:
                if value in found:
                    item.fail(f"each {noun} once; {names[value]} is in {data.path} already")
            found += values
        return tuple(sorted(found))

    def _ids_by_seat(self, data: Node) -> tuple[tuple[int, ...], ...]:
        """Return the disabled ids of each seat. If the value is None, nothing is disabled."""
        if data.value is None:
            return ((),) * self.num_players
        what = self.disabled_nouns[1]
        each = f"one list of {what} for each of the {self.num_players} seats, or None (in YAML null)"
        seats = tuple(self._ids(item) for item in _list_entries(data, each))
        if len(seats) != self.num_players:
            data.fail(f"{self.num_players} lists of {what}, one for each seat")
        return seats

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the keys that `from_dict` accepts."""
        return tuple(item.name for item in fields(cls) if not item.name.startswith("_"))  # type: ignore[arg-type]

    def replace(self, **changes: Any) -> Self:
        """Return a copy of the configuration with changed values, given with the keys of `from_dict`.

        The copy uses the loaded component data, even if the file has changed, unless `changes` names another component
        file. Changing the number of players resets `denied`, unless `changes` sets it.

        Raises:
            ConfigError: if a key is unknown or a value is invalid.
            ComponentError: if the component file is invalid.
        """
        Node(changes, ConfigError).mapping(self.keys())
        if "num_players" in changes:
            players = read_num_players(Node(changes["num_players"], ConfigError, "num_players"))
            changes = {"denied": self.denied if players == self.num_players else None} | changes
        return replace(self, **changes)  # type: ignore[type-var]  # every subclass is a dataclass

    @property
    def component_set(self) -> ComponentsT:
        """The content of the component file."""
        return self._loaded[1]

    @property
    def tables(self) -> Any:
        """The tables of the component file for kernels, built on first use and shared between configurations."""
        return import_module(self.tables_module).build_tables(self._loaded[1])

    @property
    def digest(self) -> str:
        """16 hexadecimal digits that identify the configuration, including the content of the component file."""
        components: Any = self.component_set
        content = self.to_dict() | {"components": components.digest}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as a dict of JSON types for `from_dict`, with names in place of ids."""

        def plain(value: Any) -> Any:
            return [plain(item) for item in value] if isinstance(value, tuple) else self.disabled_names[value]

        values = {key: getattr(self, key) for key in self.keys()}
        return {key: plain(value) if isinstance(value, tuple) else value for key, value in values.items()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Node) -> Self:
        """Return a configuration with these values. Omitted keys have their default values.

        Raises:
            ConfigError: if a key is unknown, or if a value or the component file is invalid.
        """
        return Node.of(data, ConfigError, "the configuration").build(cls)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> Self:
        """Return the configuration in a YAML file with the keys of `from_dict`.

        Args:
            name_or_path: name of a file in ``configs/game``, or a path.

        Raises:
            ConfigError: as for `from_dict`; the message also names the file.
        """
        return cls.from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))


def read_num_players(data: Node) -> int:
    """Return a number of players after checking that it is 2, 3 or 4."""
    return data.integer(2, 4, "2, 3 or 4")


def _list_entries(data: Node, expected: str) -> list[Node]:
    """Return the elements of any collection as nodes."""
    if isinstance(data.value, str | Mapping):
        data.fail(expected)
    try:
        data.value = list(data.value)
    except TypeError:
        data.fail(expected)
    return data.entries(expected)


# Options for random episodes, each with one or several values to draw from


def options_dtype(*names: str) -> np.dtype[Any]:
    """Return the dtype of episode options for kernels, with the integer fields `names` between `players` and `chance`.

    `players` is the set of player counts (bit = count), or 0 to keep the configured count. `chance` is the random key
    of the episode.
    """
    fields = [*((name, np.int64) for name in ("players", *names)), ("chance", np.uint64)]
    return np.dtype((np.record, np.dtype(fields, align=True)))


def as_values(value: Any) -> tuple[Any, ...]:
    """Return the values to draw from as a tuple, which has length one for a single value."""
    try:
        return tuple(value)
    except TypeError:  # a single value
        return (value,)


def read_player_counts(value: Any) -> tuple[int, ...]:
    """Return the player counts to draw from. Raise ValueError for an empty list or a count other than 2, 3 or 4."""
    counts = tuple(as_integer(n) for n in as_values(value))
    if not counts or any(n not in (2, 3, 4) for n in counts):
        raise ValueError(f"num_players: found {short_repr(value)}, expected 2, 3 or 4, or some of them, such as (2, 3)")
    return tuple(n for n in counts if n is not None)


def size_range(name: str, value: Any, most: int, what: str) -> tuple[int, int]:
    """Return the (low, high) size of a set to draw, given as a number or a pair. Raise ValueError if it is invalid."""
    values = as_values(value)
    low, high = values if len(values) == 2 else (value, value)
    low, high = as_integer(low), as_integer(high)
    if low is None or high is None or not 0 <= low <= high <= most:
        raise ValueError(
            f"{name}: found {short_repr(value)}, expected a number of {what}, or (low, high), from 0 to {most}"
        )
    return low, high

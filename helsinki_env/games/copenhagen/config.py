"""The configuration of a game of Copenhagen: players, denied abilities, component file, reward.

Frozen and validated: a `CopenhagenConfig` that exists can be played.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from helsinki_env.data import Entry, read_yaml
from helsinki_env.games.copenhagen.components import ABILITIES, Components, load_components
from helsinki_env.yaml_files import find_yaml

__all__ = ["REWARDS", "ConfigError", "CopenhagenConfig"]

REWARDS = ("win", "rank", "margin")
"""What the reward at the end of a game measures."""


class ConfigError(ValueError):
    """A configuration that cannot be played. The message names key, value found and what is expected."""


@dataclass(frozen=True)
class CopenhagenConfig:
    """How a game is set up.

    Frozen, hashable and picklable. Equal if all values and the content of the component files are.

    Attributes:
        num_players: 2, 3 or 4.
        denied: for studies only: the abilities that single seats may not take, one collection of ids (1 to 4) or names
            for each seat, or None for nothing; kept as one tuple of ascending ids for each seat. Everybody begins with
            ``any_cards``, so it cannot be denied.
        components: the component file, a name or a path; see `components.load_components`.
        reward: ``"win"``, ``"rank"`` or ``"margin"``.

    Raises:
        ConfigError: for a value that cannot be used.
        ComponentError: (a ValueError too) if the component file is at fault.
    """

    num_players: int = 2
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced on creation
    components: str = "copenhagen"
    reward: str = "win"
    # The name that the component file was read by, and its content. Kept, pickled and compared with the rest: no game
    # may change under way because somebody edits the file. An argument, so that dataclasses.replace passes it on.
    _loaded: tuple[str, Components] = field(default=None, repr=False, kw_only=True)  # type: ignore[assignment]

    if TYPE_CHECKING:
        # What may be given is wider than what is kept; a dataclass cannot say that itself.
        def __init__(
            self,
            num_players: SupportsIndex = 2,
            denied: Iterable[Iterable[SupportsIndex | str]] | None = None,
            components: str | Path = "copenhagen",
            reward: str = "win",
        ) -> None: ...

    def __post_init__(self) -> None:
        """Read the component file, check every value and bring it into the form in which it is kept."""
        if not isinstance(self.components, str | Path) or not str(self.components):
            self._entry("components").fail("the name of a component file, such as 'copenhagen', or a path")
        name = str(self.components)
        loaded = self._loaded[1] if self._loaded and self._loaded[0] == name else load_components(name)
        players = _players(self._entry("num_players"))
        self._entry("reward").choice(REWARDS)
        keep = {
            "num_players": players,
            "denied": _denied(self._entry("denied"), players),
            "components": name,
            "_loaded": (name, loaded),
        }
        for key, value in keep.items():
            object.__setattr__(self, key, value)

    def _entry(self, name: str) -> Entry:
        return Entry(getattr(self, name), ConfigError, name)

    def changed(self, **changes: Any) -> "CopenhagenConfig":
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
        """Return the configuration as plain data for JSON or YAML, abilities by name; `from_dict` reads it."""
        return {
            "num_players": self.num_players,
            "denied": [[ABILITIES[ability] for ability in seat] for seat in self.denied],
            "components": self.components,
            "reward": self.reward,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any] | Entry) -> "CopenhagenConfig":
        """Return the configuration with these values; a key that is left out has its default.

        Raises:
            ConfigError: for an unknown key or a value that cannot be used; the component file is such a value.
        """
        return Entry.of(data, ConfigError, "the configuration").build(cls)

    @classmethod
    def from_yaml(cls, name_or_path: str | Path) -> "CopenhagenConfig":
        """Return the configuration in a YAML file with the keys of `from_dict`.

        Args:
            name_or_path: the name of a file in ``configs/game`` or a path.

        Raises:
            ConfigError: as in `from_dict`, naming the file too.
        """
        return cls.from_dict(read_yaml(find_yaml(name_or_path, "game", ConfigError), ConfigError))


KEYS = tuple(item.name for item in fields(CopenhagenConfig) if not item.name.startswith("_"))


@lru_cache(maxsize=32)
def _tables(components: Components) -> Any:
    """Build the kernel's tables; imported here because the rules stand above configurations."""
    from helsinki_env.games.copenhagen.tables import build_tables

    return build_tables(components)


def _players(data: Entry) -> int:
    return data.integer(2, 4, "2, 3 or 4")


def _ability(data: Entry) -> int:
    """Return the id of an ability that can be denied, given by id or name."""
    if isinstance(data.value, str):
        return ABILITIES.index(data.choice(ABILITIES[1:], "an ability: "))
    most = len(ABILITIES) - 1
    return data.integer(1, most, f"an ability: an id from 1 to {most} or a name such as {ABILITIES[1]!r}")


def _listed(data: Entry, expected: str) -> list[Entry]:
    """Return the elements of what may be any collection."""
    if isinstance(data.value, str | Mapping):
        data.fail(expected)
    try:
        data.value = list(data.value)
    except TypeError:
        data.fail(expected)
    return data.entries(expected)


def _abilities(data: Entry) -> tuple[int, ...]:
    """Return different abilities as ascending ids."""
    found: list[int] = []
    for item in _listed(data, "a list of ability ids or names, [] for none"):
        ability = _ability(item)
        if ability in found:
            item.fail(f"each ability once; {ABILITIES[ability]} is {data.path}[{found.index(ability)}] already")
        found.append(ability)
    return tuple(sorted(found))


def _denied(data: Entry, players: int) -> tuple[tuple[int, ...], ...]:
    """Return the denied abilities of each seat as ascending ids."""
    if data.value is None:
        return ((),) * players
    each = f"one list of abilities for each of the {players} seats, or nothing (None, in YAML null)"
    seats = tuple(_abilities(item) for item in _listed(data, each))
    if len(seats) != players:
        data.fail(f"one list of abilities for each seat: {players} with num_players={players}, not {len(seats)}")
    return seats

"""Configuration of a game of Copenhagen: players, denied abilities, component file, reward.

A `CopenhagenConfig` is immutable and validated on creation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

from helsinki_env.data import Node
from helsinki_env.engine.configuration import (
    REWARDS,
    ConfigError,
    Configuration,
    disabled_by_seat,
    distinct_ids,
    list_entries,
)
from helsinki_env.games.copenhagen.components import ABILITIES, Components, load_components

__all__ = ["REWARDS", "ConfigError", "CopenhagenConfig"]


@lru_cache(maxsize=32)
def _build_tables(components: Components) -> Any:
    """Build the kernels' tables; imported here because the rules modules import configurations."""
    from helsinki_env.games.copenhagen.tables import build_tables

    return build_tables(components)


@dataclass(frozen=True)
class CopenhagenConfig(Configuration):
    """Configuration of a game.

    Immutable, hashable and picklable. Configurations are equal if all values and the contents of the component files
    are.

    Attributes:
        num_players: 2, 3 or 4.
        denied: for studies only: the abilities that individual seats may not take, one collection of ids (1 to 4) or
            names for each seat, or None for no restriction. Stored as one tuple of ascending ids for each seat. Every
            player owns ``any_cards`` from the start, so it cannot be denied.
        components: the component file, a name or a path; see `components.load_components`.
        reward: ``"win"``, ``"rank"`` or ``"margin"``.

    Raises:
        ConfigError: if a value is invalid.
        ComponentError: (a ValueError) if the component file is invalid.
    """

    read_components = staticmethod(load_components)
    build_tables = staticmethod(_build_tables)

    num_players: int = 2
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced on creation
    components: str = "copenhagen"
    reward: str = "win"
    _loaded: tuple[str, Components] = field(default=None, repr=False, kw_only=True)  # type: ignore[assignment]

    if TYPE_CHECKING:
        # The arguments accept more types than the fields have, which a dataclass cannot express.
        def __init__(
            self,
            num_players: SupportsIndex = 2,
            denied: Iterable[Iterable[SupportsIndex | str]] | None = None,
            components: str | Path = "copenhagen",
            reward: str = "win",
        ) -> None: ...

    def __post_init__(self) -> None:
        """Read the component file, validate every value and normalize it."""
        self._load()
        self._keep(denied=disabled_by_seat(self._entry("denied"), self.num_players, "abilities", _abilities))

    @property
    def component_set(self) -> Components:
        """The content of the component file."""
        return self._loaded[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as plain data for JSON or YAML, abilities by name; `from_dict` reads it."""
        return {
            "num_players": self.num_players,
            "denied": [[ABILITIES[ability] for ability in seat] for seat in self.denied],
            "components": self.components,
            "reward": self.reward,
        }


def _ability(data: Node) -> int:
    """Return the id of an ability that can be denied, given by id or name."""
    if isinstance(data.value, str):
        return ABILITIES.index(data.choice(ABILITIES[1:], "an ability: "))
    most = len(ABILITIES) - 1
    return data.integer(1, most, f"an ability: an id from 1 to {most} or a name such as {ABILITIES[1]!r}")


def _abilities(data: Node) -> tuple[int, ...]:
    """Return distinct abilities as ascending ids."""
    entries = list_entries(data, "a list of ability ids or names, [] for none")
    return distinct_ids(entries, data.path, "ability", _ability, ABILITIES)

"""Configure a game of Copenhagen: number of players, denied abilities, component file and reward."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, SupportsIndex

from helsinki_env.engine.configuration import REWARDS, ConfigError, Configuration
from helsinki_env.games.copenhagen.components import ABILITIES, Components, load_components

__all__ = ["REWARDS", "ConfigError", "CopenhagenConfig"]


@dataclass(frozen=True)
class CopenhagenConfig(Configuration[Components]):
    """The configuration of a game.

    Configurations are frozen, hashable and picklable. Two are equal if all their values and the contents of their
    component files are equal.

    Attributes:
        num_players: number of players: 2, 3 or 4.
        denied: abilities that individual seats may not take, for studies: one collection of ids (1 to 4) or names for
            each seat, or None. They are stored as a tuple of ascending ids for each seat. Every player owns
            ``any_cards`` from the start, so it cannot be denied.
        components: name or path of the component file; see `components.load_components`.
        reward: reward type: ``"win"``, ``"rank"`` or ``"margin"``.

    Raises:
        ConfigError: if a value is invalid.
        ComponentError: (a ValueError) if the component file is invalid.
    """

    read_components = staticmethod(load_components)
    tables_module = "helsinki_env.games.copenhagen.tables"
    disabled_names = ABILITIES
    first_disabled = 1
    disabled_nouns = ("ability", "abilities")

    num_players: int = 2
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced on creation
    components: str = "copenhagen"
    reward: str = "win"
    _loaded: tuple[str, Components] = field(default=None, repr=False, kw_only=True)  # type: ignore[assignment]

    if TYPE_CHECKING:
        # The constructor accepts more types than the fields store, which a dataclass cannot express.
        def __init__(
            self,
            num_players: SupportsIndex = 2,
            denied: Iterable[Iterable[SupportsIndex | str]] | None = None,
            components: str | Path = "copenhagen",
            reward: str = "win",
        ) -> None: ...

    def __post_init__(self) -> None:
        """Load the component file, then validate and normalize every value."""
        self._load()
        self._keep(denied=self._ids_by_seat(self._entry("denied")))

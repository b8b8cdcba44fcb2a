"""Game configuration: players, covered and denied board actions, expansion, component file, reward."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, SupportsIndex

from helsinki_env.engine.configuration import REWARDS, ConfigError, Configuration
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, Components, load_components

__all__ = ["REWARDS", "ConfigError", "HelsinkiConfig"]


@dataclass(frozen=True)
class HelsinkiConfig(Configuration[Components]):
    """Game configuration.

    Configurations are frozen, hashable and picklable. Two configurations are equal if all their values and the contents
    of their component files are equal.

    Attributes:
        num_players: number of players: 2, 3 or 4.
        covered: board actions disabled for all players. Accepts ids, names or ``"first_game"`` (the bottom row of the
            action board); stored as ascending ids. The rulebook covers five; any subset is valid.
        denied: board actions disabled for individual seats, for studies. Accepts one collection of ids or names per
            seat, or None; stored as one tuple of ascending ids per seat.
        dry_roads: whether to play with the Dry roads expansion (rules page, section 6).
        components: name or path of the component file; see `helsinki_env.games.helsinki.components.load_components`.
        reward: reward scheme: ``"win"``, ``"rank"`` or ``"margin"``.

    Raises:
        ConfigError: if a value is invalid.
        ComponentError: (a ValueError) if the component file is invalid.
    """

    read_components = staticmethod(load_components)
    tables_module = "helsinki_env.games.helsinki.tables"
    disabled_names = BOARD_ACTIONS
    disabled_nouns = ("action", "actions")

    num_players: int = 2
    covered: tuple[int, ...] = ()
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced by `__post_init__`
    dry_roads: bool = False
    components: str = "default"
    reward: str = "win"
    _loaded: tuple[str, Components] = field(default=None, repr=False, kw_only=True)  # type: ignore[assignment]

    if TYPE_CHECKING:
        # The constructor accepts wider types than the fields store, which a dataclass cannot express.
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
        """Load the component file, then validate and normalize every value."""
        loaded = self._load()
        self._entry("dry_roads").boolean()
        covered = self._entry("covered")
        if isinstance(covered.value, str) and covered.value == "first_game":
            covered.value = [covered.value]
        covers = self._ids(covered, {"first_game": loaded.action_rows[-1]})
        self._keep(covered=covers, denied=self._ids_by_seat(self._entry("denied")))

"""Game configuration: players, covered and denied board actions, expansion, component file, reward.

A `HelsinkiConfig` is frozen and validated on creation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from helsinki_env.data import Node
from helsinki_env.engine.configuration import (
    REWARDS,
    ConfigError,
    Configuration,
    disabled_by_seat,
    distinct_ids,
    list_entries,
)
from helsinki_env.games.helsinki.components import BOARD_ACTIONS, Components, load_components

__all__ = ["REWARDS", "ConfigError", "HelsinkiConfig"]


@lru_cache(maxsize=32)
def _build_tables(components: Components) -> Any:
    """Build the kernels' tables; imported lazily because this module is below the rules layer."""
    from helsinki_env.games.helsinki.tables import build_tables

    return build_tables(components)


@dataclass(frozen=True)
class HelsinkiConfig(Configuration):
    """Configuration of a game.

    Frozen, hashable and picklable. Two configurations are equal if all values and the contents of the component files
    are equal.

    Attributes:
        num_players: 2, 3 or 4.
        covered: board actions disabled for all players. Accepts ids, names or ``"first_game"`` (the bottom row of the
            action board); stored as ascending ids. The rulebook covers five; any subset is valid.
        denied: for studies only: board actions disabled for single seats. Accepts one collection of ids or names per
            seat, or None; stored as one tuple of ascending ids per seat.
        dry_roads: whether to play the expansion (rules page, section 6).
        components: the component file, a name or a path; see `helsinki_env.games.helsinki.components.load_components`.
        reward: ``"win"``, ``"rank"`` or ``"margin"``.

    Raises:
        ConfigError: for an invalid value.
        ComponentError: (a ValueError) for an invalid component file.
    """

    read_components = staticmethod(load_components)
    build_tables = staticmethod(_build_tables)

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
            covered.value = loaded.action_rows[-1]
        self._keep(
            covered=_actions(covered, " (or 'first_game')"),
            denied=disabled_by_seat(self._entry("denied"), self.num_players, "actions", _actions),
        )

    @property
    def component_set(self) -> Components:
        """The content of the component file."""
        return self._loaded[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration as JSON or YAML data with board actions by name, for `from_dict`."""
        return {
            "num_players": self.num_players,
            "covered": [BOARD_ACTIONS[action] for action in self.covered],
            "denied": [[BOARD_ACTIONS[action] for action in seat] for seat in self.denied],
            "dry_roads": self.dry_roads,
            "components": self.components,
            "reward": self.reward,
        }


def _action(data: Node) -> int:
    """Return the id of a board action given by id or name."""
    if isinstance(data.value, str):
        return BOARD_ACTIONS.index(data.choice(BOARD_ACTIONS, "an action: "))
    most = len(BOARD_ACTIONS) - 1
    return data.integer(0, most, f"an action: an id from 0 to {most} or a name such as {BOARD_ACTIONS[0]!r}")


def _actions(data: Node, also: str = "") -> tuple[int, ...]:
    """Return distinct board actions as ascending ids."""
    entries = list_entries(data, f"a list of action ids or names{also}, [] for none")
    return distinct_ids(entries, data.path, "action", _action, BOARD_ACTIONS)

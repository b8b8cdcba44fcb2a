"""The configuration of a game: players, covered and denied actions, expansion, component file, reward.

Frozen and validated: a `GameConfig` that exists can be played.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

from helsinki_env.data import Entry
from helsinki_env.engine.configuration import REWARDS, ConfigError, Configuration, different, listed, sets_by_seat
from helsinki_env.games.helsinki.components import ACTIONS, Components, load_components

__all__ = ["REWARDS", "ConfigError", "GameConfig"]


@lru_cache(maxsize=32)
def _build_tables(components: Components) -> Any:
    """Build the kernels' tables; imported here because the rules stand above configurations."""
    from helsinki_env.games.helsinki.tables import build_tables

    return build_tables(components)


@dataclass(frozen=True)
class GameConfig(Configuration):
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

    read_components = staticmethod(load_components)
    build_tables = staticmethod(_build_tables)

    num_players: int = 2
    covered: tuple[int, ...] = ()
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced on creation
    dry_roads: bool = False
    components: str = "default"
    reward: str = "win"
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
        loaded = self._load()
        self._entry("dry_roads").flag()
        covered = self._entry("covered")
        if isinstance(covered.value, str) and covered.value == "first_game":
            covered.value = loaded.action_rows[-1]
        self._keep(
            covered=_actions(covered, " (or 'first_game')"),
            denied=sets_by_seat(self._entry("denied"), self.num_players, "actions", _actions),
        )

    @property
    def loaded(self) -> Components:
        """The content of the component file."""
        return self._loaded[1]

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


def _action(data: Entry) -> int:
    """Return the id of an action that is given by id or name."""
    if isinstance(data.value, str):
        return ACTIONS.index(data.choice(ACTIONS, "an action: "))
    most = len(ACTIONS) - 1
    return data.integer(0, most, f"an action: an id from 0 to {most} or a name such as {ACTIONS[0]!r}")


def _actions(data: Entry, also: str = "") -> tuple[int, ...]:
    """Return different actions as ascending ids."""
    entries = listed(data, f"a list of action ids or names{also}, [] for none")
    return different(entries, data.path, "action", _action, ACTIONS)

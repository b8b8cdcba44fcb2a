"""What is played in training: kinds of tables, and how many games of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from helsinki_env.data import Entry, UserError, shown
from helsinki_env.engine.spec import spec_of
from training.checks import player_counts

__all__ = ["TableConfig", "divide"]


@dataclass(frozen=True)
class TableConfig:
    """What is played at a part of the tables, drawn anew for every game.

    Args:
        share: part of the games.
        players: player counts to draw from.
        covered: how many actions are covered for all, (low, high).
        denied: how many are denied to each seat, likewise.
        dry_roads: whether the expansion is played, values to draw from.
    """

    share: float = 1.0
    players: tuple[int, ...] = (2,)
    covered: tuple[int, int] = (0, 0)
    denied: tuple[int, int] = (0, 0)
    dry_roads: tuple[bool, ...] = (False,)

    def __post_init__(self) -> None:
        """Check every value."""
        Entry(self.share, UserError, "share").number(0, inside=True)
        for name, times in (("players", 1), ("covered", 2), ("denied", 2), ("dry_roads", 1)):
            value = getattr(self, name)
            object.__setattr__(self, name, tuple(value) if isinstance(value, list | tuple) else (value,) * times)
        player_counts(self.players)

    def episodes(self, game: Any) -> Any:
        """Return what is drawn anew at each deal of the game of a configuration; what that covers stays covered.

        Raises:
            ValueError: for values that cannot be drawn, or that the game does not have.
        """
        always = getattr(game, "covered", ())
        if always and any(self.covered):
            raise UserError(
                f"covered: found {shown(list(self.covered))}, expected none: the same actions are covered at all tables"
            )
        spec, drawn = spec_of(game), {"covered": self.covered, "denied": self.denied, "dry_roads": self.dry_roads}
        for name, value in drawn.items():
            if name not in spec.setup and any(value):
                raise UserError(
                    f"{name}: found {shown(list(value))}, but there is no such thing in the game {spec.name}"
                )
        if always:
            del drawn["covered"]
        try:
            return spec.episodes(
                num_players=self.players, **{name: value for name, value in drawn.items() if name in spec.setup}
            )
        except ValueError as problem:
            raise UserError(str(problem).removeprefix("num_")) from None


def divide(tables: Sequence[TableConfig], games: int) -> list[tuple[TableConfig, int]]:
    """Return how many of so many games each kind of table gets, by its share; kinds that get none are left out."""
    shares = np.cumsum([table.share for table in tables])
    ends = np.rint(games * shares / shares[-1]).astype(np.int64)
    sizes = np.diff([0, *ends]).tolist()
    return [(table, size) for table, size in zip(tables, sizes, strict=True) if size > 0]

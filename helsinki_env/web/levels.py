"""Opponents for human players, from easy to hard, with their win rates."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from helsinki_env.engine.spec import GameSpec

__all__ = ["Level", "levels_of", "offered_players"]

_OTHERS = ("random", "mc:100", "mc:400", "ismcts:100", "ismcts:400", "net+search:20", "net+search:400")


class Level(NamedTuple):
    """The difficulty of an opponent.

    Attributes:
        player: name of the player.
        label: one-word label.
        says: description of its playing strength.
    """

    player: str
    label: str
    says: str


def levels_of(spec: GameSpec) -> tuple[Level, ...]:
    """Return the levels of a game from its agents package (`LEVELS`), or by default a random player."""
    module = f"helsinki_env.agents.{spec.name}"
    if find_spec(module) is None or find_spec(f"{module}.levels") is None:
        return (Level("random", "Chance", "decides at random"),)
    return tuple(Level(*level) for level in import_module(f"{module}.levels").LEVELS)


def offered_players(spec: GameSpec, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of the players offered in addition to the levels; none of them reads a file."""
    levels = {level.player for level in levels_of(spec)}
    return tuple(name for name in dict.fromkeys((*_OTHERS, *more)) if name not in levels)

"""The players that sit down with people, from easy to hard, and what each of them scores."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import NamedTuple

from helsinki_env.engine.spec import GameSpec

__all__ = ["Level", "levels_of", "offered_players"]

_OTHERS = ("random", "mc:100", "mc:400", "ismcts:100", "ismcts:400", "net+search:20", "net+search:400")


class Level(NamedTuple):
    """How hard a player is to beat.

    Attributes:
        player: its name.
        label: in a word.
        says: what it scores.
    """

    player: str
    label: str
    says: str


def levels_of(spec: GameSpec) -> tuple[Level, ...]:
    """Return the levels of a game: what the folder of its players says (`LEVELS`), or no more than chance."""
    module = f"agents.{spec.name}"
    if find_spec(module) is None or find_spec(f"{module}.levels") is None:
        return (Level("random", "Chance", "decides at random"),)
    return tuple(Level(*level) for level in import_module(f"{module}.levels").LEVELS)


def offered_players(spec: GameSpec, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the names of players that may sit at tables besides the levels: none of them reads a file."""
    levels = {level.player for level in levels_of(spec)}
    return tuple(name for name in dict.fromkeys((*_OTHERS, *more)) if name not in levels)

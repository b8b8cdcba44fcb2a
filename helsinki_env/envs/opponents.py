"""Opponents of the learning seat: player objects, functions, and players by name.

Named players come from an entry point, because the player package depends on the environments.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from importlib.metadata import entry_points
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["OPPONENT_ENTRY_POINTS", "Act", "Opponent", "Opponents", "make_opponent"]

OPPONENT_ENTRY_POINTS = "helsinki.opponents"
"""Entry point group for player factories `make(name, config)`; the first one found is used."""

Act = Callable[[npt.NDArray[np.int8], npt.NDArray[np.int8], npt.NDArray[np.uint64]], npt.NDArray[np.int64]]
Opponent = str | Act | Any
"""A name, a function, or an object with a method ``act``."""


class Opponents:
    """The players of the other seats, indexed by their clockwise distance from the learner minus 1.

    `random` is the set of the uniformly random opponents, which compiled code plays directly.
    """

    def __init__(self, given: Opponent | Sequence[Opponent], config: Any, most_players: int) -> None:
        self.listed = isinstance(given, list | tuple)
        players = list(given) if isinstance(given, list | tuple) else [given] * (most_players - 1)
        self.names = [p if isinstance(p, str) else str(getattr(p, "name", p)) for p in players]
        found: dict[int, Act | None] = {}
        for player in players:
            if id(player) not in found:
                found[id(player)] = _resolve(player, config)
        self.acts = list(found.values())
        self.act_of = np.array([list(found).index(id(player)) for player in players])
        self.random = sum(1 << i for i, player in enumerate(players) if found[id(player)] is None)
        self.check(most_players)

    def check(self, most_players: int) -> None:
        """Raise ValueError if there are too few or too many opponents."""
        if self.listed and len(self.names) != most_players - 1:
            raise ValueError(
                f"opponents: found a list of {len(self.names)}, expected {most_players - 1} with "
                f"{most_players} players, or one for all"
            )

    def for_players(self, most_players: int) -> Opponents:
        """Return these opponents for another number of players."""
        self.check(most_players)
        if self.listed or len(self.names) >= most_players - 1:
            return self
        new = copy.copy(self)
        new.names = self.names[:1] * (most_players - 1)
        new.act_of = np.zeros(most_players - 1, np.int64)
        new.random = (1 << (most_players - 1)) - 1 if self.random else 0
        return new


def _resolve(opponent: Opponent, config: Any) -> Act | None:
    """Return the function that chooses actions; None for uniformly random play."""
    if isinstance(opponent, str):
        if opponent == "random":
            return None
        act: Act = make_opponent(opponent, config).act
        return act
    act = getattr(opponent, "act", opponent)
    if not callable(act):
        raise ValueError(
            f"opponents: found {opponent!r}, expected a name such as 'random', a player with a method "
            "act(observation, action_mask, keys), or such a function"
        )
    return act


def make_opponent(name: str, config: Any) -> Any:
    """Return the player with a name as on the command line, such as ``"mc:200"``; ValueError if unknown."""
    for point in entry_points(group=OPPONENT_ENTRY_POINTS):
        return point.load()(name, config)
    raise ValueError(
        f"opponents: found {name!r}, expected a player object: no package that makes players by name is installed; "
        "install the project with pip"
    )

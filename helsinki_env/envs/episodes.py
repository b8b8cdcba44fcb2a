"""What may differ from episode to episode: players, covered and denied actions, expansion.

A batch environment applies it at every deal, also at an automatic one, from a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.core.kernel import kernel
from helsinki_env.core.rng import below
from helsinki_env.core.state import SEATS

__all__ = ["RandomEpisodes"]

EPISODES = np.dtype(
    (
        np.record,
        [
            ("players", np.int64),  # set of player counts, bit = count; 0: as configured
            ("covered_low", np.int64),  # -1: as configured
            ("covered_high", np.int64),
            ("denied_low", np.int64),
            ("denied_high", np.int64),
            ("dry_roads", np.int64),  # set of 0 and 1; 0: as configured
            ("chance", np.uint64),  # the stream, set anew for each episode
        ],
    )
)


def _range(name: str, value: object) -> tuple[int, int]:
    if value is None:
        return -1, -1
    low: Any
    high: Any
    low, high = value if isinstance(value, tuple | list) and len(value) == 2 else (value, value)
    if not all(isinstance(n, int) and not isinstance(n, bool) for n in (low, high)) or not 0 <= low <= high <= 15:
        raise ValueError(f"{name}: found {value!r}, expected how many actions: a number or (low, high) from 0 to 15")
    return low, high


@dataclass(frozen=True)
class RandomEpisodes:
    """Draw anew at each deal what is given here; None leaves it as configured.

    Args:
        num_players: player counts to draw from, such as ``(2, 3, 4)``.
        covered: how many actions are covered for all, a number or ``(low, high)``; the set is drawn uniformly.
        denied: how many actions are denied to each seat, likewise, each seat a set of its own.
        dry_roads: values to draw from, such as ``(False, True)``.

    Raises:
        ValueError: naming the value and what is expected.
    """

    num_players: Iterable[int] | None = None
    covered: int | tuple[int, int] | None = None
    denied: int | tuple[int, int] | None = None
    dry_roads: Iterable[bool] | None = None

    def __post_init__(self) -> None:
        """Check every value."""
        for name in ("num_players", "dry_roads"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, tuple(getattr(self, name)))
        self.record()

    def record(self) -> npt.NDArray[Any]:
        """Return the values as the kernels read them, an array of one record."""
        array = np.zeros(1, EPISODES)
        record = array[0]
        if self.num_players is not None:
            counts = tuple(self.num_players)
            if not counts or any(isinstance(n, bool) or n not in (2, 3, 4) for n in counts):
                raise ValueError(f"num_players: found {counts!r}, expected some of 2, 3 and 4")
            record.players = sum(1 << n for n in set(counts))
        record.covered_low, record.covered_high = _range("covered", self.covered)
        record.denied_low, record.denied_high = _range("denied", self.denied)
        if self.dry_roads is not None:
            values = tuple(self.dry_roads)
            if not values or any(not isinstance(v, bool) for v in values):
                raise ValueError(f"dry_roads: found {values!r}, expected some of False and True")
            record.dry_roads = sum(1 << v for v in set(values))
        return array


@kernel
def _member(p, members, size):
    """A uniformly drawn member of a set of small integers."""
    found = 0
    for member in range(size):
        found += (members >> member) & 1
    rank = below(p, found)
    for member in range(size):
        if (members >> member) & 1:
            if rank == 0:
                return member
            rank -= 1
    return 0


@kernel
def _subset(p, low, high):
    """A uniformly drawn set of actions whose size is uniform from low to high."""
    wanted = low + below(p, high - low + 1)
    actions = 0
    for action in range(15):
        if below(p, 15 - action) < wanted:
            actions |= 1 << action
            wanted -= 1
    return actions


@kernel
def draw_episode(p, g):
    """Write what the next episode plays into a record; `p.chance` is this episode's own random word."""
    if p.players:
        g.players = _member(p, p.players, 5)
    if p.covered_low >= 0:
        g.covered = _subset(p, p.covered_low, p.covered_high)
    if p.denied_low >= 0:
        g.denied[:] = 0
        for seat in range(SEATS):
            actions = _subset(p, p.denied_low, p.denied_high)
            if seat < g.players:
                g.denied[seat] = actions
    if p.dry_roads:
        g.dry_roads = _member(p, p.dry_roads, 2)

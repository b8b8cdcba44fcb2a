"""What may differ from episode to episode: players, covered and denied actions, expansion.

A batch environment applies it at every deal, also at an automatic one, from a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from helsinki_env.core.state import NARROW, SEATS, WIDE, game_dtype
from helsinki_env.engine import contract
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import below
from helsinki_env.game import whole_number

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


def _several(value: Any) -> tuple[Any, ...]:
    try:
        return tuple(value)
    except TypeError:  # one value for all
        return (value,)


def _players(value: Any) -> tuple[int, ...]:
    counts = tuple(whole_number(n) for n in _several(value))
    if not counts or any(n not in (2, 3, 4) for n in counts):
        raise ValueError(f"num_players: found {value!r}, expected 2, 3 or 4, or some of them, such as (2, 3)")
    return tuple(n for n in counts if n is not None)


def _range(name: str, value: Any) -> tuple[int, int]:
    values = _several(value)
    low, high = values if len(values) == 2 else (value, value)
    low, high = whole_number(low), whole_number(high)
    if low is None or high is None or not 0 <= low <= high <= 15:
        raise ValueError(f"{name}: found {value!r}, expected how many actions: a number or (low, high) from 0 to 15")
    return low, high


def _choices(value: Any) -> tuple[bool, ...]:
    values = _several(value)
    if not values or any(not isinstance(v, bool) for v in values):
        raise ValueError(f"dry_roads: found {value!r}, expected False or True, or (False, True)")
    return values


@dataclass(frozen=True)
class RandomEpisodes:
    """Draw anew at each deal what is given here; None leaves it as configured.

    Args:
        num_players: player counts to draw from, such as ``(2, 3, 4)``, or one.
        covered: how many actions are covered for all, a number or ``(low, high)``; the set is drawn uniformly.
        denied: how many actions are denied to each seat, likewise, each seat a set of its own.
        dry_roads: values to draw from, such as ``(False, True)``, or one.

    They are kept as tuples, whole numbers of any integer type as int.

    Raises:
        ValueError: naming the value and what is expected.
    """

    num_players: tuple[int, ...] | None = None
    covered: tuple[int, int] | None = None
    denied: tuple[int, int] | None = None
    dry_roads: tuple[bool, ...] | None = None

    if TYPE_CHECKING:
        # What may be given is wider than what is kept; a dataclass cannot say that itself.
        def __init__(
            self,
            num_players: Iterable[SupportsIndex] | SupportsIndex | None = None,
            covered: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
            denied: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
            dry_roads: Iterable[bool] | bool | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check every value and bring it into the form in which it is kept."""
        keep: dict[str, Any] = {}
        if self.num_players is not None:
            keep["num_players"] = _players(self.num_players)
        for name in ("covered", "denied"):
            if getattr(self, name) is not None:
                keep[name] = _range(name, getattr(self, name))
        if self.dry_roads is not None:
            keep["dry_roads"] = _choices(self.dry_roads)
        for name, value in keep.items():
            object.__setattr__(self, name, value)

    def record(self) -> npt.NDArray[Any]:
        """Return the values as the kernels read them, an array of one record."""
        array = np.zeros(1, EPISODES)
        record = array[0]
        record.players = sum(1 << n for n in set(self.num_players or ()))
        record.covered_low, record.covered_high = self.covered or (-1, -1)
        record.denied_low, record.denied_high = self.denied or (-1, -1)
        record.dry_roads = sum(1 << v for v in set(self.dry_roads or ()))
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
def draw_setup(p, g):
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


for _capacity in (NARROW, WIDE):
    contract.draw_setup.belongs_to(game_dtype(_capacity), draw_setup)

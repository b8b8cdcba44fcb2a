"""Random game options for each episode: players, covered and denied board actions, expansion.

Batch environments draw the options at every deal, including automatic resets, from a separate random stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from helsinki_env.data import short_repr
from helsinki_env.engine import contract
from helsinki_env.engine.configuration import as_values, options_dtype, read_player_counts, size_range
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import draw_member, draw_subset
from helsinki_env.games.helsinki.state import LAYOUTS, MAX_SEATS

__all__ = ["RandomEpisodes"]

#: Number of board actions.
NUM_BOARD_ACTIONS = 15

#: A number of board actions is -1 if the configured ones apply. `dry_roads` is a set of 0 and 1; if it is empty, the
#: configured value applies.
EPISODES = options_dtype("covered_low", "covered_high", "denied_low", "denied_high", "dry_roads")


def _choices(value: Any) -> tuple[bool, ...]:
    values = as_values(value)
    if not values or any(not isinstance(v, bool) for v in values):
        raise ValueError(f"dry_roads: found {short_repr(value)}, expected False or True, or (False, True)")
    return values


@dataclass(frozen=True)
class RandomEpisodes:
    """Options that are drawn at each deal; None keeps the configured value.

    Args:
        num_players: player counts to draw from, such as ``(2, 3, 4)``, or one count.
        covered: number of board actions disabled for all seats, as a number or a range ``(low, high)``. The set is
            drawn uniformly.
        denied: number of board actions disabled for each seat, in the same form. A separate set is drawn for each seat.
        dry_roads: values to draw from, such as ``(False, True)``, or one value.

    Values are stored as tuples; integers of any type are converted to int.

    Raises:
        ValueError: if a value is invalid; the message names it and the expected values.
    """

    num_players: tuple[int, ...] | None = None
    covered: tuple[int, int] | None = None
    denied: tuple[int, int] | None = None
    dry_roads: tuple[bool, ...] | None = None

    if TYPE_CHECKING:
        # The constructor accepts wider types than the fields store, which a dataclass cannot express.
        def __init__(
            self,
            num_players: Iterable[SupportsIndex] | SupportsIndex | None = None,
            covered: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
            denied: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
            dry_roads: Iterable[bool] | bool | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate and normalize every value."""
        keep: dict[str, Any] = {}
        if self.num_players is not None:
            keep["num_players"] = read_player_counts(self.num_players)
        for name in ("covered", "denied"):
            if getattr(self, name) is not None:
                keep[name] = size_range(name, getattr(self, name), NUM_BOARD_ACTIONS, "actions")
        if self.dry_roads is not None:
            keep["dry_roads"] = _choices(self.dry_roads)
        for name, value in keep.items():
            object.__setattr__(self, name, value)

    def record(self) -> npt.NDArray[Any]:
        """Return the values in the form that kernels read: an array with one record."""
        array = np.zeros(1, EPISODES)
        record = array[0]
        record.players = sum(1 << n for n in set(self.num_players or ()))
        record.covered_low, record.covered_high = self.covered or (-1, -1)
        record.denied_low, record.denied_high = self.denied or (-1, -1)
        record.dry_roads = sum(1 << v for v in set(self.dry_roads or ()))
        return array


@kernel
def draw_setup(p, g):
    """Draw the options of the next episode and write them to a record; `p.chance` is the random key of that episode."""
    if p.players:
        g.players = draw_member(p, p.players, 5)
    if p.covered_low >= 0:
        g.covered = draw_subset(p, NUM_BOARD_ACTIONS, p.covered_low, p.covered_high)
    for seat in range(MAX_SEATS):
        if p.denied_low >= 0:
            g.denied[seat] = draw_subset(p, NUM_BOARD_ACTIONS, p.denied_low, p.denied_high)
        if seat >= g.players:
            g.denied[seat] = 0
    if p.dry_roads:
        g.dry_roads = draw_member(p, p.dry_roads, 2)


for _layout in LAYOUTS:
    contract.implement(_layout, draw_setup)

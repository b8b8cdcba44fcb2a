"""Draw random options for each episode: the number of players and the denied abilities.

Batch environments draw new options for every deal, including automatic resets, from a separate random stream.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract
from helsinki_env.engine.configuration import options_dtype, read_player_counts, size_range
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import draw_member, draw_subset
from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.state import GAME, MAX_SEATS

__all__ = ["RandomEpisodes"]

#: The number of denied abilities is -1 if the configured ones are used.
EPISODES = options_dtype("denied_low", "denied_high")

#: Number of abilities that can be denied: all except the first, which every player owns from the start.
_DENIABLE = len(ABILITIES) - 1


@dataclass(frozen=True)
class RandomEpisodes:
    """The values from which options are drawn for each deal. None keeps the configured value.

    Args:
        num_players: player counts to draw from, such as ``(2, 3, 4)``, or one count.
        denied: number of abilities denied to each seat, either a number from 0 to 4 or a range ``(low, high)``. The
            set is drawn uniformly and separately for each seat; ``any_cards`` is never denied.

    The values are stored as tuples, and integers of any type are converted to int.

    Raises:
        ValueError: if a value is invalid. The message names it and the expected values.
    """

    num_players: tuple[int, ...] | None = None
    denied: tuple[int, int] | None = None

    if TYPE_CHECKING:
        # The constructor accepts more types than the fields store, which a dataclass cannot express.
        def __init__(
            self,
            num_players: Iterable[SupportsIndex] | SupportsIndex | None = None,
            denied: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Validate and normalize every value."""
        if self.num_players is not None:
            object.__setattr__(self, "num_players", read_player_counts(self.num_players))
        if self.denied is not None:
            object.__setattr__(self, "denied", size_range("denied", self.denied, _DENIABLE, "abilities"))

    def record(self) -> npt.NDArray[Any]:
        """Return the values in the form that kernels read, an array of one record."""
        array = np.zeros(1, EPISODES)
        record = array[0]
        record.players = sum(1 << n for n in set(self.num_players or ()))
        record.denied_low, record.denied_high = self.denied or (-1, -1)
        return array


@kernel
def draw_setup(p, g):
    """Draw the options of the next episode into a record. `p.chance` is the random key of this episode.

    Sets are drawn for all four seats, so that the set of each seat does not depend on the number of players.
    """
    if p.players:
        g.players = draw_member(p, p.players, 5)
    for seat in range(MAX_SEATS):
        if p.denied_low >= 0:
            g.denied[seat] = draw_subset(p, _DENIABLE, p.denied_low, p.denied_high) << 1
        if seat >= g.players:
            g.denied[seat] = 0


contract.implement(GAME, draw_setup)

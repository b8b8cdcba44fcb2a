"""What may differ from episode to episode: players and denied abilities.

A batch environment applies it at every deal, also at an automatic one, from a random stream of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract
from helsinki_env.engine.draws import member, subset
from helsinki_env.engine.given import player_counts, size_range
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.components import ABILITIES
from helsinki_env.games.copenhagen.state import GAME, SEATS

__all__ = ["RandomEpisodes"]

EPISODES = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("players", np.int64),  # set of player counts, bit = count; 0: as configured
                ("denied_low", np.int64),  # -1: as configured
                ("denied_high", np.int64),
                ("chance", np.uint64),  # the stream, set anew for each episode
            ],
            align=True,
        ),
    )
)

#: Abilities that can be denied: all but the first, which everybody owns from the beginning.
_DENIABLE = len(ABILITIES) - 1


@dataclass(frozen=True)
class RandomEpisodes:
    """Draw anew at each deal what is given here; None leaves it as configured.

    Args:
        num_players: player counts to draw from, such as ``(2, 3, 4)``, or one.
        denied: how many abilities are denied to each seat, a number or ``(low, high)`` from 0 to 4, each seat a set of
            its own, drawn uniformly; ``any_cards`` is never denied.

    They are kept as tuples, whole numbers of any integer type as int.

    Raises:
        ValueError: naming the value and what is expected.
    """

    num_players: tuple[int, ...] | None = None
    denied: tuple[int, int] | None = None

    if TYPE_CHECKING:
        # What may be given is wider than what is kept; a dataclass cannot say that itself.
        def __init__(
            self,
            num_players: Iterable[SupportsIndex] | SupportsIndex | None = None,
            denied: SupportsIndex | tuple[SupportsIndex, SupportsIndex] | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        """Check every value and bring it into the form in which it is kept."""
        if self.num_players is not None:
            object.__setattr__(self, "num_players", player_counts(self.num_players))
        if self.denied is not None:
            object.__setattr__(self, "denied", size_range("denied", self.denied, _DENIABLE, "abilities"))

    def record(self) -> npt.NDArray[Any]:
        """Return the values as the kernels read them, an array of one record."""
        array = np.zeros(1, EPISODES)
        record = array[0]
        record.players = sum(1 << n for n in set(self.num_players or ()))
        record.denied_low, record.denied_high = self.denied or (-1, -1)
        return array


@kernel
def draw_setup(p, g):
    """Write what the next episode plays into a record; `p.chance` is this episode's own random word.

    The sets of all four seats are drawn, whoever plays: who is denied what does not depend on how many play.
    """
    if p.players:
        g.players = member(p, p.players, 5)
    for seat in range(SEATS):
        if p.denied_low >= 0:
            g.denied[seat] = subset(p, _DENIABLE, p.denied_low, p.denied_high) << 1
        if seat >= g.players:
            g.denied[seat] = 0


contract.draw_setup.belongs_to(GAME, draw_setup)

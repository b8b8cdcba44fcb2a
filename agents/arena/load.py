"""What an arena run played, as arrays: for ratings, studies of balance and figures."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env import GameConfig

__all__ = ["Table"]


@dataclass(frozen=True)
class Table:
    """The games of one table of a run; row g of every array is game g, in the order of the plan.

    Attributes:
        name: of the table.
        config: what was played, for S seats.
        players: as they were asked for, each once.
        seating: who sat in each seat, int64 (G, S), indices into `players`; somebody may sit there several times.
        block: which block a game belongs to, int64 (G,), one number for each block of each line-up. The games of a
            block are one deck, dealt once for each rotation of the seats.
        deck: which deck was dealt, int64 (G,); all line-ups of a table play the same decks.
        places: by seat, 0 is first, int8 (G, S).
        scores: points by seat, int16 (G, S).
        rounds: rounds played, int16 (G,).
        used: the actions that each seat had used at the end, int16 (G, S), bit i for action i.
        missing: games of the plan that have not been played yet; 0 for a finished run.
    """

    name: str
    config: GameConfig
    players: tuple[str, ...]
    seating: npt.NDArray[np.int64]
    block: npt.NDArray[np.int64]
    deck: npt.NDArray[np.int64]
    places: npt.NDArray[np.int8]
    scores: npt.NDArray[np.int16]
    rounds: npt.NDArray[np.int16]
    used: npt.NDArray[np.int16]
    missing: int = 0

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.block)

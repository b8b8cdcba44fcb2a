"""Decisions as a network sees them: their choices, and the positions that these lead to, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["AfterstateBatch", "cumulative_offsets"]


@dataclass(frozen=True)
class AfterstateBatch:
    """What a network is told of B decisions with C choices in all, which lead to N positions.

    Attributes:
        first: where the choices of each decision begin, int64 (B + 1,); the last entry is C.
        action: id of each choice, ascending in a decision, int16 (C,).
        advice: points by which the heuristic thinks it worse than its favourite, zero or less, float32 (C,).
        position: the position that it leads to, int64 (C,).
        begin: where the positions of each decision begin, int64 (B + 1,); the last entry is N.
        seats: int8 (N, P, S): every seat, starting with the viewer; zero for absent seats. See
            `helsinki_env.agents.net.features`.
        table: int8 (N, G): the table and the viewer's cards. See `helsinki_env.agents.net.features`.
        ended: the viewer's share of the win where the game is over, otherwise -1, float32 (N,).
    """

    first: npt.NDArray[np.int64]
    action: npt.NDArray[np.int16]
    advice: npt.NDArray[np.float32]
    position: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int8]
    table: npt.NDArray[np.int8]
    ended: npt.NDArray[np.float32]

    def __len__(self) -> int:
        """Return the number of decisions B."""
        return len(self.first) - 1

    @property
    def row(self) -> npt.NDArray[np.int64]:
        """Decision of each choice, int64 (C,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def take(self, rows: npt.NDArray[np.int64]) -> AfterstateBatch:
        """Return some decisions, int64 (n,), in that order; one may be taken several times."""
        first, choices = _spread(self.first, rows)
        begin, positions = _spread(self.begin, rows)
        moved = np.repeat(begin[:-1] - self.begin[rows], np.diff(first))
        return AfterstateBatch(
            first, self.action[choices], self.advice[choices], self.position[choices] + moved,
            begin, self.seats[positions], self.table[positions], self.ended[positions],
        )  # fmt: skip

    def keep(self, choices: npt.NDArray[np.bool_]) -> AfterstateBatch:
        """Return the same decisions with some of the choices, bool (C,), at least one of each, and their positions."""
        used = np.zeros(len(self.table), np.bool_)
        used[self.position[choices]] = True
        return AfterstateBatch(
            cumulative_offsets(np.add.reduceat(choices, self.first[:-1], dtype=np.int64)),
            self.action[choices], self.advice[choices], (np.cumsum(used) - 1)[self.position[choices]],
            cumulative_offsets(np.add.reduceat(used, self.begin[:-1], dtype=np.int64)),
            self.seats[used], self.table[used], self.ended[used],
        )  # fmt: skip

    @classmethod
    def join(cls, parts: Sequence[AfterstateBatch]) -> AfterstateBatch:
        """Return the decisions of several inputs, one after the other."""
        positions = np.cumsum([0, *(len(part.table) for part in parts)])
        return cls(
            _chain([part.first for part in parts]),
            np.concatenate([part.action for part in parts]),
            np.concatenate([part.advice for part in parts]),
            np.concatenate([part.position + before for part, before in zip(parts, positions, strict=False)]),
            _chain([part.begin for part in parts]),
            np.concatenate([part.seats for part in parts]),
            np.concatenate([part.table for part in parts]),
            np.concatenate([part.ended for part in parts]),
        )


def _spread(
    begin: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the items of the chosen rows begin now, and which items they are."""
    counts = begin[rows + 1] - begin[rows]
    now = cumulative_offsets(counts)
    return now, np.arange(now[-1]) + np.repeat(begin[rows] - now[:-1], counts)


def cumulative_offsets(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where items begin of which there are so many in each row; the last entry is the end."""
    return np.concatenate(([0], np.cumsum(counts)))


def _chain(begins: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    ends = np.cumsum([0, *(begin[-1] for begin in begins)])
    return np.concatenate([*(begin[:-1] + end for begin, end in zip(begins, ends, strict=False)), ends[-1:]])

"""Which boards are worth playing: sets of a few changes, by how far from balance a model says they are.

All boards with one change, the best of them with one more, and so on, as many as may be: there are more boards than
anybody could look at, so the most promising are kept at each step (beam search). All sets of five covered actions can
be looked at.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from agents.helsinki.balance.tune.model import Model
from agents.helsinki.balance.tune.numbers import Board, Boards, Number, coverings, covers, same, sizes

__all__ = ["best_boards", "beyond", "ranked"]

Array = npt.NDArray[np.float64]

_WIDTH = 500
#: Points of the share of wins: boards that differ by less than that count as equally far from balance.
_ALIKE = 0.1


def beyond(deviations: Array, band: float) -> Array:
    """Return by how much the farthest action lies beyond the band, 0 if none does, for deviations (N, ...)."""
    found: Array = np.clip(np.abs(deviations).reshape(len(deviations), -1).max(axis=1) - band, 0.0, None)
    return found


def ranked(numbers: Sequence[Number], boards: Boards, distance: Array) -> npt.NDArray[np.intp]:
    """Return the order of boards: nearest to balance first, of those alike the one with the fewest and least changes.

    Args:
        numbers: that may change.
        boards: int64 (N, F).
        distance: of each, as `beyond` tells it, float64 (N,).
    """
    count, steps = sizes(numbers, boards)
    return np.lexsort((*boards.T[::-1], steps, count, np.round(distance / _ALIKE)))


def best_boards(
    numbers: Sequence[Number], models: Sequence[Model], band: float, most: int, count: int
) -> tuple[list[Board], Array]:
    """Return the boards that models say are nearest to balance, best first, and how far beyond the band they are.

    Args:
        numbers: that may change.
        models: for each number of players; a board is as far from balance as the farthest of them says.
        band: half width of the band, in points of a hundred of the share of games won.
        most: changes of a board.
        count: how many boards.
    """
    boards = coverings() if covers(numbers) else _promising(numbers, models, band, most)
    distance = beyond(np.stack([model.deviations(boards) for model in models], axis=1), band)
    order = ranked(numbers, boards, distance)[:count]
    return [tuple(board) for board in boards[order].tolist()], distance[order]


def _promising(numbers: Sequence[Number], models: Sequence[Model], band: float, most: int) -> Boards:
    """Return boards with up to so many changes, those that look best at each step."""
    was = np.array(same(numbers), np.int64)
    level = was[None]
    pool = []
    for _ in range(min(most, len(numbers))):
        level = np.unique(np.concatenate([_with(level, i, was, number) for i, number in enumerate(numbers)]), axis=0)
        deviations = np.stack([model.deviations(level) for model in models], axis=1)
        over = np.clip(np.abs(deviations) - band, 0.0, None)
        order = np.lexsort(((over**2).sum(axis=(1, 2)), np.round(beyond(deviations, band) / _ALIKE)))
        level = level[np.sort(order[:_WIDTH])]
        pool.append(level)
    return np.concatenate(pool)


def _with(boards: Boards, column: int, was: npt.NDArray[np.int64], number: Number) -> Boards:
    """Return the boards on which a number has not changed, once for each value that it may change to."""
    free = boards[boards[:, column] == was[column]]
    grown = np.repeat(free, len(number.others), axis=0)
    grown[:, column] = np.tile(np.array(number.others, np.int64), len(free))
    return grown

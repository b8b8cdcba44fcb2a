"""Find candidate boards: sets of a few changes, ranked by their distance from the aim as a model predicts it.

There are too many boards to evaluate, so a beam search is used. It starts with all boards with one change and extends
the best by one more change, up to the limit. All sets of five covered actions can be evaluated.

Letters in shapes: N boards, P numbers of players, A actions, F numbers that may change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.helsinki.tune.config import LIFT, TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.model import EffectModel
from helsinki_env.evaluation.balance.helsinki.tune.numbers import (
    BoardArray,
    BoardNumber,
    BoardValues,
    coverings,
    published_board,
    searches_covers,
    sizes,
)
from helsinki_env.evaluation.balance.helsinki.tune.proof import BoardEstimates

__all__ = ["Objective", "best_boards", "predict_effects", "rank_boards"]

Array = npt.NDArray[np.float64]
Open = npt.NDArray[np.bool_]

_WIDTH = 500
#: Boards whose distances differ by less than this are equally good, win %.
_ALIKE = 0.1


@dataclass(frozen=True)
class Objective:
    """Objective of the search, and the level that it preserves.

    Attributes:
        aim: see `TuneConfig.aim`.
        band: half width of the equivalence margin, win %.
        published: level of the published board, float64 (P,).
        least: minimum level with which the proof can confirm the floor, float64 (P,).
    """

    aim: str
    band: float
    published: Array
    least: Array

    @classmethod
    def of(cls, config: TuneConfig, screen: BoardEstimates) -> Objective:
        """Return the objective of a search, given the estimates for the published board."""
        games = config.games
        ratio = np.array([games.screen[n] / games.proof[n] for n in config.players])
        level = np.array([one.level.value for one in screen.levels])
        half = np.array([one.level.high - one.level.value for one in screen.levels]) * np.sqrt(ratio)
        # The proof compares the level of the proposal with the floor times that of the published board; both are noisy.
        least = config.floor * level + half * np.sqrt(1 + config.floor**2)
        return cls(config.aim, config.band, level, least if config.floor else np.full(len(level), -np.inf))

    def levels(self, effects: Array, there: Open) -> Array:
        """Return the mean effect of the actions that are not covered, float64 (N, P).

        Args:
            effects: of the actions, float64 (N, P, A).
            there: the actions that are not covered, bool (N, A).
        """
        found: Array = effects.mean(axis=2, where=there[:, None])
        return found

    def share(self, effects: Array, there: Open) -> Array:
        """Return the level as a percentage of that of the published board, at the worst number of players, (N,)."""
        found: Array = (100 * self.levels(effects, there) / self.published).min(axis=1)
        return found

    def shortfall(self, effects: Array, there: Open) -> Array:
        """Return the shortfall of the level below the minimum, at the worst number of players, (N,)."""
        found: Array = np.clip(self.least - self.levels(effects, there), 0.0, None).max(axis=1)
        return found

    def over(self, effects: Array, there: Open) -> Array:
        """Return the distance of each action from the aim, float64 (N, P, A); 0 for covered actions."""
        if self.aim == LIFT:
            apart = self.published[:, None] - effects
        else:
            apart = np.abs(effects - self.levels(effects, there)[..., None])
        found: Array = np.clip(apart - self.band, 0.0, None) * there[:, None]
        return found

    def distance(self, effects: Array, there: Open) -> Array:
        """Return the distance of each board from the aim, at the worst number of players, (N,)."""
        over = self.over(effects, there)
        by_players = over.mean(axis=2, where=there[:, None]) if self.aim == LIFT else over.max(axis=2)
        found: Array = by_players.max(axis=1)
        return found


def rank_boards(
    numbers: Sequence[BoardNumber], boards: BoardArray, distance: Array, lacking: Array | None = None
) -> npt.NDArray[np.intp]:
    """Return the order of boards, best first; ties go to the board with the fewest and smallest changes.

    Args:
        numbers: numbers that may change.
        boards: int64 (N, F).
        distance: distance of each board from the aim, float64 (N,).
        lacking: shortfall of each board's level, float64 (N,); default: 0. A board with a shortfall ranks after those
            without, however close to the aim it is.
    """
    count, steps = sizes(numbers, boards)
    low = np.zeros(len(boards)) if lacking is None else np.round(lacking / _ALIKE)
    return np.lexsort((*boards.T[::-1], steps, count, np.round(distance / _ALIKE), low))


def predict_effects(models: Sequence[EffectModel], boards: BoardArray, published: Array) -> tuple[Array, Open]:
    """Return the predicted effects on boards, float64 (N, P, A), and the actions that are not covered, bool (N, A).

    A linear model understates levels where seats with many denied actions have little left to lose. Only the difference
    from the published board is therefore taken from it.

    Args:
        models: models by number of players.
        boards: int64 (N, F).
        published: level of the published board, float64 (P,).
    """
    shift = published - np.array([model.power.mean() for model in models])
    return np.stack([model.powers(boards) for model in models], axis=1) + shift[:, None], models[0].terms.open(boards)


def best_boards(
    numbers: Sequence[BoardNumber], models: Sequence[EffectModel], objective: Objective, most: int, count: int
) -> list[BoardValues]:
    """Return the boards that the models predict to be best, best first.

    Args:
        numbers: numbers that may change.
        models: model for each number of players; the largest predicted distance counts.
        objective: objective of the search.
        most: maximum number of changes of a board.
        count: number of boards.
    """
    boards = coverings() if searches_covers(numbers) else _promising(numbers, models, objective, most)
    seen = predict_effects(models, boards, objective.published)
    order = rank_boards(numbers, boards, objective.distance(*seen), objective.shortfall(*seen))[:count]
    return [tuple(board) for board in boards[order].tolist()]


def _promising(
    numbers: Sequence[BoardNumber], models: Sequence[EffectModel], objective: Objective, most: int
) -> BoardArray:
    """Return boards with up to `most` changes, the most promising of each step."""
    was = np.array(published_board(numbers), np.int64)
    level = was[None]
    pool = []
    for _ in range(min(most, len(numbers))):
        level = np.unique(np.concatenate([_with(level, i, was, number) for i, number in enumerate(numbers)]), axis=0)
        seen = predict_effects(models, level, objective.published)
        # A later change may raise the level again, so a shortfall counts here like distance.
        far = objective.distance(*seen) + objective.shortfall(*seen)
        order = np.lexsort(((objective.over(*seen) ** 2).sum(axis=(1, 2)), np.round(far / _ALIKE)))
        level = level[np.sort(order[:_WIDTH])]
        pool.append(level)
    return np.concatenate(pool)


def _with(boards: BoardArray, column: int, was: npt.NDArray[np.int64], number: BoardNumber) -> BoardArray:
    """Return the boards on which a number has not changed, once for each alternative value."""
    free = boards[boards[:, column] == was[column]]
    grown = np.repeat(free, len(number.others), axis=0)
    grown[:, column] = np.tile(np.array(number.others, np.int64), len(free))
    return grown

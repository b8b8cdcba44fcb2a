"""Effects of disabling five actions for all players: game length, scores, drama, fairness, and room for skill.

Covering an action cannot show its marginal effect, because all players lose it; it changes the game. Every set of five
is played with the same number of deals. The best and the worst of 3,003 sets are extreme partly by luck. The sets at
the ends of each measure are therefore replayed, and only fresh games count for them (the winner's curse; Efron 2011,
"Tweedie's formula and selection bias").
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import as_sets, subsets
from helsinki_env.evaluation.arena.load import Table
from helsinki_env.evaluation.balance.helsinki.replay import Course
from helsinki_env.evaluation.match_stats import by_deck, win_shares
from helsinki_env.games.helsinki.components import ACTIONS
from helsinki_env.games.helsinki.config import GameConfig

__all__ = ["FIRST_GAME", "MEASURES", "Averages", "by_set", "ends", "entropy", "fairness", "measures",
           "number_of"]  # fmt: skip

Array = npt.NDArray[np.float64]

MEASURES = {
    "rounds": "rounds of a game",
    "points": "mean points of a seat",
    "spread": "points between first and last",
    "skill": "games won by the stronger player beyond its fair share, of a hundred",
}
"""Measures of a set that need only the scores, with their units."""
_RANDOM_AGAIN = 50


def number_of(covered: int) -> int:
    """Return the lexicographic index of a set of five actions (bit i for action i), 0 to 3,002."""
    return int(np.flatnonzero((subsets(5) @ (1 << np.arange(len(ACTIONS)))) == covered)[0])


FIRST_GAME = sum(1 << action for action in GameConfig(covered="first_game").covered)
"""Set that the rulebook covers in a first game, bit i for action i."""


@dataclass(frozen=True)
class Averages:
    """Mean of a measure over sets of games.

    Attributes:
        mean: float64 (N,).
        error: standard error over deals, float64 (N,); NaN for a single deal.
        decks: number of deals, int64 (N,).
    """

    mean: Array
    error: Array
    decks: npt.NDArray[np.int64]


def _of_games(table: Table) -> dict[str, Array]:
    """Return every measure of each game, float64 (G,)."""
    seats = table.places.shape[1]
    scores = table.scores.astype(np.float64)
    stronger = table.seating == 0
    won = (win_shares(table.places) * stronger).sum(axis=1) - stronger.sum(axis=1) / seats
    return {
        "rounds": table.rounds.astype(np.float64),
        "points": scores.mean(axis=1),
        "spread": scores.max(axis=1) - scores.min(axis=1),
        "skill": 100.0 * won,
    }


def measures(
    table: Table, group: npt.NDArray[np.int64], count: int, course: Course | None = None
) -> dict[str, Averages]:
    """Return every measure for groups of games.

    Args:
        table: the games.
        group: group of each game, int64 (G,), 0 to `count` - 1. All games of a deal are in the same group.
        count: number of groups, N.
        course: course of the games; adds ``lead_changes``, ``behind``, ``choices`` and ``turns``.
    """
    values = _of_games(table)
    if course is not None:
        for name in ("lead_changes", "behind", "choices", "turns"):
            values[name] = np.asarray(getattr(course, name), np.float64)
    return {name: _measured(value, group, table.deck, count) for name, value in values.items()}


def _measured(value: Array, group: npt.NDArray[np.int64], deck: npt.NDArray[np.int64], count: int) -> Averages:
    """Return group means and their standard errors over deals, each of which all line-ups play."""
    means = by_deck(value, deck)
    home = group[np.unique(deck, return_index=True)[1]]
    number = np.bincount(home, minlength=count)
    mean = np.bincount(home, means, count) / np.maximum(1, number)
    squares = np.bincount(home, (means - mean[home]) ** 2, count)
    error = np.full(count, np.nan)
    several = number > 1
    error[several] = np.sqrt(squares[several] / (number[several] - 1) / number[several])
    mean[number == 0] = np.nan
    return Averages(mean, error, number)


def by_set(table: Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the covered sets of a table, bit i for action i, ascending, int64 (N,), and the set index of each game."""
    sets, group = np.unique(table.covered.astype(np.int64), return_inverse=True)
    return sets, group.ravel()


def ends(table: Table, count: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Return the indices of the sets to replay, ascending.

    They are `count` sets at either end of every measure, the set of the first game, and `_RANDOM_AGAIN` random sets.
    """
    sets, group = by_set(table)
    chosen = {FIRST_GAME, *generator.permutation(sets)[:_RANDOM_AGAIN].tolist()}
    for found in measures(table, group, len(sets)).values():
        order = np.argsort(found.mean, kind="stable")
        chosen |= set(sets[order[:count]].tolist()) | set(sets[order[-count:]].tolist())
    return tuple(sorted(number_of(int(covered)) for covered in chosen))


def entropy(table: Table, group: npt.NDArray[np.int64], count: int) -> Array:
    """Return the normalized entropy of the use of the available actions, 0 to 1, float64 (N,)."""
    used = as_sets(table.used).sum(axis=1)
    found = np.zeros((count, len(ACTIONS)))
    np.add.at(found, group, used)
    share = found / np.maximum(1e-12, found.sum(axis=1, keepdims=True))
    there = np.zeros((count, len(ACTIONS)), np.bool_)
    there[group] = ~as_sets(table.covered)
    chaos = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
    result: Array = chaos / np.log(np.maximum(2, there.sum(axis=1)))
    return result


def fairness(table: Table) -> dict[str, list[float]]:
    """Return the win percentage of each seat and its standard error over deals."""
    means = by_deck(100.0 * win_shares(table.places), table.deck)
    error = means.std(axis=0, ddof=1) / sqrt(len(means)) if len(means) > 1 else np.full(means.shape[1], np.nan)
    return {"share": means.mean(axis=0).tolist(), "error": error.tolist()}

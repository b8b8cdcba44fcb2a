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

from helsinki_env.evaluation.arena.designs import decode_action_sets, subsets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.helsinki.replay import Course
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig

Array = npt.NDArray[np.float64]

GAME_MEASURES = {
    "rounds": "rounds of a game",
    "points": "mean points of a seat",
    "spread": "points between first and last",
    "skill": "games of 100 that the stronger player wins beyond the chance level",
}
"""Measures of a set that need only the scores, with their units."""
_RANDOM_AGAIN = 50


def cover_index(covered: int) -> int:
    """Return the lexicographic index of a set of five actions (bit i for action i), 0 to 3,002."""
    return int(np.flatnonzero((subsets(5) @ (1 << np.arange(len(BOARD_ACTIONS)))) == covered)[0])


FIRST_GAME = sum(1 << action for action in HelsinkiConfig(covered="first_game").covered)
"""Set that the rulebook covers in a first game, bit i for action i."""


@dataclass(frozen=True)
class GroupMeans:
    """Mean of a measure over each of N sets of games."""

    mean: Array
    error: Array  # standard error over deals; NaN for a single deal
    decks: npt.NDArray[np.int64]  # number of deals


def _of_games(table: MatchupGames) -> dict[str, Array]:
    """Return every measure of each game, float64 (G,)."""
    seats = table.places.shape[1]
    scores = table.scores.astype(np.float64)
    stronger = table.seating == 0
    won = (fractional_wins(table.places) * stronger).sum(axis=1) - stronger.sum(axis=1) / seats
    return {
        "rounds": table.rounds.astype(np.float64),
        "points": scores.mean(axis=1),
        "spread": scores.max(axis=1) - scores.min(axis=1),
        "skill": 100.0 * won,
    }


def group_measures(
    table: MatchupGames, group: npt.NDArray[np.int64], count: int, course: Course | None = None
) -> dict[str, GroupMeans]:
    """Return every measure for groups of games; all games of a deal are in the same group, 0 to `count` - 1.

    The course of the games adds ``lead_changes``, ``behind``, ``choices`` and ``turns``.
    """
    values = _of_games(table)
    if course is not None:
        for name in ("lead_changes", "behind", "choices", "turns"):
            values[name] = np.asarray(getattr(course, name), np.float64)
    return {name: _measured(value, group, table.deck, count) for name, value in values.items()}


def _measured(value: Array, group: npt.NDArray[np.int64], deck: npt.NDArray[np.int64], count: int) -> GroupMeans:
    """Return group means and their standard errors over deals, each of which all line-ups play."""
    means = mean_by_deal(value, deck)
    group_of_deal = group[np.unique(deck, return_index=True)[1]]
    number = np.bincount(group_of_deal, minlength=count)
    mean = np.bincount(group_of_deal, means, count) / np.maximum(1, number)
    squares = np.bincount(group_of_deal, (means - mean[group_of_deal]) ** 2, count)
    error = np.full(count, np.nan)
    several = number > 1
    error[several] = np.sqrt(squares[several] / (number[several] - 1) / number[several])
    mean[number == 0] = np.nan
    return GroupMeans(mean, error, number)


def group_by_cover(table: MatchupGames) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the covered sets of a table, bit i for action i, ascending, int64 (N,), and the set index of each game."""
    sets, group = np.unique(table.covered.astype(np.int64), return_inverse=True)
    return sets, group.ravel()


def extreme_covers(table: MatchupGames, count: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Return the indices of the sets to replay, ascending.

    They are `count` sets at either end of every measure, the set of the first game, and `_RANDOM_AGAIN` random sets.
    """
    sets, group = group_by_cover(table)
    chosen = {FIRST_GAME, *generator.permutation(sets)[:_RANDOM_AGAIN].tolist()}
    for measured in group_measures(table, group, len(sets)).values():
        order = np.argsort(measured.mean, kind="stable")
        chosen |= set(sets[order[:count]].tolist()) | set(sets[order[-count:]].tolist())
    return tuple(sorted(cover_index(int(covered)) for covered in chosen))


def action_use_entropy(table: MatchupGames, group: npt.NDArray[np.int64], count: int) -> Array:
    """Return the normalized entropy of the use of the available actions, 0 to 1, float64 (N,)."""
    used = decode_action_sets(table.used).sum(axis=1)
    uses = np.zeros((count, len(BOARD_ACTIONS)))
    np.add.at(uses, group, used)
    share = uses / np.maximum(1e-12, uses.sum(axis=1, keepdims=True))
    available = np.zeros((count, len(BOARD_ACTIONS)), np.bool_)
    available[group] = ~decode_action_sets(table.covered)
    entropy = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
    normalized: Array = entropy / np.log(np.maximum(2, available.sum(axis=1)))
    return normalized


def seat_win_rates(table: MatchupGames) -> dict[str, list[float]]:
    """Return the win percentage of each seat and its standard error over deals."""
    means = mean_by_deal(100.0 * fractional_wins(table.places), table.deck)
    error = means.std(axis=0, ddof=1) / sqrt(len(means)) if len(means) > 1 else np.full(means.shape[1], np.nan)
    return {"share": means.mean(axis=0).tolist(), "error": error.tolist()}

"""Compute the estimates of a balance study from the games of its parts.

1. The qualification rejects players that lose strength when actions are disabled.
2. The screening experiment estimates the marginal effect of each action for one player class.

**Covered actions.** Covering an action does not reveal its marginal effect, because all players lose it. It does change
the game: its length, scores, drama, fairness and skill gap. Every set of five actions is played with the same number of
deals. The best and the worst of 3,003 sets are extreme partly by luck. The sets at both ends of each measure are
therefore played again, and only these fresh games count for them (the winner's curse; Efron 2011, "Tweedie's formula
and selection bias").
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import decode_action_sets, subsets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    MarginEffects,
    WinEffects,
    estimate_margin_effects,
    estimate_win_effects,
)
from helsinki_env.evaluation.balance.helsinki.replay import Course
from helsinki_env.evaluation.balance.helsinki.study import (
    StudyConfig,
    qualification_matchup,
)
from helsinki_env.evaluation.match_stats import fractional_wins, mean_by_deal
from helsinki_env.evaluation.rating.ratings import rate
from helsinki_env.games.helsinki.components import BOARD_ACTIONS
from helsinki_env.games.helsinki.config import HelsinkiConfig

Array = npt.NDArray[np.float64]


def qualification_data(config: StudyConfig, matchups: Mapping[str, MatchupGames]) -> list[dict[str, Any]]:
    """Return the ratings of all players relative to the reference, on the full board and with disabled actions."""
    results = []
    for player, n in product((entry.player for entry in config.classes), config.players):
        names = [qualification_matchup(player, n, denied) for denied in (False, True)]
        if not all(name in matchups for name in names):
            continue
        ratings = [rate(matchups[name], reference=config.qualification.reference, seed=config.seed) for name in names]
        elo = [float(r.elo[r.players.index(player)]) for r in ratings]
        error = [float(r.error[r.players.index(player)]) for r in ratings]
        lost, half = elo[0] - elo[1], 1.96 * math.hypot(*error)
        results.append(
            {
                "player": player,
                "players": n,
                "games": sum(len(matchups[name]) for name in names),
                "full_board": elo[0],
                "full_board_error": error[0],
                "five_denied": elo[1],
                "five_denied_error": error[1],
                "lost": lost,
                "lost_low": lost - half,
                "lost_high": lost + half,
                "admitted": lost - half <= config.qualification.lost,
            }
        )
    return results


def ablation_games(matchup: MatchupGames) -> AblationGames:
    """Return the denied actions and ranks of the games of a matchup."""
    return AblationGames(decode_action_sets(matchup.denied), matchup.places, matchup.block)


@dataclass(frozen=True)
class ScreeningEstimates:
    """Estimates from a screening experiment, with actions in the order of their ids."""

    effects: WinEffects
    margins: MarginEffects
    #: Win rate of seats that used an action minus the win rate of seats that had it but did not use it, in percentage
    #: points, float64 (15,). This estimate is biased, because winners have more to spend.
    naive: Array
    usage: Array  # fraction of seats with access to an action that used it, float64 (15,)
    worth_of_games: float  # effective number of games, given the correlation within paired games


def estimate_screening(matchup: MatchupGames) -> ScreeningEstimates:
    """Return the estimates from a screening experiment; raise RatingError if there are too few games."""
    study = ablation_games(matchup)
    effects = estimate_win_effects(study)
    alone = estimate_win_effects(replace(study, block=np.arange(len(matchup))))
    share, usage = naive_effects(matchup)
    return ScreeningEstimates(
        effects=effects,
        margins=estimate_margin_effects(study.denied, matchup.scores, matchup.block),
        naive=share,
        usage=usage,
        worth_of_games=len(matchup) * float(np.trace(alone.covariance) / np.trace(effects.covariance)),
    )


def naive_effects(matchup: MatchupGames) -> tuple[Array, Array]:
    """Return, for each action, the naive estimate and the fraction of seats with access that used it.

    The naive estimate is the win rate with use minus the win rate without. Both results are float64 (15,).
    """
    used = decode_action_sets(matchup.used)
    had = ~decode_action_sets(matchup.denied) & ~decode_action_sets(matchup.covered)[:, None]
    won = fractional_wins(matchup.places)[..., None]
    share = np.full(len(BOARD_ACTIONS), np.nan)
    counts = [kind.sum(axis=(0, 1)) for kind in (used, had & ~used)]
    wins = [(won * kind).sum(axis=(0, 1)) for kind in (used, had & ~used)]
    some = (counts[0] > 0) & (counts[1] > 0)
    share[some] = 100 * (wins[0][some] / counts[0][some] - wins[1][some] / counts[1][some])
    return share, used.sum(axis=(0, 1)) / np.maximum(1, had.sum(axis=(0, 1)))


GAME_MEASURES = {
    "rounds": "rounds of a game",
    "points": "mean points of a seat",
    "spread": "points between first and last",
    "skill": "games per 100 that the stronger player wins above the chance level",
}
"""Measures that are computed from game results alone, with their units."""
#: Number of random sets that are played again.
_RANDOM_AGAIN = 50


def cover_index(covered: int) -> int:
    """Return the lexicographic index, 0 to 3,002, of a set of five actions (bit i for action i)."""
    return int(np.flatnonzero((subsets(5) @ (1 << np.arange(len(BOARD_ACTIONS)))) == covered)[0])


FIRST_GAME = sum(1 << action for action in HelsinkiConfig(covered="first_game").covered)
"""Set of actions that the rulebook covers in a first game (bit i for action i)."""


@dataclass(frozen=True)
class GroupMeans:
    """Mean of a measure in each of N groups of games."""

    mean: Array
    error: Array  # standard error over deals; NaN with a single deal
    deals: npt.NDArray[np.int64]  # number of deals


def _of_games(matchup: MatchupGames) -> dict[str, Array]:
    """Return the measures of each game as arrays, float64 (G,)."""
    seats = matchup.places.shape[1]
    scores = matchup.scores.astype(np.float64)
    stronger = matchup.seating == 0
    won = (fractional_wins(matchup.places) * stronger).sum(axis=1) - stronger.sum(axis=1) / seats
    return {
        "rounds": matchup.rounds.astype(np.float64),
        "points": scores.mean(axis=1),
        "spread": scores.max(axis=1) - scores.min(axis=1),
        "skill": 100.0 * won,
    }


def group_measures(
    matchup: MatchupGames, group: npt.NDArray[np.int64], count: int, course: Course | None = None
) -> dict[str, GroupMeans]:
    """Return the measures of groups of whole deals, including measures of the course if it is given."""
    values = _of_games(matchup)
    if course is not None:
        for name in ("lead_changes", "behind", "choices", "turns"):
            values[name] = np.asarray(getattr(course, name), np.float64)
    return {name: _measured(value, group, matchup.deal, count) for name, value in values.items()}


def _measured(value: Array, group: npt.NDArray[np.int64], deal: npt.NDArray[np.int64], count: int) -> GroupMeans:
    """Return group means with standard errors over deals. All line-ups play every deal."""
    means = mean_by_deal(value, deal)
    group_of_deal = group[np.unique(deal, return_index=True)[1]]
    number = np.bincount(group_of_deal, minlength=count)
    mean = np.bincount(group_of_deal, means, count) / np.maximum(1, number)
    squares = np.bincount(group_of_deal, (means - mean[group_of_deal]) ** 2, count)
    error = np.full(count, np.nan)
    several = number > 1
    error[several] = np.sqrt(squares[several] / (number[several] - 1) / number[several])
    mean[number == 0] = np.nan
    return GroupMeans(mean, error, number)


def group_by_cover(matchup: MatchupGames) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the covered sets (bit i for action i), ascending, int64 (N,), and the index of each game's set."""
    sets, group = np.unique(matchup.covered.astype(np.int64), return_inverse=True)
    return sets, group.ravel()


def extreme_covers(matchup: MatchupGames, count: int, generator: np.random.Generator) -> tuple[int, ...]:
    """Return the ascending indices of the sets to play again.

    These are `count` sets at each end of every measure, the set of a first game, and random sets.
    """
    sets, group = group_by_cover(matchup)
    chosen = {FIRST_GAME, *generator.permutation(sets)[:_RANDOM_AGAIN].tolist()}
    for measured in group_measures(matchup, group, len(sets)).values():
        order = np.argsort(measured.mean, kind="stable")
        chosen |= set(sets[order[:count]].tolist()) | set(sets[order[-count:]].tolist())
    return tuple(sorted(cover_index(int(covered)) for covered in chosen))


def action_use_entropy(matchup: MatchupGames, group: npt.NDArray[np.int64], count: int) -> Array:
    """Return the normalized entropy (0 to 1) of the use of available actions in each group, float64 (N,)."""
    used = decode_action_sets(matchup.used).sum(axis=1)
    uses = np.zeros((count, len(BOARD_ACTIONS)))
    np.add.at(uses, group, used)
    share = uses / np.maximum(1e-12, uses.sum(axis=1, keepdims=True))
    available = np.zeros((count, len(BOARD_ACTIONS)), np.bool_)
    available[group] = ~decode_action_sets(matchup.covered)
    entropy = -(share * np.log(np.maximum(share, 1e-300))).sum(axis=1)
    normalized: Array = entropy / np.log(np.maximum(2, available.sum(axis=1)))
    return normalized


def seat_win_rates(matchup: MatchupGames) -> dict[str, list[float]]:
    """Return the win rate of each seat, in %, and its standard error over deals."""
    means = mean_by_deal(100.0 * fractional_wins(matchup.places), matchup.deal)
    error = means.std(axis=0, ddof=1) / math.sqrt(len(means)) if len(means) > 1 else np.full(means.shape[1], np.nan)
    return {"share": means.mean(axis=0).tolist(), "error": error.tolist()}

"""Screening experiment: estimate the marginal effect of each action for one class of player from its games."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.load import MatchupGames
from helsinki_env.evaluation.balance import margins
from helsinki_env.evaluation.balance.effects import AblationGames, WinEffects, estimate_win_effects
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.games.helsinki.components import BOARD_ACTIONS

__all__ = ["ScreeningEstimates", "ablation_games", "estimate_screening", "naive_effects"]

Array = npt.NDArray[np.float64]


def ablation_games(table: MatchupGames) -> AblationGames:
    """Return the denied actions and ranks of a table of games."""
    return AblationGames(decode_action_sets(table.denied), table.places, table.block)


@dataclass(frozen=True)
class ScreeningEstimates:
    """Estimates from a screening experiment; actions in the order of their ids.

    Attributes:
        effects: marginal effects on winning.
        margins: marginal effects on the score, in points.
        naive: win rate of seats that used an action minus that of seats that had it and did not, in percentage points,
            float64 (15,). It is biased, because winners have more to spend.
        usage: fraction of the seats with an action that used it, float64 (15,).
        worth_of_games: effective number of independent games, given the correlation within paired games.
    """

    effects: WinEffects
    margins: margins.MarginEffects
    naive: Array
    usage: Array
    worth_of_games: float


def estimate_screening(table: MatchupGames) -> ScreeningEstimates:
    """Return the estimates from a screening experiment.

    Raises:
        RatingError: if there are too few games to separate the actions.
    """
    study = ablation_games(table)
    effects = estimate_win_effects(study)
    alone = estimate_win_effects(replace(study, block=np.arange(len(table))))
    share, usage = naive_effects(table)
    return ScreeningEstimates(
        effects=effects,
        margins=margins.estimate_margin_effects(study.denied, table.scores, table.block),
        naive=share,
        usage=usage,
        worth_of_games=len(table) * float(np.trace(alone.covariance) / np.trace(effects.covariance)),
    )


def naive_effects(table: MatchupGames) -> tuple[Array, Array]:
    """Return the naive estimate of each action and its use among seats that had it, float64 (15,) each."""
    used = decode_action_sets(table.used)
    had = ~decode_action_sets(table.denied) & ~decode_action_sets(table.covered)[:, None]
    won = fractional_wins(table.places)[..., None]
    with_it, without = used, had & ~used
    share = np.full(len(BOARD_ACTIONS), np.nan)
    some = (with_it.sum(axis=(0, 1)) > 0) & (without.sum(axis=(0, 1)) > 0)
    counts = [kind.sum(axis=(0, 1)) for kind in (with_it, without)]
    wins = [(won * kind).sum(axis=(0, 1)) for kind in (with_it, without)]
    share[some] = 100 * (wins[0][some] / counts[0][some] - wins[1][some] / counts[1][some])
    return share, used.sum(axis=(0, 1)) / np.maximum(1, had.sum(axis=(0, 1)))

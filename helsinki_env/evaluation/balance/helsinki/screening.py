"""Screening experiment: estimate the marginal effect of each action for one class of player from its games."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import as_sets
from helsinki_env.evaluation.arena.load import Table
from helsinki_env.evaluation.balance import margins
from helsinki_env.evaluation.balance.effects import Effects, Study, estimate
from helsinki_env.evaluation.match_stats import win_shares
from helsinki_env.games.helsinki.components import ACTIONS

__all__ = ["Screened", "naive", "screened", "study_of"]

Array = npt.NDArray[np.float64]


def study_of(table: Table) -> Study:
    """Return the denied actions and ranks of a table of games."""
    return Study(as_sets(table.denied), table.places, table.block)


@dataclass(frozen=True)
class Screened:
    """Estimates from a screening experiment; actions in the order of their ids.

    Attributes:
        effects: marginal effects on winning.
        margins: marginal effects on the score, in points.
        naive: win rate of seats that used an action minus that of seats that had it and did not, in percentage points,
            float64 (15,). It is biased, because winners have more to spend.
        usage: fraction of the seats with an action that used it, float64 (15,).
        worth_of_games: effective number of independent games, given the correlation within paired games.
    """

    effects: Effects
    margins: margins.Margins
    naive: Array
    usage: Array
    worth_of_games: float


def screened(table: Table) -> Screened:
    """Return the estimates from a screening experiment.

    Raises:
        RatingError: if there are too few games to separate the actions.
    """
    study = study_of(table)
    effects = estimate(study)
    alone = estimate(replace(study, block=np.arange(len(table))))
    share, usage = naive(table)
    return Screened(
        effects=effects,
        margins=margins.estimate(study.denied, table.scores, table.block),
        naive=share,
        usage=usage,
        worth_of_games=len(table) * float(np.trace(alone.covariance) / np.trace(effects.covariance)),
    )


def naive(table: Table) -> tuple[Array, Array]:
    """Return the naive estimate of each action and its use among seats that had it, float64 (15,) each."""
    used = as_sets(table.used)
    had = ~as_sets(table.denied) & ~as_sets(table.covered)[:, None]
    won = win_shares(table.places)[..., None]
    with_it, without = used, had & ~used
    share = np.full(len(ACTIONS), np.nan)
    some = (with_it.sum(axis=(0, 1)) > 0) & (without.sum(axis=(0, 1)) > 0)
    counts = [kind.sum(axis=(0, 1)) for kind in (with_it, without)]
    wins = [(won * kind).sum(axis=(0, 1)) for kind in (with_it, without)]
    share[some] = 100 * (wins[0][some] / counts[0][some] - wins[1][some] / counts[1][some])
    return share, used.sum(axis=(0, 1)) / np.maximum(1, had.sum(axis=(0, 1)))

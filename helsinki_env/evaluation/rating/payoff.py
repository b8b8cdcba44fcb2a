"""Rankings from the payoff table: alpha-rank, Nash averaging and soft Condorcet, next to the rating.

A rating puts players on one line. It cannot show cycles, and it depends on how often each pair met. These methods read
the table of pairwise results instead:

- **alpha-rank** (Omidshafiei et al. 2019): the long-run share of each player if better players replace worse ones.
- **Nash averaging** (Balduzzi et al. 2018): the share of each player in the equilibrium of the game "choose a player"
  with the largest entropy, and the score against that mixture. Copies of a player change nothing.
- **soft Condorcet** (Lanctot et al. 2025): ratings that agree with as many pairwise results as possible.

Alpha-rank is OpenSpiel's implementation. Its Nash averaging needs another package, and its soft Condorcet takes votes
one by one, so SciPy solves the same optimization problems here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.shares import Array, cross_table
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy.optimize import linprog, minimize

__all__ = ["PayoffRanking", "alpha_rank", "nash_average", "payoff_ranking", "soft_condorcet"]

#: Soft Condorcet: range of its ratings, and their temperature.
_RANGE, _TEMPERATURE = 1000.0, 100.0
#: Tolerance of the equilibrium.
_TOLERANCE = 1e-6


@dataclass(frozen=True)
class PayoffRanking:
    """The payoff table of P players and the rankings that follow from it.

    Attributes:
        name: name of the matchup.
        players: the players.
        share: fraction of meetings in which i finished ahead of j, ties as half, float64 (P, P); 0.5 on the diagonal.
        low: lower ends of its 95% intervals, float64 (P, P).
        high: upper ends, float64 (P, P).
        alpha: share of each player by alpha-rank, float64 (P,).
        nash: share of each player in the equilibrium, float64 (P,).
        against_nash: its score against the equilibrium, at most 0.5, float64 (P,).
        condorcet: soft Condorcet ratings, 0 to 1000, float64 (P,).
    """

    name: str
    players: tuple[str, ...]
    share: Array
    low: Array
    high: Array
    alpha: Array
    nash: Array
    against_nash: Array
    condorcet: Array

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as plain data, rounded."""
        values = {
            key: np.round(getattr(self, key), 4).tolist()
            for key in ("share", "low", "high", "alpha", "nash", "against_nash", "condorcet")
        }
        return {"name": self.name, "players": list(self.players), **values}


def payoff_ranking(games: RatableGames) -> PayoffRanking:
    """Return the payoff table of a matchup and its rankings.

    Raises:
        RatingError: if two players never met.
        MissingExtraError: without OpenSpiel.
    """
    count = len(games.players)
    table = cross_table(count, games.seating, games.places, games.deck)
    share, low, high = table.share.copy(), table.low.copy(), table.high.copy()
    for values in (share, low, high):
        np.fill_diagonal(values, 0.5)
    if np.isnan(share).any():
        one, two = np.argwhere(np.isnan(share))[0].tolist()
        raise RatingError(
            f"{games.name}: found no game of {games.players[one]} against {games.players[two]}, expected games of all "
            "pairs; play all line-ups with helsinki arena"
        )
    nash = nash_average(share - share.T)
    return PayoffRanking(
        games.name, games.players, share, low, high, alpha_rank(share), nash, share @ nash, soft_condorcet(share)
    )


def alpha_rank(share: Array) -> Array:
    """Return each player's share in the stationary distribution of alpha-rank (infinite alpha), float64 (P,)."""
    with requires_extra("openspiel"):
        from open_spiel.python.egt import alpharank
    if len(share) == 1:
        return np.ones(1)
    distribution: Array = np.asarray(alpharank.compute([share], m=50, use_inf_alpha=True, inf_alpha_eps=0.001)[2])
    return distribution


def nash_average(advantage: Array) -> Array:
    """Return the symmetric equilibrium with the largest entropy of a zero-sum game, float64 (P,).

    Args:
        advantage: payoff of i against j, float64 (P, P), antisymmetric.

    Raises:
        RatingError: if the optimization fails.
    """
    count = len(advantage)
    start = linprog(
        np.zeros(count), A_ub=advantage, b_ub=np.zeros(count), A_eq=np.ones((1, count)), b_eq=[1.0], bounds=(0, 1)
    )
    found = minimize(
        lambda p: float(np.sum(p * np.log(np.maximum(p, 1e-12)))),
        start.x if start.success else np.full(count, 1 / count),
        jac=lambda p: np.log(np.maximum(p, 1e-12)) + 1,
        bounds=[(0.0, 1.0)] * count,
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1, "jac": lambda p: np.ones((1, count))},
            {"type": "ineq", "fun": lambda p: -advantage @ p, "jac": lambda p: -advantage},
        ],
        method="SLSQP",
        options={"maxiter": 1000, "ftol": 1e-10},
    )
    best = found.x if found.success else start.x
    if best is None or (advantage @ best).max() > _TOLERANCE * 100:
        raise RatingError(
            f"Nash averaging: found no equilibrium ({found.message}), expected one; leave out equal players"
        )
    best = np.clip(best, 0, None)
    mixture: Array = best / best.sum()
    return mixture


def soft_condorcet(share: Array) -> Array:
    """Return soft Condorcet ratings, 0 to 1000, float64 (P,); only their order and their gaps have a meaning."""

    def loss(ratings: Array) -> tuple[float, Array]:
        against = 1 / (1 + np.exp((ratings[:, None] - ratings) / _TEMPERATURE))  # soft disagreement with "i beats j"
        slope = share * against * (1 - against) / _TEMPERATURE
        return float((share * against).sum()), slope.sum(axis=0) - slope.sum(axis=1)

    score = share.mean(axis=1)
    start = _RANGE / 2 + _TEMPERATURE * (score - score.mean())  # begin with the order of the mean scores
    bounds = [(0.0, _RANGE)] * len(share)
    ratings: Array = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return ratings

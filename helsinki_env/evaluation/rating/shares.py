"""Results that require no rating model: scores between pairs of players, win rates, mean points and mean ranks.

Games of one deal are correlated, so intervals are based on the variation between units (deals); see
`helsinki_env.evaluation.match_stats.proportion_interval`. A tie counts as finishing half ahead. Opposite entries of the
cross-table therefore sum to 1 and are comparable with the scores expected from the ratings (`expected_cross_table`).

**Payoff table.** Ratings place all players on one scale. They cannot show cycles, and they depend on how often each
pair met. The following methods rank players by the table of pairwise results instead:

- **alpha-rank** (Omidshafiei et al. 2019): the long-run frequency of each player in a population in which better
  players replace worse ones.
- **Nash averaging** (Balduzzi et al. 2018): the probability of each player in the maximum-entropy Nash equilibrium of
  the game "choose a player", and the score of each player against that mixture. Copies of a player have no influence.
- **soft Condorcet** (Lanctot et al. 2025): ratings that agree with as many pairwise results as possible.

Alpha-rank uses OpenSpiel's implementation. OpenSpiel's Nash averaging requires another package, and its soft Condorcet
method requires individual votes, so this module solves the same optimization problems with SciPy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.match_stats import fractional_wins, midranks, proportion_interval
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.utils.extras import requires_extra

__all__ = ["PayoffRanking", "alpha_rank", "nash_average", "payoff_ranking", "soft_condorcet"]

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.integer]

_DECIMALS = 5


@dataclass(frozen=True)
class CrossTable:
    """The cross-table. Row i, column j compares player i with player j."""

    share: Array  # fraction of pairings in which i finished ahead of j (ties: half), (P, P); NaN if they never met
    low: Array  # lower endpoint of its 95% interval
    high: Array  # upper endpoint
    games: npt.NDArray[np.int64]  # number of games in which both played, (P, P)


@dataclass(frozen=True)
class PlayerStatistics:
    """Statistics of each player over all seats that it took, as arrays (P,)."""

    games: npt.NDArray[np.int64]  # number of seats taken
    win_rate: Array  # a k-way tie for first counts as 1/k of a win
    low: Array  # lower endpoint of its 95% interval
    high: Array  # upper endpoint
    chance_level: float  # 1 / number of seats
    points: Array  # mean points
    place: Array  # mean rank (1 is first), see `helsinki_env.evaluation.match_stats.midranks`


def _unit_sums(unit: Integers, cell: Integers, cells: int, weights: Array | None = None) -> Array:
    """Return the sum of the weights (default: the count) by unit and cell, float64 (D, cells)."""
    units = int(unit.max(initial=-1)) + 1
    flat = np.bincount(unit * cells + cell, weights, minlength=units * cells)
    return flat.reshape(units, cells).astype(np.float64)


def _ahead(one: Integers, two: Integers) -> Array:
    """Return the score of one rank against another, float64 (N,): 1 if ahead, 1/2 if tied, otherwise 0."""
    ahead: Array = (one < two) + (one == two) / 2
    return ahead


def _meetings(seating: Integers, players: int) -> Iterator[tuple[int, int, Integers, Integers]]:
    """Yield each pair of seats, the games in which different players take them, and their cells in the cross-table."""
    for one, two in permutations(range(seating.shape[1]), 2):
        games = np.flatnonzero(seating[:, one] != seating[:, two])
        yield one, two, games, seating[games, one].astype(np.int64) * players + seating[games, two]


def cross_table(players: int, seating: Integers, places: Integers, units: Integers) -> CrossTable:
    """Return the cross-table of P players. The arrays have the same shapes as in `rating.ratings.build_model`."""
    _, unit = np.unique(units, return_inverse=True)
    meetings = list(_meetings(seating, players))
    cells = players * players
    games = np.concatenate([games for _, _, games, _ in meetings])
    cell = np.concatenate([cell for *_, cell in meetings])
    ahead = np.concatenate([_ahead(places[games, one], places[games, two]) for one, two, games, _ in meetings])
    share, low, high = proportion_interval(
        _unit_sums(unit[games], cell, cells, ahead), _unit_sums(unit[games], cell, cells)
    )
    both = np.bincount(np.unique(games * cells + cell) % cells, minlength=cells)
    square = (players, players)
    return CrossTable(share.reshape(square), low.reshape(square), high.reshape(square), both.reshape(square))


def player_statistics(
    players: int, seating: Integers, places: Integers, scores: Integers, units: Integers
) -> PlayerStatistics:
    """Return the statistics of P players, given the points by seat, `scores` (G, S), and the data for `cross_table`."""
    _, unit = np.unique(units, return_inverse=True)
    seats = seating.shape[1]
    sat, unit = seating.ravel().astype(np.int64), np.repeat(unit, seats)
    count = np.bincount(sat, minlength=players)
    share, low, high = proportion_interval(
        _unit_sums(unit, sat, players, fractional_wins(places).ravel()), _unit_sums(unit, sat, players)
    )
    with np.errstate(invalid="ignore"):
        points = np.bincount(sat, scores.ravel().astype(np.float64), minlength=players) / count
        place = np.bincount(sat, midranks(places).ravel(), minlength=players) / count + 1
    return PlayerStatistics(count, share, low, high, 1 / seats, points, place)


def expected_cross_table(players: int, seating: Integers, utility: Array) -> Array:
    """Return the cross-table that a Plackett-Luce model predicts for the same pairings.

    `utility` contains the log worth of each seat in each game, float64 (G, S).
    """
    total, number = np.zeros(players**2), np.zeros(players**2)
    for one, two, games, cell in _meetings(seating, players):
        difference = utility[games, one] - utility[games, two]
        total += np.bincount(cell, 1 / (1 + np.exp(-difference)), minlength=players**2)
        number += np.bincount(cell, minlength=players**2)
    with np.errstate(invalid="ignore"):
        share: Array = (total / number).reshape(players, players)
    return share


def head_to_head_by_unit(seating: Integers, places: Integers, units: Integers, one: int, two: int) -> Array:
    """Return the score of `one` against `two` in each unit with both players, in ascending order of units.

    A tie counts as one half.
    """
    names, unit = np.unique(units, return_inverse=True)
    cells = np.zeros((len(names), 2))
    for a, b in permutations(range(seating.shape[1]), 2):
        both = (seating[:, a] == one) & (seating[:, b] == two)
        np.add.at(cells, (unit[both], 0), _ahead(places[both, a], places[both, b]))
        np.add.at(cells, (unit[both], 1), 1.0)
    met = cells[:, 1] > 0
    share: Array = cells[met, 0] / cells[met, 1]
    return share


def rounded(value: float) -> float | None:
    """Round a number for JSON, with None for NaN. Rounding hides tiny differences between CPUs."""
    return None if math.isnan(value) else round(float(value), _DECIMALS) + 0.0


def to_json_data(value: Any) -> Any:
    """Convert a value to JSON-serializable data: NaN to None, arrays to lists, keys to strings."""
    if isinstance(value, Mapping):
        return {str(key): to_json_data(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return to_json_data(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json_data(item) for item in value]
    if isinstance(value, bool | str | int | None):
        return value
    return rounded(value)


def unrated_data(matchup: RatableGames) -> dict[str, Any]:
    """Return win rates, points, ranks and the cross-table of a matchup as JSON-serializable data, without ratings."""
    count = len(matchup.players)
    statistics = player_statistics(count, matchup.seating, matchup.places, matchup.scores, matchup.deal)
    order = sorted(range(count), key=lambda i: -statistics.win_rate[i])
    unknown = np.full((count, count), np.nan)
    pairs = cross_table(count, matchup.seating, matchup.places, matchup.deal)
    return {
        "games": len(matchup.deal),
        "deals": len(set(matchup.deal.tolist())),
        "reference": None,
        "players": [
            {"player": matchup.players[i], "rating": None, "low": None, "high": None, **player_data(statistics, i)}
            for i in order
        ],
        "pairs": pair_data(matchup.players, order, pairs, unknown, unknown),
    }


def player_data(statistics: PlayerStatistics, i: int) -> dict[str, Any]:
    """Return the statistics of player `i` as JSON-serializable data."""
    return {
        "games": int(statistics.games[i]),
        "win_share": rounded(statistics.win_rate[i]),
        "win_share_low": rounded(statistics.low[i]),
        "win_share_high": rounded(statistics.high[i]),
        "mean_points": rounded(statistics.points[i]),
        "mean_place": rounded(statistics.place[i]),
    }


def pair_data(
    players: Sequence[str], order: Sequence[int], pairs: CrossTable, expected: Array, stronger: Array
) -> list[dict[str, Any]]:
    """Return the cross-table in the given order of players, with the scores and probabilities based on the ratings."""
    return [
        {
            "player": players[i],
            "opponent": players[j],
            "games": int(pairs.games[i, j]),
            "ahead": rounded(pairs.share[i, j]),
            "ahead_by_ratings": rounded(expected[i, j]),
            "low": rounded(pairs.low[i, j]),
            "high": rounded(pairs.high[i, j]),
            "probability_stronger": rounded(stronger[i, j]),
        }
        for i in order
        for j in order
        if i != j
    ]


#: Range of soft Condorcet ratings, and their temperature.
_RANGE, _TEMPERATURE = 1000.0, 100.0
#: Maximum gain that a player may have against an accepted equilibrium.
_TOLERANCE = 1e-4


@dataclass(frozen=True)
class PayoffRanking:
    """The payoff table of P players and the rankings derived from it.

    Attributes:
        name: name of the matchup.
        players: the players.
        share: fraction of pairings in which i finished ahead of j (ties: half), float64 (P, P); 0.5 on the diagonal.
        low: lower endpoints of the 95% intervals of `share`, float64 (P, P).
        high: upper endpoints, float64 (P, P).
        alpha: alpha-rank score of each player, float64 (P,).
        nash: probability of each player in the maximum-entropy Nash equilibrium, float64 (P,).
        against_nash: score of each player against the equilibrium, at most 0.5, float64 (P,).
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

    @property
    def mean_scores(self) -> Array:
        """Mean of `share` over the other players, float64 (P,); 0.5 without other players."""
        others = len(self.share) - 1
        mean: Array = (self.share.sum(axis=1) - 0.5) / others if others else np.full(1, 0.5)
        return mean

    def to_dict(self) -> dict[str, Any]:
        """Return the ranking as JSON-serializable data with rounded values."""
        values = {
            key: np.round(getattr(self, key), 4).tolist()
            for key in ("share", "low", "high", "alpha", "nash", "against_nash", "condorcet")
        }
        return {"name": self.name, "players": list(self.players), **values}


def payoff_ranking(games: RatableGames) -> PayoffRanking:
    """Return the payoff table of a matchup and the rankings derived from it.

    Raises:
        RatingError: if two players never met.
        MissingExtraError: if OpenSpiel is not installed.
    """
    count = len(games.players)
    table = cross_table(count, games.seating, games.places, games.deal)
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
    """Return the stationary distribution of alpha-rank (infinite alpha) over the players, float64 (P,)."""
    with requires_extra("openspiel"):
        from open_spiel.python.egt import alpharank
    if len(share) == 1:
        return np.ones(1)
    distribution: Array = np.asarray(alpharank.compute([share], m=50, use_inf_alpha=True, inf_alpha_eps=0.001)[2])
    return distribution


def nash_average(advantage: Array) -> Array:
    """Return the maximum-entropy symmetric equilibrium of a symmetric zero-sum game, float64 (P,).

    Args:
        advantage: payoff of i against j, float64 (P, P), antisymmetric.

    Raises:
        RatingError: if the optimization fails.
    """
    with requires_extra("stats"):
        from scipy.optimize import linprog, minimize
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
    if best is None or (advantage @ best).max() > _TOLERANCE:
        raise RatingError(f"Nash averaging: found no equilibrium ({found.message}), expected one; omit equal players")
    best = np.clip(best, 0, None)
    mixture: Array = best / best.sum()
    return mixture


def soft_condorcet(share: Array) -> Array:
    """Return soft Condorcet ratings from 0 to 1000, float64 (P,). Only their differences are meaningful."""
    with requires_extra("stats"):
        from scipy.optimize import minimize

    def loss(ratings: Array) -> tuple[float, Array]:
        against = 1 / (1 + np.exp((ratings[:, None] - ratings) / _TEMPERATURE))  # soft disagreement with "i beats j"
        slope = share * against * (1 - against) / _TEMPERATURE
        return float((share * against).sum()), slope.sum(axis=0) - slope.sum(axis=1)

    score = share.mean(axis=1)
    start = _RANGE / 2 + _TEMPERATURE * (score - score.mean())  # start in the order of the mean scores
    bounds = [(0.0, _RANGE)] * len(share)
    ratings: Array = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return ratings

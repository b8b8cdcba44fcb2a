"""Ratings of the players of one matchup: the Plackett-Luce fit on the Elo scale, with intervals and probabilities.

Elo's scale (Elo 1978): 400 points are odds of 10 : 1, so a strength in natural logarithms is multiplied by 400 / ln 10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.bootstrap import (
    bootstrap_fits,
    percentiles,
    rank_probabilities,
    stronger_probabilities,
)
from helsinki_env.evaluation.rating.model import RatingModel, build_model
from helsinki_env.evaluation.rating.plackett_luce import fit
from helsinki_env.evaluation.rating.shares import (
    CrossTable,
    PlayerStatistics,
    cross_table,
    expected_cross_table,
    player_statistics,
)

__all__ = ["ELO", "Ratings", "rate"]

Array = npt.NDArray[np.float64]

#: Minimum number of deals to estimate the effect of an action that only some seats are denied.
_MIN_DEALS = 20
ELO = 400 / math.log(10)
"""Elo points of one natural logarithm."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of the players of one matchup, in Elo points; arrays are in the order of `players`.

    Attributes:
        table: name of the matchup.
        players: names.
        reference: the player at zero.
        games: number of games.
        decks: number of deals, the independent units.
        resamples: number of resamples for intervals and probabilities.
        elo: ratings, float64 (P,).
        low: lower ends of the 95% intervals of the difference to the reference.
        high: upper ends.
        error: sandwich standard errors over deals, float64 (P,).
        covariance: sandwich covariance, float64 (P, P).
        seat: seat effects, which sum to zero, float64 (S,).
        seat_low: lower ends of their 95% intervals.
        seat_high: upper ends.
        handicaps: whether the model includes the effects of actions denied to only some seats of a game.
        rank: fraction of resamples in which a player (row) has a rank (column), float64 (P, P).
        probability_stronger: fraction of resamples in which the row's player is rated above the column's, float64 (P,
            P).
        cross_table: the cross-table.
        expected: the cross-table's scores expected from the ratings, float64 (P, P).
        statistics: win rates, points and ranks.
    """

    table: str
    players: tuple[str, ...]
    reference: str
    games: int
    decks: int
    resamples: int
    elo: Array
    low: Array
    high: Array
    error: Array
    covariance: Array
    seat: Array
    seat_low: Array
    seat_high: Array
    handicaps: bool
    rank: Array
    probability_stronger: Array
    cross_table: CrossTable
    expected: Array
    statistics: PlayerStatistics

    @property
    def order(self) -> list[int]:
        """Players from the strongest to the weakest."""
        return [int(i) for i in np.argsort(-self.elo, kind="stable")]


def rate(games: RatableGames, *, reference: str | None = None, resamples: int = 1000, seed: int = 0) -> Ratings:
    """Rate the players of a matchup.

    The model includes seat effects and, where seats of a game are denied different actions, the effects of those
    actions, unless there are too few deals or the effects are unidentifiable.

    Args:
        games: the games.
        reference: the player at zero; default: ``random`` if it played, else the player that was ahead least often.
        resamples: number of resamples for intervals and probabilities.
        seed: seed of the resampling.

    Raises:
        RatingError: if the games cannot be rated (`build_model`, `fit`), or the reference did not play.
    """
    if resamples < 100:
        raise RatingError(f"resamples: found {resamples}, expected at least 100")
    players = games.players
    if (games.seating == games.seating[:, :1]).all():
        raise RatingError(
            f"{games.name}: found no game between different players ({', '.join(players)}), expected at least one"
        )
    scores = cross_table(len(players), games.seating, games.places, games.deck)
    zero = _reference(players, scores, reference)
    model, covariates = _model(games, zero)
    fitted = fit(model.rankings, model.virtual)
    units = len(model.units)
    samples = bootstrap_fits(model, fitted, resamples, seed) * ELO
    strengths, seats = samples @ model.player_map.T, samples @ model.seat_map.T
    low, high = percentiles(strengths, units)
    seat_low, seat_high = percentiles(seats, units)
    covariance = model.player_map @ fitted.covariance @ model.player_map.T * ELO**2
    return Ratings(
        table=games.name,
        players=tuple(players),
        reference=players[zero],
        games=len(games.seating),
        decks=units,
        resamples=resamples,
        elo=model.player_map @ fitted.theta * ELO,
        low=low,
        high=high,
        error=np.sqrt(np.diag(covariance)),
        covariance=covariance,
        seat=model.seat_map @ fitted.theta * ELO,
        seat_low=seat_low,
        seat_high=seat_high,
        rank=rank_probabilities(strengths),
        probability_stronger=stronger_probabilities(strengths),
        cross_table=scores,
        handicaps=covariates.shape[2] > 0,
        expected=expected_cross_table(
            len(players),
            games.seating,
            (model.player_map @ fitted.theta)[games.seating]
            + model.seat_map @ fitted.theta
            + covariates @ (model.covariate_map @ fitted.theta),
        ),
        statistics=player_statistics(len(players), games.seating, games.places, games.scores, games.deck),
    )


def _model(games: RatableGames, reference: int) -> tuple[RatingModel, Array]:
    """Return the model of games and its covariates, (G, S, C): actions denied to only some seats of a game."""
    build = partial(build_model, games.players, games.seating, games.places, games.deck, reference=reference)
    denied = decode_action_sets(games.denied & ~games.covered[:, None])  # an action disabled for all is no handicap
    differs = (denied != denied[:, :1]).any(axis=1)
    decks = np.array([len(np.unique(games.deck[differs[:, action]])) for action in range(differs.shape[1])])
    # With few deals an effect is unidentifiable in some resamples: omit it.
    unequal = denied[..., decks >= _MIN_DEALS].astype(np.float64)
    if (np.ptp(unequal.sum(axis=2), axis=1) == 0).all():
        unequal = unequal[..., 1:]  # equal numbers of denied actions: effects are only identified up to a constant
    if 0 < unequal.shape[2] * _MIN_DEALS <= len(np.unique(games.deck)):
        try:
            return build(covariates=unequal), unequal
        except RatingError:
            pass  # for example, only one player has a handicap; other errors recur below
    return build(), unequal[..., :0]


def _reference(players: tuple[str, ...], scores: CrossTable, name: str | None) -> int:
    if name is None:
        if "random" in players:
            return players.index("random")
        met = np.nansum(scores.games, axis=1)
        ahead = np.nansum(scores.share * scores.games, axis=1)
        return int(np.argmin(ahead / np.maximum(met, 1)))
    if name not in players:
        raise RatingError(f"reference: found {name!r}, expected one of {', '.join(players)}")
    return players.index(name)

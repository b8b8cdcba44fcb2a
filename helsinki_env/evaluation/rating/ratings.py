"""Ratings of the players in one matchup: the Plackett-Luce fit on the Elo scale, with intervals and probabilities.

On the Elo scale (Elo 1978), 400 points are odds of 10 : 1, so log strengths are multiplied by 400 / ln 10.

**Model.** A player's worth in a game is ``exp(strength + seat effect + covariates @ coefficients)``. Only differences
are identifiable, so strengths are relative to a reference player and seat effects sum to zero. The parameters are P - 1
strengths, S - 1 seat effects (the last seat effect is minus their sum), and the coefficients.

**Block bootstrap.** The bootstrap resamples units (deals) rather than games (Efron 1979; Davison and Hinkley 1997,
section 3.8), because games of one deal are correlated, even across line-ups. Wins and losses of virtual draws receive
exponential weights (Rubin 1981). Intervals are *expanded* percentile intervals (Hesterberg 2015, "What teachers should
know about the bootstrap", The American Statistician 69). They use Student's t distribution with D - 1 degrees of
freedom instead of the normal distribution. They also correct for the factor sqrt((D - 1) / D) by which plain percentile
intervals are too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import decode_action_sets
from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.match_stats import student_quantile
from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.plackett_luce import (
    Array,
    Fit,
    Rankings,
    VirtualDraws,
    derivatives,
    fit,
    gradients,
    maximize_likelihood,
    orders_of_finish,
    unit_hessians,
    unit_scores,
)
from helsinki_env.evaluation.rating.shares import (
    CrossTable,
    PlayerStatistics,
    cross_table,
    expected_cross_table,
    player_statistics,
)
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components
    from scipy.special import ndtr

__all__ = ["ELO", "Ratings", "rate"]

Integers = npt.NDArray[np.integer]


@dataclass(frozen=True)
class RatingModel:
    """Games encoded as features for the fit."""

    rankings: Rankings
    virtual: VirtualDraws  # virtual draws between players that met, and between seats
    player_map: Array  # (P, K); ``player_map @ theta`` gives the strengths of the players
    seat_map: Array  # (S, K); ``seat_map @ theta`` gives the seat effects
    covariate_map: Array  # (C, K); ``covariate_map @ theta`` gives the coefficients of the covariates
    units: npt.NDArray[np.int64]  # numbers of the independent units, ascending, (D,)


def build_model(
    players: Sequence[str],
    seating: Integers,
    places: Integers,
    units: Integers,
    *,
    reference: int = 0,
    covariates: Array | None = None,
    virtual_games: float = 1.0,
) -> RatingModel:
    """Encode games as features.

    Args:
        players: names of the P players.
        seating: index into `players` of the player in each seat, (G, S). A player may take several seats of a game.
        places: rank of each seat, (G, S): the number of seats that did better. See
            `helsinki_env.evaluation.rating.plackett_luce` for ties.
        units: unit (deal) of each game, (G,). Games of different units are independent.
        reference: index of the player whose strength is zero.
        covariates: covariates of each seat in each game, float64 (G, S, C), with values of order 1. Virtual draws do
            not affect their coefficients.
        virtual_games: number of virtual draws for each pair of players that met, and for each pair of seats.

    Raises:
        RatingError: if shapes are incompatible, games do not connect all players, or effects are not identifiable.
    """
    seating, places = np.asarray(seating, np.int64), np.asarray(places, np.int64)
    _check(players, seating, places, np.asarray(units))
    count, seats = len(players), seating.shape[1]
    extra = 0 if covariates is None else covariates.shape[2]
    parameters = count - 1 + seats - 1 + extra
    player_map, seat_map = np.zeros((count, parameters)), np.zeros((seats, parameters))
    others = [player for player in range(count) if player != reference]
    player_map[others, np.arange(count - 1)] = 1
    seat_map[:-1, count - 1 : count + seats - 2] = np.eye(seats - 1)
    seat_map[-1, count - 1 : count + seats - 2] = -1

    met = _meetings(count, seating)
    _check_connected(players, met)

    # A kind is a combination of player, seat and covariates. A game is an order of kinds, or several weighted orders if
    # tied.
    game, order, part = orders_of_finish(places)
    kinds = seating * seats + np.arange(seats)
    features_of = player_map[np.repeat(np.arange(count), seats)] + seat_map[np.tile(np.arange(seats), count)]
    if covariates is not None:
        rows = np.concatenate([kinds[..., None].astype(np.float64), covariates], axis=2).reshape(-1, 1 + extra)
        distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
        kinds = inverse.reshape(kinds.shape)
        features_of = features_of[distinct[:, 0].astype(np.int64)]
        features_of[:, parameters - extra :] = distinct[:, 1:]
    patterns, which = np.unique(np.take_along_axis(kinds[game], order, axis=1), axis=0, return_inverse=True)
    names, unit = np.unique(units, return_inverse=True)
    counts = sparse.csr_array(
        (part, (unit.ravel()[game], which.ravel())), shape=(len(names), len(patterns)), dtype=np.float64
    )
    rankings = Rankings(features_of[patterns], counts)
    _check_identifiable(rankings, parameters)

    pairs = [player_map[i] - player_map[j] for i, j in zip(*np.nonzero(np.triu(met, 1)), strict=True)]
    pairs += [seat_map[i] - seat_map[j] for i in range(seats) for j in range(i + 1, seats)]
    virtual = VirtualDraws.of(np.array(pairs), virtual_games)
    covariate_map = np.eye(parameters)[parameters - extra :]
    return RatingModel(rankings, virtual, player_map, seat_map, covariate_map, names.astype(np.int64))


def _check(players: Sequence[str], seating: Integers, places: Integers, units: Integers) -> None:
    if seating.ndim != 2 or seating.shape != places.shape or units.shape != seating.shape[:1]:
        raise RatingError(
            f"shapes: found seating {seating.shape}, places {places.shape} and units {units.shape}, expected (games, "
            "seats), (games, seats) and (games,)"
        )
    if not len(seating) or seating.shape[1] < 2:
        raise RatingError(f"seating: found {len(seating)} games of {seating.shape[1]} seats, expected 2 seats or more")
    if len(players) < 2:
        raise RatingError(f"players: found {len(players)} ({', '.join(players)}), expected at least 2")
    if seating.min() < 0 or seating.max() >= len(players):
        wrong = int(seating.min() if seating.min() < 0 else seating.max())
        raise RatingError(f"seating: found player {wrong}, expected 0 to {len(players) - 1}")
    better = (places[:, None, :] < places[:, :, None]).sum(axis=2)
    valid = (places == better).all(axis=1)
    if not valid.all():
        game = int(np.argmin(valid))
        raise RatingError(
            f"places: found {places[game].tolist()} in game {game}, expected {better[game].tolist()}, the number of "
            "seats that did better than each seat"
        )


def _meetings(count: int, seating: Integers) -> npt.NDArray[np.bool_]:
    """Return whether each pair of players met, bool (P, P)."""
    met = np.zeros((count, count), np.bool_)
    for seat in range(seating.shape[1]):
        met[seating[:, seat, None], seating] = True
    return met


def _check_connected(players: Sequence[str], met: npt.NDArray[np.bool_]) -> None:
    number, group = connected_components(met, directed=False)
    if number > 1:
        groups = [[name for name, own in zip(players, group, strict=True) if own == g] for g in range(number)]
        raise RatingError(
            f"players: found {number} groups without a game between them "
            f"({'; '.join(', '.join(names) for names in groups)}), expected one; play games between the groups, or "
            "rate each group separately"
        )


def _check_identifiable(rankings: Rankings, parameters: int) -> None:
    """Raise RatingError if the games do not identify all parameters."""
    no_draws = VirtualDraws.of(np.zeros((0, parameters)), 0.0)
    information = -derivatives(np.zeros(parameters), rankings, no_draws).hessian
    scale = np.sqrt(np.diag(information))
    if (scale == 0).any() or np.linalg.eigvalsh(information / np.outer(scale, scale))[0] < 1e-9:
        raise RatingError(
            "effects: found dependent features, expected identifiable effects of players, seats and covariates; "
            "let every player sit in every seat, and omit covariates that never differ in a game"
        )


#: Maximum number of values in an array of one batch of resamples (4 MB), so that the arrays fit in the CPU cache.
_BATCH_NUMBERS = 500_000
_MAX_STEPS = 12
#: Convergence tolerance on the log scale: 0.002 Elo points, far below the resampling error.
_TOLERANCE = 1e-5


def bootstrap_fits(model: RatingModel, fitted: Fit, resamples: int, seed: int) -> Array:
    """Return the parameters fitted to each resample of the units, float64 (resamples, K).

    The fit of each resample starts from the fit to all games. Its Newton steps use the Hessian of its units at that
    point throughout. The Hessian of each unit is computed only once, and all resamples of a batch take steps together.
    The few resamples that do not converge are fitted individually.
    """
    rng = np.random.default_rng(seed)
    rankings, virtual = model.rankings, model.virtual
    units, patterns = rankings.counts.shape
    scores = unit_scores(fitted.theta, rankings)
    hessians = unit_hessians(fitted.theta, rankings)
    theta = np.empty((resamples, len(fitted.theta)))
    batch = max(1, min(resamples, _BATCH_NUMBERS // (patterns * rankings.features.shape[1])))
    for begin in range(0, resamples, batch):
        size = min(batch, resamples - begin)
        weights = np.empty((patterns, size))
        first, second = np.empty((len(fitted.theta), size)), np.empty((size, *hessians.shape[1:]))
        rows = max(1, _BATCH_NUMBERS // units)
        for part in (slice(at, min(at + rows, size)) for at in range(0, size, rows)):
            number = part.stop - part.start
            draws = rng.multinomial(units, np.full(units, 1 / units), size=number).astype(np.float64)
            weights[:, part] = rankings.counts.T @ draws.T
            first[:, part] = scores.T @ draws.T
            second[part] = np.tensordot(draws, hessians, axes=1)
        drawn = VirtualDraws(
            virtual.contrasts,
            virtual.wins[:, None] * rng.standard_exponential((len(virtual.wins), size)),
            virtual.losses[:, None] * rng.standard_exponential((len(virtual.losses), size)),
        )
        theta[begin : begin + size] = _fit_batch(model, fitted.theta, weights, drawn, first, second)
    return theta


def _fit_batch(
    model: RatingModel, start: Array, weights: Array, virtual: VirtualDraws, gradient: Array, hessian: Array
) -> Array:
    """Fit a batch of resamples, given the gradient (K, R) and Hessian (R, K, K) of the games at the start."""
    win = 1 / (1 + np.exp(-virtual.contrasts @ start))[:, None]
    games = (virtual.wins + virtual.losses) * win * (1 - win)
    hessian = hessian - np.einsum("mr,mi,mj->rij", games, virtual.contrasts, virtual.contrasts, optimize=True)
    inverse = np.linalg.inv(hessian)
    theta = np.repeat(start[:, None], weights.shape[1], axis=1)
    active = np.arange(weights.shape[1])
    for _ in range(_MAX_STEPS):
        now = theta[:, active]
        wins, losses = virtual.wins[:, active], virtual.losses[:, active]
        win = 1 / (1 + np.exp(-virtual.contrasts @ now))
        total = gradient + virtual.contrasts.T @ (wins - (wins + losses) * win)
        step = -np.einsum("rij,jr->ir", inverse[active], total)
        # With a fixed Hessian, steps overshoot if a resample has less information on a rating: limit their length to 1.
        length = np.abs(step).max(axis=0)
        theta[:, active] += step / np.maximum(length, 1)
        active = active[length > _TOLERANCE]
        if not len(active):
            break
        gradient = gradients(model.rankings, weights[:, active], theta[:, active])
    for r in active:
        draws = VirtualDraws(virtual.contrasts, virtual.wins[:, r], virtual.losses[:, r])
        theta[:, r], _ = maximize_likelihood(model.rankings, draws, weights[:, r], start)
    return theta.T


def percentiles(samples: Array, units: int) -> tuple[Array, Array]:
    """Return both endpoints of the expanded 95% percentile intervals of N values, given R resamples, (R, N)."""
    outside = float(ndtr(-math.sqrt(units / (units - 1)) * student_quantile(units)))
    low, high = np.quantile(samples, [outside, 1 - outside], axis=0, method="weibull")
    return low, high


def rank_probabilities(samples: Array) -> Array:
    """Return the fraction of resamples (R, P) in which each player (row) has each rank (column), (P, P)."""
    players = samples.shape[1]
    order = np.argsort(-samples, axis=1, kind="stable")
    shares = [np.bincount(order[:, rank], minlength=players) / len(samples) for rank in range(players)]
    return np.stack(shares, axis=1)


def stronger_probabilities(samples: Array) -> Array:
    """Return the fraction of resamples (R, P) in which the row player is rated above the column player, (P, P)."""
    above = np.stack([(samples[:, i, None] > samples).mean(axis=0) for i in range(samples.shape[1])])
    np.fill_diagonal(above, 0.5)
    return above


#: Minimum number of deals in which an action is denied to only some seats, for its effect to be modeled.
_MIN_DEALS = 20
ELO = 400 / math.log(10)
"""Elo points per unit of log odds."""


@dataclass(frozen=True)
class Ratings:
    """Ratings of the players in one matchup, in Elo points. Arrays are in the order of `players`.

    Attributes:
        matchup: name of the matchup.
        players: names of the players.
        reference: the player whose rating is zero.
        games: number of games.
        deals: number of deals, which are the independent units.
        resamples: number of resamples for intervals and probabilities.
        elo: ratings, float64 (P,).
        low: lower endpoints of the 95% intervals of the difference from the reference.
        high: upper endpoints.
        error: sandwich standard errors, clustered by deal, float64 (P,).
        covariance: sandwich covariance, float64 (P, P).
        seat: seat effects, which sum to zero, float64 (S,).
        seat_low: lower endpoints of the 95% intervals of the seat effects.
        seat_high: upper endpoints.
        handicaps: whether the model includes the effects of actions denied to only some seats of a game.
        rank: fraction of resamples in which each player (row) has each rank (column), float64 (P, P).
        probability_stronger: fraction of resamples in which the row player is rated above the column player, float64
            (P, P).
        cross_table: the observed cross-table.
        expected: cross-table expected from the ratings, float64 (P, P).
        statistics: win rates, mean points and mean ranks.
    """

    matchup: str
    players: tuple[str, ...]
    reference: str
    games: int
    deals: int
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
        """Indices of the players, strongest first."""
        return [int(i) for i in np.argsort(-self.elo, kind="stable")]


def rate(games: RatableGames, *, reference: str | None = None, resamples: int = 1000, seed: int = 0) -> Ratings:
    """Rate the players in a matchup.

    The model includes seat effects. If the seats of a game are denied different actions, it also includes the effects
    of these actions, unless there are too few deals or the effects are not identifiable.

    Args:
        games: the games.
        reference: the player whose rating is zero. By default, ``random`` if it played, otherwise the player with the
            lowest mean score.
        resamples: number of resamples for intervals and probabilities.
        seed: seed for resampling.

    Raises:
        RatingError: if the games cannot be rated (see `build_model` and `fit`) or the reference player did not play.
    """
    if resamples < 100:
        raise RatingError(f"resamples: found {resamples}, expected at least 100")
    players = games.players
    if (games.seating == games.seating[:, :1]).all():
        raise RatingError(
            f"{games.name}: found no game between different players ({', '.join(players)}), expected at least one"
        )
    scores = cross_table(len(players), games.seating, games.places, games.deal)
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
        matchup=games.name,
        players=tuple(players),
        reference=players[zero],
        games=len(games.seating),
        deals=units,
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
        statistics=player_statistics(len(players), games.seating, games.places, games.scores, games.deal),
    )


def _model(games: RatableGames, reference: int) -> tuple[RatingModel, Array]:
    """Return the model of the games and its covariates, (G, S, C): actions denied to only some seats of a game."""
    build = partial(build_model, games.players, games.seating, games.places, games.deal, reference=reference)
    denied = decode_action_sets(games.denied & ~games.covered[:, None])  # covered actions are not handicaps
    differs = (denied != denied[:, :1]).any(axis=1)
    deals = np.array([len(np.unique(games.deal[differs[:, action]])) for action in range(differs.shape[1])])
    # With too few deals, some resamples would not identify an effect.
    unequal = denied[..., deals >= _MIN_DEALS].astype(np.float64)
    if (np.ptp(unequal.sum(axis=2), axis=1) == 0).all():
        unequal = unequal[..., 1:]  # equal numbers of denied actions identify effects only up to a constant
    if 0 < unequal.shape[2] * _MIN_DEALS <= len(np.unique(games.deal)):
        try:
            return build(covariates=unequal), unequal
        except RatingError:
            pass  # not identifiable, for example if only one player has a handicap; other errors recur below
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

"""Encode games between players in seats as features for the Plackett-Luce model.

A player's worth in a game is ``exp(strength + seat effect + covariates @ coefficients)``. Only differences are
identified: strengths are relative to a reference player, and seat effects sum to zero. The first P - 1 parameters are
strengths, the next S - 1 seat effects (that of the last seat is minus their sum), the others coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.rating import RatingError
from helsinki_env.evaluation.rating.plackett_luce import Array, Rankings, VirtualDraws, derivatives, orders_of_finish
from helsinki_env.utils.extras import requires_extra

with requires_extra("arena"):
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

Integers = npt.NDArray[np.integer]


@dataclass(frozen=True)
class RatingModel:
    """Games encoded for the fit."""

    rankings: Rankings  # the games
    virtual: VirtualDraws  # one virtual draw between players who met, and one between seats (`VirtualDraws`)
    player_map: Array  # ``player_map @ theta`` are the players' strengths, float64 (P, K)
    seat_map: Array  # ``seat_map @ theta`` are the seats' effects, float64 (S, K)
    covariate_map: Array  # ``covariate_map @ theta`` are the coefficients of the covariates, float64 (C, K)
    units: npt.NDArray[np.int64]  # numbers of the independent units in ascending order, int64 (D,)


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
    """Encode games as features."""
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

    # Equal (player, seat, covariates) are one kind, and a game is the order in which kinds finished; ties are split
    # into weighted orders.
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
    _check_told_apart(rankings, parameters)

    pairs = [player_map[i] - player_map[j] for i, j in zip(*np.nonzero(np.triu(met, 1)), strict=True)]
    pairs += [seat_map[i] - seat_map[j] for i in range(seats) for j in range(i + 1, seats)]
    virtual = VirtualDraws.of(np.array(pairs), virtual_games)
    covariate_map = np.eye(parameters)[parameters - extra :]
    return RatingModel(rankings, virtual, player_map, seat_map, covariate_map, names.astype(np.int64))


def _check(players: Sequence[str], seating: Integers, places: Integers, units: Integers) -> None:
    if seating.ndim != 2 or seating.shape != places.shape or units.shape != seating.shape[:1]:
        raise RatingError(
            f"found seating {seating.shape}, places {places.shape} and units {units.shape}, "
            "expected (games, seats), the same, and (games,)"
        )
    if not len(seating) or seating.shape[1] < 2:
        raise RatingError(f"found {len(seating)} games of {seating.shape[1]} seats, expected some of at least 2")
    if len(players) < 2:
        raise RatingError(f"found {len(players)} player ({', '.join(players)}), expected at least 2 to compare")
    if seating.min() < 0 or seating.max() >= len(players):
        wrong = int(seating.min() if seating.min() < 0 else seating.max())
        raise RatingError(f"seating: found player {wrong}, expected 0 to {len(players) - 1}")
    better = (places[:, None, :] < places[:, :, None]).sum(axis=2)
    sound = (places == better).all(axis=1)
    if not sound.all():
        game = int(np.argmin(sound))
        raise RatingError(
            f"places: found {places[game].tolist()} in game {game}, expected for each seat how many did better: "
            f"0 to {places.shape[1] - 1}, such as {better[game].tolist()}"
        )


def _meetings(count: int, seating: Integers) -> npt.NDArray[np.bool_]:
    """Return which players met, bool (P, P)."""
    met = np.zeros((count, count), np.bool_)
    for seat in range(seating.shape[1]):
        met[seating[:, seat, None], seating] = True
    return met


def _check_connected(players: Sequence[str], met: npt.NDArray[np.bool_]) -> None:
    number, group = connected_components(met, directed=False)
    if number > 1:
        groups = [[name for name, own in zip(players, group, strict=True) if own == g] for g in range(number)]
        raise RatingError(
            f"found {number} groups of players with no game between them: "
            f"{'; '.join(', '.join(names) for names in groups)}; ratings compare only who met, directly or through "
            "others: play games between the groups, or rate each alone"
        )


def _check_told_apart(rankings: Rankings, parameters: int) -> None:
    """Check that every direction of theta changes some probability."""
    nothing = VirtualDraws.of(np.zeros((0, parameters)), 0.0)
    information = -derivatives(np.zeros(parameters), rankings, nothing).hessian
    scale = np.sqrt(np.diag(information))
    if (scale == 0).any() or np.linalg.eigvalsh(information / np.outer(scale, scale))[0] < 1e-9:
        raise RatingError(
            "found features of which some are combinations of others, expected players, seats and covariates that can "
            "be told apart: let every player sit in every seat, and leave out covariates that never differ in a game"
        )

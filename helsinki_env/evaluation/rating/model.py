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

with requires_extra("stats"):
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

Integers = npt.NDArray[np.integer]


@dataclass(frozen=True)
class RatingModel:
    """Games encoded for the fit."""

    rankings: Rankings
    virtual: VirtualDraws  # draws between players that met, and between seats
    player_map: Array  # (P, K), ``player_map @ theta`` are the players' strengths
    seat_map: Array  # (S, K), ``seat_map @ theta`` are the seats' effects
    covariate_map: Array  # (C, K), ``covariate_map @ theta`` are the coefficients of the covariates
    units: npt.NDArray[np.int64]  # (D,), numbers of the independent units in ascending order


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
        seating: the player in each seat, indices into `players`, (G, S). A player may sit in several seats of a game.
        places: rank of each seat, (G, S): the number of seats that did better; for ties see
            `helsinki_env.evaluation.rating.plackett_luce`.
        units: unit (deal) of each game, (G,); games of different units are independent.
        reference: index of the player whose strength is zero.
        covariates: covariates of a seat in a game, float64 (G, S, C), of order 1. Virtual draws do not shrink their
            coefficients.
        virtual_games: number of virtual draws for each pair of players that met and each pair of seats.

    Raises:
        RatingError: for incompatible shapes, players that are not connected by games, or unidentifiable effects.
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

    # Equal (player, seat, covariates) are one kind. A game is an order of kinds; ties are split into weighted orders.
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
            f"places: found {places[game].tolist()} in game {game}, expected {better[game].tolist()}: for each seat "
            "the number of seats that did better"
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
            f"players: found {number} groups without a game between them "
            f"({'; '.join(', '.join(names) for names in groups)}), expected one; play games between the groups, or "
            "rate each group separately"
        )


def _check_identifiable(rankings: Rankings, parameters: int) -> None:
    """Raise RatingError unless every direction of theta changes some probability."""
    no_draws = VirtualDraws.of(np.zeros((0, parameters)), 0.0)
    information = -derivatives(np.zeros(parameters), rankings, no_draws).hessian
    scale = np.sqrt(np.diag(information))
    if (scale == 0).any() or np.linalg.eigvalsh(information / np.outer(scale, scale))[0] < 1e-9:
        raise RatingError(
            "effects: found dependent features, expected identifiable effects of players, seats and covariates; "
            "let every player sit in every seat, and omit covariates that never differ in a game"
        )

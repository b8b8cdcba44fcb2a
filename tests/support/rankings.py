"""Simulated games whose strengths are known exactly, although games with one deal depend on each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from helsinki_env.evaluation.arena.load import RatableGames
from helsinki_env.evaluation.rating.plackett_luce import Fit, VirtualDraws, maximize_likelihood
from helsinki_env.evaluation.rating.ratings import RatingModel, bootstrap_fits


def simulate(
    strengths: Sequence[float],
    seats: Sequence[float] | npt.NDArray[np.float64],
    deals: int,
    rng: np.random.Generator,
    *,
    seat_luck: float = 0.3,
    player_luck: float = 0.3,
    names: Sequence[str] | None = None,
    lineups: Sequence[Sequence[int]] | None = None,
    actions: Sequence[float] | None = None,
    covered: int = 0,
) -> RatableGames:
    """Play every deal once for each rotation of every line-up.

    The player with the largest strength + seat effect + luck comes first, where luck has a Gumbel distribution. For
    each game, this is exactly a Plackett-Luce model (Yellott 1977). Luck is a transformed normal variable. Games of a
    deal share parts of its variance: `seat_luck` in the same seat (good cards), `player_luck` for the same player
    (cards that suit it).
    With `actions`, the values of the fifteen actions, every player is denied five of them, which differ between deals.
    In every other deal, the first `covered` are covered for all, so that denying them costs nothing.
    """
    size, count = len(seats), len(strengths)
    meeting = np.array(list(combinations(range(count), size)) if lineups is None else lineups)
    rotations = (np.arange(size)[:, None] + np.arange(size)) % size
    seating = np.tile(meeting[:, rotations].reshape(-1, size), (deals, 1))
    deal = np.repeat(np.arange(deals), len(seating) // deals)
    normal = (
        np.sqrt(seat_luck) * rng.standard_normal((deals, size))[deal]
        + np.sqrt(player_luck) * rng.standard_normal((deals, count))[deal[:, None], seating]
        + np.sqrt(1 - seat_luck - player_luck) * rng.standard_normal(seating.shape)
    )
    worth = np.asarray(strengths)[seating] + np.asarray(seats) - np.log(-np.log(ndtr(normal)))
    missing = np.zeros((*seating.shape, 15), np.bool_)
    if actions is not None:
        ranks = rng.random((deals, count, 15)).argsort(axis=2).argsort(axis=2)
        missing = (ranks < 5)[deal[:, None], seating]
        usable = np.ones((deals, 15), np.bool_)
        usable[::2, :covered] = False
        worth -= (missing & usable[deal][:, None]) @ np.asarray(actions)
    places = np.argsort(np.argsort(-worth, axis=1), axis=1)
    return RatableGames(
        name=f"{size} players",
        players=tuple(names or (f"p{i}" for i in range(count))),
        seating=seating,
        deal=deal,
        places=places.astype(np.int8),
        scores=(10 * (size - places)).astype(np.int16),
        covered=np.where(deal % 2 == 0, (1 << covered) - 1, 0).astype(np.int16),
        denied=(missing @ (1 << np.arange(15))).astype(np.int16),
    )


def check_resamples(model: RatingModel, fitted: Fit, count: int) -> None:
    """Compare bootstrap fits with the maximum of the likelihood of each resample of 20 deals."""
    samples, rng = bootstrap_fits(model, fitted, count, seed=9), np.random.default_rng(9)
    draws = rng.multinomial(20, np.full(20, 1 / 20), size=count)
    size = len(model.virtual.wins)
    wins, losses = (model.virtual.wins[:, None] * rng.standard_exponential((size, count)) for _ in "wl")
    for r in range(count):
        virtual = VirtualDraws(model.virtual.contrasts, wins[:, r], losses[:, r])
        alone, _ = maximize_likelihood(model.rankings, virtual, model.rankings.counts.T @ draws[r].astype(float))
        np.testing.assert_allclose(samples[r], alone, atol=1e-4)

"""Simulated screens of the action board, of several kinds of luck, and the true effect of every action in them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.arena.designs import MAX_DENIABLE_IDS, random_sets, relabeled
from helsinki_env.evaluation.balance.effects import AblationGames

__all__ = ["DESIGN", "KINDS", "Kind", "simulated", "true_effects"]

Array = npt.NDArray[np.float64]
Kind = Literal["plackett_luce", "stages", "heavy_tails", "shared_luck"]

DESIGN = relabeled(8, seed=0)
KINDS: tuple[Kind, ...] = ("plackett_luce", "stages", "heavy_tails", "shared_luck")
"""How games are decided:

- ``plackett_luce``: the Plackett-Luce model itself, with normal luck of a seat with the deal;
- ``stages``: the same winner, but the ranks below are drawn with 0.4 times the utility, as if lower ranks were noisier;
- ``heavy_tails``: one total per seat, with noise by Student's t of 2 degrees of freedom;
- ``shared_luck``: a deal decides much (normal, 1.5 of a logistic scale), and more for a seat that is denied nothing of
  the first five actions: luck, denial and the deal interact.
"""


def _drawn(seats: int, blocks: int, generator: np.random.Generator) -> tuple[npt.NDArray[np.bool_], Array]:
    """Return what each place of every block is denied, bool (D, S, A), and the luck of each seat, float64 (D, S)."""
    sets = DESIGN[generator.integers(0, len(DESIGN), (blocks, seats))]
    loose = generator.random(blocks) < 0.2
    sets[loose] = random_sets(int(loose.sum()) * seats, 0, 10, generator).reshape(-1, seats, MAX_DENIABLE_IDS)
    return sets, generator.standard_normal((blocks, seats))


def _rotated(sets: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    seats = sets.shape[1]
    return np.concatenate([np.roll(sets, turn, axis=1) for turn in range(seats)])


def _luck(kind: Kind, deal: Array, denied: npt.NDArray[np.bool_], luck: float) -> Array:
    own = np.tile(deal, (denied.shape[1], 1))
    if kind != "shared_luck":
        return luck * own
    return 1.5 * own * np.where(denied[:, :, :5].any(axis=2), 0.6, 1.0)


def _noise(kind: Kind, shape: tuple[int, ...], generator: np.random.Generator) -> Array:
    return generator.standard_t(2, shape) if kind == "heavy_tails" else generator.gumbel(size=shape)


def simulated(
    power: Array, seats: int, blocks: int, seed: int, luck: float = 0.3, kind: Kind = "plackett_luce"
) -> AblationGames:
    """Return simulated games; all rotations of a block share the luck of a seat with the deal.

    Args:
        power: what being denied each action takes from a seat's utility, float64 (A,).
        seats: S.
        blocks: D.
        seed: of everything.
        luck: standard deviation of a seat's luck with the deal.
        kind: one of `KINDS`.
    """
    generator = np.random.default_rng(seed)
    sets, deal = _drawn(seats, blocks, generator)
    denied = _rotated(sets)
    utility = _luck(kind, deal, denied, luck) - denied @ power
    total = utility + _noise(kind, utility.shape, generator)
    if kind == "stages":
        winner = total.argmax(axis=1)
        total = 0.4 * utility + generator.gumbel(size=utility.shape)
        total[np.arange(len(total)), winner] = np.inf
    places = (-total).argsort(axis=1).argsort(axis=1)
    return AblationGames(denied, places, np.tile(np.arange(blocks), seats))


def true_effects(
    power: Array, seats: int, luck: float = 0.3, kind: Kind = "plackett_luce", blocks: int = 100_000
) -> Array:
    """Return the true average marginal effect of each action, in games of a hundred, float64 (A,).

    Every seat of every game is played with the action and without it, with the same luck.
    """
    generator = np.random.default_rng(20261126)
    sets, deal = _drawn(seats, blocks, generator)
    denied = _rotated(sets)
    noise = _noise(kind, denied.shape[:2], generator)
    total = _luck(kind, deal, denied, luck) - denied @ power + noise
    effects = np.zeros(MAX_DENIABLE_IDS)
    best_other = np.stack([np.delete(total, seat, axis=1).max(axis=1) for seat in range(seats)], axis=1)
    for action in range(MAX_DENIABLE_IDS):
        won = []
        for missing in (False, True):
            changed = denied.copy()
            changed[:, :, action] = missing
            won.append((_luck(kind, deal, changed, luck) - changed @ power + noise > best_other).mean())
        effects[action] = 100 * (won[0] - won[1])
    return effects

"""Model of the marginal effects of actions as functions of the board, fitted to games on boards with random changes.

Every seat of every game is denied actions by the design of the screening experiment. The boards differ in the cost and
strength of actions, or in which five are covered. The effect of an action is quadratic in the numbers of that action,
with their interaction. If actions are covered, each other covered action adds a constant. A number may also move the
effects of all actions, because it shortens games or makes coats of arms scarcer. One linear term for each number moves
the level of the board.

The model is linear in who won, compared within games (`helsinki_env.evaluation.balance.margins`). A ridge penalty
shrinks the slopes that the games do not determine; its strength is estimated from the games (MacKay 1992, "Bayesian
interpolation", Neural Computation 4). The model only guides the search: every proposal is played.

Letters in shapes: G games, S seats, A actions, N boards, F numbers, M terms, K coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import AblationGames
from helsinki_env.evaluation.balance.helsinki.tune.numbers import (
    BoardArray,
    BoardNumber,
    BoardValues,
    published_board,
    searches_covers,
)
from helsinki_env.evaluation.balance.margins import against_others, contrasts
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS

Array = npt.NDArray[np.float64]

_ROUNDS = 200
_A = len(BOARD_ACTIONS)
#: Scale of the terms that move all actions. All terms share one penalty, so a smaller scale shrinks these more. Of 1,
#: 1/4, 1/8, 1/16, 1/24, 1/32 and 0 it best predicts held-out boards (60 boards of `heuristic`, two and four players,
#: four folds).
_SHARED = 1 / 32


class Terms:
    """Terms of the model: the actions each applies to, and its value on a board.

    `weight` is that of each term for each action, float64 (M, A): 1 for the action of the term, `_SHARED` for all
    actions if the term moves the level.
    """

    def __init__(self, numbers: Sequence[BoardNumber]) -> None:
        self._covers = searches_covers(numbers)
        self._published = np.array(published_board(numbers), np.float64)
        self._reach = np.array([number.reach for number in numbers], np.float64)
        owner = []
        factors: list[tuple[int, ...]] = []
        for i, number in enumerate(numbers):
            if self._covers:
                others = [action for action in range(_A) if action != number.action]
                owner += others
                factors += [(i,)] * len(others)
                continue
            owner.append(number.action)
            factors.append((i,))
            if len(number.others) > 1:
                owner.append(number.action)
                factors.append((i, i))
        for i, number in enumerate(numbers):
            for j, other in enumerate(numbers[:i]):
                if other.action == number.action:
                    owner.append(number.action)
                    factors.append((j, i))
        self.weight = (np.array(owner)[:, None] == np.arange(_A)).astype(np.float64)
        if not self._covers:
            factors += [(i,) for i in range(len(numbers))]
            self.weight = np.concatenate([self.weight, np.full((len(numbers), _A), _SHARED)])
        self._factors = factors

    def __len__(self) -> int:
        """Return the number of terms, M."""
        return len(self._factors)

    def of(self, boards: BoardArray) -> Array:
        """Return every term on some boards, float64 (N, M), all 0 on the published board."""
        apart = (boards - self._published) / self._reach
        return np.stack([apart[:, list(columns)].prod(axis=1) for columns in self._factors], axis=1)

    def open(self, boards: BoardArray) -> npt.NDArray[np.bool_]:
        """Return which actions are not covered on some boards, bool (N, A)."""
        return boards == 0 if self._covers else np.ones((len(boards), _A), np.bool_)


@dataclass(frozen=True)
class EffectModel:
    """Marginal effects on any board, with one number of players."""

    terms: Terms
    power: Array  # effect of every action on the published board, win %, float64 (A,)
    slopes: Array  # effect of each term on the power of its action, float64 (M,)

    def powers(self, boards: BoardArray) -> Array:
        """Return the marginal effect of every action on some boards, float64 (N, A)."""
        powers: Array = self.power + (self.terms.of(boards) * self.slopes) @ self.terms.weight
        return powers

    def deviations(self, boards: BoardArray) -> Array:
        """Return the effects minus their mean on each board, float64 (N, A); 0 for covered actions."""
        powers, available = self.powers(boards), self.terms.open(boards)
        centered: Array = (powers - powers.mean(axis=1, keepdims=True, where=available)) * available
        return centered


class EffectModelData:
    """Sufficient statistics of games with some number of seats on any boards, to which a model is fitted."""

    def __init__(self, numbers: Sequence[BoardNumber], seats: int) -> None:
        self.terms, self.seats = Terms(numbers), seats
        size = seats - 1 + _A + len(self.terms)
        self._gram, self._moment = np.zeros((size, size)), np.zeros(size)
        self._squares, self._observations = 0.0, 0

    def add(self, study: AblationGames, board: BoardValues) -> None:
        """Add the games of a screening experiment on a board."""
        one = np.array([board])
        values = self.terms.of(one)[0]
        denied = (study.denied & self.terms.open(one)).astype(np.float64)
        features = contrasts(np.concatenate([denied, denied @ self.terms.weight.T * values], axis=2))
        rows = features.reshape(-1, features.shape[2])
        outcome = against_others(fractional_wins(study.places)).ravel()
        # The last seat of a game is determined by the others.
        share = (self.seats - 1) / self.seats
        self._gram += share * rows.T @ rows
        self._moment += share * rows.T @ outcome
        self._squares += share * float(outcome @ outcome)
        self._observations += len(study.places) * (self.seats - 1)

    def fit(self) -> EffectModel:
        """Fit the model to the games."""
        free = self.seats - 1 + _A  # coefficients without a penalty
        above, below = self._gram[:free, :free] + 1e-9 * np.eye(free), self._gram[free:, :free]
        # Eliminate the unpenalized coefficients; only the slopes remain in the equations.
        solved = np.linalg.solve(above, np.concatenate([below.T, self._moment[:free, None]], axis=1))
        gram = self._gram[free:, free:] - below @ solved[:, :-1]
        moment = self._moment[free:] - below @ solved[:, -1]
        squares = self._squares - float(self._moment[:free] @ solved[:, -1])
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        values, rotated = np.clip(values, 0.0, None), vectors.T @ moment
        slopes = vectors @ _ridge(values, rotated, squares, max(1, self._observations - free))
        own = (solved[:, -1] - solved[:, :-1] @ slopes)[self.seats - 1 :]
        # A loss of b win share is split equally among the others, so the difference from them is b S / (S - 1).
        points = -100.0 * (self.seats - 1) / self.seats
        return EffectModel(self.terms, points * own, points * slopes)


def _ridge(values: Array, rotated: Array, squares: float, observations: int) -> Array:
    """Return the slopes in the directions of the eigenvectors, (M,), with the penalty estimated from the games.

    Args:
        values: eigenvalues of the information on the slopes, float64 (M,).
        rotated: moments in the directions of the eigenvectors, float64 (M,).
        squares: sum of squares that the slopes may explain.
        observations: degrees of freedom left for the slopes.
    """
    noise, spread = squares / observations, 1e-2
    slopes = np.zeros(len(values))
    for _ in range(_ROUNDS):
        penalty = noise / spread
        slopes = rotated / (values + penalty)
        known = float((values / (values + penalty)).sum())
        left = squares - 2 * float(slopes @ rotated) + float(values @ slopes**2)
        noise = max(left, 1e-9) / max(1.0, observations - known)
        before, spread = spread, float(slopes @ slopes) / max(known, 1e-6) + 1e-9
        if abs(spread - before) < 1e-4 * before:
            break
    return slopes

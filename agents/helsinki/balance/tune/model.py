"""How the worth of an action moves with what changes on the board, learnt from games on boards with random changes.

Every seat of every game is denied actions by the design of the screen, and the boards differ in what actions cost and
how strong they are, or in which five are covered. What being denied an action costs a seat is taken as a curve in the
numbers of that action: a line and a bend in each of them, and how they go together; where actions are covered, as what
each of the others being covered adds to it. A number may also move the effects of all actions, as it makes games
shorter or coats of arms scarcer: one linear term for each number moves the level of the board.

It is a linear model of who won, compared within games (`agents.balance.margins`), with a penalty on the slopes that
keeps those small that the games say little of. How hard it holds them follows from the games (MacKay 1992, "Bayesian
interpolation", Neural Computation 4). It only says where to look: what is proposed is played.

Letters in shapes: G games, S seats, A actions, N boards, F numbers, M terms, K coefficients.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agents.balance.effects import Study
from agents.balance.margins import against_others, contrasts
from agents.helsinki.balance.tune.numbers import Board, Boards, Number, covers, same
from agents.standing import win_shares
from helsinki_env.games.helsinki.action_numbers import ACTIONS

__all__ = ["Evidence", "Model", "Terms"]

Array = npt.NDArray[np.float64]

_ROUNDS = 200
_A = len(ACTIONS)
#: Scale of the terms that move all actions; the penalty, which all terms share, holds them that much harder. Of 1, 1/4,
#: 1/8, 1/16, 1/24, 1/32 and 0 it best predicts boards that the fit leaves out (60 boards of `heuristic`, two and four
#: players, four folds).
_SHARED = 1 / 32


class Terms:
    """The terms of the model: which actions each belongs to, and its value on a board.

    Args:
        numbers: that may change.

    Attributes:
        home: how much each term moves each action, float64 (M, A): 1 for the action of the term, `_SHARED` for all
            actions if the term moves the level.
    """

    def __init__(self, numbers: Sequence[Number]) -> None:
        self._covers = covers(numbers)
        self._was = np.array(same(numbers), np.float64)
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
        self.home = (np.array(owner)[:, None] == np.arange(_A)).astype(np.float64)
        if not self._covers:
            factors += [(i,) for i in range(len(numbers))]
            self.home = np.concatenate([self.home, np.full((len(numbers), _A), _SHARED)])
        self._factors = factors

    def __len__(self) -> int:
        """Return the number of terms, M."""
        return len(self._factors)

    def of(self, boards: Boards) -> Array:
        """Return every term on some boards, float64 (N, M), all 0 where nothing has changed."""
        apart = (boards - self._was) / self._reach
        return np.stack([apart[:, list(columns)].prod(axis=1) for columns in self._factors], axis=1)

    def open(self, boards: Boards) -> npt.NDArray[np.bool_]:
        """Return which actions are not covered on some boards, bool (N, A)."""
        return boards == 0 if self._covers else np.ones((len(boards), _A), np.bool_)


@dataclass(frozen=True)
class Model:
    """What actions are worth on any board, with one number of players.

    Attributes:
        terms: of the model.
        power: of every action where nothing has changed, in points of the share of wins of a hundred, float64 (A,).
        slopes: what each term adds to the power of its action, float64 (M,).
    """

    terms: Terms
    power: Array
    slopes: Array

    def powers(self, boards: Boards) -> Array:
        """Return the power of every action on some boards, float64 (N, A)."""
        found: Array = self.power + (self.terms.of(boards) * self.slopes) @ self.terms.home
        return found

    def deviations(self, boards: Boards) -> Array:
        """Return the powers less their mean on each board, float64 (N, A); 0 for what is covered there."""
        powers, there = self.powers(boards), self.terms.open(boards)
        centred: Array = (powers - powers.mean(axis=1, keepdims=True, where=there)) * there
        return centred


class Evidence:
    """The sums of games, on whatever boards, from which a model follows.

    Args:
        numbers: that may change.
        seats: of the games.
    """

    def __init__(self, numbers: Sequence[Number], seats: int) -> None:
        self.terms, self.seats = Terms(numbers), seats
        size = seats - 1 + _A + len(self.terms)
        self._gram, self._moment = np.zeros((size, size)), np.zeros(size)
        self._squares, self._observations = 0.0, 0

    def add(self, study: Study, board: Board) -> None:
        """Add the games of a screen on a board."""
        one = np.array([board])
        values = self.terms.of(one)[0]
        denied = (study.denied & self.terms.open(one)).astype(np.float64)
        features = contrasts(np.concatenate([denied, denied @ self.terms.home.T * values], axis=2))
        rows = features.reshape(-1, features.shape[2])
        outcome = against_others(win_shares(study.places)).ravel()
        # What happens to the last seat of a game follows from the others.
        share = (self.seats - 1) / self.seats
        self._gram += share * rows.T @ rows
        self._moment += share * rows.T @ outcome
        self._squares += share * float(outcome @ outcome)
        self._observations += len(study.places) * (self.seats - 1)

    def fit(self) -> Model:
        """Return the model that the games speak for."""
        free = self.seats - 1 + _A  # coefficients that nothing holds
        above, below = self._gram[:free, :free] + 1e-9 * np.eye(free), self._gram[free:, :free]
        # Whatever the slopes are, the others follow: only the slopes are left in the equations.
        carried = np.linalg.solve(above, np.concatenate([below.T, self._moment[:free, None]], axis=1))
        gram = self._gram[free:, free:] - below @ carried[:, :-1]
        moment = self._moment[free:] - below @ carried[:, -1]
        squares = self._squares - float(self._moment[:free] @ carried[:, -1])
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        values, turned = np.clip(values, 0.0, None), vectors.T @ moment
        slopes = vectors @ _held(values, turned, squares, max(1, self._observations - free))
        own = (carried[:, -1] - carried[:, :-1] @ slopes)[self.seats - 1 :]
        # Who loses b of its share leaves it to the others, in equal parts: compared with them it loses b S / (S - 1).
        points = -100.0 * (self.seats - 1) / self.seats
        return Model(self.terms, points * own, points * slopes)


def _held(values: Array, turned: Array, squares: float, observations: int) -> Array:
    """Return slopes, (M,), held as hard as the games say.

    Args:
        values: of the information on the slopes, in directions that do not touch each other, float64 (M,).
        turned: the moments in these directions, float64 (M,).
        squares: sum of squares that the slopes may explain.
        observations: how many are left for them.
    """
    noise, spread = squares / observations, 1e-2
    slopes = np.zeros(len(values))
    for _ in range(_ROUNDS):
        held = noise / spread
        slopes = turned / (values + held)
        known = float((values / (values + held)).sum())
        left = squares - 2 * float(slopes @ turned) + float(values @ slopes**2)
        noise = max(left, 1e-9) / max(1.0, observations - known)
        before, spread = spread, float(slopes @ slopes) / max(known, 1e-6) + 1e-9
        if abs(spread - before) < 1e-4 * before:
            break
    return slopes

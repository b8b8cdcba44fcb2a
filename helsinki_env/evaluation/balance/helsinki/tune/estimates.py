"""Estimates for boards, from their own screening experiments and from a model fitted to games on many boards.

There are three kinds of estimates for each board and player count: the marginal effect of each board action, the
*level* (the mean of these effects), and the deviation of each effect from the level. A search based on deviations alone
would favor boards on which no action matters, so the level is considered too.

All intervals of a call use the same quantile (`helsinki_env.evaluation.balance.effects.simultaneous_quantile`) and hold
simultaneously for effects, deviations, levels, differences between levels and the floor, and shortfalls (for the aim
"lift"). Boards are treated as independent. If they share deals, the intervals are too wide rather than too narrow.

**Model.** The design of the screening experiment denies actions to every seat of every game. The boards differ in the
costs and strengths of actions, or in the five covered actions. The effect of an action is quadratic in its own
parameters (cost and strength), with an interaction. If actions are covered, each other covered action adds a constant.
A parameter may also change the effects of all actions, for example if it shortens games or makes coats of arms scarcer.
The model therefore has a linear term for the effect of each parameter on the level.

The outcome is winning, compared within games (`helsinki_env.evaluation.balance.effects`). A ridge penalty, which is
estimated from the games (MacKay 1992, "Bayesian interpolation", Neural Computation 4), shrinks slopes that the games do
not determine. The model only guides the search. Every proposal is tested in games.

Letters in shapes: G games, S seats, A actions, N boards, F parameters, M terms, K coefficients, P player counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    WinEffects,
    against_others,
    contrasts,
    estimate_win_effects,
    simultaneous_quantile,
)
from helsinki_env.evaluation.balance.helsinki.conclusions import Finding
from helsinki_env.evaluation.balance.helsinki.tune.config import (
    LIFT,
    BoardArray,
    BoardNumber,
    BoardValues,
    TuneConfig,
    published_board,
    searches_covers,
)
from helsinki_env.evaluation.match_stats import fractional_wins
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import linalg

Array = npt.NDArray[np.float64]

_ROUNDS = 200
_A = len(BOARD_ACTIONS)
#: Scale of the terms for the level. All terms share one penalty, so a smaller scale means more shrinkage. Among 1, 1/4,
#: 1/8, 1/16, 1/24, 1/32 and 0, this value best predicts held-out boards (60 boards played by `heuristic`, two and four
#: players, four folds).
_SHARED = 1 / 32


class Terms:
    """Terms of the model: their weights for each action, and their values on boards.

    `weight`, float64 (M, A), is 1 for the action to which a term belongs. If the term is for the level, it is `_SHARED`
    for all actions.
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
        """Return the values of all terms on boards, float64 (N, M). They are 0 on the published board."""
        apart = (boards - self._published) / self._reach
        return np.stack([apart[:, list(columns)].prod(axis=1) for columns in self._factors], axis=1)

    def open(self, boards: BoardArray) -> npt.NDArray[np.bool_]:
        """Return which actions are not covered on each board, bool (N, A)."""
        return boards == 0 if self._covers else np.ones((len(boards), _A), np.bool_)


@dataclass(frozen=True)
class EffectModel:
    """Model of the marginal effects of actions on any board, for one player count."""

    terms: Terms
    power: Array  # effect of each action on the published board, win %, float64 (A,)
    slopes: Array  # effect of each term on the marginal effect of its action, float64 (M,)

    def powers(self, boards: BoardArray) -> Array:
        """Return the marginal effect of each action on each board, float64 (N, A)."""
        powers: Array = self.power + (self.terms.of(boards) * self.slopes) @ self.terms.weight
        return powers


class EffectModelData:
    """Sufficient statistics for fitting a model to games on any boards, for one number of seats."""

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
        # The last seat of a game follows from the others.
        share = (self.seats - 1) / self.seats
        self._gram += share * rows.T @ rows
        self._moment += share * rows.T @ outcome
        self._squares += share * float(outcome @ outcome)
        self._observations += len(study.places) * (self.seats - 1)

    def fit(self) -> EffectModel:
        """Fit the model to the games."""
        free = self.seats - 1 + _A  # number of coefficients without a penalty
        above, below = self._gram[:free, :free] + 1e-9 * np.eye(free), self._gram[free:, :free]
        # Eliminate the coefficients without a penalty.
        solved = np.linalg.solve(above, np.concatenate([below.T, self._moment[:free, None]], axis=1))
        gram = self._gram[free:, free:] - below @ solved[:, :-1]
        moment = self._moment[free:] - below @ solved[:, -1]
        squares = self._squares - float(self._moment[:free] @ solved[:, -1])
        values, vectors = np.linalg.eigh((gram + gram.T) / 2)
        values, rotated = np.clip(values, 0.0, None), vectors.T @ moment
        slopes = vectors @ _ridge(values, rotated, squares, max(1, self._observations - free))
        own = (solved[:, -1] - solved[:, :-1] @ slopes)[self.seats - 1 :]
        # A loss of b is shared equally by the other seats, so the difference from their mean is b S / (S - 1).
        points = -100.0 * (self.seats - 1) / self.seats
        return EffectModel(self.terms, points * own, points * slopes)


def _ridge(values: Array, rotated: Array, squares: float, observations: int) -> Array:
    """Return the slopes in the basis of the eigenvectors, (M,), with a penalty estimated from the games.

    `values`, (M,), are the eigenvalues of the information matrix of the slopes. `rotated`, (M,), are the moments in the
    basis of its eigenvectors. `squares` is the sum of squares without the slopes, with `observations` degrees of
    freedom.
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


DEAD_ACTION_EFFECT = 1.0
"""Marginal effect, in games per 100, below which an action is *dead*: it hardly matters."""
_TWO_SIDED_95 = 1.96


@dataclass(frozen=True)
class ScreeningGames:
    """Games of a screening experiment."""

    study: AblationGames
    used: npt.NDArray[np.bool_]  # whether each seat used each action, (G, S, A)


class Interval(NamedTuple):
    """An estimate with the endpoints of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class BoardLevel:
    """Importance of the actions on a board, for one player count."""

    players: int
    level: Interval  # mean marginal effect of the actions that are not covered, in games per 100
    #: Level as a percentage of the published level. None for the published board, or if the interval is unbounded.
    share: Interval | None
    effects: dict[str, Interval]  # marginal effect of each action that is not covered, by name
    use: dict[str, Interval]  # % of seats with access to an action that used it, by name, with individual 95% intervals

    @property
    def dead(self) -> list[str]:
        """Names of the actions whose estimated effect is below `DEAD_ACTION_EFFECT`."""
        return [name for name, effect in self.effects.items() if effect.value < DEAD_ACTION_EFFECT]

    @property
    def dead_count(self) -> Interval:
        """Number of dead actions. Its endpoints count the intervals entirely and partly below `DEAD_ACTION_EFFECT`."""
        effects = self.effects.values()
        low, high = (
            sum(end < DEAD_ACTION_EFFECT for end in ends)
            for ends in zip(*((e.high, e.low) for e in effects), strict=True)
        )
        return Interval(len(self.dead), low, high)


@dataclass(frozen=True)
class BoardEstimates:
    """Estimates for a board. The intervals hold simultaneously for all boards of the part."""

    board: BoardValues
    findings: tuple[Finding, ...]  # deviation of each action at each player count
    levels: tuple[BoardLevel, ...]  # one for each player count
    distance: Interval  # distance from the aim (`TuneConfig.aim`) at the worst player count
    above_floor: bool  # whether the level is significantly above the floor at every player count


def open_action_effects(study: AblationGames, available: npt.NDArray[np.bool_]) -> WinEffects:
    """Return the effects of the actions that are not covered, as given by `available`, bool (A,)."""
    return estimate_win_effects(replace(study, denied=study.denied[..., available]))


def estimate_boards(
    config: TuneConfig, boards: Sequence[BoardValues], screenings: Sequence[ScreeningGames]
) -> list[BoardEstimates]:
    """Return the estimates for boards, starting with the published one.

    The experiments must be ordered by board and player count.
    """
    available = Terms(config.free).open(np.array(boards, np.int64)).repeat(len(config.players), axis=0)
    family = _Family(
        config, [open_action_effects(*one) for one in zip((s.study for s in screenings), available, strict=True)]
    )
    out = []
    for i, board in enumerate(boards):
        findings, levels = [], []
        for j, players in enumerate(config.players):
            k = i * len(config.players) + j
            names = [name for name, is_open in zip(BOARD_ACTIONS, available[k], strict=True) if is_open]
            effects = [family.interval(row) for row in family.rows[k]]
            for name, effect, row in zip(names, effects, family.centered(k), strict=True):
                one, error = family.interval(row), family.error(row)
                findings.append(
                    Finding(players, config.player, 0, name, effect.value, one.value, error, one.low, one.high)
                )
            level, share = family.interval(family.levels[k]), family.share(k) if i else None
            by_name = (dict(zip(names, each, strict=True)) for each in (effects, _use(screenings[k], available[k])))
            levels.append(BoardLevel(players, level, share, *by_name))
        kept = not config.floor or all(family.interval(row).low >= 0 for row in family.above_floor(i))
        out.append(BoardEstimates(board, tuple(findings), tuple(levels), family.distance(i, findings), kept))
    return out


class _Family:
    """Linear combinations of all effects, with one quantile. `rows` selects the effects of each experiment."""

    def __init__(self, config: TuneConfig, effects: Sequence[WinEffects]) -> None:
        self._config, self._count = config, len(config.players)
        self._effects = np.concatenate([one.power for one in effects])
        self._covariance: Array = linalg.block_diag(*(one.covariance for one in effects))
        self.rows = np.split(np.eye(len(self._effects)), np.cumsum([len(one.power) for one in effects])[:-1])
        self.levels = [rows.mean(axis=0) for rows in self.rows]
        boards = range(len(effects) // self._count)
        every = np.concatenate(
            [
                *(self.centered(k) for k in range(len(effects))),
                *self.rows,
                np.array(self.levels),
                *(self.above_floor(i) for i in boards if i and config.floor),
                *(self.below_published(k) for k in range(len(effects)) if config.aim == LIFT),
            ]
        )
        covariance = every @ self._covariance @ every.T
        uncertain = np.diag(covariance) > 0
        self._quantile = simultaneous_quantile(covariance[np.ix_(uncertain, uncertain)], config.level)

    def centered(self, k: int) -> Array:
        """Return the rows for the deviations in a screening experiment, (A, all effects)."""
        centered: Array = self.rows[k] - self.levels[k]
        return centered

    def above_floor(self, i: int) -> Array:
        """Return the rows for the levels of a board minus the floor, (P, all effects)."""
        pairs = [(self.levels[i * self._count + j], self.levels[j]) for j in range(self._count)]
        return np.array([own - self._config.floor * published for own, published in pairs])

    def below_published(self, k: int) -> Array:
        """Return the rows for the published level minus each effect of a screening experiment, (A, all effects)."""
        rows: Array = self.levels[k % self._count] - self.rows[k]
        return rows

    def shortfall(self, k: int) -> Interval:
        """Return the mean shortfall in a screening experiment; actions that do not fall short count as 0."""
        rows = self.below_published(k)
        short = rows @ self._effects - self._config.equivalence_margin
        half = self._quantile * np.array([self.error(row) for row in rows])
        return Interval(*(float(np.maximum(0.0, ends).mean()) for ends in (short, short - half, short + half)))

    def error(self, row: Array) -> float:
        """Return the standard error of a linear combination."""
        return sqrt(max(0.0, float(row @ self._covariance @ row)))

    def interval(self, row: Array) -> Interval:
        """Return the interval of a linear combination."""
        middle = float(row @ self._effects)
        half = self._quantile * self.error(row)
        return Interval(middle, middle - half, middle + half)

    def distance(self, i: int, findings: Sequence[Finding]) -> Interval:
        """Return the distance of board i from the aim at the worst player count."""
        if self._config.aim == LIFT:
            ends = [self.shortfall(k) for k in range(i * self._count, (i + 1) * self._count)]
        else:
            margin = self._config.equivalence_margin
            ends = [
                Interval(
                    abs(one.deviation) - margin, max(one.low, -one.high) - margin, max(-one.low, one.high) - margin
                )
                for one in findings
            ]
        values, lows, highs = ([getattr(end, name) for end in ends] for name in ("value", "low", "high"))
        return Interval(max(0.0, *values), max(0.0, *lows), max(0.0, *highs))

    def share(self, k: int) -> Interval | None:
        """Return the level as % of the published level (Fieller 1954), or None if its interval is unbounded."""
        own, published = self.interval(self.levels[k]), self.interval(self.levels[k % self._count])
        own_half, published_half = own.high - own.value, published.high - published.value
        square = published.value**2 - published_half**2
        if published.low <= 0:
            return None
        middle = own.value * published.value
        root = sqrt(max(0.0, middle**2 - square * (own.value**2 - own_half**2)))
        low, high = (middle - root) / square, (middle + root) / square
        return Interval(100 * own.value / published.value, 100 * low, 100 * high)


def _use(screening: ScreeningGames, available: npt.NDArray[np.bool_]) -> list[Interval]:
    """Return the percentage of seats with access to an action that used it, with errors clustered by paired games."""
    had = ~screening.study.denied[..., available]
    used = screening.used[..., available] & had
    _, unit = np.unique(screening.study.block, return_inverse=True)
    could, did = (
        np.array([np.bincount(unit.ravel(), of.sum(axis=1)[:, i]) for i in range(of.shape[2])]) for of in (had, used)
    )  # (A, paired games)
    seats = np.maximum(1.0, could.sum(axis=1))
    share = did.sum(axis=1) / seats
    blocks = could.shape[1]
    apart = (did - share[:, None] * could) / seats[:, None]
    half = _TWO_SIDED_95 * np.sqrt((apart**2).sum(axis=1) * blocks / max(1, blocks - 1))
    return [
        Interval(100 * middle, max(0.0, 100 * (middle - width)), min(100.0, 100 * (middle + width)))
        for middle, width in zip(share.tolist(), half.tolist(), strict=True)
    ]

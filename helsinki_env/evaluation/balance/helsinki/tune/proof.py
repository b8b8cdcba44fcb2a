"""Estimates for boards from screening experiments, with simultaneous intervals.

Each board has three kinds of estimates for each number of players. They are the marginal effect of every board action,
the *level*, which is the mean of these effects, and the deviation of each effect from the level. A search that only
considers deviations rewards boards on which no action matters, so the level is estimated along with them.

All intervals of one call use one quantile (`helsinki_env.evaluation.balance.effects.simultaneous_quantile`). It covers
the effects, the deviations, the levels, the differences between each level and the floor, and the shortfalls of the aim
"lift". Boards are treated as independent. If they share deals, the intervals are too wide rather than too narrow.

Letters in shapes: G games, S seats, A actions, P numbers of players, B boards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
import numpy.typing as npt

from helsinki_env.evaluation.balance.effects import (
    AblationGames,
    WinEffects,
    estimate_win_effects,
    simultaneous_quantile,
)
from helsinki_env.evaluation.balance.helsinki.conclusions import Finding
from helsinki_env.evaluation.balance.helsinki.tune.config import LIFT, TuneConfig
from helsinki_env.evaluation.balance.helsinki.tune.model import Terms
from helsinki_env.evaluation.balance.helsinki.tune.numbers import BoardValues
from helsinki_env.games.helsinki.action_numbers import BOARD_ACTIONS
from helsinki_env.utils.extras import requires_extra

with requires_extra("stats"):
    from scipy import linalg

__all__ = [
    "DEAD_ACTION_EFFECT",
    "BoardEstimates",
    "BoardLevel",
    "Interval",
    "ScreeningGames",
    "estimate_boards",
    "open_action_effects",
]

Array = npt.NDArray[np.float64]

DEAD_ACTION_EFFECT = 1.0
"""An action with a smaller marginal effect, in games of a hundred, is *dead*: a seat hardly misses it."""
_TWO_SIDED_95 = 1.96


@dataclass(frozen=True)
class ScreeningGames:
    """Games of a screening experiment.

    Attributes:
        study: denied actions and ranks of every seat.
        used: actions that each seat used, bool (G, S, A).
    """

    study: AblationGames
    used: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class BoardLevel:
    """Importance of the actions of a board, with one number of players.

    Attributes:
        players: number of players.
        level: mean marginal effect of the actions that are not covered, in games of a hundred.
        share: level as a percentage of the level of the published board; None if the games do not determine it, and on
            the published board itself.
        effects: marginal effect of each action that is not covered, by name.
        use: percentage of the seats that used an action, among those that could, by name; 95% intervals of one action
            each.
    """

    players: int
    level: Interval
    share: Interval | None
    effects: dict[str, Interval]
    use: dict[str, Interval]

    @property
    def dead(self) -> list[str]:
        """Names of the actions whose estimated effect is below `DEAD_ACTION_EFFECT`."""
        return [name for name, effect in self.effects.items() if effect.value < DEAD_ACTION_EFFECT]

    @property
    def dead_count(self) -> Interval:
        """Number of dead actions, from intervals wholly below `DEAD_ACTION_EFFECT` to those not wholly above."""
        effects = self.effects.values()
        low, high = (
            sum(end < DEAD_ACTION_EFFECT for end in ends)
            for ends in zip(*((e.high, e.low) for e in effects), strict=True)
        )
        return Interval(len(self.dead), low, high)


@dataclass(frozen=True)
class BoardEstimates:
    """Estimates for a board; the intervals hold simultaneously for all boards of the part.

    Attributes:
        board: the board.
        findings: deviation of every action, for every number of players.
        levels: level, effects and use, for every number of players.
        distance: distance of the board from the aim, at the worst number of players (`TuneConfig.aim`).
        kept: whether the level surely is at least the floor, with every number of players.
    """

    board: BoardValues
    findings: tuple[Finding, ...]
    levels: tuple[BoardLevel, ...]
    distance: Interval
    kept: bool


def open_action_effects(study: AblationGames, there: npt.NDArray[np.bool_]) -> WinEffects:
    """Return the effects of the actions that are not covered, bool (A,)."""
    return estimate_win_effects(replace(study, denied=study.denied[..., there]))


def estimate_boards(
    config: TuneConfig, boards: Sequence[BoardValues], screenings: Sequence[ScreeningGames]
) -> list[BoardEstimates]:
    """Return the estimates for boards.

    Args:
        config: the search.
        boards: boards, the published board first.
        screenings: screening experiments of the first board for each number of players, then of the next.
    """
    there = Terms(config.free).open(np.array(boards, np.int64)).repeat(len(config.players), axis=0)
    found = [open_action_effects(one.study, is_open) for one, is_open in zip(screenings, there, strict=True)]
    family = _Family(config, found)
    out = []
    for i, board in enumerate(boards):
        findings, levels = [], []
        for j, players in enumerate(config.players):
            k = i * len(config.players) + j
            names = [name for name, is_open in zip(BOARD_ACTIONS, there[k], strict=True) if is_open]
            effects = [family.interval(row) for row in family.own(k)]
            for name, effect, row in zip(names, effects, family.centred(k), strict=True):
                one = family.interval(row)
                error = family.error(row)
                findings.append(
                    Finding(players, config.player, 0, name, effect.value, one.value, error, one.low, one.high)
                )
            levels.append(
                BoardLevel(
                    players,
                    family.interval(family.levels[k]),
                    family.share(k) if i else None,
                    dict(zip(names, effects, strict=True)),
                    dict(zip(names, _use(screenings[k], there[k]), strict=True)),
                )
            )
        kept = not config.floor or all(family.interval(row).low >= 0 for row in family.above_floor(i))
        out.append(BoardEstimates(board, tuple(findings), tuple(levels), family.distance(i, findings), kept))
    return out


class _Family:
    """Linear combinations of the effects on all boards, with one quantile for their intervals.

    Args:
        config: the search.
        found: effects on each board with each number of players.
    """

    def __init__(self, config: TuneConfig, found: Sequence[WinEffects]) -> None:
        self._config, self._count = config, len(config.players)
        self._effects = np.concatenate([one.power for one in found])
        self._covariance: Array = linalg.block_diag(*(one.covariance for one in found))
        self._rows = np.split(np.eye(len(self._effects)), np.cumsum([len(one.power) for one in found])[:-1])
        self.levels = [rows.mean(axis=0) for rows in self._rows]
        boards = range(len(found) // self._count)
        every = np.concatenate(
            [
                *(self.centred(k) for k in range(len(found))),
                *self._rows,
                np.array(self.levels),
                *(self.above_floor(i) for i in boards if i and config.floor),
                *(self._short(k)[1][None] for k in range(len(found)) if config.aim == LIFT),
            ]
        )
        covariance = every @ self._covariance @ every.T
        uncertain = np.diag(covariance) > 0
        self._quantile = simultaneous_quantile(covariance[np.ix_(uncertain, uncertain)], config.level)

    def own(self, k: int) -> Array:
        """Return the rows of the effects of a screening experiment, (A, all effects)."""
        return self._rows[k]

    def centred(self, k: int) -> Array:
        """Return the rows of its deviations, (A, all effects)."""
        centred: Array = self._rows[k] - self.levels[k]
        return centred

    def above_floor(self, i: int) -> Array:
        """Return the rows of the levels of a board less the floor, (P, all effects)."""
        pairs = [(self.levels[i * self._count + j], self.levels[j]) for j in range(self._count)]
        return np.array([own - self._config.floor * published for own, published in pairs])

    def _short(self, k: int) -> tuple[float, Array]:
        """Return the mean shortfall of a screening experiment, and its row, given the actions that fall short."""
        rows, published = self._rows[k], self.levels[k % self._count]
        short = (published - rows) @ self._effects - self._config.band
        falls = short > 0
        row: Array = (falls[:, None] * (published - rows)).mean(axis=0)
        return float(np.where(falls, short, 0.0).mean()), row

    def error(self, row: Array) -> float:
        """Return the standard error of a linear combination."""
        return sqrt(max(0.0, float(row @ self._covariance @ row)))

    def interval(self, row: Array, value: float | None = None) -> Interval:
        """Return a linear combination with its interval; `value` replaces the combination of the estimates."""
        middle = float(row @ self._effects) if value is None else value
        half = self._quantile * self.error(row)
        return Interval(middle, middle - half, middle + half)

    def distance(self, i: int, findings: Sequence[Finding]) -> Interval:
        """Return the distance of a board from the aim, at the worst number of players.

        Args:
            i: index of the board.
            findings: findings for this board.
        """
        if self._config.aim == LIFT:
            short = [self._short(k) for k in range(i * self._count, (i + 1) * self._count)]
            ends = [self.interval(row, value) for value, row in short]
        else:
            band = self._config.band
            ends = [
                Interval(abs(one.deviation) - band, max(one.low, -one.high) - band, max(-one.low, one.high) - band)
                for one in findings
            ]
        values, lows, highs = ([getattr(end, name) for end in ends] for name in ("value", "low", "high"))
        return Interval(max(0.0, *values), max(0.0, *lows), max(0.0, *highs))

    def share(self, k: int) -> Interval | None:
        """Return the level as a percentage of that of the published board (Fieller 1954).

        Returns:
            None if the interval is unbounded, as the level of the published board may be 0.
        """
        own, published = self.interval(self.levels[k]), self.interval(self.levels[k % self._count])
        own_half, published_half = own.high - own.value, published.high - published.value
        square = published.value**2 - published_half**2
        if published.low <= 0:
            return None
        middle = own.value * published.value
        root = sqrt(max(0.0, middle**2 - square * (own.value**2 - own_half**2)))
        low, high = (middle - root) / square, (middle + root) / square
        return Interval(100 * own.value / published.value, 100 * low, 100 * high)


def _use(screening: ScreeningGames, there: npt.NDArray[np.bool_]) -> list[Interval]:
    """Return the percentage of the seats that used an action, among those that could, with errors over paired games."""
    had = ~screening.study.denied[..., there]
    used = screening.used[..., there] & had
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

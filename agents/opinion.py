"""What a player thinks of decisions: how likely it would take each, and what every seat's chances are after it.

A player that can tell has a method `judge` besides `act` (`Judge`): the network, alone and with search, and
flat Monte Carlo. Like a decision, an opinion is made from what the seat to move sees and from nothing else.

    >>> from agents.registry import make_player
    >>> from helsinki_env import Game
    >>> game = Game(seed=0)
    >>> seen = game.observation()[None], game.legal_mask()[None], np.zeros(1, np.uint64)
    >>> net = make_player("net")
    >>> opinion = opinions(net, game.config, *seen)[0]
    >>> opinion.best == int(net.act(*seen)[0]), opinion.cost(opinion.best)
    (True, 0.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from agents.base import Player
from agents.rows import asked_rows, checked_also
from helsinki_env.data import UserError, shown
from helsinki_env.engine.hidden import observation_rows
from helsinki_env.engine.spec import spec_of

__all__ = ["DEFAULT_JUDGE", "Judge", "Opinion", "by_seat", "opinions"]

DEFAULT_JUDGE = "net"
"""The player who is asked unless another one is named."""


@dataclass(frozen=True)
class Opinion:
    """What a player thinks of the decisions that a seat has, by what that seat sees.

    Attributes:
        seat: the seat to move.
        actions: the legal decisions, ids ascending, int64 (C,).
        probabilities: how likely the player would take each, float64 (C,); they add up to 1.
        shares: every seat's share of the win after each decision, by seat number, float64 (C, n); rows of NaN for
            decisions that were not looked at.
        best: the decision that the player would take.
    """

    seat: int
    actions: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float64]
    shares: npt.NDArray[np.float64]
    best: int

    def after(self, action: int) -> npt.NDArray[np.float64]:
        """Return every seat's share of the win after a legal decision, float64 (n,)."""
        shares: npt.NDArray[np.float64] = self.shares[np.searchsorted(self.actions, action)]
        return shares

    @property
    def expected(self) -> npt.NDArray[np.float64]:
        """Every seat's share of the win as the position stands, float64 (n,): as after the best decision."""
        return self.after(self.best)

    def cost(self, action: int) -> float | None:
        """Return how much of the own share of the win a decision loses against the best one, 0 or more.

        None if the decision was not looked at.
        """
        lost = float(self.expected[self.seat] - self.after(action)[self.seat])
        return None if np.isnan(lost) else max(0.0, lost)


@runtime_checkable
class Judge(Protocol):
    """A player that can say what it thinks."""

    def judge(
        self,
        observation: npt.NDArray[np.int8],
        mask: npt.NDArray[np.int8],
        words: npt.NDArray[np.uint64],
        also: npt.NDArray[np.int64] | None = None,
    ) -> list[Opinion]:
        """Return an opinion for each row; see `opinions`."""
        ...


def opinions(
    player: Player,
    config: Any,
    observation: npt.NDArray[np.int8],
    mask: npt.NDArray[np.int8],
    words: npt.NDArray[np.uint64],
    also: npt.NDArray[np.int64] | None = None,
) -> list[Opinion]:
    """Return what a player thinks of B decisions, each by itself.

    Args:
        player: who is asked.
        config: of the games.
        observation: what the seat to move may see, int8 (B, F).
        mask: legal decisions, int8 (B, A), at least one in each row.
        words: one random number for each row, uint64 (B,), as `Player.act` gets them: `best` is then what it returns.
        also: a legal decision of each row that is looked at besides those that the player looks at, int64 (B,).

    Raises:
        ValueError: if the player has no opinions, or the arrays are not of decisions in such games.
    """
    if not isinstance(player, Judge):
        raise UserError(f"judge: found {shown(player.name)}, expected one that tells: net, net+search:N or mc:N")
    observation = observation_rows(observation, spec_of(config).features(config))
    mask, words = asked_rows(config, observation, mask, words)
    return player.judge(observation, mask, words, checked_also(also, mask)) if len(mask) else []


def by_seat(shares: npt.NDArray[np.floating], seat: int, players: int) -> npt.NDArray[np.float64]:
    """Return shares of the win by seat number, float64 (..., players), from those that begin with a seat, (..., 4)."""
    return np.roll(shares[..., :players].astype(np.float64), seat, axis=-1)

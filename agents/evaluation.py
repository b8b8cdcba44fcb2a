"""Evaluation of actions by a player: the probability of each action and every seat's win probability after it.

Players that can evaluate actions have an `evaluate_actions` method (`Evaluator`): the network, with and without search,
and flat Monte Carlo. Like an action, an evaluation depends only on the observation of the seat to move.

    >>> from helsinki_env.agents.registry import make_player
    >>> from helsinki_env import HelsinkiGame
    >>> game = HelsinkiGame(seed=0)
    >>> seen = game.observation()[None], game.action_mask()[None], np.zeros(1, np.uint64)
    >>> net = make_player("net")
    >>> evaluation = evaluate_actions(net, game.config, *seen)[0]
    >>> evaluation.best == int(net.act(*seen)[0]), evaluation.regret(evaluation.best)
    (True, 0.0)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import FloatArray, Int8Array, Int64Array, KeyArray, Player
from helsinki_env.agents.rows import validate_arrays, validate_extra_actions
from helsinki_env.data import UserError, short_repr

__all__ = ["DEFAULT_EVALUATOR", "Evaluation", "Evaluator", "evaluate_actions", "to_seat_order"]

DEFAULT_EVALUATOR = "net"
"""The default evaluator."""


@dataclass(frozen=True)
class Evaluation:
    """A player's evaluation of a seat's legal actions, based on the observation of that seat.

    Attributes:
        seat: the seat to move.
        actions: ids of the legal actions, ascending, int64 (C,).
        probabilities: probability that the player takes each action, float64 (C,); they sum to 1.
        shares: every seat's win probability after each action, indexed by seat, float64 (C, n); NaN rows for actions
            that were not evaluated.
        best: the action that the player would take.
    """

    seat: int
    actions: Int64Array
    probabilities: FloatArray
    shares: FloatArray
    best: int

    def after(self, action: int) -> FloatArray:
        """Return every seat's win probability after a legal action, float64 (n,)."""
        shares: FloatArray = self.shares[np.searchsorted(self.actions, action)]
        return shares

    @property
    def expected(self) -> FloatArray:
        """Every seat's win probability after the best action, float64 (n,)."""
        return self.after(self.best)

    def regret(self, action: int) -> float | None:
        """Return the regret of an action: the loss in win probability compared with the best action, at least 0.

        Return None if the action was not evaluated.
        """
        lost = float(self.expected[self.seat] - self.after(action)[self.seat])
        return None if np.isnan(lost) else max(0.0, lost)


@runtime_checkable
class Evaluator(Protocol):
    """Protocol for players that can evaluate actions."""

    def evaluate_actions(
        self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray, also: Int64Array | None = None
    ) -> list[Evaluation]:
        """Return an evaluation for each row; see `evaluate_actions`."""
        ...


def evaluate_actions(
    player: Player,
    config: Any,
    observation: Int8Array,
    action_mask: Int8Array,
    keys: KeyArray,
    also: Int64Array | None = None,
) -> list[Evaluation]:
    """Return a player's evaluation of each of B positions.

    Args:
        player: the evaluator.
        config: game configuration.
        observation: observations of the seats to move, int8 (B, F).
        action_mask: legal actions, int8 (B, A), at least one in each row.
        keys: one random key for each row, uint64 (B,), as for `Player.act`. With the same key, `act` returns `best`.
        also: an additional legal action to evaluate in each row, int64 (B,).

    Raises:
        ValueError: if the player cannot evaluate actions, or if the arrays do not fit the configuration.
    """
    if not isinstance(player, Evaluator):
        raise UserError(f"evaluator: found {short_repr(player.name)}, expected one of net, net+search:N and mc:N")
    observation, action_mask, keys = validate_arrays(config, observation, action_mask, keys)
    return (
        player.evaluate_actions(observation, action_mask, keys, validate_extra_actions(also, action_mask))
        if len(action_mask)
        else []
    )


def to_seat_order(shares: npt.NDArray[np.floating], seat: int, players: int) -> FloatArray:
    """Convert win probabilities relative to a seat, (..., 4), to seat order, float64 (..., players)."""
    return np.roll(shares[..., :players].astype(np.float64), seat, axis=-1)

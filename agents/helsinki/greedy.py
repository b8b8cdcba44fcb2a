"""Greedy player with a one-turn look-ahead.

For each action it sums the possible gains of the rest of the turn: the cards next to each space within reach, each
possible build with its best placement, and the use of a coat of arms. `helsinki_env.agents.helsinki.greedy_decide` has
the compiled kernels. This module has the evaluation weights: those of the heuristic, without its later additions.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from helsinki_env import HelsinkiConfig
from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.agents.helsinki import weights as heuristic
from helsinki_env.agents.helsinki.board_view import piece_table
from helsinki_env.agents.helsinki.eval_cache import new_views
from helsinki_env.agents.helsinki.greedy_decide import choose_batch
from helsinki_env.agents.heuristic_api import weights_record
from helsinki_env.agents.rows import validate_inputs

__all__ = ["GreedyPlayer", "GreedyWeights"]


@dataclass(frozen=True)
class GreedyWeights:
    """Weights of the evaluation; `helsinki_env.agents.helsinki.weights.Weights` describes the attributes."""

    cell_chance: float = 0.98
    line_patience: float = 3.0
    closed: float = 0.84
    room: float = 0.97
    hole: float = 0.07
    coat: float = 0.21
    coat_patience: float = 0.54
    spend: float = 0.44
    cards_a_turn: float = 0.72
    hand_patience: float = 3.0
    card: float = 0.068
    wild_card: float = 0.36
    best_plan: float = 0.22
    other_plans: float = 0.045
    short: float = 0.3
    bonus_card: float = 0.26
    extra_card: float = 0.54
    kept_card: float = 0.35
    tempo: float = 0.68
    crosswalk: float = 0.051


#: Neutral values of the heuristic's other weights: the simplest curves, and tiles placed together with their
#: superstructures.
_NEUTRAL = {
    "last_turn": 0.5,
    "hurry": 0.0,
    "line_onset": 1.0,
    "line_depth": 1.0,
    "lonely": 1.0,
    "cell": 0.0,
    "roof": 0.0,
    "coat_onset": 1.0,
    "hand_onset": 1.0,
    "far": 1.0,
    "clash": 1.0,
    "apart": 0.0,
}


class GreedyPlayer:
    """One-turn look-ahead player; deterministic, so the same observation always gives the same action.

    Args:
        config: the games to play; only their component file matters.
        weights: weights of the evaluation.
    """

    name = "greedy"

    def __init__(self, config: HelsinkiConfig | None = None, weights: GreedyWeights | None = None) -> None:
        self.config = config or HelsinkiConfig()
        self.weights = weights or GreedyWeights()
        values = asdict(self.weights) | _NEUTRAL | {"spend": 0.0}  # `spend` is a separate argument
        self._record = weights_record(heuristic.Weights(**values))

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return the action for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, _ = validate_inputs(self.config, observation, action_mask, keys)
        actions: Int64Array = action_mask.argmax(axis=1)
        free = np.flatnonzero(action_mask.sum(axis=1, dtype=np.int16) > 1)
        states, masks, chosen = states[free], action_mask[free], actions[free]
        # Scratch memory for each call: several threads may use one player.
        views, tables, parts = new_views(1), self.config.tables, piece_table(self.config)
        choose_batch(tables, parts, self._record, float(self.weights.spend), states, views, masks, chosen)
        actions[free] = chosen
        return actions

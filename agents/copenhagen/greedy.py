"""Greedy baseline: take the action with the best immediate evaluation.

The evaluation adds up points, the progress of lines (a power of the filled fraction, times the possible points), coats
of arms and cards. Coats of arms are valued as the abilities that they buy, and several cards of one color get a bonus.
There is no planning.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.base import Int8Array, Int64Array, KeyArray
from helsinki_env.agents.rows import validate_inputs
from helsinki_env.engine.bits import popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.games.copenhagen.actions import NUM_ACTIONS
from helsinki_env.games.copenhagen.bits import GROUND, LEFT
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.state import PHASE_PLACE, PHASE_TAKE, new_states
from helsinki_env.games.copenhagen.turn import apply_action

__all__ = ["GreedyPlayer", "choose"]

#: Values in points: coat of arms, used ability (negative), card, and pair of cards of one color.
_COAT, _USED, _CARD, _MATCH = 0.1, 0.7, 0.03, 0.002
#: Exponent of the filled fraction of a line.
_POWER = 2.5


@kernel
def _progress(t, g, seat):
    """Return the progress of a seat's lines; full lines have already scored their points."""
    filled, bricks = np.int64(g.filled[seat]), np.int64(g.bricks[seat])
    total = 0.0
    for y in range(9):
        line = GROUND << 5 * y
        share = popcount(filled & line) / 5.0
        points = t.points_row if bricks & line else t.points_row_windows
        coat = _COAT if (t.coat_rows >> 5 * y) & 1 else 0.0
        total += (points + coat) * share**_POWER if share < 1.0 else 0.0
    for x in range(5):
        line = LEFT << x
        share = popcount(filled & line) / 9.0
        points = t.points_column if bricks & line else t.points_column_windows
        total += points * share**_POWER if share < 1.0 else 0.0
    return total


@kernel
def _evaluate(t, g, seat):
    """Return the evaluation of a position for a seat."""
    total = np.float64(g.points[seat]) + _progress(t, g, seat)
    total += _COAT * popcount(np.int64(g.owned[seat])) - _USED * popcount(np.int64(g.used[seat]))
    if g.seat == seat and not g.done:
        total += _COAT * g.rewards
    for colour in range(5):
        held = np.int64(g.hand[seat, colour])
        total += _CARD * held + _MATCH * held * held
    return total


@kernel
def _evaluate_action(t, g, work, mask, action):
    """Return the evaluation after an action, assuming the best position of a tile or the best second card."""
    seat, best = g.seat, -1e9
    work[0] = g
    apply_action(t, work[0], action)
    between = work[0]
    if between.done or between.seat != seat or (between.phase != PHASE_PLACE and between.phase != PHASE_TAKE):
        return _evaluate(t, between, seat)
    write_mask(t, between, mask)
    for second in range(len(mask)):
        if mask[second]:
            work[1] = work[0]
            apply_action(t, work[1], second)
            best = max(best, _evaluate(t, work[1], seat))
    return best


@kernel
def choose(t, g, work, legal, mask):
    """Return the action of the seat to move; scratch: `work`, two records, and `mask`, int8 (ids,)."""
    best, chosen = -2e9, np.int64(-1)
    for action in range(len(legal)):
        if legal[action]:
            value = _evaluate_action(t, g, work, mask, action)
            if value > best:
                best, chosen = value, np.int64(action)
    return chosen


@kernel
def choose_batch(tables, states, work, masks, mask, actions):
    for b in range(len(states)):
        actions[b] = choose(tables[0], states[b], work, masks[b], mask)


class GreedyPlayer:
    """Deterministic player that takes the action with the best immediate evaluation.

    Args:
        config: game configuration; only its component file is used.
    """

    name = "greedy"

    def __init__(self, config: CopenhagenConfig | None = None) -> None:
        self.config = config or CopenhagenConfig()

    def act(self, observation: Int8Array, action_mask: Int8Array, keys: KeyArray) -> Int64Array:
        """Return the action for each row; see `helsinki_env.agents.base.Player`."""
        states, action_mask, _ = validate_inputs(self.config, observation, action_mask, keys)
        actions, scratch = np.zeros(len(action_mask), np.int64), np.zeros(NUM_ACTIONS, np.int8)
        choose_batch(self.config.tables, states, new_states(2), action_mask, scratch, actions)
        return actions

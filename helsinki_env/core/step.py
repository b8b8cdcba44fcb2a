"""The kernels that other folders call: deal, step and legal mask, for one game and for a batch.

A batch kernel is a plain loop over records; threads each take a slice of the batch (`envs.vector`), which gives
the same games for any number of them because every game has its own random word.
"""

from __future__ import annotations

from helsinki_env.core.deal import deal, set_up
from helsinki_env.core.kernel import kernel
from helsinki_env.core.legal import write_mask
from helsinki_env.core.rng import first_word
from helsinki_env.core.score import place_of, score
from helsinki_env.core.turn import apply

__all__ = [
    "apply",
    "batch_deal",
    "batch_mask",
    "batch_scores",
    "batch_step",
    "deal",
    "place_of",
    "score",
    "set_up",
    "write_mask",
]


@kernel
def batch_deal(t, states, seeds, streams, episodes):
    """Deal every game of `states` (shape (B,)) anew; seeds, streams, episodes are uint64 of shape (B,)."""
    for b in range(len(states)):
        deal(t, states[b], first_word(seeds[b], streams[b], episodes[b]))


@kernel
def batch_mask(t, states, masks):
    """Write the legal decisions of every game into `masks`, int8 of shape (B, ids)."""
    for b in range(len(states)):
        write_mask(t, states[b], masks[b])


@kernel
def batch_step(t, states, actions, masks):
    """Step every game that is not over and write its new mask.

    `actions` int64 (B,), `masks` int8 (B, ids): legality before, and written over with that after. Return -1, or the
    index of the first game whose action is not legal; games before that one have been stepped.
    """
    for b in range(len(states)):
        g = states[b]
        if g.done:
            continue
        action = actions[b]
        if action < 0 or action >= masks.shape[1] or masks[b, action] == 0:
            return b
        apply(t, g, action)
        write_mask(t, g, masks[b])
    return -1


@kernel
def batch_scores(t, states, scores, places):
    """Write scores and places (0 is first), both int64 of shape (B, 4), as if every game ended now."""
    for b in range(len(states)):
        g = states[b]
        for seat in range(g.players):
            scores[b, seat] = score(t, g, seat)
            places[b, seat] = place_of(t, g, seat)

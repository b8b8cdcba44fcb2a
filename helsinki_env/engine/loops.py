"""Loops over games of any kind: deal, step, look, count. A plain loop over records each.

Every game has its own random word, so a batch may be cut into slices and these be played by any number of threads: the
games are the same.
"""

from __future__ import annotations

from helsinki_env.engine.contract import apply, deal, describe, mark_legal, place_of, redeal, restore, score
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import first_word
from helsinki_env.engine.rule import Rule

__all__ = [
    "batch_deal",
    "batch_mask",
    "batch_observe",
    "batch_redeal",
    "batch_restore",
    "batch_scores",
    "batch_step",
    "mask_alone",
    "observe",
    "observe_again",
    "observe_alone",
    "observe_part",
    "step_alone",
    "write_mask",
]


@kernel
def _mark_on_nothing(t, g, mask):
    mask[:] = 0
    mark_legal(t, g, mask)


@kernel
def _describe_on_nothing(t, g, viewer, out):
    out[:] = 0
    describe(t, g, viewer, out)


write_mask = Rule("write_mask", _mark_on_nothing)
"""`write_mask(t, g, mask)`: write 1 for each legal id, 0 for all others, into `mask`, int8 (ids,).

A game that has a faster way than to mark on nothing states this too."""

observe = Rule("observe", _describe_on_nothing)
"""`observe(t, g, viewer, out)`: write what a seat may see into `out`, int8 (F,), every entry of it.

A game that has a faster way than to describe on nothing states this too."""


@kernel
def _observe_whole(t, g, viewer, out, turned):
    observe(t, g, viewer, out)


observe_again = Rule("observe_again", _observe_whole)
"""`observe_again(t, g, viewer, out, turned)`: the same, where `out` holds an earlier observation of this very deal.

`turned` says whether it was seen from another seat, or else that seat has been to move ever since. A game that can
leave entries as they are states this too."""


@kernel
def _observe_by_the_first(t, g, viewer, out, lane, lanes):
    if lane == 0:
        observe(t, g, viewer, out)


observe_part = Rule("observe_part", _observe_by_the_first)
"""`observe_part(t, g, viewer, out, lane, lanes)`: write those entries of `observe` that are one lane's, of so many.

On a graphics card the 32 threads of a warp share the work on a game: a game states this too if it can be shared."""


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
def batch_observe(t, states, viewers, out):
    """Write what seat `viewers[b]` may see of every game, int64 (B,), into `out`, int8 (B, F)."""
    for b in range(len(states)):
        observe(t, states[b], viewers[b], out[b])


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
def step_alone(tables, states, action, mask):
    """Step one game that is not over and write its new mask; return whether the decision was legal, or else nothing is.

    `tables`, `states`: (1,), as Numba takes an array in a tenth of the time that it needs for a record; `mask` int8
    (ids,): legality before, and written over with that after.
    """
    if action < 0 or action >= len(mask) or mask[action] == 0:
        return False
    apply(tables[0], states[0], action)
    write_mask(tables[0], states[0], mask)
    return True


@kernel
def mask_alone(tables, states, mask):
    """Write the legal decisions of one game; arguments as for `step_alone`."""
    write_mask(tables[0], states[0], mask)


@kernel
def observe_alone(tables, states, seat, out):
    """Write what a seat of one game may see into `out`, int8 (F,); tables and states as for `step_alone`."""
    observe(tables[0], states[0], seat, out)


@kernel
def batch_scores(t, states, scores, places):
    """Write scores and places (0 is first), both int64 of shape (B, 4), as if every game ended now."""
    for b in range(len(states)):
        g = states[b]
        for seat in range(g.players):
            scores[b, seat] = score(t, g, seat)
            places[b, seat] = place_of(t, g, seat)


@kernel
def batch_restore(t, observations, states):
    """Fill a record from each observation, int8 (B, F).

    Return (-1, -1), or the first game whose observation does not fit together and what its `restore` says of it.
    """
    for b in range(len(states)):
        fault = restore(t, states[b], observations[b])
        if fault >= 0:
            return b, fault
    return -1, -1


@kernel
def batch_redeal(t, states, viewers, words, scratch, mask):
    """Deal what seat `viewers[b]` cannot see of every game, int64 (B,), anew; `words` uint64 (B,), one for each.

    Return -1, or the first game for which no deal was found.
    """
    for b in range(len(states)):
        if not redeal(t, states[b], viewers[b], words[b], scratch, mask):
            return b
    return -1

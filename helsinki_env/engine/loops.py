"""Loop over batches of records of any game: deal, step, observe and score.

Every game has its own random state, so the results do not change if threads process slices of a batch independently.
"""

from __future__ import annotations

from helsinki_env.engine.contract import (
    apply_action,
    copy_setup,
    deal,
    determinize_state,
    mark_legal,
    rank_of,
    reconstruct_state,
    score,
    write_observation,
)
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.rng import initial_state

__all__ = [
    "MASK_ONLY",
    "batch_deal",
    "batch_determinize",
    "batch_mask",
    "batch_observe",
    "batch_reconstruct",
    "batch_scores",
    "batch_step",
    "deal_single",
    "observe",
    "observe_part",
    "observe_single",
    "step_single",
    "update_observation",
    "write_mask",
]


@kernel
def _clear_and_mark(t, g, mask):
    mask[:] = 0
    mark_legal(t, g, mask)


@kernel
def _clear_and_observe(t, g, viewer, out):
    out[:] = 0
    write_observation(t, g, viewer, out)


write_mask = OverloadedKernel("write_mask", _clear_and_mark)
"""`write_mask(t, g, mask)`: write 1 for each legal id and 0 for all others into `mask`, int8 (ids,).

By default, the mask is cleared and passed to `mark_legal`. A game may register a faster kernel."""

observe = OverloadedKernel("observe", _clear_and_observe)
"""`observe(t, g, viewer, out)`: write a seat's observation into `out`, int8 (F,), and overwrite every entry.

By default, `out` is cleared and passed to `write_observation`. A game may register a faster kernel."""


@kernel
def _observe_whole(t, g, viewer, out, turned):
    observe(t, g, viewer, out)


update_observation = OverloadedKernel("update_observation", _observe_whole)
"""`update_observation(t, g, viewer, out, turned)`: update `out`, an earlier observation of the same deal.

`turned` is true if the earlier observation was from another seat. Otherwise, the viewer has been the acting seat ever
since. By default, all entries are rewritten. A game may register a kernel that skips unchanged entries."""


@kernel
def _observe_on_lane_0(t, g, viewer, out, lane, lanes):
    if lane == 0:
        observe(t, g, viewer, out)


observe_part = OverloadedKernel("observe_part", _observe_on_lane_0)
"""`observe_part(t, g, viewer, out, lane, lanes)`: write one lane's share of the entries of `observe`.

On a GPU, the 32 threads of a warp share the work for a game. By default, lane 0 writes all entries. A game may register
a parallel kernel."""


@kernel
def batch_deal(t, states, seeds, streams, episodes):
    """Deal every game of `states`, (B,). Seeds, streams and episodes are uint64 (B,)."""
    for b in range(len(states)):
        deal(t, states[b], initial_state(seeds[b], streams[b], episodes[b]))


@kernel
def batch_mask(t, states, masks):
    """Write the action mask of every game into `masks`, int8 (B, ids)."""
    for b in range(len(states)):
        write_mask(t, states[b], masks[b])


@kernel
def batch_observe(t, states, viewers, out):
    """Write the observation of seat `viewers[b]`, int64 (B,), of every game into `out`, int8 (B, F)."""
    for b in range(len(states)):
        observe(t, states[b], viewers[b], out[b])


@kernel
def batch_step(t, states, actions, masks):
    """Step every game that is not over, and write its new mask.

    `actions` is int64 (B,). `masks`, int8 (B, ids), holds the legal actions and is overwritten with the new masks.
    Return -1, or the index of the first game whose action is illegal. The games before it have already been stepped.
    """
    for b in range(len(states)):
        g = states[b]
        if g.done:
            continue
        action = actions[b]
        if action < 0 or action >= masks.shape[1] or masks[b, action] == 0:
            return b
        apply_action(t, g, action)
        write_mask(t, g, masks[b])
    return -1


@kernel
def deal_single(tables, states, setup, seed, stream, episode):
    """Deal one game with the options of a record. `tables`, `states` and `setup` are arrays of shape (1,)."""
    copy_setup(states[0], setup[0])
    deal(tables[0], states[0], initial_state(seed, stream, episode))


MASK_ONLY = -(2**63)
"""An invalid action that makes `step_single` write only the mask."""


@kernel
def step_single(tables, states, action, mask):
    """Step one game that is not over, and write its new mask. Return False, without changes, if the action is illegal.

    `tables` and `states` are arrays of shape (1,), because Numba unboxes an array ten times as fast as a record.
    `mask`, int8 (ids,), holds the legal actions and is overwritten. For the illegal action `MASK_ONLY`, only the mask
    is written.
    """
    legal = 0 <= action < len(mask) and mask[action] != 0
    if legal:
        apply_action(tables[0], states[0], action)
    elif action != MASK_ONLY:
        return False
    write_mask(tables[0], states[0], mask)
    return legal


@kernel
def observe_single(tables, states, seat, out):
    """Write a seat's observation of one game into `out`, int8 (F,). The other arguments are as for `step_single`."""
    observe(tables[0], states[0], seat, out)


@kernel
def batch_scores(t, states, scores, ranks):
    """Write scores and ranks (0 is first), both int64 (B, 4), as if every game ended now."""
    for b in range(len(states)):
        g = states[b]
        for seat in range(g.players):
            scores[b, seat] = score(t, g, seat)
            ranks[b, seat] = rank_of(t, g, seat)


@kernel
def batch_reconstruct(t, observations, states):
    """Fill one record from each observation, int8 (B, F).

    Return (-1, -1), or the index of the first inconsistent observation and its result from `reconstruct_state`.
    """
    for b in range(len(states)):
        error = reconstruct_state(t, states[b], observations[b])
        if error >= 0:
            return b, error
    return -1, -1


@kernel
def batch_determinize(t, states, viewers, keys, scratch, mask):
    """Sample the cards hidden from seat `viewers[b]`, int64 (B,), in every game. `keys` are uint64 (B,).

    Return -1, or the index of the first game that has no consistent deal.
    """
    for b in range(len(states)):
        if not determinize_state(t, states[b], viewers[b], keys[b], scratch, mask):
            return b
    return -1

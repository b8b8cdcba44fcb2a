"""CUDA kernels over a batch, with one thread per game, or one warp per game to read and write byte arrays.

The logic for a single game is in `helsinki_env.envs.tensor_kernels` and in the rules. Byte arrays are processed by a
warp per game, because its 32 threads access 32 adjacent entries in one coalesced transaction.
"""

from __future__ import annotations

import numpy as np
from numba import cuda

from helsinki_env.engine.contract import mark_legal
from helsinki_env.engine.loops import observe_part
from helsinki_env.engine.rng import GOLDEN, mix
from helsinki_env.envs.kernels import begin_episode
from helsinki_env.envs.tensor_kernels import clear_report, is_illegal, step_game

WARP = 32
_ALL_LANES = 0xFFFFFFFF
_S32 = np.uint64(32)


@cuda.jit
def reset_kernel(tables, states, runs, setup, drawn, reports):
    """Deal all games, with one thread per game."""
    b = cuda.grid(1)
    if b < len(states):
        begin_episode(tables[0], states[b], runs[b], setup[b % len(setup)], drawn[b % len(drawn)])
        clear_report(reports[b])


@cuda.jit
def step_kernel(tables, states, runs, setup, drawn, actions, reward, masks, reports, rewards, ended, illegal):
    """Apply one action in every game, with one thread per game; count illegal actions in `illegal`, int64 (1,)."""
    b = cuda.grid(1)
    if b < len(states):
        report = reports[b]
        illegal_actions = step_game(
            tables[0],
            states[b],
            runs[b],
            setup[b % len(setup)],
            drawn[b % len(drawn)],
            actions[b],
            masks[b],
            reward,
            report,
        )
        rewards[b] = report.reward
        ended[b] = report.ended
        if illegal_actions:
            cuda.atomic.add(illegal, 0, illegal_actions)


@cuda.jit
def mark_all(tables, states, masks, seats):
    """Write legal actions to zeroed masks, with one thread per game because only a few entries are set."""
    b = cuda.grid(1)
    if b < len(states):
        g = states[b]
        mark_legal(tables[0], g, masks[b])
        seats[b] = g.seat


@cuda.jit
def observe_all(tables, states, observations):
    """Write the observations of the acting seats, with one warp per game."""
    thread = cuda.grid(1)
    b = thread // WARP
    if b < len(states):
        g = states[b]
        observe_part(tables[0], g, g.seat, observations[b], thread % WARP, WARP)


@cuda.jit
def find_illegal(states, actions, masks, first):
    """Write the lowest index of a game with an illegal action, if any, to `first`, int64 (1,)."""
    b = cuda.grid(1)
    if b < len(states) and is_illegal(states[b], actions[b], masks[b]):
        cuda.atomic.min(first, 0, b)


@cuda.jit
def sample_all(masks, keys, chosen):
    """Sample like `helsinki_env.engine.playout.sample_action`, with one warp per game and 32 ids at a time."""
    thread = cuda.grid(1)
    b, lane = thread // WARP, thread % WARP
    if b >= len(masks):
        return
    key, ids = keys[b] + GOLDEN, masks.shape[1]
    legal = np.int64(0)
    for first in range(0, ids, WARP):
        action = first + lane
        legal += cuda.popc(cuda.ballot_sync(_ALL_LANES, action < ids and masks[b, action] != 0))
    rank = np.int64(((mix(key) >> _S32) * np.uint64(legal)) >> _S32)
    for first in range(0, ids, WARP):
        action = first + lane
        marked = action < ids and masks[b, action] != 0
        members = np.int64(cuda.ballot_sync(_ALL_LANES, marked))
        before = cuda.popc(np.uint32(members & ((np.int64(1) << lane) - 1)))
        if marked and before == rank:
            chosen[b] = action
        rank -= cuda.popc(np.uint32(members))
    if lane == 0:
        keys[b] = key
        if legal == 0:
            chosen[b] = 0

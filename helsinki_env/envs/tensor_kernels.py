"""Kernels for one game of a tensor batch, and CPU loops over a whole batch.

The GPU runs the same functions for single games, with one thread per game (`helsinki_env.cuda`).
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.contract import apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import observe, write_mask
from helsinki_env.envs.kernels import PREFETCH_DISTANCE, begin_episode, fill_report, prefetch_mask, prefetch_state


@kernel
def clear_report(report):
    """Reset the report to that of a game in progress."""
    report.ended = False
    report.reward = 0.0
    report.rewards[:] = 0
    report.scores[:] = 0
    report.places[:] = 0
    report.rounds = 0


@kernel
def is_illegal(g, action, mask):
    """Return whether the game requires an action and this one is illegal."""
    return g.done == 0 and (action < 0 or action >= len(mask) or mask[action] == 0)


@kernel
def step_game(t, g, run, setup, p, action, mask, reward, report):
    """Apply an action, or deal the next game if this one is over. Return 1 for an illegal action, otherwise 0.

    An illegal action has no effect.
    """
    if g.done:
        run.episode += np.uint64(1)
        begin_episode(t, g, run, setup, p)
        clear_report(report)
        return 0
    if is_illegal(g, action, mask):
        return 1
    apply_action(t, g, action)
    if g.done:
        fill_report(t, g, reward, report)
    return 0


@kernel
def reset_all(tables, states, runs, setup, drawn, reports):
    """Deal all games; `setup` and `drawn` have one record for all games, or one per game."""
    for b in range(len(states)):
        begin_episode(tables[0], states[b], runs[b], setup[b % len(setup)], drawn[b % len(drawn)])
        clear_report(reports[b])


@kernel
def observe_games(tables, states, masks, observations, seats):
    """Write the acting seats, their masks and their observations."""
    t = tables[0]
    for b in range(len(states)):
        g = states[b]
        write_mask(t, g, masks[b])
        observe(t, g, g.seat, observations[b])
        seats[b] = g.seat


@kernel
def step_all(
    tables,
    states,
    runs,
    setup,
    drawn,
    actions,
    reward,
    masks,
    observations,
    seats,
    reports,
    rewards,
    ended,
    illegal,
    observing,
):
    """Apply one action in every game and, if `observing` is true, write all observations.

    Count illegal actions in `illegal`, int64 (1,).
    """
    t = tables[0]
    for b in range(len(states)):
        g, report = states[b], reports[b]
        prefetch_state(states, (b + PREFETCH_DISTANCE) * states.itemsize)
        prefetch_mask(masks, (b + PREFETCH_DISTANCE) * masks.shape[1])
        illegal[0] += step_game(
            t, g, runs[b], setup[b % len(setup)], drawn[b % len(drawn)], actions[b], masks[b], reward, report
        )
        write_mask(t, g, masks[b])
        if observing:
            observe(t, g, g.seat, observations[b])
        seats[b] = g.seat
        rewards[b] = report.reward
        ended[b] = report.ended


@kernel
def first_illegal_tensor_game(states, actions, masks):
    """Return the index of the first game whose action is illegal, or -1."""
    for b in range(len(states)):
        if is_illegal(states[b], actions[b], masks[b]):
            return b
    return -1

"""Compiled step loop of a batch: apply actions, finish games and deal new ones, write masks and observations.

Single records (tables, setup, drawn options) are passed as arrays of length 1, because Numba unboxes an array ten times
faster than a record.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from helsinki_env.engine.atomics import fetch_add
from helsinki_env.engine.bits import lowest_bit
from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.contract import MAX_SEATS, apply_action, copy_setup, deal, draw_setup, rank_of, score
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import MASK_ONLY, observe, update_observation, write_mask
from helsinki_env.engine.playout import BLOCK, mask_block
from helsinki_env.engine.rng import initial_state
from helsinki_env.engine.vectors import prefetcher

NEXT_STEP, SAME_STEP, DISABLED = range(3)
WIN, RANK, MARGIN = range(len(REWARDS))
#: Offset of the random stream for an episode's options, which is separate from that of its deal.
_OPTIONS_STREAM = np.uint64(1 << 63)

#: Prefetch distance: while a game is stepped, the record and mask of the game two positions ahead are prefetched. With
#: thousands of games they are no longer in the CPU cache.
PREFETCH_DISTANCE = 2
prefetch_state, prefetch_mask = prefetcher(16), prefetcher(9)

#: Random stream of a game; one row per game.
RUN = np.dtype((np.record, np.dtype([("seed", np.uint64), ("stream", np.uint64), ("episode", np.uint64)], align=True)))

#: Report of the kernel about a step; one row per game.
REPORT = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("reward", np.float32),
                ("rewards", np.float32, (MAX_SEATS,)),
                ("scores", np.int16, (MAX_SEATS,)),
                ("places", np.int8, (MAX_SEATS,)),
                ("rounds", np.int16),
                ("ended", np.bool_),
                ("illegal", np.bool_),  # whether an illegal action ended the game (only used in `seat`)
                ("seat", np.int64),  # viewer of the last observation
            ],
            align=True,
        ),
    )
)


class Games(NamedTuple):
    """The games of a batch and the inputs for new deals, as arrays of records."""

    tables: Any  # (1,)
    states: Any  # (B,)
    runs: Any  # (B,)
    setup: Any  # one record for all games, or one per game
    drawn: Any  # (1,)


class Views(NamedTuple):
    """Masks and observations of the acting seats; written by the kernels."""

    legal: Any  # the environment's own bit sets of legal actions, uint64 (B, blocks), or (0, blocks) without copies
    mask: Any  # int8 (B, A)
    obs: Any  # int8 (B, F)
    seats: Any  # int64 (B,)


class Results(NamedTuple):
    """Results of a step; written by the kernels."""

    rewards: Any  # reward of the seat that acted, or of the learner, float32 (B,)
    ended: Any  # bool (B,)
    reports: Any  # (B,)
    last: Any  # last observations of the games that ended, int8 (B, F), in SAME_STEP mode


@kernel
def first_illegal_game(states, actions, legal, mask, mode):
    """Return the index of the first game whose action is illegal, or -1; called before any game is stepped.

    The legal actions come from the environment's bit sets `legal`, or from the returned mask if these are empty.
    """
    for b in range(len(states)):
        action = actions[b]
        if 0 <= action < mask.shape[1]:  # avoid reading records unless an action is illegal
            if len(legal):
                if (legal[b, action // BLOCK] >> np.uint64(action % BLOCK)) & np.uint64(1):
                    continue
            elif mask[b, action]:
                continue
        if mode == DISABLED or not states[b].done:
            return b
    return -1


@kernel
def begin_episode(t, g, run, setup, p):
    """Begin an episode; draw its options from a separate random stream."""
    copy_setup(g, setup)
    p.chance = initial_state(run.seed, run.stream ^ _OPTIONS_STREAM, run.episode)
    draw_setup(p, g)
    deal(t, g, initial_state(run.seed, run.stream, run.episode))


@kernel
def _write_legal(t, g, b, views):
    """Write the action mask of game `b` and, if used, the environment's bit sets of legal actions."""
    write_mask(t, g, views.mask[b])
    if len(views.legal):
        for block in range(views.legal.shape[1]):
            views.legal[b, block] = mask_block(views.mask[b], block)


@kernel
def reset_games(games, chosen, views):
    """Deal the chosen games and write all observations."""
    t = games.tables[0]
    for b in range(len(games.states)):
        g = games.states[b]
        if chosen[b]:
            begin_episode(t, g, games.runs[b], games.setup[b % len(games.setup)], games.drawn[0])
        _write_legal(t, g, b, views)
        observe(t, g, g.seat, views.obs[b])
        views.seats[b] = g.seat


@kernel
def reward_of(t, g, seat, reward):
    """Return the reward of a seat at the end of a game.

    win: +1 for first rank, otherwise -1 / (n - 1); rank: from +1 to -1 by rank; margin: points above the mean of the
    others. Tied players receive the average reward of the ranks they share.
    """
    others = g.players - 1
    if reward != MARGIN:
        place, sharing = rank_of(t, g, seat), 0
        for other in range(g.players):
            sharing += rank_of(t, g, other) == place
        # Use integers up to a single division: GPUs fuse float multiplications and additions, which changes the
        # rounding.
        if reward == RANK:
            return 1.0 - (2 * place + sharing - 1) / others
        return (g.players - sharing) / (sharing * others) if place == 0 else -1.0 / others
    total = 0.0
    for other in range(g.players):
        if other != seat:
            total += score(t, g, other)
    return score(t, g, seat) - total / others


@kernel
def fill_report(t, g, reward, report):
    """Write the report of a finished game."""
    report.ended = True
    report.illegal = False
    report.rounds = g.round_number
    report.seat = g.seat
    report.rewards[:] = 0  # the previous game may have had more players
    report.scores[:] = 0
    report.places[:] = 0
    for seat in range(g.players):
        report.rewards[seat] = reward_of(t, g, seat, reward)
        report.scores[seat] = score(t, g, seat)
        report.places[seat] = rank_of(t, g, seat)
    report.reward = report.rewards[g.seat]


@kernel
def _step_slice(begin, end, games, actions, mode, reward, views, results):
    """Step the games from `begin` to `end`."""
    t, states, mask = games.tables[0], games.states, views.mask
    for b in range(begin, end):
        g, run, dealt = states[b], games.runs[b], len(views.legal) > 0
        prefetch_state(states, (b + PREFETCH_DISTANCE) * states.itemsize)
        prefetch_mask(mask, (b + PREFETCH_DISTANCE) * mask.shape[1])
        results.ended[b] = False
        results.rewards[b] = 0.0
        if g.done:
            if mode == NEXT_STEP:
                run.episode += np.uint64(1)
                begin_episode(t, g, run, games.setup[b % len(games.setup)], games.drawn[0])
                dealt = True
        else:
            apply_action(t, g, actions[b])
            if g.done:
                report = results.reports[b]
                fill_report(t, g, reward, report)
                results.ended[b], results.rewards[b] = True, report.reward
                if mode == SAME_STEP:
                    observe(t, g, g.seat, results.last[b])
                    run.episode += np.uint64(1)
                    begin_episode(t, g, run, games.setup[b % len(games.setup)], games.drawn[0])
                    dealt = True
        _write_legal(t, g, b, views)
        if dealt:
            observe(t, g, g.seat, views.obs[b])
        else:  # without copies, the row still holds the previous observation
            update_observation(t, g, g.seat, views.obs[b], g.seat != views.seats[b])
        views.seats[b] = g.seat


#: Number of games per work unit; one unit takes a thread tens of microseconds.
WORK_UNIT = 64


@kernel
def step(games, shares, size, actions, mode, reward, views, results):
    """Step all games in work units of `size` games; several threads may call this at the same time.

    When a game ends, report it and begin the next one according to the autoreset mode. `shares` int64 (1,): index of
    the next unclaimed game.
    """
    count = len(games.states)
    begin = fetch_add(shares, 0, size)
    while begin < count:
        _step_slice(begin, min(begin + size, count), games, actions, mode, reward, views, results)
        begin = fetch_add(shares, 0, size)


@kernel
def collect(ended, reports, rewards, scores, places, rounds):
    """Write the reports of the games flagged in `ended`, int8 (B,); the rows of other games are already zero."""
    for block in range((len(ended) + BLOCK - 1) // BLOCK):
        members = mask_block(ended, block)
        while members:
            b = BLOCK * block + lowest_bit(np.int64(members))
            members &= members - np.uint64(1)
            report = reports[b]
            rounds[b] = report.rounds
            for seat in range(rewards.shape[1]):
                rewards[b, seat], scores[b, seat] = report.rewards[seat], report.scores[seat]
                places[b, seat] = report.places[seat]


# Kernels for a single game (used by `aec`).


@kernel
def step_one(tables, states, action, legal, mask, obs):
    """Step one game; write the acting seat's observation and mask, and the environment's own copy `legal` of the mask.

    Return the acting seat; if the game is over, return the seat that acted last minus 4. Return 4 without any change if
    the action is illegal. With `MASK_ONLY`, return 4 after writing the mask and observation.
    """
    t, g = tables[0], states[0]
    is_legal = 0 <= action < len(legal) and legal[action] != 0
    if is_legal:
        apply_action(t, g, action)
    elif action != MASK_ONLY:
        return MAX_SEATS
    write_mask(t, g, mask)
    for i in range(len(mask)):
        legal[i] = mask[i]
    observe(t, g, g.seat, obs)
    return g.seat - MAX_SEATS * g.done if is_legal else MAX_SEATS


@kernel
def finish_one(tables, states, reward, reports):
    """Write the report of one finished game."""
    fill_report(tables[0], states[0], reward, reports[0])

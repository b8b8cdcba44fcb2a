"""The compiled loop of a batch: step, end, deal, mask and observation of every game in one pass over its record.

What comes as one record (tables, setup, what is drawn) is passed as an array of one: Numba takes an array as an
argument in a tenth of the time that it needs for a record.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import lowest
from helsinki_env.engine.contract import (
    SEATS,
    apply,
    deal,
    draw_setup,
    place_of,
    score,
    set_up,
)
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import observe, observe_again, write_mask
from helsinki_env.engine.playout import BLOCK, block_of, blocks_of
from helsinki_env.engine.rng import first_word
from helsinki_env.engine.vectors import prefetcher
from helsinki_env.engine.waiting import take
from helsinki_env.envs.rewards import reward_of

NEXT_STEP, SAME_STEP, DISABLED = range(3)
#: Which seed stream an episode's options come from, apart from its deck.
_OPTIONS_STREAM = np.uint64(1 << 63)

#: While a game is stepped, the record and the mask of the one after the next are fetched: with thousands of games they
#: have long left the processor's own memory.
FAR = 2
ahead, ahead_mask = prefetcher(16), prefetcher(9)

#: One row for each game: where its chance comes from.
RUN = np.dtype(
    (
        np.record,
        np.dtype([("seed", np.uint64), ("stream", np.uint64), ("episode", np.uint64)], align=True),
    )
)

#: One row for each game: what the kernel reports about a step.
REPORT = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("reward", np.float32),
                ("rewards", np.float32, (SEATS,)),
                ("scores", np.int16, (SEATS,)),
                ("places", np.int8, (SEATS,)),
                ("rounds", np.int16),
                ("ended", np.bool_),
                ("illegal", np.bool_),  # by an illegal decision (`seat` only)
                ("seat", np.int64),  # whose the last observation is
            ],
            align=True,
        ),
    )
)


@kernel
def first_illegal(states, actions, kept, legal, mask, mode):
    """Index of the first game whose action is not legal, or -1. Nothing has been stepped yet.

    What is legal say the environment's own sets if it has them (`kept`), or the mask that was handed out.
    """
    for b in range(len(states)):
        action = actions[b]
        if 0 <= action < mask.shape[1]:  # a record is fetched only where nothing is legal
            if kept:
                if (legal[b, action // BLOCK] >> np.uint64(action % BLOCK)) & np.uint64(1):
                    continue
            elif mask[b, action]:
                continue
        if mode == DISABLED or not states[b].done:
            return b
    return -1


@kernel
def begin_episode(t, g, run, setup, p):
    """Begin an episode: as configured, with what is drawn anew for it, from its own stream of chance."""
    set_up(g, setup)
    p.chance = first_word(run.seed, run.stream ^ _OPTIONS_STREAM, run.episode)
    draw_setup(p, g)
    deal(t, g, first_word(run.seed, run.stream, run.episode))


@kernel
def _write_legal(t, g, kept, legal, mask):
    """Write the legal decisions, and as the environment's own sets of them if it has such (`kept`)."""
    write_mask(t, g, mask)
    if kept:
        for block in range(len(legal)):
            legal[block] = block_of(mask, block)


@kernel
def begin(tables, states, runs, setup, drawn, chosen, kept, legal, mask, obs, seats):
    """Deal the chosen games anew and look at all of them. `setup`: one record for all games, or one for each."""
    t = tables[0]
    for b in range(len(states)):
        g = states[b]
        if chosen[b]:
            begin_episode(t, g, runs[b], setup[b % len(setup)], drawn[0])
        _write_legal(t, g, kept, legal[b % len(legal)], mask[b])
        observe(t, g, g.seat, obs[b])
        seats[b] = g.seat


@kernel
def finish(t, g, reward, report):
    """What is reported at the end of a game."""
    report.ended = True
    report.illegal = False
    report.rounds = g.round_number
    report.seat = g.seat
    report.rewards[:] = 0  # the game before may have had more players
    report.scores[:] = 0
    report.places[:] = 0
    for seat in range(g.players):
        report.rewards[seat] = reward_of(t, g, seat, reward)
        report.scores[seat] = score(t, g, seat)
        report.places[seat] = place_of(t, g, seat)
    report.reward = report.rewards[g.seat]


@kernel
def _step_piece(
    t, begin, end, states, runs, actions, setup, p, mode, reward, kept, legal, mask, obs, seats, rewards,
    ended, reports, last,
):  # fmt: skip
    """Step the games from `begin` to `end`."""
    for b in range(begin, end):
        g, run, report, dealt = states[b], runs[b], reports[b], kept
        ahead(states, (b + FAR) * states.itemsize)
        ahead_mask(mask, (b + FAR) * mask.shape[1])
        ended[b] = False
        rewards[b] = 0.0
        if g.done:
            if mode == NEXT_STEP:
                run.episode += np.uint64(1)
                begin_episode(t, g, run, setup[b % len(setup)], p)
                dealt = True
        else:
            apply(t, g, actions[b])
            if g.done:
                finish(t, g, reward, report)
                ended[b], rewards[b] = True, report.reward
                if mode == SAME_STEP:
                    observe(t, g, g.seat, last[b])
                    run.episode += np.uint64(1)
                    begin_episode(t, g, run, setup[b % len(setup)], p)
                    dealt = True
        _write_legal(t, g, kept, legal[b % len(legal)], mask[b])
        if dealt:
            observe(t, g, g.seat, obs[b])
        else:  # without copies, the row holds what was to be seen before
            observe_again(t, g, g.seat, obs[b], g.seat != seats[b])
        seats[b] = g.seat


#: Games that a thread takes at a time; so many are done in a few hundredths of a millisecond.
PIECE = 64


@kernel
def step(
    tables, shares, piece, states, runs, actions, setup, drawn, mode, reward, kept, legal, mask, obs, seats, rewards,
    ended, reports, last,
):  # fmt: skip
    """Step the games, so many at a time, until all are taken; several threads may do so together.

    Where a game ends, report it and begin the next as the mode says. `shares` int64 (1,): the next game that nobody has
    taken. `rewards` float32 (B,) and `ended` bool (B,): of the seat that acted, and whether the game ended by it.
    """
    size = len(states)
    begin = take(shares, 0, piece)
    while begin < size:
        _step_piece(
            tables[0], begin, min(begin + piece, size), states, runs, actions, setup, drawn[0], mode, reward, kept,
            legal, mask, obs, seats, rewards, ended, reports, last,
        )  # fmt: skip
        begin = take(shares, 0, piece)


@kernel
def collect(ended, reports, rewards, scores, places, rounds):
    """Write what was reported of the games that ended, int8 (B,); the rows of the others are 0 before."""
    for block in range(blocks_of(len(ended))):
        members = block_of(ended, block)
        while members:
            b = BLOCK * block + lowest(np.int64(members))
            members &= members - np.uint64(1)
            report = reports[b]
            rounds[b] = report.rounds
            for seat in range(rewards.shape[1]):
                rewards[b, seat], scores[b, seat] = report.rewards[seat], report.scores[seat]
                places[b, seat] = report.places[seat]


# One game at a time (`aec`).


@kernel
def _view(t, g, legal, mask, obs):
    """Write what the seat to move gets, and the legal decisions once more for the environment itself."""
    write_mask(t, g, mask)
    for action in range(len(mask)):
        legal[action] = mask[action]
    observe(t, g, g.seat, obs)


@kernel
def begin_one(tables, states, setup, seed, stream, episode, legal, mask, obs):
    """Deal one game anew; write what seat 0 gets."""
    t, g = tables[0], states[0]
    set_up(g, setup[0])
    deal(t, g, first_word(seed, stream, episode))
    _view(t, g, legal, mask, obs)


@kernel
def step_one(tables, states, action, legal, mask, obs):
    """Step one game and write what the seat to move gets.

    Return that seat, less 4 once the game is over (the seat is then the one that acted last); or 4 if the action is
    not legal, and nothing has changed.
    """
    if action < 0 or action >= len(legal) or legal[action] == 0:
        return SEATS
    t, g = tables[0], states[0]
    apply(t, g, action)
    _view(t, g, legal, mask, obs)
    return g.seat - SEATS * g.done


@kernel
def look_one(tables, states, seat, legal, mask, obs):
    """Write what a seat of one game sees and its legal decisions: `legal`, or none if it is not to move."""
    t, g = tables[0], states[0]
    observe(t, g, seat, obs)
    for action in range(len(mask)):
        mask[action] = legal[action] if seat == g.seat else 0


@kernel
def finish_one(tables, states, reward, reports):
    """Report the end of one game."""
    finish(tables[0], states[0], reward, reports[0])

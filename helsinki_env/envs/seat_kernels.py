"""Compiled step loop of a batch with one learning seat per game; opponents act for the other seats.

A step begins with one action of the learner in every game. Then the games in which an opponent acts next are gathered
in compact arrays, and the opponents choose their actions. This repeats until every game is over or it is the learner's
turn again; `step_seat_games` is one such round. Uniformly random opponents act in compiled code, without returning to
Python.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import observe, write_mask
from helsinki_env.engine.playout import sample_action
from helsinki_env.engine.rng import GOLDEN, initial_state, mix
from helsinki_env.envs.kernels import (
    NEXT_STEP,
    PREFETCH_DISTANCE,
    SAME_STEP,
    begin_episode,
    fill_report,
    prefetch_mask,
    prefetch_state,
)

NO_ACTION = -1
ROTATE, RANDOM = -1, -2
#: Offsets of the random streams for the learner's seat and the players' keys, separate from those of deal and options.
_SEAT_STREAM = np.uint64(1 << 62)
_PLAYERS_STREAM = np.uint64(1 << 61)
_S32 = np.uint64(32)

#: Seat assignment of a game; one row per game.
SEATING = np.dtype(
    (
        np.record,
        [
            ("keys", np.uint64, (MAX_SEATS,)),  # random stream of the player at each seat
            ("learner", np.int64),  # seat of the learner
            ("over", np.bool_),  # whether the game is finished or an illegal action has ended it
        ],
    )
)

#: Constants of a step, in a single record.
RULES = np.dtype(
    (
        np.record,
        [
            ("seat", np.int64),  # the learner's seat, or ROTATE or RANDOM
            ("mode", np.int64),
            ("reward", np.int64),
            ("penalty", np.float32),  # reward for an illegal action
            ("random", np.int64),  # bit set of random opponents, by clockwise distance from the learner minus 1
        ],
    )
)


class Turns(NamedTuple):
    """The games to step: their indices, one action for each, and flags for games without an action of the learner."""

    games: Any  # int64 (B,); the kernel overwrites the first entries with the games waiting for an opponent
    actions: Any  # int64, one for each of the first entries of `games`
    early: Any  # bool (B,), by game index; also set for newly dealt games


class LearnerViews(NamedTuple):
    """Masks and observations of the learners; written by the kernels."""

    legal: Any  # int8 (B, A), the environment's own copy of the mask
    mask: Any  # int8 (B, A)
    obs: Any  # int8 (B, F)


class OpponentViews(NamedTuple):
    """Inputs of the opponents; written by the kernels. Only the first rows are used, one for each waiting game."""

    numbers: Any  # opponent index, starting from 0, int64 (B,)
    keys: Any  # uint64 (B,)
    mask: Any  # int8 (B, A)
    obs: Any  # int8 (B, F)


@kernel
def _seat_players(g, run, seating, how):
    """Assign the seats of a new game and initialize the players' random streams."""
    players = np.int64(g.players)
    if how.seat >= 0:
        seating.learner = how.seat
    elif how.seat == ROTATE:
        seating.learner = np.int64((run.stream + run.episode) % np.uint64(players))
    else:
        key = initial_state(run.seed, run.stream ^ _SEAT_STREAM, run.episode)
        seating.learner = np.int64(((key >> _S32) * np.uint64(players)) >> _S32)
    key = initial_state(run.seed, run.stream ^ _PLAYERS_STREAM, run.episode)
    for seat in range(MAX_SEATS):
        seating.keys[seat] = mix((key ^ np.uint64(seat)) + GOLDEN)
    seating.over = False


@kernel
def _begin(b, games, seatings, how):
    g, run = games.states[b], games.runs[b]
    begin_episode(games.tables[0], g, run, games.setup[b % len(games.setup)], games.drawn[0])
    _seat_players(g, run, seatings[b], how)


@kernel
def reset_seat_games(games, seatings, rules, chosen):
    """Deal the chosen games; `step_seat_games` without actions then advances them to the learner's turn."""
    for b in range(len(games.states)):
        if chosen[b]:
            _begin(b, games, seatings, rules[0])


@kernel
def first_illegal_seat_game(seatings, games, actions, legal):
    """Return the index (within `games`) of the first unfinished game whose action is illegal, or -1."""
    for k in range(len(games)):
        b, action = games[k], actions[k]
        if not seatings[b].over and (action < 0 or action >= legal.shape[1] or legal[b, action] == 0):
            return k
    return -1


@kernel
def _opponent(g, seating):
    """Return the index of the acting opponent (clockwise distance from the learner minus 1), or -1 for the learner."""
    return (np.int64(g.seat) - seating.learner + g.players) % g.players - 1


@kernel
def _next_key(g, seating):
    """Return the next random key of the acting player."""
    seating.keys[g.seat] += GOLDEN
    return mix(seating.keys[g.seat])


@kernel
def _play_random(t, g, seating, how, legal):
    """Apply actions of random opponents until another player acts next."""
    while not g.done:
        opponent = _opponent(g, seating)
        if opponent < 0 or not (how.random >> opponent) & 1:
            return
        write_mask(t, g, legal)
        key = mix(_next_key(g, seating) + GOLDEN)  # same sampling as in `helsinki_env.agents.random`
        apply_action(t, g, sample_action(legal, key))


@kernel
def _penalize(t, g, seating, how, report):
    """End the game after an illegal action: the learner is last and gets the penalty; the others share the opposite."""
    seating.over = True
    fill_report(t, g, how.reward, report)
    report.illegal = True
    for seat in range(g.players):
        report.rewards[seat] = -how.penalty / (g.players - 1)
        report.places[seat] -= report.places[seat] > report.places[seating.learner]
    report.rewards[seating.learner] = how.penalty
    report.places[seating.learner] = g.players - 1


@kernel
def _decide(t, g, seating, how, action, legal, early, report):
    """Apply an action, unless it is -1 (none), and the subsequent actions of random opponents.

    `early`: whether the learner has not acted since the game was dealt or loaded. If such a game ends, the learner's
    next step accepts any action and reports the end, because `reset` and `set_state` do not report results.
    """
    if g.done:
        pass  # the game ended early, and this is the learner's next step, which reports it
    elif action >= 0 and action < len(legal) and legal[action]:
        apply_action(t, g, action)
    elif action != NO_ACTION:
        _penalize(t, g, seating, how, report)
        return
    _play_random(t, g, seating, how, legal)
    if g.done and not early:
        seating.over = True
        fill_report(t, g, how.reward, report)


@kernel
def _write_legal(t, g, legal, mask):
    """Write the legal actions to both arrays."""
    write_mask(t, g, legal)
    for action in range(len(mask)):
        mask[action] = legal[action]


@kernel
def _show_learner(t, g, seating, legal, mask, obs):
    """Write the learner's mask and observation; after the end of the game, the mask is all ones."""
    if seating.over or g.done:
        legal[:] = 0 if seating.over else 1  # a game that ended early accepts any action
        mask[:] = 1
    else:
        _write_legal(t, g, legal, mask)
    observe(t, g, seating.learner, obs)


@kernel
def step_seat_games(games, seatings, rules, turns, views, results, opponents):
    """Apply one action of the learner or an opponent, or `NO_ACTION`, in each of the listed games.

    Games that end are reported and restarted according to the autoreset mode. For games that are over or in which the
    learner acts next, the rows of `views` are written. The others are gathered for the opponents: their indices are the
    first entries of `turns.games`, in the order of the rows of `opponents`. Return the number of these games.

    `results.rewards` and `results.ended` must be 0 and False before the first round. For a game that ends, they are set
    to the learner's reward and True.
    """
    t, how, states, count = games.tables[0], rules[0], games.states, len(turns.actions)
    waiting = 0
    for k in range(count):
        b = turns.games[k]
        g, run, seating, report = states[b], games.runs[b], seatings[b], results.reports[b]
        far = turns.games[min(k + PREFETCH_DISTANCE, count - 1)]
        prefetch_state(states, far * states.itemsize)
        prefetch_mask(views.mask, far * views.mask.shape[1])
        if not seating.over:
            _decide(t, g, seating, how, turns.actions[k], views.legal[b], turns.early[b], report)
            if seating.over:
                results.ended[b], results.rewards[b] = True, report.rewards[seating.learner]
                report.seat = seating.learner
                if how.mode == SAME_STEP:
                    observe(t, g, seating.learner, results.last[b])
        # NEXT_STEP: games that were over before this step are dealt now.
        if seating.over and (how.mode == SAME_STEP or (how.mode == NEXT_STEP and not results.ended[b])):
            run.episode += np.uint64(1)
            _begin(b, games, seatings, how)
            _play_random(t, g, seating, how, views.legal[b])
            turns.early[b] = True
        opponent = np.int64(-1) if seating.over or g.done else _opponent(g, seating)
        if opponent < 0:
            _show_learner(t, g, seating, views.legal[b], views.mask[b], views.obs[b])
            continue
        _write_legal(t, g, views.legal[b], opponents.mask[waiting])
        observe(t, g, g.seat, opponents.obs[waiting])
        opponents.numbers[waiting] = opponent
        opponents.keys[waiting] = _next_key(g, seating)
        turns.games[waiting] = b
        waiting += 1
    return waiting

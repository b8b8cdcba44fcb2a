"""Afterstates: for each legal action, the features of the position at the end of the turn.

The encoder reads only the observation: it determinizes the hidden cards, applies each action and finishes the turn with
the heuristic. The features describe the resulting position from the point of view of the acting seat, without cards
that were revealed during the turn. The network therefore has to learn only the value of positions, not the geometry of
slides or the arithmetic of payments.

Each game defines its features (`helsinki_env.agents.net.features`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int8Array, Int64Array
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, final_win_probability, select_action
from helsinki_env.agents.net.features import (
    FeatureOffsets,
    apply_and_track_reveals,
    feature_offsets,
    view_of,
    write_features,
)
from helsinki_env.agents.rows import validate_inputs
from helsinki_env.agents.search.workspace import WorkspacePool, determinize_trial, reset_views
from helsinki_env.engine.arrays import integer_array
from helsinki_env.engine.contract import MAX_SEATS, apply_action
from helsinki_env.engine.determinization import states_from_observations
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import default_config, spec_of


@dataclass(frozen=True)
class AfterstateBatch:
    """Network inputs: B rows with C legal actions and N afterstates in total; S and G are feature counts."""

    first: Int64Array  # (B + 1,): start offset of the actions of each row; the last entry is C
    action: npt.NDArray[np.int16]  # (C,): ids, ascending in each row
    advice: npt.NDArray[np.float32]  # (C,): heuristic value minus that of the row's best action, in points, <= 0
    position: Int64Array  # (C,): index of the afterstate
    begin: Int64Array  # (B + 1,): start offset of the afterstates of each row; the last entry is N
    seats: Int8Array  # (N, P, S): features of every seat, the viewer first; zero for absent seats
    table: Int8Array  # (N, G): features of the table and of the viewer's private information
    ended: npt.NDArray[np.float32]  # (N,): the viewer's win probability if the game is over, otherwise -1

    def __len__(self) -> int:
        """Return the number of rows B."""
        return len(self.first) - 1

    @property
    def row(self) -> Int64Array:
        """The row of each action, int64 (C,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def take(self, rows: Int64Array) -> AfterstateBatch:
        """Return a batch of the given rows, int64 (n,), in this order; rows may be repeated."""
        first, choices = _spread(self.first, rows)
        begin, positions = _spread(self.begin, rows)
        moved = np.repeat(begin[:-1] - self.begin[rows], np.diff(first))
        return AfterstateBatch(
            first, self.action[choices], self.advice[choices], self.position[choices] + moved,
            begin, self.seats[positions], self.table[positions], self.ended[positions],
        )  # fmt: skip

    def keep(self, choices: npt.NDArray[np.bool_]) -> AfterstateBatch:
        """Return all rows, but only the selected actions and their afterstates.

        `choices`, bool (C,), selects at least one action per row.
        """
        used = np.zeros(len(self.table), np.bool_)
        used[self.position[choices]] = True
        return AfterstateBatch(
            cumulative_offsets(np.add.reduceat(choices, self.first[:-1], dtype=np.int64)),
            self.action[choices], self.advice[choices], (np.cumsum(used) - 1)[self.position[choices]],
            cumulative_offsets(np.add.reduceat(used, self.begin[:-1], dtype=np.int64)),
            self.seats[used], self.table[used], self.ended[used],
        )  # fmt: skip

    @classmethod
    def join(cls, parts: Sequence[AfterstateBatch]) -> AfterstateBatch:
        """Concatenate batches."""
        positions = np.cumsum([0, *(len(part.table) for part in parts)])
        return cls(
            _chain([part.first for part in parts]),
            np.concatenate([part.action for part in parts]),
            np.concatenate([part.advice for part in parts]),
            np.concatenate([part.position + before for part, before in zip(parts, positions, strict=False)]),
            _chain([part.begin for part in parts]),
            np.concatenate([part.seats for part in parts]),
            np.concatenate([part.table for part in parts]),
            np.concatenate([part.ended for part in parts]),
        )


def _spread(begin: Int64Array, rows: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the offsets of the selected rows and the indices of their items."""
    counts = begin[rows + 1] - begin[rows]
    now = cumulative_offsets(counts)
    return now, np.arange(now[-1]) + np.repeat(begin[rows] - now[:-1], counts)


def cumulative_offsets(counts: Int64Array) -> Int64Array:
    """Return the start offset of each row, given the number of entries per row; the last element is the total."""
    return np.concatenate(([0], np.cumsum(counts)))


def _chain(begins: list[Int64Array]) -> Int64Array:
    ends = np.cumsum([0, *(begin[-1] for begin in begins)])
    return np.concatenate([*(begin[:-1] + end for begin, end in zip(begins, ends, strict=False)), ends[-1:]])


#: Maximum number of actions evaluated per row: those with the highest heuristic values. Other actions share the
#: afterstate of the best one.
MAX_EVALUATED_CHOICES = 8
#: Largest encoded difference between the heuristic values of two actions, in points.
_FAR_BEHIND = 8.0


@kernel
def _finish_turn(ws, g, seat, drawn):
    """Play the rest of a seat's turn with the heuristic; return the set of slots with revealed cards."""
    t, p = ws.tables[0], ws.pieces[0]
    while not g.done and g.seat == seat:
        write_mask(t, g, ws.mask)
        view = ws.views[view_of(ws, g, seat)]
        action = select_action(t, p, ws.weights[seat], g, view, ws.mask, ws.values, False)
        drawn = apply_and_track_reveals(t, g, action, drawn)
    return drawn


@kernel
def _write_final_win_probabilities(t, g, viewer, shares):
    """Write every seat's win probability at the end of a game, in seat order starting with the viewer."""
    for i in range(g.players):
        shares[i] = final_win_probability(t, g, (viewer + i) % g.players)


@kernel
def _write_choices(ws, g, choices, b, begin):
    """Write the legal actions of game `b`; return the number to simulate, listed in `ws.arms`, best first.

    The afterstates of these actions are numbered starting at `begin`. All other actions share the first afterstate.
    """
    mask, first, action, advice, position = (
        choices.masks[b], choices.first[b], choices.action, choices.advice, choices.position,
    )  # fmt: skip
    ws.values[:] = ILLEGAL_VALUE
    select_action(ws.tables[0], ws.pieces[0], ws.weights[g.seat], g, ws.views[MAX_SEATS], mask, ws.values, True)
    end = first
    for i in range(len(mask)):
        if mask[i]:
            action[end], advice[end], position[end] = i, ws.values[i], -1
            end += 1
    top = min(end - first, choices.most)
    for i in range(first, end):  # insertion sort into the list of the best actions; on ties, the lowest id comes first
        rank = min(i - first, top)
        while rank > 0 and advice[i] > advice[ws.arms[rank - 1]]:
            if rank < top:
                ws.arms[rank] = ws.arms[rank - 1]
            rank -= 1
        if rank < top:
            ws.arms[rank] = i
    best = max(ILLEGAL_VALUE, np.float64(advice[ws.arms[0]]))
    for rank in range(top):
        position[ws.arms[rank]] = begin + rank
        ws.arms[rank] = action[ws.arms[rank]]
    for i in range(first, end):
        if position[i] >= 0:
            advice[i] = max(-_FAR_BEHIND, advice[i] - best)
        else:
            advice[i], position[i] = -_FAR_BEHIND, begin
    return top


class Simulations(NamedTuple):
    """Actions to simulate in each of B games: the first actions of `arms`, or the best legal actions of `choices`."""

    keys: Any  # random keys, uint64 (B,); advanced by `step` before each determinization
    step: Any  # uint64
    deals: Any  # number of determinizations, int64 (B,)
    counts: Any  # number of actions to simulate in each of them, int64 (B,); overwritten if `choices` are used
    arms: Any  # actions to simulate, int64 (B, m); m may be 0 if `choices` are used
    turns: Any  # number of turns to simulate after the current one


class Choices(NamedTuple):
    """The legal actions of B games, from which the heuristic selects; most fields are those of `AfterstateBatch`."""

    most: Any  # maximum number of actions to simulate in each game
    masks: Any  # int8 (B, A), or (0, A) without choices
    first: Any
    action: Any
    advice: Any
    position: Any
    begin: Any

    @classmethod
    def of(cls, masks: Int8Array, most: int = 0) -> Choices:
        """Create the arrays for masks, int8 (B, A)."""
        first = cumulative_offsets(masks.sum(axis=1, dtype=np.int64))
        count = int(first[-1])
        return cls(
            most, masks, first, np.zeros(count, np.int16), np.zeros(count, np.float32), np.zeros(count, np.int64),
            np.zeros(len(masks) + 1, np.int64),
        )  # fmt: skip

    @classmethod
    def none(cls, config: Any) -> Choices:
        """Create empty arrays, for simulations of given actions."""
        return cls.of(np.zeros((0, spec_of(config).num_actions(config)), np.int8))


class Afterstates(NamedTuple):
    """N positions after simulations; the first two fields are those of `AfterstateBatch`."""

    seats: Any
    table: Any
    shares: Any  # float64 (N, 4): win probabilities, the viewer first, if the game is over; otherwise -1 and zeros

    @classmethod
    def of(cls, count: int, players: int, offsets: FeatureOffsets) -> Afterstates:
        """Create arrays for `count` positions."""
        return cls(
            np.zeros((count, players, offsets.seat[-1]), np.int8), np.zeros((count, offsets.table[-1]), np.int8),
            np.zeros((count, MAX_SEATS)),
        )  # fmt: skip


@kernel
def simulate_games(ws, games, choices, plan, offsets, out):
    """Simulate actions in determinizations of every game; write the features of the final positions."""
    t, p = ws.tables[0], ws.pieces[0]
    n = 0
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        reset_views(ws, plan.keys[b])
        if len(choices.masks):
            choices.begin[b] = n
            plan.counts[b] = _write_choices(ws, g, choices, b, n)
        else:
            for i in range(plan.counts[b]):
                ws.arms[i] = plan.arms[b, i]
        for _ in range(plan.deals[b]):
            plan.keys[b] += plan.step
            determinize_trial(ws, g, plan.keys[b])
            for i in range(plan.counts[b]):
                ws.trial[0] = ws.deal[0]
                trial = ws.trial[0]
                drawn = apply_and_track_reveals(t, trial, ws.arms[i], 0)
                drawn = _finish_turn(ws, trial, seat, drawn)
                for _ in range(plan.turns):
                    while not trial.done and trial.seat != seat:
                        write_mask(t, trial, ws.mask)
                        other, view = ws.weights[trial.seat], ws.views[trial.seat]
                        apply_action(t, trial, select_action(t, p, other, trial, view, ws.mask, ws.values, False))
                    drawn = _finish_turn(ws, trial, seat, 0)
                write_features(ws, trial, seat, drawn, offsets[0], offsets[1], out.seats[n], out.table[n])
                out.shares[n, 0] = -1.0
                if trial.done:
                    _write_final_win_probabilities(t, trial, seat, out.shares[n])
                n += 1
    choices.begin[len(choices.masks)] = n


@kernel
def permute_rows(x, order, index, out):
    """Write rows, int8 (N, S), each permuted by the row of `order`, int64 (K, S), with its `index`, int64 (N,)."""
    for n in range(len(x)):
        permutation = order[index[n]]
        for i in range(x.shape[1]):
            out[n, i] = x[n, permutation[i]]


class AfterstateEncoder:
    """Encode observations as network inputs; thread-safe.

    Args:
        config: game configuration; only its component file is used.
        most: maximum number of actions evaluated per row.
        ahead: whether to add look-ahead features for every seat's next turn.
    """

    def __init__(self, config: Any = None, most: int = MAX_EVALUATED_CHOICES, ahead: bool = False) -> None:
        self.config, self.most = config or default_config(), most
        self._at = feature_offsets(self.config, ahead)  # imports the game's kernel implementations
        self._workspaces = WorkspacePool(self.config, boards=0)

    def write(self, observation: Int8Array, mask: Int8Array, seats: int | None = None) -> AfterstateBatch:
        """Return the network inputs for observations, int8 (B, F), and masks, int8 (B, A).

        The batch has P = `seats` seats, by default as many as the largest number of players.
        """
        games, mask, _ = validate_inputs(self.config, observation, mask)
        at = self._at
        choices = Choices.of(mask, self.most)
        positions = int(np.minimum(np.diff(choices.first), self.most).sum())
        if seats is None:
            seats = int(games["players"].max(initial=2))
        keys, deals = np.full(len(mask), GOLDEN, np.uint64), np.ones(len(mask), np.int64)
        plan = Simulations(keys, np.uint64(0), deals, np.zeros(len(mask), np.int64), np.zeros((0, 0), np.int64), 0)
        out = Afterstates.of(positions, seats, at)
        with self._workspaces.borrow() as ws:
            simulate_games(ws, games, choices, plan, at, out)
        return AfterstateBatch(
            choices.first, choices.action, choices.advice, choices.position, choices.begin,
            out.seats, out.table, out.shares[:, 0].astype(np.float32),
        )  # fmt: skip

    def ends(self, observation: Int8Array, actions: Int64Array) -> npt.NDArray[np.float32]:
        """Return win probabilities, the viewer first, float32 (B, 4), after actions that end the game, int64 (B,)."""
        games = states_from_observations(self.config, observation)
        actions = integer_array("actions", actions, (len(games),), 0, spec_of(self.config).num_actions(self.config) - 1)
        keys, ones = np.full(len(games), GOLDEN, np.uint64), np.ones(len(games), np.int64)
        plan = Simulations(keys, np.uint64(0), ones, ones, actions[:, None], 0)
        out = Afterstates.of(len(games), int(games["players"].max(initial=2)), self._at)
        with self._workspaces.borrow() as ws:
            simulate_games(ws, games, Choices.none(self.config), plan, self._at, out)
        return np.maximum(out.shares, 0.0).astype(np.float32)

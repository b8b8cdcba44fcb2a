"""Afterstates: for each legal action, the features of the position at the end of the turn, from the observation alone.

The encoder determinizes the hidden cards, applies each action and lets the heuristic finish the turn. The features
describe the resulting position as the acting seat sees it. Cards revealed on the way stay blank. The network therefore
only learns the value of positions, not the geometry of slides or the arithmetic of payments.

Each game defines its features (`helsinki_env.agents.net.features`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.base import Int8Array, Int64Array
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, select_action
from helsinki_env.agents.net.features import apply_and_track_reveals, feature_offsets, view_of, write_features
from helsinki_env.agents.rows import validate_inputs
from helsinki_env.agents.search.workspace import WorkspacePool, determinize_trial, reset_views
from helsinki_env.engine.arrays import integer_array
from helsinki_env.engine.contract import MAX_SEATS, rank_of
from helsinki_env.engine.determinization import states_from_observations
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import default_config, spec_of

__all__ = [
    "AfterstateBatch",
    "AfterstateEncoder",
    "cumulative_offsets",
    "final_win_probability",
    "finish_turn",
    "write_final_win_probabilities",
]


@dataclass(frozen=True)
class AfterstateBatch:
    """Network inputs: B rows with C legal actions in total, which lead to N afterstates; S and G are feature counts."""

    first: Int64Array  # (B + 1,): offset of the actions of each row; the last entry is C
    action: npt.NDArray[np.int16]  # (C,): ids, ascending in each row
    advice: npt.NDArray[np.float32]  # (C,): heuristic value minus that of the best action of the row, points, <= 0
    position: Int64Array  # (C,): afterstate
    begin: Int64Array  # (B + 1,): offset of the afterstates of each row; the last entry is N
    seats: Int8Array  # (N, P, S): features of every seat, the viewer first; zero for absent seats
    table: Int8Array  # (N, G): features of the table and of the viewer's private information
    ended: npt.NDArray[np.float32]  # (N,): the viewer's win probability if the game is over, or else -1

    def __len__(self) -> int:
        """Return the number of rows B."""
        return len(self.first) - 1

    @property
    def row(self) -> Int64Array:
        """Row of each action, int64 (C,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def take(self, rows: Int64Array) -> AfterstateBatch:
        """Return the batch of the given rows, int64 (n,), in that order; rows may repeat."""
        first, choices = _spread(self.first, rows)
        begin, positions = _spread(self.begin, rows)
        moved = np.repeat(begin[:-1] - self.begin[rows], np.diff(first))
        return AfterstateBatch(
            first, self.action[choices], self.advice[choices], self.position[choices] + moved,
            begin, self.seats[positions], self.table[positions], self.ended[positions],
        )  # fmt: skip

    def keep(self, choices: npt.NDArray[np.bool_]) -> AfterstateBatch:
        """Return all rows with the selected actions only, bool (C,), at least one per row, and their afterstates."""
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
    """Return the offset of each row from the counts per row; the last entry is the total."""
    return np.concatenate(([0], np.cumsum(counts)))


def _chain(begins: list[Int64Array]) -> Int64Array:
    ends = np.cumsum([0, *(begin[-1] for begin in begins)])
    return np.concatenate([*(begin[:-1] + end for begin, end in zip(begins, ends, strict=False)), ends[-1:]])


#: Maximum number of actions evaluated per row, those that the heuristic values most. The others share the afterstate
#: of the best one. Only placements have more legal actions.
MAX_EVALUATED_CHOICES = 8
#: Largest encoded difference between the heuristic values of two actions, points.
_FAR_BEHIND = 8.0


@kernel
def finish_turn(ws, g, seat, drawn):
    """Play the rest of a seat's turn by the heuristic; return the set of slots with revealed cards."""
    t, p = ws.tables[0], ws.pieces[0]
    while not g.done and g.seat == seat:
        write_mask(t, g, ws.mask)
        view = ws.views[view_of(ws, g, seat)]
        action = select_action(t, p, ws.weights[seat], g, view, ws.mask, ws.values, False)
        drawn = apply_and_track_reveals(t, g, action, drawn)
    return drawn


@kernel
def final_win_probability(t, g, seat):
    """Return a seat's win probability at the end of a game; winners share it equally."""
    first = 0
    for other in range(g.players):
        first += rank_of(t, g, other) == 0
    return 1.0 / first if rank_of(t, g, seat) == 0 else 0.0


@kernel
def write_final_win_probabilities(t, g, viewer, shares):
    """Write every seat's win probability at the end of a game, in seat order from the viewer on."""
    for i in range(g.players):
        shares[i] = final_win_probability(t, g, (viewer + i) % g.players)


@kernel
def _write_choices(ws, g, mask, at, action, advice, position, begin, most):
    """Write the legal actions of one game from offset `at`; return the number to evaluate, listed in `ws.arms`."""
    ws.values[:] = ILLEGAL_VALUE
    select_action(ws.tables[0], ws.pieces[0], ws.weights[g.seat], g, ws.views[MAX_SEATS], mask, ws.values, True)
    count = 0
    for i in range(len(mask)):
        if mask[i]:
            value = ws.values[i]
            action[at + count] = i
            advice[at + count] = value
            position[at + count] = begin
            count += 1
    count_top = min(count, most)
    best = ILLEGAL_VALUE
    for rank in range(count_top):
        chosen = -1
        for i in range(at, at + count):
            if position[i] == begin and (chosen < 0 or advice[i] > advice[chosen]):
                chosen = i
        best = max(best, np.float64(advice[chosen]))
        position[chosen] = begin - 1 - rank  # marks it; corrected below
        ws.arms[rank] = action[chosen]
    for i in range(at, at + count):
        evaluated = position[i] < begin
        advice[i] = max(-_FAR_BEHIND, advice[i] - best) if evaluated else -_FAR_BEHIND
        position[i] = 2 * begin - 1 - position[i] if evaluated else begin
    return count_top


@kernel
def _encode_games(
    ws, games, masks, most, seat_at, table_at, first, action, advice, position, begin, seats, table, ended
):
    t = ws.tables[0]
    n = 0
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        reset_views(ws, GOLDEN)
        begin[b] = n
        count_top = _write_choices(ws, g, masks[b], first[b], action, advice, position, n, most)
        determinize_trial(ws, g, GOLDEN)
        for rank in range(count_top):
            ws.trial[0] = ws.deal[0]
            trial = ws.trial[0]
            drawn = apply_and_track_reveals(t, trial, ws.arms[rank], 0)
            drawn = finish_turn(ws, trial, seat, drawn)
            write_features(ws, trial, seat, drawn, seat_at, table_at, seats[n], table[n])
            ended[n] = final_win_probability(t, trial, seat) if trial.done else -1.0
            n += 1
    begin[len(games)] = n


@kernel
def _end(ws, games, actions, shares):
    """Write the win probabilities of games that an action ends, after the same determinization as `_encode_games`."""
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        reset_views(ws, GOLDEN)
        determinize_trial(ws, g, GOLDEN)
        apply_and_track_reveals(ws.tables[0], ws.deal[0], actions[b], 0)
        finish_turn(ws, ws.deal[0], seat, 0)
        if ws.deal[0].done:
            write_final_win_probabilities(ws.tables[0], ws.deal[0], seat, shares[b])


class AfterstateEncoder:
    """Encode observations as network inputs; thread-safe.

    Args:
        config: configuration of the games; only its component file matters.
        most: maximum number of actions evaluated per row.
        ahead: whether to add the look-ahead features of every seat's next turn.
    """

    def __init__(self, config: Any = None, most: int = MAX_EVALUATED_CHOICES, ahead: bool = False) -> None:
        self.config, self.most = config or default_config(), most
        self._at = feature_offsets(self.config, ahead)  # imports the game's implementations of the kernels
        self._workspaces = WorkspacePool(self.config, boards=0)

    def write(self, observation: Int8Array, mask: Int8Array, seats: int | None = None) -> AfterstateBatch:
        """Return the inputs of observations, int8 (B, F), and masks, int8 (B, A); P is `seats` or the most players."""
        games, mask, _ = validate_inputs(self.config, observation, mask)
        at = self._at
        legal = mask.sum(axis=1, dtype=np.int64)
        first = cumulative_offsets(legal)
        choices, positions = int(first[-1]), int(np.minimum(legal, self.most).sum())
        if seats is None:
            seats = int(games["players"].max(initial=2))
        i = AfterstateBatch(
            first,
            np.zeros(choices, np.int16),
            np.zeros(choices, np.float32),
            np.zeros(choices, np.int64),
            np.zeros(len(mask) + 1, np.int64),
            np.zeros((positions, seats, at.seat[-1]), np.int8),
            np.zeros((positions, at.table[-1]), np.int8),
            np.zeros(positions, np.float32),
        )
        with self._workspaces.borrow() as ws:
            _encode_games(
                ws, games, mask, self.most, at.seat, at.table, first, i.action, i.advice, i.position, i.begin,
                i.seats, i.table, i.ended,
            )  # fmt: skip
        return i

    def ends(self, observation: Int8Array, actions: Int64Array) -> npt.NDArray[np.float32]:
        """Return win probabilities from the viewer on, float32 (B, 4), after game-ending actions, int64 (B,)."""
        games = states_from_observations(self.config, observation)
        actions = integer_array("actions", actions, (len(games),), 0, spec_of(self.config).num_actions(self.config) - 1)
        shares = np.zeros((len(actions), MAX_SEATS), np.float32)
        with self._workspaces.borrow() as ws:
            _end(ws, games, actions, shares)
        return shares

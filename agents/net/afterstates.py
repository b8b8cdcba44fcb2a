"""What the network is told of a decision: for every choice, the position at the end of the turn that it leads to.

All of it is made from observation and mask. The hidden cards are dealt anew, each choice is carried out, and the
heuristic spends what is left of the turn; the position that results is described as the deciding seat would see it,
with cards turned up meanwhile left blank, since nobody can know them beforehand. So the network needs to learn what
positions are worth, and neither the geometry of slides nor the arithmetic of payments.

Each game defines its features (`helsinki_env.agents.net.features`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE, select_action
from helsinki_env.agents.net.choices import AfterstateBatch, cumulative_offsets
from helsinki_env.agents.net.features import apply_and_track_reveals, feature_offsets, view_of, write_features
from helsinki_env.agents.rows import validate_inputs
from helsinki_env.agents.search.playout import determinize_trial
from helsinki_env.agents.search.workspace import SearchWorkspace, new_workspace, reset_views
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
    "final_win_probability",
    "finish_turn",
    "write_final_win_probabilities",
]

#: Choices that are looked at in each decision; the others count as the heuristic's favourite, less what it thinks
#: them worse. There are more than so many only where tiles are placed.
MAX_EVALUATED_CHOICES = 8
#: The heuristic's opinion is told in points behind its favourite, and never as more than so many.
_FAR_BEHIND = 8.0


@kernel
def finish_turn(desk, g, seat, drawn):
    """Let the heuristic spend the rest of a seat's turn; return the slots whose cards were turned up, a set."""
    t, p = desk.tables[0], desk.pieces[0]
    while not g.done and g.seat == seat:
        write_mask(t, g, desk.mask)
        view = desk.views[view_of(desk, g, seat)]
        action = select_action(t, p, desk.weights[seat], g, view, desk.mask, desk.values, False)
        drawn = apply_and_track_reveals(t, g, action, drawn)
    return drawn


@kernel
def final_win_probability(t, g, seat):
    """A seat's share of the win in a game that is over: those in the first place share it."""
    first = 0
    for other in range(g.players):
        first += rank_of(t, g, other) == 0
    return 1.0 / first if rank_of(t, g, seat) == 0 else 0.0


@kernel
def write_final_win_probabilities(t, g, viewer, shares):
    """Write every seat's share of the win in a game that is over, from the viewer on."""
    for i in range(g.players):
        shares[i] = final_win_probability(t, g, (viewer + i) % g.players)


@kernel
def _write_choices(desk, g, mask, at, action, advice, position, begin, most):
    """Write the legal decisions of one game from `at` on; put the ids of those to be looked at on the desk.

    They are those that the heuristic values most, the best first; returns how many they are.
    """
    desk.values[:] = ILLEGAL_VALUE
    select_action(
        desk.tables[0], desk.pieces[0], desk.weights[g.seat], g, desk.views[MAX_SEATS], mask, desk.values, True
    )
    count = 0
    for i in range(len(mask)):
        if mask[i]:
            value = desk.values[i]
            action[at + count] = i
            advice[at + count] = value
            position[at + count] = begin
            count += 1
    looked = min(count, most)
    best = ILLEGAL_VALUE
    for rank in range(looked):
        chosen = -1
        for i in range(at, at + count):
            if position[i] == begin and (chosen < 0 or advice[i] > advice[chosen]):
                chosen = i
        best = max(best, np.float64(advice[chosen]))
        position[chosen] = begin - 1 - rank  # marks it; put right below
        desk.arms[rank] = action[chosen]
    for i in range(at, at + count):
        # Those that are not looked at are out of the question: what they lead to is not known.
        looked_at = position[i] < begin
        advice[i] = max(-_FAR_BEHIND, advice[i] - best) if looked_at else -_FAR_BEHIND
        position[i] = 2 * begin - 1 - position[i] if looked_at else begin
    return looked


@kernel
def _write(desk, games, masks, most, seat_at, table_at, first, action, advice, position, begin, seats, table, ended):
    t = desk.tables[0]
    found = 0
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        reset_views(desk, GOLDEN)
        begin[b] = found
        looked = _write_choices(desk, g, masks[b], first[b], action, advice, position, found, most)
        determinize_trial(desk, g, GOLDEN)
        for rank in range(looked):
            desk.trial[0] = desk.deal[0]
            trial = desk.trial[0]
            drawn = apply_and_track_reveals(t, trial, desk.arms[rank], 0)
            drawn = finish_turn(desk, trial, seat, drawn)
            write_features(desk, trial, seat, drawn, seat_at, table_at, seats[found], table[found])
            ended[found] = final_win_probability(t, trial, seat) if trial.done else -1.0
            found += 1
    begin[len(games)] = found


@kernel
def _end(desk, games, actions, shares):
    """Take a decision in every game as `_write` does; write the shares of the win where the game is over then."""
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        reset_views(desk, GOLDEN)
        determinize_trial(desk, g, GOLDEN)
        apply_and_track_reveals(desk.tables[0], desk.deal[0], actions[b], 0)
        finish_turn(desk, desk.deal[0], seat, 0)
        if desk.deal[0].done:
            write_final_win_probabilities(desk.tables[0], desk.deal[0], seat, shares[b])


class AfterstateEncoder:
    """Makes inputs from observations; may be shared by threads.

    Args:
        config: the games; only their component file matters.
        most: choices that are looked at in each decision.
        ahead: tell what the next turn of every seat can bring, too.
    """

    def __init__(self, config: Any = None, most: int = MAX_EVALUATED_CHOICES, ahead: bool = False) -> None:
        self.config, self.most = config or default_config(), most
        self._at = feature_offsets(self.config, ahead)  # imports what states the words that the kernels call
        self._desks: SimpleQueue[SearchWorkspace] = SimpleQueue()

    @contextmanager
    def _desk(self) -> Iterator[SearchWorkspace]:
        """A desk that nobody else is using."""
        try:
            desk = self._desks.get_nowait()
        except Empty:
            desk = new_workspace(self.config)
        try:
            yield desk
        finally:
            self._desks.put(desk)

    def write(
        self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], seats: int | None = None
    ) -> AfterstateBatch:
        """Return the inputs for decisions.

        Args:
            observation: int8 (B, F).
            mask: legal decisions, int8 (B, A), at least one in each row.
            seats: P; default: as many as sit in the fullest game.

        Raises:
            ObservationError: if these are no observations of such games.
        """
        games, mask, _ = validate_inputs(self.config, observation, mask)
        at = self._at
        legal = mask.sum(axis=1, dtype=np.int64)
        first = cumulative_offsets(legal)
        choices, positions = int(first[-1]), int(np.minimum(legal, self.most).sum())
        if seats is None:
            seats = int(games["players"].max(initial=2))
        inputs = AfterstateBatch(
            first,
            np.zeros(choices, np.int16),
            np.zeros(choices, np.float32),
            np.zeros(choices, np.int64),
            np.zeros(len(mask) + 1, np.int64),
            np.zeros((positions, seats, at.seat[-1]), np.int8),
            np.zeros((positions, at.table[-1]), np.int8),
            np.zeros(positions, np.float32),
        )
        i = inputs
        with self._desk() as desk:
            _write(
                desk, games, mask, self.most, at.seat, at.table, first, i.action, i.advice, i.position, i.begin,
                i.seats, i.table, i.ended,
            )  # fmt: skip
        return inputs

    def ends(self, observation: npt.NDArray[np.int8], actions: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
        """Return every seat's share of the win, from the viewer on, after decisions that end the game, float32 (B, 4).

        Args:
            observation: int8 (B, F).
            actions: a legal decision of each row with which `AfterstateBatch.ended` says the game is over, int64 (B,).
        """
        games = states_from_observations(self.config, observation)
        actions = integer_array("actions", actions, (len(games),), 0, spec_of(self.config).num_actions(self.config) - 1)
        shares = np.zeros((len(actions), MAX_SEATS), np.float32)
        with self._desk() as desk:
            _end(desk, games, actions, shares)
        return shares

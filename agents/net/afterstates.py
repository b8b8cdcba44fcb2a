"""What the network is told of a decision: for every choice, the position at the end of the turn that it leads to.

All of it is made from observation and mask. The hidden cards are dealt anew, each choice is carried out, and the
heuristic spends what is left of the turn; the position that results is described as the deciding seat would see it,
with cards turned up meanwhile left blank, since nobody can know them beforehand. So the network needs to learn what
positions are worth, and neither the geometry of slides nor the arithmetic of payments.

What is told of a position, each game says (`helsinki_env.agents.net.features`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env import GameConfig
from helsinki_env.agents.heuristic_api import NOTHING, decide
from helsinki_env.agents.net.choices import Inputs, ends
from helsinki_env.agents.net.features import carry_out, places, view_of, write_position
from helsinki_env.agents.rows import checked_rows
from helsinki_env.agents.search.playout import deal_anew
from helsinki_env.agents.search.workspace import Desk, clear, new_desk
from helsinki_env.engine.arrays import integers
from helsinki_env.engine.contract import SEATS, place_of
from helsinki_env.engine.determinization import restore
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.engine.spec import spec_of

__all__ = ["Inputs", "Writer", "finish_turn", "win_share", "write_win_shares"]

#: Choices that are looked at in each decision; the others count as the heuristic's favourite, less what it thinks
#: them worse. There are more than so many only where tiles are placed.
MOST = 8
#: The heuristic's opinion is told in points behind its favourite, and never as more than so many.
_FAR_BEHIND = 8.0


@kernel
def finish_turn(desk, g, seat, drawn):
    """Let the heuristic spend the rest of a seat's turn; return the slots whose cards were turned up, a set."""
    t, p = desk.tables[0], desk.pieces[0]
    while not g.done and g.seat == seat:
        write_mask(t, g, desk.mask)
        view = desk.views[view_of(desk, g, seat)]
        action = decide(t, p, desk.weights[seat], g, view, desk.mask, desk.values, False)
        drawn = carry_out(t, g, action, drawn)
    return drawn


@kernel
def win_share(t, g, seat):
    """A seat's share of the win in a game that is over: those in the first place share it."""
    first = 0
    for other in range(g.players):
        first += place_of(t, g, other) == 0
    return 1.0 / first if place_of(t, g, seat) == 0 else 0.0


@kernel
def write_win_shares(t, g, viewer, shares):
    """Write every seat's share of the win in a game that is over, from the viewer on."""
    for i in range(g.players):
        shares[i] = win_share(t, g, (viewer + i) % g.players)


@kernel
def _write_choices(desk, g, mask, at, action, advice, position, begin, most):
    """Write the legal decisions of one game from `at` on; put the ids of those to be looked at on the desk.

    They are those that the heuristic values most, the best first; returns how many they are.
    """
    desk.values[:] = NOTHING
    decide(desk.tables[0], desk.pieces[0], desk.weights[g.seat], g, desk.views[SEATS], mask, desk.values, True)
    count = 0
    for i in range(len(mask)):
        if mask[i]:
            value = desk.values[i]
            action[at + count] = i
            advice[at + count] = value
            position[at + count] = begin
            count += 1
    looked = min(count, most)
    best = NOTHING
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
        clear(desk, GOLDEN)
        begin[b] = found
        looked = _write_choices(desk, g, masks[b], first[b], action, advice, position, found, most)
        deal_anew(desk, g, GOLDEN)
        for rank in range(looked):
            desk.trial[0] = desk.deal[0]
            trial = desk.trial[0]
            drawn = carry_out(t, trial, desk.arms[rank], 0)
            drawn = finish_turn(desk, trial, seat, drawn)
            write_position(desk, trial, seat, drawn, seat_at, table_at, seats[found], table[found])
            ended[found] = win_share(t, trial, seat) if trial.done else -1.0
            found += 1
    begin[len(games)] = found


@kernel
def _end(desk, games, actions, shares):
    """Take a decision in every game as `_write` does; write the shares of the win where the game is over then."""
    for b in range(len(games)):
        g = games[b]
        seat = np.int64(g.seat)
        clear(desk, GOLDEN)
        deal_anew(desk, g, GOLDEN)
        carry_out(desk.tables[0], desk.deal[0], actions[b], 0)
        finish_turn(desk, desk.deal[0], seat, 0)
        if desk.deal[0].done:
            write_win_shares(desk.tables[0], desk.deal[0], seat, shares[b])


class Writer:
    """Makes inputs from observations; may be shared by threads.

    Args:
        config: the games; only their component file matters.
        most: choices that are looked at in each decision.
        ahead: tell what the next turn of every seat can bring, too.
    """

    def __init__(self, config: Any = None, most: int = MOST, ahead: bool = False) -> None:
        self.config, self.most = config or GameConfig(), most
        self._at = places(self.config, ahead)  # imports what states the words that the kernels call
        self._desks: SimpleQueue[Desk] = SimpleQueue()

    @contextmanager
    def _desk(self) -> Iterator[Desk]:
        """A desk that nobody else is using."""
        try:
            desk = self._desks.get_nowait()
        except Empty:
            desk = new_desk(self.config)
        try:
            yield desk
        finally:
            self._desks.put(desk)

    def write(self, observation: npt.NDArray[np.int8], mask: npt.NDArray[np.int8], seats: int | None = None) -> Inputs:
        """Return the inputs for decisions.

        Args:
            observation: int8 (B, F).
            mask: legal decisions, int8 (B, A), at least one in each row.
            seats: P; default: as many as sit in the fullest game.

        Raises:
            ObservationError: if these are no observations of such games.
        """
        games, mask, _ = checked_rows(self.config, observation, mask)
        at = self._at
        legal = mask.sum(axis=1, dtype=np.int64)
        first = ends(legal)
        choices, positions = int(first[-1]), int(np.minimum(legal, self.most).sum())
        if seats is None:
            seats = int(games["players"].max(initial=2))
        inputs = Inputs(
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
            actions: a legal decision of each row with which `Inputs.ended` says the game is over, int64 (B,).
        """
        games = restore(self.config, observation)
        actions = integers("actions", actions, (len(games),), 0, spec_of(self.config).ids(self.config) - 1)
        shares = np.zeros((len(actions), SEATS), np.float32)
        with self._desk() as desk:
            _end(desk, games, actions, shares)
        return shares

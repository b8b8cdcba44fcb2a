"""What the network is told of a decision: for every choice, the position at the end of the turn that it leads to.

All of it is made from observation and mask. The hidden cards are dealt anew, each choice is carried out, and the
heuristic spends what is left of the turn; the position that results is described as the deciding seat would see it,
with cards turned up meanwhile left blank, since nobody can know them beforehand. So the network needs to learn what
positions are worth, and neither the geometry of slides nor the arithmetic of payments.

Codes become one-hot and counts become steps, so that a linear layer can use them, and every seat is described alike, so
that one encoder serves all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.helsinki.decide import decide
from agents.helsinki.view import NOTHING, holds
from agents.helsinki.worth import worth
from agents.search.desk import Desk, clear, new_desk
from agents.search.playout import deal_anew
from helsinki_env import GameConfig
from helsinki_env.engine.contract import apply, place_of
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import observe, write_mask
from helsinki_env.engine.rng import GOLDEN
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.observation import SEAT_FACTS, TABLE_FACTS, layout
from helsinki_env.games.helsinki.restore import restore
from helsinki_env.games.helsinki.state import SEATS

__all__ = ["Inputs", "Part", "Places", "Writer", "carry_out", "finish_turn", "places", "seat_parts", "table_parts",
           "write_position"]  # fmt: skip

#: Choices that are looked at in each decision; the others count as the heuristic's favourite, less what it thinks
#: them worse. There are more than so many only where tiles are placed.
MOST = 8
#: The heuristic's opinion is told in points behind its favourite, and never as more than so many.
_FAR_BEHIND = 8.0

_COLOURS = len(COLOURS)
_STEPS = 8
#: Lines of a board: seven rows, then seven columns.
_LINES = 14
#: One-hot facts of a card: none, five colours and wild, number 1 to 6, superstructures 0 to 2, roofs 2 to 5.
_CARD = 1 + (_COLOURS + 1) + 6 + 3 + 4
_MOST_OF_COLOUR = 7
#: Expected points are told in halves, turns in quarters.
_WORTH_UNIT, _TURN_UNIT = 2.0, 4.0


class Part(NamedTuple):
    """A part of the inputs: how many columns, and what its entries are divided by."""

    name: str
    size: int
    scale: float = 1.0


def seat_parts(types: int) -> tuple[Part, ...]:
    """Return the parts of the description of one seat, in order."""
    return (
        Part("built", 49),
        Part("superstructures", 49),
        Part("coats", 49),
        Part("empty cells by line", _LINES * 8),
        Part("token", 8),
        Part("spaces ahead of the viewer", 8),
        Part("cards in hand, at least", _STEPS),
        Part("coats in the meadow, at least", _STEPS),
        Part("present", 1),
        Part("points", 1, 10.0),
        Part("bonus points", 1, 5.0),
        Part("limit lifted", 1),
        Part("unseen draws", 1),
        Part("expected points", 1, 5.0 * _WORTH_UNIT),
        Part("lead in expected points", 1, 2.0 * _WORTH_UNIT),
        Part("used", 15),
        Part("denied", 15),
        Part("still to be had", 15),
        Part("known cards", types),
        Part("known cards by colour", _COLOURS + 1, 3.0),
    )


def table_parts(types: int) -> tuple[Part, ...]:
    """Return the parts of the description of the table and of what the viewer alone knows, in order."""
    return (
        Part("own board by colour", 49 * _COLOURS),
        Part("hand", types),
        Part("hand by colour, at least", (_COLOURS + 1) * _MOST_OF_COLOUR),
        Part("display, from the own token", 8 * _CARD),
        Part("covered", 15),
        Part("players", 3),
        Part("turn order", SEATS),
        Part("dry roads", 1),
        Part("last round", 1),
        Part("turns left", 1, 4.0 * _TURN_UNIT),
        Part("round", 1, 10.0),
        Part("draw pile", 1, 25.0),
        Part("draw pile nearly empty, at most", _STEPS),
        Part("wild tiles", 1, 6.0),
        Part("superstructures left", 1, 15.0),
        Part("tile supply", 4 * _COLOURS, 3.0),
        Part("bonus cards", SEATS),
        Part("discard", types, 3.0),
        Part("reshuffled", types, 3.0),
    )


class Places(NamedTuple):
    """Where the parts begin, int64, one entry more for the end: of a seat, and of the table."""

    seat: npt.NDArray[np.int64]
    table: npt.NDArray[np.int64]


@lru_cache(maxsize=8)
def places(types: int) -> Places:
    """Return where the parts begin for a number of card types."""
    return Places(
        *(np.cumsum([0, *(part.size for part in parts)]) for parts in (seat_parts(types), table_parts(types)))
    )


@dataclass(frozen=True)
class Inputs:
    """What a network is told of B decisions with C choices in all, which lead to N positions.

    Attributes:
        first: where the choices of each decision begin, int64 (B + 1,); the last entry is C.
        action: id of each choice, ascending in a decision, int16 (C,).
        advice: points by which the heuristic thinks it worse than its favourite, zero or less, float32 (C,).
        position: the position that it leads to, int64 (C,).
        begin: where the positions of each decision begin, int64 (B + 1,); the last entry is N.
        seats: int8 (N, P, S): every seat from the viewer's on; zero where nobody sits. See `seat_parts`.
        table: int8 (N, G): the table and the viewer's cards. See `table_parts`.
        ended: the viewer's share of the win where the game is over, otherwise -1, float32 (N,).
    """

    first: npt.NDArray[np.int64]
    action: npt.NDArray[np.int16]
    advice: npt.NDArray[np.float32]
    position: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int64]
    seats: npt.NDArray[np.int8]
    table: npt.NDArray[np.int8]
    ended: npt.NDArray[np.float32]

    def __len__(self) -> int:
        """Return the number of decisions B."""
        return len(self.first) - 1

    @property
    def row(self) -> npt.NDArray[np.int64]:
        """Decision of each choice, int64 (C,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def take(self, rows: npt.NDArray[np.int64]) -> Inputs:
        """Return some decisions, int64 (n,), in that order; one may be taken several times."""
        first, choices = _spread(self.first, rows)
        begin, positions = _spread(self.begin, rows)
        moved = np.repeat(begin[:-1] - self.begin[rows], np.diff(first))
        return Inputs(
            first, self.action[choices], self.advice[choices], self.position[choices] + moved,
            begin, self.seats[positions], self.table[positions], self.ended[positions],
        )  # fmt: skip

    def keep(self, choices: npt.NDArray[np.bool_]) -> Inputs:
        """Return the same decisions with some of the choices, bool (C,), at least one of each, and their positions."""
        used = np.zeros(len(self.table), np.bool_)
        used[self.position[choices]] = True
        return Inputs(
            _ends(np.add.reduceat(choices, self.first[:-1], dtype=np.int64)),
            self.action[choices], self.advice[choices], (np.cumsum(used) - 1)[self.position[choices]],
            _ends(np.add.reduceat(used, self.begin[:-1], dtype=np.int64)),
            self.seats[used], self.table[used], self.ended[used],
        )  # fmt: skip

    @classmethod
    def join(cls, parts: Sequence[Inputs]) -> Inputs:
        """Return the decisions of several inputs, one after the other."""
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


def _spread(
    begin: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return where the items of the chosen rows begin now, and which items they are."""
    counts = begin[rows + 1] - begin[rows]
    now = _ends(counts)
    return now, np.arange(now[-1]) + np.repeat(begin[rows] - now[:-1], counts)


def _ends(counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where items begin of which there are so many in each row; the last entry is the end."""
    return np.concatenate(([0], np.cumsum(counts)))


def _chain(begins: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
    ends = np.cumsum([0, *(begin[-1] for begin in begins)])
    return np.concatenate([*(begin[:-1] + end for begin, end in zip(begins, ends, strict=False)), ends[-1:]])


_AT = {piece.name: piece.start for piece in layout(0).pieces}
_SEATS, _USED, _DENIED, _COVERED = (_AT[name] for name in ("seats", "used", "denied", "covered"))
_TABLE, _SUPPLY, _BONUS, _DISPLAY, _HAND = (
    _AT[name] for name in ("table", "tile_supply", "bonus_cards", "display", "hand")
)
_PER_SEAT, _PER_BOARD = len(SEAT_FACTS), 4 * 49
_, _HAND_SIZE, _MEADOW, _TOKEN, _POINTS, _OWN_BONUS, _LIMIT, _DRAWS = range(_PER_SEAT)
_PLAYERS, _SEAT, _DRY_ROADS, _ROUND, _LAST_ROUND, _PILE, _WILDS, _ROOFS_LEFT = range(len(TABLE_FACTS))


@kernel
def _colour_of(t, card):
    return np.int64(t.colour[card]) if t.colour[card] >= 0 else np.int64(_COLOURS)


@kernel
def _write_card(t, code, out, at):
    """The facts of a card by its code in the observation (type + 1), one-hot."""
    if code == 0:
        out[at] = 1
        return
    card = np.int64(code) - 1
    out[at + 1 + _colour_of(t, card)] = 1
    if t.colour[card] >= 0:
        out[at + _COLOURS + 1 + min(6, max(1, np.int64(t.number[card])))] = 1
        out[at + _COLOURS + 8 + min(2, np.int64(t.shows[card]))] = 1
        out[at + _COLOURS + 11 + np.int64(t.kind[card]) % 4] = 1


@kernel
def _write_seat(t, obs, turn, at, out):
    """One seat as `seat_parts` says, but for the expected points; `at` holds where the parts begin."""
    board, facts = _PER_BOARD * turn, _SEATS + _PER_SEAT * turn
    for cell in range(49):
        out[at[0] + cell] = obs[board + cell] > 0
        out[at[1] + cell] = obs[board + 98 + cell]
        out[at[2] + cell] = obs[board + 147 + cell]
    for line in range(7):
        in_row, in_column = 0, 0
        for cell in range(7):
            in_row += obs[board + 7 * line + cell] == 0
            in_column += obs[board + 7 * cell + line] == 0
        out[at[3] + 8 * line + in_row] = 1
        out[at[3] + 8 * (7 + line) + in_column] = 1
    token, viewer = np.int64(obs[facts + _TOKEN]) - 1, np.int64(obs[_SEATS + _TOKEN]) - 1
    if token >= 0:
        out[at[4] + token] = 1
        if viewer >= 0:
            out[at[5] + (token - viewer) % 8] = 1
    for step in range(_STEPS):
        out[at[6] + step] = obs[facts + _HAND_SIZE] > step
        out[at[7] + step] = obs[facts + _MEADOW] > step
    out[at[8]] = 1
    out[at[9]] = obs[facts + _POINTS]
    out[at[10]] = obs[facts + _OWN_BONUS]
    out[at[11]] = obs[facts + _LIMIT]
    out[at[12]] = obs[facts + _DRAWS]
    for action in range(15):
        used, denied = obs[_USED + 15 * turn + action], obs[_DENIED + 15 * turn + action]
        out[at[15] + action] = used
        out[at[16] + action] = denied
        out[at[17] + action] = not (used or denied or obs[_COVERED + action])
    known = _HAND + (1 + turn) * t.types
    for card in range(t.types):
        out[at[18] + card] = obs[known + card]
        out[at[19] + _colour_of(t, card)] += obs[known + card]


@kernel
def _write_hand(t, obs, at, out):
    """The viewer's cards by type and by colour, the discard pile and a reshuffled draw pile."""
    for card in range(t.types):
        held = obs[_HAND + card]
        out[at[1] + card] = held
        step = at[2] + _MOST_OF_COLOUR * _colour_of(t, card)
        end = step + _MOST_OF_COLOUR
        for _ in range(held):
            while step < end and out[step]:
                step += 1
            if step < end:
                out[step] = 1
        out[at[17] + card] = obs[_HAND + 5 * t.types + card]
        out[at[18] + card] = obs[_HAND + 6 * t.types + card]


@kernel
def _write_table(t, obs, drawn, at, out):
    """The table as `table_parts` says, but for the turns left; cards in the slots `drawn`, a set, are left blank."""
    for cell in range(49):
        if 0 < obs[cell] <= _COLOURS:
            out[at[0] + 49 * (np.int64(obs[cell]) - 1) + cell] = 1
    _write_hand(t, obs, at, out)
    token = max(0, np.int64(obs[_SEATS + _TOKEN]) - 1)
    for ahead in range(8):
        slot = (token + ahead) % 8
        _write_card(t, 0 if (drawn >> slot) & 1 else obs[_DISPLAY + slot], out, at[3] + _CARD * ahead)
    for action in range(15):
        out[at[4] + action] = obs[_COVERED + action]
    out[at[5] + np.int64(obs[_TABLE + _PLAYERS]) - 2] = 1
    out[at[6] + np.int64(obs[_TABLE + _SEAT])] = 1
    out[at[7]] = obs[_TABLE + _DRY_ROADS]
    out[at[8]] = obs[_TABLE + _LAST_ROUND]
    out[at[10]] = obs[_TABLE + _ROUND]
    out[at[11]] = obs[_TABLE + _PILE]
    for step in range(_STEPS):
        out[at[12] + step] = obs[_TABLE + _PILE] <= 2 * step
    out[at[13]] = obs[_TABLE + _WILDS]
    out[at[14]] = obs[_TABLE + _ROOFS_LEFT]
    for kind in range(4 * _COLOURS):
        out[at[15] + kind] = obs[_SUPPLY + kind]
    for card in range(SEATS):
        out[at[16] + card] = obs[_BONUS + card]


@kernel
def _byte(value):
    return np.int8(min(127, max(-127, np.int64(round(value)))))


@kernel
def _view_of(desk, g, seat):
    """Which view to look at a seat's board with: the one of the board at the beginning, if it is as it was."""
    return SEATS if holds(desk.weights[seat], g, seat, desk.views[SEATS]) else seat


@kernel
def write_position(desk, g, viewer, drawn, seat_at, table_at, seats, table):
    """Describe a game as `viewer` sees it at the end of its turn, int8 (P, S) and (G,), both zero before.

    `drawn`: slots whose cards were turned up in this turn, a set.
    """
    t, p = desk.tables[0], desk.pieces[0]
    players = np.int64(g.players)
    view = _view_of(desk, g, viewer)
    observe(t, g, viewer, desk.seen)
    best, second = NOTHING, NOTHING
    for turn in range(players):
        seat = (viewer + turn) % players
        _write_seat(t, desk.seen, turn, seat_at, seats[turn])
        value = worth(t, p, desk.weights[seat], g, seat, desk.views[seat if turn else view])
        desk.shares[turn] = value
        seats[turn, seat_at[13]] = _byte(_WORTH_UNIT * value)
        if value > best:
            best, second = value, best
        elif value > second:
            second = value
    for turn in range(players):
        value = desk.shares[turn]
        seats[turn, seat_at[14]] = _byte(_WORTH_UNIT * (value - (second if value == best else best)))
    _write_table(t, desk.seen, drawn, table_at, table)
    table[table_at[9]] = _byte(_TURN_UNIT * desk.views[view].turns)


@kernel
def carry_out(t, g, action, drawn):
    """Take a decision; return the slots whose cards were turned up in this turn, `drawn` and new ones, a set."""
    if action == t.offset[a.DRAW] or action == t.offset[a.USE] + a.EXTRA_CARD:
        token = np.int64(g.token[g.seat])
        drawn |= 1 << token | 1 << (token + 7) % 8
    apply(t, g, action)
    return drawn


@kernel
def finish_turn(desk, g, seat, drawn):
    """Let the heuristic spend the rest of a seat's turn; return the slots whose cards were turned up, a set."""
    t, p = desk.tables[0], desk.pieces[0]
    while not g.done and g.seat == seat:
        write_mask(t, g, desk.mask)
        view = desk.views[_view_of(desk, g, seat)]
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
        clear(desk)
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


class Writer:
    """Makes inputs from observations; may be shared by threads.

    Args:
        config: the games; only their component file matters.
        most: choices that are looked at in each decision.
    """

    def __init__(self, config: GameConfig | None = None, most: int = MOST) -> None:
        self.config, self.most = config or GameConfig(), most
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
        games = restore(self.config, observation)
        at = places(self.config.loaded.types)
        legal = mask.sum(axis=1, dtype=np.int64)
        first = _ends(legal)
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
        mask = np.require(mask, requirements=["C", "W"])  # or it is compiled anew for each kind of array
        i = inputs
        with self._desk() as desk:
            _write(
                desk, games, mask, self.most, at.seat, at.table, first, i.action, i.advice, i.position, i.begin,
                i.seats, i.table, i.ended,
            )  # fmt: skip
        return inputs

"""Rules of the mini game, by the contract of the engine (`helsinki_env.engine.contract`); `docs/mini.md` states them.

Cells are numbered row by row from the north-west corner, and sides clockwise: 0 north, 1 east, 2 south, 3 west. A token
on side `s` takes the display card of slot `s % 2` and builds with cards of color `s % 2`: color 0 in columns, color 1
in rows.

    >>> from helsinki_env.mini.game import MINI, MiniConfig
    >>> game = MINI.game(MiniConfig(num_players=2), seed=1)
    >>> [MINI.action_to_string(action, game.config) for action in game.legal_actions()]
    ['TAKE 1', 'TAKE 2', 'BUILD 1 0', 'BUILD 1 2']
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from helsinki_env.data import Node
from helsinki_env.engine import contract
from helsinki_env.engine.configuration import ConfigError, Configuration
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import draw_card, list_cards, shuffle
from helsinki_env.engine.spec import GameSpec

__all__ = ["ACTIONS", "COMPONENTS", "MINI", "OBSERVATION", "STATE", "MiniComponents", "MiniConfig", "build_tables"]

_BUILD, _FREE, _PASS = 2, 6, 10
ACTIONS = (
    *(f"TAKE {steps}" for steps in (1, 2)),
    *(f"{kind} {steps} {lane}" for kind in ("BUILD", "FREE") for steps in (1, 2) for lane in (0, 2)),
    "PASS",
)
"""Actions by id: the steps of the token, then the lane (row or column) of the tile. FREE pays with a coat of arms."""

_MOST_CARDS, _SEATS, _STATUE = 16, 3, 1 << 4
_SEAT_ENTRIES = ("side", "hand_size", "known_0", "known_1", "coats", "bonus", *(f"cell_{cell}" for cell in range(9)))
OBSERVATION = (
    *("players", "seat", "acting", "round", "pile_size", "display_0", "display_1"),
    *("discard_0", "discard_1", "hand_0", "hand_1"),
    *(f"{entry}_{turn}" for turn in range(_SEATS) for entry in _SEAT_ENTRIES),
)
"""Entries of an observation. The last number of a seat's entry is 0 for the viewer, then in turn order. Display cards
are colors plus 1, or 0 for an empty slot; `acting` is the acting seat, counted from the viewer."""
_FIRST_SEAT, _PER_SEAT = OBSERVATION.index("side_0"), len(_SEAT_ENTRIES)

STATE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("chance", np.uint64),
                ("built", np.int16, (contract.MAX_SEATS,)),  # sets of cells (bit = cell) with the statue
                *((name, np.int8) for name in ("players", "seat", "phase", "done", "round_number", "pile_size")),
                ("pile", np.int8, (_MOST_CARDS,)),  # the next card is pile[pile_size - 1]
                ("display", np.int8, (2,)),  # -1 for an empty slot
                ("discard", np.int8, (2,)),
                ("hand", np.int8, (contract.MAX_SEATS, 2)),
                ("known", np.int8, (contract.MAX_SEATS, 2)),  # cards of the hand that all players have seen
                ("side", np.int8, (contract.MAX_SEATS,)),
                ("coats", np.int8, (contract.MAX_SEATS,)),
                ("bonus", np.int8, (contract.MAX_SEATS,)),  # points for lines that no other seat had completed
            ],
            align=True,
        ),
    )
)
"""The dtype of a state."""
SCRATCH = np.dtype((np.record, [("unknown", np.int8, (2,)), ("cards", np.int8, (_MOST_CARDS,))]))


@kernel
def landing(t, built, side, lane):
    """Return the two cells (bit = cell) of a tile that slides from a side until it is blocked, or 0 if it has no room.

    `lane` is 0 for the first row or column and 1 for the last.
    """
    free = 0
    while free < 3 and (built >> t.path[side, lane, free]) & 1 == 0:
        free += 1
    if free < 2:
        return 0
    return (1 << t.path[side, lane, free - 1]) | (1 << t.path[side, lane, free - 2])


@kernel
def copy_setup(g, setup):
    """Copy the number of players."""
    g.players = setup.players


@kernel
def draw_setup(drawn, g):
    """Leave the options as they are."""


@kernel
def _draw(g):
    """Remove the top card of the draw pile and return it, or -1 if the pile is empty."""
    if g.pile_size == 0:
        return -1
    g.pile_size -= 1
    card = g.pile[g.pile_size]
    g.pile[g.pile_size] = 0
    return card


@kernel
def deal(t, g, key):
    """Shuffle the cards and deal the display, then the hidden hands."""
    g.chance = key
    g.seat, g.phase, g.done, g.round_number = 0, 0, 0, 1
    for i in range(_MOST_CARDS):
        g.pile[i] = 0
    for seat in range(contract.MAX_SEATS):
        g.built[seat] = _STATUE if seat < g.players else 0
        g.side[seat] = 2 * seat % 4 if seat < g.players else 0
        g.coats[seat] = g.bonus[seat] = 0
        for color in range(2):
            g.hand[seat, color] = g.known[seat, color] = 0
    g.pile_size = 0
    for color in range(2):
        g.discard[color] = 0
        for _ in range(t.cards[g.players, color]):
            g.pile[g.pile_size] = color
            g.pile_size += 1
    shuffle(g, g.pile, g.pile_size)
    for slot in range(2):
        g.display[slot] = _draw(g)
    for seat in range(g.players):
        for _ in range(t.hand):
            g.hand[seat, _draw(g)] += 1


@kernel
def mark_legal(t, g, mask):
    """Write 1 for each legal action into `mask`, int8 (11,), which must be all zeros."""
    if g.done:
        return
    seat, found = g.seat, False
    for steps in range(1, 3):
        side = (g.side[seat] + steps) % 4
        color = side % 2
        if g.display[color] >= 0:
            mask[steps - 1] = found = True
        for lane in range(2):
            if landing(t, g.built[seat], side, lane) == 0:
                continue
            choice = 2 * (steps - 1) + lane
            if g.hand[seat, color] > 0:
                mask[_BUILD + choice] = found = True
            if g.coats[seat] > 0:
                mask[_FREE + choice] = found = True
    mask[_PASS] = not found


@kernel
def _build(t, g, color, cost, lane):
    """Pay cards, publicly known ones first, and lay the tile. Add its coat of arms and the bonus for lines."""
    seat = g.seat
    g.hand[seat, color] -= cost
    g.known[seat, color] = max(0, g.known[seat, color] - cost)
    g.discard[color] += cost
    before = g.built[seat]
    tile = landing(t, before, g.side[seat], lane)
    g.built[seat] |= tile
    g.coats[seat] += tile & 1
    for line in t.lines:
        if (before & line) != line and (g.built[seat] & line) == line:
            first = True
            for other in range(g.players):
                first &= other == seat or (g.built[other] & line) != line
            g.bonus[seat] += first


@kernel
def apply_action(t, g, action):
    """Apply a legal action."""
    seat = g.seat
    if action < _PASS:
        choice = action if action < _BUILD else (action - _BUILD) % 4
        g.side[seat] = (g.side[seat] + 1 + (choice if action < _BUILD else choice // 2)) % 4
        color = g.side[seat] % 2
        if action < _BUILD:
            card = g.display[color]
            g.hand[seat, card] += 1
            g.known[seat, card] += 1
            g.display[color] = _draw(g)
        elif action < _FREE:
            _build(t, g, color, 1, choice % 2)
        else:
            g.coats[seat] -= 1
            _build(t, g, color, 0, choice % 2)
    if seat + 1 < g.players:
        g.seat += 1
    elif g.round_number == t.rounds[g.players]:
        g.done = 1
    else:
        g.seat = 0
        g.round_number += 1


@kernel
def score(t, g, seat):
    """Return the points of a seat: 2 for each full row and column, and 1 more if no other seat was first."""
    points = np.int64(g.bonus[seat])
    for line in t.lines:
        points += 2 * ((g.built[seat] & line) == line)
    return points


@kernel
def rank_of(t, g, seat):
    """Return the rank of a seat; ties are broken in favor of the seat later in turn order."""
    points, better = score(t, g, seat), np.int64(0)
    for other in range(g.players):
        better += score(t, g, other) > points - (other > seat)
    return better


@kernel
def write_observation(t, g, viewer, out):
    """Write a seat's observation, int8 (F,), with the entries of `OBSERVATION`."""
    out[0], out[1], out[2] = g.players, viewer, (g.seat - viewer) % g.players
    out[3], out[4] = g.round_number, g.pile_size
    for color in range(2):
        out[5 + color] = g.display[color] + 1
        out[7 + color] = g.discard[color]
        out[9 + color] = g.hand[viewer, color]
    for turn in range(g.players):
        seat, at = (viewer + turn) % g.players, _FIRST_SEAT + _PER_SEAT * turn
        out[at], out[at + 1] = g.side[seat], g.hand[seat, 0] + g.hand[seat, 1]
        out[at + 2], out[at + 3] = g.known[seat, 0], g.known[seat, 1]
        out[at + 4], out[at + 5] = g.coats[seat], g.bonus[seat]
        for cell in range(9):
            out[at + 6 + cell] = (g.built[seat] >> cell) & 1


@kernel
def reconstruct_state(t, g, observation):
    """Fill `g` from the acting seat's observation; hidden cards become cards of color 0 until they are sampled."""
    for entry in observation:
        if entry < 0:
            return 0
    if observation[0] < 2 or observation[0] > _SEATS or observation[1] >= observation[0]:
        return 0
    if observation[2] != 0 or observation[4] > _MOST_CARDS or max(observation[5], observation[6]) > 2:
        return 0
    g.players = observation[0]
    deal(t, g, np.uint64(0))
    g.chance = 0
    g.seat, g.round_number, g.pile_size = observation[1], observation[3], observation[4]
    for i in range(_MOST_CARDS):
        g.pile[i] = 0
    for turn in range(g.players):
        seat, at = (g.seat + turn) % g.players, _FIRST_SEAT + _PER_SEAT * turn
        g.side[seat], g.built[seat] = observation[at] % 4, 0
        g.coats[seat], g.bonus[seat] = observation[at + 4], observation[at + 5]
        for cell in range(9):
            g.built[seat] |= np.int64(observation[at + 6 + cell] != 0) << cell
        for color in range(2):
            g.known[seat, color] = g.hand[seat, color] = observation[at + 2 + color]
        g.hand[seat, 0] = observation[at + 1] - g.known[seat, 1]
        if g.hand[seat, 0] < g.known[seat, 0] or g.built[seat] & _STATUE == 0:
            return 1
    for color in range(2):
        g.display[color], g.discard[color] = observation[5 + color] - 1, observation[7 + color]
        g.hand[g.seat, color] = observation[9 + color]
    return -1


@kernel
def determinize_state(t, g, viewer, key, scratch, mask):
    """Deal the cards that the viewer cannot locate to the other hands and to the draw pile, uniformly."""
    g.chance = key
    total = np.int64(0)
    for color in range(2):
        unknown = t.cards[g.players, color] - g.discard[color] - (g.display[0] == color) - (g.display[1] == color)
        for seat in range(g.players):
            unknown -= g.hand[seat, color] if seat == viewer else g.known[seat, color]
        if unknown < 0:
            return False
        scratch.unknown[color] = unknown
        total += unknown
    list_cards(scratch.unknown, 2, scratch.cards)
    drawn = np.int64(0)
    for seat in range(g.players):
        hidden = g.hand[seat, 0] + g.hand[seat, 1] - g.known[seat, 0] - g.known[seat, 1]
        if seat == viewer:
            continue
        if drawn + hidden > total:
            return False
        for color in range(2):
            g.hand[seat, color] = g.known[seat, color]
        for _ in range(hidden):
            g.hand[seat, draw_card(g, scratch.cards, drawn, total)] += 1
            drawn += 1
    if total - drawn != g.pile_size:
        return False
    for i in range(g.pile_size):
        g.pile[i] = draw_card(g, scratch.cards, drawn, total)
        drawn += 1
    return True


contract.implement(STATE, copy_setup, draw_setup, deal, mark_legal, apply_action, score, rank_of, write_observation)
contract.implement(STATE, reconstruct_state, determinize_state)


class MiniComponents(NamedTuple):
    """A set of components. Pairs of values are for two and three players.

    Attributes:
        name: name of the set.
        cards: number of cards of each of the two colors.
        hand: number of hidden cards dealt to each seat.
        rounds: number of rounds.
    """

    name: str
    cards: tuple[tuple[int, int], tuple[int, int]]
    hand: int
    rounds: tuple[int, int]

    @property
    def digest(self) -> str:
        """Text that identifies the content."""
        return repr(tuple(self[1:]))


COMPONENTS = {
    one.name: one
    for one in (
        MiniComponents("standard", ((4, 4), (5, 4)), 2, (4, 3)),
        MiniComponents("small", ((4, 4), (4, 4)), 2, (2, 2)),
    )
}
"""Sets of components by name."""


@cache
def build_tables(components: MiniComponents) -> Any:
    """Return the tables for kernels, an array of one record. Values by number of players begin with that of 0."""
    sizes = {"cards": (4, 2), "hand": (), "rounds": (4,), "path": (4, 2, 3), "lines": (6,)}
    fields = np.dtype([(name, np.int64, shape) for name, shape in sizes.items()], align=True)
    tables = np.zeros(1, np.dtype((np.record, fields)))
    cells = np.arange(9).reshape(3, 3)
    tables["cards"][0, 2:], tables["rounds"][0, 2:] = components.cards, components.rounds
    tables["hand"] = components.hand
    for lane, line in enumerate((0, 2)):
        column, row = cells[:, line], cells[line]
        tables["path"][0, :, lane] = column, row[::-1], column[::-1], row
    tables["lines"] = (1 << np.concatenate([cells, cells.T])).sum(1)
    return tables


@dataclass(frozen=True)
class MiniConfig(Configuration[MiniComponents]):
    """Configuration of the mini game.

    Args:
        num_players: 2 or 3.
        denied: not used.
        components: one of `COMPONENTS`.
        reward: "win", "rank" or "margin", as in the other games.

    Raises:
        ConfigError: (a ValueError) for an invalid value.
    """

    read_components: ClassVar[Any] = staticmethod(
        lambda name: COMPONENTS[Node(name, ConfigError, "components").choice(tuple(COMPONENTS))]
    )
    tables_module: ClassVar[str] = __name__

    num_players: int = 2
    denied: tuple[tuple[int, ...], ...] = None  # type: ignore[assignment]  # replaced on creation
    components: str = "standard"
    reward: str = "win"
    _loaded: Any = field(default=None, repr=False, kw_only=True)

    def __post_init__(self) -> None:
        """Validate the values."""
        self._load()
        self._entry("num_players").integer(2, _SEATS, "2 or 3")
        self._keep(denied=self._ids_by_seat(self._entry("denied")))


def _new_states(config: MiniConfig, count: int) -> Any:
    return np.zeros(count, STATE)


MINI = GameSpec(
    name="mini",
    version=0,
    config=MiniConfig,
    options=("reward",),
    phases=("MAIN",),
    setup_fields=("players",),
    new_states=_new_states,
    apply_setup=lambda states, config: states["players"].fill(config.num_players),
    config_of=lambda config, state: config.replace(num_players=int(state["players"])),
    action_kinds=lambda config: (("TAKE", 2), ("BUILD", 4), ("FREE", 4), ("PASS", 1)),
    observation_size=lambda config: len(OBSERVATION),
    action_to_string=lambda action, config: ACTIONS[action],
    scratch=SCRATCH,
    is_listed=False,
    hidden_fields=("hand",),
    hidden_piles=("pile",),
)
"""The game, which is also registered under its name."""

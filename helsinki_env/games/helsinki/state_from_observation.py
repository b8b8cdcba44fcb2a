"""Reconstruct a game state from an observation: the inverse of `observation`.

Search players reconstruct games from their own observations, so no hidden card can leak. Until `determinization`
samples them, hidden cards are represented by placeholders: the right number of cards, all of type 0.

    >>> import numpy as np
    >>> from helsinki_env import HelsinkiGame
    >>> from helsinki_env.engine.determinization import determinize_observation
    >>> game = HelsinkiGame(seed=3)
    >>> game.step(0)
    >>> copies = determinize_observation(game.config, game.observation(), count=2, seed=1)
    >>> copy = HelsinkiGame.from_state(game.config, copies[0])
    >>> bool((copy.observation() == game.observation()).all())
    True
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract
from helsinki_env.engine.bits import bit, lowest_bit
from helsinki_env.engine.determinization import reconstruct_states, valid_observations
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.observation import OBSERVATION, PLANES, SEAT_FACTS, TABLE_FACTS, observation_table
from helsinki_env.games.helsinki.shapes import tile_cells
from helsinki_env.games.helsinki.state import LAYOUTS, PAID, States, new_states
from helsinki_env.games.helsinki.tables import bounds_of

_BOARDS, _SEATS, _TABLE, _BUILDING, _CARDS = (
    OBSERVATION.layout[name].start for name in ("boards", "seats", "table", "building", "hand")
)
_PER_SEAT, _PER_BOARD = len(SEAT_FACTS), len(PLANES) * 49
_HAND_SIZE, _OWN_BONUS, _UNSEEN_DRAWS = (SEAT_FACTS.index(name) for name in ("hand_size", "bonus", "unseen_draws"))
_PLAYERS, _SEAT = TABLE_FACTS.index("players"), TABLE_FACTS.index("turn_order")
_read_fields = OBSERVATION.read
_, _NUMBER, _STANDING, _COATS = range(0, _PER_BOARD, 49)
_WILD = 6
#: Possible inconsistencies between entries that are individually in range.
_FAULTS = (
    "boards: found numbers that form no tile of the box, expected numbers from 1, each on the cells of one tile",
    "known: found more cards than hand_size, expected at most hand_size of that seat",
)
_NO_TILE, _NOT_HELD = range(len(_FAULTS))
_SOUND = -1


@kernel
def _corner(cells):
    """Return the north-west corner of the bounding box of a set of cells."""
    column = np.int64(6)
    rest = cells
    while rest:
        column = min(column, lowest_bit(rest) % 7)
        rest &= rest - 1
    return lowest_bit(cells) // 7 * 7 + column


@kernel
def _read_tile(t, g, seat, tile, colour, cells):
    """Find a tile orientation that covers exactly these cells; return whether one exists."""
    roofs = -2
    rest = cells
    while rest:
        roofs += 1
        rest &= rest - 1
    if not (0 <= roofs < 4 and 0 <= colour < 5):
        return False
    found = False
    kind = 4 * colour + roofs
    corner = _corner(cells)
    for orientation in range(t.orientations[kind]):
        if tile_cells(t, 8 * kind + orientation, corner) == cells:
            g.tile_piece[seat, tile] = 8 * kind + orientation
            g.tile_cell[seat, tile] = corner
            found = True
    return found


@kernel
def _read_board(t, obs, g, seat, at):
    """Read a board; return whether all its tiles exist in the game."""
    tiles, found = 0, True
    for cell in range(49):
        colour = obs[at + cell]
        if colour:
            g.built[seat] |= bit(cell)
            if colour == _WILD:
                g.wild[seat] |= bit(cell)
            tiles = max(tiles, np.int64(obs[at + _NUMBER + cell]))
        if obs[at + _STANDING + cell]:
            g.superstructures[seat] |= bit(cell)
    g.tile_count[seat] = tiles
    for tile in range(tiles):
        cells, colour = np.int64(0), np.int64(0)
        for cell in range(49):
            if obs[at + _NUMBER + cell] == tile + 1:
                cells |= bit(cell)
                colour = np.int64(obs[at + cell]) - 1
        found &= _read_tile(t, g, seat, tile, colour, cells)
    found &= (g.superstructures[seat] & ~g.built[seat]) == 0
    coats = 0
    for coat in range(8):
        coats |= np.int64(obs[at + _COATS + t.coat_cell[coat]]) << coat
    g.coats[seat] = coats
    return found


@kernel
def _read_seat(t, obs, g, seat, at):
    for card in range(4):
        if obs[at + _OWN_BONUS] and t.bonus_cards[card] == obs[at + _OWN_BONUS]:
            g.bonus[seat] = card
    if seat != g.seat:  # placeholders for unseen cards; the viewer's own cards are known
        for slot in range(obs[at + _UNSEEN_DRAWS]):
            g.unseen[seat, slot] = 0


@kernel
def _read_hand(t, obs, g, seat, size, known):
    """Read the known cards of a seat and add placeholders; return whether the known cards fit into the hand."""
    for card in range(t.types):
        g.known[seat, card] = obs[known + card]
        g.hand[seat, card] = obs[known + card]
        size -= obs[known + card]
    g.hand[seat, 0] += size
    return size >= 0


@kernel
def reconstruct_state(t, g, obs):
    """Fill the record `g` from the acting seat's observation, int8 (F,).

    All previous content is overwritten. Hidden cards are placeholders, and the random state is 0. Every entry must be
    in range (`ObservationTable.highs`). Return the index of the inconsistency in `_FAULTS`, or `_SOUND`.
    """
    fault = _SOUND
    types, players = t.types, np.int64(obs[_TABLE + _PLAYERS])
    viewer = np.int64(obs[_TABLE + _SEAT])
    _read_fields(g, obs, players, viewer)
    g.seat = viewer
    for turn in range(players):
        seat = (viewer + turn) % players
        if not _read_board(t, obs, g, seat, _BOARDS + _PER_BOARD * turn):
            fault = _NO_TILE
        _read_seat(t, obs, g, seat, _SEATS + _PER_SEAT * turn)
        size = np.int64(obs[_SEATS + _PER_SEAT * turn + _HAND_SIZE])
        if not _read_hand(t, obs, g, seat, size, _CARDS + (1 + turn) * types):
            fault = _NOT_HELD
    for card in range(types):
        g.hand[viewer, card] = obs[_CARDS + card]
        g.discard[card] = obs[_CARDS + 5 * types + card]
        g.reshuffled[card] = obs[_CARDS + 6 * types + card]
    for i in range(PAID):
        if obs[_BUILDING + 1 + i]:
            g.paid[i] = obs[_BUILDING + 1 + i] - 1
            g.paid_count = i + 1
    return fault


for _layout in LAYOUTS:
    contract.implement(_layout, reconstruct_state)


def states_from_observations(config: HelsinkiConfig, observations: npt.NDArray[np.int8]) -> States:
    """Return a record for each observation, shape (B,), with placeholders for hidden cards.

    Args:
        config: a configuration with the component file of the games; all other game options are read from the
            observations.
        observations: observations of the acting seats of games in progress, int8 (B, F).

    Raises:
        ObservationError: (a ValueError) if an observation is invalid. Entries, boards and hands must be consistent. The
            state is not required to be reachable in a game.
    """
    bounds = bounds_of(config.tables[0])
    table = observation_table(bounds.types)
    observations = valid_observations(table, observations, bounds, "observe")
    states = new_states(len(observations), bounds.types)
    return reconstruct_states(table, config.tables[0], observations, states, _FAULTS)

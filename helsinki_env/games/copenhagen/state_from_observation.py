"""Reconstruct a game state from an observation: the inverse of `observation`.

Search players reconstruct games from their own observations, so no hidden card can leak. Until `determinization`
samples them, the hidden cards are placeholders: the right number of cards, all of color 0, and no End of Game card.

    >>> from helsinki_env.engine.determinization import determinize_observation
    >>> from helsinki_env.games.copenhagen.game import CopenhagenGame
    >>> game = CopenhagenGame(seed=3)
    >>> game.step(0)
    >>> copies = determinize_observation(game.config, game.observation(), count=2, seed=1)
    >>> copy = CopenhagenGame.from_state(game.config, copies[0])
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
from helsinki_env.engine.states import States
from helsinki_env.games.copenhagen import turn as rules  # noqa: F401  # registers the rules for the loops
from helsinki_env.games.copenhagen.actions import CELLS, ORIENTATIONS
from helsinki_env.games.copenhagen.bits import supported
from helsinki_env.games.copenhagen.build import color_of, size_of
from helsinki_env.games.copenhagen.components import COLUMNS
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.observation import LAYOUT, OBSERVATION, PER_BOARD, SEAT_FACTS, TABLE_FACTS, next_seat
from helsinki_env.games.copenhagen.shapes import placements, tile_cells
from helsinki_env.games.copenhagen.state import GAME, PHASE_PAY, RECORD, new_states
from helsinki_env.games.copenhagen.tables import bounds_of

_SEATS, _TABLE = LAYOUT["seats"].start, LAYOUT["table"].start
_PER_SEAT, _HAND_SIZE = len(SEAT_FACTS), SEAT_FACTS.index("hand_size")
_PLAYERS, _SEAT = TABLE_FACTS.index("players"), TABLE_FACTS.index("turn_order")
_fits_phase, _read_fields = RECORD.fits_phase, OBSERVATION.read
_WHITE = 6
#: The possible inconsistencies if all entries are in range.
_FAULTS = (
    "boards: found numbers that form no tile of the box, expected numbers from 1, each on the cells of one tile",
    "known: found more cards than hand_size, expected at most hand_size of that seat",
    "reshuffled: found cards, expected none unless the draw pile was made from the discard pile",
    "pending: found entries that do not fit the phase, expected those of the operation in progress",
)
_NO_TILE, _NOT_HELD, _NOT_MADE, _NOT_PENDING = range(len(_FAULTS))
_SOUND = -1


@kernel
def _corner(cells):
    """Return the lower left corner of the bounding box of a set of cells."""
    x, rest = np.int64(COLUMNS), cells
    while rest:
        x = min(x, lowest_bit(rest) % COLUMNS)
        rest &= rest - 1
    return lowest_bit(cells) // COLUMNS * COLUMNS + x


@kernel
def _read_tile(t, g, obs, seat, at, tile):
    """Read a colored tile and find its kind and orientation. Return whether the game has such a tile."""
    cells, colour, size, brick = np.int64(0), np.int64(0), 0, -1
    for cell in range(CELLS):
        if obs[at + CELLS + cell] == tile + 1:
            if size > 0 and obs[at + cell] != colour:
                return False
            cells |= bit(cell)
            colour = np.int64(obs[at + cell])
            size += 1
            if obs[at + 2 * CELLS + cell]:
                brick = cell
    if not (2 <= size <= 5 and 1 <= colour <= 5 and brick >= 0):
        return False
    kind = 4 * (colour - 1) + size - 2
    corner = _corner(cells)
    for orientation in range(t.orientations[kind]):
        piece = ORIENTATIONS * kind + orientation
        if tile_cells(t, piece, corner) == cells and corner + t.brick[piece] == brick:
            g.tile_piece[seat, tile] = piece
            g.tile_cell[seat, tile] = corner
            g.coloured[seat, colour - 1] |= cells
            g.bricks[seat] |= bit(brick)
            g.filled[seat] |= cells
            return True
    return False


@kernel
def _read_board(t, g, obs, seat, at):
    """Read a board. Return whether all its colored tiles are valid."""
    tiles = np.int64(0)
    for cell in range(CELLS):
        if obs[at + cell] == _WHITE:
            g.white[seat] |= bit(cell)
        tiles = max(tiles, np.int64(obs[at + CELLS + cell]))
    g.filled[seat] = g.white[seat]
    g.tile_count[seat] = tiles
    found = True
    for tile in range(tiles):
        found &= _read_tile(t, g, obs, seat, at, tile)
    return found


@kernel
def _read_hands(g, obs):
    """Fill other hands with known cards and placeholders. Return whether every hand contains its known cards."""
    found, seat = True, np.int64(g.seat)
    for turn in range(g.players):
        left = np.int64(obs[_SEATS + _PER_SEAT * turn + _HAND_SIZE])
        for colour in range(5):
            known = g.known[seat, colour]
            if turn > 0:
                g.hand[seat, colour] = known
            found &= known <= g.hand[seat, colour]
            left -= known
        if turn > 0:
            g.hand[seat, 0] += left
        found &= left >= 0
        seat = next_seat(g, seat)
    return found


@kernel
def _is_made(g):
    """Return False if the draw pile has publicly known cards although it was not made from the discard pile."""
    known_cards = np.int64(0)
    for colour in range(5):
        known_cards += g.reshuffled[colour]
    return known_cards == 0 or (g.players > 2 and g.end_card != 0)


@kernel
def _is_pending(t, g):
    """Return whether the operation in progress is valid in the current phase."""
    if not _fits_phase(g) or (g.tile >= 0 and g.recolour == color_of(g.tile)):
        return False
    return g.phase != PHASE_PAY or _fits(t, g, g.place // CELLS, g.place % CELLS)


@kernel
def _fits(t, g, orientation, corner):
    """PAY: return whether the tile lies on empty cells with support and was paid only with cards of its two colors."""
    own, filled = color_of(g.tile), g.filled[g.seat]
    for colour in range(5):
        if g.paid[colour] > 0 and colour != own and colour != g.recolour:
            return False
    if orientation >= t.orientations[g.tile] or g.due > size_of(g.tile):
        return False
    piece = ORIENTATIONS * np.int64(g.tile) + orientation
    return (placements(t, piece, filled, supported(filled)) >> corner) & 1 != 0


@kernel
def reconstruct_state(t, g, obs):
    """Fill the record `g` from the observation, int8 (F,), of the acting seat.

    All previous content is overwritten. Hidden cards become placeholders, and the random state becomes 0. Every entry
    must be in range (`OBSERVATION.highs`). Return the index of an inconsistency in `_FAULTS`, or `_SOUND`.
    """
    fault, players, seat = _SOUND, np.int64(obs[_TABLE + _PLAYERS]), np.int64(obs[_TABLE + _SEAT])
    _read_fields(g, obs, players, seat)
    g.seat = seat
    for turn in range(players):
        if not _read_board(t, g, obs, seat, PER_BOARD * turn):
            fault = _NO_TILE
        seat = next_seat(g, seat)
    if not _read_hands(g, obs):
        fault = _NOT_HELD
    if not _is_made(g):
        fault = _NOT_MADE
    if not _is_pending(t, g):
        fault = _NOT_PENDING
    return fault


contract.implement(GAME, reconstruct_state)


def states_from_observations(config: CopenhagenConfig, observations: npt.NDArray[np.int8]) -> States:
    """Return a record for each observation, (B,), with placeholders for hidden cards.

    Rounds and points above 127 are read as 127, the maximum in an observation.

    Args:
        config: a configuration with the component file of the games. The number of players and the denied abilities
            are read from the observations.
        observations: int8 (B, F), from the acting seats of games in progress.

    Raises:
        ObservationError: (a ValueError) if an observation is invalid. The message names the field. Entries, boards,
            hands and the operation in progress must be consistent, but the state need not be reachable.
    """
    observations = valid_observations(OBSERVATION, observations, bounds_of(config.tables[0]), "write_observation")
    return reconstruct_states(OBSERVATION, config.tables[0], observations, new_states(len(observations)), _FAULTS)

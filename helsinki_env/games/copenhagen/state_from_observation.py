"""Reconstruct a game from an observation: the inverse of `observation`.

Search reconstructs its games from the player's own observation, so no hidden card can leak in. Hidden parts of the
record are blank until `redeal` samples them: the right number of cards, all of color 0, and no End of Game card in the
draw pile.

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

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract, loops
from helsinki_env.engine.bits import bit, lowest_bit
from helsinki_env.engine.determinization import ObservationError, observation_rows
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.states import States
from helsinki_env.games.copenhagen import step as rules  # noqa: F401  # registers the rules for the loops
from helsinki_env.games.copenhagen.actions import CELLS, ORIENTATIONS
from helsinki_env.games.copenhagen.bits import supported
from helsinki_env.games.copenhagen.build import color_of, size_of
from helsinki_env.games.copenhagen.components import COLOURS, COLUMNS, TILE_SIZES, Components
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.deal import clear_pending
from helsinki_env.games.copenhagen.observation import (
    FIELDS,
    OBSERVATION_SIZE,
    PENDING_FACTS,
    PLANES,
    SEAT_FACTS,
    TABLE_FACTS,
)
from helsinki_env.games.copenhagen.shapes import placements, tile_cells
from helsinki_env.games.copenhagen.state import (
    GAME,
    MAX_SEATS,
    PHASE_COAT,
    PHASE_PAY,
    PHASE_PLACE,
    PHASE_RECOLOUR,
    PHASE_TAKE,
    PHASES,
    PILE,
    TILES,
    new_states,
)

__all__ = ["reconstruct_state", "states_from_observations"]

_AT = {piece.name: piece.start for piece in FIELDS}
_SEATS, _OWNED, _USED, _DENIED, _PHASE, _TABLE = (
    _AT[name] for name in ("seats", "abilities", "used", "denied", "phase", "table")
)
_SUPPLY, _PENDING, _PAID, _REWARDS = (_AT[name] for name in ("tile_supply", "pending", "paid", "rewards"))
_DISPLAY, _HAND, _KNOWN, _DISCARD, _RESHUFFLED = (
    _AT[name] for name in ("display", "hand", "known", "discard", "reshuffled")
)
_PER_BOARD, _PER_SEAT = len(PLANES) * CELLS, len(SEAT_FACTS)
_HAND_SIZE, _POINTS = 1, 2
_PLAYERS, _SEAT, _ROUND, _DRAW_PILE, _END_CARD, _WHITE_TILES = range(len(TABLE_FACTS))
_FIRST, _USING = 0, 1
_COLOUR, _SIZE, _RECOLOUR, _ORIENTATION, _CELL, _DUE, _LAST_DISCARD = range(6, len(PENDING_FACTS))
_WHITE = 6
_MANY = 127
#: Inconsistencies that are possible even if every entry is in its range.
_FAULTS = (
    "boards: found numbers of tiles that are no tiles of the box, expected from 1 on the cells of one tile each",
    "known: found more cards than the hand holds, expected at most those of that seat",
    "reshuffled: found cards, expected none unless the draw pile was made from the discard pile",
    "pending: found what is not in progress in this phase, or lacks what is, expected the facts of its decision alone",
)
_NO_TILE, _NOT_HELD, _NOT_MADE, _NOT_PENDING = range(len(_FAULTS))
_SOUND = -1


@kernel
def _read_set(obs, at):
    """Return a set of abilities from its flags."""
    abilities = np.int64(0)
    for ability in range(5):
        abilities |= np.int64(obs[at + ability]) << ability
    return abilities


@kernel
def _corner(cells):
    """Return the lower left corner of the bounding box of some cells."""
    x, rest = np.int64(COLUMNS), cells
    while rest:
        x = min(x, lowest_bit(rest) % COLUMNS)
        rest &= rest - 1
    return lowest_bit(cells) // COLUMNS * COLUMNS + x


@kernel
def _read_tile(t, g, obs, seat, at, tile):
    """Read a colored tile, identified by color, size, cells and brick. Return whether it is valid."""
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
    """Read a board. Return whether its colored tiles are valid."""
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
def _read_seat(g, obs, seat, turn):
    """Read points, abilities and the known cards of a hand, others blank. Return whether the hand is large enough."""
    left = np.int64(obs[_SEATS + _PER_SEAT * turn + _HAND_SIZE])
    g.points[seat] = obs[_SEATS + _PER_SEAT * turn + _POINTS]
    g.owned[seat] = _read_set(obs, _OWNED + 5 * turn)
    g.used[seat] = _read_set(obs, _USED + 5 * turn)
    g.denied[seat] = _read_set(obs, _DENIED + 5 * turn)
    for colour in range(5):
        known = obs[_KNOWN + 5 * turn + colour]
        g.known[seat, colour] = known
        g.hand[seat, colour] = known
        left -= known
    g.hand[seat, 0] += left
    return left >= 0


@kernel
def _read_own_hand(g, obs):
    """Read the own hand. Return whether it contains its publicly known cards."""
    seat, found = g.seat, True
    for colour in range(5):
        g.hand[seat, colour] = obs[_HAND + colour]
        found &= g.known[seat, colour] <= g.hand[seat, colour]
    return found


@kernel
def _read_table(g, obs):
    """Read the common area. Return whether known contents of the draw pile come from a reshuffle."""
    g.round_number = obs[_TABLE + _ROUND]
    g.pile_size = obs[_TABLE + _DRAW_PILE]
    g.end_card = obs[_TABLE + _END_CARD]
    g.white_tiles = obs[_TABLE + _WHITE_TILES]
    for kind in range(20):
        g.supply[kind] = obs[_SUPPLY + kind]
    for slot in range(7):
        g.display[slot] = obs[_DISPLAY + slot] - 1
    told = np.int64(0)
    for colour in range(5):
        g.discard[colour] = obs[_DISCARD + colour]
        g.reshuffled[colour] = obs[_RESHUFFLED + colour]
        told += g.reshuffled[colour]
    phase = 0
    while obs[_PHASE + phase] == 0:
        phase += 1
    g.phase = phase
    return told == 0 or (g.players > 2 and g.end_card != 0)


@kernel
def _read_pending(t, g, obs):
    """Read the operation in progress. Return whether it is valid in this phase."""
    at, building = _PENDING, g.phase == PHASE_PLACE or g.phase == PHASE_RECOLOUR or g.phase == PHASE_PAY
    clear_pending(g)
    g.first = obs[at + _FIRST] - 1
    g.using = _read_set(obs, at + _USING)
    g.recolour = obs[at + _RECOLOUR] - 1
    g.due = obs[at + _DUE]
    g.last_discard = obs[at + _LAST_DISCARD] - 1
    g.rewards = obs[_REWARDS]
    paid = 0
    for colour in range(5):
        g.paid[colour] = obs[_PAID + colour]
        paid += obs[_PAID + colour]
    colour, size = np.int64(obs[at + _COLOUR]), np.int64(obs[at + _SIZE])
    orientation, cell = np.int64(obs[at + _ORIENTATION]), np.int64(obs[at + _CELL])
    if building:
        if colour == 0 or size < 2:
            return False
        g.tile = 4 * (colour - 1) + size - 2
    if g.phase == PHASE_PAY:
        if orientation == 0 or cell == 0 or g.recolour < 0 or g.due == 0:
            return False
        g.place = CELLS * (orientation - 1) + cell - 1
    return (
        (building or (colour == 0 and size == 0))
        and (g.phase == PHASE_PAY or (orientation == 0 and cell == 0 and g.due == 0 and paid == 0))
        and (g.recolour < 0 or g.phase == PHASE_PAY or g.phase == PHASE_PLACE)
        and (g.recolour < 0 or g.recolour != colour - 1)
        and (g.first < 0 or g.phase == PHASE_TAKE)
        and (g.rewards > 0) == (g.phase == PHASE_COAT)
        and (g.phase != PHASE_PAY or _fits(t, g, orientation - 1, cell - 1))
    )


@kernel
def _fits(t, g, orientation, corner):
    """PAY: return whether the tile has support on empty cells, and only cards of its two colors have been paid."""
    own, filled = color_of(g.tile), g.filled[g.seat]
    for colour in range(5):
        if g.paid[colour] > 0 and colour != own and colour != g.recolour:
            return False
    if orientation >= t.orientations[g.tile] or g.due > size_of(g.tile):
        return False
    piece = ORIENTATIONS * np.int64(g.tile) + orientation
    return (placements(t, piece, filled, supported(filled)) >> corner) & 1 != 0


@kernel
def _blank(g):
    """Clear the record."""
    g.chance = 0
    g.done = 0
    g.filled[:] = 0
    g.coloured[:] = 0
    g.white[:] = 0
    g.bricks[:] = 0
    g.points[:] = 0
    g.tile_piece[:] = 0
    g.tile_cell[:] = 0
    g.tile_count[:] = 0
    g.owned[:] = 0
    g.used[:] = 0
    g.denied[:] = 0
    g.hand[:] = 0
    g.known[:] = 0
    g.pile[:] = 0


@kernel
def reconstruct_state(t, g, obs):
    """Fill the record `g` from the observation, int8 (F,), of the seat to move.

    Everything in the record is overwritten. Hidden cards are blank and the random key is 0. Every entry must be in its
    range (`_most`). Return an index of `_FAULTS` for an inconsistency, or `_SOUND`.
    """
    fault = _SOUND
    _blank(g)
    g.players = obs[_TABLE + _PLAYERS]
    g.seat = obs[_TABLE + _SEAT]
    seat = np.int64(g.seat)
    for turn in range(g.players):
        if not _read_board(t, g, obs, seat, _PER_BOARD * turn):
            fault = _NO_TILE
        if not _read_seat(g, obs, seat, turn):
            fault = _NOT_HELD
        seat += 1
        if seat == g.players:
            seat = np.int64(0)
    if not _read_own_hand(g, obs):
        fault = _NOT_HELD
    if not _read_table(g, obs):
        fault = _NOT_MADE
    if not _read_pending(t, g, obs):
        fault = _NOT_PENDING
    return fault


contract.reconstruct_state.implements(GAME, reconstruct_state)


@lru_cache(maxsize=32)
def _most(components: Components) -> npt.NDArray[np.uint8]:
    """Return the maximum of each entry of an observation, uint8 (F,); the minimum is 0 everywhere."""
    colours, largest = len(COLOURS), TILE_SIZES[-1]
    supply = np.max(components.copies, axis=0)
    by_piece: dict[str, npt.ArrayLike] = {
        "boards": np.reshape([_WHITE, TILES, 1, 1], (4, 1, 1)),  # the planes
        "seats": [1, _MANY, _MANY],
        "table": [MAX_SEATS, MAX_SEATS - 1, _MANY, PILE, 1, components.white_tiles],
        "tile_supply": supply,
        "pending": [7, 1, 1, 1, 1, 1, colours, largest, colours, ORIENTATIONS, CELLS, largest, colours],
        "paid": largest,
        "rewards": CELLS,
        "display": colours,
    }
    by_piece |= dict.fromkeys(("hand", "known", "discard", "reshuffled"), max(components.cards))
    return np.concatenate(
        [np.broadcast_to(np.asarray(by_piece.get(piece.name, 1), np.uint8), piece.shape).ravel() for piece in FIELDS]
    )


def _named(at: int) -> str:
    """Return the field of an entry and the index within it."""
    piece = next(piece for piece in reversed(FIELDS) if piece.start <= at)
    return f"{piece.name}{[int(i) for i in np.unravel_index(at - piece.start, piece.shape)]}"


def _check_entries(components: Components, observations: npt.NDArray[np.int8]) -> None:
    """Check that every entry is in its range, and that the phase and the seats are valid."""
    phases = observations[:, _PHASE : _PHASE + len(PHASES)]
    players = observations[:, _TABLE + _PLAYERS]
    wrong = (phases != 0).sum(axis=1) != 1
    wrong |= (players < 2) | (players > MAX_SEATS)
    if wrong.any():
        b = int(wrong.argmax())
        raise ObservationError(f"observations[{b}]: found no phase or no players in it; was it written by describe?")
    outside = observations.view(np.uint8) > _most(components)  # negative values become larger than 127
    if outside.any():
        b, at = (int(i) for i in np.argwhere(outside)[0])
        expected = f"0 to {_most(components)[at]}"
        raise ObservationError(f"observations[{b}]: {_named(at)}: found {observations[b, at]}, expected {expected}")
    absent = observations[:, _TABLE + _SEAT] >= players
    if absent.any():
        b = int(absent.argmax())
        seat = observations[b, _TABLE + _SEAT]
        raise ObservationError(
            f"observations[{b}]: table[{_SEAT}]: found the seat {seat}, expected one of {players[b]} that are played"
        )


def states_from_observations(config: CopenhagenConfig, observations: npt.NDArray[np.int8]) -> States:
    """Return a record for each observation, (B,), in which hidden cards are blank.

    Rounds and points beyond 127 are restored as 127, the maximum of an observation.

    Args:
        config: a configuration with the component file of the games; players and denied abilities are read from the
            observation.
        observations: int8 (B, F), each of a game that is not over, seen from the seat to move.

    Raises:
        ObservationError: (a ValueError) if an observation is invalid; names the field. A restored game has the same
            observation, its boards, hands and pending state are consistent, and no number exceeds the components. It
            need not be reachable.
    """
    observations = observation_rows(observations, OBSERVATION_SIZE)
    _check_entries(config.component_set, observations)
    states = new_states(len(observations))
    t = config.tables[0]
    b, fault = loops.batch_reconstruct(t, observations, states)
    if b >= 0:
        raise ObservationError(f"observations[{b}]: {_FAULTS[fault]}")
    seen = np.zeros_like(observations)
    loops.batch_observe(t, states, states["seat"].astype(np.int64), seen)
    if (seen != observations).any():
        b, at = (int(i) for i in np.argwhere(seen != observations)[0])
        raise ObservationError(
            f"observations[{b}]: {_named(at)}: found {observations[b, at]}, expected {seen[b, at]} by the other entries"
        )
    return states

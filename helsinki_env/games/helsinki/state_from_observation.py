"""Reconstruct a game state from an observation: the inverse of `helsinki_env.games.helsinki.observation`.

A search agent needs a game in which to simulate actions. It builds one from its own observation, so hidden cards cannot
leak. Hidden cards are placeholders in the record (the right number of cards, all of type 0) until
`helsinki_env.engine.determinization` determinize_observation them.

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

from functools import lru_cache
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from helsinki_env.engine import contract, loops
from helsinki_env.engine.bits import bit, lowest_bit
from helsinki_env.engine.determinization import ObservationError, observation_rows
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki.actions import ONE_WILD_TILE, TWO_WILD_TILES
from helsinki_env.games.helsinki.components import Components
from helsinki_env.games.helsinki.config import HelsinkiConfig
from helsinki_env.games.helsinki.deal import end_turn_fields
from helsinki_env.games.helsinki.observation import PENDING_FACTS, PLANES, SEAT_FACTS, TABLE_FACTS, observation_layout
from helsinki_env.games.helsinki.shapes import tile_cells
from helsinki_env.games.helsinki.state import (
    DECK,
    LAYOUTS,
    MAX_SEATS,
    PAID,
    PHASE_END,
    TILES,
    UNSEEN,
    States,
    new_states,
)

__all__ = ["reconstruct_state", "states_from_observations"]

_AT = observation_layout(0).starts
_BOARDS, _SEATS, _USED, _DENIED, _COVERED = (_AT[name] for name in ("boards", "seats", "used", "denied", "covered"))
_PHASE, _TABLE, _SUPPLY, _BONUS = (_AT[name] for name in ("phase", "table", "tile_supply", "bonus_cards"))
_PENDING, _BUILDING, _DISPLAY, _OWN_UNSEEN = (_AT[name] for name in ("pending", "building", "display", "own_unseen"))
_CARDS = _AT["hand"]
_PER_SEAT, _PER_BOARD = len(SEAT_FACTS), len(PLANES) * 49
_, _HAND_SIZE, _MEADOW, _TOKEN, _POINTS, _OWN_BONUS, _LIMIT, _UNSEEN_DRAWS = range(_PER_SEAT)
_PLAYERS, _SEAT, _DRY_ROADS, _ROUND, _LAST_ROUND, _PILE, _WILDS, _SUPERSTRUCTURES = range(len(TABLE_FACTS))
(
    _MOVE,
    _DREW,
    _BUILT,
    _ONLY_BUILD,
    _TO_PAY,
    _SUBSTITUTE,
    _ANY_SIDE,
    _ACTION,
    _RESUME,
    _WILDS_LEFT,
    _LIFTED,
    _ROOFS_LEFT,
    _LAST_ROOF,
    _LAST_DISCARD,
    _LIFTED_NOW,
    _TURN_OVER,
) = range(_PENDING, _PENDING + len(PENDING_FACTS))
_, _NUMBER, _STANDING, _COATS = range(0, _PER_BOARD, 49)
_WILD = 6
#: Possible inconsistencies between entries that are all in range.
_FAULTS = (
    "boards: found numbers of tiles that are no tiles of the box, expected from 1 on the cells of one tile each",
    "known: found more cards than the hand holds, expected at most hand_size of that seat",
)
_NO_TILE, _NOT_HELD = range(len(_FAULTS))
_SOUND = -1


@kernel
def _read_set(obs, at):
    actions = 0
    for action in range(15):
        if obs[at + action]:
            actions |= 1 << action
    return actions


@kernel
def _corner(cells):
    """North-west corner of the bounding box of some cells."""
    column = np.int64(6)
    rest = cells
    while rest:
        column = min(column, lowest_bit(rest) % 7)
        rest &= rest - 1
    return lowest_bit(cells) // 7 * 7 + column


@kernel
def _read_tile(t, g, seat, tile, colour, cells):
    """Find the shape and orientation that cover these cells; return whether they exist."""
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
    """Read a board; return whether its tiles exist in the box."""
    tiles, found = 0, True
    g.built[seat] = 0
    g.wild[seat] = 0
    g.superstructures[seat] = 0
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
    coats = 0
    for coat in range(8):
        coats |= np.int64(obs[at + _COATS + t.coat_cell[coat]]) << coat
    g.coats[seat] = coats
    return found


@kernel
def _read_seat(t, obs, g, seat, at):
    g.meadow[seat] = obs[at + _MEADOW]
    g.token[seat] = obs[at + _TOKEN] - 1
    g.points[seat] = obs[at + _POINTS]
    g.limit_lifted[seat] = obs[at + _LIMIT]
    g.bonus[seat] = -1
    for card in range(4):
        if obs[at + _OWN_BONUS] and t.bonus_cards[card] == obs[at + _OWN_BONUS]:
            g.bonus[seat] = card
    for slot in range(UNSEEN):  # the cards are dealt later; the viewer's own are read below
        g.unseen[seat, slot] = 0 if slot < obs[at + _UNSEEN_DRAWS] else -1


@kernel
def _read_hand(t, obs, g, seat, size, known):
    """Read a seat's publicly known cards and add placeholders for the others. Return whether all fit in the hand."""
    g.hand[seat, :] = 0
    g.known[seat, :] = 0
    for card in range(t.types):
        g.known[seat, card] = obs[known + card]
        g.hand[seat, card] = obs[known + card]
        size -= obs[known + card]
    g.hand[seat, 0] += size
    return size >= 0


@kernel
def _read_pending(obs, g):
    end_turn_fields(g)
    g.move = obs[_MOVE]
    g.drew = obs[_DREW]
    g.has_built = obs[_BUILT]
    g.only_build = obs[_ONLY_BUILD]
    g.to_pay = obs[_TO_PAY]
    g.substitute = obs[_SUBSTITUTE]
    g.any_side = obs[_ANY_SIDE]
    g.action = obs[_ACTION] - 1
    g.resume = obs[_RESUME]
    g.wilds_left = obs[_WILDS_LEFT]
    g.lifted = obs[_LIFTED] - 1
    g.roofs_left = obs[_ROOFS_LEFT]
    g.last_roof = obs[_LAST_ROOF] - 1
    g.last_discard = obs[_LAST_DISCARD] - 1
    g.lifted_now = obs[_LIFTED_NOW]
    g.turn_over = obs[_TURN_OVER]
    g.card = obs[_BUILDING] - 1
    for i in range(PAID):
        if obs[_BUILDING + 1 + i]:
            g.paid[i] = obs[_BUILDING + 1 + i] - 1
            g.paid_count = i + 1


@kernel
def reconstruct_state(t, g, obs):
    """Fill the record `g` from the observation, int8 (F,), of the seat to move.

    All previous content is overwritten. Hidden cards are placeholders and the random key is 0. Every entry must be in
    range (`_most`). Return the inconsistency as an index of `_FAULTS`, or `_SOUND`.
    """
    fault = _SOUND
    types, players = t.types, np.int64(obs[_TABLE + _PLAYERS])
    viewer = np.int64(obs[_TABLE + _SEAT])
    g.chance = 0
    g.players = players
    g.seat = viewer
    g.done = 0
    g.built[:] = 0
    g.wild[:] = 0
    g.superstructures[:] = 0
    g.used[:] = 0
    g.denied[:] = 0
    g.points[:] = 0
    g.hand[:] = 0
    g.known[:] = 0
    g.discard[:] = 0
    g.reshuffled[:] = 0
    g.tile_piece[:] = 0
    g.tile_cell[:] = 0
    g.tile_count[:] = 0
    g.unseen[:] = -1
    g.coats[:] = 0
    g.meadow[:] = 0
    g.token[:] = -1
    g.bonus[:] = -1
    g.limit_lifted[:] = 0
    for turn in range(players):
        seat = (viewer + turn) % players
        if not _read_board(t, obs, g, seat, _BOARDS + _PER_BOARD * turn):
            fault = _NO_TILE
        _read_seat(t, obs, g, seat, _SEATS + _PER_SEAT * turn)
        g.used[seat] = _read_set(obs, _USED + 15 * turn)
        g.denied[seat] = _read_set(obs, _DENIED + 15 * turn)
        size = np.int64(obs[_SEATS + _PER_SEAT * turn + _HAND_SIZE])
        if not _read_hand(t, obs, g, seat, size, _CARDS + (1 + turn) * types):
            fault = _NOT_HELD
    for card in range(types):
        g.hand[viewer, card] = obs[_CARDS + card]
        g.discard[card] = obs[_CARDS + 5 * types + card]
        g.reshuffled[card] = obs[_CARDS + 6 * types + card]
    for slot in range(UNSEEN):
        g.unseen[viewer, slot] = obs[_OWN_UNSEEN + slot] - 1
    _read_table(obs, g)
    _read_pending(obs, g)
    return fault


@kernel
def _read_table(obs, g):
    g.covered = _read_set(obs, _COVERED)
    g.dry_roads = obs[_TABLE + _DRY_ROADS]
    g.round_number = obs[_TABLE + _ROUND]
    g.last_round = obs[_TABLE + _LAST_ROUND]
    g.pile_size = obs[_TABLE + _PILE]
    g.pile[:] = 0
    g.wild_supply = obs[_TABLE + _WILDS]
    g.superstructure_supply = obs[_TABLE + _SUPERSTRUCTURES]
    for kind in range(20):
        g.supply[kind] = obs[_SUPPLY + kind]
    g.bonus_cards = 0
    for card in range(MAX_SEATS):
        g.bonus_cards |= np.int64(obs[_BONUS + card]) << card
    for slot in range(8):
        g.display[slot] = obs[_DISPLAY + slot] - 1
    phase = 0
    while obs[_PHASE + phase] == 0:
        phase += 1
    g.phase = phase


for _layout in LAYOUTS:
    contract.reconstruct_state.implements(_layout, reconstruct_state)


@lru_cache(maxsize=32)
def _most(components: Components) -> npt.NDArray[np.uint8]:
    """Return the maximum of each entry of an observation, uint8 (F,); the minimum is 0."""
    types, many = components.types, 127
    wilds = max(components.strengths[ONE_WILD_TILE], components.strengths[TWO_WILD_TILES])
    by_piece: dict[str, npt.ArrayLike] = {
        "boards": np.reshape([7, TILES, 1, 1], (4, 1, 1)),  # the planes
        "seats": [1, DECK, 8, 8, many, many, 1, UNSEEN],
        "table": [MAX_SEATS, MAX_SEATS - 1, 1, many, 1, DECK, components.wild_tiles, components.superstructures],
        "tile_supply": components.tile_copies,
        "pending": [6, 1, 1, 1, PAID, 1, 1, 15, PHASE_END, wilds, 49, 5, 49, types, 1, 1],
        "building": [types - 1, *[types] * PAID],  # wild cards are never built
    }
    by_piece |= dict.fromkeys(("display", "own_unseen"), types)
    by_piece |= dict.fromkeys(("hand", "known", "discard", "reshuffled"), DECK)
    pieces = observation_layout(types).fields
    return np.concatenate(
        [np.broadcast_to(np.asarray(by_piece.get(piece.name, 1), np.uint8), piece.shape).ravel() for piece in pieces]
    )


def _complain(components: Components, observations: npt.NDArray[np.int8], outside: npt.NDArray[np.bool_]) -> NoReturn:
    """Raise an error that names the first entry out of range."""
    b, at = np.argwhere(outside)[0].tolist()
    piece = next(piece for piece in reversed(observation_layout(components.types).fields) if piece.start <= at)
    place = [int(i) for i in np.unravel_index(at - piece.start, piece.shape)]
    raise ObservationError(
        f"observations[{b}]: {piece.name}{place}: found {observations[b, at]}, expected 0 to {_most(components)[at]}"
    )


def states_from_observations(config: HelsinkiConfig, observations: npt.NDArray[np.int8]) -> States:
    """Return a record for each observation, (B,), with placeholders for hidden cards.

    Args:
        config: a configuration with the component file of the games; players, covered and denied board actions and the
            expansion are read from the observation.
        observations: int8 (B, F), each of a game that is not over, seen from the seat to move.

    Raises:
        ObservationError: for invalid observations. Every entry must be in range, and boards and hands must be
            consistent. Whether the state can occur in a game is not checked.
    """
    observations = observation_rows(observations, observation_layout(config.component_set.types).size)
    phases = observations[:, _PHASE : _PHASE + 10]
    players = observations[:, _TABLE + _PLAYERS]
    if not ((phases.sum(axis=1) == 1) & (players >= 2) & (players <= MAX_SEATS)).all():
        wrong = int(np.flatnonzero((phases.sum(axis=1) != 1) | (players < 2) | (players > MAX_SEATS))[0])
        raise ObservationError(f"observations[{wrong}]: found no phase or no players in it; was it written by observe?")
    outside = observations.view(np.uint8) > _most(config.component_set)  # negative entries become values above 127
    if outside.any():
        _complain(config.component_set, observations, outside)
    absent = observations[:, _TABLE + _SEAT] >= players
    if absent.any():
        b = int(absent.argmax())
        seat = observations[b, _TABLE + _SEAT]
        raise ObservationError(
            f"observations[{b}]: table[{_SEAT}]: found the seat {seat}, expected one of {players[b]} that are played"
        )
    states = new_states(len(observations), config.component_set.types)
    b, fault = loops.batch_reconstruct(config.tables[0], observations, states)
    if fault != _SOUND:
        raise ObservationError(f"observations[{b}]: {_FAULTS[fault]}")
    return states

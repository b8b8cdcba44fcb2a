"""Observations: what a seat may see, as one flat int8 array (rules page, section 7).

Only this module and its vectorized version hide information. The array has the same fields at the same positions for
any number of players and any configuration with the same components. Seats are ordered from the viewer's perspective:
self, next clockwise, and so on; unused seats are zero. No entry is negative: codes are shifted by one, so 0 means
"none". `unpack` returns the named fields:

    >>> from helsinki_env import HelsinkiGame, observation
    >>> pieces = observation.unpack(HelsinkiGame(seed=0).observation())
    >>> pieces["boards"].shape, pieces["display"].shape
    ((4, 4, 7, 7), (8,))
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Node
from helsinki_env.engine import contract, loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import ObservationField, ObservationLayout, make_layout
from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.draw import hand_size
from helsinki_env.games.helsinki.state import LAYOUTS, MAX_SEATS, PAID, PHASES, UNSEEN, WIDE

__all__ = ["PLANES", "ObservationField", "ObservationLayout", "observation_layout", "unpack", "write_observation"]

PLANES = ("tile", "number", "superstructure", "coat")
"""Board planes: tile (1 to 5 pavilion by color, 6 wild tile, 7 statue), number of the pavilion tile in building order
(from 1), superstructure (0 or 1), coat of arms (0 or 1)."""

SEAT_FACTS = (
    "present",
    "hand_size",
    "meadow",
    "token",
    "points",
    "bonus",
    "limit_lifted",
    "unseen_draws",
)
TABLE_FACTS = (
    "players",
    "turn_order",
    "dry_roads",
    "round",
    "last_round",
    "draw_pile",
    "wild_tiles",
    "superstructures",
)
PENDING_FACTS = (
    "move",
    "drew",
    "built",
    "only_build",
    "to_pay",
    "substitute",
    "any_side",
    "action",
    "resume",
    "wilds_left",
    "lifted",
    "roofs_left",
    "last_roof",
    "last_discard",
    "lifted_now",
    "turn_over",
)
_T = -1  # placeholder for the number of card types

_PIECES: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("boards", (MAX_SEATS, len(PLANES), 7, 7), "every board: planes " + ", ".join(PLANES)),
    ("seats", (MAX_SEATS, len(SEAT_FACTS)), "for each seat " + ", ".join(SEAT_FACTS)),
    ("used", (MAX_SEATS, 15), "actions that a seat has used"),
    ("denied", (MAX_SEATS, 15), "actions that a seat may not use"),
    ("covered", (15,), "actions that nobody may use"),
    ("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES)),
    ("table", (len(TABLE_FACTS),), ", ".join(TABLE_FACTS)),
    ("tile_supply", (len(COLOURS), 4), "pavilion tiles left, by colour and roofs 2 to 5"),
    ("bonus_cards", (MAX_SEATS,), "bonus cards left, lowest first"),
    ("pending", (len(PENDING_FACTS),), "the decision in progress: " + ", ".join(PENDING_FACTS)),
    ("building", (1 + PAID,), "card type + 1: the card being built, then the cards paid for it in order"),
    ("display", (8,), "card type + 1 in each slot"),
    ("own_unseen", (UNSEEN,), "card type + 1: cards that this seat drew unseen from a reshuffled pile"),
    ("hand", (_T,), "cards in the own hand, by card type"),
    ("known", (MAX_SEATS, _T), "cards that a seat took from the display and has not shown since"),
    ("discard", (_T,), "the discard pile"),
    ("reshuffled", (_T,), "a draw pile made from the discard pile, less what everybody has seen leave it"),
)


@lru_cache(maxsize=8)
def observation_layout(types: int = 51) -> ObservationLayout:
    """Return the layout for a number of card types (51 with the default components)."""
    filled = ((name, tuple(types if n == _T else n for n in shape), meaning) for name, shape, meaning in _PIECES)
    return make_layout(filled)


def unpack(obs: npt.NDArray[Any], types: int | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return the named fields of one observation (F,) or a batch (..., F) as views of shape (..., *field shape).

    Args:
        obs: one or more observations; any dtype.
        types: number of card types; default: derived from the length.

    Raises:
        ValueError: if no observation layout has this length.
    """
    obs = np.asarray(obs)
    length = obs.shape[-1] if obs.ndim else 0
    fitting = (length - observation_layout(0).size) // 7
    chosen = observation_layout(max(1, fitting if types is None else Node(types, ValueError, "types").integer(1, WIDE)))
    if chosen.size != length:
        raise ValueError(
            f"observation: found shape {obs.shape}, expected (..., {observation_layout().size}) "
            "with the default components"
        )
    return chosen.unpack(obs)


# Start of each field; fields that depend on the number of card types come last.
_AT = observation_layout(0).starts
_SEATS, _USED, _DENIED, _COVERED = _AT["seats"], _AT["used"], _AT["denied"], _AT["covered"]
_PHASE, _TABLE, _SUPPLY, _BONUS = _AT["phase"], _AT["table"], _AT["tile_supply"], _AT["bonus_cards"]
_PENDING, _BUILDING, _DISPLAY, _UNSEEN = _AT["pending"], _AT["building"], _AT["display"], _AT["own_unseen"]
_CARDS = _AT["hand"]
_PER_SEAT, _PER_BOARD, _CELLS = len(SEAT_FACTS), 4 * 49, 49


@kernel
def tile_sets(t, g, seat):
    """Cells by the binary digits of their codes: three sets for colors (from 1), five for the building order."""
    c0 = c1 = c2 = np.int64(0)
    n0 = n1 = n2 = n3 = n4 = np.int64(0)
    for tile in range(g.tile_count[seat]):
        piece = np.uint64(g.tile_piece[seat, tile])
        cells = np.int64(t.roofs_mask[piece]) << np.int64(g.tile_cell[seat, tile])
        colour, number = np.int64(piece >> np.uint64(5)) + 1, np.int64(tile) + 1
        c0 |= cells & -(colour & 1)
        c1 |= cells & -(colour >> 1 & 1)
        c2 |= cells & -(colour >> 2)
        n0 |= cells & -(number & 1)
        n1 |= cells & -(number >> 1 & 1)
        n2 |= cells & -(number >> 2 & 1)
        n3 |= cells & -(number >> 3 & 1)
        n4 |= cells & -(number >> 4)
    grey = np.int64(g.wild[seat]) | t.statue  # codes 6 and 7
    return (c0 | t.statue, c1 | grey, c2 | grey), (n0, n1, n2, n3, n4)


@kernel
def _write_board(t, g, seat, out, at, lane, lanes):
    """Section 7: boards, superstructures and coats are public."""
    (c0, c1, c2), (n0, n1, n2, n3, n4) = tile_sets(t, g, seat)
    standing, coats = np.int64(g.superstructures[seat]), np.int64(t.coat_sets[g.coats[seat]])
    for cell in range(lane, _CELLS, lanes):
        out[at + cell] = c0 >> cell & 1 | (c1 >> cell & 1) << 1 | (c2 >> cell & 1) << 2
        digits = n0 >> cell & 1 | (n1 >> cell & 1) << 1 | (n2 >> cell & 1) << 2
        out[at + _CELLS + cell] = digits | (n3 >> cell & 1) << 3 | (n4 >> cell & 1) << 4
        out[at + 2 * _CELLS + cell] = standing >> cell & 1
        out[at + 3 * _CELLS + cell] = coats >> cell & 1


@kernel
def _write_seat(t, g, seat, out, at):
    """Section 7: hand sizes, meadows, tokens, scores, lifted limits are public."""
    unseen = np.int64(0)
    for slot in range(UNSEEN):
        unseen += g.unseen[seat, slot] >= 0
    out[at] = 1
    out[at + 1] = hand_size(t, g, seat)
    out[at + 2] = g.meadow[seat]
    out[at + 3] = g.token[seat] + 1
    out[at + 4] = min(127, np.int64(g.points[seat]))
    out[at + 5] = t.bonus_cards[g.bonus[seat]] if g.bonus[seat] >= 0 else 0
    out[at + 6] = g.limit_lifted[seat]
    out[at + 7] = unseen


@kernel
def _write_table(g, viewer, out):
    out[_TABLE] = g.players
    out[_TABLE + 1] = viewer
    out[_TABLE + 2] = g.dry_roads
    out[_TABLE + 3] = min(127, np.int64(g.round_number))
    out[_TABLE + 4] = g.last_round
    out[_TABLE + 5] = g.pile_size
    out[_TABLE + 6] = g.wild_supply
    out[_TABLE + 7] = g.superstructure_supply


@kernel
def _write_pending(g, out):
    """Section 7: the pending action is public."""
    out[_PENDING] = g.move
    out[_PENDING + 1] = g.drew
    out[_PENDING + 2] = g.has_built
    out[_PENDING + 3] = g.only_build
    out[_PENDING + 4] = g.to_pay
    out[_PENDING + 5] = g.substitute
    out[_PENDING + 6] = g.any_side
    out[_PENDING + 7] = g.action + 1
    out[_PENDING + 8] = g.resume
    out[_PENDING + 9] = g.wilds_left
    out[_PENDING + 10] = g.lifted + 1
    out[_PENDING + 11] = g.roofs_left
    out[_PENDING + 12] = g.last_roof + 1
    out[_PENDING + 13] = g.last_discard + 1
    out[_PENDING + 14] = g.lifted_now
    out[_PENDING + 15] = g.turn_over


@kernel
def _seat_after(g, viewer, turn):
    """Seat that is `turn` places clockwise of the viewer, or -1 if unused."""
    if turn >= g.players:
        return np.int64(-1)
    seat = np.int64(viewer) + turn
    return seat - g.players if seat >= g.players else seat


@kernel
def _write_seats(t, g, viewer, out, lane, lanes):
    for turn in range(MAX_SEATS):
        seat = _seat_after(g, viewer, turn)
        if seat >= 0:
            _write_board(t, g, seat, out, _PER_BOARD * turn, lane, lanes)
        else:
            for entry in range(_PER_BOARD * turn + lane, _PER_BOARD * (turn + 1), lanes):
                out[entry] = 0
    for turn in range(lane, MAX_SEATS, lanes):
        seat, at = _seat_after(g, viewer, turn), _SEATS + _PER_SEAT * turn
        if seat >= 0:
            _write_seat(t, g, seat, out, at)
        else:
            for entry in range(at, at + _PER_SEAT):
                out[entry] = 0
    for entry in range(lane, 15 * MAX_SEATS, lanes):
        seat, action = _seat_after(g, viewer, entry // 15), np.int64(entry % 15)
        out[_USED + entry] = np.int64(g.used[seat]) >> action & 1 if seat >= 0 else 0
        out[_DENIED + entry] = np.int64(g.denied[seat]) >> action & 1 if seat >= 0 else 0


@kernel
def write_cards(t, g, viewer, out, lane, lanes):
    """Section 7: the viewer's own hand, cards that others visibly took, and the public piles."""
    types = t.types
    for card in range(lane, types, lanes):
        out[_CARDS + card] = g.hand[viewer, card]
    for turn in range(MAX_SEATS):
        seat, at = _seat_after(g, viewer, turn), _CARDS + (1 + turn) * types
        if seat >= 0:
            for card in range(lane, types, lanes):
                out[at + card] = g.known[seat, card]
        else:
            for card in range(lane, types, lanes):
                out[at + card] = 0
    discard, reshuffled = _CARDS + 5 * types, _CARDS + 6 * types
    for card in range(lane, types, lanes):
        out[discard + card] = g.discard[card]
    for card in range(lane, types, lanes):
        out[reshuffled + card] = g.reshuffled[card]


@kernel
def write_observation_part(t, g, viewer, out, lane, lanes):
    """Section 7: write the entries of `viewer`'s observation, int8 of shape (F,), assigned to `lane` out of `lanes`."""
    _write_seats(t, g, viewer, out, lane, lanes)
    for action in range(lane, 15, lanes):
        out[_COVERED + action] = np.int64(g.covered) >> action & 1
    for phase in range(lane, len(PHASES), lanes):
        out[_PHASE + phase] = phase == g.phase
    for kind in range(lane, 20, lanes):
        out[_SUPPLY + kind] = g.supply[kind]
    for card in range(lane, MAX_SEATS, lanes):
        out[_BONUS + card] = np.int64(g.bonus_cards) >> card & 1
    for slot in range(lane, 8, lanes):
        out[_DISPLAY + slot] = g.display[slot] + 1
    for slot in range(lane, UNSEEN, lanes):
        out[_UNSEEN + slot] = g.unseen[viewer, slot] + 1
    for i in range(lane, PAID, lanes):
        out[_BUILDING + 1 + i] = g.paid[i] + 1 if i < g.paid_count else 0
    if lane == 0:
        out[_BUILDING] = g.card + 1
        _write_table(g, viewer, out)
        _write_pending(g, out)
    write_cards(t, g, viewer, out, lane, lanes)


@kernel
def write_observation(t, g, viewer, out):
    """Section 7: write what `viewer` may see into `out`, int8 of shape (F,), every entry."""
    write_observation_part(t, g, viewer, out, 0, 1)


for _layout in LAYOUTS:
    contract.write_observation.implements(_layout, write_observation)
    loops.observe_part.implements(_layout, write_observation_part)

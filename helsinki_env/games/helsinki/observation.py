"""What a seat may see, as one flat int8 array; the only place that hides information (rules page, section 7).

The array has the same pieces in the same places for any number of players and any configuration with the same
components. It is seen from one seat: seats come in the order self, next clockwise, and so on; those that nobody
sits on are zero. Nothing is negative: codes are shifted by one so that 0 means "none". `split` names the pieces:

    >>> from helsinki_env import Game, observation
    >>> pieces = observation.split(Game(seed=0).observation())
    >>> pieces["boards"].shape, pieces["display"].shape
    ((4, 4, 7, 7), (8,))
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.data import Entry
from helsinki_env.engine import contract
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import Layout, Piece, layout_of
from helsinki_env.games.helsinki.components import COLOURS
from helsinki_env.games.helsinki.shapes import MOST_ROOFS
from helsinki_env.games.helsinki.state import LAYOUTS, PAID, PHASES, SEATS, UNSEEN, WIDE

__all__ = ["PLANES", "Layout", "Piece", "describe", "layout", "split"]

PLANES = ("tile", "number", "superstructure", "coat")
"""Board planes: what is built (1 to 5 pavilion by colour, 6 wild tile, 7 statue), the how-manyth pavilion tile of
the board it is (from 1), whether a superstructure stands there, whether a coat of arms lies there."""

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
_T = -1  # stands for the number of card types

_PIECES: tuple[tuple[str, tuple[int, ...], str], ...] = (
    ("boards", (SEATS, len(PLANES), 7, 7), "every board: planes " + ", ".join(PLANES)),
    ("seats", (SEATS, len(SEAT_FACTS)), "for each seat " + ", ".join(SEAT_FACTS)),
    ("used", (SEATS, 15), "actions that a seat has used"),
    ("denied", (SEATS, 15), "actions that a seat may not use"),
    ("covered", (15,), "actions that nobody may use"),
    ("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES)),
    ("table", (len(TABLE_FACTS),), ", ".join(TABLE_FACTS)),
    ("tile_supply", (len(COLOURS), 4), "pavilion tiles left, by colour and roofs 2 to 5"),
    ("bonus_cards", (SEATS,), "bonus cards left, lowest first"),
    ("pending", (len(PENDING_FACTS),), "the decision in progress: " + ", ".join(PENDING_FACTS)),
    ("building", (1 + PAID,), "card type + 1: the card being built, then the cards paid for it in order"),
    ("display", (8,), "card type + 1 in each slot"),
    ("own_unseen", (UNSEEN,), "card type + 1: cards that this seat drew unseen from a reshuffled pile"),
    ("hand", (_T,), "cards in the own hand, by card type"),
    ("known", (SEATS, _T), "cards that a seat took from the display and has not shown since"),
    ("discard", (_T,), "the discard pile"),
    ("reshuffled", (_T,), "a draw pile made from the discard pile, less what everybody has seen leave it"),
)


@lru_cache(maxsize=8)
def layout(types: int = 51) -> Layout:
    """Return the layout for a number of card types (51 with the default components)."""
    filled = ((name, tuple(types if n == _T else n for n in shape), meaning) for name, shape, meaning in _PIECES)
    return layout_of(filled)


def split(obs: npt.NDArray[Any], types: int | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return the named pieces of one observation (F,) or a batch (..., F) as views of shape (..., *piece shape).

    Args:
        obs: observation(s); any dtype.
        types: number of card types; default: the number that fits the length.

    Raises:
        ValueError: if the length fits no observation.
    """
    obs = np.asarray(obs)
    length = obs.shape[-1] if obs.ndim else 0
    fitting = (length - layout(0).size) // 7
    chosen = layout(max(1, fitting if types is None else Entry(types, ValueError, "types").integer(1, WIDE)))
    if chosen.size != length:
        raise ValueError(
            f"observation: found shape {obs.shape}, expected (..., {layout().size}) with the default components"
        )
    return chosen.split(obs)


# Where the pieces start; those that depend on the number of card types come last.
_AT = layout(0).starts
_SEATS, _USED, _DENIED, _COVERED = _AT["seats"], _AT["used"], _AT["denied"], _AT["covered"]
_PHASE, _TABLE, _SUPPLY, _BONUS = _AT["phase"], _AT["table"], _AT["tile_supply"], _AT["bonus_cards"]
_PENDING, _BUILDING, _DISPLAY, _UNSEEN = _AT["pending"], _AT["building"], _AT["display"], _AT["own_unseen"]
_CARDS = _AT["hand"]
_PER_SEAT = len(SEAT_FACTS)


@kernel
def _write_board(t, g, seat, out, at):
    """Section 7: boards, superstructures and coats are public.

    Every tile is written as five cells (a smaller one writes its first again): without a branch on the size it takes
    half the time.
    """
    for tile in range(g.tile_count[seat]):
        piece = np.uint64(g.tile_piece[seat, tile])  # unsigned: Python's negative indices cost a comparison each
        corner = np.uint64(at) + np.uint64(g.tile_cell[seat, tile])
        colour = np.int8(piece >> np.uint64(5)) + 1
        for roof in range(MOST_ROOFS):
            cell = corner + np.uint64(t.corner_cells[piece, roof])
            out[cell] = colour
            out[cell + np.uint64(49)] = tile + 1
    wild, standing, coats = g.wild[seat], g.superstructures[seat], np.int64(g.coats[seat])
    if wild:
        for i in range(49):
            out[at + i] += 6 * ((wild >> i) & 1)
    if standing:
        for i in range(49):
            out[at + 98 + i] = (standing >> i) & 1
    for coat in range(8):
        out[at + 147 + t.coat_cell[coat]] = (coats >> coat) & 1
    out[at + t.statue_cell] = 7


@kernel
def _write_seat(t, g, seat, out, at):
    """Section 7: hand sizes, meadows, tokens, scores, lifted limits are public."""
    held, unseen = np.int64(0), np.int64(0)
    for card in range(t.types):
        held += g.hand[seat, card]
    for slot in range(UNSEEN):
        unseen += g.unseen[seat, slot] >= 0
    out[at] = 1
    out[at + 1] = held
    out[at + 2] = g.meadow[seat]
    out[at + 3] = g.token[seat] + 1
    out[at + 4] = min(127, np.int64(g.points[seat]))
    out[at + 5] = t.bonus_cards[g.bonus[seat]] if g.bonus[seat] >= 0 else 0
    out[at + 6] = g.limit_lifted[seat]
    out[at + 7] = unseen


@kernel
def _write_actions(actions, out, at):
    if actions:
        for action in range(15):
            out[at + action] = (np.int64(actions) >> action) & 1


@kernel
def _write_pending(g, out):
    """Section 7: the decision in progress is public."""
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
    out[_BUILDING] = g.card + 1
    for i in range(g.paid_count):
        out[_BUILDING + 1 + i] = g.paid[i] + 1


@kernel
def describe(t, g, viewer, out):
    """Section 7: write what `viewer` may see into `out`, int8 of shape (F,), zero before."""
    types, players = t.types, g.players
    seat = np.int64(viewer)
    for turn in range(players):
        _write_board(t, g, seat, out, 196 * turn)
        _write_seat(t, g, seat, out, _SEATS + _PER_SEAT * turn)
        _write_actions(g.used[seat], out, _USED + 15 * turn)
        _write_actions(g.denied[seat], out, _DENIED + 15 * turn)
        known = _CARDS + (1 + turn) * types
        for card in range(types):
            out[known + card] = g.known[seat, card]
        seat += 1
        if seat == players:
            seat = np.int64(0)
    _write_actions(g.covered, out, _COVERED)
    out[_PHASE + np.int64(g.phase)] = 1
    out[_TABLE] = g.players
    out[_TABLE + 1] = viewer
    out[_TABLE + 2] = g.dry_roads
    out[_TABLE + 3] = min(127, np.int64(g.round_number))
    out[_TABLE + 4] = g.last_round
    out[_TABLE + 5] = g.pile_size
    out[_TABLE + 6] = g.wild_supply
    out[_TABLE + 7] = g.superstructure_supply
    for kind in range(20):
        out[_SUPPLY + kind] = g.supply[kind]
    for card in range(4):
        out[_BONUS + card] = (g.bonus_cards >> card) & 1
    _write_pending(g, out)
    for slot in range(8):
        out[_DISPLAY + slot] = g.display[slot] + 1
    for slot in range(UNSEEN):
        out[_UNSEEN + slot] = g.unseen[viewer, slot] + 1
    discard, reshuffled = _CARDS + 5 * types, _CARDS + 6 * types
    for card in range(types):
        out[_CARDS + card] = g.hand[viewer, card]
    for card in range(types):
        out[discard + card] = g.discard[card]
    for card in range(types):
        out[reshuffled + card] = g.reshuffled[card]


for _layout in LAYOUTS:
    contract.describe.belongs_to(_layout, describe)

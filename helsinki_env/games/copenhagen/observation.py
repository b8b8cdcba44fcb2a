"""The observation of a seat as a flat int8 array; the only module that hides information (rules, section 5).

The layout is the same for any number of players and any configuration. Seats are in the order self, next clockwise, and
so on; unused seats are zero. No entry is negative: codes are shifted by one so that 0 means "none". `unpack` returns
the named fields:

    >>> from helsinki_env.games.copenhagen import observation
    >>> from helsinki_env.games.copenhagen.game import CopenhagenGame
    >>> pieces = observation.unpack(CopenhagenGame(seed=0).observation())
    >>> pieces["boards"].shape, pieces["display"].shape
    ((4, 4, 9, 5), (7,))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import make_layout
from helsinki_env.engine.vectors import clearer, copier, spreader
from helsinki_env.games.copenhagen.actions import CELLS
from helsinki_env.games.copenhagen.bits import full_rows
from helsinki_env.games.copenhagen.build import color_of, size_of
from helsinki_env.games.copenhagen.cards import hand_size
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, COLUMNS, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.shapes import tile_cells
from helsinki_env.games.copenhagen.state import MAX_SEATS, PHASES

__all__ = ["FIELDS", "LAYOUT", "OBSERVATION_SIZE", "PLANES", "unpack", "write_observation"]

PLANES = ("tile", "number", "brick", "coat")
"""Board planes, lowest row first:

- tile: 1 to 5 colored, 6 white;
- number: index of the colored tile in the order built, from 1;
- brick: whether a brick shows;
- coat: whether an uncovered coat of arms is there.
"""

SEAT_FACTS = ("present", "hand_size", "points")
TABLE_FACTS = ("players", "turn_order", "round", "draw_pile", "end_card", "white_tiles")
PENDING_FACTS = (
    "first",
    *(f"using_{name}" for name in ABILITIES),
    "colour",
    "size",
    "recolour",
    "orientation",
    "cell",
    "due",
    "last_discard",
)


LAYOUT = make_layout(
    (
        ("boards", (MAX_SEATS, len(PLANES), ROWS, COLUMNS), "every board: planes " + ", ".join(PLANES)),
        ("row_coats", (MAX_SEATS, ROWS), "1 where a coat of arms lies beside a row that is not full"),
        ("seats", (MAX_SEATS, len(SEAT_FACTS)), "for each seat " + ", ".join(SEAT_FACTS)),
        ("abilities", (MAX_SEATS, len(ABILITIES)), "abilities that a seat owns"),
        ("used", (MAX_SEATS, len(ABILITIES)), "those that it has used"),
        ("denied", (MAX_SEATS, len(ABILITIES)), "abilities that a seat may not take"),
        ("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES)),
        ("table", (len(TABLE_FACTS),), ", ".join(TABLE_FACTS)),
        ("tile_supply", (len(COLOURS), len(TILE_SIZES)), "coloured tiles left, by colour and size 2 to 5"),
        ("pending", (len(PENDING_FACTS),), "the decision in progress: " + ", ".join(PENDING_FACTS)),
        ("paid", (len(COLOURS),), "cards paid so far for the tile in progress"),
        ("rewards", (1,), "pending rewards"),
        ("display", (7,), "colour + 1 in each slot"),
        ("hand", (len(COLOURS),), "cards in the own hand, by colour"),
        ("known", (MAX_SEATS, len(COLOURS)), "cards that a seat took from the display and has not shown since"),
        ("discard", (len(COLOURS),), "the discard pile"),
        ("reshuffled", (len(COLOURS),), "the draw pile, once it was made from the discard pile"),
    )
)
"""Offsets of the fields of the observation."""

FIELDS = LAYOUT.fields
"""The fields in order."""

OBSERVATION_SIZE = LAYOUT.size
"""F, the length of an observation."""

_AT = {piece.name: piece.start for piece in FIELDS}
_ROW_COATS, _SEATS, _OWNED, _USED, _DENIED = (
    _AT[name] for name in ("row_coats", "seats", "abilities", "used", "denied")
)
_PHASE, _TABLE, _SUPPLY, _PENDING, _PAID, _REWARDS = (
    _AT[name] for name in ("phase", "table", "tile_supply", "pending", "paid", "rewards")
)
_DISPLAY, _HAND, _KNOWN, _DISCARD, _RESHUFFLED = (
    _AT[name] for name in ("display", "hand", "known", "discard", "reshuffled")
)
PER_BOARD = len(PLANES) * CELLS
FACTS = len(SEAT_FACTS)


def unpack(obs: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the named fields of one observation (F,) or a batch (..., F) as views of shape (..., *field shape).

    Raises:
        ValueError: if the length is not that of an observation.
    """
    obs = np.asarray(obs)
    if not obs.ndim or obs.shape[-1] != OBSERVATION_SIZE:
        raise ValueError(f"observation: found shape {obs.shape}, expected (..., {OBSERVATION_SIZE})")
    return LAYOUT.unpack(obs)


# Entries written beyond the end of a field belong to the next one and are overwritten; the last writes are exact.
_write_tiles, _write_numbers = spreader(64, 3), spreader(64, 5)
_write_cells, _write_half, _write_few = spreader(64), spreader(32), spreader(16)
_copy_16, _copy_4, _copy_8, _copy_8_codes = copier(16), copier(4), copier(8), copier(8, plus=1)
_clear_board, _clear_coats, _clear_few = clearer(PER_BOARD), clearer(16), clearer(8)


@kernel
def tile_sets(t, g, seat):
    """Return sets of cells for the binary digits of the planes: three digits for tiles, five for the order built."""
    n0 = n1 = n2 = n3 = n4 = np.int64(0)
    for tile in range(g.tile_count[seat]):
        cells = tile_cells(t, np.int64(g.tile_piece[seat, tile]), g.tile_cell[seat, tile])
        number = np.int64(tile) + 1
        n0 |= cells & -(number & 1)
        n1 |= cells & -(number >> 1 & 1)
        n2 |= cells & -(number >> 2 & 1)
        n3 |= cells & -(number >> 3 & 1)
        n4 |= cells & -(number >> 4)
    of = g.coloured[seat]  # 1 to 5
    white = np.int64(g.white[seat])  # 6
    return (of[0] | of[2] | of[4], of[1] | of[2] | white, of[3] | of[4] | white), (n0, n1, n2, n3, n4)


@kernel
def _write_board(t, g, seat, out, at):
    """Write boards and coats of arms, which are public. Writes nothing beyond the end of the board."""
    tiles, numbers = tile_sets(t, g, seat)
    coats = np.int64(t.coats) & ~np.int64(g.filled[seat])
    _write_tiles(out, at, tiles)
    _write_numbers(out, at + CELLS, numbers)
    _write_cells(out, at + 2 * CELLS, (np.int64(g.bricks[seat]),))
    _write_half(out, at + 3 * CELLS, (coats,))
    _write_half(out, at + 4 * CELLS - 32, (coats >> (CELLS - 32),))


@kernel
def _write_row_coats(t, g, seat, out, at):
    """Write the coats of arms at rows that are not full, which are public."""
    coats = t.coat_rows & ~full_rows(np.int64(g.filled[seat]))
    for y in range(ROWS):
        out[at + y] = (coats >> (COLUMNS * y)) & 1


@kernel
def write_facts(g, seat, out, at):
    """Write a seat's hand size and points, which are public."""
    out[at] = 1
    out[at + 1] = hand_size(g, seat)
    out[at + 2] = min(127, np.int64(g.points[seat]))


@kernel
def _next_seat(g, seat):
    return seat + 1 if seat + 1 < g.players else np.int64(0)


@kernel
def _write_seats(t, g, viewer, out, dealt, turned):
    """Write the public fields of all players; unused seats are blank."""
    players, seat = np.int64(g.players), np.int64(viewer)
    for turn in range(players if turned else np.int64(1)):
        _write_board(t, g, seat, out, PER_BOARD * turn)
        seat = _next_seat(g, seat)
    if dealt:
        _clear_absent(players, out)
    seat = np.int64(viewer)
    for turn in range(players):
        _write_row_coats(t, g, seat, out, _ROW_COATS + ROWS * turn)
        seat = _next_seat(g, seat)
    for turn in range(players):
        write_facts(g, seat, out, _SEATS + FACTS * turn)
        seat = _next_seat(g, seat)
    for at, sets in ((_OWNED, g.owned), (_USED, g.used), (_DENIED, g.denied)):
        for turn in range(players):
            _write_few(out, at + 5 * turn, (np.int64(sets[seat]),))
            seat = _next_seat(g, seat)


@kernel
def _clear_absent(players, out):
    """Clear the unused seats before the fields after them are written."""
    for turn in range(players, MAX_SEATS):
        _clear_board(out, PER_BOARD * turn)
        _clear_coats(out, _ROW_COATS + ROWS * turn)
        _clear_few(out, _SEATS + FACTS * turn)
        for at in (_OWNED, _USED, _DENIED, _KNOWN):
            _clear_few(out, at + 5 * turn)


@kernel
def write_table(g, viewer, out):
    """Write the common supply and piles, which are public."""
    out[_TABLE] = g.players
    out[_TABLE + 1] = viewer
    out[_TABLE + 2] = min(127, np.int64(g.round_number))
    out[_TABLE + 3] = g.pile_size
    out[_TABLE + 4] = g.end_card
    out[_TABLE + 5] = g.white_tiles


@kernel
def write_pending(g, out):
    """Write the operation in progress, which is public."""
    out[_PENDING] = g.first + 1
    for ability in range(len(ABILITIES)):
        out[_PENDING + 1 + ability] = np.int64(g.using) >> ability & 1
    tile, place = np.int64(g.tile), np.int64(g.place)
    out[_PENDING + 6] = color_of(tile) + 1 if tile >= 0 else 0
    out[_PENDING + 7] = size_of(tile) if tile >= 0 else 0
    out[_PENDING + 8] = g.recolour + 1
    out[_PENDING + 9] = place // CELLS + 1 if place >= 0 else 0
    out[_PENDING + 10] = place % CELLS + 1 if place >= 0 else 0
    out[_PENDING + 11] = g.due
    out[_PENDING + 12] = g.last_discard + 1


@kernel
def _write_cards(g, viewer, out):
    """Write the public display and discard pile, the own hand, and the publicly known cards of all hands."""
    players, seat = np.int64(g.players), np.int64(viewer)
    _copy_8_codes(out, _DISPLAY, g.display, 0)
    _copy_8(out, _HAND, g.hand[seat], 0)
    for turn in range(players):
        _copy_8(out, _KNOWN + 5 * turn, g.known[seat], 0)
        seat = _next_seat(g, seat)
    if players < MAX_SEATS:  # each copy writes eight entries for five: the excess belongs to the first unused seat
        _clear_few(out, _KNOWN + 5 * players)
    _copy_8(out, _DISCARD, g.discard, 0)
    _copy_4(out, _RESHUFFLED, g.reshuffled, 0)
    out[_RESHUFFLED + 4] = g.reshuffled[4]


@kernel
def _describe(t, g, viewer, out, dealt, turned):
    _write_seats(t, g, viewer, out, dealt, turned)
    _write_few(out, _PHASE, (np.int64(1) << np.int64(g.phase),))
    write_table(g, viewer, out)
    _copy_16(out, _SUPPLY, g.supply, 0)
    _copy_4(out, _SUPPLY + 16, g.supply, 16)
    write_pending(g, out)
    _copy_8(out, _PAID, g.paid, 0)
    out[_REWARDS] = g.rewards
    _write_cards(g, viewer, out)


@kernel
def write_observation(t, g, viewer, out):
    """Section 5: write the observation of `viewer` into `out`, int8 of shape (F,), every entry of it."""
    _describe(t, g, viewer, out, True, True)


@kernel
def update_observation(t, g, viewer, out, turned):
    """Update `out`, which holds an earlier observation of this deal: boards of unused seats are already blank.

    If it was seen from the same seat, that seat has been to move ever since, so the boards of the others are unchanged.
    """
    _describe(t, g, viewer, out, False, turned)

"""What a seat may see, as one flat int8 array; the only place that hides information (rules, section 5).

The array has the same pieces in the same places for any number of players and any configuration. It is seen from one
seat: seats come in the order self, next clockwise, and so on; those that nobody sits on are zero. Nothing is negative:
codes are shifted by one so that 0 means "none". `split` names the pieces:

    >>> from helsinki_env.games.copenhagen import observation
    >>> from helsinki_env.games.copenhagen.game import Game
    >>> pieces = observation.split(Game(seed=0).observation())
    >>> pieces["boards"].shape, pieces["display"].shape
    ((4, 4, 9, 5), (7,))
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.layout import layout_of
from helsinki_env.games.copenhagen.actions import CELLS
from helsinki_env.games.copenhagen.bits import full_rows
from helsinki_env.games.copenhagen.build import colour_of, size_of
from helsinki_env.games.copenhagen.cards import hand_size
from helsinki_env.games.copenhagen.components import ABILITIES, COLOURS, COLUMNS, ROWS, SIZES
from helsinki_env.games.copenhagen.shapes import MOST_CELLS
from helsinki_env.games.copenhagen.state import PHASES, SEATS

__all__ = ["LAYOUT", "PIECES", "PLANES", "SIZE", "describe", "split"]

PLANES = ("tile", "number", "brick", "coat")
"""Board planes, the lowest row first: what lies there (1 to 5 coloured tile, 6 white tile), the how-manyth coloured
tile of the board it is (from 1), whether a brick shows, whether a coat of arms lies there uncovered."""

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


LAYOUT = layout_of(
    (
        ("boards", (SEATS, len(PLANES), ROWS, COLUMNS), "every board: planes " + ", ".join(PLANES)),
        ("row_coats", (SEATS, ROWS), "1 where a coat of arms lies beside a row that is not full"),
        ("seats", (SEATS, len(SEAT_FACTS)), "for each seat " + ", ".join(SEAT_FACTS)),
        ("abilities", (SEATS, len(ABILITIES)), "abilities that a seat owns"),
        ("used", (SEATS, len(ABILITIES)), "those that it has used"),
        ("denied", (SEATS, len(ABILITIES)), "abilities that a seat may not take"),
        ("phase", (len(PHASES),), "one-hot: " + ", ".join(PHASES)),
        ("table", (len(TABLE_FACTS),), ", ".join(TABLE_FACTS)),
        ("tile_supply", (len(COLOURS), len(SIZES)), "coloured tiles left, by colour and size 2 to 5"),
        ("pending", (len(PENDING_FACTS),), "the decision in progress: " + ", ".join(PENDING_FACTS)),
        ("paid", (len(COLOURS),), "cards paid so far for the tile in progress"),
        ("rewards", (1,), "pending rewards"),
        ("display", (7,), "colour + 1 in each slot"),
        ("hand", (len(COLOURS),), "cards in the own hand, by colour"),
        ("known", (SEATS, len(COLOURS)), "cards that a seat took from the display and has not shown since"),
        ("discard", (len(COLOURS),), "the discard pile"),
        ("reshuffled", (len(COLOURS),), "the draw pile, once it was made from the discard pile"),
    )
)
"""Where the pieces of the observation stand."""

PIECES = LAYOUT.pieces
"""The pieces in order."""

SIZE = LAYOUT.size
"""F, the length of an observation."""

_AT = {piece.name: piece.start for piece in PIECES}
_ROW_COATS, _SEATS, _OWNED, _USED, _DENIED = (
    _AT[name] for name in ("row_coats", "seats", "abilities", "used", "denied")
)
_PHASE, _TABLE, _SUPPLY, _PENDING, _PAID, _REWARDS = (
    _AT[name] for name in ("phase", "table", "tile_supply", "pending", "paid", "rewards")
)
_DISPLAY, _HAND, _KNOWN, _DISCARD, _RESHUFFLED = (
    _AT[name] for name in ("display", "hand", "known", "discard", "reshuffled")
)
_PER_BOARD = len(PLANES) * CELLS
_FACTS = len(SEAT_FACTS)


def split(obs: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the named pieces of one observation (F,) or a batch (..., F) as views of shape (..., *piece shape).

    Raises:
        ValueError: if the length is not that of an observation.
    """
    obs = np.asarray(obs)
    if not obs.ndim or obs.shape[-1] != SIZE:
        raise ValueError(f"observation: found shape {obs.shape}, expected (..., {SIZE})")
    return LAYOUT.split(obs)


@kernel
def _write_cells(cells, value, out, at):
    """Write a value for each cell of a set."""
    if cells:
        for i in range(CELLS):
            if (cells >> i) & 1:
                out[at + i] = value


@kernel
def _write_board(t, g, seat, out, at):
    """Boards and coats of arms are public.

    Every tile is written as five cells (a smaller one writes its first again), without a branch on its size.
    """
    for tile in range(g.tile_count[seat]):
        piece = np.int64(g.tile_piece[seat, tile])
        corner = at + np.int64(g.tile_cell[seat, tile])
        colour = piece // 32 + 1
        for i in range(MOST_CELLS):
            cell = corner + t.offsets[piece, i]
            out[cell] = colour
            out[cell + CELLS] = tile + 1
    filled = np.int64(g.filled[seat])
    _write_cells(np.int64(g.white[seat]), 6, out, at)
    _write_cells(np.int64(g.bricks[seat]), 1, out, at + 2 * CELLS)
    _write_cells(t.coats & ~filled, 1, out, at + 3 * CELLS)


@kernel
def _write_row_coats(t, g, seat, out, at):
    """Coats of arms beside rows that are not full are public."""
    coats = t.coat_rows & ~full_rows(np.int64(g.filled[seat]))
    for y in range(ROWS):
        out[at + y] = (coats >> (COLUMNS * y)) & 1


@kernel
def _write_pending(g, out):
    """The decision in progress is public."""
    out[_PENDING] = g.first + 1
    for ability in range(5):
        out[_PENDING + 1 + ability] = (np.int64(g.using) >> ability) & 1
    if g.tile >= 0:
        out[_PENDING + 6] = colour_of(g.tile) + 1
        out[_PENDING + 7] = size_of(g.tile)
    out[_PENDING + 8] = g.recolour + 1
    if g.place >= 0:
        place = np.int64(g.place)
        out[_PENDING + 9] = place // CELLS + 1
        out[_PENDING + 10] = place % CELLS + 1
    out[_PENDING + 11] = g.due
    out[_PENDING + 12] = g.last_discard + 1
    for colour in range(5):
        out[_PAID + colour] = g.paid[colour]
    out[_REWARDS] = g.rewards


@kernel
def _write_table(g, viewer, out):
    """What lies in the middle of the table is public."""
    out[_PHASE + np.int64(g.phase)] = 1
    out[_TABLE] = g.players
    out[_TABLE + 1] = viewer
    out[_TABLE + 2] = min(127, np.int64(g.round_number))
    out[_TABLE + 3] = g.pile_size
    out[_TABLE + 4] = g.end_card
    out[_TABLE + 5] = g.white_tiles
    for kind in range(20):
        out[_SUPPLY + kind] = g.supply[kind]
    for slot in range(7):
        out[_DISPLAY + slot] = g.display[slot] + 1
    for colour in range(5):
        out[_DISCARD + colour] = g.discard[colour]
        out[_RESHUFFLED + colour] = g.reshuffled[colour]


@kernel
def describe(t, g, viewer, out):
    """Section 5: write what `viewer` may see into `out`, int8 of shape (F,), all zero before."""
    seat = np.int64(viewer)
    for turn in range(g.players):
        _write_board(t, g, seat, out, _PER_BOARD * turn)
        _write_row_coats(t, g, seat, out, _ROW_COATS + ROWS * turn)
        facts = _SEATS + _FACTS * turn
        out[facts] = 1
        out[facts + 1] = hand_size(g, seat)
        out[facts + 2] = min(127, np.int64(g.points[seat]))
        for i in range(5):
            out[_OWNED + 5 * turn + i] = (np.int64(g.owned[seat]) >> i) & 1
            out[_USED + 5 * turn + i] = (np.int64(g.used[seat]) >> i) & 1
            out[_DENIED + 5 * turn + i] = (np.int64(g.denied[seat]) >> i) & 1
            out[_KNOWN + 5 * turn + i] = g.known[seat, i]
        seat += 1
        if seat == g.players:
            seat = np.int64(0)
    for colour in range(5):
        out[_HAND + colour] = g.hand[viewer, colour]
    _write_table(g, viewer, out)
    _write_pending(g, out)

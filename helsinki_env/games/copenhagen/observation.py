"""Write the observation of a seat as a flat int8 array. Only this module hides information (rules, section 5).

The layout is the same for all player counts and configurations. Seats are in clockwise order, beginning with the
observing seat; entries of unused seats are zero. No entry is negative: codes are shifted by one, so that 0 means
"none". `unpack` returns the named fields:

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
from helsinki_env.engine.observation_table import (
    Computed,
    ObservationTable,
    Section,
    boards_section,
    write_planes,
    write_planes_part,
)
from helsinki_env.engine.vectors import clearer
from helsinki_env.games.copenhagen.actions import CELLS
from helsinki_env.games.copenhagen.bits import full_rows
from helsinki_env.games.copenhagen.cards import hand_size
from helsinki_env.games.copenhagen.components import COLORS, COLUMNS, ROWS, TILE_SIZES
from helsinki_env.games.copenhagen.shapes import tile_cells
from helsinki_env.games.copenhagen.state import MAX_SEATS, PHASES, RECORD, TILES

__all__ = ["FIELDS", "LAYOUT", "OBSERVATION_SIZE", "PLANES", "unpack", "write_observation"]

PLANES = ("tile", "number", "brick", "coat")
"""The planes of a board, lowest row first:

- tile: 1 to 5 for colored tiles, 6 for white tiles;
- number: number of the colored tile in the order built, from 1;
- brick: whether the cell shows a brick;
- coat: whether the cell has an uncovered coat of arms.
"""

OBSERVATION = ObservationTable(
    RECORD,
    (
        boards_section(PLANES, ROWS, COLUMNS, 6, TILES),
        Section("row_coats", "1 where a coat of arms lies beside a row that is not full", shape=(MAX_SEATS, ROWS)),
        Section(
            "seats",
            "for each seat {}",
            (Computed("present", "1"), Computed("hand_size", "hand_size(g, seat)", 127, 8), "points"),
        ),
        Section("abilities", "abilities that a seat owns", "owned"),
        Section("used", "those that it has used", "used"),
        Section("denied", "abilities that a seat may not take", "denied"),
        Section("phase", "one-hot: " + ", ".join(PHASES), "phase"),
        Section(
            "table",
            "{}",
            (
                "players",
                Computed("turn_order", "viewer", MAX_SEATS - 1),
                "round_number",
                "pile_size",
                "end_card",
                "white_tiles",
            ),
        ),
        Section(
            "tile_supply",
            "coloured tiles left, by colour and size 2 to 5",
            "supply",
            shape=(len(COLORS), len(TILE_SIZES)),
        ),
        Section(
            "pending",
            "the decision in progress: {}",
            tuple(field.name for field in RECORD.pending.values() if field.name not in ("paid", "rewards")),
        ),
        Section("paid", "cards paid so far for the tile in progress", "paid"),
        Section("rewards", "pending rewards", "rewards"),
        Section("display", "colour + 1 in each slot", "display"),
        Section("hand", "cards in the own hand, by colour", "hand", own=True),
        Section("known", "cards that a seat took from the display and has not shown since", "known"),
        Section("discard", "the discard pile", "discard"),
        Section("reshuffled", "the draw pile, once it was made from the discard pile", "reshuffled"),
    ),
    functions={"hand_size": hand_size},
)
"""The sections of the observation, with the fields that they show."""

LAYOUT = OBSERVATION.layout
"""Offsets of the fields of the observation."""

FIELDS = LAYOUT.fields
"""The fields of the observation, in order."""

OBSERVATION_SIZE = LAYOUT.size
"""F, the length of an observation."""

SEAT_FACTS, TABLE_FACTS = (OBSERVATION.entry_names(name) for name in ("seats", "table"))

_ROW_COATS, PER_BOARD = LAYOUT["row_coats"].start, len(PLANES) * CELLS
_write_fields, _write_fields_part = OBSERVATION.write, OBSERVATION.write_part


def unpack(obs: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Return the named fields of one observation (F,) or a batch (..., F) as views of shape (..., *field shape).

    Raises:
        ValueError: if the length is not the length of an observation.
    """
    obs = np.asarray(obs)
    if not obs.ndim or obs.shape[-1] != OBSERVATION_SIZE:
        raise ValueError(f"observation: found shape {obs.shape}, expected (..., {OBSERVATION_SIZE})")
    return LAYOUT.unpack(obs)


def scales(size: int) -> npt.NDArray[np.float32] | None:
    """Return the divisors that normalize observations, (F,), or None if `size` is not the length of an observation."""
    return OBSERVATION.scales() if size == OBSERVATION_SIZE else None


_clear_board, _clear_coats = clearer(PER_BOARD), clearer(16)


@kernel
def tile_sets(t, g, seat):
    """Return sets of cells for the bits of two planes: three bits for tile codes, five for the order built."""
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
    """Write the board of a seat and its coats of arms, all of which are public."""
    codes, numbers = tile_sets(t, g, seat)
    coats = np.int64(t.coats) & ~np.int64(g.filled[seat])
    write_planes(out, at, CELLS, codes, numbers, np.int64(g.bricks[seat]), coats)


@kernel
def _write_row_coats(t, g, seat, out, at):
    """Write the coats of arms next to rows that are not full; they are public."""
    coats = t.coat_rows & ~full_rows(np.int64(g.filled[seat]))
    for y in range(ROWS):
        out[at + y] = (coats >> (COLUMNS * y)) & 1


@kernel
def next_seat(g, seat):
    """Return the next seat clockwise."""
    return seat + 1 if seat + 1 < g.players else np.int64(0)


@kernel
def _write(t, g, viewer, out, dealt, turned):
    """Write all entries, boards first. Zeros written after a block of entries are overwritten by later blocks."""
    players, seat = np.int64(g.players), np.int64(viewer)
    for turn in range(players if turned else np.int64(1)):
        _write_board(t, g, seat, out, PER_BOARD * turn)
        seat = next_seat(g, seat)
    if dealt:
        for turn in range(players, MAX_SEATS):
            _clear_board(out, PER_BOARD * turn)
            _clear_coats(out, _ROW_COATS + ROWS * turn)
    seat = np.int64(viewer)
    for turn in range(players):
        _write_row_coats(t, g, seat, out, _ROW_COATS + ROWS * turn)
        seat = next_seat(g, seat)
    _write_fields(t, g, viewer, out, dealt)


@kernel
def write_observation(t, g, viewer, out):
    """Write the observation of `viewer` into `out`, int8 (F,), and overwrite every entry (section 5)."""
    _write(t, g, viewer, out, True, True)


@kernel
def update_observation(t, g, viewer, out, turned):
    """Update `out`, an earlier observation of the same deal, in which boards of unused seats are already blank.

    If `turned` is false, the viewer has been the acting seat ever since, so the other boards are unchanged.
    """
    _write(t, g, viewer, out, False, turned)


# the same kernels for parallel GPU lanes


@kernel
def _write_board_part(t, g, seat, out, at, lane, lanes):
    codes, numbers = tile_sets(t, g, seat)
    coats = np.int64(t.coats) & ~np.int64(g.filled[seat])
    write_planes_part(out, at, CELLS, codes, numbers, np.int64(g.bricks[seat]), coats, lane, lanes)


@kernel
def observe_part(t, g, viewer, out, lane, lanes):
    """Write one lane's share of the observation of `viewer`, int8 (F,) (section 5)."""
    for turn in range(MAX_SEATS):
        if turn < g.players:
            seat = (np.int64(viewer) + turn) % np.int64(g.players)
            _write_board_part(t, g, seat, out, PER_BOARD * turn, lane, lanes)
            if lane == turn % lanes:
                _write_row_coats(t, g, seat, out, _ROW_COATS + ROWS * turn)
        else:
            for entry in range(PER_BOARD * turn + lane, PER_BOARD * (turn + 1), lanes):
                out[entry] = 0
            for entry in range(_ROW_COATS + ROWS * turn + lane, _ROW_COATS + ROWS * (turn + 1), lanes):
                out[entry] = 0
    _write_fields_part(t, g, viewer, out, lane, lanes)

"""Observations: what a seat may see, as one flat int8 array (rules page, section 7).

No other module hides information. The layout is the same for all player counts and all configurations with the same
components. Seats are ordered clockwise, starting with the observing seat; the entries of unused seats are zero. No
entry is negative: codes are shifted by one, so that 0 means "none". `unpack` returns the named fields:

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
from helsinki_env.engine.layout import ObservationField, ObservationLayout
from helsinki_env.engine.observation_table import (
    Computed,
    ObservationTable,
    Section,
    boards_section,
    write_planes,
    write_planes_part,
)
from helsinki_env.engine.vectors import clearer, copier
from helsinki_env.games.helsinki.components import COLORS
from helsinki_env.games.helsinki.draw import hand_size
from helsinki_env.games.helsinki.state import (
    DECK,
    GAME,
    LAYOUTS,
    MAX_SEATS,
    NARROW,
    PAID,
    PHASES,
    RECORD,
    TILES,
    UNSEEN,
    WIDE,
)

__all__ = [
    "PLANES",
    "ObservationField",
    "ObservationLayout",
    "observation_layout",
    "observe",
    "unpack",
    "write_observation",
]

PLANES = ("tile", "number", "superstructure", "coat")
"""Board planes: tile (1 to 5 pavilion by color, 6 wild tile, 7 statue), number of the pavilion tile in building order
(from 1), superstructure (0 or 1), coat of arms (0 or 1)."""

_BUILDING = ("card", "paid", "paid_count")


@kernel
def unseen_draws(g, seat):
    """Return the number of cards that a seat drew face down from a reshuffled pile."""
    return np.int64(g.unseen[seat, 0] >= 0) + np.int64(g.unseen[seat, 1] >= 0) + np.int64(g.unseen[seat, 2] >= 0)


@lru_cache(maxsize=8)
def observation_table(types: int = NARROW) -> ObservationTable:
    """Return the table of observation sections and their fields for a number of card types."""
    cards: dict[str, Any] = {"high": DECK, "scale": 2}
    piles: dict[str, Any] = {"shape": (types,), "high": DECK, "scale": 4}
    return ObservationTable(
        RECORD,
        (
            boards_section(PLANES, 7, 7, 7, TILES),
            Section(
                "seats",
                "for each seat {}",
                (
                    Computed("present", "1"),
                    Computed("hand_size", "hand_size(t, g, seat)", DECK, 7),
                    "meadow",
                    "token",
                    "points",
                    Computed("bonus", "t.bonus_cards[g.bonus[seat]] if g.bonus[seat] >= 0 else 0", 127, 9),
                    "limit_lifted",
                    Computed("unseen_draws", "unseen_draws(g, seat)", UNSEEN, 1),
                ),
            ),
            Section("used", "actions that a seat has used", "used"),
            Section("denied", "actions that a seat may not use", "denied"),
            Section("covered", "actions that nobody may use", "covered"),
            Section("phase", "one-hot: " + ", ".join(PHASES), "phase"),
            Section(
                "table",
                "{}",
                (
                    "players",
                    Computed("turn_order", "viewer", MAX_SEATS - 1),
                    "dry_roads",
                    "round_number",
                    "last_round",
                    "pile_size",
                    "wild_supply",
                    "superstructure_supply",
                ),
            ),
            Section("tile_supply", "pavilion tiles left, by colour and roofs 2 to 5", "supply", shape=(len(COLORS), 4)),
            Section("bonus_cards", "bonus cards left, lowest first", "bonus_cards"),
            Section(
                "pending",
                "the decision in progress: {}",
                tuple(name for name in (one.name for one in RECORD.pending.values()) if name not in _BUILDING),
            ),
            Section(
                "building",
                "card type + 1: the card being built, then the cards paid for it in order",
                (
                    "card",
                    *(
                        Computed("paid", f"g.paid[{i}] + 1 if {i} < g.paid_count else 0", "types", NARROW)
                        for i in range(PAID)
                    ),
                ),
            ),
            Section("display", "card type + 1 in each slot", "display"),
            Section(
                "own_unseen",
                "card type + 1: cards that this seat drew unseen from a reshuffled pile",
                "unseen",
                own=True,
            ),
            # the shapes of the remaining sections depend on the number of card types
            Section("hand", "cards in the own hand, by card type", shape=(types,), **cards),
            Section(
                "known",
                "cards that a seat took from the display and has not shown since",
                shape=(MAX_SEATS, types),
                **cards,
            ),
            Section("discard", "the discard pile", **piles),
            Section(
                "reshuffled",
                "a draw pile made from the discard pile, less what everybody has seen leave it",
                **piles,
            ),
        ),
        functions={"hand_size": hand_size, "unseen_draws": unseen_draws},
    )


OBSERVATION = observation_table()
"""The table for the default card types; its kernels work for any number of card types."""

SEAT_FACTS, TABLE_FACTS = (OBSERVATION.entry_names(name) for name in ("seats", "table"))


def observation_layout(types: int = 51) -> ObservationLayout:
    """Return the layout for a number of card types (51 with the default components)."""
    return observation_table(types).layout


def unpack(obs: npt.NDArray[Any], types: int | None = None) -> dict[str, npt.NDArray[Any]]:
    """Return the named fields of an observation (F,) or a batch (..., F), as views of shape (..., *field shape).

    Args:
        obs: one or more observations, of any dtype.
        types: number of card types; None derives it from the length.

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


def scales(size: int) -> npt.NDArray[np.float32] | None:
    """Return the divisors that normalize observations of length `size`, (F,), or None if no layout has this length."""
    types, rest = divmod(size - observation_layout(0).size, 7)
    return None if types < 1 or rest else observation_table(types).scales()


_CARDS, _PER_BOARD, _CELLS = OBSERVATION.layout["hand"].start, len(PLANES) * 49, 49
_write_fields_part = OBSERVATION.write_part


@kernel
def tile_sets(t, g, seat):
    """Return two planes as sets of cells, one per binary digit: three for the tile, five for the building order."""
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
    """Write one lane's share of the entries of a board; boards are public (section 7)."""
    codes, numbers = tile_sets(t, g, seat)
    standing, coats = np.int64(g.superstructures[seat]), np.int64(t.coat_sets[g.coats[seat]])
    write_planes_part(out, at, _CELLS, codes, numbers, standing, coats, lane, lanes)


@kernel
def _seat_after(g, viewer, turn):
    """Return the seat `turn` places clockwise from the viewer, or -1 if it is unused."""
    if turn >= g.players:
        return np.int64(-1)
    seat = np.int64(viewer) + turn
    return seat - g.players if seat >= g.players else seat


@kernel
def write_cards(t, g, viewer, out, lane, lanes):
    """Write the viewer's hand, the known cards of all seats and the public piles (section 7)."""
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
    """Write one lane's share of the observation of `viewer`, int8 (F,) (section 7)."""
    for turn in range(MAX_SEATS):
        seat = _seat_after(g, viewer, turn)
        if seat >= 0:
            _write_board(t, g, seat, out, _PER_BOARD * turn, lane, lanes)
        else:
            for entry in range(_PER_BOARD * turn + lane, _PER_BOARD * (turn + 1), lanes):
                out[entry] = 0
    _write_fields_part(t, g, viewer, out, lane, lanes)
    write_cards(t, g, viewer, out, lane, lanes)


@kernel
def write_observation(t, g, viewer, out):
    """Write the observation of `viewer` to `out`, int8 (F,), setting every entry (section 7)."""
    write_observation_part(t, g, viewer, out, 0, 1)


for _layout in LAYOUTS:
    contract.implement(_layout, write_observation)
    loops.observe_part.implements(_layout, write_observation_part)


# SIMD version for the default 51 card types. Every entry is written once, from front to back. A board is written from
# ten bit sets, and a card pile as one copy of 64 bytes. Bytes written beyond the end of a field are overwritten by the
# next field.

_HAND, _KNOWN, _DISCARD, _RESHUFFLED = (
    OBSERVATION.layout[name].start for name in ("hand", "known", "discard", "reshuffled")
)
_BOARD = 196

_clear_board, _clear_cards = clearer(_BOARD), clearer(64)
_copy_cards, _copy_half = copier(64), copier(32)
_write_fields = OBSERVATION.write


@kernel
def _write_board_planes(t, g, seat, out, at):
    codes, numbers = tile_sets(t, g, seat)
    coats = np.int64(t.coat_sets[g.coats[seat]])
    write_planes(out, at, _CELLS, codes, numbers, np.int64(g.superstructures[seat]), coats)


@kernel
def _copy_exactly(out, at, cards):
    """Copy one entry per card type, without writing beyond the last."""
    _copy_half(out, at, cards, 0)
    _copy_half(out, at + NARROW - 32, cards, NARROW - 32)


@kernel
def _write_cards(g, viewer, out, dealt, turned):
    players, seat = np.int64(g.players), np.int64(viewer)
    _copy_cards(out, _HAND, g.hand[viewer], 0)
    for turn in range(players if turned else np.int64(1)):
        _copy_exactly(out, _KNOWN + NARROW * turn, g.known[seat])
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    if dealt:
        for turn in range(players, MAX_SEATS):
            _clear_cards(out, _KNOWN + NARROW * turn)
    _copy_cards(out, _DISCARD, g.discard, 0)
    _copy_exactly(out, _RESHUFFLED, g.reshuffled)


@kernel
def _write_all_but_cards(t, g, viewer, out, dealt, turned):
    players = np.int64(g.players)
    seat = np.int64(viewer)
    for turn in range(players if turned else np.int64(1)):
        _write_board_planes(t, g, seat, out, _BOARD * turn)
        seat = seat + 1 if seat + 1 < players else np.int64(0)
    if dealt:
        for turn in range(players, MAX_SEATS):
            _clear_board(out, _BOARD * turn)
    _write_fields(t, g, viewer, out, dealt)


@kernel
def observe(t, g, viewer, out):
    """Write the observation of `viewer` to `out`, int8 (F,), setting every entry (section 7)."""
    _write_all_but_cards(t, g, viewer, out, True, True)
    _write_cards(g, np.int64(viewer), out, True, True)


@kernel
def update_observation(t, g, viewer, out, turned):
    """Update `out`, which must hold an earlier observation of the same game, in which unused seats are already blank.

    If `turned` is false, the viewer has been the acting seat ever since, so the boards and known cards of other seats
    are unchanged.
    """
    _write_all_but_cards(t, g, viewer, out, False, turned)
    _write_cards(g, np.int64(viewer), out, False, turned)


@kernel
def observe_other_types(t, g, viewer, out):
    """Write an observation as `observe` does, for any number of card types."""
    _write_all_but_cards(t, g, viewer, out, True, True)
    write_cards(t, g, viewer, out, 0, 1)


loops.observe.implements(GAME, observe)
loops.update_observation.implements(GAME, update_observation)
for _layout in LAYOUTS[1:]:
    loops.observe.implements(_layout, observe_other_types)

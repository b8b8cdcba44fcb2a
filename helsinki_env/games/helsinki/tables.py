"""Lookup tables of a component file: all data that kernels read, in one record that is passed as `t`.

Kernels never read component files, so no recompilation is needed for a new file.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from helsinki_env.engine.component_reader import orientations
from helsinki_env.engine.limits import Limits, register_limits
from helsinki_env.games.helsinki.actions import (
    ANY_CARD_AS_WILD,
    ONE_CARD_FEWER,
    ONE_WILD_TILE,
    TWO_WILD_TILES,
    action_table,
)
from helsinki_env.games.helsinki.components import Components
from helsinki_env.games.helsinki.shapes import MOST_ROOFS, cells_of, seen_from
from helsinki_env.games.helsinki.state import LAYOUTS, NARROW, WIDE, Bounds, record_table

_MOST_IDS = action_table(WIDE).size
_PIECES = 160

TABLES = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("roofs_mask", np.int64, (_PIECES,)),  # cells of an orientation in the north-west corner
                ("coat_cells", np.int64, (8,)),  # each as a set
                ("coat_sets", np.int64, (256,)),  # cells of a set of coats
                ("all_coats", np.int64),
                ("crosswalks", np.int64),
                ("offset", np.int64, (12,)),
                ("types", np.int64),
                ("variants", np.int64),
                ("hand_limit", np.int64),
                ("statue", np.int64),  # as a set
                ("points_row", np.int64),
                ("points_column", np.int64),
                ("points_crossing", np.int64),
                ("points_line", np.int64),
                ("bonus_cards", np.int64, (4,)),
                ("coat_cell", np.int16, (8,)),  # as a cell
                ("kind_of", np.int8, (_MOST_IDS,)),  # kind of an action id
                ("colour", np.int16, (WIDE,)),  # color of a card type; -1 for the wild card
                ("number", np.int16, (WIDE,)),
                ("kind", np.int16, (WIDE,)),  # 4 * color + roofs - 2 of the tile on the card
                ("shows", np.int16, (WIDE,)),  # number of superstructures on the card
                ("orientations", np.int16, (20,)),
                ("corner_cells", np.int16, (_PIECES, MOST_ROOFS)),  # offsets of the roofs, padded with the first one
                ("width", np.int16, (_PIECES, 4)),  # number of lanes that the tile covers, seen from a side
                ("lanes", np.int16, (_PIECES, 4)),  # set of lanes in which the tile is within the board
                ("low", np.int16, (_PIECES, 4, MOST_ROOFS)),  # 8 * (front + 1); 0 beyond the width
                ("high", np.int16, (_PIECES, 4, MOST_ROOFS)),
                # the same three arrays with all orientations of a tile in sequence, as `shapes.legal_slides` reads them
                ("low_of_kind", np.int8, (20, 4, MOST_ROOFS, 8)),
                ("high_of_kind", np.int8, (20, 4, MOST_ROOFS, 8)),
                ("lanes_of_kind", np.int8, (20, 4, 8)),
                ("up_to", np.int64, (5, 9)),  # card types of a color that cost at most this many cards, up to 51 types
                ("cards_of_kind", np.int64, (20,)),  # card types that show a tile; up to 51 types
                ("deck", np.int8, (5, WIDE)),  # by number of players
                ("removed_number", np.int16),  # with two players, one card with this number is removed unseen
                ("wild_tiles", np.int8),
                ("superstructures", np.int8),
                ("supply", np.int8, (20,)),
                ("costs", np.int64, (15,)),  # cost of a board action in coats of arms
                ("strengths", np.int64, (15,)),  # strength of a board action; 0 if it has none
                ("affordable", np.int64, (9,)),  # board actions affordable with this number of coats
                ("saved", np.int64, (9, 4)),  # number of cards saved, by coats and means (`_fill_actions`)
            ],
            align=True,
        ),
    )
)


@lru_cache(maxsize=32)
def build_tables(components: Components) -> npt.NDArray[Any]:
    """Return the tables of a component file, shape (1,), dtype `TABLES`; kernels receive the single record."""
    array = np.zeros(1, TABLES)
    t = array[0]
    actions = action_table(components.types)
    t.offset[:] = actions.offsets
    t.kind_of[:] = -1
    t.kind_of[: actions.size] = actions.kind_of
    t.types = components.types
    t.variants = len(components.variants)
    t.hand_limit = components.hand_limit
    t.statue = 1 << components.statue
    t.coat_cell[:] = components.coats
    t.coat_cells[:] = [1 << cell for cell in components.coats]
    t.coat_sets[:] = [
        sum(1 << cell for coat, cell in enumerate(components.coats) if coats >> coat & 1) for coats in range(256)
    ]
    t.all_coats = sum(1 << cell for cell in components.coats)
    t.crosswalks = sum(1 << cell for cell in components.crosswalks)
    for name in ("row", "column", "crossing", "line"):
        t[f"points_{name}"] = getattr(components, f"points_{name}")
    _fill_actions(t, components)
    t.bonus_cards[:] = components.bonus_cards
    for card in range(components.types):
        colour = components.card_color(card)
        t.colour[card] = colour
        t.number[card] = components.card_number(card)
        t.kind[card] = 4 * colour + components.card_roofs(card) - 2 if colour >= 0 else -1
        t.shows[card] = components.card_superstructures(card)
    if components.types <= NARROW:
        for card in range(components.types - 1):
            t.up_to[t.colour[card], t.number[card] :] |= 1 << card
            t.cards_of_kind[t.kind[card]] |= 1 << card
    for players in (2, 3, 4):
        t.deck[players, : components.types] = components.deck(players)
    t.removed_number = components.any_removed2_number
    t.wild_tiles = components.wild_tiles
    t.superstructures = components.superstructures
    t.supply[:] = list(components.tile_copies) * 5
    for kind in range(20):
        drawings = orientations(components.shapes[components.tiles[kind // 4][kind % 4]])
        t.orientations[kind] = len(drawings)
        for orientation, drawing in enumerate(drawings):
            piece = 8 * kind + orientation
            _fill_piece(t, piece, drawing)
            t.low_of_kind[kind, :, :, orientation] = t.low[piece]
            t.high_of_kind[kind, :, :, orientation] = t.high[piece]
            t.lanes_of_kind[kind, :, orientation] = t.lanes[piece]
    array.flags.writeable = False
    return array


def _fill_actions(t: Any, components: Components) -> None:
    """Fill in the tables of the board actions and of the number of cards that coats of arms save."""
    t.costs[:] = components.costs
    t.strengths[:] = components.strengths
    saving = (ONE_CARD_FEWER, components.strengths[ONE_CARD_FEWER]), (ANY_CARD_AS_WILD, 1)
    for coats in range(len(t.affordable)):
        t.affordable[coats] = sum(1 << action for action, cost in enumerate(components.costs) if cost <= coats)
        for means in range(4):
            ways = [[way for i, way in enumerate(saving) if used >> i & 1] for used in range(4) if not used & ~means]
            paid = [way for way in ways if sum(components.costs[action] for action, _ in way) <= coats]
            t.saved[coats, means] = max(sum(cards for _, cards in way) for way in paid)


def _fill_piece(t: Any, piece: int, drawing: tuple[str, ...]) -> None:
    offsets = [7 * row + column for row, column in cells_of(drawing)]
    t.roofs_mask[piece] = sum(1 << offset for offset in offsets)
    t.corner_cells[piece] = (offsets + offsets[:1] * MOST_ROOFS)[:MOST_ROOFS]
    for side in range(4):
        length, fronts = seen_from(drawing, side)
        t.width[piece, side] = len(fronts)
        t.lanes[piece, side] = (1 << (8 - len(fronts))) - 1
        for j, front in enumerate(fronts):
            t.low[piece, side, j] = 8 * (front + 1)
            # A column that is shorter than the tile must be stopped earlier, by the difference in length.
            short = length - 1 - front
            t.high[piece, side, j] = 8 * min(7, 8 - short)


def bounds_of(t: Any) -> Bounds:
    """Return the component counts that limit fields, from the tables `t`."""
    wilds = int(max(t["strengths"][ONE_WILD_TILE], t["strengths"][TWO_WILD_TILES]))
    supply = tuple(t["supply"].tolist())
    return Bounds(int(t["types"]), supply, int(t["wild_tiles"]), int(t["superstructures"]), wilds)


@lru_cache(maxsize=32)
def _limits(bounds: Bounds) -> Limits:
    lows, highs = record_table(bounds.types).ranges(bounds)
    for name in ("hand", "known", "discard", "reshuffled"):
        highs[name][..., bounds.types :] = 0
    return Limits(action_table(bounds.types).size, lows, highs)


for _layout in LAYOUTS:
    register_limits(_layout, TABLES, lambda t: _limits(bounds_of(t)))

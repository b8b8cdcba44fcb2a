"""What a tile, a wild tile or a superstructure adds to the worth of a board, and where it is best put."""

from __future__ import annotations

import numpy as np

from agents.helsinki.cells import shadow
from agents.helsinki.view import BY_DEPTH, BY_LANE, NOTHING, SHOWN, roof_value
from helsinki_env.engine.bits import bit, count, lowest
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.bits import BOARD, connected, neighbours
from helsinki_env.games.helsinki.shapes import MOST_ROOFS, lanes

__all__ = [
    "best_cell",
    "best_placement",
    "best_wilds",
    "cells_gain",
    "corner_of",
    "placement_gain",
    "remember_placement",
    "tile_gain",
]

_SIZE = np.uint64(7)


@kernel
def _extras(t, w, v, cells):
    """What building on some empty cells brings besides its lines: coats of arms and crosswalks."""
    total = 0.0
    if cells & v.coats:
        total += v.coat * count(cells & v.coats)
    if v.road > 0.0:
        if cells & t.crosswalks:
            total += w.crosswalk * v.road * v.later * count(cells & t.crosswalks)
        total += _road(t, v, cells)
    return total


@kernel
def _road(t, v, cells):
    """The bonus card of Dry roads, if building on some empty cells earns it."""
    built = (v.built | cells) & ~t.statue
    return v.road if t.crosswalks & ~built == 0 and connected(built, t.crosswalks) else 0.0


@kernel
def _seen_past(v, cells):
    """The empty cells that sides still reach, were some others built on."""
    still = np.int64(0)
    for side in range(4):
        still |= v.open[side] & ~shadow(cells, side)
    return still


@kernel
def _losses(v, cells):
    """What building on some empty cells spoils: cells closed off, cells without an empty neighbour left."""
    total = 0.0
    still = _seen_past(v, cells)
    closed = v.reach & ~cells & ~still
    while closed:
        total += v.hole[lowest(closed)]
        closed &= closed - 1
    lonely = v.reach & still & ~cells & ~neighbours(BOARD & ~(v.built | cells)) & ~v.lonely
    while lonely:
        total += v.gap[lowest(lonely)]
        lonely &= lonely - 1
    return total


@kernel
def cells_gain(t, w, v, cells):
    """Expected points that building on these empty cells adds, whatever their form."""
    rows, columns = np.int64(0), np.int64(0)  # cells by line, four bits each
    rest = cells
    while rest:
        cell = lowest(rest)
        rest &= rest - 1
        rows += np.int64(1) << (4 * (cell // 7))
        columns += np.int64(1) << (4 * (cell % 7))
    total = 0.0 if w.apart == 0.0 else _extras(t, w, v, cells) - _losses(v, cells)
    for line in range(7):
        total += v.gain[0, line, (rows >> (4 * line)) & 7] + v.gain[1, line, (columns >> (4 * line)) & 7]
    return _with_extras(t, w, v, cells, total) if w.apart == 0.0 else total


@kernel
def _with_extras(t, w, v, cells, total):
    """What lines gain, with what else building on some empty cells brings and spoils, in greedy's order."""
    if cells & v.coats:
        total += v.coat * count(cells & v.coats)
    closed = v.reach & ~cells & ~_seen_past(v, cells)
    while closed:
        total -= v.hole[lowest(closed)]
        closed &= closed - 1
    if v.road > 0.0:
        if cells & t.crosswalks:
            total += w.crosswalk * v.road * v.later * count(cells & t.crosswalks)
        total += _road(t, v, cells)
    return total


@kernel
def corner_of(p, v, piece, side, lane):
    """Where a legal slide ends: the cell of the bounding box's north-west corner."""
    depth = np.int64(7)
    for j in range(MOST_ROOFS):
        depth = min(depth, v.height[side, lane + j] - p.front[piece, side, j])
    return p.corner[piece, side] + BY_LANE[side] * lane + BY_DEPTH[side] * depth


@kernel
def _hope(t, p, w, v, piece, corner, cells):
    """What a tile adds at most where it comes to rest: before losses."""
    row, column = np.uint64(corner) // _SIZE, np.uint64(corner) % _SIZE  # unsigned: see `observation`
    total = _extras(t, w, v, cells)
    for i in range(MOST_ROOFS):
        total += v.gain[0, row + np.uint64(i), np.uint64(p.in_row[piece, i])]
    for j in range(MOST_ROOFS):
        total += v.gain[1, column + np.uint64(j), np.uint64(p.in_column[piece, j])]
    if v.tiles[np.uint64(piece) >> np.uint64(5)] & neighbours(cells):
        total += w.bonus_card * v.later
    return total


@kernel
def placement_gain(t, p, w, v, piece, corner, cells):
    """Expected points that a tile adds where it comes to rest."""
    return _hope(t, p, w, v, piece, corner, cells) - _losses(v, cells)


@kernel
def roofs_gain(t, p, w, v, piece, corner, cells, roofs):
    """Expected points of so many superstructures on the best roofs of a tile."""
    total = 0.0
    left = cells
    for _ in range(roofs):
        best, chosen = -1.0, np.int64(0)
        rest = left
        while rest:
            cell = lowest(rest)
            rest &= rest - 1
            more_row = p.in_row[piece, cell // 7 - corner // 7]
            value = roof_value(t, v, cell, more_row, p.in_column[piece, cell % 7 - corner % 7])
            if value > best:
                best, chosen = value, bit(cell)
        if chosen == 0:
            break
        total += best + w.roof * v.later
        left &= ~chosen
    return total


@kernel
def _plain_gain(t, w, v, kind, cells):
    """What a tile adds where it comes to rest, losses and all, in greedy's order."""
    gain = cells_gain(t, w, v, cells)
    if v.tiles[kind // 4] & neighbours(cells):
        gain += w.bonus_card * v.later
    return gain


@kernel
def best_placement(t, p, w, v, kind, side, roofs):
    """Return (gain, orientation and lane as in PLACE) of the best placement from a side; NOTHING if there is none."""
    best, chosen = NOTHING, np.int64(0)
    for orientation in range(t.orientations[kind]):
        piece = 8 * kind + orientation
        legal = lanes(t, piece, side, v.packed[side])
        while legal:
            lane = lowest(legal)
            legal &= legal - 1
            corner = corner_of(p, v, piece, side, lane)
            cells = np.int64(t.roofs_mask[piece]) << corner
            gain = _plain_gain(t, w, v, kind, cells) if w.apart == 0.0 else _hope(t, p, w, v, piece, corner, cells)
            if roofs > 0:
                gain += roofs_gain(t, p, w, v, piece, corner, cells, roofs)
            if gain <= best:
                continue  # losses make it no better
            if w.apart != 0.0:
                gain -= _losses(v, cells)
            if gain > best:
                best, chosen = gain, orientation * a.LANES + lane
    return best, chosen


@kernel
def _cells_of(t, p, v, kind, side, place):
    """The cells that a kind of tile takes; `place`: orientation and lane as in PLACE."""
    piece = 8 * kind + place // a.LANES
    return np.int64(t.roofs_mask[piece]) << corner_of(p, v, piece, side, place % a.LANES)


@kernel
def remember_placement(t, p, w, v, kind, side):
    """Find the best placement of a kind of tile from a side without superstructures, once."""
    if v.known[kind, side]:
        return
    gain, place = best_placement(t, p, w, v, kind, side, 0)
    v.known[kind, side] = 1
    v.roofs_known[kind, side] = 0
    v.best[kind, side] = gain
    v.place[kind, side] = place
    if gain > NOTHING:
        v.cells[kind, side] = _cells_of(t, p, v, kind, side, place)


@kernel
def _whole_gain(t, p, w, v, kind, side, roofs):
    """Gain of a kind of tile from a side where it is best together with so many superstructures."""
    if not v.roofs_known[kind, side, roofs]:
        gain, place = best_placement(t, p, w, v, kind, side, roofs)
        v.roofs_known[kind, side, roofs] = 1
        v.roofs[kind, side, roofs] = gain
        if gain > NOTHING:
            v.cells[kind, side] = _cells_of(t, p, v, kind, side, place)
    return v.roofs[kind, side, roofs]


@kernel
def tile_gain(t, p, w, g, v, card, side):
    """Gain of a card's tile from a side; the superstructures go where the tile alone is best, if `w.apart`."""
    kind = np.int64(t.kind[card])
    if g.supply[kind] == 0:
        return NOTHING
    roofs = min(np.int64(t.shows[card]), np.int64(g.superstructure_supply), SHOWN - 1)
    if w.apart == 0.0:
        return _whole_gain(t, p, w, v, kind, side, roofs)
    remember_placement(t, p, w, v, kind, side)
    gain = v.best[kind, side]
    if roofs > 0 and gain > NOTHING:
        if not v.roofs_known[kind, side, roofs]:
            place = v.place[kind, side]
            piece = 8 * kind + place // a.LANES
            corner = corner_of(p, v, piece, side, place % a.LANES)
            v.roofs[kind, side, roofs] = roofs_gain(t, p, w, v, piece, corner, v.cells[kind, side], roofs)
            v.roofs_known[kind, side, roofs] = 1
        gain += v.roofs[kind, side, roofs]
    return gain


@kernel
def best_cell(t, w, v, cells):
    """Return (gain, cell) of the best of some cells for a wild tile; NOTHING if there are none."""
    best, chosen = NOTHING, np.int64(-1)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        gain = cells_gain(t, w, v, bit(cell))
        if gain > best:
            best, chosen = gain, cell
    return best, chosen


@kernel
def best_wilds(t, w, v):
    """Return the gain of the best cell for a wild tile, and that of the best pair that begins with it."""
    cells = neighbours(v.built & ~t.statue) & ~v.built
    best, chosen = best_cell(t, w, v, cells)
    if chosen < 0:
        return 0.0, 0.0
    pair = best
    rest = (cells | neighbours(bit(chosen))) & ~v.built & ~bit(chosen)
    while rest:
        pair = max(pair, cells_gain(t, w, v, (rest & -rest) | bit(chosen)))
        rest &= rest - 1
    return best, pair


@kernel
def best_roof(t, v, cells):
    """Return (value, cell) of the best of some roofs for a superstructure; (0, -1) if there are none."""
    best, chosen = 0.0, np.int64(-1)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        value = roof_value(t, v, cell, 0, 0)
        if value > best or chosen < 0:
            best, chosen = value, cell
    return best, chosen


@kernel
def worst_roof(t, v, cells):
    """Return (value, cell) of the superstructure that is worth least where it stands."""
    worst, chosen = 1e9, np.int64(-1)
    while cells:
        cell = lowest(cells)
        cells &= cells - 1
        value = roof_value(t, v, cell, 0, 0)
        if value < worst:
            worst, chosen = value, cell
    return worst, chosen

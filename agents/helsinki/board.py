"""Value and best placement of tiles, wild tiles and superstructures on a board."""

from __future__ import annotations

import numpy as np

from helsinki_env.agents.helsinki.board_view import ABOVE, BY_DEPTH, BY_LANE, roof_value, shadow
from helsinki_env.agents.helsinki.eval_cache import DUE, SHOWN
from helsinki_env.agents.heuristic_api import ILLEGAL_VALUE
from helsinki_env.engine.bits import bit, lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki.bits import BOARD, CELLS, connected, neighbors
from helsinki_env.games.helsinki.shapes import MOST_ROOFS, legal_slides

_SIZE = np.uint64(7)


@kernel
def _extras(t, w, v, cells):
    """Return the gain from building on empty cells, except for their lines: coats of arms and crosswalks."""
    total = 0.0
    if cells & v.coats:
        total += v.coat * popcount(cells & v.coats)
    return _add_road(t, w, v, cells, total)


@kernel
def _add_road(t, w, v, cells, total):
    """Add the gain from crosswalks in Dry roads, and from the bonus card if building on `cells` earns it."""
    if v.road > 0.0:
        if cells & t.crosswalks:
            total += w.crosswalk * v.road * v.later * popcount(cells & t.crosswalks)
        built = (v.built | cells) & ~t.statue
        if t.crosswalks & ~built == 0 and connected(built, t.crosswalks):
            total += v.road
    return total


@kernel
def _still_open(v, cells):
    """Return the empty cells that can still be reached from some side after building on `cells`."""
    still = np.int64(0)
    for side in range(4):
        still |= v.open[side] & ~shadow(cells, side)
    return still


@kernel
def _losses(v, cells):
    """Return the loss from building on empty cells: other cells closed off or left without an empty neighbor."""
    total = 0.0
    still = _still_open(v, cells)
    closed = v.reach & ~cells & ~still
    while closed:
        total += v.hole[lowest_bit(closed)]
        closed &= closed - 1
    lonely = v.reach & still & ~cells & ~neighbors(BOARD & ~(v.built | cells)) & ~v.lonely
    while lonely:
        total += v.gap[lowest_bit(lonely)]
        lonely &= lonely - 1
    return total


@kernel
def cells_gain(t, w, v, cells):
    """Return the expected points from building on these empty cells, regardless of their shape."""
    rows, columns = np.int64(0), np.int64(0)  # number of cells by line, four bits each
    rest = cells
    while rest:
        cell = lowest_bit(rest)
        rest &= rest - 1
        rows += np.int64(1) << (4 * (cell // 7))
        columns += np.int64(1) << (4 * (cell % 7))
    total = 0.0 if w.apart == 0.0 else _extras(t, w, v, cells) - _losses(v, cells)
    for line in range(7):
        total += v.gain[0, line, (rows >> (4 * line)) & 7] + v.gain[1, line, (columns >> (4 * line)) & 7]
    return _with_extras(t, w, v, cells, total) if w.apart == 0.0 else total


@kernel
def _with_extras(t, w, v, cells, total):
    """Return `total`, the gain of lines, plus the other gains and losses from building, summed in greedy's order."""
    if cells & v.coats:
        total += v.coat * popcount(cells & v.coats)
    closed = v.reach & ~cells & ~_still_open(v, cells)
    while closed:
        total -= v.hole[lowest_bit(closed)]
        closed &= closed - 1
    return _add_road(t, w, v, cells, total)


@kernel
def corner_of(p, v, piece, side, lane):
    """Return the end of a legal slide: the cell at the north-west corner of the tile's bounding box."""
    depth = np.int64(7)
    piece, side, first = np.uint64(piece), np.uint64(side), np.uint64(lane)
    for j in range(MOST_ROOFS):
        depth = min(depth, v.height[side, first + np.uint64(j)] - p.front[piece, side, j])
    return p.corner[piece, side] + BY_LANE[side] * lane + BY_DEPTH[side] * depth


@kernel
def _gain_before_losses(t, p, w, v, piece, corner, cells):
    """Return the gain from a tile at its final position before losses, an upper bound on the actual gain."""
    row, column = np.uint64(corner) // _SIZE, np.uint64(corner) % _SIZE  # unsigned: see `cards`
    piece = np.uint64(piece)
    total = _extras(t, w, v, cells)
    for i in range(MOST_ROOFS):
        total += v.gain[0, row + np.uint64(i), np.uint64(p.in_row[piece, i])]
    for j in range(MOST_ROOFS):
        total += v.gain[1, column + np.uint64(j), np.uint64(p.in_column[piece, j])]
    if v.tiles[piece >> np.uint64(5)] & neighbors(cells):
        total += w.bonus_card * v.later
    return total


@kernel
def placement_gain(t, p, w, v, piece, corner, cells):
    """Return the expected points from a tile at its final position."""
    return _gain_before_losses(t, p, w, v, piece, corner, cells) - _losses(v, cells)


@kernel
def roofs_gain(t, p, w, v, piece, corner, cells, roofs):
    """Return the expected points from `roofs` superstructures on the best roofs of a tile."""
    total = 0.0
    left = cells
    piece, row, column = np.uint64(piece), np.uint64(corner) // _SIZE, np.uint64(corner) % _SIZE
    for _ in range(roofs):
        best, chosen = -1.0, np.int64(0)
        rest = left
        while rest:
            cell = lowest_bit(rest)
            rest &= rest - 1
            more_row = p.in_row[piece, np.uint64(cell) // _SIZE - row]
            value = roof_value(t, v, cell, more_row, p.in_column[piece, np.uint64(cell) % _SIZE - column])
            if value > best:
                best, chosen = value, bit(cell)
        if chosen == 0:
            break
        total += best + w.roof * v.later
        left &= ~chosen
    return total


@kernel
def _greedy_gain(t, w, v, kind, cells):
    """Return the gain from a tile at its final position, including losses, summed in greedy's order."""
    gain = cells_gain(t, w, v, cells)
    if v.tiles[kind // 4] & neighbors(cells):
        gain += w.bonus_card * v.later
    return gain


@kernel
def best_placement(t, p, w, v, kind, side, roofs):
    """Return (gain, orientation and lane as in PLACE) of the best placement from a side.

    The gain is `ILLEGAL_VALUE` if there is no legal placement.
    """
    best, chosen = ILLEGAL_VALUE, np.int64(0)
    legal = legal_slides(t, kind, side, v.packed[side])  # bit set of orientation and lane as in PLACE
    while legal:
        place = lowest_bit(legal)
        legal &= legal - 1
        turned = np.int64(np.uint64(place) // _SIZE)
        piece, lane = 8 * kind + turned, place - a.LANES * turned
        corner = corner_of(p, v, piece, side, lane)
        cells = np.int64(t.roofs_mask[piece]) << corner
        if w.apart == 0.0:
            gain = _greedy_gain(t, w, v, kind, cells)
        else:
            gain = _gain_before_losses(t, p, w, v, piece, corner, cells)
        if roofs > 0:
            gain += roofs_gain(t, p, w, v, piece, corner, cells, roofs)
        if gain <= best:
            continue  # losses cannot improve it
        if w.apart != 0.0:
            gain -= _losses(v, cells)
        if gain > best:
            best, chosen = gain, place
    return best, chosen


@kernel
def _cells_of(t, p, v, kind, side, place):
    """Return the cells that a tile occupies; `place` holds orientation and lane as in PLACE."""
    piece = 8 * kind + place // a.LANES
    return np.int64(t.roofs_mask[piece]) << corner_of(p, v, piece, side, place % a.LANES)


@kernel
def _drawn(v):
    """Return 1 while two cards are being drawn, otherwise 0."""
    return np.int64(v.later == v.later_drawn)


@kernel
def remember_placement(t, p, w, v, kind, side):
    """Find and cache the best placement of a kind of tile from a side, without superstructures."""
    known = np.int64(v.known[kind, side])
    if 0 < known <= DUE:
        return
    drawn = known - DUE - 1 if known else _drawn(v)
    cached = v.placements[kind, side, drawn]
    if not v.cached[kind, side, drawn]:
        v.cached[kind, side, drawn] = 1
        later = v.later
        v.later = v.later_drawn if drawn else v.later_now
        gain, place = best_placement(t, p, w, v, kind, side, 0)
        v.later = later
        cached.best, cached.place, cached.roofs_known = gain, place, 0
        if gain > ILLEGAL_VALUE:
            cached.cells = _cells_of(t, p, v, kind, side, place)
    if not known:
        v.roofs_known[kind, side] = 0
    v.known[kind, side] = 1 + drawn
    v.best[kind, side], v.place[kind, side], v.cells[kind, side] = cached.best, cached.place, cached.cells


@kernel
def _remember_roofs(t, p, w, v, kind, side, roofs):
    """Compute and cache the gain from `roofs` superstructures on the best placement of a tile from a side."""
    known = np.int64(v.roofs_known[kind, side, roofs])
    if known == 1:
        return
    drawn = np.int64(v.known[kind, side]) - 1
    asked = known - DUE if known else _drawn(v)
    cached = v.placements[kind, side, drawn]
    if asked == drawn and (cached.roofs_known >> roofs) & 1:
        v.roofs[kind, side, roofs] = cached.roofs[roofs - 1]
    else:
        place = v.place[kind, side]
        piece = 8 * kind + place // a.LANES
        corner = corner_of(p, v, piece, side, place % a.LANES)
        later = v.later
        v.later = v.later_drawn if asked else v.later_now
        v.roofs[kind, side, roofs] = roofs_gain(t, p, w, v, piece, corner, v.cells[kind, side], roofs)
        v.later = later
        if asked == drawn:
            cached.roofs_known |= 1 << roofs
            cached.roofs[roofs - 1] = v.roofs[kind, side, roofs]
    v.roofs_known[kind, side, roofs] = 1


@kernel
def _roofs_of(t, g, card):
    """Return the number of superstructures of a card's tile."""
    return min(np.int64(t.shows[card]), np.int64(g.superstructure_supply), SHOWN - 1)


@kernel
def defer_gain(t, g, v, card, side):
    """Schedule the gain of a card's tile from a side for computation on first use.

    The result is the same as if the gain were computed now: the first request fixes whether two cards are being drawn.
    """
    kind = np.int64(t.kind[card])
    if g.supply[kind] == 0:
        return
    if v.known[kind, side] == 0:
        v.known[kind, side] = DUE + 1 + _drawn(v)
        v.roofs_known[kind, side] = 0
    roofs = _roofs_of(t, g, card)
    if roofs > 0 and v.roofs_known[kind, side, roofs] == 0:
        v.roofs_known[kind, side, roofs] = DUE + _drawn(v)


@kernel
def gain_upper_bound(t, w, v, card):
    """Return an upper bound on the gain from a card's tile at any position."""
    cells = np.int64(t.kind[card]) % 4 + 2
    most = cells * v.most_cell + min(np.int64(t.shows[card]), SHOWN - 1) * v.most_roof
    most += w.bonus_card * max(v.later_now, v.later_drawn)
    if v.road > 0.0:
        most += v.road * (1.0 + w.crosswalk * cells)
    return most * ABOVE


@kernel
def _joint_gain(t, p, w, v, kind, side, roofs):
    """Return the gain of a kind of tile from a side, at the joint best position of tile and superstructures."""
    if not v.roofs_known[kind, side, roofs]:
        gain, place = best_placement(t, p, w, v, kind, side, roofs)
        v.roofs_known[kind, side, roofs] = 1
        v.roofs[kind, side, roofs] = gain
        if gain > ILLEGAL_VALUE:
            v.cells[kind, side] = _cells_of(t, p, v, kind, side, place)
    return v.roofs[kind, side, roofs]


@kernel
def tile_gain(t, p, w, g, v, card, side):
    """Return the gain of a card's tile from a side; if `w.apart` is set, the tile alone determines the position."""
    kind = np.int64(t.kind[card])
    if g.supply[kind] == 0:
        return ILLEGAL_VALUE
    roofs = _roofs_of(t, g, card)
    if w.apart == 0.0:
        return _joint_gain(t, p, w, v, kind, side, roofs)
    remember_placement(t, p, w, v, kind, side)
    gain = v.best[kind, side]
    if roofs > 0 and gain > ILLEGAL_VALUE:
        _remember_roofs(t, p, w, v, kind, side, roofs)
        gain += v.roofs[kind, side, roofs]
    return gain


@kernel
def best_cell(t, w, v, cells):
    """Return (gain, cell) of the best given cell for a wild tile, or (`ILLEGAL_VALUE`, -1) if there is none."""
    best, chosen = ILLEGAL_VALUE, np.int64(-1)
    while cells:
        cell = lowest_bit(cells)
        cells &= cells - 1
        gain = cells_gain(t, w, v, bit(cell))
        if gain > best:
            best, chosen = gain, cell
    return best, chosen


@kernel
def best_wilds(t, w, v):
    """Return the gain from the best cell for a wild tile, and from the best pair of cells that includes it."""
    cells = neighbors(v.built & ~t.statue) & ~v.built
    best, chosen = best_cell(t, w, v, cells)
    if chosen < 0:
        return 0.0, 0.0
    pair = best
    rest = (cells | neighbors(bit(chosen))) & ~v.built & ~bit(chosen)
    while rest:
        pair = max(pair, cells_gain(t, w, v, (rest & -rest) | bit(chosen)))
        rest &= rest - 1
    return best, pair


@kernel
def wilds_gain(t, w, v, number, one, two):
    """Return the gain from `number` wild tiles.

    `one` and `two` are the results of `best_wilds`. More than two tiles are added greedily.
    """
    if number <= 2:
        return one if number == 1 else two
    built, chosen, gain = v.built & ~t.statue, np.int64(0), 0.0
    for _ in range(number):
        cells = neighbors(built | chosen) & ~v.built & ~chosen
        best, added = ILLEGAL_VALUE, np.int64(0)
        while cells:
            value = cells_gain(t, w, v, cells & -cells | chosen)
            if value > best:
                best, added = value, cells & -cells
            cells &= cells - 1
        if added == 0:
            break
        chosen |= added
        gain = best
    return gain


@kernel
def roofs_worth(t, v, cells, number, each):
    """Return the value of the best roofs for `number` superstructures, plus `each` per superstructure."""
    total = 0.0
    for _ in range(number):
        value, cell = best_roof(t, v, cells)
        if cell < 0:
            break
        cells &= ~bit(cell)
        total += value + each
    return total


@kernel
def _highest_roof(t, v, cells, sign):
    """Return (value, cell) of the roof with the highest value times `sign`; (-1e9, -1) if there are no `cells`."""
    best, chosen = -1e9, np.int64(-1)
    while cells:
        cell = lowest_bit(cells)
        cells &= cells - 1
        value = sign * roof_value(t, v, cell, 0, 0)
        if value > best:
            best, chosen = value, cell
    return best, chosen


@kernel
def best_roof(t, v, cells):
    """Return (value, cell) of the best given roof for a superstructure, or (0, -1) if there is none."""
    best, chosen = _highest_roof(t, v, cells, 1.0)
    return best if chosen >= 0 else 0.0, chosen


@kernel
def worst_roof(t, v, cells):
    """Return (value, cell) of the superstructure with the lowest value in its current position."""
    lowest, chosen = _highest_roof(t, v, cells, -1.0)
    return -lowest, chosen


@kernel
def lowest_of_best_roofs(t, v, cells, number):
    """Return the lowest cell among the `number` best roofs for superstructures; 49 if no roof is free."""
    lowest = np.int64(CELLS)
    for _ in range(number):
        _, cell = best_roof(t, v, cells)
        if cell < 0:
            break
        cells &= ~bit(cell)
        lowest = min(lowest, cell)
    return lowest

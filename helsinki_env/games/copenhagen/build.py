"""Construct tiles: feasible tiles, costs, placement and payment (rules, section 3, "Constructing").

Costs are sets of small integers (bit = cost). A tile of n cells costs n cards, or n - 1 if it touches its own color. A
discount shifts the set by one bit. With k cards, the costs in bits 0 to k of the set can be paid.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.abilities import active, end_use
from helsinki_env.games.copenhagen.actions import CELLS, CHANGE_OF_COLOURS, CONSTRUCTION_DISCOUNT, ORIENTATIONS
from helsinki_env.games.copenhagen.bits import neighbors, supported
from helsinki_env.games.copenhagen.cards import play_card_face_up
from helsinki_env.games.copenhagen.score import cover
from helsinki_env.games.copenhagen.shapes import meeting, placements, tile_cells
from helsinki_env.games.copenhagen.state import PHASE_PAY, PHASE_PLACE, PHASE_RECOLOUR, RECORD

clear_build = RECORD.clear_pending(PHASE_PLACE, PHASE_RECOLOUR, PHASE_PAY)


@kernel
def size_of(kind):
    """Return the number of cells of a tile."""
    return np.int64(kind) % 4 + 2


@kernel
def color_of(kind):
    """Return the color of a tile."""
    return np.int64(kind) // 4


@kernel
def costs(t, g, kind):
    """Return the costs of a tile's possible placements without the discount; empty if there is no placement."""
    seat = g.seat
    filled = np.int64(g.filled[seat])
    support = supported(filled)
    near = neighbors(np.int64(g.coloured[seat, color_of(kind)]))
    alone, touching = np.int64(0), np.int64(0)
    for i in range(t.outline_count[kind]):
        piece = np.int64(t.outlines[kind, i])
        corners = placements(t, piece, filled, support)
        meets = meeting(t, piece, near)
        alone |= corners & ~meets
        touching |= corners & meets
        if alone and touching:
            break
    size = size_of(kind)
    return np.int64(alone != 0) << size | np.int64(touching != 0) << (size - 1)


@kernel
def discounted(g, full):
    """Return the costs with the discount if it is in use, or both with and without it if it is active."""
    if (np.int64(g.using) >> CONSTRUCTION_DISCOUNT) & 1:
        return full >> 1
    if (active(g) >> CONSTRUCTION_DISCOUNT) & 1:
        return full | full >> 1
    return full


@kernel
def up_to(cards):
    """Return the set of costs that can be paid with a number of cards."""
    return (np.int64(2) << np.int64(cards)) - 1


@kernel
def payable(g, kind, cost):
    """PLACE: return the costs that can be paid now, with at least one recolored card after RECOLOUR."""
    own = np.int64(g.hand[g.seat, color_of(kind)])
    if g.recolour < 0:
        return cost & up_to(own)
    return cost & up_to(own + g.hand[g.seat, g.recolour]) & ~np.int64(1)


@kernel
def recolours(g, kind, cost):
    """RECOLOUR: return the set of colors whose cards can help to pay one of the costs, using at least one of them."""
    own, colours = color_of(kind), np.int64(0)
    for colour in range(5):
        held = np.int64(g.hand[g.seat, colour])
        if colour != own and held > 0 and cost & up_to(held + g.hand[g.seat, own]) & ~np.int64(1):
            colours |= 1 << colour
    return colours


@kernel
def completes(g, kind, cost):
    """Return whether one of the costs can be paid, if necessary by using change_of_colours while it is active."""
    if payable(g, kind, cost):
        return True
    return (active(g) >> CHANGE_OF_COLOURS) & 1 != 0 and recolours(g, kind, cost) != 0


@kernel
def most_cards(g, colour):
    """Return the maximum number of cards available for a tile of a color, with a recolored color if possible."""
    own, other = np.int64(g.hand[g.seat, colour]), np.int64(0)
    if (active(g) >> CHANGE_OF_COLOURS) & 1:
        for c in range(5):
            if c != colour:
                other = max(other, np.int64(g.hand[g.seat, c]))
    return own + other


@kernel
def has_placement(t, kind, filled, support):
    """Return whether a tile fits on a board, regardless of its cost."""
    for i in range(t.outline_count[kind]):
        if placements(t, np.int64(t.outlines[kind, i]), filled, support):
            return True
    return False


@kernel
def feasible(t, g):
    """MAIN: return the set of tiles in the supply that can be placed and paid, with active abilities if necessary.

    The bits of the set are tile kinds.
    """
    filled, kinds = np.int64(g.filled[g.seat]), np.int64(0)
    support = supported(filled)
    discount = ((active(g) | np.int64(g.using)) >> CONSTRUCTION_DISCOUNT) & 1
    for colour in range(5):
        own = np.int64(g.hand[g.seat, colour])
        # A tile that touches its own color costs one card less.
        largest = min(np.int64(5), most_cards(g, colour) + 1 + discount)
        for kind in range(4 * colour, 4 * colour + largest - 1):
            if g.supply[kind] == 0:
                continue
            if own >= size_of(kind):  # enough cards for the most expensive placement
                there = has_placement(t, kind, filled, support)
            else:
                there = completes(g, kind, discounted(g, costs(t, g, kind)))
            kinds |= np.int64(there) << kind
    return kinds


@kernel
def begin_build(g, kind):
    """BUILD: select a tile, which stays in the supply until it is paid for."""
    g.tile = kind
    g.phase = PHASE_PLACE


@kernel
def recolour(g, colour):
    """RECOLOUR: make all cards of this color count as the tile's color."""
    g.recolour = colour
    g.phase = PHASE_PLACE


@kernel
def cost_at(g, cells):
    """Return the cost of placing the selected tile on these cells."""
    touches = neighbors(np.int64(g.coloured[g.seat, color_of(g.tile)])) & cells != 0
    return size_of(g.tile) - np.int64(touches) - ((np.int64(g.using) >> CONSTRUCTION_DISCOUNT) & 1)


@kernel
def placed_piece(g, argument):
    """Return the index of the orientation, among those of all tiles, for an argument of PLACE."""
    return ORIENTATIONS * np.int64(g.tile) + argument // CELLS


@kernel
def place(t, g, argument):
    """PLACE: choose the placement and pay all cards immediately, or one at a time in PAY after RECOLOUR."""
    g.place = argument
    g.due = cost_at(g, tile_cells(t, placed_piece(g, argument), argument % CELLS))
    g.phase = PHASE_PAY
    if g.recolour < 0:
        while g.due > 0:
            pay(g, color_of(g.tile))


@kernel
def pay(g, colour):
    """PAY: pay one card."""
    play_card_face_up(g, g.seat, colour)
    g.paid[colour] += 1
    g.due -= 1


@kernel
def lay_tile(t, g):
    """Move the tile from the supply to the board once it is paid for.

    Return False if the seat reaches the goal, which ends the game.
    """
    seat, kind, argument = g.seat, np.int64(g.tile), np.int64(g.place)
    piece, corner = placed_piece(g, argument), argument % CELLS
    cells = tile_cells(t, piece, corner)
    number = g.tile_count[seat]
    g.tile_piece[seat, number] = piece
    g.tile_cell[seat, number] = corner
    g.tile_count[seat] += 1
    g.supply[kind] -= 1
    g.coloured[seat, color_of(kind)] |= cells
    g.bricks[seat] |= np.int64(1) << (corner + t.brick[piece])
    end_use(g, CONSTRUCTION_DISCOUNT)
    end_use(g, CHANGE_OF_COLOURS)
    clear_build(g)
    return cover(t, g, cells)

"""Build a pavilion: feasibility, payment, placement, superstructures (rules page, section 3, "BUILD").

A build is feasible if the tile is in the supply, can be paid for and can be placed, with enough coats of arms for both.
Payment and placement cost coats independently, so their minimum costs are added.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.bits import bit, lowest_bit, popcount
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.games.helsinki.actions import ANY_CARD_AS_WILD, ANY_SIDE, LANES, ONE_CARD_FEWER, ORIENTATIONS
from helsinki_env.games.helsinki.bits import neighbors
from helsinki_env.games.helsinki.draw import draw_unseen, hand_size, play_card_face_up
from helsinki_env.games.helsinki.score import check_crosswalks
from helsinki_env.games.helsinki.shapes import fits, fits_in, profile, resting_corner, tile_cells
from helsinki_env.games.helsinki.state import PHASE_END, PHASE_PAY, PHASE_PLACE, PHASE_ROOF

#: A number of coats that no player can have.
NEVER = 99
#: Number of card types per set, because a set is a signed 64-bit integer.
CARDS_AT_ONCE = 50


@kernel
def side_of(g, seat):
    """Return the side of the senate board with the seat's token; each side has two spaces (section 1)."""
    return np.int64(g.token[seat]) // 2


@kernel
def last_tile(t, g, seat):
    """Return the cells of the pavilion tile that this seat built last."""
    last = np.int64(g.tile_count[seat]) - 1
    return tile_cells(t, np.int64(g.tile_piece[seat, last]), g.tile_cell[seat, last])


@kernel
def free_roofs(t, g, seat):
    """Return the cells of pavilion and wild tiles that have no superstructure (the statue never carries one)."""
    return g.built[seat] & ~t.statue & ~g.superstructures[seat]


@kernel
def coats_to_pay(t, same, others, due, usable):
    """Return the minimum number of coats needed to pay `due` cards, or NEVER if impossible.

    `same` is the number of wild cards and cards of the tile's color, and `others` is the number of other cards.
    `usable` is the set of available board actions.
    """
    if same >= due:
        return np.int64(0)
    fewer, as_wild = np.int64(t.costs[ONE_CARD_FEWER]), np.int64(t.costs[ANY_CARD_AS_WILD])
    left = due - t.strengths[ONE_CARD_FEWER]
    can_fewer = (usable >> ONE_CARD_FEWER) & 1
    can_as_wild = (usable >> ANY_CARD_AS_WILD) & 1 and others > 0
    coats = np.int64(NEVER)
    if can_fewer and same >= left:
        coats = fewer
    if can_as_wild and same >= due - 1:
        coats = min(coats, as_wild)
    if can_fewer and can_as_wild and left > 0 and same >= left - 1:
        coats = min(coats, fewer + as_wild)
    return coats


@kernel
def coats_to_place(t, g, kind, usable):
    """Return the minimum number of coats needed to place a tile of this kind, or NEVER if impossible."""
    seat = g.seat
    side = side_of(g, seat)
    if fits(t, kind, side, g.built[seat]):
        return 0
    if (usable >> ANY_SIDE) & 1 and fits_elsewhere(t, g, kind):
        return np.int64(t.costs[ANY_SIDE])
    return NEVER


@kernel
def fits_elsewhere(t, g, kind):
    """Return whether a tile can be pushed in from a side other than that of the token."""
    side = side_of(g, g.seat)
    for turn in range(1, 4):
        if fits(t, kind, (side + turn) % 4, g.built[g.seat]):
            return True
    return False


@kernel
def cards_of(t, g, seat, colour):
    """Return the number of cards of a color in a hand."""
    cards = np.int64(0)
    first = colour * t.variants
    for card in range(first, first + t.variants):
        cards += g.hand[seat, card]
    return cards


@kernel
def hand_by_color(t, g, seat, colour):
    """Return the numbers of cards of the color, wild cards and cards of other colors in a hand."""
    same, wild = cards_of(t, g, seat, colour), np.int64(g.hand[seat, t.types - 1])
    return same, wild, hand_size(t, g, seat) - same - wild


@kernel
def _feasible(t, g, coats, usable, begin):
    seat, last = g.seat, t.types - 1
    wild = np.int64(g.hand[seat, last])
    coloured = hand_size(t, g, seat) - wild
    side = side_of(g, seat)
    packed = profile(g.built[seat], side)
    tried, fitting = np.int64(0), np.int64(0)  # sets of tile kinds, so that each is tested only once
    found = np.int64(0)
    held = _held(g, seat, begin, min(last, begin + CARDS_AT_ONCE))
    while held:
        card = begin + lowest_bit(held)
        this = held & -held
        held ^= this
        kind = np.int64(t.kind[card])
        if g.supply[kind] == 0:
            continue
        same = cards_of(t, g, seat, np.int64(t.colour[card]))
        cost = coats_to_pay(t, same - 1 + wild, coloured - same, np.int64(t.number[card]) - 1, usable)
        if cost > coats:
            continue
        if not (tried >> kind) & 1:
            tried |= bit(kind)
            fitting |= np.int64(fits_in(t, kind, side, packed)) << kind
        other_side = (usable >> ANY_SIDE) & 1 and cost + t.costs[ANY_SIDE] <= coats
        if (fitting >> kind) & 1 or (other_side and fits_elsewhere(t, g, kind)):
            found |= this
    return found


feasible = OverloadedKernel("feasible", _feasible)
"""`feasible(t, g, coats, usable, begin)`: return the cards in hand whose BUILD can be completed with `coats` coats and
the board actions `usable` (section 3).

The result is a set of types (bit = type - begin) that covers `CARDS_AT_ONCE` types from `begin`, without the wild card.
Hand and board are read only once for all cards.
"""


@kernel
def _held(g, seat, begin, end):
    """Return the card types in a hand from `begin` up to, but not including, `end`, as a set (bit = type - begin)."""
    held = np.int64(0)
    for card in range(begin, end):
        held |= np.int64(g.hand[seat, card] > 0) << (card - begin)
    return held


@kernel
def any_feasible(t, g, coats, usable):
    """Return whether any BUILD is feasible with `coats` coats and the board actions `usable`."""
    for begin in range(0, t.types - 1, CARDS_AT_ONCE):
        if feasible(t, g, coats, usable, begin):
            return True
    return False


@kernel
def begin_build(t, g, card):
    """Play a card and enter PAY, or PLACE if the card costs only itself (section 3, BUILD)."""
    play_card_face_up(g, g.seat, card)
    g.only_build = 0
    g.card = card
    g.to_pay = t.number[card] - 1
    g.phase = PHASE_PAY if g.to_pay > 0 else PHASE_PLACE


@kernel
def pay(g, card):
    """Pay one more card for the tile (section 3, Pay)."""
    play_card_face_up(g, g.seat, card)
    g.paid[g.paid_count] = card
    g.paid_count += 1
    g.to_pay -= 1
    g.substitute = 0
    if g.to_pay == 0:
        g.phase = PHASE_PLACE


@kernel
def one_card_fewer(t, g):
    """Reduce the number of cards due by the strength of the board action (section 3, Pay)."""
    g.to_pay = max(np.int64(0), g.to_pay - t.strengths[ONE_CARD_FEWER])
    if g.to_pay == 0:
        g.phase = PHASE_PLACE


@kernel
def cover(t, g, seat, cells):
    """Mark cells as built, move their coats of arms to the meadow, then check the crosswalks."""
    g.built[seat] |= cells
    if cells & t.all_coats:
        for coat in range(8):
            if (g.coats[seat] >> coat) & 1 and cells & t.coat_cells[coat]:
                g.coats[seat] &= ~np.uint8(1 << coat)
                g.meadow[seat] += 1
    check_crosswalks(t, g, seat)


@kernel
def touches_own_color(t, g, seat, cells, kind):
    """Return whether any of the cells shares an edge with a pavilion tile of the same color."""
    around = neighbors(cells)
    for tile in range(g.tile_count[seat]):
        piece = np.int64(g.tile_piece[seat, tile])
        if piece // 32 == kind // 4 and tile_cells(t, piece, g.tile_cell[seat, tile]) & around:
            return True
    return False


@kernel
def place(t, g, argument):
    """Push the tile in and apply all effects: discards, coats, crosswalks, bonus card, superstructures (section 3)."""
    seat, card = g.seat, g.card
    side = argument // (ORIENTATIONS * LANES)
    kind = np.int64(t.kind[card])
    piece = 8 * kind + argument // LANES % ORIENTATIONS
    corner = resting_corner(t, piece, side, argument % LANES, g.built[seat])
    cells = tile_cells(t, piece, corner)
    bonus = touches_own_color(t, g, seat, cells, kind)
    tile = g.tile_count[seat]
    g.tile_piece[seat, tile] = piece
    g.tile_cell[seat, tile] = corner
    g.tile_count[seat] += 1
    g.supply[kind] -= 1
    g.discard[card] += 1
    for paid in range(g.paid_count):
        g.discard[g.paid[paid]] += 1
    g.card = -1
    g.paid[:] = 0
    g.paid_count = 0
    g.any_side = 0
    g.has_built = 1
    cover(t, g, seat, cells)
    if bonus:
        draw_unseen(t, g, seat)
    g.phase = PHASE_END
    roofs = min(np.int64(t.shows[card]), np.int64(g.superstructure_supply), popcount(cells))
    if roofs > 0:
        begin_roofs(g, roofs)


@kernel
def begin_roofs(g, roofs):
    """Start placing `roofs` superstructures on the tile just built (section 3)."""
    g.phase = PHASE_ROOF
    g.resume = PHASE_END
    g.roofs_left = roofs
    g.last_roof = -1

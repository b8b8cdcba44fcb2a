"""Setup (rules, section 2)."""

from __future__ import annotations

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import shuffle
from helsinki_env.games.copenhagen.actions import ANY_CARDS
from helsinki_env.games.copenhagen.cards import put_end_card, take_from_pile
from helsinki_env.games.copenhagen.state import PHASE_MAIN

#: The fields of a record that define the setup and survive a new deal.
SETUP_FIELDS = ("players", "denied")


@kernel
def _blank(t, g):
    g.filled[:] = 0
    g.coloured[:] = 0
    g.white[:] = 0
    g.bricks[:] = 0
    g.points[:] = 0
    g.round_number = 1
    g.tile_piece[:] = 0
    g.tile_cell[:] = 0
    g.tile_count[:] = 0
    g.owned[:] = 0
    for seat in range(g.players):
        g.owned[seat] = 1 << ANY_CARDS
    g.used[:] = 0
    g.hand[:] = 0
    g.known[:] = 0
    g.discard[:] = 0
    g.reshuffled[:] = 0
    g.pile[:] = 0
    g.end_card = 0
    g.display[:] = -1
    for kind in range(20):
        g.supply[kind] = t.supply[g.players, kind]
    g.white_tiles = t.white_tiles
    g.seat = 0
    g.phase = PHASE_MAIN
    g.done = 0
    clear_pending(g)


@kernel
def clear_pending(g):
    """Clear everything in progress."""
    g.using = 0
    g.last_discard = -1
    g.rewards = 0
    clear_take(g)
    clear_build(g)


@kernel
def clear_take(g):
    """Clear the cards being taken."""
    g.first = -1


@kernel
def clear_build(g):
    """Clear the tile being built."""
    g.tile = -1
    g.recolour = -1
    g.place = -1
    g.due = 0
    g.paid[:] = 0


@kernel
def deal(t, g, word):
    """Section 2: shuffle the cards, deal display and hands; with two players, insert the End of Game card."""
    _blank(t, g)
    g.chance = word
    size = 0
    for colour in range(5):
        for _ in range(t.cards[g.players]):
            g.pile[size] = colour
            size += 1
    shuffle(g, g.pile, size)
    g.pile_size = size
    for slot in range(7):
        g.display[slot] = take_from_pile(g)
    for seat in range(g.players):
        for _ in range(t.hands[seat]):
            g.hand[seat, take_from_pile(g)] += 1
    if g.players == 2:
        put_end_card(t, g)


@kernel
def copy_setup(g, setup):
    """Copy the setup from another record, or from anything with these fields."""
    g.players = setup.players
    for seat in range(4):
        g.denied[seat] = setup.denied[seat]

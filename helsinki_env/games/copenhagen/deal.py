"""Setup (rules, section 2)."""

from __future__ import annotations

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import shuffle
from helsinki_env.games.copenhagen.actions import ANY_CARDS
from helsinki_env.games.copenhagen.cards import put_end_card, take_from_pile
from helsinki_env.games.copenhagen.state import PHASE_PAY, PHASE_PLACE, PHASE_RECOLOUR, PHASE_TAKE, RECORD, TILE_KINDS

_clear, copy_setup = RECORD.clear, RECORD.copy_setup
clear_pending = RECORD.clear_pending()
clear_take = RECORD.clear_pending(PHASE_TAKE)
clear_build = RECORD.clear_pending(PHASE_PLACE, PHASE_RECOLOUR, PHASE_PAY)


@kernel
def deal(t, g, word):
    """Section 2: shuffle the cards, deal display and hands; with two players, insert the End of Game card."""
    _clear(g)
    g.chance = word
    g.round_number = 1
    for seat in range(g.players):
        g.owned[seat] = 1 << ANY_CARDS
    for kind in range(TILE_KINDS):
        g.supply[kind] = t.supply[g.players, kind]
    g.white_tiles = t.white_tiles
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

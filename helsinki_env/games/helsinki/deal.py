"""Setup (rules page, section 2)."""

from __future__ import annotations

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import random_below, shuffle
from helsinki_env.games.helsinki.draw import draw_unseen, refill
from helsinki_env.games.helsinki.state import RECORD

_clear, copy_setup, end_turn_fields = RECORD.clear, RECORD.copy_setup, RECORD.clear_pending()


@kernel
def _remove_unseen(t, g, size):
    """Section 1: with two players, remove one random card of a given number, unseen by all players."""
    candidates = 0
    for place in range(size):
        candidates += t.number[g.pile[place]] == t.removed_number
    chosen = random_below(g, candidates)
    for place in range(size):
        if t.number[g.pile[place]] == t.removed_number:
            if chosen == 0:
                for later in range(place, size - 1):
                    g.pile[later] = g.pile[later + 1]
                g.pile[size - 1] = 0
                return
            chosen -= 1


@kernel
def deal(t, g, word):
    """Section 2.1: shuffle the deck for the number of players, fill the display and enter START."""
    _clear(g)
    g.chance = word
    g.round_number = 1
    for kind in range(20):
        g.supply[kind] = t.supply[kind]
    for seat in range(g.players):
        g.built[seat] = t.statue
        g.coats[seat] = 255
    g.wild_supply = t.wild_tiles
    g.superstructure_supply = t.superstructures
    g.bonus_cards = (1 << g.players) - 1 if g.dry_roads else 0
    size = 0
    for card in range(t.types):
        for _ in range(t.deck[g.players, card]):
            g.pile[size] = card
            size += 1
    if g.players == 2:
        _remove_unseen(t, g, size)
        size -= 1
    shuffle(g, g.pile, size)
    g.pile_size = size
    for slot in range(8):
        refill(t, g, slot)


@kernel
def start(t, g, space):
    """Sections 2.2 and 2.3: put tokens on every other space; then each player draws two cards."""
    for seat in range(g.players):
        g.token[seat] = (space + 2 * seat) % 8
        for _ in range(2):
            draw_unseen(t, g, seat)

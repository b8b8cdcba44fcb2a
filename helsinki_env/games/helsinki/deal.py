"""Setup (rules page, section 2)."""

from __future__ import annotations

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import random_below, shuffle
from helsinki_env.games.helsinki.draw import draw_unseen, refill
from helsinki_env.games.helsinki.state import PHASE_START

#: Fields of a record that define the game setup and survive a new deal.
SETUP_FIELDS = ("players", "covered", "denied", "dry_roads")


@kernel
def _blank(t, g):
    g.wild[:] = 0
    g.superstructures[:] = 0
    g.used[:] = 0
    g.points[:] = 0
    g.hand[:] = 0
    g.known[:] = 0
    g.discard[:] = 0
    g.reshuffled[:] = 0
    g.pile[:] = 0
    g.tile_piece[:] = 0
    g.tile_cell[:] = 0
    g.tile_count[:] = 0
    g.unseen[:] = -1
    g.meadow[:] = 0
    g.token[:] = -1
    g.bonus[:] = -1
    g.limit_lifted[:] = 0
    for kind in range(20):
        g.supply[kind] = t.supply[kind]
    g.display[:] = -1
    g.built[:] = 0
    g.coats[:] = 0
    for seat in range(g.players):
        g.built[seat] = t.statue
        g.coats[seat] = 255
    g.wild_supply = t.wild_tiles
    g.superstructure_supply = t.superstructures
    g.bonus_cards = (1 << g.players) - 1 if g.dry_roads else 0
    g.round_number = 1
    g.seat = 0
    g.phase = PHASE_START
    g.last_round = 0
    g.done = 0
    end_turn_fields(g)


@kernel
def end_turn_fields(g):
    """Reset the fields of the turn in progress."""
    g.move = 0
    g.drew = 0
    g.has_built = 0
    g.only_build = 0
    g.card = -1
    g.to_pay = 0
    g.substitute = 0
    g.paid[:] = 0
    g.paid_count = 0
    g.any_side = 0
    g.action = -1
    g.resume = 0
    g.wilds_left = 0
    g.lifted = -1
    g.roofs_left = 0
    g.last_roof = -1
    g.last_discard = -1
    g.lifted_now = 0
    g.turn_over = 0


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
    _blank(t, g)
    g.chance = word
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


@kernel
def copy_setup(g, setup):
    """Copy the game setup from another record (or any object with these fields)."""
    g.players = setup.players
    g.covered = setup.covered
    for seat in range(4):
        g.denied[seat] = setup.denied[seat]
    g.dry_roads = setup.dry_roads

"""Cards: the draw pile and its End of Game card, the display, hands (rules, sections 2 and 3, "End of the turn")."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import random_below, shuffle
from helsinki_env.games.copenhagen.state import END_CARD


@kernel
def hand_size(g, seat):
    """Return the number of cards in a hand."""
    cards = np.int64(0)
    for colour in range(5):
        cards += g.hand[seat, colour]
    return cards


@kernel
def play_card_face_up(g, seat, colour):
    """Move a card from a hand to the discard pile and lower its color's known count if positive (section 5)."""
    g.hand[seat, colour] -= 1
    if g.known[seat, colour] > 0:
        g.known[seat, colour] -= 1
    g.discard[colour] += 1


@kernel
def put_end_card(t, g):
    """Section 2.2: insert the End of Game card at a random position among the last cards of the draw pile."""
    size = np.int64(g.pile_size)
    beneath = random_below(g, min(size, t.last_cards - 1) + 1)
    for place in range(size, beneath, -1):
        g.pile[place] = g.pile[place - 1]
    g.pile[beneath] = END_CARD
    g.pile_size = size + 1
    g.end_card = 1


@kernel
def reshuffle(t, g):
    """Turn the discard pile into the draw pile and add the End of Game card; the contents are public."""
    size = np.int64(0)
    for colour in range(5):
        g.reshuffled[colour] = g.discard[colour]
        for _ in range(g.discard[colour]):
            g.pile[size] = colour
            size += 1
        g.discard[colour] = 0
    shuffle(g, g.pile, size)
    g.pile_size = size
    put_end_card(t, g)


@kernel
def take_from_pile(g):
    """Draw the next card of a nonempty draw pile."""
    g.pile_size -= 1
    card = np.int64(g.pile[g.pile_size])
    g.pile[g.pile_size] = 0
    if card == END_CARD:
        g.end_card = 0
        g.reshuffled[:] = 0  # [R] the game is over: the cards beneath are no longer reported
    elif g.reshuffled[card] > 0:
        g.reshuffled[card] -= 1
    return card


@kernel
def refill(t, g):
    """Fill the empty slots of the display from the left; return False if the End of Game card is drawn."""
    for slot in range(7):
        if g.display[slot] >= 0:
            continue
        if g.pile_size == 0:
            reshuffle(t, g)
        card = take_from_pile(g)
        if card == END_CARD:
            return False
        g.display[slot] = card
    return True

"""Draw, take and discard cards: draw pile, End of Game card, display and hands (rules, sections 2 and 3)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import list_cards, random_below, shuffle
from helsinki_env.games.copenhagen.abilities import end_use
from helsinki_env.games.copenhagen.actions import ADDITIONAL_CARD, ANY_CARDS
from helsinki_env.games.copenhagen.state import END_CARD, PHASE_DISCARD, PHASE_END, PHASE_MAIN, PHASE_TAKE, RECORD

clear_take = RECORD.clear_pending(PHASE_TAKE)


@kernel
def hand_size(g, seat):
    """Return the number of cards in a hand."""
    cards = np.int64(0)
    for colour in range(5):
        cards += g.hand[seat, colour]
    return cards


@kernel
def play_card_face_up(g, seat, colour):
    """Move a card from a hand to the discard pile, preferably a publicly known card of its color (section 5)."""
    g.hand[seat, colour] -= 1
    if g.known[seat, colour] > 0:
        g.known[seat, colour] -= 1
    g.discard[colour] += 1


@kernel
def put_end_card(t, g):
    """Insert the End of Game card at a random position near the bottom of the draw pile (section 2.2)."""
    size = np.int64(g.pile_size)
    beneath = random_below(g, min(size, t.last_cards - 1) + 1)
    for place in range(size, beneath, -1):
        g.pile[place] = g.pile[place - 1]
    g.pile[beneath] = END_CARD
    g.pile_size = size + 1
    g.end_card = 1


@kernel
def reshuffle(t, g):
    """Shuffle the discard pile into a new draw pile with public contents, and add the End of Game card."""
    size = list_cards(g.discard, 5, g.pile)
    for colour in range(5):
        g.reshuffled[colour] = g.discard[colour]
        g.discard[colour] = 0
    shuffle(g, g.pile, size)
    g.pile_size = size
    put_end_card(t, g)


@kernel
def take_from_pile(g):
    """Draw and return the top card of a nonempty draw pile."""
    g.pile_size -= 1
    card = np.int64(g.pile[g.pile_size])
    g.pile[g.pile_size] = 0
    if card == END_CARD:
        g.end_card = 0
        g.reshuffled[:] = 0  # [R] the game is over, so the remaining cards are no longer reported
    elif g.reshuffled[card] > 0:
        g.reshuffled[card] -= 1
    return card


@kernel
def refill(t, g):
    """Fill the empty slots of the display from the left. Return False if the End of Game card was drawn."""
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


@kernel
def filled_slots(g):
    """Return the set of display slots that hold a card (bit = slot)."""
    slots = np.int64(0)
    for slot in range(7):
        slots |= np.int64(g.display[slot] >= 0) << slot
    return slots


@kernel
def slots_above(slot):
    """Return the set of all slots with a higher number."""
    return np.int64(-2) << np.int64(slot)


@kernel
def take_card(t, g, slot):
    """Move the first, second or additional card from the display to the hand, where it is publicly known."""
    seat, colour = g.seat, np.int64(g.display[slot])
    g.display[slot] = -1
    g.hand[seat, colour] += 1
    g.known[seat, colour] += 1
    if g.phase == PHASE_MAIN:
        g.first = slot
        g.phase = PHASE_TAKE
        return
    end_use(g, ANY_CARDS)
    end_use(g, ADDITIONAL_CARD)
    clear_take(g)
    check_limit(t, g)


@kernel
def check_limit(t, g):
    """Enter DISCARD if the acting seat's hand exceeds the hand limit, otherwise END."""
    g.phase = PHASE_DISCARD if hand_size(g, g.seat) > t.hand_limit else PHASE_END


@kernel
def discard(t, g, colour):
    """DISCARD: discard one card and check the hand limit again."""
    play_card_face_up(g, g.seat, colour)
    g.last_discard = colour
    check_limit(t, g)

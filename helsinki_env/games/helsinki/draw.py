"""Draw pile, display and drawing of cards (rules page, section 3, "Drawing", and section 4)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.overloads import OverloadedKernel
from helsinki_env.engine.rng import list_cards, random_below, shuffle
from helsinki_env.games.helsinki.state import UNSEEN


@kernel
def _hand_size(t, g, seat):
    cards = np.int64(0)
    for card in range(t.types):
        cards += g.hand[seat, card]
    return cards


@kernel
def _discard_size(t, g):
    cards = np.int64(0)
    for card in range(t.types):
        cards += g.discard[card]
    return cards


hand_size = OverloadedKernel("hand_size", _hand_size)
"""`hand_size(t, g, seat)`: number of cards in a hand."""

discard_size = OverloadedKernel("discard_size", _discard_size)
"""`discard_size(t, g)`: number of cards in the discard pile."""


@kernel
def reshuffle(t, g):
    """Shuffle the discard pile into a new draw pile, whose composition is public (section 4)."""
    size = list_cards(g.discard, t.types, g.pile)
    for card in range(t.types):
        g.reshuffled[card] = g.discard[card]
        g.discard[card] = 0
    g.unseen[:] = -1
    g.pile_size = size
    shuffle(g, g.pile, size)


@kernel
def take_from_pile(t, g):
    """Take the next card of the draw pile, or -1 if none is left. The last card starts the last round (section 4)."""
    if g.pile_size == 0:
        if discard_size(t, g) == 0:
            return np.int64(-1)
        reshuffle(t, g)
    g.pile_size -= 1
    card = np.int64(g.pile[g.pile_size])
    g.pile[g.pile_size] = 0
    if g.pile_size == 0:
        g.last_round = 1
    return card


@kernel
def is_reshuffled(t, g):
    """Return whether the draw pile was reshuffled from the discard pile."""
    for card in range(t.types):
        if g.reshuffled[card]:
            return True
    return False


@kernel
def draw_unseen(t, g, seat):
    """Draw a card from the draw pile into a hand; only this seat sees it.

    From a reshuffled pile, a seat draws at most `UNSEEN` cards face down; any additional cards are shown to all
    players.
    """
    card = take_from_pile(t, g)
    if card < 0:
        return
    g.hand[seat, card] += 1
    if is_reshuffled(t, g):
        for slot in range(UNSEEN):
            if g.unseen[seat, slot] < 0:
                g.unseen[seat, slot] = card
                return
        g.known[seat, card] += 1
        _seen_to_leave(g, card)


@kernel
def removable(t, cards, size):
    """Return how many of the first `size` cards could be the card removed unseen with two players."""
    candidates = np.int64(0)
    for at in range(size):
        candidates += t.number[cards[at]] == t.removed_number
    return candidates


@kernel
def draw_removable(t, g, cards, size):
    """With two players, draw the card that is removed unseen; return its index, or -1 if there is none (section 1)."""
    chosen = random_below(g, removable(t, cards, size))
    for at in range(size):
        if t.number[cards[at]] == t.removed_number:
            if chosen == 0:
                return at
            chosen -= 1
    return -1


@kernel
def _seen_to_leave(g, card):
    """Record that a card visibly left a reshuffled pile; records from other sources may list fewer cards."""
    if g.reshuffled[card] > 0:
        g.reshuffled[card] -= 1


@kernel
def refill(t, g, slot):
    """Put the next card of the draw pile face up into a display slot."""
    card = take_from_pile(t, g)
    g.display[slot] = card
    if card >= 0:
        _seen_to_leave(g, card)


@kernel
def draw_cards(t, g, seat, extra):
    """Take the two cards next to the token, refill their slots, then draw `extra` more cards (section 3, Drawing).

    The lower slot is refilled first.
    """
    token = np.int64(g.token[seat])
    before, after = (token + 7) % 8, token
    for slot in (min(before, after), max(before, after)):
        card = np.int64(g.display[slot])
        if card >= 0:
            g.hand[seat, card] += 1
            g.known[seat, card] += 1
            g.display[slot] = -1
    for slot in (min(before, after), max(before, after)):
        refill(t, g, slot)
    for _ in range(extra):
        draw_unseen(t, g, seat)


@kernel
def play_card_face_up(g, seat, card):
    """Play a card from a hand face up; its type's known count decreases by one (section 7)."""
    g.hand[seat, card] -= 1
    if g.known[seat, card] > 0:
        g.known[seat, card] -= 1

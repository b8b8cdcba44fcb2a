"""Taking cards (rules, section 3, "Taking")."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.abilities import end_use
from helsinki_env.games.copenhagen.actions import ADDITIONAL_CARD, ANY_CARDS
from helsinki_env.games.copenhagen.cards import hand_size, play_card_face_up
from helsinki_env.games.copenhagen.deal import clear_take
from helsinki_env.games.copenhagen.state import PHASE_DISCARD, PHASE_END, PHASE_MAIN, PHASE_TAKE


@kernel
def filled_slots(g):
    """Return the set of display slots that hold a card (bit = slot)."""
    slots = np.int64(0)
    for slot in range(7):
        slots |= np.int64(g.display[slot] >= 0) << slot
    return slots


@kernel
def slots_above(slot):
    """Return the set of slots above a slot."""
    return np.int64(-2) << np.int64(slot)


@kernel
def take_card(t, g, slot):
    """Move a card from the display to the hand, publicly: the first of two, the second, or an additional one."""
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
    """Hand limit: start discarding if the hand exceeds it."""
    g.phase = PHASE_DISCARD if hand_size(g, g.seat) > t.hand_limit else PHASE_END


@kernel
def discard(t, g, colour):
    """Hand limit: discard one card."""
    play_card_face_up(g, g.seat, colour)
    g.last_discard = colour
    check_limit(t, g)

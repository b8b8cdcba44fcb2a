"""Hidden cards dealt anew, consistent with all that a seat knows: for search that must not look at other hands.

A copy made by `redeal` differs from the game only in what its viewer cannot see (rules page, section 7): the cards in
other hands beyond those that everybody saw being taken, the order of the draw pile, which card was removed unseen with
two players, and the random word, so that no later shuffle is known in advance. The viewer's observation of the copy is
the same byte for byte. Every arrangement of the hidden cards that the rules and the observation allow can come up, each
as likely as the cards alone make it: what other seats' decisions give away about their hands is not weighed.

    >>> from helsinki_env import Game, redeal
    >>> game = Game(seed=3)
    >>> game.step(0)
    >>> copy = redeal.redeal(game, viewer=0, seed=1)
    >>> bool((copy.observation(0) == game.observation(0)).all()), copy == game
    (True, False)

What is known
-------------
- While the draw pile is the first one, the hidden cards are the deck less everything in view.
- A draw pile made from the discard pile is known by its composition (`reshuffled`, less what all have seen leave it):
  it consists of the pile as it is now and of the cards that seats have drawn from it unseen (`unseen`; the viewer knows
  its own). A card that another seat drew so is in that seat's hand, or has been shown since and is in view.
- Another seat that is just paying, discarding or bound to build can go on: it holds the cards for that.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import contract
from helsinki_env.engine.draws import draw_card
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import below
from helsinki_env.games.helsinki.build import hand_by_colour
from helsinki_env.games.helsinki.state import DECK, LAYOUTS, PHASE_DISCARD, PHASE_PAY, SEATS, UNSEEN, WIDE

__all__ = ["SCRATCH", "redeal_game"]

#: How often the cards are dealt before giving up. Even the rarest hand that can pay comes up in one of 10^6 deals.
_TRIES = 20_000_000

SCRATCH = np.dtype(
    (
        np.record,
        [
            ("unknown", np.int64, (WIDE,)),  # cards whose place the viewer does not know, by type
            ("pile", np.int64, (WIDE,)),  # those of a reshuffled pile
            ("due", np.int64, (WIDE,)),  # those of them that other seats must have drawn
            ("draws", np.int64),  # how many of them other seats drew
            ("shown", np.int64, (WIDE,)),  # cards that have been shown since the reshuffle
            ("drawn", np.int64, (WIDE,)),  # cards that other seats draw from it unseen, in this deal
            ("hidden", np.int64, (SEATS,)),  # cards in other hands that their seats alone have seen
            ("cards", np.int8, (DECK,)),
            ("pool", np.int8, (DECK,)),
        ],
    )
)


@kernel
def _look(t, g, viewer, s):
    """Section 7: the cards that the viewer cannot place, and how many each other hand holds of them.

    Return whether they add up to what is hidden: hands, draw pile and, with two players, the removed card.
    """
    for card in range(t.types):
        s.shown[card] = g.discard[card]
    if g.card >= 0:
        s.shown[g.card] += 1
    for i in range(g.paid_count):
        s.shown[g.paid[i]] += 1
    s.hidden[:] = 0
    for card in range(t.types):
        unknown = np.int64(t.deck[g.players, card]) - s.shown[card]
        for seat in range(g.players):
            if seat == viewer:
                unknown -= g.hand[seat, card]
            else:
                unknown -= g.known[seat, card]
                s.hidden[seat] += np.int64(g.hand[seat, card]) - g.known[seat, card]
        s.unknown[card] = unknown
    for slot in range(8):
        if g.display[slot] >= 0:
            s.unknown[g.display[slot]] -= 1
    total = np.int64(g.pile_size) + (g.players == 2)
    for seat in range(g.players):
        total += s.hidden[seat]
    for card in range(t.types):
        if s.unknown[card] < 0:
            return False
        total -= s.unknown[card]
    return total == 0


@kernel
def _removable(t, cards, size):
    """How many of the cards may be the one that was removed unseen."""
    candidates = 0
    for i in range(size):
        candidates += t.number[cards[i]] == t.removed_number
    return candidates


@kernel
def _remove(t, g, cards, size):
    """Section 1: with two players one card of a number was removed: draw it and move it to the end."""
    chosen = below(g, _removable(t, cards, size))  # there is one: it is not in the game
    for i in range(size):
        if t.number[cards[i]] == t.removed_number:
            if chosen == 0:
                card = cards[i]
                cards[i] = cards[size - 1]
                cards[size - 1] = card
                return
            chosen -= 1


@kernel
def _deal_hands(t, g, viewer, s, cards, size):
    """Deal hidden cards to the other hands; return how many were dealt."""
    dealt = 0
    for seat in range(g.players):
        if seat != viewer:
            for card in range(t.types):
                g.hand[seat, card] = g.known[seat, card]
            for _ in range(s.hidden[seat]):
                g.hand[seat, draw_card(g, cards, dealt, size)] += 1
                dealt += 1
    return dealt


@kernel
def _can_go_on(t, g, viewer, mask):
    """Section 3, No dead ends: another seat that is paying, discarding or bound to build can complete it."""
    if g.seat == viewer or not (g.phase == PHASE_PAY or g.phase == PHASE_DISCARD or g.only_build):
        return True
    if g.substitute:  # the mask asks for the card of another colour alone
        same, wild, _ = hand_by_colour(t, g, g.seat, np.int64(t.colour[g.card]))
        if same + wild < g.to_pay - 1:
            return False
    write_mask(t, g, mask)
    return np.any(mask)


@kernel
def _deal_first_pile(t, g, viewer, s):
    """The draw pile is the first one: removed card, hands and pile come from the same cards."""
    size = 0
    for card in range(t.types):
        for _ in range(s.unknown[card]):
            s.cards[size] = card
            size += 1
    if g.players == 2:
        _remove(t, g, s.cards, size)
        size -= 1
    dealt = _deal_hands(t, g, viewer, s, s.cards, size)
    for place in range(g.pile_size):
        g.pile[place] = draw_card(g, s.cards, dealt + place, size)
    return True


@kernel
def _look_at_pile(t, g, viewer, s):
    """Section 4: the cards of a reshuffled pile that the viewer cannot place, and those that must have been drawn.

    Of each type at least as many were drawn unseen as the unknown cards cannot provide. Return whether it adds up.
    """
    for card in range(t.types):
        s.pile[card] = g.reshuffled[card]
    s.draws = 0
    for seat in range(g.players):
        for slot in range(UNSEEN):
            if g.unseen[seat, slot] >= 0:
                if seat == viewer:
                    s.pile[g.unseen[seat, slot]] -= 1
                else:
                    s.draws += 1
    total, due = np.int64(0), np.int64(0)
    for card in range(t.types):
        if s.pile[card] < 0:
            return False
        total += s.pile[card]
        s.due[card] = max(np.int64(0), s.pile[card] - s.unknown[card])
        due += s.due[card]
    return total == g.pile_size + s.draws and due <= s.draws


@kernel
def _draw_unseen_cards(t, g, s):
    """Split a reshuffled pile into the cards that other seats drew from it unseen and the pile as it is now.

    What must have been drawn is taken first and the others are drawn from the rest. That finds a set with d cards of a
    type, of which e had to be, in C(d, e) ways too many; so only one in so many of those is accepted.
    """
    size, due = 0, 0
    for card in range(t.types):
        s.drawn[card] = s.due[card]
        due += s.due[card]
        for _ in range(s.pile[card] - s.due[card]):
            s.cards[size] = card
            size += 1
    for i in range(s.draws - due):
        s.drawn[draw_card(g, s.cards, i, size)] += 1
    for place in range(g.pile_size):
        g.pile[place] = draw_card(g, s.cards, s.draws - due + place, size)
    ways = 1
    for card in range(t.types):
        for i in range(s.due[card]):
            ways = ways * (s.drawn[card] - i) // (i + 1)
    return ways == 1 or below(g, ways) == 0


@kernel
def _hand_out_unseen(t, g, viewer, s):
    """Say which seat drew which of the unseen cards; each is in that hand, or has been shown since."""
    size = 0
    for card in range(t.types):
        for _ in range(s.drawn[card]):
            s.cards[size] = card
            size += 1
    at = 0
    for seat in range(g.players):
        if seat == viewer:
            continue
        for slot in range(UNSEEN):
            if g.unseen[seat, slot] >= 0:
                g.unseen[seat, slot] = draw_card(g, s.cards, at, size)
                at += 1
    for i in range(size):
        card = s.cards[i]
        missing = np.int64(0)
        for seat in range(g.players):
            if seat != viewer:
                drawn = np.int64(0)
                for slot in range(UNSEEN):
                    drawn += g.unseen[seat, slot] == card
                missing += max(np.int64(0), drawn - (np.int64(g.hand[seat, card]) - g.known[seat, card]))
        if missing > s.shown[card]:
            return False
    return True


@kernel
def _deal_reshuffled_pile(t, g, viewer, s):
    """The draw pile was made from the discard pile: its cards are known apart from those drawn unseen."""
    if not _draw_unseen_cards(t, g, s):
        return False
    size, removable = 0, np.int64(0)
    for card in range(t.types):
        removable += s.unknown[card] * (t.number[card] == t.removed_number)
        for _ in range(s.unknown[card] - (s.pile[card] - s.drawn[card])):
            s.pool[size] = card
            size += 1
    if g.players == 2:
        # A split that leaves more cards which may be the removed one goes with more deals.
        if below(g, removable) >= _removable(t, s.pool, size):
            return False
        _remove(t, g, s.pool, size)
        size -= 1
    _deal_hands(t, g, viewer, s, s.pool, size)
    return _hand_out_unseen(t, g, viewer, s)


@kernel
def redeal_game(t, g, viewer, word, s, mask):
    """Deal what `viewer` cannot see anew, by a random word of its own; return whether a deal was found.

    `s`: scratch of dtype `SCRATCH`; `mask`: scratch, int8 (ids,).
    """
    g.chance = word
    if not _look(t, g, viewer, s):
        return False
    reshuffled = False
    for card in range(t.types):
        if g.reshuffled[card] > 0:
            reshuffled = True
    if reshuffled and not _look_at_pile(t, g, viewer, s):
        return False
    for _ in range(_TRIES):
        if reshuffled:
            dealt = _deal_reshuffled_pile(t, g, viewer, s)
        else:
            dealt = _deal_first_pile(t, g, viewer, s)
        if dealt and _can_go_on(t, g, viewer, mask):
            return True
    return False


for _layout in LAYOUTS:
    contract.redeal.belongs_to(_layout, redeal_game)

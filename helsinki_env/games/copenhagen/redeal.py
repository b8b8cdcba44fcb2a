"""Hidden cards dealt anew, consistent with all that a seat knows: for search that must not look at other hands.

A copy made by `redeal` differs from the game only in what its viewer cannot see (rules, section 5): the cards in other
hands beyond those taken from the display, the order of the draw pile, where in it the End of Game card lies, and the
random word, so that no later shuffle is known in advance. The viewer's observation of the copy is the same byte for
byte.

    >>> from helsinki_env.engine.hidden import redeal
    >>> from helsinki_env.games.copenhagen.game import Game
    >>> game = Game(seed=3)
    >>> game.step(0)
    >>> copy = redeal(game, viewer=0, seed=1)
    >>> bool((copy.observation(0) == game.observation(0)).all()), copy == game
    (True, False)

The distribution
----------------
Deals are drawn uniformly from those that fit the observation, where cards of the same colour are told apart. In full:

- *Hidden cards.* The hidden hand of another seat is as many cards as its hand exceeds those that all know to be in it.
  Until the draw pile is made from the discard pile, the cards in no place that the viewer sees are shared out among the
  hidden hands and the draw pile, each arrangement being equally likely. Afterwards the draw pile holds what all know to
  be in it, in an order drawn uniformly, and the other unseen cards are shared out among the hidden hands likewise.
- *The End of Game card.* Whether it is in the draw pile is public. It was put beneath 0 to 9 cards (or all, if there
  were fewer), each equally likely, whatever these cards are; so long as it has not come up, all that is known besides
  is that no more cards lie beneath it than there are. So in a draw pile of n other cards it lies beneath 0 to
  min(n, 9) of them, each equally likely and independent of all else.
- *What must be possible.* If another seat is in the middle of a turn, the deal is one of those with which it can
  complete it: pay the tile that it has begun, a recoloured card included, discard in order, build after
  `both_actions`; and in phase END, which is skipped otherwise, has an ability to use. Deals are drawn until one
  does; among those that do, all stay equally likely.

What a seat's earlier decisions give away about its hand is not weighed, and an observation has no memory of them.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import contract
from helsinki_env.engine.draws import draw_card
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import below
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.legal import legal_uses
from helsinki_env.games.copenhagen.state import (
    END_CARD,
    GAME,
    PHASE_COAT,
    PHASE_END,
    PHASE_MAIN,
    PHASE_TAKE,
    PILE,
    SEATS,
)

__all__ = ["SCRATCH", "redeal_game"]

#: How often a hand is dealt before giving up. Even the rarest that can pay for a tile comes up in one of 10^6 deals.
_TRIES = 20_000_000

SCRATCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("unknown", np.int64, (5,)),  # cards by colour in hidden hands, or in a first draw pile
                ("hidden", np.int64, (SEATS,)),  # cards in other hands that their seats alone have seen
                ("cards", np.int8, (PILE,)),
            ],
            align=True,
        ),
    )
)


@kernel
def _is_made_anew(g):
    """Section 3, End of the turn: whether the draw pile was made from the discard pile, so that all know its cards."""
    return g.players > 2 and g.end_card != 0


@kernel
def _look(t, g, viewer, s):
    """Section 5: the cards that the viewer cannot place, and how many each other hand holds of them.

    Return whether they add up to what is hidden: hands and draw pile.
    """
    s.hidden[:] = 0
    pile, told, total = np.int64(g.pile_size) - g.end_card, np.int64(0), np.int64(0)
    for colour in range(5):
        unknown = np.int64(t.cards[g.players]) - g.discard[colour] - g.reshuffled[colour]
        for seat in range(g.players):
            if seat == viewer:
                unknown -= g.hand[seat, colour]
            else:
                unknown -= g.known[seat, colour]
                s.hidden[seat] += np.int64(g.hand[seat, colour]) - g.known[seat, colour]
        for slot in range(7):
            unknown -= g.display[slot] == colour
        if unknown < 0:
            return False
        s.unknown[colour] = unknown
        told += g.reshuffled[colour]
        total += unknown
    for seat in range(g.players):
        if s.hidden[seat] < 0:
            return False
        total -= s.hidden[seat]
    if _is_made_anew(g):
        return total == 0 and told == pile
    return total == pile and told == 0


@kernel
def _deal_hand(g, s, seat, dealt, size):
    """Deal its hidden cards to a seat; return how many have been dealt to all then."""
    for colour in range(5):
        g.hand[seat, colour] = g.known[seat, colour]
    for i in range(s.hidden[seat]):
        g.hand[seat, draw_card(g, s.cards, dealt + i, size)] += 1
    return dealt + s.hidden[seat]


@kernel
def _can_go_on(t, g, mask):
    """Section 3: whether the seat to move can complete what it has begun; in phase END it has an ability to use."""
    phase, seat = g.phase, g.seat
    if phase == PHASE_TAKE or phase == PHASE_COAT:
        return True
    if phase == PHASE_MAIN and (np.int64(g.using) >> a.BOTH_ACTIONS) & 1 == 0:
        return True
    if phase == PHASE_END:
        return legal_uses(t, g) != 0
    # The mask takes it for granted that the colour was chosen with a card of it in hand.
    if g.recolour >= 0 and g.paid[g.recolour] == 0 and g.hand[seat, g.recolour] == 0:
        return False
    write_mask(t, g, mask)
    return np.any(mask)


@kernel
def _deal_hand_in_turn(t, g, s, size, mask):
    """Deal the seat to move a hand with which it can go on; return whether one was found."""
    tries = _TRIES if s.hidden[g.seat] > 0 else 1
    for _ in range(tries):
        _deal_hand(g, s, g.seat, 0, size)
        if _can_go_on(t, g, mask):
            return True
    return False


@kernel
def _spread(counts, cards):
    """Write down cards one by one, given how many there are by colour; return their number."""
    size = np.int64(0)
    for colour in range(5):
        for _ in range(counts[colour]):
            cards[size] = colour
            size += 1
    return size


@kernel
def _deal_pile(t, g, cards, dealt, size):
    """Deal the cards from place `dealt` on to the draw pile, and put the End of Game card where it may still lie."""
    others = np.int64(g.pile_size) - g.end_card
    beneath = others + 1
    if g.end_card:
        beneath = below(g, min(others, t.last_cards - 1) + 1)
    for place in range(g.pile_size):
        if place == beneath:
            g.pile[place] = END_CARD
        else:
            g.pile[place] = draw_card(g, cards, dealt, size)
            dealt += 1


@kernel
def redeal_game(t, g, viewer, word, s, mask):
    """Deal what `viewer` cannot see anew, by a random word of its own; return whether a deal was found.

    `s`: scratch of dtype `SCRATCH`; `mask`: scratch, int8 (459,).
    """
    g.chance = word
    if not _look(t, g, viewer, s):
        return False
    size, dealt = _spread(s.unknown, s.cards), np.int64(0)
    bound = g.seat != viewer and g.done == 0
    if bound:
        if not _deal_hand_in_turn(t, g, s, size, mask):
            return False
        dealt = np.int64(s.hidden[g.seat])
    for seat in range(g.players):
        if seat != viewer and not (bound and seat == g.seat):
            dealt = _deal_hand(g, s, seat, dealt, size)
    if _is_made_anew(g):
        size, dealt = _spread(g.reshuffled, s.cards), np.int64(0)
    _deal_pile(t, g, s.cards, dealt, size)
    return True


contract.redeal.belongs_to(GAME, redeal_game)

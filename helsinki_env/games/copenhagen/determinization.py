"""Determinization: sample hidden cards consistent with a seat's observation, for search without hidden information.

A copy made by `determinize` differs from the game only in what its viewer cannot see (rules, section 5):

- the cards in other hands, except those taken from the display;
- the order of the draw pile, including the End of Game card;
- the random key, so that no later shuffle is known in advance.

The viewer's observation of the copy is identical byte for byte.

    >>> from helsinki_env.engine.determinization import determinize
    >>> from helsinki_env.games.copenhagen.game import CopenhagenGame
    >>> game = CopenhagenGame(seed=3)
    >>> game.step(0)
    >>> copy = determinize(game, viewer=0, seed=1)
    >>> bool((copy.observation(0) == game.observation(0)).all()), copy == game
    (True, False)

The distribution
----------------
Deals are drawn uniformly from those that match the observation, with cards of the same color considered distinct:

- *Hidden cards.* Each other seat's hidden hand consists of its cards beyond those publicly known. Until the draw pile
  is made from the discard pile, cards that the viewer cannot locate are distributed uniformly over hidden hands and
  draw pile. Afterwards, the draw pile holds its publicly known cards in a uniformly random order. The other unseen
  cards are then distributed uniformly over the hidden hands.
- *The End of Game card.* Whether it is in the draw pile is public. It was inserted beneath 0 to 9 cards (or all, if
  there were fewer), each equally likely, independent of these cards. Until it is drawn, the only other constraint is
  the number of cards left. In a draw pile of n other cards it is beneath 0 to min(n, 9) of them, each equally likely
  and independent of the rest.
- *Constraints of the current turn.* If another seat is in the middle of a turn, it must be able to complete it: pay for
  its tile, including a recolored card, discard in order, or build after `both_actions`. In phase END, which is
  otherwise skipped, it must have an ability to use. Deals are sampled by rejection, so all valid ones stay equally
  likely.

Inferences from a seat's earlier actions are not weighted, because an observation does not record them.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import contract
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import draw_card, list_cards, random_below
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.legal import legal_uses
from helsinki_env.games.copenhagen.state import (
    END_CARD,
    GAME,
    MAX_SEATS,
    PHASE_COAT,
    PHASE_END,
    PHASE_MAIN,
    PHASE_TAKE,
    PILE,
)

__all__ = ["SCRATCH", "determinize_state"]

#: Maximum number of attempts to deal a hand. Even the rarest hand that can pay for a tile occurs once in 10^6 deals.
_TRIES = 20_000_000

SCRATCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("unknown", np.int64, (5,)),  # cards by color in hidden hands, or in a first draw pile
                ("hidden", np.int64, (MAX_SEATS,)),  # cards in other hands that only their seats have seen
                ("cards", np.int8, (PILE,)),
            ],
            align=True,
        ),
    )
)


@kernel
def _is_reshuffled(g):
    """Section 3, End of the turn: return whether the draw pile is a reshuffled discard pile with public contents."""
    return g.players > 2 and g.end_card != 0


@kernel
def _look(t, g, viewer, s):
    """Section 5: count the cards that the viewer cannot locate, and the hidden cards of each other hand.

    Return whether their total matches the hidden hands and draw pile.
    """
    s.hidden[:] = 0
    pile, known_cards, total = np.int64(g.pile_size) - g.end_card, np.int64(0), np.int64(0)
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
        known_cards += g.reshuffled[colour]
        total += unknown
    for seat in range(g.players):
        if s.hidden[seat] < 0:
            return False
        total -= s.hidden[seat]
    if _is_reshuffled(g):
        return total == 0 and known_cards == pile
    return total == pile and known_cards == 0


@kernel
def _deal_hand(g, s, seat, dealt, size):
    """Deal a seat's hidden cards; return the total number of cards dealt so far."""
    for colour in range(5):
        g.hand[seat, colour] = g.known[seat, colour]
    for i in range(s.hidden[seat]):
        g.hand[seat, draw_card(g, s.cards, dealt + i, size)] += 1
    return dealt + s.hidden[seat]


@kernel
def _can_complete_turn(t, g, mask):
    """Section 3: return whether the seat to move can complete its operation or, in phase END, use an ability."""
    phase, seat = g.phase, g.seat
    if phase == PHASE_TAKE or phase == PHASE_COAT:
        return True
    if phase == PHASE_MAIN and (np.int64(g.using) >> a.BOTH_ACTIONS) & 1 == 0:
        return True
    if phase == PHASE_END:
        return legal_uses(t, g) != 0
    # The mask assumes that the color was chosen with a card of it in hand.
    if g.recolour >= 0 and g.paid[g.recolour] == 0 and g.hand[seat, g.recolour] == 0:
        return False
    write_mask(t, g, mask)
    return np.any(mask)


@kernel
def _deal_hand_in_turn(t, g, s, size, mask):
    """Deal the seat to move a hand that can complete its turn; return whether one was found."""
    tries = _TRIES if s.hidden[g.seat] > 0 else 1
    for _ in range(tries):
        _deal_hand(g, s, g.seat, 0, size)
        if _can_complete_turn(t, g, mask):
            return True
    return False


@kernel
def _deal_pile(t, g, cards, dealt, size):
    """Deal the cards from index `dealt` on to the draw pile, and insert the End of Game card where it may be."""
    others = np.int64(g.pile_size) - g.end_card
    beneath = others + 1
    if g.end_card:
        beneath = random_below(g, min(others, t.last_cards - 1) + 1)
    for place in range(g.pile_size):
        if place == beneath:
            g.pile[place] = END_CARD
        else:
            g.pile[place] = draw_card(g, cards, dealt, size)
            dealt += 1


@kernel
def determinize_state(t, g, viewer, word, s, mask):
    """Sample what `viewer` cannot see, using `word` as the random key; return whether a deal was found.

    `s`: scratch of dtype `SCRATCH`; `mask`: scratch, int8 (459,).
    """
    g.chance = word
    if not _look(t, g, viewer, s):
        return False
    size, dealt = list_cards(s.unknown, 5, s.cards), np.int64(0)
    bound = g.seat != viewer and g.done == 0
    if bound:
        if not _deal_hand_in_turn(t, g, s, size, mask):
            return False
        dealt = np.int64(s.hidden[g.seat])
    for seat in range(g.players):
        if seat != viewer and not (bound and seat == g.seat):
            dealt = _deal_hand(g, s, seat, dealt, size)
    if _is_reshuffled(g):
        size, dealt = list_cards(g.reshuffled, 5, s.cards), np.int64(0)
    _deal_pile(t, g, s.cards, dealt, size)
    return True


contract.implement(GAME, determinize_state)

"""Determinization for search: sample hidden cards that are consistent with the observation of a seat.

A copy made by `determinize` differs from the game only in information hidden from the viewer (rules, section 5):

- the cards in other hands, except those taken from the display;
- the order of the draw pile, including the position of the End of Game card;
- the random state, so that later shuffles cannot be predicted.

The observation of the viewer is unchanged.

    >>> from helsinki_env.engine.determinization import determinize
    >>> from helsinki_env.games.copenhagen.game import CopenhagenGame
    >>> game = CopenhagenGame(seed=3)
    >>> game.step(0)
    >>> copy = determinize(game, viewer=0, seed=1)
    >>> bool((copy.observation(0) == game.observation(0)).all()), copy == game
    (True, False)

The distribution
----------------
Deals are drawn uniformly from all deals that match the observation. Cards of the same color are treated as distinct.

- *Hidden cards.* The hidden hand of another seat consists of its cards that are not publicly known. Before the discard
  pile is reshuffled, all cards that the viewer cannot locate are distributed uniformly over the hidden hands and the
  draw pile. Afterwards, the draw pile holds its publicly known cards in a uniformly random order, and the remaining
  cards are distributed uniformly over the hidden hands.
- *The End of Game card.* It is public whether this card is in the draw pile. When it was inserted, the number of cards
  below it was drawn uniformly from 0 to 9, or to the pile size if that is smaller. Until the card is drawn, the
  observation adds only the number of cards left. In a draw pile of n other cards, the number of cards below it is
  therefore uniform from 0 to min(n, 9).
- *Constraints of the current turn.* Another seat that is in the middle of its turn must be able to complete it: to pay
  for its tile, including a recolored card, to discard in order, or to build after `both_actions`. In phase END, which
  is otherwise skipped, it must have an ability that it can use. Deals are sampled by rejection, so all valid deals
  remain equally likely.

Earlier actions of other seats do not affect the distribution, because an observation does not record them.
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

#: Maximum number of attempts to deal a hand. Hands that can pay for a tile occur at least once in 10^6 deals.
_TRIES = 20_000_000

SCRATCH = np.dtype(
    (
        np.record,
        np.dtype(
            [
                ("unknown", np.int64, (5,)),  # cards by color in hidden hands and in the first draw pile
                ("hidden", np.int64, (MAX_SEATS,)),  # number of hidden cards in each other hand
                ("cards", np.int8, (PILE,)),
            ],
            align=True,
        ),
    )
)


@kernel
def _is_reshuffled(g):
    """Return whether the draw pile was made from the discard pile, which makes its contents public (section 3)."""
    return g.players > 2 and g.end_card != 0


@kernel
def _look(t, g, viewer, s):
    """Count the cards that the viewer cannot locate, and the hidden cards in every other hand (section 5).

    Return whether these cards exactly fill the hidden hands and the draw pile.
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
    """Deal the hidden cards of a seat, and return the total number of cards dealt so far."""
    for colour in range(5):
        g.hand[seat, colour] = g.known[seat, colour]
    for i in range(s.hidden[seat]):
        g.hand[seat, draw_card(g, s.cards, dealt + i, size)] += 1
    return dealt + s.hidden[seat]


@kernel
def _can_complete_turn(t, g, mask):
    """Return whether the acting seat can complete its operation or, in phase END, use an ability (section 3)."""
    phase, seat = g.phase, g.seat
    if phase == PHASE_TAKE or phase == PHASE_COAT:
        return True
    if phase == PHASE_MAIN and (np.int64(g.using) >> a.BOTH_ACTIONS) & 1 == 0:
        return True
    if phase == PHASE_END:
        return legal_uses(t, g) != 0
    # The mask does not check that the hand had a card of the color when it was chosen.
    if g.recolour >= 0 and g.paid[g.recolour] == 0 and g.hand[seat, g.recolour] == 0:
        return False
    write_mask(t, g, mask)
    return np.any(mask)


@kernel
def _deal_hand_in_turn(t, g, s, size, mask):
    """Deal the acting seat a hand with which it can complete its turn, and return whether one was found."""
    tries = _TRIES if s.hidden[g.seat] > 0 else 1
    for _ in range(tries):
        _deal_hand(g, s, g.seat, 0, size)
        if _can_complete_turn(t, g, mask):
            return True
    return False


@kernel
def _deal_pile(t, g, cards, dealt, size):
    """Deal the cards from index `dealt` onward to the draw pile, with the End of Game card near the bottom."""
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
    """Sample the cards hidden from `viewer` with the random key `word`, and return whether a deal was found.

    `s` is a scratch record of dtype `SCRATCH`, and `mask` is a scratch array, int8 (459,).
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

"""Determinization: sample hidden cards that are consistent with a seat's observation, for search.

A copy made by `determinize` differs from the game only in information hidden from the viewer (rules page, section 7):

- the cards in other hands that were not visibly taken,
- the order of the draw pile,
- the card removed unseen with two players,
- the random state, so that later shuffles cannot be predicted.

The observation of the viewer stays the same. Every arrangement of the hidden cards that is consistent with the rules
and the observation can occur. Its probability does not depend on which actions other seats chose.

    >>> from helsinki_env import HelsinkiGame
    >>> from helsinki_env.engine.determinization import determinize
    >>> game = HelsinkiGame(seed=3)
    >>> game.step(0)
    >>> copy = determinize(game, viewer=0, seed=1)
    >>> bool((copy.observation(0) == game.observation(0)).all()), copy == game
    (True, False)

Known information
-----------------
- Before the first reshuffle, the hidden cards are the cards of the deck that are not visible.
- The composition of a reshuffled draw pile is known (`reshuffled`, without the cards that visibly left it). It consists
  of the current pile and the cards that seats drew from it face down (`unseen`; the viewer knows its own draws). A card
  that another seat drew face down is in its hand, or was shown later and is visible.
- If another seat is paying, discarding or committed to a build, it holds the required cards.
"""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import contract
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import draw_card, list_cards, random_below
from helsinki_env.games.helsinki.build import hand_by_color
from helsinki_env.games.helsinki.draw import draw_removable, is_reshuffled, removable
from helsinki_env.games.helsinki.state import DECK, LAYOUTS, MAX_SEATS, PHASE_DISCARD, PHASE_PAY, UNSEEN, WIDE

#: Maximum number of attempts. The rarest hand that can pay occurs about once in 10^6 attempts.
_TRIES = 20_000_000

SCRATCH = np.dtype(
    (
        np.record,
        [
            ("unknown", np.int64, (WIDE,)),  # cards that the viewer cannot locate, by type
            ("pile", np.int64, (WIDE,)),  # cards of a reshuffled pile
            ("due", np.int64, (WIDE,)),  # pile cards that other seats must have drawn
            ("rest", np.int64, (WIDE,)),  # remaining cards by type
            ("draws", np.int64),  # number of pile cards that other seats drew
            ("shown", np.int64, (WIDE,)),  # cards shown since the reshuffle
            ("drawn", np.int64, (WIDE,)),  # pile cards that other seats drew face down, in this sample
            ("hidden", np.int64, (MAX_SEATS,)),  # number of cards in other hands that only their seats have seen
            ("cards", np.int8, (DECK,)),
            ("pool", np.int8, (DECK,)),
        ],
    )
)


@kernel
def _look(t, g, viewer, s):
    """Count the cards that the viewer cannot locate, in total by type and in each other hand (section 7).

    Return whether these cards exactly fill the hands, the draw pile and, with two players, the place of the removed
    card.
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
def _remove(t, g, cards, size):
    """With two players, draw the removed card at random and swap it with the last card (section 1)."""
    removed = draw_removable(t, g, cards, size)
    card = cards[removed]
    cards[removed] = cards[size - 1]
    cards[size - 1] = card


@kernel
def _deal_hands(t, g, viewer, s, cards, size):
    """Deal hidden cards to the other hands; return the number of cards dealt."""
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
def _can_complete_turn(t, g, viewer, mask):
    """Return whether another acting seat can complete its payment, discards or build (section 3, No dead ends)."""
    if g.seat == viewer or not (g.phase == PHASE_PAY or g.phase == PHASE_DISCARD or g.only_build):
        return True
    if g.substitute:  # the mask checks only the card of another color, not the cards due after it
        same, wild, _ = hand_by_color(t, g, g.seat, np.int64(t.colour[g.card]))
        if same + wild < g.to_pay - 1:
            return False
    write_mask(t, g, mask)
    return np.any(mask)


@kernel
def _deal_first_pile(t, g, viewer, s):
    """Sample the removed card, the hands and the pile from one set of cards, before the first reshuffle."""
    size = list_cards(s.unknown, t.types, s.cards)
    if g.players == 2:
        _remove(t, g, s.cards, size)
        size -= 1
    dealt = _deal_hands(t, g, viewer, s, s.cards, size)
    for place in range(g.pile_size):
        g.pile[place] = draw_card(g, s.cards, dealt + place, size)
    return True


@kernel
def _look_at_pile(t, g, viewer, s):
    """Count the unlocated cards of a reshuffled pile, and those that must have been drawn from it (section 4).

    If a pile had more cards of a type than are now unlocated, the excess must have been drawn. Return whether the
    counts match.
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
def _ways_to_choose(count, size):
    """Return the number of ways to choose `count` of `size` cards."""
    ways = np.int64(1)
    for i in range(count):
        ways = ways * (size - i) // (i + 1)
    return ways


@kernel
def _draw_unseen_cards(t, g, s):
    """Split a reshuffled pile into the cards that other seats drew face down and the current pile.

    All sets of `s.draws` pile cards that contain the due cards of each type must be equally likely. The proposal takes
    the due cards and draws the others from the rest. For a type with p pile cards, e of them due, it draws d cards in
    C(p - e, d - e) instead of C(p, d) ways. The ratio is C(d, e) / C(p, e), and p and e are constant. To correct for
    it, a proposal is accepted with probability 1 / C(d, e) for each type. Return whether it is accepted.
    """
    due = np.int64(0)
    for card in range(t.types):
        s.drawn[card] = s.due[card]
        s.rest[card] = s.pile[card] - s.due[card]
        due += s.due[card]
    size, others = list_cards(s.rest, t.types, s.cards), s.draws - due
    for i in range(others):
        s.drawn[draw_card(g, s.cards, i, size)] += 1
    for place in range(g.pile_size):
        g.pile[place] = draw_card(g, s.cards, others + place, size)
    ways = np.int64(1)
    for card in range(t.types):
        ways *= _ways_to_choose(s.due[card], s.drawn[card])
    return ways == 1 or random_below(g, ways) == 0


@kernel
def _draws_not_in_hand(g, viewer, card):
    """Return how many cards of a type that other seats drew face down are no longer hidden in their hands."""
    missing = np.int64(0)
    for seat in range(g.players):
        if seat != viewer:
            drawn = np.int64(0)
            for slot in range(UNSEEN):
                drawn += g.unseen[seat, slot] == card
            hidden = np.int64(g.hand[seat, card]) - g.known[seat, card]
            missing += max(np.int64(0), drawn - hidden)
    return missing


@kernel
def _hand_out_unseen(t, g, viewer, s):
    """Assign the face-down draws to the other seats in random order.

    All orders are equally likely. Return whether this order fits the hands: a card that is no longer hidden in its
    seat's hand must have been shown since the reshuffle.
    """
    size, at = list_cards(s.drawn, t.types, s.cards), np.int64(0)
    for seat in range(g.players):
        for slot in range(UNSEEN):
            if seat != viewer and g.unseen[seat, slot] >= 0:
                g.unseen[seat, slot] = draw_card(g, s.cards, at, size)
                at += 1
    for i in range(size):
        if _draws_not_in_hand(g, viewer, s.cards[i]) > s.shown[s.cards[i]]:
            return False
    return True


@kernel
def _deal_reshuffled_pile(t, g, viewer, s):
    """Sample the hands and the pile after a reshuffle, when all pile cards are known except for face-down draws."""
    if not _draw_unseen_cards(t, g, s):
        return False
    candidates = np.int64(0)
    for card in range(t.types):
        candidates += s.unknown[card] * (t.number[card] == t.removed_number)
        s.rest[card] = s.unknown[card] - (s.pile[card] - s.drawn[card])
    size = list_cards(s.rest, t.types, s.pool)
    if g.players == 2:
        # Rejection sampling: the number of deals for a split is proportional to its number of removable cards.
        if random_below(g, candidates) >= removable(t, s.pool, size):
            return False
        _remove(t, g, s.pool, size)
        size -= 1
    _deal_hands(t, g, viewer, s, s.pool, size)
    return _hand_out_unseen(t, g, viewer, s)


@kernel
def determinize_state(t, g, viewer, word, s, mask):
    """Sample the cards hidden from `viewer` with the random key `word`; return whether a consistent deal was found.

    `s` is a scratch record of dtype `SCRATCH`, and `mask` is a scratch array, int8 (ids,).
    """
    g.chance = word
    if not _look(t, g, viewer, s):
        return False
    reshuffled = is_reshuffled(t, g)
    if reshuffled and not _look_at_pile(t, g, viewer, s):
        return False
    for _ in range(_TRIES):
        if reshuffled:
            dealt = _deal_reshuffled_pile(t, g, viewer, s)
        else:
            dealt = _deal_first_pile(t, g, viewer, s)
        if dealt and _can_complete_turn(t, g, viewer, mask):
            return True
    return False


for _layout in LAYOUTS:
    contract.implement(_layout, determinize_state)

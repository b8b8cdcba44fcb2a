"""The deal, the effects of actions, and the end of a turn and of the game (rules page, sections 2, 3 and 5)."""

from __future__ import annotations

import numpy as np

from helsinki_env.engine import contract
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import list_cards, shuffle
from helsinki_env.games.helsinki import actions as a
from helsinki_env.games.helsinki import observation, simd  # noqa: F401  # registers kernels
from helsinki_env.games.helsinki.build import begin_build, pay, place
from helsinki_env.games.helsinki.coats import lift, place_wild, roof, use
from helsinki_env.games.helsinki.draw import (
    draw_cards,
    draw_removable,
    draw_unseen,
    hand_size,
    play_card_face_up,
    refill,
)
from helsinki_env.games.helsinki.legal import legal_uses, mark_legal
from helsinki_env.games.helsinki.score import rank_of, score
from helsinki_env.games.helsinki.state import LAYOUTS, PHASE_DISCARD, PHASE_END, PHASE_MAIN, PHASE_MOVE, RECORD

_clear, copy_setup, end_turn_fields = RECORD.clear, RECORD.copy_setup, RECORD.clear_pending()


@kernel
def _remove_unseen(t, g, size):
    """With two players, remove one random card with a given number, unseen by all players (section 1)."""
    for at in range(draw_removable(t, g, g.pile, size), size - 1):
        g.pile[at] = g.pile[at + 1]
    g.pile[size - 1] = 0


@kernel
def deal(t, g, word):
    """Shuffle the deck for this number of players, fill the display and enter START (section 2.1)."""
    _clear(g)
    g.chance = word
    g.round_number = 1
    for kind in range(20):
        g.supply[kind] = t.supply[kind]
    for seat in range(g.players):
        g.built[seat] = t.statue
        g.coats[seat] = 255
    g.wild_supply = t.wild_tiles
    g.superstructure_supply = t.superstructures
    g.bonus_cards = (1 << g.players) - 1 if g.dry_roads else 0
    size = list_cards(t.deck[g.players], t.types, g.pile)
    if g.players == 2:
        _remove_unseen(t, g, size)
        size -= 1
    shuffle(g, g.pile, size)
    g.pile_size = size
    for slot in range(8):
        refill(t, g, slot)


@kernel
def start(t, g, space):
    """Put a token on every other space and let each player draw two cards (sections 2.2 and 2.3)."""
    for seat in range(g.players):
        g.token[seat] = (space + 2 * seat) % 8
        for _ in range(2):
            draw_unseen(t, g, seat)


@kernel
def move(g, steps):
    """Move clockwise, then enter MAIN (section 3, MOVE)."""
    seat = g.seat
    g.token[seat] = (np.int64(g.token[seat]) + steps) % 8
    g.move = 0
    g.phase = PHASE_MAIN


@kernel
def after_drawing(t, g):
    """Enter DISCARD if the hand exceeds the limit and it is not lifted, otherwise END (section 3, Hand limit)."""
    if hand_size(t, g, g.seat) > t.hand_limit and not g.limit_lifted[g.seat]:
        g.phase = PHASE_DISCARD
        g.last_discard = -1
    else:
        g.phase = PHASE_END


@kernel
def discard(t, g, card):
    """Discard one card, and leave DISCARD once the hand is within the limit (section 3, Hand limit)."""
    play_card_face_up(g, g.seat, card)
    g.discard[card] += 1
    g.last_discard = card
    if hand_size(t, g, g.seat) > t.hand_limit:
        return
    g.last_discard = -1
    if g.turn_over:
        pass_turn(g)
    else:
        g.phase = PHASE_END


@kernel
def end(t, g):
    """Pass the turn. If the hand limit applies again, excess cards are discarded first (section 3, END)."""
    seat = g.seat
    if g.limit_lifted[seat] and not g.lifted_now:
        g.limit_lifted[seat] = 0
        if hand_size(t, g, seat) > t.hand_limit:
            g.turn_over = 1
            g.phase = PHASE_DISCARD
            g.last_discard = -1
            return
    pass_turn(g)


@kernel
def pass_turn(g):
    """Pass the turn, or end the game after the last player of the last round (sections 3 and 5)."""
    end_turn_fields(g)
    if g.seat + 1 < g.players:
        g.seat += 1
        g.phase = PHASE_MOVE
    elif g.last_round:
        g.done = 1
        g.phase = PHASE_END
        g.reshuffled[:] = 0  # a finished game has no reshuffled pile
        g.unseen[:] = -1
    else:
        g.seat = 0
        g.round_number += 1
        g.phase = PHASE_MOVE


@kernel
def apply_action(t, g, action):
    """Apply a legal action, then also END if no other action is legal."""
    kind = t.kind_of[action]
    argument = action - t.offset[kind]
    if kind == a.KIND_MOVE:
        move(g, argument + 1)
    elif kind == a.KIND_DRAW:
        draw_cards(t, g, g.seat, 0)
        g.drew = 1
        after_drawing(t, g)
    elif kind == a.KIND_BUILD:
        begin_build(t, g, argument)
    elif kind == a.KIND_PAY:
        pay(g, argument)
    elif kind == a.KIND_PLACE:
        place(t, g, argument)
    elif kind == a.KIND_ROOF:
        roof(g, argument)
    elif kind == a.KIND_DISCARD:
        discard(t, g, argument)
    elif kind == a.KIND_USE:
        use(t, g, argument)
        if argument == a.EXTRA_CARD:
            after_drawing(t, g)
        elif argument == a.NO_HAND_LIMIT:
            g.phase = PHASE_END
    elif kind == a.KIND_WILD:
        place_wild(t, g, argument)
    elif kind == a.KIND_LIFT:
        lift(g, argument)
    elif kind == a.KIND_END:
        end(t, g)
        return
    else:
        start(t, g, argument)
        g.phase = PHASE_MOVE
    if g.phase == PHASE_END and legal_uses(t, g) == 0:
        end(t, g)


for _layout in LAYOUTS:
    contract.implement(_layout, apply_action, deal, mark_legal, rank_of, score, copy_setup)

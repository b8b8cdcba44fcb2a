"""Deal a game and apply actions, including the end of the turn and of the game (rules, sections 2 and 3)."""

from __future__ import annotations

from helsinki_env.engine import contract, loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.rng import shuffle
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.abilities import flip, gain, has_choice, reactivate, white
from helsinki_env.games.copenhagen.build import begin_build, lay_tile, pay, place, recolour
from helsinki_env.games.copenhagen.cards import discard, put_end_card, refill, take_card, take_from_pile
from helsinki_env.games.copenhagen.legal import legal_uses, mark_legal, write_mask
from helsinki_env.games.copenhagen.observation import observe_part, update_observation, write_observation
from helsinki_env.games.copenhagen.score import rank_of, score
from helsinki_env.games.copenhagen.state import (
    GAME,
    PHASE_COAT,
    PHASE_END,
    PHASE_MAIN,
    PHASE_RECOLOUR,
    PHASE_TAKE,
    RECORD,
    TILE_KINDS,
)

_clear, copy_setup, clear_pending = RECORD.clear, RECORD.copy_setup, RECORD.clear_pending()


@kernel
def deal(t, g, word):
    """Shuffle the cards, deal the display and the hands, and add the End of Game card with two players (section 2)."""
    _clear(g)
    g.chance = word
    g.round_number = 1
    for seat in range(g.players):
        g.owned[seat] = 1 << a.ANY_CARDS
    for kind in range(TILE_KINDS):
        g.supply[kind] = t.supply[g.players, kind]
    g.white_tiles = t.white_tiles
    size = 0
    for colour in range(5):
        for _ in range(t.cards[g.players]):
            g.pile[size] = colour
            size += 1
    shuffle(g, g.pile, size)
    g.pile_size = size
    for slot in range(7):
        g.display[slot] = take_from_pile(g)
    for seat in range(g.players):
        for _ in range(t.hands[seat]):
            g.hand[seat, take_from_pile(g)] += 1
    if g.players == 2:
        put_end_card(t, g)


@kernel
def end_game(g):
    """End the game and clear the pending fields."""
    clear_pending(g)
    g.phase = PHASE_END
    g.done = 1


@kernel
def end_turn(t, g):
    """Refill the display, then begin the next turn, or end the game if the End of Game card was drawn."""
    clear_pending(g)
    if not refill(t, g):
        end_game(g)
        return
    g.phase = PHASE_MAIN
    g.seat += 1
    if g.seat == g.players:
        g.seat = 0
        g.round_number += 1


@kernel
def next_reward(t, g):
    """Offer the next pending reward, or end the turn if there is no reward left or no legal choice."""
    if g.rewards > 0 and has_choice(g):
        g.phase = PHASE_COAT
    else:
        end_turn(t, g)


@kernel
def use(g, ability):
    """USE: flip an ability and, if necessary, enter the phase for taking a card, recoloring or building."""
    flip(g, ability)
    if ability == a.ADDITIONAL_CARD:
        g.phase = PHASE_TAKE
    elif ability == a.CHANGE_OF_COLOURS:
        g.phase = PHASE_RECOLOUR
    elif ability == a.BOTH_ACTIONS:
        g.phase = PHASE_MAIN


@kernel
def construct(t, g):
    """Lay the tile once it is fully paid, then offer rewards, or end the game at the goal (section 3)."""
    if g.due > 0:
        return
    if lay_tile(t, g):
        next_reward(t, g)
    else:
        end_game(g)


@kernel
def apply_action(t, g, action):
    """Apply a legal action, followed by END if that is then the only legal action."""
    kind = t.kind_of[action]
    argument = action - t.offset[kind]
    if kind == a.KIND_TAKE:
        take_card(t, g, argument)
    elif kind == a.KIND_BUILD:
        begin_build(g, argument)
    elif kind == a.KIND_PLACE:
        place(t, g, argument)
        construct(t, g)
    elif kind == a.KIND_PAY:
        pay(g, argument)
        construct(t, g)
    elif kind == a.KIND_DISCARD:
        discard(t, g, argument)
    elif kind == a.KIND_USE:
        use(g, argument)
    elif kind == a.KIND_RECOLOUR:
        recolour(g, argument)
    elif kind == a.KIND_WHITE:
        if white(t, g, argument):
            next_reward(t, g)
        else:
            end_game(g)
    elif kind == a.KIND_ABILITY:
        gain(g, argument)
        next_reward(t, g)
    elif kind == a.KIND_REACTIVATE:
        reactivate(g)
        next_reward(t, g)
    else:
        end_turn(t, g)
    if g.phase == PHASE_END and not g.done and legal_uses(t, g) == 0:
        end_turn(t, g)


contract.implement(GAME, apply_action, deal, write_observation, mark_legal, rank_of, score, copy_setup)
loops.observe.implements(GAME, write_observation)  # already writes every entry
loops.observe_part.implements(GAME, observe_part)
loops.update_observation.implements(GAME, update_observation)
loops.write_mask.implements(GAME, write_mask)

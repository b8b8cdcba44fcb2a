"""The course of a turn (rules, section 3): the effect of each action, and the end of turn and game."""

from __future__ import annotations

from helsinki_env.engine import contract, loops
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen import actions as a
from helsinki_env.games.copenhagen.abilities import flip, gain, has_choice, reactivate, white
from helsinki_env.games.copenhagen.build import begin_build, lay_tile, pay, place, recolour
from helsinki_env.games.copenhagen.cards import refill
from helsinki_env.games.copenhagen.deal import clear_pending, copy_setup, deal
from helsinki_env.games.copenhagen.legal import legal_uses, mark_legal, write_mask
from helsinki_env.games.copenhagen.observation import observe_part, update_observation, write_observation
from helsinki_env.games.copenhagen.score import rank_of, score
from helsinki_env.games.copenhagen.state import GAME, PHASE_COAT, PHASE_END, PHASE_MAIN, PHASE_RECOLOUR, PHASE_TAKE
from helsinki_env.games.copenhagen.take import discard, take_card


@kernel
def end_game(g):
    """End the game; nothing is pending afterwards."""
    clear_pending(g)
    g.phase = PHASE_END
    g.done = 1


@kernel
def end_turn(t, g):
    """End the turn: refill the display; begin the next player's turn unless the End of Game card is drawn."""
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
    """Rewards: offer the next pending one, or end the turn if none is left or none has a legal choice."""
    if g.rewards > 0 and has_choice(g):
        g.phase = PHASE_COAT
    else:
        end_turn(t, g)


@kernel
def use(g, ability):
    """USE: flip an ability and set the phase to taking, recoloring or building."""
    flip(g, ability)
    if ability == a.ADDITIONAL_CARD:
        g.phase = PHASE_TAKE
    elif ability == a.CHANGE_OF_COLOURS:
        g.phase = PHASE_RECOLOUR
    elif ability == a.BOTH_ACTIONS:
        g.phase = PHASE_MAIN


@kernel
def construct(t, g):
    """Constructing: once everything is paid, lay the tile; then come the rewards, unless the points end the game."""
    if g.due > 0:
        return
    if lay_tile(t, g):
        next_reward(t, g)
    else:
        end_game(g)


@kernel
def apply_action(t, g, action):
    """Apply a legal action. END is taken here whenever it is the only legal action."""
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


for _rule in (apply_action, deal, write_observation, mark_legal, rank_of, score, copy_setup):
    getattr(contract, _rule.__name__).implements(GAME, _rule)
loops.observe.implements(GAME, write_observation)  # it writes every entry
loops.observe_part.implements(GAME, observe_part)
loops.update_observation.implements(GAME, update_observation)
loops.write_mask.implements(GAME, write_mask)

"""One trial of a search: a deal of the hidden cards, and a playout by the heuristic that ends in a judgement."""

from __future__ import annotations

from helsinki_env.agents.heuristic_api import select_action, view_index, write_win_probabilities
from helsinki_env.engine.contract import apply_action, determinize_state
from helsinki_env.engine.determinization import DeterminizationError
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import mix

__all__ = ["determinize_trial", "playout_and_evaluate"]


@kernel
def determinize_trial(desk, g, word):
    """Copy a game onto the desk and determinize what the acting seat cannot see.

    Raises RedealError if there is no such deal: the observation that the game is restored from is of no game.
    """
    desk.deal[0] = g
    if not determinize_state(desk.tables[0], desk.deal[0], g.seat, mix(word), desk.hidden[0], desk.mask):
        raise DeterminizationError(
            "found no deal that fits what the seat to move knows; can this position come up in a game?"
        )


@kernel
def playout_and_evaluate(desk, seat):
    """Play the trial on until `seat` is about to move for the last time wanted; write the shares of the win."""
    t, p, s, g = desk.tables[0], desk.pieces[0], desk.settings[0], desk.trial[0]
    turns = s.turns
    passed = False
    while not g.done:
        if g.seat != seat:
            passed = True
        elif passed:
            passed = False
            turns -= 1.0
            if turns <= 0.0:
                break
        write_mask(t, g, desk.mask)
        w = desk.weights[g.seat]
        v = desk.views[view_index(w, g, g.seat, desk.views)]
        apply_action(t, g, select_action(t, p, w, g, v, desk.mask, desk.values, False))
    write_win_probabilities(t, p, desk.weights, g, desk.views, s.lead, s.lead_growth, desk.shares)

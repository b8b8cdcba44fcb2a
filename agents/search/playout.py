"""One trial of a search: a deal of the hidden cards, and a playout by the heuristic that ends in a judgement."""

from __future__ import annotations

from helsinki_env.agents.heuristic_api import decide, recall, win_shares
from helsinki_env.engine.contract import apply, redeal
from helsinki_env.engine.determinization import RedealError
from helsinki_env.engine.kernel import kernel
from helsinki_env.engine.loops import write_mask
from helsinki_env.engine.rng import mix

__all__ = ["deal_anew", "play_and_judge"]


@kernel
def deal_anew(desk, g, word):
    """Copy a game onto the desk and determinize what the acting seat cannot see.

    Raises RedealError if there is no such deal: the observation that the game is restored from is of no game.
    """
    desk.deal[0] = g
    if not redeal(desk.tables[0], desk.deal[0], g.seat, mix(word), desk.hidden[0], desk.mask):
        raise RedealError("found no deal that fits what the seat to move knows; can this position come up in a game?")


@kernel
def play_and_judge(desk, seat):
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
        v = desk.views[recall(w, g, g.seat, desk.views)]
        apply(t, g, decide(t, p, w, g, v, desk.mask, desk.values, False))
    win_shares(t, p, desk.weights, g, desk.views, s.lead, s.lead_growth, desk.shares)

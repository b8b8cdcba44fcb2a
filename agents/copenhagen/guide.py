"""Copenhagen's heuristic as a guide for players of any game (`agents.guide`)."""

from __future__ import annotations

from agents import guide
from agents.copenhagen.decide import decide
from agents.copenhagen.view import VIEW, forget, new_views, pieces
from agents.copenhagen.weights import QUICK, Weights
from agents.copenhagen.worth import win_shares
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.state import GAME

__all__ = ["GUIDE"]


@kernel
def decide_ahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision as `decide` does: looking at the next turn made the tuned weights no stronger."""
    return decide(t, p, w, g, v, mask, values, False)


guide.forget.belongs_to(VIEW, forget)
for _word, _stated in ((guide.decide, decide), (guide.decide_ahead, decide_ahead), (guide.win_shares, win_shares)):
    _word.belongs_to(GAME, _stated)

GUIDE = guide.Guide(Weights(), QUICK, pieces, new_views)

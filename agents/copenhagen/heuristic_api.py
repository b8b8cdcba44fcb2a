"""Copenhagen's heuristic as a guide for players of any game (`helsinki_env.agents.heuristic_api`)."""

from __future__ import annotations

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.copenhagen.board_view import VIEW, forget, new_views, pieces
from helsinki_env.agents.copenhagen.decide import decide
from helsinki_env.agents.copenhagen.evaluation import win_shares
from helsinki_env.agents.copenhagen.weights import QUICK, Weights
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.state import GAME

__all__ = ["GUIDE"]


@kernel
def decide_ahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision as `decide` does: looking at the next turn made the tuned weights no stronger."""
    return decide(t, p, w, g, v, mask, values, False)


heuristic_api.forget.belongs_to(VIEW, forget)
for _word, _stated in (
    (heuristic_api.decide, decide),
    (heuristic_api.decide_ahead, decide_ahead),
    (heuristic_api.win_shares, win_shares),
):
    _word.belongs_to(GAME, _stated)

GUIDE = heuristic_api.Guide(Weights(), QUICK, pieces, new_views)

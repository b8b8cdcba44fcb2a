"""Copenhagen's heuristic as a guide for players of any game (`helsinki_env.agents.heuristic_api`)."""

from __future__ import annotations

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.copenhagen.board_view import VIEW_DTYPE, new_views, piece_table, reset_view
from helsinki_env.agents.copenhagen.decide import select_action
from helsinki_env.agents.copenhagen.evaluation import write_win_probabilities
from helsinki_env.agents.copenhagen.weights import QUICK, Weights
from helsinki_env.engine.kernel import kernel
from helsinki_env.games.copenhagen.state import GAME

__all__ = ["HEURISTIC"]


@kernel
def select_action_lookahead(t, p, w, g, v, u, work, mask, values):
    """Return the best legal decision as `select_action` does: looking ahead made the tuned weights no stronger."""
    return select_action(t, p, w, g, v, mask, values, False)


heuristic_api.reset_view.implements(VIEW_DTYPE, reset_view)
for _word, _stated in (
    (heuristic_api.select_action, select_action),
    (heuristic_api.select_action_lookahead, select_action_lookahead),
    (heuristic_api.write_win_probabilities, write_win_probabilities),
):
    _word.implements(GAME, _stated)

HEURISTIC = heuristic_api.Heuristic(Weights(), QUICK, piece_table, new_views)

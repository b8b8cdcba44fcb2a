"""Helsinki's implementation of the heuristic interface (`helsinki_env.agents.heuristic_api`)."""

from __future__ import annotations

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.helsinki.board_view import piece_table, reset_view
from helsinki_env.agents.helsinki.decide import select_action
from helsinki_env.agents.helsinki.eval_cache import VIEW_DTYPE, new_views
from helsinki_env.agents.helsinki.evaluation import write_win_probabilities
from helsinki_env.agents.helsinki.lookahead import select_action_lookahead
from helsinki_env.agents.helsinki.transposition import BOARDS, view_index
from helsinki_env.agents.helsinki.weights import QUICK, TRIALS, Weights
from helsinki_env.games.helsinki.state import LAYOUTS

__all__ = ["HEURISTIC"]

heuristic_api.reset_view.implements(VIEW_DTYPE, reset_view)
for _layout in LAYOUTS:
    for _word, _stated in (
        (heuristic_api.view_index, view_index),
        (heuristic_api.select_action, select_action),
        (heuristic_api.select_action_lookahead, select_action_lookahead),
        (heuristic_api.write_win_probabilities, write_win_probabilities),
    ):
        _word.implements(_layout, _stated)

HEURISTIC = heuristic_api.Heuristic(
    Weights(), QUICK, piece_table, new_views, trials=TRIALS, not_tuned=("crosswalk", "apart", "missing"), boards=BOARDS
)

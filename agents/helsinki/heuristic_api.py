"""Helsinki's implementation of the heuristic interface (`helsinki_env.agents.heuristic_api`)."""

from __future__ import annotations

from helsinki_env.agents import heuristic_api
from helsinki_env.agents.helsinki.board_view import forget, pieces
from helsinki_env.agents.helsinki.decide import decide
from helsinki_env.agents.helsinki.eval_cache import VIEW, new_views
from helsinki_env.agents.helsinki.evaluation import win_shares
from helsinki_env.agents.helsinki.lookahead import decide_ahead
from helsinki_env.agents.helsinki.transposition import BOARDS, recall
from helsinki_env.agents.helsinki.weights import QUICK, TRIALS, Weights
from helsinki_env.games.helsinki.state import LAYOUTS

__all__ = ["GUIDE"]

heuristic_api.forget.belongs_to(VIEW, forget)
for _layout in LAYOUTS:
    for _word, _stated in (
        (heuristic_api.recall, recall),
        (heuristic_api.decide, decide),
        (heuristic_api.decide_ahead, decide_ahead),
        (heuristic_api.win_shares, win_shares),
    ):
        _word.belongs_to(_layout, _stated)

GUIDE = heuristic_api.Guide(
    Weights(), QUICK, pieces, new_views, trials=TRIALS, not_tuned=("crosswalk", "apart", "missing"), boards=BOARDS
)

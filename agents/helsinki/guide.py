"""Helsinki's implementation of the heuristic interface (`agents.guide`)."""

from __future__ import annotations

from agents import guide
from agents.helsinki.ahead import decide_ahead
from agents.helsinki.decide import decide
from agents.helsinki.memory import VIEW, new_views
from agents.helsinki.recall import BOARDS, recall
from agents.helsinki.view import forget, pieces
from agents.helsinki.weights import QUICK, TRIALS, Weights
from agents.helsinki.worth import win_shares
from helsinki_env.games.helsinki.state import LAYOUTS

__all__ = ["GUIDE"]

guide.forget.belongs_to(VIEW, forget)
for _layout in LAYOUTS:
    for _word, _stated in (
        (guide.recall, recall),
        (guide.decide, decide),
        (guide.decide_ahead, decide_ahead),
        (guide.win_shares, win_shares),
    ):
        _word.belongs_to(_layout, _stated)

GUIDE = guide.Guide(
    Weights(), QUICK, pieces, new_views, trials=TRIALS, not_tuned=("crosswalk", "apart", "missing"), boards=BOARDS
)

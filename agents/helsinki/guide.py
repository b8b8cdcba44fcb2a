"""Helsinki's heuristic as a guide for players of any game (`agents.guide`)."""

from __future__ import annotations

from agents import guide
from agents.helsinki.ahead import decide_ahead
from agents.helsinki.decide import decide
from agents.helsinki.view import VIEW, forget, new_views, pieces
from agents.helsinki.weights import QUICK, Weights
from agents.helsinki.worth import win_shares
from helsinki_env.games.helsinki.state import LAYOUTS

__all__ = ["GUIDE"]

guide.forget.belongs_to(VIEW, forget)
for _layout in LAYOUTS:
    for _word, _stated in (
        (guide.decide, decide),
        (guide.decide_ahead, decide_ahead),
        (guide.win_shares, win_shares),
    ):
        _word.belongs_to(_layout, _stated)

GUIDE = guide.Guide(Weights(), QUICK, pieces, new_views, not_tuned=("crosswalk", "apart"))

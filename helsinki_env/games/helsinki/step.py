"""The rules of Helsinki as the engine calls them (`helsinki_env.engine.contract`), for all record layouts."""

from __future__ import annotations

from helsinki_env.engine import contract
from helsinki_env.games.helsinki import observe, simd  # noqa: F401  # registers kernels
from helsinki_env.games.helsinki.deal import copy_setup, deal
from helsinki_env.games.helsinki.legal import mark_legal
from helsinki_env.games.helsinki.score import rank_of, score
from helsinki_env.games.helsinki.state import LAYOUTS
from helsinki_env.games.helsinki.turn import apply_action

__all__ = ["apply_action", "copy_setup", "deal", "mark_legal", "rank_of", "score"]

for _layout in LAYOUTS:
    for _rule in (apply_action, deal, mark_legal, rank_of, score, copy_setup):
        getattr(contract, _rule.__name__).implements(_layout, _rule)

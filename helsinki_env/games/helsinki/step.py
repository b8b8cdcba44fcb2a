"""The rules of Helsinki as the engine calls them (`helsinki_env.engine.contract`), for all record layouts."""

from __future__ import annotations

from helsinki_env.engine import contract
from helsinki_env.games.helsinki import observe, simd  # noqa: F401  # registers kernels
from helsinki_env.games.helsinki.deal import deal, set_up
from helsinki_env.games.helsinki.legal import mark_legal
from helsinki_env.games.helsinki.score import place_of, score
from helsinki_env.games.helsinki.state import LAYOUTS
from helsinki_env.games.helsinki.turn import apply

__all__ = ["apply", "deal", "mark_legal", "place_of", "score", "set_up"]

for _layout in LAYOUTS:
    for _rule in (apply, deal, mark_legal, place_of, score, set_up):
        getattr(contract, _rule.__name__).belongs_to(_layout, _rule)

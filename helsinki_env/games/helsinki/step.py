"""The rules of Helsinki as the engine calls them (`helsinki_env.engine.contract`), for both layouts of the record."""

from __future__ import annotations

from helsinki_env.engine import contract
from helsinki_env.games.helsinki.deal import deal, set_up
from helsinki_env.games.helsinki.legal import mark_legal
from helsinki_env.games.helsinki.score import place_of, score
from helsinki_env.games.helsinki.state import NARROW, WIDE, game_dtype
from helsinki_env.games.helsinki.turn import apply

__all__ = ["apply", "deal", "mark_legal", "place_of", "score", "set_up"]

for _capacity in (NARROW, WIDE):
    for _rule in (apply, deal, mark_legal, place_of, score, set_up):
        getattr(contract, _rule.__name__).belongs_to(game_dtype(_capacity), _rule)

"""The rules of Copenhagen as the engine calls them (`helsinki_env.engine.contract`)."""

from __future__ import annotations

from helsinki_env.engine import contract, loops
from helsinki_env.games.copenhagen import observe  # noqa: F401  # registers a rule
from helsinki_env.games.copenhagen.deal import deal, set_up
from helsinki_env.games.copenhagen.legal import mark_legal, write_mask
from helsinki_env.games.copenhagen.observation import describe, observe_again
from helsinki_env.games.copenhagen.score import place_of, score
from helsinki_env.games.copenhagen.state import GAME
from helsinki_env.games.copenhagen.turn import apply

__all__ = ["apply", "deal", "describe", "mark_legal", "place_of", "score", "set_up"]

for _rule in (apply, deal, describe, mark_legal, place_of, score, set_up):
    getattr(contract, _rule.__name__).belongs_to(GAME, _rule)
loops.observe.belongs_to(GAME, describe)  # it writes every entry
loops.observe_again.belongs_to(GAME, observe_again)
loops.write_mask.belongs_to(GAME, write_mask)

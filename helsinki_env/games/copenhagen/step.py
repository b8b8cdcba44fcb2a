"""The rules of Copenhagen as the engine calls them (`helsinki_env.engine.contract`)."""

from __future__ import annotations

from helsinki_env.engine import contract, loops
from helsinki_env.games.copenhagen.deal import copy_setup, deal
from helsinki_env.games.copenhagen.legal import mark_legal, write_mask
from helsinki_env.games.copenhagen.observation import observe_part, update_observation, write_observation
from helsinki_env.games.copenhagen.score import rank_of, score
from helsinki_env.games.copenhagen.state import GAME
from helsinki_env.games.copenhagen.turn import apply_action

__all__ = ["apply_action", "copy_setup", "deal", "mark_legal", "rank_of", "score", "write_observation"]

for _rule in (apply_action, deal, write_observation, mark_legal, rank_of, score, copy_setup):
    getattr(contract, _rule.__name__).implements(GAME, _rule)
loops.observe.implements(GAME, write_observation)  # it writes every entry
loops.observe_part.implements(GAME, observe_part)
loops.update_observation.implements(GAME, update_observation)
loops.write_mask.implements(GAME, write_mask)

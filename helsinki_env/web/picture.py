"""Pictures of games in progress, for the start page."""

from __future__ import annotations

import random
from functools import lru_cache
from typing import Any

from helsinki_env.engine.spec import spec_by_name
from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from helsinki_env.web.views import choices, picture

__all__ = ["sample_picture"]

_SEED, _ACTIONS = 7, 90


@lru_cache(maxsize=8)
def sample_picture(name: str) -> dict[str, Any]:
    """Return the `svg` of a game in progress; always the same one."""
    config, rng = spec_by_name(name).config(), random.Random(_SEED)
    table = GameTable("", "", config, _SEED, (SeatAssignment(HUMAN, ""),) * config.num_players)
    for _ in range(_ACTIONS):
        if table.game.done:
            break
        found = choices(table.game)
        best = max(found, key=lambda one: (len(one["wins"]), one["kind"] == "BUILD", rng.random()))
        table.decide(table.number, best["id"], "")
    return {"svg": picture(table, 0)["svg"]}

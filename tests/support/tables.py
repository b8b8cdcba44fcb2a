"""Tables of `helsinki play` without a server."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from helsinki_env.web.tables import HUMAN, GameTable, SeatAssignment
from tests.games import TestedGame

__all__ = ["sampled_tables"]


def sampled_tables(game: TestedGame) -> Iterator[tuple[GameTable, np.random.Generator]]:
    """Yield tables of two to four humans at random moments of random games; play continues after each."""
    for players in (2, 3, 4):
        config = game.spec.config(num_players=players)
        chairs = tuple(SeatAssignment(HUMAN, f"P{seat}") for seat in range(players))
        table, rng = GameTable("t", "", config, 6, chairs), np.random.default_rng(players)
        while not table.game.done:
            if rng.random() < 0.12:
                yield table, rng
            legal = table.game.legal_actions()
            table.decide(table.number, int(legal[rng.integers(len(legal))]), "decided")

"""Rewards at the end of a game. All three types sum to zero over the seats."""

from __future__ import annotations

from helsinki_env.engine.configuration import REWARDS
from helsinki_env.engine.contract import rank_of, score
from helsinki_env.engine.kernel import kernel

WIN, RANK, MARGIN = range(len(REWARDS))


@kernel
def reward_of(t, g, seat, reward):
    """Reward of a seat at the end of a game.

    win: +1, else -1 / (n - 1); rank: +1 to -1 by rank; margin: points above the mean of the others. Tied players
    receive the average reward of the ranks they share.
    """
    others = g.players - 1
    if reward != MARGIN:
        place, sharing = rank_of(t, g, seat), 0
        for other in range(g.players):
            sharing += rank_of(t, g, other) == place
        # Integers up to one division: a GPU fuses float multiplications and additions, which rounds differently.
        if reward == RANK:
            return 1.0 - (2 * place + sharing - 1) / others
        return (g.players - sharing) / (sharing * others) if place == 0 else -1.0 / others
    total = 0.0
    for other in range(g.players):
        if other != seat:
            total += score(t, g, other)
    return score(t, g, seat) - total / others


PENALTIES = {"win": -1.0, "rank": -1.0, "margin": -100.0}
"""Penalty for an illegal action that ends the game: at least that of the worst game. The others share its opposite."""

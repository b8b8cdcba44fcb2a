"""What a seat gets at the end of a game. All three sum to zero over the seats."""

from __future__ import annotations

from helsinki_env.config import REWARDS
from helsinki_env.core.kernel import kernel
from helsinki_env.core.score import place_of, score

WIN, RANK, MARGIN = range(len(REWARDS))


@kernel
def reward_of(t, g, seat, reward):
    """Reward of a seat at the end of a game.

    win: +1, else -1 / (n - 1); rank: +1 to -1 by place; margin: points above the mean of the others.
    """
    others = g.players - 1
    if reward == WIN:
        return 1.0 if place_of(t, g, seat) == 0 else -1.0 / others
    if reward == RANK:
        return 1.0 - 2.0 * place_of(t, g, seat) / others
    total = 0.0
    for other in range(g.players):
        if other != seat:
            total += score(t, g, other)
    return score(t, g, seat) - total / others


PENALTIES = {"win": -1.0, "rank": -1.0, "margin": -100.0}
"""What an illegal decision costs where it ends the game: no less than the worst game. The others share as much."""

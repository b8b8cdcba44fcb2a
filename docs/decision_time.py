"""Compare the time per action of two players: CPU time on the same positions, in turn.

The first player plays parallel games against itself, 64 by default. Both players choose an action at every position, in
alternating order. A block has 24 positions of each game, and the result is the median ratio over the blocks.

    python docs/decision_time.py net net:first --seats 2 3 4
    python docs/decision_time.py net net:first --seats 2 3 4 --games 1
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from helsinki_env.agents.base import init_streams, next_keys
from helsinki_env.agents.registry import make_player
from helsinki_env.engine.spec import game_names, spec_by_name
from helsinki_env.envs.vector import GameVectorEnv
from helsinki_env.evaluation.arena.run import limit_to_one_thread

CALLS = 24


def ratios(
    player: str, other: str, game: str, seats: int, games: int, blocks: int, seed: int
) -> tuple[list[float], float]:
    """Return the time ratios of both players, block by block, and the first player's seconds per action.

    Args:
        player: player whose actions are applied.
        other: player to compare with.
        game: name of the game.
        seats: number of players.
        games: number of parallel games.
        blocks: number of measured blocks, after one for warm-up.
        seed: random seed of the games.
    """
    config = spec_by_name(game).config(num_players=seats)
    both = [make_player(name, config) for name in (player, other)]
    env = GameVectorEnv(games, config=config, autoreset_mode="SameStep")
    seen, _ = env.reset(seed=seed)
    streams = init_streams(seed, np.arange(games), 0)
    found, spent = [], 0.0
    for block in range(blocks + 1):
        seconds = [0.0, 0.0]
        for call in range(CALLS):
            words, actions = next_keys(streams), [np.zeros(games, np.int64)] * 2
            for i in (0, 1) if call % 2 else (1, 0):
                begun = time.process_time()
                actions[i] = both[i].act(seen["observation"], seen["action_mask"], words)
                seconds[i] += time.process_time() - begun
            seen, *_ = env.step(actions[0])
        if block > 0:
            found.append(seconds[0] / seconds[1])
            spent += seconds[0]
    return found, spent / (blocks * CALLS * games)


def main() -> None:
    """Print the ratios for each number of seats."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("player", help="player to measure, in CPU time of one thread")
    parser.add_argument("other", help="player that chooses in the same states, for the ratio")
    parser.add_argument("--game", default="helsinki", choices=game_names(), help="game to play")
    parser.add_argument("--seats", type=int, nargs="+", default=[2], help="player counts")
    parser.add_argument("--games", type=int, default=64, help="number of parallel games")
    parser.add_argument("--blocks", type=int, default=12, help="number of ratios for the median")
    parser.add_argument("--seed", type=int, default=1, help="random seed of the games")
    asked = parser.parse_args()
    limit_to_one_thread()
    for seats in asked.seats:
        found, seconds = ratios(asked.player, asked.other, asked.game, seats, asked.games, asked.blocks, asked.seed)
        print(
            f"{seats} players: {asked.player} takes {np.median(found):.2f} times as long as {asked.other} "
            f"({min(found):.2f} to {max(found):.2f} in {len(found)} blocks), {1000 * seconds:.2f} ms per action",
            flush=True,
        )


if __name__ == "__main__":
    main()

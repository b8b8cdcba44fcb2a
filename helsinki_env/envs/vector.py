"""Self-play on many games at once: every seat is played by whoever calls `step`.

    >>> from helsinki_env import HelsinkiVectorEnv
    >>> from helsinki_env.playout import choose_uniformly, player_words
    >>> env = HelsinkiVectorEnv(num_envs=4, num_players=3)
    >>> obs, info = env.reset(seed=0)
    >>> words = player_words(4, seed=1)
    >>> for _ in range(10):
    ...     obs, reward, terminated, truncated, info = env.step(choose_uniformly(obs["action_mask"], words))
    >>> obs["observation"].shape, obs["action_mask"].shape, info["seat"].shape
    ((4, 1385), (4, 554), (4,))

One step of the batch is one decision in every game, so seats of different games move side by side and one seat may
move several times in a row: `info["seat"]` says whose decision is due in each game, and the observation is seen from
that seat. Decks come from the seed, one stream for each game: game `b` is the same whatever the size of the batch and
the number of threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, SupportsIndex

from gymnasium.vector import AutoresetMode

from helsinki_env.envs.helsinki import HELSINKI_ENV
from helsinki_env.envs.self_play import SelfPlayBatch
from helsinki_env.games.helsinki.config import GameConfig
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import Game

__all__ = ["HelsinkiVectorEnv"]


class HelsinkiVectorEnv(SelfPlayBatch):
    """A batch of games for self-play, all seats.

    Observation: ``{"observation": int8 (B, F), "action_mask": int8 (B, A)}``, seen from the seat to move; its pieces
    are named by `observation.split`. Action: the id of a legal decision for every game, int (B,).

    Returned by `step`: reward float32 (B,) of the seat that acted, not zero only when the game ends with its
    decision; terminated bool (B,); truncated bool (B,), always false. ``info["seat"]`` int64 (B,): the seat to
    move. When games end, info also holds ``rewards`` float32 (B, players), ``scores`` and ``places`` (B, players, 0
    is first), zero where no game ended, and ``_rewards`` bool (B,) that says where one did.

    Autoreset (`gymnasium.vector.AutoresetMode`):
        NEXT_STEP: the observation after the last decision is that of the finished game (no legal decision); the next
        call ignores the action of that game and deals a new one.
        SAME_STEP: the new game is dealt at once; ``info["final_obs"]`` and ``info["final_info"]`` hold the old one.
        DISABLED: finished games stay until ``reset(options={"reset_mask": mask})``.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        covered: actions that nobody may use, ids or names, or "first_game".
        denied: one such set for each seat, or None.
        dry_roads: whether the expansion is played.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        autoreset_mode: see above.
        episodes: what is drawn anew at each deal (`RandomEpisodes`).
        num_threads: threads that share a step; None: one for each processor. Results do not depend on it.
        copy: False returns the same arrays at every step, written over by the next: faster, for those who take care.
            Decisions are then checked against the mask that was returned: never write into it.
        config: a `GameConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for options that cannot be played. ValueError: for other arguments.
        IllegalActionError: by `step`, naming game, decision, phase and the legal ones; no game has been stepped.
    """

    env_spec = HELSINKI_ENV
    config: GameConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        covered: Iterable[int | str] | Literal["first_game"] = (),
        denied: Iterable[Iterable[int | str]] | None = None,
        dry_roads: bool = False,
        components: str | Path = "default",
        reward: str = "win",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        num_threads: int | None = 1,
        copy: bool = True,
        render_mode: str | None = None,
        config: GameConfig | None = None,
    ) -> None:
        if config is None:
            config = GameConfig(
                num_players=num_players,
                covered=covered,
                denied=denied,
                dry_roads=dry_roads,
                components=components,
                reward=reward,
            )
        super().__init__(num_envs, config, autoreset_mode, episodes, num_threads, copy, render_mode)

    def game(self, b: SupportsIndex) -> Game:
        """Return a copy of game `b`, to look at, to draw or to save. ValueError if there is none."""
        game: Game = super().game(b)
        return game

"""Copenhagen in batches: self-play on many games at once, as `helsinki_env.envs.vector` has it for Helsinki.

>>> from helsinki_env import CopenhagenVectorEnv
>>> from helsinki_env.playout import choose_uniformly, player_words
>>> env = CopenhagenVectorEnv(num_envs=4, num_players=3)
>>> obs, info = env.reset(seed=0)
>>> words = player_words(4, seed=1)
>>> for _ in range(10):
...     obs, reward, terminated, truncated, info = env.step(choose_uniformly(obs["action_mask"], words))
>>> obs["observation"].shape, obs["action_mask"].shape, info["seat"].shape
((4, 923), (4, 459), (4,))
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, SupportsIndex

from gymnasium.vector import AutoresetMode

from helsinki_env.engine.states import States
from helsinki_env.envs.drawing import drawn
from helsinki_env.envs.self_play import SelfPlayBatch
from helsinki_env.envs.spec import EnvSpec
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.copenhagen.episodes import RandomEpisodes
from helsinki_env.games.copenhagen.game import COPENHAGEN, Game
from helsinki_env.games.copenhagen.position import from_dict, to_dict

__all__ = ["COPENHAGEN_ENV", "CopenhagenVectorEnv"]


def _check(states: States, config: CopenhagenConfig) -> None:
    """Refuse records that cannot be: those that are not the same once they have been written and read again."""
    for b, state in enumerate(states):
        try:
            game = Game.from_state(COPENHAGEN.config_of(config, state), state)
            again = from_dict(to_dict(game), game.config)
        except (ArithmeticError, LookupError, TypeError, ValueError) as problem:
            raise ValueError(f"states: game {b}: {problem}") from None
        for name in state.dtype.names:
            if (again.state[name] != state[name]).any():
                raise ValueError(f"states: game {b}: {name}: found {state[name]}, expected {again.state[name]}")


def _draw(game: Game, mode: str, last: int | None = None, viewer: int | None = None) -> Any:
    from helsinki_env.games.copenhagen import notation, render  # who draws nothing need not wait for it

    decision = None if last is None else notation.describe(last)
    return drawn(render, to_dict(game), game.config.loaded, decision, mode, viewer)


COPENHAGEN_ENV = EnvSpec(
    game=Game,
    episodes=RandomEpisodes,
    check=_check,
    draw=_draw,
    render_modes=("ansi", "rgb_array", "svg"),
)


class CopenhagenVectorEnv(SelfPlayBatch):
    """A batch of games of Copenhagen for self-play, all seats.

    What `reset` and `step` return, autoreset, threads and copies are as for `HelsinkiVectorEnv`; the pieces of the
    observation are named by `helsinki_env.games.copenhagen.observation.split`. Places may be shared: those who share
    them get the mean of the rewards of these places.

    Args:
        num_envs: number of games B.
        num_players: 2 to 4.
        denied: for each seat the abilities that it may not take, ids (1 to 4) or names; or None.
        components: component file, name or path.
        reward: "win", "rank" or "margin".
        autoreset_mode: see `HelsinkiVectorEnv`.
        episodes: what is drawn anew at each deal (`helsinki_env.games.copenhagen.episodes.RandomEpisodes`).
        num_threads: threads that share a step; None: one for each processor. Results do not depend on it.
        copy: False returns the same arrays at every step, written over by the next.
        config: a `CopenhagenConfig` instead of the options from num_players to reward.

    Raises:
        ConfigError: for options that cannot be played. ValueError: for other arguments.
        IllegalActionError: by `step`, naming game, decision, phase and the legal ones; no game has been stepped.
    """

    env_spec = COPENHAGEN_ENV
    config: CopenhagenConfig

    def __init__(
        self,
        num_envs: int = 1,
        num_players: int = 2,
        *,
        denied: Iterable[Iterable[int | str]] | None = None,
        components: str | Path = "copenhagen",
        reward: str = "win",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        episodes: RandomEpisodes | None = None,
        num_threads: int | None = 1,
        copy: bool = True,
        render_mode: str | None = None,
        config: CopenhagenConfig | None = None,
    ) -> None:
        if config is None:
            config = CopenhagenConfig(num_players=num_players, denied=denied, components=components, reward=reward)
        super().__init__(num_envs, config, autoreset_mode, episodes, num_threads, copy, render_mode)

    def game(self, b: SupportsIndex) -> Game:
        """Return a copy of game `b`, to look at, to draw or to save. ValueError if there is none."""
        game: Game = super().game(b)
        return game

"""What the environments of Helsinki are made of."""

from __future__ import annotations

from helsinki_env.envs.drawing import draw
from helsinki_env.envs.spec import EnvSpec
from helsinki_env.games.helsinki import sound
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import Game

__all__ = ["HELSINKI_ENV"]

HELSINKI_ENV = EnvSpec(
    game=Game,
    episodes=RandomEpisodes,
    check=sound.check,
    draw=draw,
    render_modes=("ansi", "rgb_array", "svg"),
)

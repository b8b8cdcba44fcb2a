"""helsinki-env: the board game Helsinki as an environment for reinforcement learning, bots and studies of balance.

>>> from helsinki_env import Game, notation
>>> game = Game(seed=7)
>>> game.step(notation.parse("START 2"))
>>> [notation.describe(action) for action in game.legal_actions()]
['MOVE 1', 'MOVE 2', 'MOVE 3']
"""

from helsinki_env import helsinki_v0
from helsinki_env.envs import registration
from helsinki_env.envs.copenhagen import CopenhagenVectorEnv
from helsinki_env.envs.seat import HelsinkiSeatEnv, HelsinkiSeatVectorEnv
from helsinki_env.envs.vector import HelsinkiVectorEnv
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.helsinki import notation, observation
from helsinki_env.games.helsinki.components import ComponentError, load_components
from helsinki_env.games.helsinki.config import ConfigError, GameConfig
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import Game, IllegalActionError, Phase

__version__ = "0.1.0"

__all__ = [
    "ComponentError",
    "ConfigError",
    "CopenhagenConfig",
    "CopenhagenVectorEnv",
    "Game",
    "GameConfig",
    "HelsinkiSeatEnv",
    "HelsinkiSeatVectorEnv",
    "HelsinkiVectorEnv",
    "IllegalActionError",
    "Phase",
    "RandomEpisodes",
    "helsinki_v0",
    "load_components",
    "notation",
    "observation",
]

registration.register()

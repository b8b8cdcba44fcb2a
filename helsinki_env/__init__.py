"""helsinki-env: the board games Helsinki and Copenhagen for reinforcement learning, bots and balance studies.

>>> from helsinki_env import Game, notation
>>> game = Game(seed=7)
>>> game.step(notation.parse("START 2"))
>>> [notation.describe(action) for action in game.legal_actions()]
['MOVE 1', 'MOVE 2', 'MOVE 3']
"""

from typing import TYPE_CHECKING, Any

from helsinki_env import copenhagen_v0, helsinki_v0, notation
from helsinki_env.copenhagen_v0 import CopenhagenSeatEnv, CopenhagenSeatVectorEnv, CopenhagenVectorEnv
from helsinki_env.envs.flat import flatten
from helsinki_env.envs.registration import register
from helsinki_env.games.copenhagen.config import CopenhagenConfig
from helsinki_env.games.helsinki import observation
from helsinki_env.games.helsinki.components import ComponentError, load_components
from helsinki_env.games.helsinki.config import ConfigError, GameConfig
from helsinki_env.games.helsinki.episodes import RandomEpisodes
from helsinki_env.games.helsinki.game import Game, IllegalActionError, Phase
from helsinki_env.helsinki_v0 import HelsinkiSeatEnv, HelsinkiSeatVectorEnv, HelsinkiVectorEnv

if TYPE_CHECKING:
    from helsinki_env.torch_envs import CopenhagenTorchEnv as CopenhagenTorchEnv
    from helsinki_env.torch_envs import HelsinkiTorchEnv as HelsinkiTorchEnv

__version__ = "0.1.0"

__all__ = [
    "ComponentError",
    "ConfigError",
    "CopenhagenConfig",
    "CopenhagenSeatEnv",
    "CopenhagenSeatVectorEnv",
    "CopenhagenVectorEnv",
    "Game",
    "GameConfig",
    "HelsinkiSeatEnv",
    "HelsinkiSeatVectorEnv",
    "HelsinkiVectorEnv",
    "IllegalActionError",
    "Phase",
    "RandomEpisodes",
    "copenhagen_v0",
    "flatten",
    "helsinki_v0",
    "load_components",
    "notation",
    "observation",
]


def __getattr__(name: str) -> Any:
    """Import names that need PyTorch on first access."""
    if name not in ("CopenhagenTorchEnv", "HelsinkiTorchEnv"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from helsinki_env import torch_envs

    return getattr(torch_envs, name)


register(
    "helsinki/helsinki-v0",
    "helsinki_env.helsinki_v0:env",
    "helsinki/Seat-v0",
    "helsinki_env.helsinki_v0:HelsinkiSeatEnv",
    "helsinki_env.helsinki_v0:HelsinkiSeatVectorEnv",
)
register(
    "helsinki/copenhagen-v0",
    "helsinki_env.copenhagen_v0:env",
    "helsinki/CopenhagenSeat-v0",
    "helsinki_env.copenhagen_v0:CopenhagenSeatEnv",
    "helsinki_env.copenhagen_v0:CopenhagenSeatVectorEnv",
)

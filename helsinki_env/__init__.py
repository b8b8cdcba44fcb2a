"""helsinki-env: the board games Helsinki and Copenhagen for reinforcement learning, bots and balance studies.

>>> from helsinki_env import HelsinkiGame, notation
>>> game = HelsinkiGame(seed=7)
>>> game.step(notation.string_to_action("START 2"))
>>> [notation.action_to_string(action) for action in game.legal_actions()]
['MOVE 1', 'MOVE 2', 'MOVE 3']
"""

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from helsinki_env import copenhagen_v0, helsinki_v0, notation
    from helsinki_env.copenhagen_v0 import CopenhagenSeatEnv, CopenhagenSeatVectorEnv, CopenhagenVectorEnv
    from helsinki_env.engine.game import make_game
    from helsinki_env.envs.flat import flatten
    from helsinki_env.games.copenhagen.config import CopenhagenConfig
    from helsinki_env.games.copenhagen.game import CopenhagenGame
    from helsinki_env.games.helsinki import observation
    from helsinki_env.games.helsinki.components import ComponentError, load_components
    from helsinki_env.games.helsinki.config import ConfigError, HelsinkiConfig
    from helsinki_env.games.helsinki.episodes import RandomEpisodes
    from helsinki_env.games.helsinki.game import HelsinkiGame, IllegalActionError, Phase
    from helsinki_env.helsinki_v0 import HelsinkiSeatEnv, HelsinkiSeatVectorEnv, HelsinkiVectorEnv
    from helsinki_env.torch_envs import CopenhagenTorchEnv as CopenhagenTorchEnv
    from helsinki_env.torch_envs import HelsinkiTorchEnv as HelsinkiTorchEnv

__version__ = "1.0.0rc1"

__all__ = [
    "ComponentError",
    "ConfigError",
    "CopenhagenConfig",
    "CopenhagenGame",
    "CopenhagenSeatEnv",
    "CopenhagenSeatVectorEnv",
    "CopenhagenVectorEnv",
    "HelsinkiConfig",
    "HelsinkiGame",
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
    "make_game",
    "notation",
    "observation",
]

#: Modules of the public names, imported on first access, so that the command line starts without loading the rules and
#: only the tensor environments need PyTorch. Names in `__all__` that are missing here are modules.
_MODULES = {
    "ComponentError": "helsinki_env.games.helsinki.components",
    "ConfigError": "helsinki_env.games.helsinki.config",
    "CopenhagenConfig": "helsinki_env.games.copenhagen.config",
    "CopenhagenGame": "helsinki_env.games.copenhagen.game",
    "CopenhagenSeatEnv": "helsinki_env.copenhagen_v0",
    "CopenhagenSeatVectorEnv": "helsinki_env.copenhagen_v0",
    "CopenhagenTorchEnv": "helsinki_env.torch_envs",
    "CopenhagenVectorEnv": "helsinki_env.copenhagen_v0",
    "HelsinkiGame": "helsinki_env.games.helsinki.game",
    "HelsinkiConfig": "helsinki_env.games.helsinki.config",
    "HelsinkiSeatEnv": "helsinki_env.helsinki_v0",
    "HelsinkiSeatVectorEnv": "helsinki_env.helsinki_v0",
    "HelsinkiTorchEnv": "helsinki_env.torch_envs",
    "HelsinkiVectorEnv": "helsinki_env.helsinki_v0",
    "IllegalActionError": "helsinki_env.games.helsinki.game",
    "Phase": "helsinki_env.games.helsinki.game",
    "RandomEpisodes": "helsinki_env.games.helsinki.episodes",
    "flatten": "helsinki_env.envs.flat",
    "load_components": "helsinki_env.games.helsinki.components",
    "make_game": "helsinki_env.engine.game",
}


def _check_links() -> None:
    """Raise ImportError, with instructions, if this is a checkout whose symbolic links were not created."""
    for name in ("agents", "training"):
        link = Path(__file__).with_name(name)
        if not link.is_dir():
            raise ImportError(
                f"{link}: found {'a file' if link.exists() else 'nothing'}, expected a symbolic link to ../{name}: "
                "clone with 'git clone -c core.symlinks=true', or install the wheel"
            )


def __getattr__(name: str) -> Any:
    """Import a public name on first access."""
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
    elif name == "observation":
        value = import_module("helsinki_env.games.helsinki.observation")
    elif name in __all__:
        value = import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return all public names, including those not yet imported."""
    return sorted({*globals(), *__all__, *_MODULES})


_check_links()
# The command, whose script has no extension except on Windows, sets up Ctrl-C handling before slow imports.
if not sys.argv or Path(sys.argv[0]).name not in ("helsinki", "helsinki.exe"):
    import_module("helsinki_env.registration")

"""Public alias of `helsinki_env.games.helsinki.observation`: observations of Helsinki."""

from helsinki_env.games.helsinki.observation import *  # noqa: F403
from helsinki_env.games.helsinki.observation import __all__ as __all__

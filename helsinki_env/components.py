"""Public alias of `helsinki_env.games.helsinki.components`: Helsinki's component files."""

from helsinki_env.games.helsinki.components import *  # noqa: F403
from helsinki_env.games.helsinki.components import __all__ as __all__

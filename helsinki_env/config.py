"""Public alias of `helsinki_env.games.helsinki.config`: Helsinki's configuration."""

from helsinki_env.games.helsinki.config import *  # noqa: F403
from helsinki_env.games.helsinki.config import __all__ as __all__

"""Public alias of `helsinki_env.games.helsinki.position`: positions of Helsinki as data."""

from helsinki_env.games.helsinki.position import *  # noqa: F403
from helsinki_env.games.helsinki.position import __all__ as __all__

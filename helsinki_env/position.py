"""Helsinki's positions as data (`helsinki_env.games.helsinki.position`), under the name that users know."""

from helsinki_env.games.helsinki.position import *  # noqa: F403
from helsinki_env.games.helsinki.position import __all__ as __all__

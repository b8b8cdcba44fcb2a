"""Helsinki's configuration (`helsinki_env.games.helsinki.config`), under the name that users know."""

from helsinki_env.games.helsinki.config import *  # noqa: F403
from helsinki_env.games.helsinki.config import __all__ as __all__

"""One game of Helsinki (`helsinki_env.games.helsinki.game`), under the name that users know."""

from helsinki_env.games.helsinki.game import *  # noqa: F403
from helsinki_env.games.helsinki.game import __all__ as __all__

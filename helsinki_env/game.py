"""Public alias of `helsinki_env.games.helsinki.game`: a single game of Helsinki."""

from helsinki_env.games.helsinki.game import *  # noqa: F403
from helsinki_env.games.helsinki.game import __all__ as __all__

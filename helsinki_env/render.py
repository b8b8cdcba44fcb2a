"""Public alias of `helsinki_env.games.helsinki.render`: drawings of Helsinki."""

from helsinki_env.games.helsinki.render import *  # noqa: F403
from helsinki_env.games.helsinki.render import __all__ as __all__

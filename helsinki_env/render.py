"""Helsinki's drawings (`helsinki_env.games.helsinki.render`), under the name that users know."""

from helsinki_env.games.helsinki.render import *  # noqa: F403
from helsinki_env.games.helsinki.render import __all__ as __all__

"""Helsinki's component files (`helsinki_env.games.helsinki.components`), under the name that users know."""

from helsinki_env.games.helsinki.components import *  # noqa: F403
from helsinki_env.games.helsinki.components import __all__ as __all__

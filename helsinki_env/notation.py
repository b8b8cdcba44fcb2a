"""Helsinki's decisions as text (`helsinki_env.games.helsinki.notation`), under the name that users know."""

from helsinki_env.games.helsinki.notation import *  # noqa: F403
from helsinki_env.games.helsinki.notation import __all__ as __all__

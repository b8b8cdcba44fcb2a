"""What a seat of Helsinki may see (`helsinki_env.games.helsinki.observation`), under the name that users know."""

from helsinki_env.games.helsinki.observation import *  # noqa: F403
from helsinki_env.games.helsinki.observation import __all__ as __all__

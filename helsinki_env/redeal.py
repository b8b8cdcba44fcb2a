"""Helsinki's hidden cards dealt anew (`helsinki_env.games.helsinki.redeal`), under the name that users know."""

from helsinki_env.games.helsinki.redeal import *  # noqa: F403
from helsinki_env.games.helsinki.redeal import __all__ as __all__

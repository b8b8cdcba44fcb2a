"""Games made up again from observations (`helsinki_env.games.helsinki.restore`), under the name that users know."""

from helsinki_env.games.helsinki.restore import *  # noqa: F403
from helsinki_env.games.helsinki.restore import __all__ as __all__

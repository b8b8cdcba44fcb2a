"""Public alias of `helsinki_env.engine.playout`: uniformly random play."""

from helsinki_env.engine.playout import *  # noqa: F403
from helsinki_env.engine.playout import __all__ as __all__

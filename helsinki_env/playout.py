"""Uniformly random play (`helsinki_env.engine.playout`), under the name that users know."""

from helsinki_env.engine.playout import *  # noqa: F403
from helsinki_env.engine.playout import __all__ as __all__

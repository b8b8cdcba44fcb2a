"""Uniformly random play (`helsinki_env.play.playout`), under the name that users know."""

from helsinki_env.play.playout import *  # noqa: F403
from helsinki_env.play.playout import __all__ as __all__

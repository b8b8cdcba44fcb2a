"""Public alias of `helsinki_env.play.record`: game records."""

from helsinki_env.play.record import *  # noqa: F403
from helsinki_env.play.record import __all__ as __all__

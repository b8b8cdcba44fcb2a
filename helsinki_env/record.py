"""Games as data (`helsinki_env.play.record`), under the name that users know."""

from helsinki_env.play.record import *  # noqa: F403
from helsinki_env.play.record import __all__ as __all__

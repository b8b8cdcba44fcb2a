"""Public alias of `helsinki_env.games.helsinki.reference`: a simple, slow implementation of Helsinki's rules."""

from helsinki_env.games.helsinki.reference import *  # noqa: F403

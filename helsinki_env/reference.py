"""Helsinki's rules again, plain and slow (`helsinki_env.games.helsinki.reference`), under the name that users know."""

from helsinki_env.games.helsinki.reference import *  # noqa: F403
